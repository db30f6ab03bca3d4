use tailback_tcp::Ecn;
use tailback_units::{Bytes, Duration, Rate, Time};

use super::{Average, Red, RedConfig};
use crate::marking::{Mark, QueueLook, Verdict};
use crate::random::Stream;
use crate::testing::{ect_frame, frame};

/// 100 KB to 300 KB, a tenth at most, no averaging.
fn config() -> RedConfig {
    RedConfig {
        min: Bytes::new(100_000),
        max: Bytes::new(300_000),
        probability: 0.1,
        avpkt: Bytes::new(1000),
        burst: 0,
        bandwidth: Rate::from_gbps(8),
        ecn: true,
        harddrop: false,
        nodrop: false,
        mark: Mark::Ce,
    }
}

fn look(queued_bytes: u64) -> QueueLook {
    QueueLook {
        port: 0,
        band: 0,
        queued_bytes,
        free_at: Time::ZERO,
    }
}

fn red(config: &RedConfig) -> Red {
    Red::new(
        std::slice::from_ref(config),
        (1, 1),
        Stream::new(1, "marking", 0),
    )
}

#[test]
fn probability_rises_between_the_thresholds_and_is_one_beyond() {
    let mut red = red(&config());
    let mut share = |queued: u64| {
        let marked = (0..100_000)
            .filter(|_| {
                red.arrive(Time::ZERO, look(queued), &mut ect_frame(1448).segment)
                    == Verdict::Marked
            })
            .count();
        marked as f64 / 100_000.0
    };
    assert_eq!(share(99_999), 0.0);
    assert_eq!(share(300_000), 1.0);
    // Half way p = 0.05: gaps uniform on 1 .. 20 have mean 10.5.
    let half = share(200_000);
    assert!((half - 1.0 / 10.5).abs() < 0.003, "{half}");
}

#[test]
fn the_first_packet_between_the_thresholds_passes() {
    let mut config = config();
    config.probability = 1.0;
    for seed in 0..100 {
        let stream = Stream::new(seed, "marking", 0);
        let mut red = Red::new(std::slice::from_ref(&config), (1, 1), stream);
        for _ in 0..2 {
            let first = red.arrive(Time::ZERO, look(299_000), &mut ect_frame(1448).segment);
            assert_eq!(first, Verdict::Pass);
            // An excursion below ends the count, as one beyond does.
            red.arrive(Time::ZERO, look(0), &mut ect_frame(1448).segment);
        }
    }
}

#[test]
fn marks_are_spread_evenly() {
    // Floyd and Jacobson: with p = 0.05 no two marks are more than 20 packets apart.
    let mut red = red(&config());
    let mut gap = 0;
    for _ in 0..100_000 {
        gap += 1;
        if red.arrive(Time::ZERO, look(200_000), &mut ect_frame(1448).segment) == Verdict::Marked {
            gap = 0;
        }
        assert!(gap < 21);
    }
}

#[test]
fn ecn_says_who_is_marked_and_who_is_dropped() {
    let full = look(300_000);
    let of = |change: fn(&mut RedConfig), capable: bool| {
        let mut config = config();
        change(&mut config);
        let mut frame = if capable {
            ect_frame(1448)
        } else {
            frame(1448)
        };
        red(&config).arrive(Time::ZERO, full, &mut frame.segment)
    };
    assert_eq!(of(|_| (), true), Verdict::Marked);
    assert_eq!(of(|_| (), false), Verdict::Drop);
    assert_eq!(of(|c| c.nodrop = true, false), Verdict::Pass);
    assert_eq!(of(|c| c.harddrop = true, true), Verdict::Drop);
    assert_eq!(of(|c| c.ecn = false, true), Verdict::Drop);
    let both = |c: &mut RedConfig| (c.harddrop, c.nodrop) = (true, true);
    assert_eq!(of(both, false), Verdict::Drop);
    assert_eq!(of(both, true), Verdict::Drop);
}

#[test]
fn sce_turns_ect_0_into_ect_1_only() {
    let mut config = config();
    config.mark = Mark::Sce;
    let mut frame = ect_frame(1448);
    assert_eq!(
        red(&config).arrive(Time::ZERO, look(300_000), &mut frame.segment),
        Verdict::Marked
    );
    assert_eq!(frame.segment.ecn, Ecn::Ect1);
}

#[test]
fn the_average_follows_by_its_weight_and_ages_over_idle_time() {
    let mut config = config();
    config.burst = 200;
    let log = config.wlog().expect("a weight");
    // (1 - (1 - w)^200) / w >= 201 - 100 holds for w = 1/128 (101.3) and not for 1/64 (61.3).
    assert_eq!(log, 7);
    let profile = red(&config).profiles[0].clone();
    let mut average = Average::default();
    for _ in 0..128 {
        average.update(&profile, Time::ZERO, look(100_000));
    }
    // 1 - (1 - 1/128)^128 of it: 63.4 %.
    let value = (average.scaled >> log) as f64;
    assert!((value - 63_360.0).abs() < 200.0, "{value}");
    // 128 packets of 1000 B at 8 Gb/s are 128 us of idling: 36.6 % is left.
    average.update(&profile, Time::ZERO + Duration::from_us(128), look(0));
    let aged = (average.scaled >> log) as f64;
    assert!((aged / value - 0.366).abs() < 0.005, "{aged}");
}

#[test]
fn a_burst_that_does_not_come_to_min_has_no_weight() {
    let wlog = |burst, min| {
        let config = RedConfig {
            burst,
            min: Bytes::new(min),
            ..config()
        };
        config.wlog()
    };
    // Packets of 1000 B; tc's condition is burst + 1 - min / avpkt >= 1.
    assert_eq!(wlog(0, 100_000), Some(0));
    assert_eq!(wlog(99, 100_000), None);
    assert_eq!(wlog(100, 100_000), Some(1));
    assert_eq!(wlog(100, 999), None);
    assert!(wlog(100, 2000).is_some());
}

#[test]
fn each_class_has_its_own_profile() {
    let low = RedConfig {
        min: Bytes::new(10_000),
        max: Bytes::new(20_000),
        ..config()
    };
    let mut red = Red::new(&[low, config()], (1, 1), Stream::new(1, "marking", 0));
    let mut verdict = |class: u8| {
        let mut frame = ect_frame(1448);
        frame.segment.priority = class;
        red.arrive(Time::ZERO, look(50_000), &mut frame.segment)
    };
    assert_eq!(verdict(0), Verdict::Marked);
    assert_eq!(verdict(1), Verdict::Pass);
    assert_eq!(verdict(7), Verdict::Pass);
}

#[test]
fn each_queue_of_a_port_has_its_own_average() {
    // One queue of two comes to stand far beyond the thresholds; the other is empty all the time.
    let slow = RedConfig {
        burst: 200,
        ..config()
    };
    for profiles in [vec![slow.clone()], vec![slow.clone(), slow]] {
        let mut red = Red::new(&profiles, (2, 2), Stream::new(1, "marking", 0));
        let mut verdict = |(port, band), queued: u64| {
            let look = QueueLook {
                port,
                band,
                ..look(queued)
            };
            red.arrive(Time::ZERO, look, &mut ect_frame(1448).segment)
        };
        for _ in 0..1000 {
            verdict((0, 1), 400_000);
            assert_eq!(verdict((0, 0), 0), Verdict::Pass);
            assert_eq!(verdict((1, 1), 0), Verdict::Pass);
        }
        assert_eq!(verdict((0, 1), 400_000), Verdict::Marked);
    }
}
