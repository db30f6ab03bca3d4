use proptest::prelude::*;
use tailback_units::{Duration, Time};

use super::bench::{Bench, config, us};
use super::{Affinity, Crossing, Effect, MachineConfig, Merging, SocketLock};
use crate::frame::EndpointId;
use crate::host::joining::Joint;
use crate::pool::Flight;
use crate::testing::frame;

#[test]
fn a_frame_costs_an_interrupt_a_softirq_and_a_call() {
    let mut bench = Bench::new(&config(), 8, 8);
    bench.arrive(us(10));
    bench.run_until(us(1000));
    assert_eq!((bench.handled, bench.read), (vec![us(14)], vec![us(17)]));
    assert_eq!(bench.machine.interrupts(), 1);
}

#[test]
fn frames_wait_for_a_throttled_interrupt_and_are_handled_in_one() {
    let mut bench = Bench::new(&config(), 8, 8);
    for at in [0, 20, 30] {
        bench.run_until(us(at));
        bench.arrive(us(at));
    }
    bench.run_until(us(1000));
    assert_eq!(bench.handled, [us(4), us(104), us(106)]);
    assert_eq!(bench.machine.interrupts(), 2);
}

#[test]
fn an_interrupt_stops_a_call_which_goes_on_after_the_softirq() {
    let mut config = config();
    config.interrupts.throttle = Duration::ZERO;
    let mut bench = Bench::new(&config, 8, 8);
    bench.arrive(us(0));
    bench.run_until(us(5));
    bench.arrive(us(5));
    bench.run_until(us(100));
    // The first call ran from 4 to 5, stood still for 4 us and went on for 2 us.
    assert_eq!(bench.read, [us(11), us(14)]);
}

#[test]
fn what_a_core_cannot_do_is_lost_in_the_socket_with_polling() {
    // 4 us a frame: 2 us of softirq, so the calls get half of the core and 2 of 3 frames' calls fit.
    let mut bench = Bench::new(&config(), 512, 100);
    assert_eq!(bench.load(4_000, 400), 0);
    let read = bench.read.len();
    assert!((63_000..67_000).contains(&read), "{read}");
    let dropped = bench.socket_dropped;
    assert!((33_000..37_000).contains(&dropped), "{dropped}");
}

#[test]
fn interrupts_without_polling_starve_the_application() {
    // 3 us for each interrupt and frame, 2 us in the softirq: at one frame every 3.1 us softirqs
    // and the application get next to nothing (receive livelock); at every 9 us all is well.
    let mut config = config();
    config.interrupts.throttle = Duration::ZERO;
    config.softirq.napi = false;
    let mut idle = Bench::new(&config, 512, 100);
    assert_eq!(idle.load(9_000, 100), 0);
    assert_eq!((idle.socket_dropped, idle.backlog_dropped), (0, 0));
    let mut swamped = Bench::new(&config, 512, 100);
    swamped.load(3_100, 400);
    let arrived = 400_000_000 / 3_100;
    let read = swamped.read.len();
    assert!(read < arrived / 20, "{read} of {arrived}");
    assert!(swamped.backlog_dropped > 0);
}

#[test]
fn a_ring_overflows_if_a_core_is_held_up() {
    let mut bench = Bench::new(&config(), 64, 1000);
    // 1 us apart, 2 us each in the softirq.
    let lost = bench.load(1_000, 10);
    assert!((4_500..5_500).contains(&lost), "{lost}");
    assert_eq!(bench.machine.ring_dropped().frames, lost);
}

#[test]
fn ksoftirqd_leaves_the_application_most_of_a_core() {
    // Softirqs alone would take all of it: after ten passes ksoftirqd, at nice 19, has the rest.
    let mut bench = Bench::new(&config(), 512, 1000);
    bench.load(1_500, 2_000);
    let read = bench.read.len();
    assert!(read > 90_000, "{read}");
}

