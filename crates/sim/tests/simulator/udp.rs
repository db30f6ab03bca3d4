//! Datagrams at a constant rate, end to end.

use tailback_sim::RunOutcome;

use crate::support::{measure, simulated, sum, value};

/// Ten hosts of a star send to the first.
fn ten(rate: &str) -> RunOutcome {
    let text = format!(
        r#"
name = "datagrams"
host = "plain"
stack = "linux-7.2"
[network]
topology = "star"
switch = "plain"
hosts = 11
link = {{ rate = "10Gbit", delay = "1us", mtu = "1500B" }}
[workload]
kind = "udp"
pairs = {{ kind = "to-first" }}
rate = "{rate}"
duration = "1s"
socket_buffer = "1MiB"
"#
    );
    simulated(&text, &[])
}

#[test]
fn of_rare_datagrams_all_that_are_due_are_sent_in_time() {
    // One each 11.76 s, and one each 0.98 s.
    for (rate, due) in [("1Kbit", 10.0), ("12Kbit", 11.0)] {
        let outcome = ten(rate);
        assert_eq!(value(&outcome, "datagrams_due"), due, "{rate}");
        assert_eq!(value(&outcome, "datagrams_sent"), due, "{rate}");
        assert_eq!(value(&outcome, "datagrams_received"), due, "{rate}");
        let span = value(&outcome, "duration_s_total");
        assert!((1.0..1.0001).contains(&span), "{rate}: {span}");
        assert!(
            measure(&outcome, "flows", "start_s")
                .iter()
                .all(|s| *s < 1.0)
        );
    }
}

#[test]
fn a_flows_goodput_is_over_its_time_and_the_sum_of_them_the_summarys() {
    // Ten datagrams a second are nine gaps.
    for rate in ["1Kbit", "117.6Kbit", "100Mbit"] {
        let outcome = ten(rate);
        let whole = value(&outcome, "goodput_mbps_mean");
        let parts = sum(&outcome, "flows", "goodput_mbps");
        assert!(
            (parts / whole - 1.0).abs() < 1e-3,
            "{rate}: {parts} {whole}"
        );
    }
    let each = measure(&ten("117.6Kbit"), "flows", "goodput_mbps");
    assert!(
        each.iter().all(|mbps| (mbps / 0.1176 - 1.0).abs() < 1e-3),
        "{each:?}"
    );
}

#[test]
fn what_waits_in_a_deep_queue_is_waited_for() {
    // 1.25 MB of payload into a line of 10 Mb/s: over a second of it.
    let text = r#"
name = "deep"
host = "plain"
stack = "linux-7.2"
[network]
topology = "explicit"
host = [{ name = "a" }, { name = "b" }]
switch = [{ name = "s", model = "plain" }]
link = [
    { ends = ["a", "s"], rate = "1Gbit", delay = "1us", mtu = "1500B" },
    { ends = ["s", "b"], rate = "10Mbit", delay = "1us", mtu = "1500B" },
]
[workload]
kind = "udp"
pairs = { kind = "listed", list = [["a", "b"]] }
rate = "100Mbit"
duration = "100ms"
socket_buffer = "1MiB"
"#;
    let outcome = simulated(text, &[]);
    let sent = value(&outcome, "datagrams_sent");
    let lost = value(&outcome, "datagrams_lost");
    assert_eq!(value(&outcome, "datagrams_received") + lost, sent);
    assert!(value(&outcome, "delay_us_max") > 600e3);
}

#[test]
fn what_a_full_queue_refuses_at_once_is_sent_in_turn() {
    // Ten sockets of a host have more than its queue holds, and what that refuses takes none of a socket's room: one that
    // has waited sends thousands at once.
    let text = r#"
name = "datagrams"
host = "plain"
stack = "linux-7.2"
[network]
topology = "star"
switch = "plain"
hosts = 11
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
[workload]
kind = "udp"
pairs = { kind = "mesh" }
rate = "10Gbit"
datagram = "100B"
duration = "5ms"
socket_buffer = "64KiB"
"#;
    let outcome = simulated(text, &[]);
    let due = value(&outcome, "datagrams_due");
    assert_eq!(due, 110.0 * 62_500.0);
    let sent = value(&outcome, "datagrams_sent");
    assert!(sent > 0.1 * due && sent < due, "{sent}");
    let received = value(&outcome, "datagrams_received");
    assert!(received > 0.0 && received < 0.1 * sent, "{received}");
}
