use std::sync::Arc;

use tailback_units::{Bytes, Duration, Time};

use super::{Opportunities, Times};
use crate::random::Stream;
use crate::trace::{Pace, Trace};

fn pace(times: &str) -> Pace {
    let times_ms = times.parse().expect("times");
    Pace::new(&Arc::new(Trace::Opportunities(Opportunities {
        path: None,
        bytes: Bytes::new(1500),
        times_ms,
    })))
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// When packets leave that come at these times, in order, on a line that takes no time.
fn departures(pace: &mut Pace, packets: &[(Time, u64)]) -> Vec<Time> {
    let mut last = Time::ZERO;
    let mut left = Vec::new();
    for &(at, bytes) in packets {
        if at > last {
            pace.idle_until(at);
        }
        let now = pace.ready_at(at.max(last));
        last = pace.take(now, bytes + 18, bytes + 38).leaves;
        left.push(last);
    }
    left
}

#[test]
fn a_text_of_times_reads_as_it_is_written() {
    let times: Times = "0 1*3 4  4".parse().expect("times");
    assert_eq!(times.to_string(), "0 1*3 4*2");
    assert_eq!(times.count(), 6);
    assert_eq!(times.most_at_once(), 3);
    assert_eq!(times.period(), Duration::from_ms(4));
    assert_eq!(times.out_of_order(), None);
    let back: Times = "5 3".parse().expect("times");
    assert_eq!(back.out_of_order(), Some(3));
    assert!("5 x".parse::<Times>().is_err());
    assert!("5*".parse::<Times>().is_err());
}

#[test]
fn a_packet_waits_for_the_next_opportunity_and_the_course_begins_anew() {
    let mut pace = pace("2 5");
    assert_eq!(pace.ready_at(ms(0)), ms(2));
    assert_eq!(
        departures(&mut pace, &[(ms(0), 1500); 4]),
        [ms(2), ms(5), ms(7), ms(10)]
    );
}

#[test]
fn what_finds_nothing_waiting_is_lost() {
    let mut pace = pace("1 2 3 9");
    let packets = [(us(2500), 1500), (us(2600), 1500)];
    assert_eq!(departures(&mut pace, &packets), [ms(3), ms(9)]);
}

#[test]
fn small_packets_share_an_opportunity_and_large_ones_take_several() {
    let mut small = pace("1 2 3 4");
    let packets = [(ms(0), 700); 5];
    // The third has 100 bytes at 1 ms, and the rest of it at 2.
    assert_eq!(
        departures(&mut small, &packets),
        [ms(1), ms(1), ms(2), ms(2), ms(3)]
    );
    let mut large = pace("1 2 3 4");
    assert_eq!(departures(&mut large, &[(ms(0), 4000)]), [ms(3)]);
}

#[test]
fn a_line_that_is_busy_uses_an_opportunity_within_its_millisecond() {
    let mut pace = pace("1*3 8");
    let taken = |pace: &mut Pace, now| pace.take(now, 1518, 1538).leaves;
    assert_eq!(pace.ready_at(ms(0)), ms(1));
    assert_eq!(taken(&mut pace, ms(1)), ms(1));
    // The line was busy for 0.6 ms, then for 0.6 more.
    assert_eq!(pace.ready_at(us(1600)), us(1600));
    assert_eq!(taken(&mut pace, us(1600)), us(1600));
    assert_eq!(pace.ready_at(us(2200)), ms(8), "the third is lost");
}

#[test]
fn after_long_quiet_the_course_is_where_it_would_be() {
    let mut pace = pace("3 10");
    pace.idle_until(ms(1_000_004));
    assert_eq!(pace.ready_at(ms(1_000_004)), ms(1_000_010));
}

/// mahimahi's link, step by step over every opportunity.
fn step_by_step(times_ms: &[u64], packets: &[(Time, u64)]) -> Vec<Time> {
    let period = *times_ms.last().expect("times");
    let mut left = Vec::new();
    let (mut next, mut needed) = (0, packets[0].1);
    for turn in 0.. {
        for at in times_ms {
            let now = ms(turn * period + at);
            let mut bytes = 1500;
            while next < packets.len() && packets[next].0 <= now && bytes > 0 {
                let used = needed.min(bytes);
                (bytes, needed) = (bytes - used, needed - used);
                if needed == 0 {
                    left.push(now);
                    next += 1;
                    needed = packets.get(next).map_or(0, |packet| packet.1);
                }
            }
            if next == packets.len() {
                return left;
            }
        }
    }
    left
}

#[test]
fn packets_leave_when_they_would_step_by_step() {
    for seed in 0..300 {
        let mut draw = Stream::new(seed, "opportunities", 0);
        let mut times = Vec::new();
        let mut at = draw.below(3);
        for _ in 0..=draw.below(12) {
            times.push(at);
            at += draw.below(4);
        }
        times.push(at + 1);
        let text: Vec<String> = times.iter().map(u64::to_string).collect();
        let mut arrived = Time::ZERO;
        let mut packets = Vec::new();
        for _ in 0..200 {
            // Not on a millisecond, where who comes first is a matter of taste.
            arrived += Duration::from_ns(1 + draw.below(2_000_000) * draw.below(2));
            if arrived.as_ps().is_multiple_of(1_000_000_000) {
                arrived += Duration::from_ns(1);
            }
            packets.push((arrived, 20 + draw.below(4000)));
        }
        assert_eq!(
            departures(&mut pace(&text.join(" ")), &packets),
            step_by_step(&times, &packets),
            "seed {seed}"
        );
    }
}

#[test]
fn what_it_lets_go_and_what_went_are_counted() {
    let mut pace = pace("2 5");
    assert_eq!(pace.carried(us(1999)), (0, 0));
    departures(&mut pace, &[(us(2500), 900)]);
    assert_eq!(pace.carried(ms(5)), (3000, 900));
    assert_eq!(pace.carried(ms(5)), (3000, 900));
    assert_eq!(pace.carried(ms(5000)), (3_000_000, 900));
}

#[test]
fn what_would_take_longer_than_any_run_is_put_off() {
    let far = |bytes, times: &str| {
        Pace::new(&Arc::new(Trace::Opportunities(Opportunities {
            path: None,
            bytes: Bytes::new(bytes),
            times_ms: times.parse().expect("times"),
        })))
    };
    let mut slow = far(1, "4000000000");
    assert!(slow.ready_at(ms(0)) > ms(3_999_999_999));
    let leaves = slow.take(ms(5), 9018, 9038).leaves;
    assert_eq!(leaves, ms(5) + Duration::from_secs(20 * 86_400));
    // And more than any link carries, for ten days.
    let mut fast = far(1_000_000_000_000_000, "1*4000000000");
    assert_eq!(fast.carried(ms(864_000_000)).0, u64::MAX);
}
