use tailback_tcp::Ecn;
use tailback_units::{Duration, Time};

use super::{Codel, CodelConfig};
use crate::marking::Mark;
use crate::pool::FramePool;
use crate::queue::Effects;
use crate::testing::held;

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// A queue that frames join and leave one a millisecond each, with `depth` ms of frames in it, for
/// so many ms: when frames were dropped or marked.
fn acted(config: &CodelConfig, depth: u64, ms: u64, ecn: Ecn) -> (Vec<u64>, Vec<u64>) {
    acted_at(config, 1518, depth, ms, ecn)
}

/// The same where the longest frame has so many bytes.
fn acted_at(
    config: &CodelConfig,
    frame_bytes_max: u32,
    depth: u64,
    ms: u64,
    ecn: Ecn,
) -> (Vec<u64>, Vec<u64>) {
    let mut queue = Codel::new(config, frame_bytes_max);
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let (mut dropped, mut marked) = (Vec::new(), Vec::new());
    let join = |queue: &mut Codel, now: Time, frames: &mut FramePool, effects: &mut Effects| {
        queue.enqueue(held(frames, now, 1, 1448, ecn), effects);
    };
    for now in 0..ms {
        join(&mut queue, at(now), &mut frames, &mut effects);
        if now >= depth {
            // As many join as have left, so that the delay stays.
            queue.dequeue(at(now), &mut frames, &mut effects);
            for _ in effects.dropped_now.drain(..) {
                dropped.push(now);
            }
            if !std::mem::take(&mut effects.marked).is_empty() {
                marked.push(now);
            }
        }
    }
    (dropped, marked)
}

#[test]
fn a_queue_below_the_target_is_left_alone() {
    let config = CodelConfig::default();
    assert_eq!(acted(&config, 4, 2000, Ecn::NotEct), (vec![], vec![]));
}

#[test]
fn a_standing_queue_is_dropped_from_after_an_interval_and_ever_faster() {
    let config = CodelConfig {
        ecn: true,
        ..CodelConfig::default()
    };
    // Marks leave the delay as it is: their times show the law alone.
    let (dropped, marked) = acted(&config, 20, 500, Ecn::Ect0);
    assert!(dropped.is_empty());
    // The first frame that waited 20 ms leaves at 20 ms, the first signal comes 100 ms later, and then
    // 100/1, 100 × 0.5, 0.5625, 0.4879, 0.4501 ms apart: Linux's roots of 2, 3, 4 and 5 by one step of
    // Newton's each (held against sch_codel: docs/models/queue-disciplines.md).
    assert_eq!(marked[..5], [120, 220, 270, 327, 376], "{marked:?}");
}

#[test]
fn frames_that_cannot_be_marked_are_dropped() {
    let config = CodelConfig {
        ecn: true,
        ..CodelConfig::default()
    };
    let (dropped, marked) = acted(&config, 20, 500, Ecn::NotEct);
    assert!(marked.is_empty());
    assert_eq!(dropped.first(), Some(&120));
    assert!(dropped.len() > 3);
}

#[test]
fn what_bears_a_mark_already_is_neither_dropped_nor_counted() {
    let config = CodelConfig {
        ecn: true,
        mark: Mark::Sce,
        ..CodelConfig::default()
    };
    let (dropped, marked) = acted(&config, 20, 500, Ecn::Ect0);
    assert!(dropped.is_empty());
    assert_eq!(marked[..5], [120, 220, 270, 327, 376], "{marked:?}");
    for ecn in [Ecn::Ect1, Ecn::Ce] {
        assert_eq!(acted(&config, 20, 500, ecn), (vec![], vec![]), "{ecn:?}");
    }
    let (dropped, _) = acted(&config, 20, 500, Ecn::NotEct);
    assert_eq!(dropped.first(), Some(&120));
}

#[test]
fn what_has_waited_longer_than_ce_threshold_is_marked_as_it_leaves() {
    let config = |ms| CodelConfig {
        ce_threshold: Some(Duration::from_ms(ms)),
        ..CodelConfig::default()
    };
    // All that leave have waited 4 ms, which the law lets be.
    let all: Vec<u64> = (4..100).collect();
    assert_eq!(acted(&config(3), 4, 100, Ecn::Ect0), (vec![], all));
    assert_eq!(acted(&config(4), 4, 100, Ecn::Ect0), (vec![], vec![]));
    assert_eq!(acted(&config(3), 4, 100, Ecn::NotEct), (vec![], vec![]));
    // Where the law acts too, nothing is counted twice, and SCE becomes CE.
    let both = CodelConfig {
        ecn: true,
        mark: Mark::Sce,
        ..config(3)
    };
    let all: Vec<u64> = (20..500).collect();
    assert_eq!(acted(&both, 20, 500, Ecn::Ect0), (vec![], all));
}

#[test]
fn one_frame_of_the_link_s_mtu_is_no_queue() {
    let config = CodelConfig {
        target: Duration::from_us(500),
        ..CodelConfig::default()
    };
    // Frames of 1518 bytes: as many as are left when one leaves.
    for (mtu, left, acts) in [
        (1500, 1, false),
        (1499, 1, true),
        (9000, 5, false),
        (9000, 6, true),
    ] {
        let (dropped, _) = acted_at(&config, mtu + 18, left, 500, Ecn::NotEct);
        assert_eq!(!dropped.is_empty(), acts, "MTU {mtu}, {left} left");
    }
}

#[test]
fn a_full_queue_takes_no_more() {
    let config = CodelConfig {
        limit: 2,
        ..CodelConfig::default()
    };
    let (dropped, _) = acted(&config, 4, 6, Ecn::NotEct);
    // They join at 0 and 1; those of 2, 3 and 4 find it full; one has left when that of 5 comes.
    assert_eq!(dropped.len(), 3, "{dropped:?}");
}

#[test]
fn no_more_than_256_frames_are_dropped_as_one_leaves() {
    let config = CodelConfig {
        limit: 100_000,
        target: Duration::from_us(1),
        interval: Duration::from_us(10),
        ..CodelConfig::default()
    };
    let mut queue = Codel::new(&config, 1518);
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    for _ in 0..2000 {
        queue.enqueue(held(&mut frames, at(0), 1, 1448, Ecn::NotEct), &mut effects);
    }
    let dropped: Vec<usize> = [1, 2, 3, 100]
        .map(|ms| {
            queue.dequeue(at(ms), &mut frames, &mut effects);
            effects.dropped_now.drain(..).count()
        })
        .into();
    assert_eq!(dropped, [0, 1, 256, 256]);
}
