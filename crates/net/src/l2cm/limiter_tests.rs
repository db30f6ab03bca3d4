use tailback_units::{Duration, Rate, Time};

use super::Limiter;
use crate::l2cm::{Feedback, L2cmConfig, ReactionPoint, ecm::EcmConfig};
use crate::random::Stream;
use crate::testing::flight;

const LINE: Rate = Rate::from_gbps(10);
const WORST: Feedback = Feedback {
    fb: -1875,
    quantised: 63,
    limits: true,
};

/// A limiter that is told the worst so many times; its rate stays but for that.
fn limiter(cuts: u32) -> Limiter {
    let config = L2cmConfig::Ecm(EcmConfig {
        td: Duration::from_secs(1000),
        ..EcmConfig::default()
    });
    let stream = Stream::new(1, "limiter", 0);
    let reaction = ReactionPoint::new(&config, LINE, Time::ZERO, stream);
    let mut limiter = Limiter::new(reaction, LINE, Time::ZERO);
    for _ in 0..cuts {
        limiter.message(Time::ZERO, 0, WORST);
    }
    limiter
}

#[test]
fn frames_leave_at_the_rate_on_the_wire() {
    let mut limiter = limiter(1);
    for _ in 0..3 {
        limiter.push(flight(1448));
    }
    assert_eq!(limiter.ready_at(), Time::ZERO);
    assert!(limiter.pop(Time::ZERO).is_some());
    // 1538 B at 5.078125 Gb/s
    let due = 1538.0 * 8.0 / 5.078_125;
    let ready = limiter.ready_at();
    assert!((ready.as_ps() as f64 / 1e3 - due).abs() < 0.01, "{ready:?}");
    assert!(limiter.pop(ready.before(Duration::from_ns(1))).is_none());
    assert!(limiter.pop(ready).is_some());
    assert_eq!(limiter.waiting().count(), 1);
}

#[test]
fn a_cut_acts_on_what_is_still_to_be_paid() {
    let mut limiter = limiter(1);
    limiter.push(flight(1448));
    limiter.push(flight(1448));
    limiter.pop(Time::ZERO);
    let half = Duration::from_ps(limiter.ready_at().as_ps() / 2);
    limiter.message(Time::ZERO + half, 0, WORST);
    // Half is paid; the other half costs 128/65 of the time.
    let expected = half.as_ps() as f64 * (1.0 + 128.0 / 65.0);
    assert!((limiter.ready_at().as_ps() as f64 - expected).abs() < 1000.0);
}

#[test]
fn an_idle_limiter_saves_nothing_up_and_goes_at_line_rate() {
    let mut limiter = limiter(1);
    limiter.push(flight(1448));
    limiter.pop(Time::ZERO);
    let later = Time::ZERO + Duration::from_ms(1);
    limiter.push(flight(1448));
    limiter.push(flight(1448));
    assert!(limiter.pop(later).is_some());
    assert!(limiter.ready_at() > later);
    assert!(!limiter.is_done());
    let config = L2cmConfig::Ecm(EcmConfig::default());
    let stream = Stream::new(1, "limiter", 0);
    let reaction = ReactionPoint::new(&config, LINE, Time::ZERO, stream);
    assert!(Limiter::new(reaction, LINE, Time::ZERO).is_done());
}
