use super::{PRESETS, Stack};

#[test]
fn every_profile_is_complete_and_known_by_its_name() {
    for (name, text) in PRESETS {
        let stack: Result<Stack, _> = toml::from_str(text);
        assert!(stack.is_ok(), "{name}: {:?}", stack.err());
    }
}

#[test]
fn kernels_differ_in_the_defaults_of_their_modules() {
    let of = |name: &str| -> Stack {
        let (_, text) = PRESETS.iter().find(|(n, _)| *n == name).expect("a profile");
        toml::from_str(text).expect("a good profile")
    };
    let (old, new) = (of("linux-2.6.18"), of("linux-2.6.24"));
    // net/ipv4/tcp_bic.c and tcp_scalable.c.
    assert_eq!((old.bic.initial_ssthresh, new.bic.initial_ssthresh), (100, 0));
    assert_eq!(new.scalable.ai_cnt, 50);
    assert_eq!(of("linux-7.2").scalable.ai_cnt, 100);
}
