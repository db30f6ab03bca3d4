//! Tables of networks whose hosts are kernels, all or some, hold what those of modelled hosts do.

mod support;

use support::{measure, run, simulated};
use tailback_sim::RunOutcome;

/// Hosts in one star of 100 Mbit/s, with a workload.
fn star(hosts: usize, workload: &str) -> String {
    format!(
        r#"
name = "tables"
host = "uml-virtio"
stack = "linux-7.2"
[network]
topology = "star"
switch = "plain"
hosts = {hosts}
link = {{ rate = "100Mbit", delay = "500us", mtu = "1500B" }}
[workload]
{workload}
"#
    )
}

fn value(outcome: &RunOutcome, name: &str) -> f64 {
    measure(outcome, "summary", name)[0]
}

/// As far apart as the kinds of hosts may be.
fn near(one: f64, other: f64, share: f64) -> bool {
    (one / other - 1.0).abs() < share
}

#[test]
fn flows_on_kernels_have_the_columns_of_modelled_ones() {
    let workload = r#"kind = "flows"
load = 0.3
sizes = { kind = "pareto", least = "2kB", most = "200kB", shape = 1.2 }
duration = "50ms"
priority = [0, 3]"#;
    let text = star(3, workload);
    let overrides = ["network.clock_ppm=50"];
    let model = simulated(&text, &overrides);
    let outcome = run(&text, &overrides, |_| true).expect("it runs");
    for same in ["flow", "received_bytes", "priority", "start_s", "complete"] {
        let both = [&outcome, &model].map(|outcome| measure(outcome, "flows", same));
        assert_eq!(both[0], both[1], "{same}");
    }
    // Both from the time that a flow is asked for: the handshake is in it.
    for (name, share) in [("completion_ms", 0.05), ("slowdown", 0.05)] {
        let sums = [&outcome, &model].map(|o| measure(o, "flows", name).iter().sum::<f64>());
        assert!(near(sums[0], sums[1], share), "{name}: {sums:?}");
    }
    // A receiver's acknowledgements are no segments of the sender's.
    let sums = [&outcome, &model].map(|o| measure(o, "flows", "segments_sent").iter().sum());
    assert!(near(sums[0], sums[1], 0.02), "{sums:?}");
}
