use std::collections::VecDeque;

use tailback_units::{Duration, Rate};

use super::{ORDER_NS, Passage, Recording, Replayed, replay};
use crate::queue::QueueConfig;
use crate::queue::cake::CakeConfig;
use crate::queue::dualpi2::Dualpi2Config;
use crate::random::Stream;

/// ECN fields.
const NONE: u8 = 0;
const ECT1: u8 = 1;
const ECT0: u8 = 2;
const CE: u8 = 3;
/// From one frame to the next, as they come and as the bucket lets them go.
const COMES_NS: u64 = 110_000;
const LEAVES_NS: u64 = 121_000;

/// The only change of the probability is at 100 ms: to 0.045, for a delay of 9 ms.
fn replayed(frames: Vec<Passage>) -> Replayed {
    let queue = Dualpi2Config {
        tupdate: Duration::from_ms(100),
        alpha: 0.0,
        beta: 5.0,
        coupling_factor: 8,
        classic_protection: 0,
        step_thresh: Duration::from_secs(1),
        ..Dualpi2Config::default()
    };
    replay(&Recording {
        queue: QueueConfig::Dualpi2(queue),
        marking: None,
        frame_bytes_max: 1514,
        slack_ns: 3000,
        phase_ns: 0,
        draws: 10_000,
        takes_early: true,
        own_pace: false,
        frames,
    })
}

/// 1000 frames of the C queue, and those of the L queue: each leaves as soon as the bucket lets it.
fn passages(is_lost: impl Fn(usize) -> bool, low: &[(u64, u8)]) -> Vec<Passage> {
    let mut low: VecDeque<(u64, u8)> = low.iter().copied().collect();
    let mut frames = Vec::new();
    let mut look = 0;
    let leave = |look: &mut u64, came: u64| {
        let left = (*look).max(came);
        *look = left + LEAVES_NS;
        left
    };
    for number in 0..1000 {
        // Some microseconds from any leaving.
        let came = (number as u64 * COMES_NS).saturating_sub(50_000);
        let ecn = if number % 5 == 4 { ECT0 } else { NONE };
        if is_lost(number) {
            frames.push((came, 0, 1514, ecn, None));
            continue;
        }
        // What the bucket takes out as the frame before this one leaves.
        while let Some((at, ecn)) = low.front().copied()
            && at + ORDER_NS + LEAVES_NS < look
        {
            low.pop_front();
            frames.push((at, 1, 1514, ECT1, Some((leave(&mut look, at), ecn))));
        }
        frames.push((came, 0, 1514, ecn, Some((leave(&mut look, came), ecn))));
    }
    frames.sort_by_key(|frame| frame.0);
    frames
}

#[test]
fn drops_that_hardly_ever_come_together_are_found_one_by_one() {
    // 0.002 to the fourth.
    let found = replayed(passages(|number| (900..904).contains(&number), &[]));
    assert_eq!((found.alike, found.difference), (1000, None));
    let sum = |of: fn(&(f64, f64, f64)) -> f64| found.acted.iter().map(of).sum::<f64>();
    assert_eq!(sum(|part| part.0), 4.0);
    // Of 180 frames, though the next to leave bears another ECN field than those that are dropped.
    let would = sum(|part| part.1);
    assert!(would < 2.0, "{would}");
}

#[test]
fn a_decision_that_does_not_stand_is_not_expected() {
    // A frame of the L queue comes just before the bucket takes the next frame, by its stamp; in truth just after.
    let mut stream = Stream::new(1, "marks", 0);
    let mut low = Vec::new();
    for look in (840..1000).step_by(2) {
        let is_marked = stream.below(1000) < 359;
        low.push((look * LEAVES_NS - 300, if is_marked { CE } else { ECT1 }));
    }
    let found = replayed(passages(|_| false, &low));
    assert_eq!((found.alike, found.difference), (1000 + low.len(), None));
    assert!(
        found.off_by_slack as usize >= low.len(),
        "{}",
        found.off_by_slack
    );
    let sum = |of: fn(&(f64, f64, f64)) -> f64| found.acted.iter().map(of).sum::<f64>();
    let (did, would, variance) = (sum(|part| part.0), sum(|part| part.1), sum(|part| part.2));
    assert_eq!(did, found.marked as f64);
    assert!(
        (did - would).abs() < 3.0 * variance.sqrt(),
        "{did} for {would}"
    );
}

#[test]
fn when_a_shaper_lets_go_is_held_against_the_kernels() {
    // Frames as Linux counts them, 121.12 us each.
    let cake = CakeConfig {
        bandwidth: Some(Rate::from_bps(100_000_000)),
        overhead: Some(18),
        ..CakeConfig::default()
    };
    let replayed = |last_left_ns: u64| {
        let frame = |came, left| (came, 0, 1514, NONE, Some((left, NONE)));
        replay(&Recording {
            queue: QueueConfig::Cake(cake.clone()),
            marking: None,
            frame_bytes_max: 1518,
            slack_ns: 3000,
            phase_ns: 0,
            draws: 1,
            takes_early: false,
            own_pace: true,
            frames: vec![
                frame(0, 0),
                frame(10, 122_000),
                // After a pause.
                frame(900_000, 900_000),
                frame(910_000, last_left_ns),
            ],
        })
    };
    let due = 900_000 + 121_120;
    for left in [due - 2900, due, due + 2900] {
        assert_eq!(replayed(left).difference, None, "{left}");
    }
    for left in [due - 3100, due + 3100] {
        let told = replayed(left).difference.unwrap_or_default();
        let wanted = format!("at {left} ns frame 3 leaves, which the model lets go at {due} ns");
        assert_eq!(told, wanted);
    }
}
