use std::fs;

use super::{Device, View};

#[test]
fn what_a_script_sets_is_laid_over_the_profile() {
    let folder = std::env::temp_dir().join(format!("tailback-view-{}", std::process::id()));
    let view = View::new("linux-7.2", Some(folder.clone())).expect("a profile");
    let before = view.stack();
    view.write_out(&folder)
        .expect("a folder for temporary files");
    assert_eq!(view.stack(), before, "a view as it is changes nothing");

    let set = |name: &str, value: &str| {
        fs::write(folder.join("net").join(name), value).expect("the view has the file");
    };
    set("ipv4/tcp_rmem", "4096 540000\t15728640\n");
    set("ipv4/tcp_sack", "0");
    set("ipv4/tcp_fin_timeout", "7");
    set("ipv4/tcp_rto_min_us", "5000");
    set("ipv4/tcp_congestion_control", "reno\n");
    set("ipv4/tcp_retries2", "-1");
    set("ipv4/tcp_reordering", "many");
    set("core/wmem_max", "12345");
    let after = view.stack();
    let _ = fs::remove_dir_all(&folder);
    assert_eq!(
        after.tcp_rmem.map(|bytes| bytes.get()),
        [4096, 540_000, 15_728_640]
    );
    assert!(!after.tcp_sack);
    assert_eq!(
        after.tcp_fin_timeout,
        tailback_units::Duration::from_secs(7)
    );
    assert_eq!(after.rto_min, tailback_units::Duration::from_ms(5));
    assert_eq!(after.wmem_max.get(), 12345);
    assert_eq!(after.tcp_retries2, before.tcp_retries2, "out of range");
    assert_eq!(after.tcp_reordering, before.tcp_reordering, "no number");
}

#[test]
fn an_unknown_profile_is_named() {
    let error = View::new("linux-1.0", None).expect_err("no such profile");
    assert!(error.to_string().contains("linux-1.0"));
}

#[test]
fn the_interface_is_as_the_last_command_left_it() {
    let folder = std::env::temp_dir().join(format!("tailback-device-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    let view = View::new("linux-7.2", Some(folder.clone())).expect("a profile");
    assert_eq!(view.device(), Device::default());
    fs::write(folder.join("tc"), "qdisc replace dev tun0 root fq\n").expect("written");
    fs::write(
        folder.join("ip"),
        "tcp_metrics flush all\nlink set dev tun0 mtu 9000\n",
    )
    .expect("written");
    let (mtu, paced) = (Some(9000), view.device());
    fs::write(
        folder.join("tc"),
        "qdisc replace dev tun0 root pfifo limit 0\n",
    )
    .expect("written");
    let dropping = view.device();
    let _ = fs::remove_dir_all(&folder);
    assert_eq!((paced.mtu, paced.paces, paced.drops), (mtu, true, false));
    assert_eq!(
        (dropping.mtu, dropping.paces, dropping.drops),
        (mtu, false, true)
    );
}
