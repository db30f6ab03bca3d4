use crate::Plan;

/// What is wrong with this workload on a star of 1024 hosts: paths and reasons.
fn wrong(workload: &str, more: &str) -> Vec<(String, String)> {
    let text = format!(
        r#"
        name = "test"
        host = "plain"
        network = {{ topology = "star", hosts = 1024, switch = {{ preset = "plain", ports = 1024 }},
            link = {{ rate = "10Gbit", delay = "1us", mtu = "1500B" }} }}
        workload = {{ {workload} }}
        {more}
        "#
    );
    match Plan::from_toml(&text, "test", &[], None) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.into_iter().map(|p| (p.path, p.reason)).collect(),
    }
}

fn paths(workload: &str, more: &str) -> Vec<String> {
    let found = wrong(workload, more).into_iter();
    found.map(|(path, _)| path).collect()
}

#[test]
fn flows_that_no_memory_holds_are_refused_by_the_key_that_asks_for_them() {
    let mesh = r#"kind = "bulk", duration = "1ms", pairs = { kind = "mesh" }"#;
    assert_eq!(paths(mesh, ""), [""; 0], "a million connections");
    let twice = format!("{mesh}, connections = 2");
    let found = wrong(&twice, "");
    assert_eq!(found[0].0, "workload.connections");
    assert!(found[0].1.contains("2095104 flows"), "{}", found[0].1);
    let asking = r#"kind = "request-response", duration = "1ms", connections = 9, pairs = { kind = "mesh" }"#;
    assert_eq!(paths(asking, ""), ["workload.connections"]);
    let udp = r#"kind = "udp", rate = "1Mbit", duration = "1us", socket_buffer = "1MB", pairs = { kind = "mesh" },
        schedule = { every = "1h", rounds = 3 }"#;
    let udp = udp.replace('\n', " ");
    assert_eq!(paths(&udp, ""), ["workload.schedule.rounds"]);
    let iperf3 =
        r#"kind = "iperf3", senders = 1000, parallel = 100000, measured = "all", duration = "1s""#;
    assert!(!paths(iperf3, "").is_empty());
}

#[test]
fn flows_one_after_another_are_counted_by_load_sizes_and_time() {
    let flows = |duration: &str| {
        let sizes = r#"sizes = { kind = "fixed", bytes = "1kB" }"#;
        format!(r#"kind = "flows", load = 0.5, duration = "{duration}", {sizes}"#)
    };
    // 1024 hosts at 5 Gb/s of 1 kB: 640 a microsecond.
    assert_eq!(paths(&flows("31ms"), ""), [""; 0]);
    assert_eq!(paths(&flows("32ms"), ""), ["workload.duration"]);
    let sizes = r#"sizes = { kind = "points", points = [{ bytes = "9kB", share = 0.9 }, { bytes = "1kB", share = 0.1 }] }"#;
    let unsound = format!(r#"kind = "flows", load = 0.5, duration = "1s", {sizes}"#);
    assert!(!paths(&unsound, "").is_empty(), "shares that fall");
}

#[test]
fn flows_beside_the_workload_count_together() {
    let ping = r#"kind = "ping", pairs = { kind = "to-first" }, count = 1"#;
    let beside = r#"
        [[background_flows]]
        pairs = { kind = "mesh" }
        [[background_flows]]
        pairs = { kind = "mesh" }
        "#;
    assert_eq!(paths(ping, beside), ["background_flows[1].pairs"]);
}

#[test]
fn rows_at_an_interval_are_counted_by_the_span() {
    let flent = |values: &str| format!(r#"kind = "flent", test = "rrul", {values}"#);
    assert_eq!(paths(&flent(r#"length = "5us""#), ""), ["workload.length"]);
    assert_eq!(paths(&flent(r#"length = "100us""#), ""), [""; 0]);
    let long = flent(r#"length = "10h", step_size = "100us""#);
    assert_eq!(paths(&long, ""), ["workload.step_size"; 2]);
    let iperf3 =
        r#"kind = "iperf3", senders = 2, measured = "all", duration = "120s", interval = "1us""#;
    assert_eq!(paths(iperf3, ""), ["workload.interval"]);
    let bulk = r#"kind = "bulk", duration = "20s", pairs = { kind = "to-first" }"#;
    let record = r#"record = { interfaces = "1ms", series = { interval = "1us" } }"#;
    let both = ["record.interfaces", "record.series.interval"];
    assert_eq!(paths(bulk, record), both);
}
