//! Flows of which the first while is not counted.

use tailback_sim::RunOutcome;

use crate::support::{measure, run, simulated, sum, value};

/// Three senders to one receiver, past a port that holds little: it drops all the time.
const CROWD: &str = r#"
name = "crowd"
host = "uml-virtio"
stack = "linux-7.2"
[network]
topology = "star"
hosts = 4
switch = { preset = "arista-7124s", buffer = { shared = "30KB" } }
link = { rate = "100Mbit", delay = "500us", mtu = "1500B" }
[workload]
kind = "bulk"
pairs = { kind = "to-first" }
duration = "800ms"
"#;

const SUMS: [&str; 5] = [
    "received_bytes",
    "segments_sent",
    "retransmissions",
    "timeouts",
    "fast_recoveries",
];

const MEANS: [&str; 5] = [
    "data_bytes_total",
    "switch_drops_mean",
    "retransmissions_mean",
    "timeouts_mean",
    "fast_recoveries_mean",
];

/// The last 500 ms of the same run.
const LATE: [&str; 2] = ["workload.omit=300ms", "workload.duration=500ms"];

#[test]
fn what_is_counted_is_what_the_whole_counts_more_than_the_beginning() {
    for host in ["host=uml-virtio", "host=plain", "host=server-25g-machine"] {
        let with = |more: &[&str]| {
            let overrides: Vec<&str> = [host].iter().chain(more).copied().collect();
            simulated(CROWD, &overrides)
        };
        let whole = with(&[]);
        let beginning = with(&["workload.duration=300ms"]);
        let late = with(&LATE);
        assert_eq!(late.hops, whole.hops, "{host}");
        for name in SUMS {
            let [all, before, after] =
                [&whole, &beginning, &late].map(|outcome| measure(outcome, "flows", name));
            for flow in 0..3 {
                assert_eq!(all[flow], before[flow] + after[flow], "{host} {name}");
            }
        }
        for name in MEANS {
            let [all, before, after] =
                [&whole, &beginning, &late].map(|outcome| value(outcome, name));
            assert_eq!(all, before + after, "{host} {name}");
            assert!(after > 0.0 || name == "timeouts_mean", "{host} {name}");
        }
        check(&late);
        // Nothing is cut out of what the network as a whole lost.
        assert_eq!(
            sum(&late, "drops", "frames"),
            sum(&whole, "drops", "frames")
        );
    }
}

/// All is of the 500 ms.
fn check(late: &RunOutcome) {
    let span = value(late, "duration_s_total");
    assert!((0.5..0.5005).contains(&span), "{span}");
    let took = measure(late, "flows", "completion_ms");
    assert!(took.iter().all(|ms| (ms / 1e3 - span).abs() < 1e-9));
    let bytes = sum(late, "flows", "received_bytes");
    assert_eq!(bytes, value(late, "data_bytes_total"));
    let goodput = bytes * 8.0 / span / 1e6;
    assert!((value(late, "goodput_mbps_mean") - goodput).abs() < 1e-6);
    // 94.1 Mb/s is all that the link carries, and what waits at its end a moment more.
    assert!((80.0..96.0).contains(&goodput), "{goodput}");
    let start = measure(late, "transactions", "start_s");
    assert_eq!(start, [0.3]);
    let rates = measure(late, "flows", "received_bytes");
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    let index = bytes * bytes / 3.0 / squares;
    assert!((value(late, "jain_index") - index).abs() < 1e-9);
}

#[test]
fn kernels_count_from_then_too() {
    for outside in [
        [true; 4],
        [true, true, true, false],
        [false, true, true, false],
    ] {
        let with = |more: &[&str]| run(CROWD, more, |host| outside[host]).expect("it runs");
        let whole = with(&[]);
        let late = with(&LATE);
        check(&late);
        for (of_flows, mean) in [
            ("received_bytes", "data_bytes_total"),
            ("retransmissions", "retransmissions_mean"),
            ("timeouts", "timeouts_mean"),
        ] {
            let [all, after] = [&whole, &late].map(|outcome| sum(outcome, "flows", of_flows));
            assert_eq!(after, value(&late, mean), "{outside:?} {of_flows}");
            // There are hardly any timeouts, and they may all be late.
            let less = after < all || of_flows == "timeouts" && after <= all;
            assert!(less, "{outside:?} {of_flows}: {after} of {all}");
        }
        // Most segments are sent in the longer part.
        for name in ["segments_sent", "received_bytes"] {
            let [all, after] = [&whole, &late].map(|outcome| sum(outcome, "flows", name));
            let share = after / all;
            assert!((0.55..0.72).contains(&share), "{outside:?} {name}: {share}");
        }
        let [all, after] = [&whole, &late].map(|outcome| value(outcome, "switch_drops_mean"));
        assert!((0.0..all).contains(&after), "{outside:?}: {after} of {all}");
    }
}

#[test]
fn flows_beside_the_workload_are_none_of_its_business() {
    let beside = r#"background_flows=[{ pairs = { kind = "listed", list = [["host2", "host0"], ["host3", "host0"]] } }]"#;
    let alone = r#"workload.pairs={ kind = "listed", list = [["host1", "host0"]] }"#;
    let overrides: Vec<&str> = LATE.iter().chain(&[beside, alone]).copied().collect();
    let late = run(CROWD, &overrides, |_| true).expect("it runs");
    let retransmissions = sum(&late, "flows", "retransmissions");
    assert!(retransmissions > 0.0);
    assert_eq!(retransmissions, value(&late, "retransmissions_mean"));
    let theirs = sum(&late, "background_flows", "retransmissions");
    assert!(theirs > retransmissions, "{theirs} {retransmissions}");
}
