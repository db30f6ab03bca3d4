use tailback_tcp::Ecn;
use tailback_units::{Bytes, Duration, Time};

use super::{Cobalt, CobaltConfig, ONE};
use crate::pool::FramePool;
use crate::queue::Effects;
use crate::random::Stream;
use crate::testing::held;

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

fn cobalt(config: &CobaltConfig) -> Cobalt {
    Cobalt::new(config, Stream::new(1, "queue", 0))
}

fn with_ramp(sce: u32) -> CobaltConfig {
    CobaltConfig {
        sce,
        ..CobaltConfig::default()
    }
}

#[test]
fn the_ramp_rises_from_half_the_target() {
    let share = |sce: u32, us: u64| {
        let p = cobalt(&with_ramp(sce)).ramp(Duration::from_us(us));
        (p as f64 / ONE as f64 * 1000.0).round() / 1000.0
    };
    // The target is 5 ms.
    let at = |sce: u32| [2500, 3750, 5000, 7500, 10_000, 99_000].map(|us| share(sce, us));
    assert_eq!(at(1), [0.0, 0.5, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(at(4), [0.0, 0.125, 0.25, 0.625, 1.0, 1.0]);
    assert_eq!(at(1025), [0.0, 0.0, 0.0, 0.5, 1.0, 1.0]);
    assert_eq!(at(0), [0.0; 6]);
}

/// A queue that always holds `depth_us` of frames that come and go one a millisecond, for so many ms:
/// the ECN fields that leave and when, and when frames were dropped.
fn left(config: &CobaltConfig, depth_us: u64, ms: u64, ecn: Ecn) -> (Vec<(u64, Ecn)>, Vec<u64>) {
    let mut queue = cobalt(config);
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let (mut seen, mut dropped) = (Vec::new(), Vec::new());
    for step in 0..ms {
        let join = us(step * 1000);
        let held = held(&mut frames, join, 1, 1448, ecn);
        queue.enqueue(join, held, &mut effects);
        // The oldest leaves `depth_us` after it came.
        let now = us(step * 1000 + depth_us % 1000);
        if step >= depth_us / 1000
            && let Some(held) = queue.dequeue(now, &mut frames, &mut effects)
        {
            seen.push((step, frames.header(held.frame.frame).ecn));
        }
        for _ in effects.dropped_now.drain(..) {
            dropped.push(step);
        }
    }
    (seen, dropped)
}

#[test]
fn below_the_target_marks_are_sce_and_follow_the_ramp() {
    let (seen, dropped) = left(&with_ramp(1), 4_500, 20_000, Ecn::Ect0);
    let sce = seen.iter().filter(|(_, ecn)| *ecn == Ecn::Ect1).count();
    let share = sce as f64 / seen.len() as f64;
    assert!((share - 0.8).abs() < 0.01, "{share}");
    assert!(seen.iter().all(|(_, ecn)| *ecn != Ecn::Ce));
    assert!(dropped.is_empty());
}

#[test]
fn ce_comes_by_codels_law() {
    let (seen, dropped) = left(&with_ramp(0), 20_000, 600, Ecn::Ect0);
    let marked = seen.iter().filter(|(_, ecn)| *ecn == Ecn::Ce);
    let times: Vec<u64> = marked.map(|(at, _)| *at).collect();
    // The first frame to leave has waited 20 ms; the first time a signal comes with the next one, as in CAKE, whose
    // law starts from a root of nothing, and then 100/√2, 100/√3, … ms apart.
    assert_eq!(times[..5], [21, 91, 149, 199, 244], "{times:?}");
    assert!(dropped.is_empty());
}

#[test]
fn what_cannot_be_marked_is_dropped_but_for_the_last() {
    let (_, dropped) = left(&with_ramp(0), 20_000, 200, Ecn::NotEct);
    assert_eq!(dropped.first(), Some(&21));
    let mut queue = cobalt(&CobaltConfig::default());
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    for now in 0..2000 {
        let held = held(&mut frames, us(now * 100_000), 1, 1448, Ecn::NotEct);
        queue.enqueue(us(now * 100_000), held, &mut effects);
        // Alone in the queue, for longer than the target.
        let taken = queue.dequeue(us(now * 100_000 + 50_000), &mut frames, &mut effects);
        assert!(taken.is_some());
    }
    assert!(effects.dropped_now.is_empty());
}

#[test]
fn blue_rises_when_the_queue_overflows_and_falls_when_it_is_empty() {
    let config = CobaltConfig {
        memlimit: Bytes::new(3 * 1518),
        ..CobaltConfig::default()
    };
    let mut queue = cobalt(&config);
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let mut join = |queue: &mut Cobalt, at: Time, effects: &mut Effects| {
        let held = held(&mut frames, at, 1, 1448, Ecn::Ect0);
        queue.enqueue(at, held, effects);
    };
    for ms in 0..13 {
        join(&mut queue, us(ms * 1000), &mut effects);
    }
    // The fourth is one too many, and so are those after it: at 3, 9 (5 ms and more later).
    assert_eq!(effects.dropped_now.len(), 10);
    assert_eq!(queue.law.blue, 2 * ONE / 256);
    // Sixteen empty times, more than the target apart, take one step back.
    let settings = queue.settings;
    for time in 0..16 {
        queue.law.run_empty(&settings, us(20_000 + time * 6_000));
        queue.law.run_empty(&settings, us(21_000 + time * 6_000));
    }
    assert_eq!(queue.law.blue, ONE / 256);
}
