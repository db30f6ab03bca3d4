use tailback_units::{Duration, Time};

use super::{Gap, ReceiveRing};
use crate::random::Stream;
use crate::testing::host_config;

/// A ring, and when TCP gets each frame that it took in, as its link knows it.
struct Fed {
    ring: ReceiveRing,
    stream: Stream,
    handled: Vec<Time>,
}

impl Fed {
    fn new() -> Fed {
        Fed {
            ring: ReceiveRing::new(&host_config()),
            stream: Stream::new(1, "host", 0),
            handled: Vec::new(),
        }
    }

    fn arrive(&mut self, at: Time, payload_bytes: u16) -> Option<Time> {
        let index = self.handled.len().checked_sub(self.ring.all_but_one() + 1);
        let first = index.map(|index| self.handled[index]);
        let handled = self
            .ring
            .arrive(at, payload_bytes, first, &mut self.stream)?;
        self.handled.push(handled);
        Some(handled)
    }
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

#[test]
fn an_idle_cpu_is_interrupted_and_a_busy_one_goes_on() {
    let mut ring = Fed::new();
    let first = ring.arrive(Time::ZERO, 1000).unwrap();
    assert_eq!(
        first,
        Time::ZERO + Duration::from_us(10) + Duration::from_us(2)
    );
    let second = ring.arrive(Time::from_ps(1), 0).unwrap();
    assert_eq!(
        second,
        first + Duration::from_us(1),
        "handled in the same run"
    );
    let third = ring.arrive(second, 0).unwrap();
    assert_eq!(third, second + Duration::from_us(11), "a new interrupt");
}

#[test]
fn interrupts_keep_their_distance() {
    let mut ring = Fed::new();
    ring.ring.gap = Gap::new(Duration::from_us(16));
    let run = Duration::from_us(11);
    let first = ring.arrive(us(5), 0).unwrap();
    assert_eq!(first, us(5) + run, "nothing came before it");
    let early = ring.arrive(first + Duration::from_us(1), 0).unwrap();
    assert_eq!(early, us(5 + 16) + run, "16 us after the interrupt before");
    let late = ring.arrive(us(500), 0).unwrap();
    assert_eq!(late, us(500) + run);
}

#[test]
fn a_full_ring_drops_and_counts() {
    let mut ring = Fed::new();
    let handled = (0..10)
        .filter(|_| ring.arrive(Time::ZERO, 0).is_some())
        .count();
    assert_eq!((handled, ring.ring.dropped().frames), (4, 6));
}

#[test]
fn a_slow_cpu_sustains_its_own_rate() {
    // Arrivals every 0.5 us, 1 us each: every other one is lost once the ring is full.
    let mut ring = Fed::new();
    let arrivals = (0..20_000_u64).map(|i| Time::ZERO + Duration::from_ns(500) * i);
    let handled = arrivals.filter(|at| ring.arrive(*at, 0).is_some()).count();
    assert!((9_980..10_020).contains(&handled), "{handled}");
}

#[test]
fn a_ring_is_full_when_as_many_wait_as_it_has_descriptors() {
    let mut ring = Fed::new();
    let mut random = Stream::new(2, "arrivals", 0);
    let mut at = Time::ZERO;
    for _ in 0..20_000 {
        at += Duration::from_ns(random.below(2500));
        let waiting = ring.handled.iter().rev().take_while(|t| **t > at).count();
        assert_eq!(ring.arrive(at, 0).is_none(), waiting >= 4, "{waiting}");
    }
    assert!(ring.ring.dropped().frames > 100);
}
