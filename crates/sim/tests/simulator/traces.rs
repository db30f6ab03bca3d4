//! Links that change with time or have a bucket: whose capacity follows a trace, that are down, whose delay has steps, that police.

use crate::support::{counts, measure, names, simulated as run};

/// One flow from left to right over a link that follows a trace of the name `course`.
const CELL: &str = r#"name = "cell"
[network]
topology = "dumbbell"
pairs = 1
switch = "plain-queued"
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
trunk = [{ rate = "1Gbit", delay = "10ms", mtu = "1500B", trace = { forward = "course" } }]
[workload]
kind = "bulk"
pairs = { kind = "across", pairs = 1 }
duration = "10s"
[trace.course]
"#;

fn cell(trace: &str) -> String {
    format!("{CELL}{trace}\n")
}

fn received(text: &str, overrides: &[&str]) -> u64 {
    let outcome = run(text, overrides);
    counts(&outcome, "flows", "received_bytes").iter().sum()
}

#[test]
fn a_flow_fills_what_opportunities_let_go() {
    // Three, none, one: 1.33 a millisecond, 16 Mb/s of IP packets.
    let text = cell("kind = \"opportunities\"\ntimes_ms = \"1*3 3\"");
    let outcome = run(&text, &[]);
    let got = counts(&outcome, "flows", "received_bytes")
        .iter()
        .sum::<u64>() as f64;
    let expected = 2e6 * 10.0 * 1448.0 / 1500.0;
    assert!((got / expected - 1.0).abs() < 0.01, "{got} of {expected}");
    let (offered, used) = (
        counts(&outcome, "traces", "offered_bytes"),
        counts(&outcome, "traces", "used_bytes"),
    );
    assert_eq!((offered.len(), used.len()), (1, 1), "at the end alone");
    assert!(used[0] <= offered[0] && used[0] as f64 > 0.98 * offered[0] as f64);
    assert_eq!(names(&outcome, "traces", "link"), ["switch0>switch1"]);
    assert_eq!(names(&outcome, "traces", "place"), ["switch0:1"]);
    assert_eq!(names(&outcome, "traces", "trace"), ["course"]);
}

#[test]
fn one_rate_is_a_port_that_is_served_at_it() {
    let traced = cell("kind = \"rates\"\nsteps = [{ from = \"0s\", rate = \"20Mbit\" }]");
    let (head, _) = CELL.split_once("[trace").expect("a table");
    let served = head.replace(r#", trace = { forward = "course" }"#, "").replace(
        "switch = \"plain-queued\"",
        r#"switch = { preset = "plain-queued", buffer = { service = [{ port = 1, rate = "20Mbit", from = "0s", until = "1h" }] } }"#,
    );
    // The other switch's port 1 is served slowly too, but acknowledgements are few.
    let (traced, served) = (run(&traced, &[]), run(&served, &[]));
    let got = |outcome| counts(outcome, "flows", "received_bytes")[0] as f64;
    assert!((got(&traced) / got(&served) - 1.0).abs() < 0.002);
    let expected = 20e6 / 8.0 * 10.0 * 1448.0 / 1538.0;
    assert!(
        (got(&traced) / expected - 1.0).abs() < 0.01,
        "{}",
        got(&traced)
    );
}

#[test]
fn nothing_crosses_in_an_outage_and_what_waits_does_after_it() {
    let trace = |rate: &str| {
        cell(&format!(
            "kind = \"rates\"\nsteps = [{{ from = \"0s\", rate = \"20Mbit\" }}, {{ from = \"4s\", rate = \"{rate}\" }}, {{ from = \"6s\", rate = \"20Mbit\" }}]"
        ))
    };
    let sampled = ["record.sample_interval=100ms"];
    let outcome = run(&trace("0bit"), &sampled);
    let times = measure(&outcome, "traces", "time_s");
    let used = counts(&outcome, "traces", "used_bytes");
    let offered = counts(&outcome, "traces", "offered_bytes");
    let at = |s: f64| times.iter().position(|t| *t >= s - 1e-9).expect("a time");
    assert!(used[at(4.0)] - used[at(3.9)] > 200_000, "it was full");
    assert_eq!(used[at(6.0)], used[at(4.1)]);
    assert_eq!(offered[at(6.0)], offered[at(4.0)]);
    assert!(used[at(9.9)] > used[at(6.0)]);
    assert!(counts(&outcome, "flows", "timeouts")[0] >= 1);
    assert!(received(&trace("0bit"), &[]) < received(&trace("20Mbit"), &[]) * 85 / 100);
    assert_eq!(outcome, run(&trace("0bit"), &sampled), "a run repeats");
}

/// The same flow at 50 Mb/s, over a link with an impairment.
fn impaired(impairment: &str) -> String {
    let (head, _) = CELL.split_once("[trace").expect("a table");
    head.replace(
        r#"trace = { forward = "course" }"#,
        &format!("impairment = {{ {impairment} }}"),
    )
    .replace(
        r#"trunk = [{ rate = "1Gbit""#,
        r#"trunk = [{ rate = "50Mbit""#,
    )
}

