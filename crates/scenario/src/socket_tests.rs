//! Options come from the file under their Linux names, to models and kernels alike.

use tailback_tcp::SocketOptions;
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Bytes, Duration};

use super::{LinuxValue, SocketConfig};

const ALL: &str = r#"{
    "TCP_NODELAY": true, "TCP_CORK": true, "TCP_MAXSEG": "1000B", "TCP_NOTSENT_LOWAT": "16KiB", "SO_MAX_PACING_RATE": "80Gbit",
    "TCP_USER_TIMEOUT": "2.5s", "SO_SNDBUF": "64KiB", "SO_RCVBUF": "32KiB",
    "TCP_CONGESTION": "reno", "TCP_WINDOW_CLAMP": "20KB", "SO_RCVLOWAT": "4KiB",
    "TCP_LINGER2": "7s", "TCP_SYNCNT": 2, "SO_KEEPALIVE": true, "TCP_KEEPIDLE": "60s",
    "TCP_KEEPINTVL": "10s", "TCP_KEEPCNT": 3
}"#;

fn all() -> SocketConfig {
    serde_json::from_str(ALL).unwrap()
}

#[test]
fn every_option_reaches_a_modelled_socket() {
    let expected = SocketOptions {
        nodelay: true,
        cork: true,
        keepalive: true,
        quickack: None,
        maxseg: 1000,
        notsent_lowat: 16_384,
        max_pacing_rate: 10_000_000_000,
        user_timeout: Duration::from_ms(2500),
        sndbuf: Some(Bytes::new(65_536)),
        rcvbuf: Some(Bytes::new(32_768)),
        rcvlowat: 4096,
        congestion: Some(CongestionKind::Reno),
        window_clamp: 20_000,
        linger: None,
        linger2: Some(Duration::from_secs(7)),
        syncnt: 2,
        keepidle: Duration::from_secs(60),
        keepintvl: Duration::from_secs(10),
        keepcnt: 3,
    };
    assert_eq!(all().options(), expected);
    assert_eq!(SocketConfig::default().options(), SocketOptions::default());
}

#[test]
fn a_kernel_gets_them_in_its_units() {
    let options = all().linux();
    let names: serde_json::Map<String, serde_json::Value> = serde_json::from_str(ALL).unwrap();
    assert_eq!(options.len(), names.len());
    assert!(names.keys().all(|name| options.contains_key(name.as_str())));
    for (name, value) in [
        ("TCP_CORK", 1),
        ("TCP_MAXSEG", 1000),
        ("TCP_USER_TIMEOUT", 2500),
        ("SO_SNDBUF", 65_536),
        ("TCP_LINGER2", 7),
        ("TCP_KEEPIDLE", 60),
    ] {
        assert_eq!(options[name], LinuxValue::Number(value), "{name}");
    }
    let rate = LinuxValue::Long(10_000_000_000);
    assert_eq!(options["SO_MAX_PACING_RATE"], rate);
    assert_eq!(options["TCP_CONGESTION"], LinuxValue::Text("reno".into()));
}

#[test]
fn a_hosts_own_options_lie_over_all_hosts() {
    let own: SocketConfig =
        serde_json::from_str(r#"{ "TCP_NODELAY": false, "TCP_SYNCNT": 5 }"#).unwrap();
    let both = own.over(&all());
    assert_eq!((both.tcp_nodelay, both.tcp_syncnt), (Some(false), Some(5)));
    assert_eq!(both.so_sndbuf, all().so_sndbuf);
    assert_eq!(all().over(&own), all());
}
