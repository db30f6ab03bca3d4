use tailback_units::{Bytes, Duration, Rate, Time};

use super::delay_steps::{DelayStep, DelaySteps};
use super::faults::ReorderConfig;
use super::gilbert_elliott::GilbertElliottConfig;
use super::outage::Outage;
use super::script::{Counted, Direction, FrameAction, FrameRule};
use super::{Fate, Impairment, ImpairmentConfig};
use crate::random::Stream;
use crate::token_bucket::TokenBucketConfig;

fn impaired(config: &ImpairmentConfig, direction: Direction) -> Option<Impairment> {
    Impairment::new(config, direction, Stream::new(1, "impairment", 0))
}

fn rule(of: Counted, frames: &[u64], action: FrameAction) -> FrameRule {
    FrameRule {
        direction: Direction::Forward,
        of,
        frames: frames.to_vec(),
        action,
        by: Duration::from_us(300),
    }
}

fn scripted(script: Vec<FrameRule>) -> ImpairmentConfig {
    ImpairmentConfig {
        script,
        ..ImpairmentConfig::default()
    }
}

#[test]
fn every_nth_data_frame_is_lost_and_no_ack() {
    let config = ImpairmentConfig {
        periodic_loss_frames: Some(4),
        ..ImpairmentConfig::default()
    };
    let mut link = impaired(&config, Direction::Backward).unwrap();
    let lost: Vec<usize> = (1..=12)
        .filter(|_| {
            assert_eq!(link.fate(Time::ZERO, 64, false), Fate::Pass);
            link.fate(Time::ZERO, 1518, true) == Fate::Lost
        })
        .collect();
    assert_eq!(lost, [4, 8, 12]);
}

#[test]
fn a_script_counts_what_it_says_and_in_its_direction_only() {
    let by = Duration::from_us(300);
    let config = scripted(vec![
        rule(Counted::Data, &[3, 2], FrameAction::Drop),
        rule(Counted::Acks, &[1], FrameAction::Mark),
        rule(Counted::All, &[5], FrameAction::Delay),
    ]);
    assert!(impaired(&config, Direction::Backward).is_none());
    let mut link = impaired(&config, Direction::Forward).unwrap();
    let fates = [true, false, true, true, true, true].map(|data| link.fate(Time::ZERO, 1518, data));
    let expected = [
        Fate::Pass,
        Fate::Marked,
        Fate::Lost,
        Fate::Lost,
        Fate::Late(by),
        Fate::Pass,
    ];
    assert_eq!(fates, expected);
}

#[test]
fn bursts_have_their_length_and_loss_its_share() {
    let (p, r) = (0.01, 0.25);
    let config = ImpairmentConfig {
        gilbert_elliott: Some(GilbertElliottConfig {
            p,
            r,
            loss_bad: 1.0,
            loss_good: 0.0,
        }),
        ..ImpairmentConfig::default()
    };
    let mut link = impaired(&config, Direction::Forward).unwrap();
    let lost: Vec<bool> = (0..200_000)
        .map(|_| link.fate(Time::ZERO, 1518, true) == Fate::Lost)
        .collect();
    let losses = lost.iter().filter(|l| **l).count() as f64;
    let bursts = lost.windows(2).filter(|w| !w[0] && w[1]).count() as f64;
    let share = losses / lost.len() as f64;
    assert!((share - p / (p + r)).abs() < 0.003, "lost {share}");
    assert!(
        (losses / bursts - 1.0 / r).abs() < 0.3,
        "burst {}",
        losses / bursts
    );
}

#[test]
fn nothing_set_is_no_impairment() {
    assert!(impaired(&ImpairmentConfig::default(), Direction::Forward).is_none());
}

#[test]
fn bit_errors_lose_long_frames_more_often() {
    let config = ImpairmentConfig {
        bit_error_rate: 1e-6,
        ..ImpairmentConfig::default()
    };
    let lost = |bytes| {
        let mut link = impaired(&config, Direction::Forward).unwrap();
        let fates = (0..200_000).filter(|_| link.fate(Time::ZERO, bytes, true) == Fate::Lost);
        fates.count() as f64 / 200_000.0
    };
    // 1 - (1 - 1e-6)^bits.
    assert!((lost(1518) - 0.012_07).abs() < 0.001, "{}", lost(1518));
    assert!((lost(9018) - 0.069_6).abs() < 0.002, "{}", lost(9018));
}

#[test]
fn doubles_and_late_frames_come_at_their_rates() {
    let config = ImpairmentConfig {
        duplicate: 0.01,
        reorder: Some(ReorderConfig {
            probability: 0.02,
            delay: Duration::from_us(300),
        }),
        ..ImpairmentConfig::default()
    };
    let mut link = impaired(&config, Direction::Forward).unwrap();
    let fates: Vec<Fate> = (0..100_000)
        .map(|_| link.fate(Time::ZERO, 1518, true))
        .collect();
    let count = |fate| fates.iter().filter(|f| **f == fate).count();
    assert!((900..1100).contains(&count(Fate::Doubled)));
    let late = Fate::Late(Duration::from_us(300));
    assert!((1850..2150).contains(&count(late)), "{}", count(late));
}

#[test]
fn what_is_said_of_one_direction_holds_there_only() {
    let config = ImpairmentConfig {
        direction: Some(Direction::Backward),
        bit_error_rate: 1e-4,
        ..ImpairmentConfig::default()
    };
    assert!(impaired(&config, Direction::Forward).is_none());
    assert!(impaired(&config, Direction::Backward).is_some());
}