/// Of frames that wait in the ring when the first interrupt comes, how many are handled before ksoftirqd has
/// the rest and the application goes on with its call.
fn handled_in_one_pass(cuts: bool) -> usize {
    let mut config = config();
    config.softirq.weight = 4;
    config.softirq.budget = 6;
    config.softirq.budget_cuts_polls = cuts;
    config.softirq.restarts = 1;
    let mut bench = Bench::new(&config, 64, 64);
    bench.machine.run(us(0), bench.app, Duration::from_us(50));
    for _ in 0..20 {
        bench.arrive(us(10));
    }
    bench.run_until(us(200));
    let first_call = bench.read[0];
    bench.handled.iter().filter(|at| **at < first_call).count()
}

#[test]
fn a_pass_ends_with_a_poll_or_cuts_it() {
    assert_eq!(handled_in_one_pass(false), 8);
    assert_eq!(handled_in_one_pass(true), 6);
}

#[test]
fn what_is_left_to_ksoftirqd_waits_for_it_though_an_interrupt_came_meanwhile() {
    let mut config = config();
    config.interrupts.throttle = Duration::ZERO;
    config.softirq.napi = false;
    config.softirq.budget = 4;
    config.softirq.weight = 4;
    config.softirq.restarts = 1;
    let mut bench = Bench::new(&config, 64, 64);
    bench.machine.run(us(0), bench.app, Duration::from_us(50));
    for _ in 0..12 {
        bench.arrive(us(0));
    }
    // Within the softirq's pass, which is from 14 to 22.
    bench.run_until(us(15));
    bench.arrive(us(15));
    bench.run_until(us(300));
    let left = bench.handled[4];
    let read = bench.read.iter().filter(|at| **at < left).count();
    assert_eq!(read, 4, "all that waits is read first: {:?}", bench.handled);
}

#[test]
fn ksoftirqd_that_softirqs_give_way_to_has_as_much_of_a_core_as_an_application() {
    let mut config = config();
    config.softirq.yields = true;
    let mut bench = Bench::new(&config, 512, 1000);
    bench.load(1_500, 2_000);
    // 3 us a call in half of two seconds.
    let read = bench.read.len();
    assert!((300_000..340_000).contains(&read), "{read}");
}

/// Of frames that were left to ksoftirqd, how many are handled by the time that another interrupt has returned.
fn handled_after_another_interrupt(yields: bool) -> usize {
    let mut config = config();
    config.interrupts.throttle = Duration::ZERO;
    config.softirq.napi = false;
    config.softirq.budget = 4;
    config.softirq.weight = 4;
    config.softirq.restarts = 1;
    config.softirq.yields = yields;
    let mut bench = Bench::new(&config, 64, 64);
    bench.machine.run(us(0), bench.app, Duration::from_us(50));
    for _ in 0..12 {
        bench.arrive(us(0));
    }
    bench.run_until(us(30));
    bench.arrive(us(30));
    bench.run_until(us(45));
    bench.handled.len()
}

#[test]
fn what_is_left_to_ksoftirqd_no_interrupt_goes_on_with_where_softirqs_give_way() {
    assert_eq!(handled_after_another_interrupt(false), 8);
    assert_eq!(handled_after_another_interrupt(true), 4);
}

#[test]
fn balanced_interrupts_move_to_the_idle_core() {
    let mut config = config();
    config.cores = 2;
    config.interrupts.affinity = Affinity::Balanced {
        period: Duration::from_ms(10),
    };
    let mut bench = Bench::new(&config, 512, 100);
    assert_eq!(bench.load(4_000, 200), 0);
    assert_eq!(bench.socket_dropped, 0, "two cores suffice");
    let busy: Vec<f64> = bench.machine.busy().map(Duration::as_ms_f64).collect();
    assert!(busy.iter().all(|ms| *ms > 90.0), "{busy:?}");
}

