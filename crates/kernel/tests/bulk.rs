//! Bulk transfers between kernels run at the link's goodput, and take the same course each time.

mod support;

use std::hash::Hasher;

use support::{Folder, Options, Outcome, StarConfig, run};
use tailback_agent::Record;
use tailback_agent::config::{Bulk, Sink, Task};
use tailback_units::{Duration, Rate};
use tailback_wire::plan;

/// IP and TCP headers with timestamps, bytes.
const HEADERS_BYTES: f64 = 52.0;
/// Ethernet header, FCS, preamble and gap, bytes.
const ETHERNET_BYTES: f64 = 38.0;

fn link(gbps: u64, mtu_bytes: u16) -> StarConfig {
    StarConfig {
        rates: vec![Rate::from_gbps(gbps); 2],
        delay: Duration::from_us(1),
        mtu_bytes,
        buffer_bytes: None,
        mark_above_bytes: None,
    }
}

fn tasks(duration_ns: u64) -> [Vec<Task>; 2] {
    let bulk = Task::Bulk(Bulk {
        address: plan::ipv4(1),
        port: 5001,
        flows: 1,
        bytes: None,
        duration_ns: Some(duration_ns),
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
    [vec![bulk], vec![sink]]
}

fn options(folder: &Folder, us: u64) -> Options {
    let buffers = ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];
    Options {
        interrupt_gap: Duration::from_us(us),
        sysctls: buffers
            .map(|name| (name.to_owned(), "4096 4194304 16777216".to_owned()))
            .to_vec(),
        ..Options::new(folder)
    }
}

/// Bits a second that the sink read, from its first byte to its last.
fn goodput_bps(outcome: &Outcome) -> f64 {
    let flow = outcome.records[1].iter().find_map(|record| match record {
        Record::Flow(flow) => Some(flow),
        _ => None,
    });
    let flow = flow.expect("the sink tells of its flow");
    flow.read_bytes as f64 * 8e9 / (flow.last_byte_ns - flow.first_byte_ns) as f64
}

#[test]
fn one_flow_fills_the_link() {
    for (gbps, mtu_bytes) in [(10, 1500), (10, 9000), (25, 1500), (25, 9000)] {
        let folder = Folder::new();
        let options = options(&folder, 8);
        let outcome = run(
            &folder,
            &options,
            link(gbps, mtu_bytes),
            &tasks(100_000_000),
        )
        .expect("the guests run");
        let mtu = f64::from(mtu_bytes);
        let share = (mtu - HEADERS_BYTES) / (mtu + ETHERNET_BYTES);
        let expected = gbps as f64 * 1e9 * share;
        let got = goodput_bps(&outcome);
        assert!(
            (got / expected - 1.0).abs() < 0.005,
            "{gbps}G, MTU {mtu_bytes}: {got} instead of {expected}"
        );
    }
}

/// A hash over the time and the first bytes of every frame that arrives.
fn course(change: impl FnOnce(&mut Options)) -> u64 {
    let folder = Folder::new();
    let mut options = options(&folder, 8);
    change(&mut options);
    let outcome = run(&folder, &options, link(10, 1500), &tasks(5_000_000)).expect("they run");
    assert!(outcome.star.packets > 3000, "{}", outcome.star.packets);
    outcome.star.hash.finish()
}

#[test]
fn the_same_seed_takes_the_same_course() {
    let first = course(|_| {});
    assert_eq!(course(|_| {}), first);
    assert_eq!(
        course(|o| o.kernels.core = None),
        first,
        "not bound to a core"
    );
    assert_ne!(course(|o| o.seed = 2), first, "another seed");
}

#[test]
fn the_clock_may_travel_in_messages() {
    let near = |options: &mut Options| options.kernels.look_ahead = false;
    let shared = course(near);
    let messages = course(|options| {
        near(options);
        options.kernels.shared_clock = false;
    });
    assert_eq!(messages, shared);
}

#[test]
fn time_goes_on_at_any_distance() {
    // From less than the gap between interrupts to far beyond a tick and the longest look-ahead.
    for us in [1, 10, 100, 1_000, 5_000, 20_000, 100_000] {
        for shared_clock in [true, false] {
            let folder = Folder::new();
            let mut options = options(&folder, 16);
            options.kernels.shared_clock = shared_clock;
            let mut tasks = tasks(0);
            if let Task::Bulk(bulk) = &mut tasks[0][0] {
                (bulk.bytes, bulk.duration_ns) = (Some(300_000), None);
            }
            let link = StarConfig {
                delay: Duration::from_us(us),
                ..link(10, 1500)
            };
            let outcome = run(&folder, &options, link, &tasks)
                .unwrap_or_else(|error| panic!("{us} us, shared {shared_clock}: {error}"));
            let read = outcome.records[1].iter().find_map(|record| match record {
                Record::Flow(flow) => Some(flow.read_bytes),
                _ => None,
            });
            assert_eq!(read, Some(300_000), "{us} us, shared {shared_clock}");
        }
    }
}
