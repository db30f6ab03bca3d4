//! Flent's tests, pings and priorities in a whole network.

use tailback_sim::{ColumnData, RunOutcome};

use crate::support::{column, counts, measure, simulated};

const STAR: &str = r#"
name = "flent"
[network]
topology = "star"
hosts = 3
link = { rate = "1Gbit", delay = "20us", mtu = "1500B" }
switch = "queued"
[host]
preset = "server-25g"
[preset.switch.queued]
ports = 4
forwarding = "store-and-forward"
latency = "1us"
marking = { kind = "off" }
[preset.switch.queued.buffer]
kind = "queued"
shared = "1MB"
segment = "64B"
rx_private = "0B"
tx_private = "0B"
tx_limit = { kind = "hog", bytes = "100KB" }
"#;

fn run(workload: &str, overrides: &[&str]) -> RunOutcome {
    let text = format!("{STAR}[workload]\n{workload}");
    simulated(&text, overrides)
}

const RRUL: &str = r#"
kind = "flent"
test = "rrul"
clients = 1
length = "300ms"
delay = "50ms"
step_size = "10ms"
"#;

#[test]
fn rrul_loads_both_directions_and_then_lets_go() {
    let outcome = run(RRUL, &[]);
    for way in ["upload_gbps", "download_gbps"] {
        let gbps = measure(&outcome, "summary", way)[0];
        assert!((0.75..0.97).contains(&gbps), "{way}: {gbps}");
    }
    assert_eq!(counts(&outcome, "summary", "pings"), [4 * 40]);
    // Pings are short before and after the load, and long under it.
    let (at, rtt) = (
        measure(&outcome, "pings", "time_s"),
        measure(&outcome, "pings", "rtt_ms"),
    );
    let mean = |from: f64, until: f64| {
        let within = at
            .iter()
            .zip(&rtt)
            .filter(|(at, _)| (from..until).contains(*at));
        let rtts: Vec<f64> = within.map(|(_, rtt)| *rtt).collect();
        rtts.iter().sum::<f64>() / rtts.len() as f64
    };
    let (before, under, after) = (mean(0.0, 0.05), mean(0.1, 0.35), mean(0.36, 0.41));
    assert!(under > 3.0 * before, "{before} ms, {under} ms under load");
    assert!(after < 1.2 * before, "{before} ms, {after} ms after it");
    let again = run(RRUL, &[]);
    assert_eq!(again.tables, outcome.tables);
}

#[test]
fn a_strict_band_carries_its_priority_first() {
    let bands =
        r#"preset.switch.queued.buffer.scheduler={ strict = 2, priomap = [1, 1, 1, 1, 1, 0] }"#;
    let workload = r#"
kind = "bulk"
pairs = { kind = "listed", list = [["host1", "host0"], ["host2", "host0"]] }
connections = 2
priority = [0, 5]
start_within = "0s"
duration = "500ms"
"#;
    let of_priority = |outcome: &RunOutcome| {
        let received = counts(outcome, "flows", "received_bytes");
        assert_eq!(counts(outcome, "flows", "priority"), [0, 5, 0, 5]);
        // Flows without an end are never complete, and have no slowdown.
        let slowdowns = measure(outcome, "flows", "slowdown");
        assert!(slowdowns.iter().all(|s| s.is_nan()), "{slowdowns:?}");
        assert!(measure(outcome, "summary", "slowdown_mean")[0].is_nan());
        let part = |n: usize| received.iter().skip(n).step_by(2).sum::<u64>();
        (part(0), part(1))
    };
    let (low, high) = of_priority(&run(workload, &[bands]));
    assert!(high > 8 * low, "{high} against {low}");
    // Which is first is decided by the map alone.
    let other =
        r#"preset.switch.queued.buffer.scheduler={ strict = 2, priomap = [0, 1, 1, 1, 1, 1] }"#;
    let (low, high) = of_priority(&run(workload, &[other]));
    assert!(low > 8 * high, "{high} against {low}");
}

#[test]
fn pings_among_many_connections_are_fetched_ahead_as_nothing() {
    // Beyond 256 endpoints what lands next is fetched ahead, and a ping is for none of them.
    let workload = r#"
kind = "iperf3"
senders = 2
parallel = 140
measured = "all"
duration = "20ms"
ping_interval = "100us"
interval = "10ms"
"#;
    let outcome = run(workload, &[]);
    let answered =
        counts(&outcome, "summary", "pings")[0] - counts(&outcome, "summary", "pings_lost")[0];
    // Most find the queue full.
    assert!(answered > 1, "{answered}");
}

#[test]
fn flows_of_a_test_tell_their_sender_s_congestion_control() {
    let one = RRUL.replace("rrul", "tcp_upload");
    let outcome = run(&one, &["stack.tcp_congestion_control=bbr"]);
    let control = column(&outcome, "flows", "sender_congestion_control");
    assert_eq!(*control, ColumnData::Str(vec!["bbr".to_owned()]));
}

#[test]
fn what_arrives_after_the_load_is_not_the_load_s() {
    // Some 50 ms of it are on their way when the load of 300 ms ends.
    let far = ["network.link.rate=20Mbit", "network.link.delay=5ms"];
    let download = RRUL.replace("rrul", "tcp_download");
    let outcome = run(&download, &far);
    let utilisation = measure(&outcome, "summary", "utilisation")[0];
    assert!((0.8..1.0).contains(&utilisation), "{utilisation}");
    let gbps = measure(&outcome, "summary", "download_gbps")[0];
    // What came within the load is in the intervals that end by then.
    let (at, rate) = (
        measure(&outcome, "intervals", "time_s"),
        measure(&outcome, "intervals", "bandwidth_gbps"),
    );
    let sum = |until: f64| {
        let within = at.iter().zip(&rate).filter(|(at, _)| **at < until);
        within.map(|(_, rate)| rate * 0.01).sum::<f64>() / 0.3
    };
    assert!((sum(0.3501) / gbps - 1.0).abs() < 1e-9);
    assert!(sum(0.4001) > 1.01 * gbps, "the rest arrives later");
    let flow = measure(&outcome, "flows", "bandwidth_gbps")[0];
    assert!((flow / gbps - 1.0).abs() < 1e-12);
}

#[test]
fn a_mean_queue_is_of_one_port_as_the_longest_is() {
    // Both ends of a trunk are full.
    let trunk = r#"network={ topology = "dumbbell", pairs = 1, switch = "queued", link = { rate = "1Gbit", delay = "20us", mtu = "1500B" }, trunk = [{ rate = "100Mbit", delay = "20us", mtu = "1500B" }] }"#;
    let outcome = run(RRUL, &[trunk]);
    let mean = measure(&outcome, "summary", "queue_bytes_mean")[0];
    let longest = counts(&outcome, "summary", "queue_bytes_max")[0] as f64;
    assert!(mean > 0.5 * longest && mean < longest, "{mean} {longest}");
    let looks = counts(&outcome, "intervals", "queue_bytes");
    assert!(
        looks.iter().all(|bytes| *bytes as f64 <= longest),
        "{looks:?}"
    );
}