#[test]
fn a_routers_jitter_keeps_the_order() {
    let config = ImpairmentConfig {
        jitter: Some(Duration::from_us(50)),
        ..ImpairmentConfig::default()
    };
    let mut link = impaired(&config, Direction::Forward).unwrap();
    let at = |us| Time::ZERO + Duration::from_us(us);
    let line = Duration::from_ns(1000);
    let handed_on: Vec<Time> = (0..1000)
        .map(|us| at(us) + link.hold(at(us), line))
        .collect();
    assert!(handed_on.is_sorted());
    let held = (0..1000).map(|us| handed_on[us as usize].since(at(us)));
    assert!(held.clone().all(|held| held <= Duration::from_us(50 + 50)));
    assert!(held.max() > Some(Duration::from_us(40)));
}

#[test]
fn batches_make_chains_of_what_was_evenly_spaced() {
    let config = ImpairmentConfig {
        batch: Some(Duration::from_us(100)),
        ..ImpairmentConfig::default()
    };
    let mut link = impaired(&config, Direction::Forward).unwrap();
    let at = |us| Time::ZERO + Duration::from_us(us);
    let arrivals = (1..=300).map(|n| at(n * 10));
    let line = Duration::from_ns(1231);
    let leaving: Vec<Time> = arrivals.map(|a| a + link.hold(a, line)).collect();
    // Ten of them, one after another at the line's rate.
    let chains = (1..=30).flat_map(|n| (0..10).map(move |place| at(n * 100) + line * place));
    assert_eq!(leaving, chains.collect::<Vec<_>>());
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

#[test]
fn a_link_that_is_down_loses_all_that_would_arrive() {
    let outage = |from, until, every: Option<u64>| Outage {
        from: Duration::from_ms(from),
        until: Duration::from_ms(until),
        every: every.map(Duration::from_ms),
    };
    let config = ImpairmentConfig {
        outages: vec![outage(10, 12, None), outage(30, 31, Some(20))],
        direction: Some(Direction::Forward),
        ..ImpairmentConfig::default()
    };
    assert!(impaired(&config, Direction::Backward).is_none());
    let mut link = impaired(&config, Direction::Forward).unwrap();
    let lost: Vec<u64> = (0..80)
        .filter(|at| link.fate(ms(*at), 64, at % 2 == 0) == Fate::Lost)
        .collect();
    assert_eq!(lost, [10, 11, 30, 50, 70]);
}

#[test]
fn an_outage_says_when_it_begins_and_ends() {
    let of = |every: Option<u64>| Outage {
        from: Duration::from_ms(10),
        until: Duration::from_ms(12),
        every: every.map(Duration::from_ms),
    };
    let changes = |outage: Outage| {
        let mut at = Time::ZERO;
        let mut all = Vec::new();
        while all.len() < 5 && at < Time::NEVER {
            let before = outage.holds(at);
            at = outage.changes_after(at);
            assert_eq!(outage.holds(at), !before && at < Time::NEVER);
            all.push(at);
        }
        all
    };
    assert_eq!(changes(of(None)), [ms(10), ms(12), Time::NEVER]);
    assert_eq!(
        changes(of(Some(20))),
        [ms(10), ms(12), ms(30), ms(32), ms(50)]
    );
    // From anywhere, not only from one change to the next.
    assert_eq!(of(Some(20)).changes_after(ms(31)), ms(32));
    assert_eq!(of(Some(20)).changes_after(ms(45)), ms(50));
}

#[test]
fn a_delay_changes_with_time_and_nobody_overtakes() {
    let step = |from, by| DelayStep {
        from: Duration::from_ms(from),
        by: Duration::from_ms(by),
    };
    let config = ImpairmentConfig {
        delay_steps: Some(DelaySteps {
            steps: vec![step(10, 5), step(20, 1)],
            period: Some(Duration::from_ms(30)),
        }),
        ..ImpairmentConfig::default()
    };
    assert_eq!(config.delay_max(), Duration::from_ms(5));
    let mut link = impaired(&config, Direction::Forward).unwrap();
    let line = Duration::from_us(10);
    let mut held = |at| link.hold(at, line);
    assert_eq!(held(ms(9)), Duration::ZERO);
    assert_eq!(held(ms(10)), Duration::from_ms(5));
    assert_eq!(held(ms(19)), Duration::from_ms(5));
    // The one before is handed on at 24 ms.
    assert_eq!(held(ms(20)), Duration::from_us(4010));
    assert_eq!(held(ms(29)), Duration::from_ms(1));
    assert_eq!(held(ms(31)), Duration::ZERO);
    assert_eq!(held(ms(40)), Duration::from_ms(5));
}

#[test]
fn a_policer_drops_what_is_too_fast_and_what_was_lost_takes_no_tokens() {
    let config = ImpairmentConfig {
        policer: Some(TokenBucketConfig {
            rate: Rate::from_bps(100_000_000),
            burst: Bytes::new(3000),
            overhead_bytes: 0,
        }),
        direction: Some(Direction::Forward),
        ..scripted(vec![rule(Counted::All, &[2], FrameAction::Drop)])
    };
    let mut link = impaired(&config, Direction::Forward).unwrap();
    let mut at = |us| link.fate(Time::ZERO + Duration::from_us(us), 1500, true);
    assert_eq!(
        [1, 1, 1, 1].map(&mut at),
        [Fate::Pass, Fate::Lost, Fate::Pass, Fate::Policed]
    );
    assert_eq!([121, 121].map(&mut at), [Fate::Pass, Fate::Policed]);
    assert!(impaired(&config, Direction::Backward).is_none());
}
