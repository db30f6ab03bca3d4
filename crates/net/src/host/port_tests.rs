use tailback_units::{Duration, Rate, Time};

use super::{HostPort, Next};
use crate::frame::HostId;
use crate::l2cm::{Feedback, L2cmConfig, ecm::EcmConfig, qcn::QcnConfig};
use crate::pool::Flight;
use crate::testing::flight;

const WORST: Feedback = Feedback {
    fb: -1875,
    quantised: 63,
    limits: true,
};

fn port() -> HostPort {
    HostPort::new(Rate::from_gbps(10), 1, 0)
}

fn to(host: u16, class: u8) -> Flight {
    let mut frame = flight(1448);
    frame.destination = HostId(host);
    frame.class = class;
    frame
}

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// The destination and class of the next frame.
#[track_caller]
fn sent(port: &mut HostPort, now: Time) -> (u16, u8) {
    match port.next(now) {
        Next::Frame(frame) => (frame.destination.0, frame.class),
        other => panic!("no frame but {other:?}"),
    }
}

#[test]
fn a_pause_of_the_link_holds_all_back_until_its_end() {
    let mut port = port();
    port.push(to(1, 0));
    port.paused.pause(at(0), 0xff, Duration::from_us(7));
    assert!(matches!(port.next(at(3)), Next::Wait(t) if t == at(7)));
    assert_eq!(sent(&mut port, at(7)), (1, 0));
    assert!(matches!(port.next(at(7)), Next::Idle));
    assert!(port.is_empty());
}

#[test]
fn a_paused_class_holds_back_no_other() {
    let mut port = port();
    port.push(to(1, 3));
    port.push(to(1, 0));
    port.paused.pause(at(0), 1 << 3, Duration::from_us(7));
    assert_eq!(sent(&mut port, at(1)), (1, 0));
    assert!(matches!(port.next(at(1)), Next::Wait(t) if t == at(7)));
}

#[test]
fn a_limiter_holds_back_its_own_destination_only() {
    let config = L2cmConfig::Ecm(EcmConfig::default());
    let mut port = port();
    for _ in 0..3 {
        port.push(to(1, 0));
    }
    port.push(to(2, 0));
    port.message(at(0), &config, 5, &to(1, 0), WORST);
    assert_eq!(port.limiters(), 1);
    assert!(port.is_associated(5, &to(1, 0)) && !port.is_associated(5, &to(2, 0)));
    let mut first = [sent(&mut port, at(0)).0, sent(&mut port, at(0)).0];
    first.sort_unstable();
    assert_eq!(first, [1, 2]);
    // 1538 B at 5.078 Gb/s
    let Next::Wait(ready) = port.next(at(0)) else {
        panic!("the limiter lets a second frame through at once");
    };
    assert!(ready > at(2) && ready < at(3), "{ready:?}");
    assert_eq!(sent(&mut port, ready), (1, 0));
    assert_eq!(port.waiting().count(), 1);
}

#[test]
fn what_waits_is_counted_by_class_at_limiters_too() {
    let config = L2cmConfig::Ecm(EcmConfig::default());
    let mut port = port();
    for frame in [to(1, 0), to(1, 3), to(2, 3)] {
        port.push(frame);
    }
    port.message(at(0), &config, 5, &to(1, 0), WORST);
    port.push(to(1, 3));
    assert_eq!((port.len_of(0), port.len_of(3), port.len()), (1, 3, 4));
    port.paused.pause(at(0), 1 << 3, Duration::from_us(100));
    assert_eq!(sent(&mut port, at(0)), (1, 0));
    assert_eq!((port.len_of(0), port.len_of(3), port.len()), (0, 3, 3));
}

#[test]
fn good_news_makes_no_limiter() {
    let config = L2cmConfig::Ecm(EcmConfig::default());
    let mut port = port();
    let good = Feedback {
        fb: 100,
        quantised: 3,
        limits: false,
    };
    port.message(at(0), &config, 5, &to(1, 0), good);
    assert_eq!(port.limiters(), 0);
}

#[test]
fn a_short_queue_that_grows_tells_only_who_has_a_limiter() {
    let config = L2cmConfig::Qcn(QcnConfig::default());
    let mut port = port();
    let grows = Feedback {
        fb: -20,
        quantised: 20,
        limits: false,
    };
    port.message(at(0), &config, 5, &to(1, 0), grows);
    assert_eq!(port.limiters(), 0);
    port.message(at(0), &config, 5, &to(1, 0), WORST);
    assert_eq!(port.limiters(), 1);
    let rate = port.limiters[0].1.rate();
    port.message(at(0), &config, 5, &to(1, 0), grows);
    // 1 - 20/128
    let expected = rate.as_bps() as f64 * (1.0 - 20.0 / 128.0);
    assert!((port.limiters[0].1.rate().as_bps() as f64 / expected - 1.0).abs() < 1e-6);
}

#[test]
fn a_limiter_goes_when_its_rate_is_the_line_s_again() {
    let config = L2cmConfig::Ecm(EcmConfig {
        rd: Rate::from_gbps(1),
        ..EcmConfig::default()
    });
    let mut port = port();
    port.message(at(0), &config, 5, &to(1, 0), WORST);
    let mut now = Time::ZERO;
    while port.limiters() > 0 {
        now = port.poll_timeout();
        port.handle_timeout(now);
    }
    // 5.08 Gb/s and five raises of 1 Gb/s, 1 ms apart.
    assert_eq!(now, at(5000));
    assert_eq!(port.poll_timeout(), Time::NEVER);
}
