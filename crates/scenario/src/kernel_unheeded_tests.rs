use crate::Plan;

const PAIR: &str = r#"
name = "pair"
stack = "linux-7.2"
host = "uml-virtio"
[network]
topology = "star"
switch = "arista-7124s"
hosts = 2
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
[workload]
kind = "bulk"
pairs = { kind = "to-first" }
duration = "10ms"
"#;

/// What kernels on all hosts do not do.
fn said(overrides: &[&str]) -> Vec<String> {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let plan = Plan::from_toml(PAIR, "pair.toml", &overrides, None).expect("it is in order");
    plan.runs[0].network.unheeded_by_kernels(&[true, true])
}

#[test]
fn a_kernel_s_own_profile_is_heeded() {
    assert_eq!(said(&[]), Vec::<String>::new());
    let sysctls = [
        "stack.tcp_recovery=0",
        "stack.rto_min=5ms",
        "stack.rmem_max=1MiB",
        "stack.tso=false",
    ];
    assert_eq!(said(&sysctls), Vec::<String>::new());
    assert_eq!(said(&["host.service_latency=1ms"]), Vec::<String>::new());
}

#[test]
fn what_is_no_sysctl_is_named() {
    let [stack] = &said(&["stack.initial_cwnd=20", "stack.delack_min=1ms"])[..] else {
        panic!("one sentence");
    };
    assert!(
        stack.starts_with("stack: delack_min, initial_cwnd, which"),
        "{stack}"
    );
    let older = said(&["stack.tcp_fack=true", "stack.tcp_adv_win_scale=2"]).join("");
    assert!(
        older.starts_with("stack: tcp_adv_win_scale, tcp_fack, which"),
        "{older}"
    );
    let [host] = &said(&["host.rx_segment_cost=1us", "host.rx_ring_descriptors=64"])[..] else {
        panic!("one sentence");
    };
    assert!(
        host.starts_with("host: rx_ring_descriptors, rx_segment_cost; "),
        "{host}"
    );
}

#[test]
fn what_only_the_preset_has_is_named_too() {
    let without = said(&["host.preset=plain"]).join("");
    assert!(without.contains("rx_page"), "{without}");
}

#[test]
fn what_a_kernel_takes_in_another_size_is_said() {
    assert_eq!(
        said(&["stack.rto_max=500ms", "stack.tcp_fin_timeout=1500ms"]),
        [
            "stack.rto_max = 500ms: kernels take 1s",
            "stack.tcp_fin_timeout = 1500ms: kernels take 1s",
        ]
    );
}

#[test]
fn hosts_that_are_modelled_are_none_of_theirs() {
    let overrides = ["stack.initial_cwnd=20".to_owned()];
    let plan = Plan::from_toml(PAIR, "pair.toml", &overrides, None).expect("it is in order");
    assert!(
        plan.runs[0]
            .network
            .unheeded_by_kernels(&[false, false])
            .is_empty()
    );
}
