use tailback_units::{Duration, Time};

use super::{BASE, JiffyClock, wheel};

#[test]
fn a_timer_of_n_jiffies_fires_at_the_nth_tick() {
    let mut clock = JiffyClock::new(1000, 0, Duration::from_us(300));
    let now = Time::ZERO + Duration::from_us(1_500);
    let jiffies = clock.jiffies(now);
    let fires = clock.time_ahead(200);
    assert_eq!(fires, Time::ZERO + Duration::from_us(200_700));
    assert_eq!(clock.jiffies(fires), jiffies + 200);
}

#[test]
fn the_first_tick_from_a_time_on_is_that_which_begins_then_or_next() {
    let mut clock = JiffyClock::new(250, 0, Duration::from_us(300));
    let now = clock.jiffies(Time::ZERO + Duration::from_ms(40));
    for ahead in 0..9 {
        let begins = clock.time_ahead(ahead);
        let tick = now.wrapping_add_signed(ahead);
        assert_eq!(clock.first_tick(begins), Some(tick));
        assert_eq!(
            clock.first_tick(begins + Duration::from_ps(1)),
            Some(tick + 1)
        );
    }
    assert_eq!(clock.first_tick(Time::NEVER), None);
}

#[test]
fn ticks_that_are_over_have_begun_too() {
    let mut clock = JiffyClock::new(250, 0, Duration::from_us(300));
    clock.jiffies(Time::ZERO + Duration::from_ms(40));
    let us = |us: u64| Time::ZERO + Duration::from_us(us);
    assert_eq!(clock.time_ahead(1), us(43_700));
    assert_eq!(clock.time_ahead(0), us(39_700));
    assert_eq!(clock.time_ahead(-2), us(31_700));
    assert_eq!(clock.time_ahead(-20), Time::ZERO);
    assert!(clock.time_ahead(i32::MAX) > us(1_000_000_000_000));
}

#[test]
fn spans_round_up_to_ticks() {
    let clock = JiffyClock::new(1000, 0, Duration::ZERO);
    assert_eq!(clock.ticks(Duration::from_ms(200)), 200);
    assert_eq!(clock.ticks(Duration::from_us(200)), 1);
    assert_eq!(clock.span(40), Duration::from_ms(40));
}

#[test]
fn timestamps_begin_anywhere_unless_they_are_the_jiffies() {
    let ms = |clock: &mut JiffyClock, ms| {
        clock.jiffies(Time::ZERO + Duration::from_ms(ms));
        clock.timestamp()
    };
    let mut plain = JiffyClock::new(250, 1000, Duration::ZERO);
    let mut moved = plain.clone().with_timestamp_offset(u32::MAX - 5);
    let (first, second) = (ms(&mut plain, 3), ms(&mut moved, 3));
    assert_eq!(second, first.wrapping_sub(6));
    assert_eq!(moved.timestamp_at(3_000_000), second);
    assert_eq!(ms(&mut moved, 20).wrapping_sub(second), 17);
    let mut jiffies = JiffyClock::new(250, 0, Duration::ZERO).with_timestamp_offset(77);
    let ticks = jiffies.jiffies(Time::ZERO + Duration::from_ms(8));
    assert_eq!(jiffies.timestamp(), ticks);
}

#[test]
fn a_timer_set_when_the_counter_of_ticks_wraps_fires_at_the_next_tick() {
    // Linux counts from five minutes before the wrap.
    let boot = BASE as u32 + 300_000;
    assert_eq!(wheel(1000, boot - 1, boot - 1), boot);
}

#[test]
fn spans_are_exact_where_a_tick_is_no_whole_number_of_picoseconds() {
    for hz in [10, 100, 250, 300, 1000, 1024, 999_983, 1_000_000] {
        let clock = JiffyClock::new(hz, 0, Duration::ZERO);
        for us in [
            0,
            1,
            999,
            1000,
            3333,
            3334,
            200_000,
            203_333,
            1_000_000,
            3_000_000_000,
        ] {
            let exact = (us * u64::from(hz)).div_ceil(1_000_000);
            let most = u64::from(u32::MAX / 4);
            assert_eq!(
                u64::from(clock.us_to_ticks(us)),
                exact.min(most),
                "{hz} {us}"
            );
            let ticks = clock.ticks(Duration::from_us(us));
            assert_eq!(u64::from(ticks), exact.min(most), "{hz} {us}");
        }
        let ticks = clock.ticks(Duration::from_secs(864_000));
        assert_eq!(
            u64::from(ticks),
            (864_000 * u64::from(hz)).min(u64::from(u32::MAX / 4))
        );
    }
}
