//! Collectives, end to end.

use tailback_scenario::Plan;
use tailback_sim::{Control, simulate};

use crate::support::{counts, measure, names, run, simulated, sum, value};

/// Hosts that take no time, at one switch that loses nothing.
fn star(hosts: usize, workload: &str) -> String {
    format!(
        r#"
        name = "collective"
        stack = "linux-7.2"
        host = "uml-virtio"
        [network]
        topology = "star"
        switch = "plain"
        hosts = {hosts}
        link = {{ rate = "1Gbit", delay = "10us", mtu = "9000B" }}
        [workload]
        kind = "collective"
        {workload}
        "#
    )
}

/// How long that many bytes take on a link in segments of the largest size, ms.
fn alone_ms(bytes: f64) -> f64 {
    bytes * 8.0 * (9038.0 / 8948.0) / 1e9 * 1e3
}

#[test]
fn an_operation_takes_as_long_as_what_each_host_sends() {
    // Of 8 MB on four hosts: six parts, three, three, and one to each of three others.
    for (operation, parts) in [
        ("all-reduce", 6.0),
        ("reduce-scatter", 3.0),
        ("all-gather", 3.0),
        ("all-to-all", 3.0),
    ] {
        let workload =
            format!("operation = \"{operation}\"\nsize = \"8MB\"\niterations = 3\nconnections = 2");
        let outcome = simulated(&star(4, &workload), &[]);
        let sent = parts * 2e6;
        let took = measure(&outcome, "transactions", "completion_ms");
        // Each link carries the acknowledgements of another connection too, and every part waits a while for its last
        // byte.
        for ms in &took[1..] {
            let share = ms / alone_ms(sent);
            assert!(
                (1.0..1.12).contains(&share),
                "{operation}: {took:?} {share}"
            );
        }
        assert_eq!(value(&outcome, "data_bytes_total"), 3.0 * 4.0 * sent);
        assert_eq!(sum(&outcome, "flows", "received_bytes"), 3.0 * 4.0 * sent);
        assert_eq!(value(&outcome, "iterations"), 3.0);
    }
}

#[test]
fn a_ring_s_flows_go_to_the_next_host_in_the_order_of_hosts() {
    let workload = "operation = \"all-gather\"\nsize = \"30kB\"\niterations = 2\n\
                    hosts = [\"host2\", \"host0\", \"host1\"]";
    let outcome = simulated(&star(5, workload), &[]);
    let flows =
        names(&outcome, "flows", "source")
            .into_iter()
            .zip(names(&outcome, "flows", "destination"));
    let mut flows: Vec<(String, String)> = flows.collect();
    flows.sort();
    let to = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    assert_eq!(
        flows,
        [
            to("host0", "host1"),
            to("host1", "host2"),
            to("host2", "host0")
        ]
    );
    // Two parts of a third, twice.
    assert_eq!(counts(&outcome, "flows", "received_bytes"), [40_000; 3]);
}

#[test]
fn slices_are_passed_on_before_a_part_is_whole() {
    let took = |slices: u32| {
        let workload = format!(
            "operation = \"all-reduce\"\nsize = \"400kB\"\niterations = 4\nslices = {slices}"
        );
        let slow = ["network.link.delay=1ms"];
        let outcome = simulated(&star(4, &workload), &slow);
        measure(&outcome, "transactions", "completion_ms")[3]
    };
    // Six parts, each behind the one before by two links and a switch; of slices the way is waited for as often, and
    // the time to send only in the end.
    let [one, eight] = [1, 8].map(took);
    assert!((1.2..3.0).contains(&(one / eight)), "{one} {eight}");
}

#[test]
fn hosts_compute_between_two_iterations() {
    let starts = |more: &str| {
        let workload =
            format!("operation = \"all-to-all\"\nsize = \"40kB\"\niterations = 5\n{more}");
        let outcome = simulated(&star(3, &workload), &[]);
        let start_s = measure(&outcome, "transactions", "start_s");
        let completion_ms = measure(&outcome, "transactions", "completion_ms");
        let pauses = (1..5).map(|i| (start_s[i] - start_s[i - 1]) * 1e3 - completion_ms[i - 1]);
        (pauses.collect::<Vec<f64>>(), completion_ms)
    };
    // The first to have everything begins again first.
    let (pauses, _) = starts("compute = \"10ms\"");
    for pause in &pauses {
        assert!((9.0..=10.0001).contains(pause), "{pauses:?}");
    }
    // Who computes for longer lets the others wait.
    let (_, alike) = starts("");
    let (_, drawn) = starts("compute_jitter = \"10ms\"");
    assert!(drawn[1..].iter().sum::<f64>() > 3.0 * alike[1..].iter().sum::<f64>());
}

#[test]
fn kernels_take_as_long_as_models() {
    for workload in [
        "operation = \"all-reduce\"\nsize = \"1MB\"\niterations = 3\nslices = 2\nconnections = 2",
        "operation = \"all-to-all\"\nsize = \"1MB\"\niterations = 3\ncompute = \"1ms\"\npriority = 3",
    ] {
        let text = star(3, workload);
        let kernels = run(&text, &[], |_| true).expect("it runs");
        let models = simulated(&text, &[]);
        let [took, modelled] =
            [&kernels, &models].map(|o| measure(o, "transactions", "completion_ms"));
        assert_eq!(took.len(), 3, "{workload}");
        for (one, other) in took.iter().zip(&modelled) {
            assert!(
                (one / other - 1.0).abs() < 0.1,
                "{took:?} {modelled:?} {workload}"
            );
        }
        for name in ["data_bytes_total", "iterations", "retransmissions_mean"] {
            let [one, other] = [&kernels, &models].map(|o| value(o, name));
            assert_eq!(one, other, "{name} {workload}");
        }
        let [one, other] = [&kernels, &models].map(|o| counts(o, "flows", "received_bytes"));
        assert_eq!(one, other, "{workload}");
    }
}

#[test]
fn hosts_of_two_kinds_are_refused() {
    let workload = "operation = \"all-reduce\"\nsize = \"1MB\"\niterations = 1";
    let told = run(&star(3, workload), &[], |host| host == 1).expect_err("one is a kernel");
    let said = "host0 and host1 are not alike, a kernel and a modelled one";
    assert!(told.to_string().contains(said), "{told}");
    // One that takes no part may be.
    let named = format!("{workload}\nhosts = [\"host0\", \"host2\"]");
    run(&star(3, &named), &[], |host| host == 1).expect("it runs");
}

#[test]
fn a_collective_whose_connection_is_gone_says_so() {
    let workload = "operation = \"all-reduce\"\nsize = \"1MB\"\niterations = 1";
    let lost = ["network.link.loss=1.0".to_owned()];
    let plan = Plan::from_toml(&star(2, workload), "test", &lost, None).expect("a scenario");
    let told = simulate(&plan.runs[0], &Control::default()).expect_err("nothing comes through");
    let said = "got no answer and gave up";
    assert!(told.to_string().contains(said), "{told}");
}
