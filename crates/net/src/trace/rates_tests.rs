use std::sync::Arc;

use tailback_units::{Duration, Rate, Time};

use super::{Rates, Step};
use crate::trace::{Pace, Trace};

/// A course of rates in Mbit/s, each from a millisecond on.
fn pace(steps: &[(u64, u64)], period_ms: Option<u64>) -> Pace {
    let step = |&(from_ms, mbps): &(u64, u64)| Step {
        from: Duration::from_ms(from_ms),
        rate: Rate::from_bps(mbps * 1_000_000),
    };
    Pace::new(&Arc::new(Trace::Rates(Rates {
        path: None,
        steps: steps.iter().map(step).collect(),
        period: period_ms.map(Duration::from_ms),
    })))
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// Takes a frame of so many bytes as soon as may be; when, and when the next may be.
fn taken(pace: &mut Pace, from: Time, bytes: u64) -> (Time, Time) {
    let now = pace.ready_at(from);
    let passage = pace.take(now, bytes.saturating_sub(20), bytes);
    assert_eq!(passage.leaves, now);
    (now, passage.rests_until)
}

#[test]
fn a_frame_takes_its_bits_at_the_rate_that_holds() {
    let mut pace = pace(&[(0, 8)], None);
    assert_eq!(taken(&mut pace, us(100), 1000), (us(100), us(1100)));
    assert_eq!(taken(&mut pace, us(5000), 500), (us(5000), us(5500)));
}

#[test]
fn a_frame_that_meets_a_change_takes_the_rest_at_the_new_rate() {
    let mut pace = pace(&[(0, 8), (1, 80)], None);
    // Half a millisecond is 500 bytes, and the other 500 take 50 us.
    assert_eq!(taken(&mut pace, us(500), 1000), (us(500), us(1050)));
}

#[test]
fn nothing_goes_while_there_is_no_rate_and_the_course_begins_anew() {
    let mut pace = pace(&[(0, 8), (2, 0)], Some(10));
    // 500 bytes by 2 ms, the others from 10 ms on.
    assert_eq!(taken(&mut pace, us(1500), 1000), (us(1500), us(10_500)));
    assert_eq!(taken(&mut pace, us(13_000), 1000), (us(20_000), us(21_000)));
    // Who asks early is told again.
    assert_eq!(pace.ready_at(us(24_000)), us(30_000));
    assert_eq!(pace.ready_at(us(25_000)), us(30_000));
    assert_eq!(
        taken(&mut pace, us(1_000_005_000), 1),
        (us(1_000_010_000), us(1_000_010_001))
    );
}

#[test]
fn a_rate_that_no_whole_number_of_picoseconds_fits_is_rounded_once_a_frame() {
    let mut pace = pace(&[(0, 3)], None);
    let (_, next) = taken(&mut pace, us(0), 1);
    assert_eq!(next.as_ps(), 2_666_667);
}

#[test]
fn what_it_lets_go_and_what_went_are_counted() {
    let mut pace = pace(&[(0, 8), (2, 0)], Some(10));
    assert_eq!(pace.carried(us(1500)), (1500, 0));
    taken(&mut pace, us(1500), 1000);
    assert_eq!(pace.carried(us(9000)), (2000, 1000));
    assert_eq!(pace.carried(us(10_001)), (2001, 1000));
    assert_eq!(pace.carried(us(1_000_000)), (200_000, 1000));
}

#[test]
fn many_periods_are_passed_over_at_once() {
    // A bit each microsecond, in its first half: a frame takes 12 304 of them.
    let step = |from_ns: u64, bps| Step {
        from: Duration::from_ns(from_ns),
        rate: Rate::from_bps(bps),
    };
    let course = |period| {
        Trace::Rates(Rates {
            path: None,
            steps: vec![step(0, 2_000_000), step(500, 0)],
            period: Some(period),
        })
    };
    let mut pace = Pace::new(&Arc::new(course(Duration::from_us(1))));
    let (_, next) = taken(&mut pace, us(3), 1538);
    // The last bit is whole in the middle of the last period.
    assert_eq!(next.as_ps(), us(3 + 12_303).as_ps() + 500_000);
    let day = us(86_400_000_000);
    assert_eq!(pace.carried(day), (86_400_000_000 / 8, 1538));
    // A bit a day.
    let mut pace = Pace::new(&Arc::new(course(Duration::from_secs(86_400))));
    let (_, next) = taken(&mut pace, us(0), 1);
    assert_eq!(next.as_ps(), us(7 * 86_400_000_000).as_ps() + 500_000);
}

#[test]
fn what_would_take_longer_than_any_run_is_put_off() {
    // A bit in ten days.
    let course = Trace::Rates(Rates {
        path: None,
        steps: vec![
            Step {
                from: Duration::ZERO,
                rate: Rate::from_bps(1),
            },
            Step {
                from: Duration::from_secs(1),
                rate: Rate::default(),
            },
        ],
        period: Some(Duration::from_secs(864_000)),
    });
    let mut pace = Pace::new(&Arc::new(course));
    let (_, next) = taken(&mut pace, us(5), 9038);
    assert_eq!(next, us(5) + Duration::from_secs(20 * 86_400));
}