#[test]
fn the_same_twice() {
    let run = || {
        let mut bench = Bench::new(&config(), 64, 50);
        bench.load(2_345, 50);
        (bench.handled, bench.read, bench.socket_dropped)
    };
    assert_eq!(run(), run());
}

#[test]
fn packets_that_left_cost_the_interrupted_core_and_an_interrupt() {
    let mut config = config();
    config.costs.complete_packet = Duration::from_us(5);
    let mut bench = Bench::new(&config, 8, 8);
    for left in [10, 11, 20] {
        bench.machine.send(us(0), us(left));
    }
    bench.run_until(us(1000));
    bench.machine.settle(us(1000));
    // At 10 for the first; the others wait for the throttled interrupt at 110.
    assert_eq!(bench.machine.interrupts(), 2);
    let busy = Duration::from_us(2 * 2 + 3 * 5);
    assert_eq!(bench.machine.busy().next(), Some(busy));
}

#[test]
fn what_another_core_sent_costs_more_to_see_to() {
    let busy = |core| {
        let mut config = config();
        config.cores = 2;
        config.costs.complete_packet = Duration::from_us(5);
        config.crossing = Some(Crossing {
            line: Duration::from_ns(100),
            sent: 0,
            completed: 10,
            freed: 0,
            received: 0,
            socket: 0,
        });
        let mut bench = Bench::new(&config, 8, 8);
        for left in [10, 11, 20] {
            bench.machine.acting = core;
            bench.machine.send(us(0), us(left));
        }
        bench.machine.acting = None;
        bench.run_until(us(1000));
        bench.machine.settle(us(1000));
        bench.machine.busy().next()
    };
    let seen_to = Duration::from_us(2 * 2 + 3 * 5);
    assert_eq!(busy(None), Some(seen_to));
    assert_eq!(busy(Some(0)), Some(seen_to));
    assert_eq!(busy(Some(1)), Some(seen_to + Duration::from_us(3)));
}

#[test]
fn the_handler_of_packets_that_left_stops_softirqs() {
    let mut config = config();
    config.costs.complete_packet = Duration::from_us(5);
    let mut bench = Bench::new(&config, 8, 8);
    bench.machine.send(us(0), us(13));
    bench.arrive(us(10));
    bench.run_until(us(1000));
    // The frame's softirq ran from 12 to 13 and goes on after the handler's 7 us.
    assert_eq!(bench.handled, [us(21)]);
}

#[test]
fn a_call_that_locks_its_socket_runs_softirqs_left_to_ksoftirqd() {
    let lost = |locks: bool| {
        let mut bench = Bench::new(&config(), 512, 1000);
        bench.locks = locks;
        bench.load(1_500, 200)
    };
    // Softirqs need more than the core. Without locks ksoftirqd starves while calls run.
    assert!(lost(true) < lost(false), "{} {}", lost(true), lost(false));
}

#[test]
fn an_acknowledgement_may_cost_less_to_send() {
    let mut costs = config().costs;
    costs.send_packet = Duration::from_us(2);
    assert_eq!(costs.send(0), Duration::from_us(2));
    costs.send_ack = Some(Duration::from_us(1));
    assert_eq!(costs.send(0), Duration::from_us(1));
    assert_eq!(costs.send(1448), Duration::from_us(2));
}

#[test]
fn the_share_of_a_buffer_beyond_the_cache_is_copied_cold() {
    let mut costs = config().costs;
    costs.copy_kilobyte = Duration::from_us(1);
    costs.copy_kilobyte_cold = Duration::from_us(3);
    let cost = |buffered| costs.call_with(2000, buffered) - costs.call;
    assert_eq!(cost(0), Duration::from_us(2));
    assert_eq!(cost(1 << 20), Duration::from_us(2));
    // Half of twice the cache.
    assert_eq!(cost(2 << 20), Duration::from_us(4));
}

