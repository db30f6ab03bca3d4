//! TCP between machines.

use tailback_sim::RunOutcome;

use super::common::{BALANCED, BOUND, CROSSING, FREE, run, tcp, udp};
use crate::support::{counts, measure, names};

#[test]
fn tcp_over_a_direct_cable_brings_what_the_machine_was_fitted_to() {
    let polled = tcp(&[]);
    let interrupted = tcp(&[
        "host.machine.softirq.napi=false",
        "host.machine.interrupts.throttle=0s",
    ]);
    // Fitted to 3 and 1.9 Gb/s.
    assert!((2_850.0..3_150.0).contains(&polled), "{polled}");
    assert!((1_800.0..2_000.0).contains(&interrupted), "{interrupted}");
}

#[test]
fn a_long_path_loses_acknowledgements_at_the_sender_and_no_data() {
    // Slow start doubles what comes back as acknowledgements of single segments; the sender's core
    // needs twice as long for each as they are apart.
    let outcome = run(
        "kind = \"bulk\"\nduration = \"4s\"\npair_window = \"17.3MB\"",
        &[
            "network.link.0.delay=68.9ms",
            "stack.rmem_max=128MiB",
            "stack.wmem_max=128MiB",
            "stack.tcp_congestion_control=reno",
        ],
    );
    assert_eq!(names(&outcome, "drops", "place"), ["ingress"]);
    assert_eq!(names(&outcome, "drops", "cause"), ["rx-ring-full"]);
    assert!(counts(&outcome, "drops", "frames")[0] > 100);
    assert_eq!(counts(&outcome, "drops", "data_frames"), [0]);
}

#[test]
fn four_flows_over_a_short_path_have_four_writers_and_bring_more_than_one_over_a_cable() {
    // The study's brought as much (docs/models/lambda-rings-study.md).
    let mbps = measure(
        &four_over("8ms", "8MB", "3s"),
        "summary",
        "goodput_mbps_mean",
    )[0];
    assert!((1.3..1.6).contains(&(mbps / tcp(&[]))), "{mbps}");
}

#[test]
fn four_flows_over_a_long_path_lose_in_rings_and_acknowledgements_most() {
    let outcome = four_over("68.9ms", "69.2MB", "5s");
    let causes = names(&outcome, "drops", "cause");
    assert!(
        causes.iter().all(|cause| cause == "rx-ring-full"),
        "{causes:?}"
    );
    assert_eq!(names(&outcome, "drops", "place"), ["ingress", "egress"]);
    let (all, data) = (
        counts(&outcome, "drops", "frames"),
        counts(&outcome, "drops", "data_frames"),
    );
    assert_eq!(data[0], 0, "at the sender acknowledgements are lost");
    assert_eq!(all[1], data[1], "at the receiver data are");
    assert!(data[1] > 0 && all[0] > 3 * data[1], "{all:?}");
}

/// Four flows of reno over a path of that delay, with so much window and for so long.
fn four_over(delay: &str, window: &str, duration: &str) -> RunOutcome {
    run(
        &format!(
            "kind = \"bulk\"\nduration = \"{duration}\"\nconnections = 4\n\
             pair_window = \"{window}\""
        ),
        &[
            &format!("network.link.0.delay={delay}"),
            "stack.rmem_max=128MiB",
            "stack.wmem_max=128MiB",
            "stack.tcp_congestion_control=reno",
        ],
    )
}

/// A sender that costs next to nothing and a flow into a host whose interrupts are bound or not.
fn one_flow(overrides: &[&str]) -> RunOutcome {
    let mut all = vec![
        "host.machine.costs.send_packet=100ns",
        "host.machine.costs.complete_packet=0s",
    ];
    all.extend(overrides);
    run("kind = \"bulk\"\nduration = \"300ms\"", &all)
}

#[test]
fn a_reader_on_another_core_takes_tcp_s_work_from_the_softirq() {
    let mbps = |outcome: &RunOutcome| measure(outcome, "summary", "goodput_mbps_mean")[0];
    let dear = "host.machine.costs.receive_frame=3us";
    let softirq = mbps(&one_flow(&[
        BALANCED,
        dear,
        "host.machine.socket.protocol=0s",
    ]));
    let reader = mbps(&one_flow(&[
        BALANCED,
        dear,
        "host.machine.socket.protocol=1us",
    ]));
    assert!(reader > 1.1 * softirq, "{softirq} {reader}");
}

