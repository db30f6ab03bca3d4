use tailback_units::Duration;

use super::gilbert_elliott::GilbertElliottConfig;
use super::script::{Counted, Direction, FrameAction, FrameRule};
use super::{Fate, Impairment, ImpairmentConfig};
use crate::random::Stream;

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
            assert_eq!(link.fate(false), Fate::Pass);
            link.fate(true) == Fate::Lost
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
    let fates = [true, false, true, true, true, true].map(|data| link.fate(data));
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
        .map(|_| link.fate(true) == Fate::Lost)
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