#[test]
fn what_is_collapsed_is_copied_cold_and_without_a_call() {
    let mut costs = config().costs;
    costs.copy_kilobyte_cold = Duration::from_us(3);
    assert_eq!(costs.collapse(2500), Duration::from_ns(7500));
    assert_eq!(costs.collapse(0), Duration::ZERO);
}

#[test]
fn frames_that_join_cost_one_way_through_tcp_at_the_end_of_the_poll() {
    let mut config = config();
    config.merging = Merging::Gro {
        merge_frame: Duration::from_ns(500),
    };
    let mut bench = Bench::new(&config, 8, 8);
    for number in 0..4 {
        let mut flight: Flight = bench.pool.put(us(10), &frame(1000));
        flight.to = EndpointId(3);
        let joint = Joint {
            start: number * 1000,
            end: (number + 1) * 1000,
            likeness: 0,
            ends: false,
            alone: false,
        };
        bench.machine.arrive(flight, Some(joint));
    }
    bench.run_until(us(1000));
    // The interrupt, four frames of half a microsecond, and what is left of 2 us.
    let end = us(10) + Duration::from_ns(2000 + 4 * 500 + 1500);
    assert_eq!(bench.handled, [end]);
    assert_eq!(bench.machine.waiting().count(), 0);
}

#[test]
fn each_queue_has_a_ring_an_interrupt_and_a_core() {
    let mut config = config();
    config.cores = 2;
    config.interrupts.queues = 2;
    let mut bench = Bench::new(&config, 1, 8);
    for flow in 0..32 {
        let mut flight: Flight = bench.pool.put(us(10), &frame(1000));
        flight.to = EndpointId(flow);
        bench.machine.arrive(flight, None);
    }
    bench.run_until(us(1000));
    // One descriptor each.
    assert_eq!(bench.machine.ring_dropped().frames, 30);
    // Both cores at once, with an interrupt each.
    assert_eq!(bench.handled, [us(14), us(14)]);
    assert_eq!(bench.machine.interrupts(), 2);
}

#[test]
fn what_tcp_spends_on_a_packet_is_not_the_softirq_s() {
    let mut config = config();
    config.socket = Some(SocketLock {
        protocol: Duration::from_ns(500),
        unlocked: Duration::ZERO,
        tcp_low_latency: false,
        backlog_limit: false,
    });
    assert_eq!(config.softirq_cost(true), Duration::from_ns(1500));
    assert_eq!(config.softirq_cost(false), Duration::from_ns(500));
    assert_eq!(config.protocol_cost(), Duration::from_ns(500));
}

/// A machine whose application's call from 0 to 3 us goes on for 10 us, and a frame that comes at 5 us:
/// when it was handled, and when the call was done.
fn a_call_that_goes_on(closed: bool) -> (Vec<Time>, Time) {
    let mut config = config();
    config.interrupts.throttle = Duration::ZERO;
    let mut bench = Bench::new(&config, 8, 8);
    bench.machine.run(us(0), bench.app, config.costs.call);
    let effect = bench.machine.handle_timeout(us(3));
    assert!(matches!(effect, Some(Effect::Task(task)) if task == bench.app));
    bench
        .machine
        .go_on(bench.app, Duration::from_us(10), closed);
    assert!(bench.machine.handle_timeout(us(3)).is_none());
    bench.arrive(us(5));
    let mut done = us(0);
    while done == us(0) {
        let now = bench.machine.poll_timeout().max(bench.last());
        match bench.machine.handle_timeout(now) {
            Some(Effect::Packet(_)) => bench.handled.push(now),
            Some(Effect::Task(_)) => done = now,
            _ => {}
        }
    }
    assert!(bench.machine.handle_timeout(done).is_none());
    bench.run_until(us(100));
    (bench.handled, done)
}

#[test]
fn softirqs_wait_for_a_call_that_has_disabled_them() {
    // The interrupt's 2 us stop either; the softirq's 2 us do not stop one that is closed.
    assert_eq!(a_call_that_goes_on(false), (vec![us(9)], us(17)));
    assert_eq!(a_call_that_goes_on(true), (vec![us(17)], us(15)));
}

