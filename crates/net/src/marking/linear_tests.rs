use tailback_tcp::Ecn;
use tailback_units::Time;

use super::{Linear, LinearConfig};
use crate::marking::{Mark, QueueLook};
use crate::random::Stream;
use crate::testing::ect_frame;

fn look(band: u8, queued_bytes: u64) -> QueueLook {
    QueueLook {
        port: 0,
        band,
        queued_bytes,
        free_at: Time::ZERO,
    }
}

/// The share of 40 000 packets that are marked at a depth of a queue of 1 MB.
fn share(rise: f64, start: f64, queued_bytes: u64) -> f64 {
    let config = LinearConfig {
        probability_rise: rise,
        mem_start_point: start,
        mark: Mark::Ce,
    };
    let mut linear = Linear::new(&config, &[1_000_000], Stream::new(1, "marking", 0));
    let marks = (0..40_000)
        .filter(|_| linear.arrive(look(0, queued_bytes), &mut ect_frame(1448).segment))
        .count();
    marks as f64 / 40_000.0
}

#[test]
fn the_study_s_start_points_give_its_probabilities() {
    // Start, fill and probability in percent: rise is one point a point.
    for (start, fill, expected) in [
        (0, 0, 0),
        (0, 1, 1),
        (0, 50, 50),
        (0, 100, 100),
        (10, 10, 0),
        (10, 30, 20),
        (10, 100, 90),
        (30, 29, 0),
        (30, 80, 50),
        (30, 100, 70),
    ] {
        let seen = share(1.0, f64::from(start), fill * 10_000) * 100.0;
        // Four standard deviations of 40 000 draws are at most one percentage point.
        assert!(
            (seen - f64::from(expected)).abs() <= 1.0,
            "from {start} % at {fill} %: {seen} % for {expected} %"
        );
    }
}

#[test]
fn a_steeper_rise_saturates() {
    assert_eq!(share(4.0, 0.0, 250_000), 1.0);
    assert_eq!(share(4.0, 0.0, 900_000), 1.0);
    assert!((share(4.0, 0.0, 125_000) - 0.5).abs() < 0.01);
}

#[test]
fn what_is_not_ecn_capable_is_left_alone() {
    let config = LinearConfig {
        probability_rise: 1.0,
        mem_start_point: 0.0,
        mark: Mark::Ce,
    };
    let mut linear = Linear::new(&config, &[1000], Stream::new(1, "marking", 0));
    let mut frame = crate::testing::frame(1448);
    assert!(!linear.arrive(look(0, 1_000_000), &mut frame.segment));
    assert_eq!(frame.segment.ecn, Ecn::NotEct);
}

#[test]
fn each_queue_of_a_port_fills_by_its_own_size() {
    let config = LinearConfig {
        probability_rise: 1.0,
        mem_start_point: 10.0,
        mark: Mark::Ce,
    };
    let sizes = [1_000_000, 100_000];
    let mut linear = Linear::new(&config, &sizes, Stream::new(1, "marking", 0));
    let mut marks = |band| {
        (0..40_000)
            .filter(|_| linear.arrive(look(band, 60_000), &mut ect_frame(1448).segment))
            .count()
    };
    // 60 KB are 6 % of the one, and half of the other beyond where marking begins.
    assert_eq!(marks(0), 0);
    assert!((marks(1) as f64 / 40_000.0 - 0.5).abs() < 0.01);
}
