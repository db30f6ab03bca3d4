use tailback_tcp::congestion::CongestionKind;

use super::*;

fn stack() -> Stack {
    named("linux-2.6.18")
}

fn named(name: &str) -> Stack {
    let presets = tailback_tcp::PRESETS;
    let (name, text) = presets.iter().find(|p| p.0 == name).expect("there");
    let document = crate::document::Document::parse(text, name).expect("TOML");
    serde_json::from_value(document.root).expect("a stack")
}

fn config(text: &str) -> KernelConfig {
    let document = crate::document::Document::parse(text, "test").expect("TOML");
    serde_json::from_value(document.root).expect("a kernel's settings")
}

#[test]
fn a_host_s_own_settings_lie_over_the_scenario_s() {
    let all = config(
        "hz = 100\nversion = \"7.2\"\ntc = [\"qdisc replace dev eth0 root fq\"]\n\
         offloads = { gro = false }\n[sysctl]\nnet.ipv4.tcp_recovery = 0\nnet.ipv4.tcp_sack = 0\n",
    );
    let own =
        config("hz = 1000\noffloads = { tso = false }\n[sysctl]\nnet.ipv4.tcp_recovery = 1\n");
    let host = KernelHost::new(Some(&all), Some(&own), &stack());
    assert_eq!(host.hz, Some(1000));
    assert_eq!(host.version.as_deref(), Some("7.2"));
    assert_eq!(host.tc, ["qdisc replace dev eth0 root fq"]);
    assert_eq!(host.offloads.tso, Some(false));
    assert_eq!(host.offloads.gro, Some(false));
    assert_eq!(host.sysctls["net.ipv4.tcp_recovery"], "1");
    assert_eq!(host.sysctls["net.ipv4.tcp_sack"], "0");
    assert!(!host.profile_sysctls.contains_key("net.ipv4.tcp_sack"));
}

#[test]
fn a_stack_profile_is_set_by_sysctls() {
    let mut stack = stack();
    stack.tcp_rmem = [Bytes::new(4096), Bytes::new(87380), Bytes::new(16 << 20)];
    stack.tcp_sack = false;
    stack.rto_min = Duration::from_us(1500);
    stack.rto_max = Duration::from_secs(1000);
    let host = KernelHost::new(None, None, &stack);
    let value = |name: &str| host.profile_sysctls[&format!("net.ipv4.{name}")].as_str();
    assert_eq!(value("tcp_rmem"), "4096 87380 16777216");
    assert_eq!(value("tcp_sack"), "0");
    assert_eq!(value("tcp_congestion_control"), "bic");
    assert_eq!(value("tcp_rto_min_us"), "1500");
    assert_eq!(
        value("tcp_rto_max_ms"),
        "120000",
        "the most that the kernel takes"
    );
    assert!(host.sysctls.is_empty());
    let older = KernelHost::new(None, None, &named("linux-2.6.24"));
    assert_eq!(
        older.profile_sysctls["net.ipv4.tcp_congestion_control"],
        "cubic"
    );
    let today = named("linux-7.2");
    let host = KernelHost::new(None, None, &today);
    let value = |name: &str| host.profile_sysctls[name].as_str();
    assert_eq!(value("net.ipv4.tcp_fin_timeout"), "60", "seconds");
    assert_eq!(value("net.ipv4.tcp_keepalive_time"), "7200", "seconds");
    assert_eq!(
        value("net.ipv4.tcp_invalid_ratelimit"),
        "500",
        "milliseconds"
    );
    assert_eq!(value("net.ipv4.tcp_rcvbuf_low_rtt"), "1000", "microseconds");
    assert_eq!(value("net.ipv4.tcp_comp_sack_delay_ns"), "1000000");
    assert_eq!(value("net.core.rmem_max"), "4194304");
}

#[test]
fn what_no_kernel_can_do_is_said() {
    let wrong = config(
        "hz = 250\nversion = \"7\"\nmemory = \"8MiB\"\nsample_interval = \"0s\"\ntc = [\"tc qdisc show\"]\nip = [\"ip route\"]\n\
         [sysctl]\ntcp_recovery = 1\n",
    );
    let paths: Vec<String> = wrong.findings().into_iter().map(|f| f.path).collect();
    assert_eq!(
        paths,
        [
            "sysctl.tcp_recovery",
            "version",
            "hz",
            "memory",
            "sample_interval",
            "ip[0]",
            "tc[0]"
        ]
    );
    for version in ["7.2.13", "7.2.13-hz1000-0123abcd", "mine"] {
        let right = config(&format!("hz = 1000\nversion = {version:?}"));
        assert!(right.findings().is_empty(), "{version}");
    }
}

#[test]
fn a_congestion_control_of_the_kernel_s_own_is_set_by_its_own_name() {
    let mut stack = named("linux-7.2");
    stack.tcp_congestion_control = "kernel:mine"
        .parse()
        .map(CongestionKind::Kernel)
        .expect("one");
    let host = KernelHost::new(None, None, &stack);
    assert_eq!(
        host.profile_sysctls["net.ipv4.tcp_congestion_control"],
        "mine"
    );
}