/// What came of frames that arrive so long after one another, at a machine with such a card, if it is
/// handed all of them at once and asked as seldom as it wants, or each as it arrives, and is settled
/// at other times too.
fn course(
    config: &MachineConfig,
    gaps_ns: &[u64],
    (paced, goes_long): (bool, bool),
    looks: &[u64],
) -> impl PartialEq + std::fmt::Debug + use<> {
    let mut bench = Bench::new(config, 24, 40);
    bench.machine.goes_long = goes_long;
    if paced {
        let sender = bench.machine.add_task();
        let cost = Duration::from_ns(900);
        bench.machine.run_at(us(1), sender, cost);
    }
    let mut at = us(0);
    let mut looks_at = looks.iter().cycle();
    for gap in gaps_ns {
        let last = at;
        at += Duration::from_ns(*gap);
        if !looks.is_empty() {
            let look = last + Duration::from_ns(*looks_at.next().unwrap_or(&0));
            // A frame is on its way before it arrives.
            let before = at.before(Duration::from_ps(1));
            for time in [before.min(look), before] {
                bench.run_until(time);
                bench.machine.settle(time);
            }
        }
        let mut flight: Flight = bench
            .pool
            .put(at, &frame(if gap % 3 == 0 { 0 } else { 1448 }));
        flight.to = EndpointId((gap % 5) as u32);
        bench.machine.arrive(flight, None);
    }
    let end = at + Duration::from_us(400);
    bench.run_until(end);
    bench.machine.settle(end);
    while let Some(effect) = bench.machine.take_lost() {
        bench.act(end, effect);
    }
    let busy: Vec<Duration> = bench.machine.busy().collect();
    (
        (bench.handled, bench.read, bench.socket_dropped),
        (bench.ring_dropped, bench.backlog_dropped),
        (bench.machine.interrupts(), bench.machine.arrived(), busy),
    )
}

proptest! {
    /// That nobody looks at a machine, or hands it a frame, before it matters changes nothing, nor does the
    /// short way to what mostly follows.
    #[test]
    fn looking_more_often_changes_nothing(
        gaps_ns in prop::collection::vec(prop_oneof![1_u64..500, 500_u64..6_000, 1_u64..90_000], 1..200),
        looks in prop::collection::vec(0_u64..200_000, 1..8),
        (cores, queues, napi, cuts, paced) in (1_u32..4, 1_u32..4, any::<bool>(), any::<bool>(), any::<bool>()),
        (throttle_us, completes_ns, hz) in (prop_oneof![Just(0_u64), 1_u64..130], 0_u64..3_000, 200_u32..10_000),
        (budget, restarts, backlog) in (1_u32..40, 1_u32..5, 1_u32..40),
        (balanced, wakeup_ns) in (any::<bool>(), 0_u64..1_500),
    ) {
        let mut config = config();
        (config.cores, config.hz) = (cores, hz);
        config.interrupts.queues = queues;
        config.interrupts.throttle = Duration::from_us(throttle_us);
        if balanced {
            let period = Duration::from_us(150);
            config.interrupts.affinity = Affinity::Balanced { period };
        }
        config.softirq.napi = napi;
        config.softirq.budget_cuts_polls = cuts;
        config.softirq.weight = budget.div_ceil(2);
        (config.softirq.budget, config.softirq.restarts) = (budget, restarts);
        config.softirq.backlog_frames = backlog;
        config.costs.complete_packet = Duration::from_ns(completes_ns);
        config.costs.wakeup = Duration::from_ns(wakeup_ns);
        let seldom = course(&config, &gaps_ns, (paced, false), &[]);
        let often = course(&config, &gaps_ns, (paced, false), &looks);
        prop_assert_eq!(&seldom, &often);
        let long = course(&config, &gaps_ns, (paced, true), &[]);
        prop_assert_eq!(seldom, long);
    }
}
