use tailback_units::{Duration, Time};

use super::ReceiveRing;
use crate::random::Stream;
use crate::testing::host_config;

#[test]
fn an_idle_cpu_is_interrupted_and_a_busy_one_goes_on() {
    let mut stream = Stream::new(1, "host", 0);
    let mut ring = ReceiveRing::new(&host_config());
    let first = ring.arrive(Time::ZERO, 1000, &mut stream).unwrap();
    assert_eq!(
        first,
        Time::ZERO + Duration::from_us(10) + Duration::from_us(2)
    );
    let second = ring.arrive(Time::from_ps(1), 0, &mut stream).unwrap();
    assert_eq!(
        second,
        first + Duration::from_us(1),
        "handled in the same run"
    );
    let third = ring.arrive(second, 0, &mut stream).unwrap();
    assert_eq!(third, second + Duration::from_us(11), "a new interrupt");
}

#[test]
fn a_full_ring_drops_and_counts() {
    let mut stream = Stream::new(1, "host", 0);
    let mut ring = ReceiveRing::new(&host_config());
    let handled = (0..10)
        .filter(|_| ring.arrive(Time::ZERO, 0, &mut stream).is_some())
        .count();
    assert_eq!((handled, ring.dropped().frames), (4, 6));
}

#[test]
fn a_slow_cpu_sustains_its_own_rate() {
    // Arrivals every 0.5 us, 1 us each: every other one is lost once the ring is full.
    let mut stream = Stream::new(1, "host", 0);
    let mut ring = ReceiveRing::new(&host_config());
    let arrivals = (0..20_000_u64).map(|i| Time::ZERO + Duration::from_ns(500) * i);
    let handled = arrivals
        .filter(|at| ring.arrive(*at, 0, &mut stream).is_some())
        .count();
    assert!((9_980..10_020).contains(&handled), "{handled}");
}
