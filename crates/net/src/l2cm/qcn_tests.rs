use tailback_units::{Bytes, Duration, Rate, Time};

use super::{QcnConfig, QcnPoint, QcnReaction, Sampling};
use crate::l2cm::Feedback;
use crate::random::Stream;

const LINE: Rate = Rate::from_gbps(10);

fn stream() -> Stream {
    Stream::new(1, "qcn", 0)
}

fn cut(quantised: u8) -> Feedback {
    Feedback {
        fb: -i32::from(quantised),
        quantised,
        limits: true,
    }
}

/// No timer within the test, no drift.
fn bytes_only() -> QcnConfig {
    QcnConfig {
        timer: Duration::from_secs(1000),
        ..QcnConfig::default()
    }
}

fn reaction(config: &QcnConfig) -> QcnReaction {
    QcnReaction::new(config, LINE, Time::ZERO, stream())
}

/// Sends until the byte counter has gone through so many more stages.
fn stages(reaction: &mut QcnReaction, count: u32) {
    let end = reaction.byte_stages + count;
    while reaction.byte_stages < end {
        reaction.sent(Time::ZERO, 1000);
    }
}

#[test]
fn the_worst_message_halves_the_rate_nearly() {
    let mut rp = reaction(&bytes_only());
    rp.message(Time::ZERO, cut(63));
    // 1 - 63/128
    assert_eq!(rp.rate().as_bps(), 5_078_125_000);
    let steep = QcnConfig {
        gd: 1.0 / 64.0,
        ..bytes_only()
    };
    let mut rp = reaction(&steep);
    rp.message(Time::ZERO, cut(63));
    assert_eq!(rp.rate().as_bps(), 5_000_000_000, "min_dec_factor");
}

#[test]
fn fast_recovery_halves_the_distance_in_each_of_five_stages() {
    let mut rp = reaction(&bytes_only());
    rp.message(Time::ZERO, cut(64 - 1));
    let mut distance = LINE.as_bps() - rp.rate().as_bps();
    for _ in 0..5 {
        stages(&mut rp, 1);
        let left = LINE.as_bps() - rp.rate().as_bps();
        assert!(left.abs_diff(distance / 2) <= 1, "{left} of {distance}");
        distance = left;
    }
    assert_eq!(distance, 4_921_875_000 / 32 + 1);
}

#[test]
fn a_stage_is_150_kilobytes_and_half_after_fast_recovery() {
    let mut rp = reaction(&bytes_only());
    rp.message(Time::ZERO, cut(30));
    let mut sent = [0_u64; 8];
    for bytes in &mut sent {
        let stage = rp.byte_stages;
        while rp.byte_stages == stage {
            rp.sent(Time::ZERO, 100);
            *bytes += 100;
        }
    }
    for (stage, bytes) in sent.iter().enumerate() {
        let mean = if stage < 5 { 150_000 } else { 75_000 };
        assert!(bytes.abs_diff(mean) <= mean * 15 / 100 + 100, "{sent:?}");
    }
}

#[test]
fn active_increase_raises_the_target_after_fast_recovery() {
    let config = bytes_only();
    let mut rp = reaction(&config);
    rp.message(Time::ZERO, cut(63));
    stages(&mut rp, 1);
    rp.message(Time::ZERO, cut(63));
    // A stage has passed, so the second cut brings the target down to the rate before it.
    let target = rp.target_bps;
    assert_eq!(target, (10_000_000_000 + 5_078_125_000) / 2);
    stages(&mut rp, 5);
    assert_eq!(rp.target_bps, target);
    stages(&mut rp, 3);
    assert_eq!(rp.target_bps, target + 3 * config.a.as_bps());
}

#[test]
fn cuts_before_the_first_stage_keep_the_target() {
    let mut rp = reaction(&bytes_only());
    for _ in 0..4 {
        rp.message(Time::ZERO, cut(20));
    }
    assert_eq!(rp.target_bps, LINE.as_bps());
    // (1 - 20/128)^4 of 10 Gb/s
    assert!(rp.rate().as_bps().abs_diff(5_068_216_300) < 100_000);
}

#[test]
fn cuts_before_the_first_stage_do_not_put_it_off() {
    let mut rp = reaction(&bytes_only());
    let mut sent = 0;
    while rp.byte_stages == 0 && sent < 1_000_000 {
        rp.message(Time::ZERO, cut(1));
        rp.sent(Time::ZERO, 10_000);
        sent += 10_000;
    }
    assert!(sent <= 180_000, "{sent}: 150 KB, give or take 15 %");
    // One after it starts the next stage anew.
    rp.sent(Time::ZERO, 100_000);
    rp.message(Time::ZERO, cut(1));
    rp.sent(Time::ZERO, 100_000);
    assert_eq!(rp.byte_stages, 0);
}

#[test]
fn a_stage_of_the_timer_alone_lets_a_cut_keep_the_target() {
    let config = QcnConfig {
        timer: Duration::from_ms(10),
        ..bytes_only()
    };
    let mut rp = reaction(&config);
    rp.message(Time::ZERO, cut(20));
    rp.handle_timeout(rp.poll_timeout());
    assert_eq!((rp.timer_stages, rp.byte_stages), (1, 0));
    rp.message(Time::from_ps(0) + Duration::from_ms(12), cut(20));
    assert_eq!(rp.target_bps, LINE.as_bps());
}

