//! Congestion controls of real kernels through a bottleneck: 25 Gbit/s into a 10 Gbit/s port.

mod support;

use support::{Folder, Options, Outcome, StarConfig, run};
use tailback_agent::Record;
use tailback_agent::config::{Bulk, Sink, Task};
use tailback_units::{Duration, Rate, Time};
use tailback_wire::plan;

const BUFFER_BYTES: u64 = 500_000;
const MARK_ABOVE_BYTES: u64 = 100_000;
const DURATION_NS: u64 = 150_000_000;

fn through(congestion_control: &str, ecn: &str, mark_above_bytes: Option<u64>) -> Outcome {
    let folder = Folder::new();
    let sysctls = [
        ("net.ipv4.tcp_rmem", "4096 4194304 16777216"),
        ("net.ipv4.tcp_wmem", "4096 4194304 16777216"),
        ("net.ipv4.tcp_ecn", ecn),
        // At both ends: DCTCP's receiver echoes marks in its own way.
        ("net.ipv4.tcp_congestion_control", congestion_control),
    ];
    let options = Options {
        interrupt_gap: Duration::from_us(8),
        sysctls: sysctls
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        ..Options::new(&folder)
    };
    let star = StarConfig {
        rates: [25, 10].map(Rate::from_gbps).to_vec(),
        delay: Duration::from_us(5),
        mtu_bytes: 9000,
        buffer_bytes: Some(BUFFER_BYTES),
        mark_above_bytes,
    };
    let bulk = Task::Bulk(Bulk {
        address: plan::ipv4(1),
        port: 5001,
        flows: 1,
        bytes: None,
        duration_ns: Some(DURATION_NS),
        congestion_control: None,
        window_bytes: None,
        priority: 0,
        end_ns: None,
        abort: false,
        start_ns: 10_000_000,
        pace: None,
    });
    let sink = Task::Sink(Sink {
        port: 5001,
        connections: 1,
        window_bytes: None,
        priority: 0,
        end_ns: None,
        endless: false,
        aborted: false,
    });
    run(&folder, &options, star, &[vec![bulk], vec![sink]]).expect("the guests run")
}

/// Share of the port's rate that was on the wire while the flow ran.
fn utilisation(outcome: &Outcome) -> f64 {
    let star = &outcome.star;
    let start = Time::from_ps(10_000_000_000);
    let bits = star.arrived_bytes[1] as f64 * 8.0;
    bits / (DURATION_NS as f64 / 1e9) / 10e9 * f64::from(u8::from(star.last_arrival[1] > start))
}

fn sender(outcome: &Outcome, field: &str) -> u64 {
    let flow = outcome.records[0].iter().find_map(|record| match record {
        Record::Flow(flow) => flow.tcp_info.get(field).copied(),
        _ => None,
    });
    flow.expect("the sender tells of its flow")
}

#[test]
fn cubic_fills_the_buffer_and_repairs_what_it_loses() {
    let outcome = through("cubic", "0", None);
    assert!(outcome.star.drops > 0);
    assert!(outcome.star.queued_bytes_max > BUFFER_BYTES * 9 / 10);
    assert_eq!(sender(&outcome, "total_retrans"), outcome.star.drops);
    assert_eq!(sender(&outcome, "total_rto"), 0, "SACK repairs all");
    let used = utilisation(&outcome);
    assert!(used > 0.97, "the port stays at line rate: {used}");
}

#[test]
fn dctcp_keeps_the_queue_at_the_mark() {
    let outcome = through("dctcp", "1", Some(MARK_ABOVE_BYTES));
    assert_eq!(outcome.star.drops, 0);
    assert!(outcome.star.marks > 100, "{}", outcome.star.marks);
    assert!(sender(&outcome, "delivered_ce") > 100);
    let used = utilisation(&outcome);
    assert!(used > 0.97, "the port stays at line rate: {used}");
}

#[test]
fn bbr_loses_nothing() {
    let outcome = through("bbr", "0", None);
    assert_eq!(outcome.star.drops, 0);
    assert_eq!(sender(&outcome, "total_retrans"), 0);
    let used = utilisation(&outcome);
    assert!(used > 0.9, "{used}");
}