#[test]
fn a_link_that_is_down_loses_what_is_sent_and_the_flow_goes_on_after_it() {
    let text = impaired(r#"outages = [{ from = "2s", until = "2500ms", every = "4s" }]"#);
    let outcome = run(&text, &["record.sample_interval=10ms"]);
    let hosts = names(&outcome, "samples", "host");
    let times = measure(&outcome, "samples", "time_s");
    let received = counts(&outcome, "samples", "bytes_received");
    let by = |s: f64| {
        let rows = (0..hosts.len()).filter(|i| hosts[*i] == "right0" && times[*i] <= s + 1e-9);
        rows.map(|i| received[i]).max().expect("a look")
    };
    assert!(by(2.0) > by(1.9) + 500_000, "it was full");
    for down in [2.0, 6.0] {
        assert_eq!(by(down + 0.01), by(down + 0.5), "from {down} s");
        assert!(
            by(down + 3.9) > by(down + 0.5) + 15_000_000,
            "after {down} s"
        );
    }
    assert!(counts(&outcome, "flows", "timeouts")[0] >= 2);
    let lost = measure(&outcome, "summary", "link_losses_mean")[0];
    assert!(lost > 100.0, "{lost}");
}

#[test]
fn a_delay_in_steps_is_in_the_round_trips() {
    let text = impaired(
        r#"delay_steps = { steps = [{ from = "2s", by = "30ms" }], period = "5s" }, direction = "forward""#,
    );
    let limit = r#"socket={ SO_RCVBUF = "60kB" }"#; // no queue
    let outcome = run(&text, &["record.sample_interval=10ms", limit]);
    let hosts = names(&outcome, "samples", "host");
    let times = measure(&outcome, "samples", "time_s");
    let rtt = counts(&outcome, "samples", "rtt_us");
    for (at, ms) in [(1.9, 20), (4.9, 50), (6.9, 20), (9.9, 50)] {
        let row = (0..hosts.len()).find(|i| hosts[*i] == "left0" && times[*i] >= at);
        let found = rtt[row.expect("a look")];
        let over = found
            .checked_sub(ms * 1000)
            .expect("no less than the path's");
        assert!(over < 12_000, "{found} us at {at} s");
    }
    assert_eq!(counts(&outcome, "flows", "timeouts"), [0]);
}

/// Datagrams of 1000 bytes at 20 Mb/s of payload in place of the flow.
const DATAGRAMS: &str = r#"workload={ kind = "udp", pairs = { kind = "across", pairs = 1 }, datagram = "1000B", rate = "20Mbit", duration = "10s", socket_buffer = "1MB" }"#;

#[test]
fn a_policer_lets_its_rate_and_one_burst_through() {
    let policed = |overhead_bytes: i64| {
        let bucket = format!(
            r#"policer = {{ rate = "10Mbit", burst = "50kB", overhead_bytes = {overhead_bytes} }}"#
        );
        let outcome = run(&impaired(&bucket), &[DATAGRAMS]);
        let lost = counts(&outcome, "drops", "frames");
        assert_eq!(names(&outcome, "drops", "cause"), ["policer"]);
        assert_eq!(names(&outcome, "drops", "place"), ["switch0>switch1"]);
        let sent: u64 = counts(&outcome, "flows", "datagrams_sent").iter().sum();
        (sent - lost[0]) as f64
    };
    for overhead_bytes in [0, 20] {
        let frame_bytes = (1000 + 28 + 18 + overhead_bytes) as f64;
        let expected = (10e6 / 8.0 * 10.0 + 50e3) / frame_bytes;
        let through = policed(overhead_bytes);
        assert!((through - expected).abs() < 3.0, "{through} of {expected}");
    }
}

#[test]
fn a_shaper_has_wait_what_a_policer_drops() {
    let shaped = cell("kind = \"shaper\"\nrate = \"50Mbit\"\nburst = \"30kB\"");
    let outcome = run(&shaped, &[]);
    let got = counts(&outcome, "flows", "received_bytes")[0] as f64;
    let expected = 50e6 / 8.0 * 10.0 * 1448.0 / 1518.0;
    assert!((got / expected - 1.0).abs() < 0.01, "{got} of {expected}");
    let (offered, used) = (
        counts(&outcome, "traces", "offered_bytes")[0],
        counts(&outcome, "traces", "used_bytes")[0],
    );
    assert!(
        used <= offered && offered - used < offered / 50,
        "{used} of {offered}"
    );
    let burst = r#"policer = { rate = "49Mbit", burst = "30kB" }"#;
    let policed = run(&impaired(burst), &["network.trunk.0.rate=1Gbit"]);
    let lost = counts(&policed, "drops", "frames");
    assert!(lost[0] > 50, "{lost:?}");
    assert_eq!(
        measure(&policed, "summary", "link_losses_mean"),
        [lost[0] as f64],
        "a policer is the link's"
    );
    let less = counts(&policed, "flows", "received_bytes")[0] as f64;
    assert!(less < 0.9 * got, "{less} against {got}");
}
