//! Hosts that are ahead give what the order of time gives.

use proptest::prelude::*;
use tailback_net::frame::EndpointId;
use tailback_scenario::{Plan, Run};
use tailback_units::Time;

use crate::workload::Action;
use crate::world::Endpoint;
use crate::{Control, RunOutcome, build, outcome, simulate_on};

/// Hosts whose receive path takes no time.
const NETWORK: &str = r#"
    name = "lead"
    [network]
    switch = { preset = "arista-7124s", ports = 16 }
    [host]
    tx_queue_packets = 1000
    tx_ring_descriptors = 1024
    rx_ring_descriptors = 4096
    rx_segment_cost = "0ns"
    rx_kilobyte_cost = "0ns"
    interrupt_delay = "0ns"
    interrupt_jitter = "0ns"
    skb_overhead = "248B"
    service_latency = "0ns"
    service_jitter = "0ns"
    client_latency = "0ns"
    send_call_cost = "0ns"
    [stack]
    preset = "linux-7.2"
"#;

const STAR: &[&str] = &[
    r#"network.topology="star""#,
    "network.hosts=8",
    r#"network.link={ rate = "10Gbit", delay = "1us", mtu = "1500B" }"#,
    r#"network.switch.buffer={ kind = "shared", shared = "100KiB", segment = "1B", rx_private = "0B", tx_private = "0B", tx_limit = { kind = "none" } }"#,
];
const TREE: &[&str] = &[
    r#"network.topology="fat-tree""#,
    "network.k=4",
    r#"network.link={ rate = "10Gbit", delay = "2us", mtu = "1500B" }"#,
];
const FAR: &[&str] = &[
    r#"network.topology="dumbbell""#,
    "network.pairs=4",
    r#"network.link={ rate = "10Gbit", delay = "300us", mtu = "1500B" }"#,
    r#"network.trunk=[{ rate = "10Gbit", delay = "1ms", mtu = "1500B" }]"#,
];

const TO_FIRST: &str =
    r#"workload={ kind = "bulk", pairs = { kind = "to-first" }, duration = "30ms" }"#;
const AROUND: &str =
    r#"workload={ kind = "bulk", pairs = { kind = "permutation" }, duration = "30ms" }"#;
const FLOWS: &str =
    r#"workload={ kind = "flows", load = 0.6, sizes = { kind = "web-search" }, duration = "4ms" }"#;

fn planned(network: &[&str], overrides: &[String]) -> Run {
    let mut all: Vec<String> = network.iter().map(|part| (*part).to_owned()).collect();
    all.extend_from_slice(overrides);
    let plan = Plan::from_toml(NETWORK, "lead.toml", &all, None);
    plan.expect("a good scenario").runs[0].clone()
}

/// A run's outcome in the order of time, or with hosts ahead; and whether they were, to its end.
fn run(run: &Run, in_order: bool) -> (RunOutcome, bool) {
    let mut world = build::world(run, &[]);
    world.in_order = in_order;
    world.start();
    world.run(&Control::default()).expect("a good run");
    let led = world.lead.is_on() && !world.has_shown_order();
    world.check_conservation().expect("books that agree");
    (outcome::outcome(&world), led)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn hosts_ahead_are_hosts_in_order(
        (seed, network, workload) in (
            0_u32..1000,
            prop::sample::select(vec![STAR, TREE, FAR]),
            prop::sample::select(vec![TO_FIRST, AROUND, FLOWS]),
        ),
        (size_kb, connections) in (prop::option::of(1_u32..1500), 1_u32..4),
        (clock_ppm, loss) in (
            prop::sample::select(vec![0, 100]),
            prop::sample::select(vec!["0.0", "0.0", "0.001", "0.05"]),
        ),
        (marks, cut_through) in (any::<bool>(), any::<bool>()),
        multipath in prop::sample::select(vec![
            r#"{ kind = "flow" }"#,
            r#"{ kind = "packet", samples = 2, memory = 1 }"#,
            r#"{ kind = "flowlet", gap = "20us" }"#,
        ]),
        latency in prop::sample::select(vec!["0ns", "3us"]),
        control in prop::sample::select(vec!["cubic", "reno", "dctcp", "bbr", "vegas"]),
        preset in prop::sample::select(vec!["linux-7.2", "linux-2.6.18"]),
    ) {
        let mut overrides = vec![
            workload.to_owned(),
            format!("run.seed={seed}"),
            format!("network.clock_ppm={clock_ppm}"),
            format!("network.link.loss={loss}"),
            format!("network.switch.multipath={multipath}"),
            format!("host.client_latency=\"{latency}\""),
            format!("host.send_call_cost=\"{latency}\""),
            format!("stack.preset=\"{preset}\""),
        ];
        let control = if preset == "linux-7.2" { control } else { "reno" };
        overrides.push(format!("stack.tcp_congestion_control=\"{control}\""));
        let forwarding = if cut_through { "cut-through" } else { "store-and-forward" };
        overrides.push(format!("network.switch.forwarding=\"{forwarding}\""));
        if marks {
            overrides.push("network.switch.marking={ kind = \"step\", threshold = \"30KiB\" }".to_owned());
            overrides.push("stack.tcp_ecn=1".to_owned());
        }
        if workload != FLOWS {
            overrides.push(format!("workload.connections={connections}"));
            if let Some(size_kb) = size_kb {
                overrides.push(format!("workload.size=\"{size_kb}kB\""));
            }
        }
        let planned = planned(network, &overrides);
        let ((ahead, led), (order, _)) = (run(&planned, false), run(&planned, true));
        prop_assert!(led);
        prop_assert_eq!(ahead.trajectory, order.trajectory);
        prop_assert_eq!(ahead.hops, order.hops);
        prop_assert_eq!(&ahead.tables, &order.tables);
        // Not of every run: a host may have something else to do all the time.
        prop_assert!(ahead.events <= order.events);
        let parted = simulate_on(2, &planned, &Control::default()).expect("a good run");
        prop_assert_eq!(parted.trajectory, order.trajectory);
        prop_assert_eq!(&parted.tables, &order.tables);
    }
}

