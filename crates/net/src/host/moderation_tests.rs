use tailback_units::{Duration, Time};

use super::{Moderation, ModerationConfig};

fn moderation() -> Moderation {
    Moderation::new(&ModerationConfig {
        timer_initial: Duration::from_us(96),
        threshold_low: 12,
        threshold_target: 40,
        threshold_high: 128,
        enable_above: 4,
        idle_ticks: 10,
    })
}

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

#[test]
fn light_traffic_is_not_delayed() {
    let mut moderation = moderation();
    for us in 0..100 {
        assert_eq!(moderation.interrupt(at(50 * us), 4), None);
    }
}

#[test]
fn a_deep_run_turns_the_timer_on_and_idleness_off() {
    let mut moderation = moderation();
    assert_eq!(
        moderation.interrupt(at(100), 20),
        None,
        "this interrupt still comes at once"
    );
    assert_eq!(moderation.interrupt(at(101), 20), Some(at(196)));
    assert_eq!(moderation.interrupt(at(197), 20), Some(at(292)));
    assert_eq!(
        moderation.interrupt(at(292 + 11 * 96), 1),
        None,
        "ten ticks in vain"
    );
}

#[test]
fn few_completions_let_the_period_grow_to_its_bound() {
    let mut moderation = moderation();
    moderation.interrupt(at(0), 10);
    let mut last = at(0);
    for _ in 0..200 {
        last = moderation
            .interrupt(last + Duration::from_us(1), 10)
            .unwrap();
    }
    let next = moderation
        .interrupt(last + Duration::from_us(1), 10)
        .unwrap();
    assert_eq!(next.since(last), Duration::from_us(128));
}

#[test]
fn many_completions_let_it_shrink() {
    let mut moderation = moderation();
    moderation.interrupt(at(0), 300);
    let mut last = at(0);
    for _ in 0..200 {
        last = moderation
            .interrupt(last + Duration::from_us(1), 300)
            .unwrap();
    }
    let next = moderation
        .interrupt(last + Duration::from_us(1), 300)
        .unwrap();
    assert_eq!(next.since(last), Duration::from_us(12));
}
