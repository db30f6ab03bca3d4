//! Hosts that take turns give what the order of time gives.

use proptest::prelude::*;
use tailback_scenario::{Plan, Run};

use super::*;
use crate::{RunOutcome, build, outcome, simulate};

const PATH: &str = r#"
    name = "turns"
    host = "xeon-e7330-ixgbe"
    [stack]
    preset = "linux-2.6.24"
    tso = false
    rmem_max = "16MiB"
    wmem_max = "16MiB"
    tcp_rmem = ["4096B", "87380B", "16MiB"]
    tcp_wmem = ["4096B", "65536B", "16MiB"]
    [network]
    topology = "explicit"
    host = [{ name = "ingress" }, { name = "egress" }]
    switch = []
    link = [{ ends = ["ingress", "egress"], rate = "10Gbit", delay = "2ms", mtu = "1500B" }]
    [workload]
    pairs = { kind = "listed", list = [["ingress", "egress"], ["egress", "ingress"]] }
"#;

fn planned(workload: &str, overrides: &[String]) -> Run {
    let text = format!("{PATH}\n{workload}");
    let plan = Plan::from_toml(&text, "test", overrides, None).expect("a good scenario");
    plan.runs[0].clone()
}

/// A run's outcome in the order of time, or in turns if it can be; and whether it took turns to its end.
fn run(run: &Run, in_order: bool) -> (RunOutcome, bool) {
    let mut world = build::world(run, &[]);
    world.in_order = in_order;
    world.start();
    world.run(&Control::default()).expect("a good run");
    let in_turns = world.turns.is_some() && !world.has_shown_order();
    let books = world.check_conservation();
    assert!(books.is_ok() || world.has_shown_order(), "{books:?}");
    let mut outcome = outcome::outcome(&world);
    outcome.events = 0;
    (outcome, in_turns)
}

const UDP: &str = r#"kind = "udp"
    duration = "30ms"
    socket_buffer = "1MiB""#;
const BULK: &str = r#"kind = "bulk"
    duration = "60ms""#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn hosts_in_turn_are_hosts_in_order(
        (seed, udp, both) in (0_u32..1000, any::<bool>(), any::<bool>()),
        (delay_us, connections, mbit) in (500_u32..9000, 1_u32..5, 200_u32..3000),
        (ring, window_kb) in (32_u32..512, 64_u32..4000),
        (bound, napi, gro, socket) in (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        clock_ppm in prop::sample::select(vec![0, 100]),
        control in prop::sample::select(vec!["bic", "reno", "htcp", "vegas"]),
    ) {
        let affinity = if bound { "kind = \"bound\"" } else { "kind = \"balanced\", period = \"10ms\"" };
        let mut overrides = vec![
            format!("run.seed={seed}"),
            format!("network.clock_ppm={clock_ppm}"),
            format!("network.link.0.delay=\"{delay_us}us\""),
            format!("host.rx_ring_descriptors={ring}"),
            format!("host.machine.interrupts.affinity={{ {affinity} }}"),
            format!("host.machine.softirq.napi={napi}"),
        ];
        if !both {
            overrides.push("workload.pairs.list=[[\"ingress\", \"egress\"]]".to_owned());
        }
        if gro && napi {
            overrides.push("host.machine.merging={ kind = \"gro\", merge_frame = \"300ns\" }".to_owned());
        }
        if socket {
            overrides.push("host.machine.socket.tcp_low_latency=true".to_owned());
        }
        if udp {
            overrides.push(format!("workload.rate=\"{mbit}Mbit\""));
        } else {
            overrides.push(format!("workload.connections={connections}"));
            overrides.push(format!("workload.pair_window=\"{window_kb}kB\""));
            overrides.push(format!("stack.tcp_congestion_control=\"{control}\""));
        }
        let planned = planned(if udp { UDP } else { BULK }, &overrides);
        let ((turns, in_turns), (order, _)) = (run(&planned, false), run(&planned, true));
        prop_assert!(in_turns);
        prop_assert_eq!(turns.trajectory, order.trajectory);
        prop_assert_eq!(turns, order);
    }
}

/// What a sender's queue and a receiver's ring lose of one flow is told in the order of time.
#[test]
fn what_shows_an_order_is_run_in_that_order() {
    let overrides = [
        "workload.rate=\"3Gbit\"",
        "host.tx_queue_packets=4",
        "host.tx_ring_descriptors=4",
        "network.link.0.rate=\"1Gbit\"",
    ];
    let planned = planned(UDP, &overrides.map(str::to_owned));
    let (_, in_turns) = run(&planned, false);
    assert!(!in_turns, "the sender's queue is full at times");
    let mut outcome = simulate(&planned, &Control::default()).expect("a good run");
    outcome.events = 0;
    assert_eq!(outcome, run(&planned, true).0);
}

/// Near one another, or where something lies between, nobody takes turns.
#[test]
fn hosts_that_reach_one_another_soon_take_no_turns() {
    let near = planned(BULK, &["network.link.0.delay=\"100us\"".to_owned()]);
    let seen = planned(BULK, &["record.sample_interval=\"1ms\"".to_owned()]);
    let sized = planned(BULK, &["workload.size=\"100kB\"".to_owned()]);
    for planned in [near, seen, sized] {
        assert!(!run(&planned, false).1);
    }
}
