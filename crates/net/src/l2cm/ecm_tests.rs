use tailback_units::{Duration, Rate, Time};

use super::{EcmConfig, EcmPoint, EcmReaction};
use crate::l2cm::Feedback;
use crate::random::Stream;

const LINE: Rate = Rate::from_gbps(10);
const HERE: u32 = 3;

fn told(fb: i32, quantised: u8) -> Feedback {
    Feedback {
        fb,
        quantised,
        limits: fb < 0,
    }
}

fn reaction() -> EcmReaction {
    EcmReaction::new(&EcmConfig::default(), LINE, Time::ZERO)
}

#[test]
fn the_point_samples_once_in_75_kilobytes_and_knows_both_signs() {
    let mut point = EcmPoint::new(&EcmConfig::default(), Stream::new(1, "ecm", 0));
    let said: Vec<Feedback> = (0..50_000)
        .filter_map(|_| point.arrive(48_000, 1500))
        .collect();
    assert!((980..=1020).contains(&said.len()), "{}", said.len());
    // Qeq 375 pages, 750 queued: at first -375 - 2 · 750, then -375 of 1875.
    assert_eq!(said[0], told(-1875, 63));
    assert_eq!(said[1], told(-375, 13));
    let room: Vec<Feedback> = (0..500).filter_map(|_| point.arrive(0, 1500)).collect();
    assert_eq!(room[1], told(375, 13));
}

#[test]
fn the_best_message_adds_a_tenth_of_the_line() {
    let mut rp = reaction();
    for _ in 0..5 {
        rp.message(Time::ZERO, HERE, told(-1875, 63));
    }
    let before = rp.rate().as_bps();
    rp.message(Time::ZERO, HERE, told(1875, 63));
    // 0.53333 · 1875 · 1 Mb/s
    assert!((rp.rate().as_bps() - before).abs_diff(1_000_000_000) < 100_000);
}

#[test]
fn only_the_point_that_slowed_it_down_speeds_it_up() {
    let mut rp = reaction();
    rp.message(Time::ZERO, HERE, told(-1875, 63));
    assert_eq!(rp.rate().as_bps(), 5_078_125_000);
    rp.message(Time::ZERO, HERE + 1, told(1875, 63));
    assert_eq!(rp.rate().as_bps(), 5_078_125_000);
    assert!(rp.associated(HERE) && !rp.associated(HERE + 1));
}

#[test]
fn a_cut_in_pages_is_bounded_by_a_half() {
    let config = EcmConfig {
        quantised_decrease: false,
        ..EcmConfig::default()
    };
    let mut rp = EcmReaction::new(&config, LINE, Time::ZERO);
    rp.message(Time::ZERO, HERE, told(-1000, 34));
    assert_eq!(rp.rate().as_bps(), 5_000_000_000);
    rp.message(Time::ZERO, HERE, told(-16, 1));
    assert_eq!(rp.rate().as_bps(), 4_375_000_000);
}

#[test]
fn it_drifts_by_a_megabit_a_millisecond() {
    let mut rp = reaction();
    for _ in 0..100 {
        rp.message(Time::ZERO, HERE, told(-1875, 63));
    }
    assert_eq!(rp.rate().as_bps(), 1_000_000);
    rp.handle_timeout(Time::ZERO + Duration::from_ms(20));
    assert_eq!(rp.rate().as_bps(), 21_000_000);
}