#[test]
fn the_prequeue_is_a_setting_and_runs_with_it_repeat_exactly() {
    let outcome = |low_latency: bool| {
        let set = format!("host.machine.socket.tcp_low_latency={low_latency}");
        let all = [set.as_str(), "network.link.0.rate=2Gbit"];
        run("kind = \"bulk\"\nduration = \"200ms\"", &all)
    };
    assert_eq!(outcome(false), outcome(false));
    assert_eq!(outcome(true), outcome(true));
    assert_ne!(outcome(true).trajectory, outcome(false).trajectory);
}

/// Four flows into one host with so much more said of it.
fn four_flows(overrides: &[&str]) -> RunOutcome {
    // A sender that costs next to nothing, and a receiver whose softirqs are what limits. Readers stay
    // where they are.
    let mut all = vec![
        BALANCED,
        "host.machine.costs.receive_frame=3us",
        "network.link.0.rate=40Gbit",
        "host.machine.costs.send_packet=100ns",
        "host.machine.costs.complete_packet=0s",
        "host.rx_ring_descriptors=4096",
    ];
    all.extend(overrides);
    run(
        "kind = \"bulk\"\nduration = \"300ms\"\nconnections = 4",
        &all,
    )
}

#[test]
fn frames_that_join_make_a_receiver_faster_and_acknowledge_less() {
    let mbps = |outcome: &RunOutcome| measure(outcome, "summary", "goodput_mbps_mean")[0];
    let per_byte = |outcome: &RunOutcome| {
        outcome.hops as f64 / counts(outcome, "summary", "data_bytes_total")[0] as f64
    };
    let each = four_flows(&[]);
    let gro = four_flows(&["host.machine.merging={kind=\"gro\",merge_frame=\"300ns\"}"]);
    let card = four_flows(&["host.machine.merging={kind=\"lro\"}"]);
    for joined in [&gro, &card] {
        let (fast, slow) = (mbps(joined), mbps(&each));
        assert!(fast > 1.1 * slow, "{slow} {fast}");
        assert!(per_byte(joined) < per_byte(&each));
    }
}

#[test]
fn several_queues_spread_flows_over_cores() {
    let mbps = |outcome: &RunOutcome| measure(outcome, "summary", "goodput_mbps_mean")[0];
    let one = mbps(&four_flows(&[]));
    // Which flows share a queue is drawn by the seed.
    let seeds = ["run.seed=1", "run.seed=2", "run.seed=3"];
    let four = seeds.map(|seed| mbps(&four_flows(&["host.machine.interrupts.queues=4", seed])));
    let most = four.into_iter().fold(0.0, f64::max);
    assert!(most > 1.2 * one, "{one} {four:?}");
}

#[test]
fn an_adaptive_throttle_answers_pings_at_once_and_slows_bulk() {
    let gaps = |rate: &str, mode: &str| {
        let adaptive = format!("host.machine.interrupts.adaptive={mode}");
        let all = ["host.machine.softirq.napi=true", adaptive.as_str()];
        measure(&udp(rate, &all), "arrivals", "gap_us")
    };
    // A datagram every 117.6 us is alone in its poll: low latency, an interrupt each.
    let alone = gaps("100Mbit", "dynamic");
    assert!(alone[1..].iter().all(|gap| (gap - 117.6).abs() < 1.0));
    // Four in 50 us, 6 KB, are low latency still; ten, 15 KB, are bulk: of its 250 us a poll takes 75, for 50
    // datagrams.
    let longest = |gaps: &[f64]| gaps[100..].iter().fold(0.0, |a: f64, b| a.max(*b));
    let low = longest(&gaps("1000Mbit", "dynamic"));
    assert!((40.0..60.0).contains(&low), "{low}");
    let bulk = longest(&gaps("2400Mbit", "dynamic"));
    assert!((170.0..260.0).contains(&bulk), "{bulk}");
}

#[test]
fn what_crosses_costs_tcp_throughput_and_nothing_on_one_core() {
    let one = ["host.machine.cores=1", BOUND];
    let outcome = |more: &str| {
        run(
            "kind = \"bulk\"\nduration = \"200ms\"",
            &[&one[..], &[more]].concat(),
        )
    };
    assert_eq!(outcome(FREE).trajectory, outcome(CROSSING).trajectory);
    let (free, paid) = (tcp(&[BALANCED, FREE]), tcp(&[BALANCED, CROSSING]));
    assert!(paid < 0.98 * free, "{paid} {free}");
}
