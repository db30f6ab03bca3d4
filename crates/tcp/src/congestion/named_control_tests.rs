use std::collections::BTreeMap;

use super::{KernelControl, OwnName};
use crate::congestion::CongestionKind;

fn read(text: &str) -> Result<CongestionKind, toml::de::Error> {
    let read: BTreeMap<String, CongestionKind> = toml::from_str(&format!("kind = {text:?}"))?;
    Ok(read["kind"])
}

#[test]
fn it_is_written_as_it_was_read() {
    for (text, linux) in [
        ("kernel:mine", "mine"),
        ("kernel:a", "a"),
        ("kernel:bbr_v2.1-x", "bbr_v2.1-x"),
        ("kernel:cubic", "cubic"),
        ("kernel:0123456789abcde", "0123456789abcde"),
    ] {
        let kind = read(text).expect("a congestion control");
        assert!(!kind.is_modelled());
        assert_eq!((kind.name(), kind.linux_name()), (text, linux));
        let written = toml::Value::try_from(kind).expect("a text");
        assert_eq!(written.as_str(), Some(text));
    }
}

#[test]
fn what_linux_has_no_room_for_is_none() {
    for text in [
        "kernel:",
        "kernel:0123456789abcdef",
        "kernel:a b",
        "kernel:\u{e9}",
        "kernel",
        "mine",
        "",
    ] {
        let error = text.parse::<KernelControl>().unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{text:?} names no congestion control")),
            "{error}"
        );
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn ones_own_are_told_from_a_kernels() {
    let kind = read("python:mine").expect("a congestion control");
    assert!(kind.is_modelled() && kind.own_name().is_some());
    assert_eq!((kind.name(), kind.linux_name()), ("python:mine", "mine"));
    assert_eq!(read("kernel:mine").expect("one").own_name(), None);
    let error = "kernel:mine".parse::<OwnName>().unwrap_err().to_string();
    assert!(error.contains("of one's own: after \"python:\""), "{error}");
    assert!(read("python:0123456789abcdef").is_err());
}

#[test]
fn modelled_ones_have_names_of_linux_too() {
    for kind in CongestionKind::ALL {
        let linux = kind.linux_name();
        assert!(kind.is_modelled());
        assert!(
            linux == kind.name() || *kind == CongestionKind::Cubic21,
            "{kind:?}"
        );
        assert!(linux.len() <= 15);
    }
    assert_eq!(CongestionKind::Cubic21.linux_name(), "cubic");
}
