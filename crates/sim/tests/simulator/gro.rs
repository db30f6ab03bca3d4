//! Hosts whose kernel puts frames together before TCP has them.

use tailback_sim::{Control, RunOutcome, simulate_on};

use crate::support::{plan, simulated, sum};

/// Two senders at one port for 50 ms; frames wait 0 to 16 us for an interrupt.
const STAR: &str = r#"
name = "gro"
[network]
topology = "star"
hosts = 3
link = { rate = "25Gbit", delay = "1us", mtu = "1500B" }
switch = "aruba-25g"
[host]
preset = "server-25g"
[stack]
preset = "linux-sce"
tcp_congestion_control = "dctcp"
[workload]
kind = "bulk"
pairs = { kind = "to-first" }
duration = "50ms"
"#;

fn run(overrides: &[&str]) -> RunOutcome {
    simulated(STAR, overrides)
}

/// Hops of a run and bytes that it carried.
fn hops_and_bytes(overrides: &[&str]) -> (u64, f64) {
    let outcome = run(overrides);
    (outcome.hops, sum(&outcome, "flows", "received_bytes"))
}

#[test]
fn as_much_arrives_with_few_acknowledgements() {
    // A packet of data crosses two links, and so does what acknowledges it.
    let acknowledgements = |(hops, bytes): (u64, f64)| hops as f64 / (bytes / 1448.0) / 2.0 - 1.0;
    let (with, without) = (hops_and_bytes(&[]), hops_and_bytes(&["host.gro=false"]));
    assert!(
        (0.95..1.05).contains(&(with.1 / without.1)),
        "{with:?} {without:?}"
    );
    let (few, many) = (acknowledgements(with), acknowledgements(without));
    assert!((0.02..0.2).contains(&few), "{few} a frame");
    assert!((0.45..0.65).contains(&many), "{many} a frame");
}

#[test]
fn a_count_in_the_flags_parts_packets_only_where_it_changes() {
    // Data that all bears the same flags joins, and the same counters of bytes (tcp_gro_receive).
    let acknowledgements = |stack: &str| {
        let (hops, bytes) = hops_and_bytes(&[stack, "network.switch.marking={kind=\"off\"}"]);
        hops as f64 / (bytes / 1436.0) / 2.0 - 1.0
    };
    for option in [0, 2] {
        let stack = format!("stack={{preset=\"linux-7.2\", tcp_ecn=3, tcp_ecn_option={option}}}");
        let few = acknowledgements(&stack);
        assert!((0.02..0.2).contains(&few), "{few} a frame, option {option}");
    }
}

#[test]
fn marks_part_packets() {
    // Some are marked, and senders do not mind: those that follow one another are often not alike.
    let marked =
        "network.switch.marking={kind=\"linear\", probability_rise=1.0, mem_start_point=0.0}";
    let counted = |gro: &str| {
        let (hops, bytes) = hops_and_bytes(&[marked, "host.ce_to_ect1=true", gro]);
        hops as f64 / (bytes / 1448.0)
    };
    let plain = {
        let (hops, bytes) = hops_and_bytes(&["host.ce_to_ect1=true"]);
        hops as f64 / (bytes / 1448.0)
    };
    let parted = counted("host.gro=true");
    assert!(parted > plain + 0.2, "{parted} and {plain} hops a frame");
}

#[test]
fn one_and_two_threads_take_the_same_course() {
    let plan = plan(STAR, &[]);
    let hash = |threads| {
        let outcome = simulate_on(threads, &plan.runs[0], &Control::default());
        outcome.expect("a run that adds up").trajectory
    };
    assert_eq!(hash(1), hash(2));
    assert_eq!(hash(1), run(&[]).trajectory);
    assert_ne!(hash(1), run(&["host.gro=false"]).trajectory);
}

#[test]
fn looking_on_changes_nothing() {
    let captured = run(&["record.pcap={}"]);
    assert!(
        captured
            .capture
            .as_ref()
            .is_some_and(|capture| !capture.is_empty())
    );
    assert_eq!(captured.trajectory, run(&[]).trajectory);
}

#[test]
fn frames_that_come_late_or_twice_are_all_accounted_for() {
    let impaired =
        "network.link.impairment={duplicate=0.001, reorder={probability=0.001, delay=\"300us\"}}";
    // That the run adds up is checked at its end.
    let bytes = hops_and_bytes(&[impaired]).1;
    assert!(bytes > 0.5 * 25e9 / 8.0 * 0.05, "{bytes}");
}

#[test]
fn one_frame_an_interrupt_joins_nothing() {
    // At 1 Gb/s a frame takes 12 us: without an interrupt's wait each is handled before the next comes.
    let slow = [
        "network.link.rate=1Gbit",
        "host.interrupt_delay=0s",
        "host.interrupt_jitter=0s",
    ];
    let with = run(&slow).trajectory;
    assert_eq!(
        with,
        run(&[&slow[..], &["host.gro=false"]].concat()).trajectory
    );
}
