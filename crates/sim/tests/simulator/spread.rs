//! Hosts whose card has several receive queues.

use tailback_sim::{Control, RunOutcome, simulate_on};

use crate::support::{plan, simulated, sum};

/// Four senders at one port for 20 ms; a CPU takes a segment in a microsecond, 11.6 Gb/s.
const STAR: &str = r#"
name = "spread"
[network]
topology = "star"
hosts = 5
link = { rate = "25Gbit", delay = "1us", mtu = "1500B" }
switch = "aruba-25g"
[host]
preset = "server-25g"
rx_queues = 1
rx_segment_cost = "1us"
rx_kilobyte_cost = "0s"
[stack]
preset = "linux-7.2"
[workload]
kind = "bulk"
pairs = { kind = "to-first" }
duration = "20ms"
"#;

fn run(overrides: &[&str]) -> RunOutcome {
    simulated(STAR, overrides)
}

/// What all flows got, Gb/s.
fn gbps(overrides: &[&str]) -> f64 {
    sum(&run(overrides), "flows", "received_bytes") * 8.0 / 20e-3 / 1e9
}

#[test]
fn each_queue_has_a_cpu_of_its_own() {
    for gro in ["host.gro=true", "host.gro=false"] {
        let one = gbps(&[gro]);
        assert!((9.5..11.7).contains(&one), "one CPU takes {one}");
        let several = gbps(&[gro, "host.rx_queues=16"]);
        assert!(several > 20.0, "{several} with 16 queues");
    }
}

#[test]
fn a_flow_stays_in_one_queue() {
    let alone = r#"workload.pairs={kind="listed", list=[["host1", "host0"]]}"#;
    let several = gbps(&[alone, "host.rx_queues=16"]);
    assert!((9.5..11.7).contains(&several), "{several}");
}

#[test]
fn each_queue_has_a_ring_of_its_own() {
    // CPUs that are too slow by far: what waits for each is a ring's worth, and the rest is lost there.
    let slow = ["host.rx_segment_cost=20us", "host.rx_ring_descriptors=16"];
    let lost = |queues: &str| {
        let outcome = run(&[&slow[..], &[queues]].concat());
        let received = sum(&outcome, "flows", "received_bytes");
        (sum(&outcome, "summary", "host_drops_mean"), received)
    };
    let (one, several) = (lost("host.rx_queues=1"), lost("host.rx_queues=64"));
    assert!(one.0 > 0.0 && several.0 > 0.0, "{one:?} {several:?}");
    assert!(several.1 > 2.0 * one.1, "{one:?} {several:?}");
}

#[test]
fn one_and_two_threads_take_the_same_course_and_looking_on_changes_nothing() {
    for gro in ["host.gro=true", "host.gro=false"] {
        let several = [gro, "host.rx_queues=4"];
        let plan = plan(STAR, &several);
        let hash = |threads| {
            let outcome = simulate_on(threads, &plan.runs[0], &Control::default());
            outcome.expect("a run that adds up").trajectory
        };
        assert_eq!(hash(1), hash(2));
        assert_eq!(
            hash(1),
            run(&[&several[..], &["record.pcap={}"]].concat()).trajectory
        );
        assert_ne!(hash(1), run(&[gro]).trajectory);
    }
}

#[test]
fn another_seed_spreads_flows_otherwise() {
    // Two queues for four flows: how they divide is chance.
    let shares: Vec<f64> = (1..9)
        .map(|seed| gbps(&["host.rx_queues=2", &format!("run.seed={seed}")]))
        .collect();
    let (least, most) = shares
        .iter()
        .fold((f64::MAX, 0.0_f64), |(l, m), v| (l.min(*v), m.max(*v)));
    assert!(most > least + 5.0, "{shares:?}");
}

#[test]
fn frames_that_come_late_or_twice_are_all_accounted_for() {
    let impaired =
        "network.link.impairment={duplicate=0.001, reorder={probability=0.001, delay=\"300us\"}}";
    // That the run adds up is checked at its end.
    let bytes = sum(
        &run(&[impaired, "host.rx_queues=4"]),
        "flows",
        "received_bytes",
    );
    assert!(bytes > 0.0, "{bytes}");
}
