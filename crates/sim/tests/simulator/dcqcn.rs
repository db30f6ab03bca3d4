//! DCQCN: fair shares, the fluid model's fixed point, what it spares PFC, who is told and who is not.

use tailback_scenario::Plan;
use tailback_sim::{Control, RunOutcome, simulate};

use crate::support::{counts, simulated};

/// Senders of ECN-capable datagrams of 1090 B on the wire to `host0` over 40 Gb/s, marked as in the paper.
const STAR: &str = r#"
name = "dcqcn"
[network]
topology = "star"
hosts = 9
[network.switch]
ports = 64
forwarding = "store-and-forward"
latency = "500ns"
marking = { kind = "red", min = "5KB", max = "200KB", probability = 0.01, avpkt = "1000B", burst = 0, bandwidth = "40Gbit", ecn = true }
[network.switch.buffer]
kind = "queued"
shared = "12MB"
segment = "1B"
rx_private = "0B"
tx_private = "0B"
tx_limit = { kind = "hog", bytes = "8MB" }
[network.link]
rate = "40Gbit"
delay = "1us"
mtu = "1500B"
[host]
tx_queue_packets = 64
tx_ring_descriptors = 64
rx_ring_descriptors = 65536
rx_segment_cost = "0s"
rx_kilobyte_cost = "0s"
interrupt_delay = "0s"
interrupt_jitter = "0s"
skb_overhead = "0B"
service_latency = "0s"
service_jitter = "0s"
client_latency = "0s"
send_call_cost = "0s"
[stack]
preset = "linux-7.2"
[workload]
kind = "udp"
pairs = { kind = "to-first" }
rate = "20Gbit"
datagram = "1024B"
ecn = true
duration = "20ms"
socket_buffer = "1MB"
"#;

const DCQCN: &str = "host.dcqcn={}";
const PFC: &str = r#"network.switch.flow_control={ kind = "pfc", watch = "ingress", classes = [{ class = 0, high_watermark = "60KB", low_watermark = "50KB" }] }"#;

fn run(overrides: &[&str]) -> RunOutcome {
    simulated(STAR, overrides)
}

fn sum(outcome: &RunOutcome, table: &str, name: &str) -> u64 {
    counts(outcome, table, name).iter().sum()
}

/// Jain's index of fairness.
fn fairness(shares: &[u64]) -> f64 {
    let (mut sum, mut squares) = (0.0, 0.0);
    for share in shares {
        sum += *share as f64;
        squares += (*share as f64).powi(2);
    }
    sum * sum / (squares * shares.len() as f64)
}

