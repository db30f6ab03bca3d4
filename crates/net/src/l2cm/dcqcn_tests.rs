use tailback_units::{Bytes, Duration, Rate, Time};

use super::{DcqcnConfig, DcqcnReaction, NotificationPoint, ONE};
use crate::random::{self, Stream};

const LINE: Rate = Rate::from_gbps(40);

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

fn reaction(config: &DcqcnConfig) -> DcqcnReaction {
    DcqcnReaction::new(config, LINE, Time::ZERO)
}

fn mbps(reaction: &DcqcnReaction) -> f64 {
    reaction.rate().as_bps() as f64 / 1e6
}

fn target_mbps(reaction: &DcqcnReaction) -> f64 {
    reaction.target_bps as f64 / 1e6
}

/// Timers fire until then.
fn run_until(reaction: &mut DcqcnReaction, end: Time) {
    while reaction.poll_timeout() <= end {
        let due = reaction.poll_timeout();
        reaction.handle_timeout(due);
    }
}

fn near(value: f64, expected: f64) {
    assert!(
        (value - expected).abs() < 1e-3 * expected.abs().max(1.0),
        "{value}, not {expected}"
    );
}

#[test]
fn the_first_cnp_halves_the_rate_and_the_next_take_half_of_alpha() {
    let mut rp = reaction(&DcqcnConfig::default());
    assert_eq!(rp.rate(), LINE);
    rp.notified(at(0));
    near(mbps(&rp), 20_000.0);
    near(target_mbps(&rp), 40_000.0);
    assert_eq!(rp.alpha, ONE, "1 stays 1 while CNPs come");
    rp.notified(at(50));
    near(mbps(&rp), 10_000.0);
    near(target_mbps(&rp), 20_000.0);
    // At 105 α falls to 255/256, the timer makes 15 000; then a cut by 255/512.
    run_until(&mut rp, at(105));
    near(mbps(&rp), 15_000.0);
    rp.notified(at(110));
    near(mbps(&rp), 15_000.0 * (1.0 - 255.0 / 512.0));
    near(target_mbps(&rp), 15_000.0);
    let after = 255.0 / 256.0 * 255.0 / 256.0 + 1.0 / 256.0;
    near(rp.alpha as f64 / ONE as f64, after);
}

#[test]
fn alpha_falls_by_g_every_alpha_timer_without_a_cnp() {
    let mut rp = reaction(&DcqcnConfig::default());
    rp.notified(at(0));
    // 100 periods of 55 us, and not the 101st.
    run_until(&mut rp, at(5_554));
    rp.notified(at(5_554));
    let before = (255.0_f64 / 256.0).powi(100);
    near(
        rp.alpha as f64 / ONE as f64,
        before * 255.0 / 256.0 + 1.0 / 256.0,
    );
}

#[test]
fn the_timer_makes_five_stages_of_fast_recovery_then_raises_the_target() {
    let mut rp = reaction(&DcqcnConfig::default());
    rp.notified(at(0));
    rp.notified(at(50));
    let (mut rate, mut target) = (10_000.0, 20_000.0);
    for stage in 1..=12 {
        run_until(&mut rp, at(50 + 55 * stage));
        if stage > 5 {
            target += 40.0;
        }
        rate = (rate + target) / 2.0;
        near(mbps(&rp), rate);
        near(target_mbps(&rp), target);
    }
}

#[test]
fn both_counters_beyond_fast_recovery_make_the_increase_hyper() {
    let config = DcqcnConfig {
        byte_counter: Bytes::new(10_000),
        timer: Duration::from_us(55),
        ..DcqcnConfig::default()
    };
    let mut rp = reaction(&config);
    for cnp in 0..4 {
        rp.notified(at(50 * cnp));
    }
    near(target_mbps(&rp), 5_000.0);
    let mut sent = 0;
    while rp.byte_stages < 5 {
        rp.sent(1000);
        sent += 1000;
    }
    assert_eq!(
        sent,
        5 * 11_000,
        "more than the counter's bytes make a stage"
    );
    near(target_mbps(&rp), 5_000.0);
    for _ in 0..11 {
        rp.sent(1000);
    }
    near(target_mbps(&rp), 5_040.0);
    run_until(&mut rp, at(150 + 55 * 5));
    near(target_mbps(&rp), 5_240.0);
    // Six stages of both, then seven of the timer's: the lesser counts.
    run_until(&mut rp, at(150 + 55 * 6));
    near(target_mbps(&rp), 5_440.0);
    run_until(&mut rp, at(150 + 55 * 7));
    near(target_mbps(&rp), 5_640.0);
}

