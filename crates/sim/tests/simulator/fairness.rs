//! Jain's index in `summary`: of flows that last, and of no others.

use crate::support::{measure, simulated, value};

/// Two pairs that have nothing to do with each other, one with links ten times as fast.
const APART: &str = r#"
name = "apart"
host = "plain"
stack = "linux-7.2"
[network]
topology = "explicit"
host = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }]
switch = [{ name = "s", model = "plain" }]
link = [
  { ends = ["a", "s"], rate = "10Gbit", delay = "1us", mtu = "1500B" },
  { ends = ["b", "s"], rate = "10Gbit", delay = "1us", mtu = "1500B" },
  { ends = ["c", "s"], rate = "1Gbit", delay = "1us", mtu = "1500B" },
  { ends = ["d", "s"], rate = "1Gbit", delay = "1us", mtu = "1500B" },
]
[workload]
kind = "bulk"
duration = "100ms"
pairs = { kind = "listed", list = [["a", "b"], ["c", "d"]] }
"#;

fn index(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    sum * sum / rates.len() as f64 / squares
}

#[test]
fn flows_at_the_rates_of_their_links_share_as_those_do() {
    let outcome = simulated(APART, &[]);
    let found = value(&outcome, "jain_index");
    assert!((found - index(&[10.0, 1.0])).abs() < 0.005, "{found}");
    // One that starts late is judged by the time it has.
    let later = simulated(APART, &["workload.start_within=50ms"]);
    assert!((value(&later, "jain_index") / found - 1.0).abs() < 0.01);
}

#[test]
fn flows_that_end_and_a_flow_alone_have_none() {
    let columns = |overrides: &[&str]| {
        let outcome = simulated(APART, overrides);
        let columns = outcome.tables[0].columns.iter();
        columns
            .map(|column| column.name.to_string())
            .collect::<Vec<_>>()
    };
    let has = |overrides: &[&str]| columns(overrides).contains(&"jain_index".to_owned());
    assert!(has(&[]));
    assert!(!has(&["workload.size=100KB", "workload.duration=1s"]));
    assert!(!has(&[
        r#"workload.pairs={ kind = "listed", list = [["a", "b"]] }"#
    ]));
}

#[test]
fn measured_senders_have_that_of_their_bandwidths() {
    let text = |measured: &str| {
        let (head, _) = APART.split_once("[workload]").expect("a workload");
        let workload = format!(
            "kind = \"iperf3\"\nsenders = 3\nmeasured = \"{measured}\"\nduration = \"100ms\"\ninterval = \"50ms\"\n"
        );
        format!("{head}[workload]\n{workload}")
    };
    let outcome = simulated(&text("all"), &[]);
    let rates = measure(&outcome, "flows", "bandwidth_gbps");
    assert_eq!(rates.len(), 3);
    assert!((value(&outcome, "jain_index") - index(&rates)).abs() < 1e-9);
    assert!(value(&simulated(&text("first"), &[]), "jain_index").is_nan());
}
