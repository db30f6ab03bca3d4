use tailback_units::{Duration, Time};

use super::JiffyClock;

#[test]
fn a_timer_of_n_jiffies_fires_at_the_nth_tick() {
    let mut clock = JiffyClock::new(1000, 0, Duration::from_us(300));
    let now = Time::ZERO + Duration::from_us(1_500);
    let jiffies = clock.jiffies(now);
    let fires = clock.time_of(jiffies + 200);
    assert_eq!(fires, Time::ZERO + Duration::from_us(200_700));
    assert_eq!(clock.jiffies(fires), jiffies + 200);
}

#[test]
fn spans_round_up_to_ticks() {
    let clock = JiffyClock::new(1000, 0, Duration::ZERO);
    assert_eq!(clock.ticks(Duration::from_ms(200)), 200);
    assert_eq!(clock.ticks(Duration::from_us(200)), 1);
    assert_eq!(clock.span(40), Duration::from_ms(40));
}