#[test]
fn without_the_clamp_cuts_before_a_stage_of_bytes_keep_the_target() {
    let config = DcqcnConfig {
        clamp_target_rate: false,
        byte_counter: Bytes::new(10_000),
        ..DcqcnConfig::default()
    };
    let mut rp = reaction(&config);
    rp.notified(at(0));
    rp.notified(at(50));
    near(target_mbps(&rp), 40_000.0);
    for _ in 0..11 {
        rp.sent(1000);
    }
    near(mbps(&rp), 25_000.0);
    rp.notified(at(100));
    near(target_mbps(&rp), 25_000.0);
}

#[test]
fn a_flow_at_line_rate_is_forgotten_when_alpha_is_next_to_nothing() {
    let mut rp = reaction(&DcqcnConfig::default());
    rp.notified(at(0));
    run_until(&mut rp, at(300_000));
    assert_eq!(rp.rate(), LINE);
    assert!(!rp.is_forgotten());
    let memory = 23 * 256 * 55;
    assert_eq!(rp.poll_timeout(), at(memory));
    run_until(&mut rp, at(memory));
    assert!(rp.is_forgotten());
    rp.notified(at(memory + 1));
    assert!(!rp.is_forgotten());
    near(mbps(&rp), 40_000.0);
}

#[test]
fn the_rate_stays_between_the_least_and_the_line_s() {
    let mut stream = Stream::new(7, "dcqcn", 0);
    for case in 0..64 {
        let config = DcqcnConfig {
            g: 1.0 / (1 << stream.below(12)) as f64,
            byte_counter: Bytes::new(1_000 + stream.below(100_000)),
            timer: Duration::from_us(1 + stream.below(2000)),
            f: 1 + stream.below(8) as u32,
            clamp_target_rate: stream.below(2) == 0,
            r_hai: Rate::from_bps(stream.below(10_000_000_000)),
            ..DcqcnConfig::default()
        };
        let mut rp = reaction(&config);
        let mut now = Time::ZERO;
        for _ in 0..2_000 {
            now += Duration::from_us(stream.below(200));
            run_until(&mut rp, now);
            match stream.below(3) {
                0 => rp.notified(now),
                _ => rp.sent(64 + stream.below(1500)),
            }
            assert!(rp.rate() >= config.r_min && rp.rate() <= LINE, "{case}");
            assert!(rp.target_bps <= LINE.as_bps() && rp.alpha <= ONE, "{case}");
            assert!(rp.poll_timeout() > now, "{case}");
        }
    }
}

#[test]
fn a_flow_gets_a_cnp_at_once_and_no_more_within_the_interval() {
    let mut point = NotificationPoint::new(&DcqcnConfig::default());
    assert!(point.marked(at(7), 1));
    assert!(!point.marked(at(8), 1));
    assert!(point.marked(at(8), 2), "another flow's");
    assert!(!point.marked(at(56), 1));
    assert!(point.marked(at(57), 1));
    assert_eq!(point.sent(), 3);
}

/// The mean rate of one flow of which every packet is marked with probability `p`, Gb/s.
fn mean_gbps(p: f64, seconds: u64) -> f64 {
    const WIRE_BYTES: u64 = 1090;
    let config = DcqcnConfig::default();
    let mut stream = Stream::new(3, "marks", 0);
    let below = random::threshold(p);
    let mut point = NotificationPoint::new(&config);
    let mut rp = reaction(&config);
    rp.notified(Time::ZERO);
    let mut now = Time::ZERO;
    let settled = at(200_000);
    let end = settled + Duration::from_secs(seconds);
    let mut sent = 0;
    while now < end {
        now += rp.rate().time_for(WIRE_BYTES);
        run_until(&mut rp, now);
        rp.sent(WIRE_BYTES - 20);
        sent += if now > settled { WIRE_BYTES } else { 0 };
        if stream.next_u64() < below && point.marked(now, 0) {
            rp.notified(now);
        }
    }
    sent as f64 * 8e-9 / seconds as f64
}

#[test]
fn at_a_steady_probability_the_mean_rate_is_a_fifth_above_the_fluid_model_s() {
    // Where the fluid model (Zhu et al., CoNEXT 2016) rests with 2 and 8 flows at 40 Gb/s: sim/tests/simulator/dcqcn.rs
    // solves it. It takes means of products for products of means.
    for (p, fluid) in [(0.000_847, 20.0), (0.004_96, 5.0)] {
        let ratio = mean_gbps(p, 2) / fluid;
        assert!((1.16..1.24).contains(&ratio), "{ratio} at {p}");
    }
}