/// The fluid model's marking probability at rest with `flows` of them (Zhu et al., CoNEXT 2016, section 3):
/// with a, b, c, d, e as its equations have them, a²·α = τ²·R_AI·R·(b + d)·(c + e). Rates in packets.
fn fluid_probability(flows: f64) -> f64 {
    let wire_bits = 1090.0 * 8.0;
    let rate = 40e9 / wire_bits / flows;
    let (tau, alpha_timer, timer, f) = (50e-6, 55e-6, 55e-6, 5.0);
    let (bytes, r_ai) = (10e6 / 1070.0, 40e6 / wire_bits);
    let excess = |p: f64| {
        let unmarked = |packets: f64| (1.0 - p).powf(packets);
        let stages = |packets: f64| {
            let each = p / (1.0 / unmarked(packets) - 1.0);
            (each, each * unmarked(f * packets))
        };
        let (a, alpha) = (
            1.0 - unmarked(tau * rate),
            1.0 - unmarked(alpha_timer * rate),
        );
        let ((b, c), (d, e)) = (stages(bytes), stages(timer * rate));
        a * a * alpha - tau * tau * r_ai * rate * (b + d) * (c + e)
    };
    let (mut low, mut high) = (1e-7_f64, 0.5_f64);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if excess(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[test]
fn shares_are_fair_and_marks_settle_where_the_fluid_model_has_them() {
    for (hosts, flows) in [("network.hosts=5", 4.0), ("network.hosts=9", 8.0)] {
        // The first 40 ms, then 160: what both runs share is the same.
        let early = run(&[hosts, DCQCN, "workload.duration=40ms"]);
        let series = r#"record.series={ interval = "20us", host = "host0" }"#;
        let all = run(&[hosts, DCQCN, "workload.duration=200ms", series]);
        let settled = |table: &str, name: &str| {
            let pairs = counts(&all, table, name)
                .into_iter()
                .zip(counts(&early, table, name));
            pairs.map(|(all, early)| all - early).collect::<Vec<u64>>()
        };
        let received = settled("flows", "datagrams_received");
        let total = received.iter().sum::<u64>() as f64;
        assert!(fairness(&received) > 0.99, "{received:?}");
        let used = total * 1090.0 * 8.0 / 0.16 / 40e9;
        assert!(used > 0.99, "{used}");
        // At a steady probability one reaction point already needs 1.26 times the fluid model's for the
        // same mean rate (docs/models/dcqcn.md); the queue's swings add to that.
        let marked = settled("ports", "marks").iter().sum::<u64>() as f64 / total;
        let expected = 1.26 * fluid_probability(flows);
        assert!(
            (marked / expected - 1.0).abs() < 0.15,
            "{marked} of frames are marked, not {expected}"
        );
        // RED spreads its marks: the mean gap is half of that of independent ones.
        let queue = |p: f64| 5_000.0 + p / (2.0 - p) / 0.01 * 195_000.0;
        let queued = counts(&all, "network", "queue_bytes");
        let queued = &queued[2_000..10_000];
        let mean = queued.iter().sum::<u64>() as f64 / queued.len() as f64;
        let expected = queue(expected);
        assert!(
            (mean / expected - 1.0).abs() < 0.15,
            "{mean} B wait, not {expected}"
        );
    }
}

#[test]
fn with_pfc_nothing_is_dropped_and_hardly_anyone_is_stopped() {
    let paused = run(&[PFC]);
    let both = run(&[PFC, DCQCN]);
    for outcome in [&paused, &both] {
        assert_eq!(sum(outcome, "flows", "lost_switch"), 0);
    }
    let pauses = |outcome: &RunOutcome| sum(outcome, "ports", "pauses_sent");
    assert!(
        pauses(&both) * 20 < pauses(&paused),
        "{} and {} with PFC alone",
        pauses(&both),
        pauses(&paused)
    );
    // Alone it needs room for what comes before the first CNPs have told.
    let tight = "network.switch.buffer.tx_limit.bytes=1MB";
    let alone = run(&[DCQCN, tight]);
    assert!(sum(&alone, "flows", "lost_switch") > 100);
    let none = run(&[tight]);
    let lost = |outcome: &RunOutcome| sum(outcome, "flows", "lost_switch");
    assert!(
        lost(&none) > 50 * lost(&alone),
        "{} and {}",
        lost(&none),
        lost(&alone)
    );
    // Of 20 ms, some go by until all have come back from the first cuts.
    let got = |outcome: &RunOutcome| sum(outcome, "flows", "datagrams_received");
    assert!(
        got(&alone) * 100 > got(&none) * 80,
        "{} and {}",
        got(&alone),
        got(&none)
    );
}

#[test]
fn the_receiving_card_tells_and_a_run_repeats() {
    let outcome = run(&[DCQCN]);
    let told = counts(&outcome, "ports", "congestion_messages");
    let places: usize = 9;
    assert_eq!(told.len(), 2 * places);
    assert!(told[places] > 8 && told[places] < 8 * 400, "{told:?}");
    assert_eq!(told.iter().sum::<u64>(), told[places], "host0 and no other");
    assert_eq!(outcome, run(&[DCQCN]));
    assert_eq!(format!("{:016x}", outcome.trajectory), "25ca20a73b44d363");
}

#[test]
fn any_switch_that_marks_will_do() {
    for settings in [
        r#"network.switch.buffer={ kind = "shared", shared = "8MB", segment = "1B", rx_private = "0B", tx_private = "0B", tx_limit = { kind = "none" } }"#,
        r#"network.switch.marking={ kind = "step", threshold = "100KB" }"#,
        r#"network.switch.marking={ kind = "linear", probability_rise = 0.4, mem_start_point = 0.1 }"#,
        // Cards whose frames wait for interrupts look at them as they come.
        r#"host.interrupt_delay="20us""#,
    ] {
        let outcome = run(&[DCQCN, settings]);
        assert!(
            sum(&outcome, "ports", "congestion_messages") > 8,
            "{settings}"
        );
        let received = counts(&outcome, "flows", "datagrams_received");
        assert!(fairness(&received) > 0.95, "{settings}: {received:?}");
        assert_eq!(sum(&outcome, "flows", "lost_switch"), 0, "{settings}");
        let least = run(&[settings]);
        assert!(sum(&least, "flows", "lost_switch") > 10_000, "{settings}");
    }
}

#[test]
fn background_traffic_is_limited_if_it_is_ecn_capable() {
    let sources: Vec<String> = (1..5)
        .map(|host| {
            let ecn = host != 4;
            format!(
                r#"{{ source = "host{host}", destination = "host0", rate = "15Gbit", until = "20ms", ecn = {ecn} }}"#
            )
        })
        .collect();
    let set = format!("background=[{}]", sources.join(", "));
    let quiet = r#"workload.pairs={ kind = "listed", list = [["host5", "host6"]] }"#;
    let outcome = run(&[
        DCQCN,
        &set,
        quiet,
        "workload.rate=1Gbit",
        "network.switch.marking.nodrop=true",
    ]);
    let received = counts(&outcome, "background", "datagrams_received");
    let offered = 20e-3 * 15e9 / 1470.0 / 8.0;
    assert!(received[3] as f64 > 0.99 * offered, "{received:?}");
    for limited in &received[..3] {
        let share = *limited as f64 / offered;
        assert!((0.3..0.75).contains(&share), "{received:?}");
    }
}

#[test]
fn tcp_gets_its_echoes_and_its_card_the_cnps() {
    let bulk = r#"workload={ kind = "bulk", pairs = { kind = "to-first" }, duration = "20ms" }"#;
    let tcp = [bulk, "stack.tcp_ecn=1", "network.hosts=5"];
    let both = run(&[tcp.as_slice(), &[DCQCN]].concat());
    let plain = run(&tcp);
    assert!(sum(&both, "ports", "congestion_messages") > 4);
    assert_eq!(sum(&plain, "ports", "congestion_messages"), 0);
    for outcome in [&both, &plain] {
        assert!(sum(outcome, "ports", "marks") > 10);
        assert!(sum(outcome, "flows", "received_bytes") > 60_000_000);
    }
    assert_ne!(both.trajectory, plain.trajectory);
}

/// The built-in scenario's cell, 20 ms of it.
fn cell(management: &str) -> RunOutcome {
    let known = tailback_scenario::BUILT_IN.iter();
    let mut named = known.filter(|(name, ..)| *name == "dcqcn-incast");
    let (_, file, text) = named.next().expect("a built-in scenario");
    let short = ["workload.duration=20ms".to_owned()];
    let plan = Plan::from_toml(text, file, &short, None).expect("a good scenario");
    let is_wanted =
        |run: &&tailback_scenario::Run| run.parameters.iter().any(|(_, value)| value == management);
    let run = plan.runs.iter().find(is_wanted).expect("a cell");
    simulate(run, &Control::default()).expect("a run that ends and adds up")
}

#[test]
fn a_bystander_suffers_from_pfc_and_not_from_dcqcn() {
    let [paused, both, alone] = ["PFC", "DCQCN+PFC", "DCQCN"].map(cell);
    let bystander = |outcome: &RunOutcome| {
        let received = counts(outcome, "flows", "datagrams_received")[8];
        received as f64 / (20e-3 * 35e9 / 8192.0)
    };
    for outcome in [&paused, &both, &alone] {
        assert_eq!(sum(outcome, "flows", "lost_switch"), 0);
    }
    let shares = [&paused, &both, &alone].map(bystander);
    assert!(shares[0] < 0.15, "{shares:?}");
    assert!(shares[1] > 1.3 * shares[0], "{shares:?}");
    assert!(shares[2] > 0.99, "{shares:?}");
    let pauses = |outcome: &RunOutcome| sum(outcome, "ports", "pauses_sent");
    assert!(pauses(&both) * 50 < pauses(&paused), "{}", pauses(&both));
}

#[test]
fn the_summary_of_datagrams_has_their_marks() {
    let outcome = run(&["workload.duration=2ms"]);
    let marks = counts(&outcome, "summary", "marks");
    assert!(marks[0] > 100, "{marks:?}");
    assert_eq!(marks[0], sum(&outcome, "ports", "marks"));
    let plain = run(&["workload.duration=2ms", "workload.ecn=false"]);
    assert_eq!(counts(&plain, "summary", "marks"), [0]);
}
