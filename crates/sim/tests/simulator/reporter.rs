//! iperf's reporter beside senders and readers of datagrams.

use tailback_sim::{ColumnData, RunOutcome};

use crate::support::{measure, simulated};

/// 698 records of 1470 bytes in a tick of 4 ms: what a ring lets through at most.
const TICK_MBPS: f64 = 698.0 * 1470.0 * 8.0 / 4000.0;
const TICK: &str = "workload.reporter={ rest = \"tick\" }";
const YIELD: &str = "workload.reporter={ rest = \"yield\" }";

/// Two hosts of the lambda-rings study over a direct cable.
fn udp(rate: &str, overrides: &[&str]) -> RunOutcome {
    let text = format!(
        r#"
name = "reporter"
[stack]
preset = "linux-2.6.24"
rmem_max = "16MiB"
[network]
topology = "explicit"
host = [{{ name = "ingress" }}, {{ name = "egress" }}]
switch = []
link = [{{ ends = ["ingress", "egress"], rate = "10Gbit", delay = "1us", mtu = "1500B" }}]
[host]
preset = "xeon-e7330-ixgbe"
[workload]
kind = "udp"
pairs = {{ kind = "listed", list = [["ingress", "egress"]] }}
rate = "{rate}"
duration = "500ms"
socket_buffer = "1MiB"
"#
    );
    simulated(&text, overrides)
}

fn count(outcome: &RunOutcome, name: &str) -> u64 {
    let summary = outcome.tables.iter().find(|t| t.name == "summary");
    match summary.and_then(|t| t.column(name)) {
        Some(ColumnData::U64(values)) => values[0],
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_sender_that_rests_till_the_tick_is_held_up_by_a_full_ring() {
    // 272 records a tick fit, 816 do not: it rests, and mostly for two ticks, since the reporter's is in between.
    for (rate, full) in [("800Mbit", false), ("2400Mbit", true)] {
        let outcome = udp(rate, &[TICK]);
        let mbps = measure(&outcome, "summary", "sent_mbps")[0];
        let asked = measure(&outcome, "summary", "asked_mbps")[0];
        assert_eq!(mbps < 0.99 * asked, full, "{rate}: {mbps}");
        assert!(mbps < TICK_MBPS, "{rate}: {mbps}");
    }
    let outcome = udp("2400Mbit", &[]);
    assert!(measure(&outcome, "summary", "sent_mbps")[0] > 2399.0);
}

#[test]
fn a_reporter_on_a_core_of_its_own_holds_nobody_up() {
    let outcome = udp("400Mbit", &[YIELD]);
    assert_eq!(count(&outcome, "datagrams_lost"), 0);
    assert_eq!(
        count(&outcome, "datagrams_sent"),
        count(&outcome, "datagrams_due")
    );
    let busy = measure(&outcome, "cores", "busy_percent");
    let spinning = busy.iter().filter(|percent| **percent > 99.0).count();
    assert_eq!(spinning, 2, "it never rests: {busy:?}");
}

#[test]
fn a_reporter_on_the_only_core_starves_nobody() {
    let one = [
        "host.machine.cores=1",
        "host.machine.interrupts.affinity={kind=\"bound\"}",
    ];
    let outcome = udp("800Mbit", &[&[YIELD], &one[..]].concat());
    let received = count(&outcome, "datagrams_received");
    let sent = count(&outcome, "datagrams_sent");
    // The reader has slept more than its share, and takes the core from the reporter.
    assert_eq!((received, count(&outcome, "lost_socket")), (sent, 0));
    assert!(sent > 0);
}