#[test]
fn both_counters_beyond_fast_recovery_make_it_hyper_active() {
    let config = QcnConfig {
        timer: Duration::from_ms(10),
        ..QcnConfig::default()
    };
    let mut rp = reaction(&config);
    for _ in 0..40 {
        rp.message(Time::ZERO, cut(63));
        stages(&mut rp, 1);
    }
    rp.message(Time::ZERO, cut(63));
    while rp.timer_stages < 6 {
        rp.handle_timeout(rp.poll_timeout());
    }
    stages(&mut rp, 5);
    let before = rp.target_bps;
    stages(&mut rp, 1);
    // Six stages of both: one beyond fast recovery.
    assert_eq!(rp.target_bps - before, config.r_hai.as_bps());
}

#[test]
fn drift_doubles_a_rate_in_277_milliseconds() {
    let config = QcnConfig {
        drift: true,
        ..bytes_only()
    };
    let mut rp = reaction(&config);
    for _ in 0..10 {
        rp.message(Time::ZERO, cut(63));
    }
    let before = rp.rate().as_bps();
    rp.handle_timeout(Time::ZERO + Duration::from_us(277_200));
    let grown = rp.rate().as_bps() as f64 / before as f64;
    // 1.0005^1386; the factor is rounded to 33/65536.
    assert!((grown - 2.0).abs() < 0.02, "{grown}");
}

#[test]
fn extra_fast_recovery_adds_no_more_than_its_bound() {
    let with = QcnConfig {
        efr: true,
        ..bytes_only()
    };
    let (mut plain, mut extra) = (reaction(&bytes_only()), reaction(&with));
    for rp in [&mut plain, &mut extra] {
        rp.message(Time::ZERO, cut(63));
        stages(rp, 1);
    }
    assert_eq!(
        extra.rate().as_bps() - plain.rate().as_bps(),
        with.efr_max.as_bps()
    );
}

#[test]
fn a_rate_never_falls_below_its_least() {
    let mut rp = reaction(&bytes_only());
    for _ in 0..100 {
        rp.message(Time::ZERO, cut(63));
    }
    assert_eq!(rp.rate(), QcnConfig::default().r_min);
}

#[test]
fn samples_come_as_often_as_the_feedback_says() {
    // The study: 1 % of the frames at no feedback, 10 % at the worst.
    let config = QcnConfig {
        qeq: Bytes::new(409 * 64),
        sampling: Sampling::Probability {
            per: Bytes::ZERO,
            least: 0.01,
            most: 0.1,
        },
        ..QcnConfig::default()
    };
    let mut point = QcnPoint::new(&config, stream());
    let samples = (0..50_000)
        .filter(|_| {
            point.queue_before = 0;
            point.arrive(150_000, 1518).is_some()
        })
        .count();
    assert!((4_700..5_300).contains(&samples), "{samples} of 5000");
    // The standard: 150 KB at feedback 1 to 7 of 63, 18.5 KB at the worst.
    let mut point = QcnPoint::new(&QcnConfig::default(), stream());
    let mut count = |queued: u64| {
        (0..50_000)
            .filter(|_| point.arrive(queued, 1500).is_some())
            .count()
    };
    let little = count(30_000);
    assert!((490..=510).contains(&little), "75 MB by 150 KB: {little}");
}

#[test]
fn a_short_frame_is_sampled_as_much_more_rarely() {
    let config = QcnConfig {
        sampling: Sampling::Probability {
            per: Bytes::new(1500),
            least: 0.1,
            most: 0.1,
        },
        ..QcnConfig::default()
    };
    let mut point = QcnPoint::new(&config, stream());
    let mut samples = |frame_bytes: u16| {
        (0..50_000)
            .filter(|_| point.arrive(150_000, frame_bytes).is_some())
            .count()
    };
    // A tenth of the full ones; of those of 75 bytes 1 in 200.
    assert!((4_700..5_300).contains(&samples(1500)));
    assert!((200..300).contains(&samples(75)));
}

#[test]
fn without_a_timer_stages_of_bytes_make_it_hyper_active() {
    let config = QcnConfig {
        timer: Duration::ZERO,
        ..QcnConfig::default()
    };
    let mut rp = reaction(&config);
    for _ in 0..40 {
        rp.message(Time::ZERO, cut(63));
        stages(&mut rp, 1);
    }
    rp.message(Time::ZERO, cut(63));
    assert_eq!(rp.poll_timeout(), Time::NEVER);
    stages(&mut rp, 5);
    let before = rp.target_bps;
    stages(&mut rp, 1);
    assert_eq!(rp.target_bps - before, config.r_hai.as_bps());
}

#[test]
fn a_queue_at_its_aim_says_nothing() {
    let mut point = QcnPoint::new(&QcnConfig::default(), stream());
    point.queue_before = 26_000 / 64;
    assert!((0..10_000).all(|_| point.arrive(26_000, 1500).is_none()));
}

#[test]
fn only_a_queue_above_its_aim_makes_limiters() {
    let mut point = QcnPoint::new(&QcnConfig::default(), stream());
    let mut told = |queued: u64| {
        loop {
            point.queue_before = 0;
            if let Some(feedback) = point.arrive(queued, 1500) {
                return feedback;
            }
        }
    };
    // It has grown by as much as is aimed at, and is not above it.
    let short = told(26_000);
    assert!(short.quantised > 0 && !short.limits, "{short:?}");
    assert!(told(27_000).limits);
}

#[test]
fn a_least_rate_above_the_line_s_ends_the_limiter() {
    let config = QcnConfig {
        r_min: Rate::from_gbps(20),
        ..bytes_only()
    };
    let mut rp = reaction(&config);
    rp.message(Time::ZERO, cut(63));
    stages(&mut rp, 2);
    assert_eq!(rp.rate(), LINE);
}
