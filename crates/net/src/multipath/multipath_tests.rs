use std::cell::Cell;

use tailback_units::{Duration, Time};

use super::flowlet::FlowletConfig;
use super::packet::PacketConfig;
use super::round_robin::RoundRobinConfig;
use super::{Balancer, Equal, Load, MultipathConfig};
use crate::random::Stream;

const PORTS: [u16; 4] = [3, 5, 6, 9];
const ALL: Equal<'static> = Equal {
    set: 0,
    ports: &PORTS,
};

fn balancer(config: &MultipathConfig) -> Balancer {
    Balancer::new(config, 2, Stream::new(1, "multipath", 0)).expect("a rule")
}

fn packet(samples: u16, memory: u16) -> Balancer {
    balancer(&MultipathConfig::Packet(PacketConfig { samples, memory }))
}

fn flowlet(samples: u16, entries: u32) -> Balancer {
    balancer(&MultipathConfig::Flowlet(FlowletConfig {
        gap: Duration::from_us(50),
        samples,
        entries,
    }))
}

fn at_us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

fn idle(_: u16) -> Load {
    queued(0)
}

fn queued(queued_bytes: u64) -> Load {
    Load {
        queued_bytes,
        is_sending: false,
    }
}

/// How often each of the ports was taken in `times` tries.
fn shares(
    times: u32,
    balancer: &mut Balancer,
    mut load: impl FnMut(u16) -> Load,
) -> Vec<(u16, u32)> {
    let mut taken: Vec<(u16, u32)> = PORTS.iter().map(|port| (*port, 0)).collect();
    for _ in 0..times {
        let port = balancer.port(Time::ZERO, 7, ALL, &mut load);
        let of = taken.iter_mut().find(|(known, _)| *known == port);
        of.expect("one of the equal ports").1 += 1;
    }
    taken
}

#[test]
fn by_flow_there_is_no_rule() {
    let stream = Stream::new(1, "multipath", 0);
    assert!(Balancer::new(&MultipathConfig::default(), 2, stream).is_none());
}

#[test]
fn sprayed_frames_take_all_ports_alike() {
    for (port, times) in shares(4000, &mut packet(1, 0), idle) {
        assert!((900..1100).contains(&times), "port {port}: {times} of 4000");
    }
}

#[test]
fn of_drawn_ports_the_shortest_queue_is_taken_and_of_equals_any() {
    // Port 3 has less than the others; two of four drawn with repetition have it 7 times of 16.
    let load = |port| queued(if port == 3 { 10 } else { 20 });
    let taken = shares(4000, &mut packet(2, 0), load);
    assert!((1650..1850).contains(&taken[0].1), "{taken:?}");
    // Who looks at all takes always that one, and any if all are alike.
    assert_eq!(shares(100, &mut packet(4, 0), load)[0].1, 100);
    let alike = shares(4000, &mut packet(9, 0), idle);
    assert!(
        alike.iter().all(|(_, times)| (900..1100).contains(times)),
        "{alike:?}"
    );
}

#[test]
fn a_port_that_sends_is_worse_than_one_that_does_not() {
    let load = |port| Load {
        queued_bytes: 0,
        is_sending: port != 6,
    };
    assert_eq!(shares(50, &mut packet(4, 0), load)[2].1, 50);
}

#[test]
fn the_best_of_last_time_is_looked_at_again_and_left_for_a_better_one() {
    let mut drill = packet(1, 1);
    // Once port 9 is drawn it stays the best.
    let load = |port| queued(if port == 9 { 0 } else { 1 });
    let taken = shares(200, &mut drill, load);
    assert!(taken[3].1 > 150, "{taken:?}");
    assert_eq!(shares(20, &mut drill, load)[3].1, 20);
    // It becomes the worst: any other that is drawn is better.
    let load = |port| queued(if port == 9 { 2 } else { 1 });
    assert!(shares(200, &mut drill, load)[3].1 < 20);
}

#[test]
fn what_is_remembered_is_of_one_set() {
    let mut drill = packet(1, 1);
    let other = Equal {
        set: 1,
        ports: &[0, 1],
    };
    for _ in 0..50 {
        drill.port(Time::ZERO, 7, ALL, idle);
        let port = drill.port(Time::ZERO, 7, other, idle);
        assert!(port < 2);
    }
}

#[test]
fn round_robin_takes_one_after_the_other() {
    let mut turns = balancer(&MultipathConfig::RoundRobin(RoundRobinConfig {}));
    let first = turns.port(Time::ZERO, 7, ALL, idle);
    let start = PORTS.iter().position(|port| *port == first).expect("one");
    for turn in 1..20 {
        // Another set's turns are its own.
        let other = Equal {
            set: 1,
            ports: &[0, 1],
        };
        turns.port(Time::ZERO, 7, other, idle);
        let port = turns.port(Time::ZERO, 8, ALL, idle);
        assert_eq!(port, PORTS[(start + turn) % 4]);
    }
}

#[test]
fn a_flow_keeps_its_path_until_it_is_silent() {
    let mut flowlets = flowlet(1, 4096);
    let first = flowlets.port(at_us(1000), 7, ALL, idle);
    // Each comes within the gap of the one before it, however long it goes on.
    for frame in 1..40 {
        assert_eq!(flowlets.port(at_us(1000 + 50 * frame), 7, ALL, idle), first);
    }
    let later: Vec<u16> = (0..40)
        .map(|frame| flowlets.port(at_us(10_000 + 51 * frame), 7, ALL, idle))
        .collect();
    assert!(PORTS.iter().all(|port| later.contains(port)), "{later:?}");
}

#[test]
fn a_flowlet_begins_at_the_shortest_queue_and_stays_when_that_grows() {
    let best = Cell::new(5);
    let load = |port| queued(u64::from(port != best.get()));
    let mut flowlets = flowlet(4, 4096);
    assert_eq!(flowlets.port(at_us(0), 7, ALL, load), 5);
    best.set(9);
    assert_eq!(flowlets.port(at_us(50), 7, ALL, load), 5);
    assert_eq!(flowlets.port(at_us(101), 7, ALL, load), 9);
}

#[test]
fn flows_of_one_entry_keep_each_other_from_changing_and_never_go_astray() {
    let mut flowlets = flowlet(1, 1);
    let first = flowlets.port(at_us(0), 7, ALL, idle);
    // Every 40 us one of the two: neither is silent for them.
    for frame in 1..20 {
        let flow = 7 + frame as u32 % 2;
        assert_eq!(flowlets.port(at_us(40 * frame), flow, ALL, idle), first);
    }
    let elsewhere = Equal {
        set: 1,
        ports: &[0, 1],
    };
    assert!(flowlets.port(at_us(800), 9, elsewhere, idle) < 2);
}

#[test]
fn no_rule_takes_a_port_that_is_gone_when_routes_change() {
    let round_robin = || balancer(&MultipathConfig::RoundRobin(RoundRobinConfig {}));
    for begin in [
        || packet(1, 0),
        || packet(1, 1),
        round_robin,
        || flowlet(1, 1),
    ] {
        // A set that there was, and one that there was not.
        for set in [0, 2] {
            let ports = &PORTS[1..];
            let mut balancer = begin();
            // The first port is the best there is, and what rules with a memory keep to.
            let first_best = |port| queued(u64::from(port != PORTS[0]));
            shares(50, &mut balancer, first_best);
            balancer.reroute(3);
            for _ in 0..50 {
                let port = balancer.port(Time::ZERO, 7, Equal { set, ports }, first_best);
                assert!(ports.contains(&port), "{balancer:?}");
            }
        }
    }
}
