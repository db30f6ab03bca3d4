//! Flows from a list are those flows, on every kind of host.

use tailback_sim::{Control, RunOutcome, simulate_on};

use crate::support::{counts, measure, names, plan, run, simulated};

/// Eight hosts; `workload` is to come.
const RACKS: &str = r#"
name = "listed"
host = "uml-virtio"
[network]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts = 4
switch = "plain"
link = { rate = "1Gbit", delay = "5us", mtu = "1500B" }
[stack]
preset = "linux-7.2"
"#;

const DRAWN: &str = r#"
[workload]
kind = "flows"
load = 0.5
sizes = { kind = "points", points = [{ bytes = "1kB", share = 0.5 }, { bytes = "90kB", share = 1.0 }] }
duration = "5ms"
congestion = ["cubic", "reno"]
priority = [0, 3]
"#;

/// The flows of a run as a list, last ones first.
fn listed(outcome: &RunOutcome) -> String {
    let [sources, destinations, controls] =
        ["source", "destination", "sender_congestion_control"].map(|n| names(outcome, "flows", n));
    let [bytes, priorities] = ["received_bytes", "priority"].map(|n| counts(outcome, "flows", n));
    let starts = measure(outcome, "flows", "start_s");
    let rows = (0..starts.len()).rev().map(|i| {
        format!(
            "{:.12},{},{},{},{},{}\n",
            starts[i], sources[i], destinations[i], bytes[i], priorities[i], controls[i]
        )
    });
    let head = "start_s,source,destination,bytes,priority,congestion\n".to_owned();
    head + &rows.collect::<String>()
}

fn text(list: &str) -> String {
    format!("{RACKS}[workload]\nkind = \"flow-list\"\nflows = \"\"\"\n{list}\"\"\"\n")
}

#[test]
fn the_flows_of_a_run_written_down_take_the_same_course() {
    let drawn = simulated(&format!("{RACKS}{DRAWN}"), &[]);
    let list = listed(&drawn);
    assert!(list.lines().count() > 50, "{list}");
    let again = simulated(&text(&list), &[]);
    assert_eq!(again.trajectory, drawn.trajectory);
    assert_eq!(again.hops, drawn.hops);
    for (one, other) in again.tables.iter().zip(&drawn.tables) {
        assert_eq!(one.name, other.name);
        assert_eq!(one.columns, other.columns, "{}", one.name);
    }
    // Cut in parts, too.
    let plan = plan(&text(&list), &[]);
    let parts = simulate_on(2, &plan.runs[0], &Control::default()).expect("it runs");
    assert_eq!((parts.trajectory, parts.parts), (drawn.trajectory, 2));
}

#[test]
fn kernels_and_models_have_the_flows_of_the_list() {
    let list = "start_ms source destination bytes\n3 host1 host0 1000000\n0 2 0 20000\n1 host0 host3 70000\n";
    for outside in [
        [false; 8],
        [true; 8],
        [true, false, true, false, true, false, true, false],
    ] {
        let outcome = run(&text(list), &[], |host| outside[host]).expect("it runs");
        assert_eq!(
            counts(&outcome, "flows", "received_bytes"),
            [20_000, 70_000, 1_000_000]
        );
        assert_eq!(
            names(&outcome, "flows", "source"),
            ["host2", "host0", "host1"]
        );
        assert_eq!(
            names(&outcome, "flows", "destination"),
            ["host0", "host3", "host0"]
        );
        let starts = measure(&outcome, "flows", "start_s");
        for (start, ms) in starts.iter().zip([0.0, 1.0, 3.0]) {
            assert!((start * 1e3 - ms).abs() < 1e-9, "{starts:?}");
        }
        assert_eq!(measure(&outcome, "summary", "flows_complete"), [3.0]);
        let slowdowns = measure(&outcome, "flows", "slowdown");
        assert!(
            slowdowns.iter().all(|s| (1.0..4.0).contains(s)),
            "{slowdowns:?}"
        );
    }
}