#[test]
fn most_of_what_comes_to_a_busy_host_costs_no_event() {
    let planned = planned(STAR, &[TO_FIRST.to_owned()]);
    let ((ahead, _), (order, _)) = (run(&planned, false), run(&planned, true));
    assert_eq!(ahead.trajectory, order.trajectory);
    // Of two data packets and an acknowledgement, of two links each, three hops of six end at a host.
    assert!(
        10 * ahead.events < 6 * order.events,
        "{} of {}",
        ahead.events,
        order.events
    );
}

/// A source that gives up takes its flow's other end with it, which may be ahead.
#[test]
fn a_flow_that_is_given_up_ends_as_in_order() {
    let mut given_up = 0;
    for seed in 0..30 {
        let overrides = [
            r#"workload={ kind = "bulk", pairs = { kind = "permutation" }, duration = "20s", size = "300kB" }"#,
            "network.link.loss=0.15",
            "stack.tcp_retries2=1",
            &format!("run.seed={seed}"),
        ];
        let planned = planned(STAR, &overrides.map(str::to_owned));
        let ((ahead, led), (order, _)) = (run(&planned, false), run(&planned, true));
        assert!(!led || ahead.tables == order.tables, "seed {seed}");
        let simulated = simulate_on(1, &planned, &Control::default()).expect("a good run");
        assert_eq!(simulated.tables, order.tables, "seed {seed}");
        let mut world = build::world(&planned, &[]);
        world.start();
        world.run(&Control::default()).expect("a good run");
        given_up += world
            .flows
            .iter()
            .filter(|flow| flow.completed.is_none())
            .count();
    }
    assert!(given_up > 0);
}

/// What [`simulate_on`] runs again.
#[test]
fn what_must_not_be_ahead_shows() {
    let planned = planned(STAR, &[TO_FIRST.to_owned()]);
    let world = || {
        let mut world = build::world(&planned, &[]);
        world.start();
        world
    };
    let mut beyond_the_end = world();
    beyond_the_end.lead.reached = Time::from_ps(1 << 60);
    let ran = beyond_the_end.run(&Control::default());
    assert!(ran.is_ok() && beyond_the_end.has_shown_order());
    let mut taken_away = world();
    for _ in 0..2000 {
        taken_away.step().expect("a good run");
    }
    taken_away.lead.shown = false;
    taken_away.lead.reached = Time::from_ps(1 << 60);
    let up = |end: &Endpoint| end.connection.as_ref().is_some_and(|tcp| tcp.is_up());
    let end = taken_away
        .endpoints
        .iter()
        .position(up)
        .expect("some are up");
    taken_away.actions.push_back(Action::Retire {
        endpoint: EndpointId(end as u32),
        complete: false,
    });
    taken_away.do_actions();
    assert!(taken_away.has_shown_order());
    let mut asked_for_something = world();
    asked_for_something.lead.ahead = true;
    asked_for_something.do_actions();
    assert!(asked_for_something.has_shown_order());
}
