use tailback_tcp::Ecn;
use tailback_units::{Bytes, Duration, Time};

use super::{FqCodel, FqCodelConfig};
use crate::pool::FramePool;
use crate::queue::{Effects, Held};
use crate::switch::DropCause;
use crate::testing::held;

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Puts `count` frames with so much payload for endpoint `to` in at `now`.
fn join(
    queue: &mut FqCodel,
    frames: &mut FramePool,
    now: Time,
    (to, payload): (u32, u16),
    count: u32,
) -> Effects {
    let mut effects = Effects::default();
    for _ in 0..count {
        let held = held(frames, now, to, payload, Ecn::NotEct);
        queue.enqueue(held, &mut effects);
    }
    effects
}

#[test]
fn flows_get_like_bytes_whatever_their_frames() {
    let mut queue = FqCodel::new(&FqCodelConfig::default(), 1518);
    let mut frames = FramePool::default();
    join(&mut queue, &mut frames, ms(0), (1, 1448), 200);
    join(&mut queue, &mut frames, ms(0), (2, 448), 600);
    let (mut first, mut second) = (0_u32, 0_u32);
    for _ in 0..300 {
        let held = queue.dequeue(ms(1), &mut frames, &mut Effects::default());
        let held = held.expect("frames that wait");
        match held.frame.to.0 {
            1 => first += u32::from(held.frame.frame_bytes),
            _ => second += u32::from(held.frame.frame_bytes),
        }
    }
    assert!(first.abs_diff(second) <= 2 * 1518, "{first} and {second}");
}

#[test]
fn a_flow_that_was_idle_goes_ahead_of_those_that_are_not() {
    let mut queue = FqCodel::new(&FqCodelConfig::default(), 1518);
    let mut frames = FramePool::default();
    join(&mut queue, &mut frames, ms(0), (1, 1448), 50);
    let leave = |queue: &mut FqCodel, frames: &mut FramePool| {
        let held = queue.dequeue(ms(1), frames, &mut Effects::default());
        held.expect("frames that wait").frame.to.0
    };
    for _ in 0..10 {
        assert_eq!(leave(&mut queue, &mut frames), 1);
    }
    join(&mut queue, &mut frames, ms(1), (2, 44), 1);
    let order: Vec<u32> = (0..3).map(|_| leave(&mut queue, &mut frames)).collect();
    // The old flow may use up what is left of its turn.
    assert!(order[..2].contains(&2), "{order:?}");
}

#[test]
fn only_the_queue_that_stands_is_dropped_from() {
    let config = FqCodelConfig {
        ecn: false,
        ..FqCodelConfig::default()
    };
    let mut queue = FqCodel::new(&config, 1518);
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    join(&mut queue, &mut frames, ms(0), (1, 1448), 40);
    // One frame a millisecond of each leaves; the first flow's have waited for 40 ms, the second's not.
    for now in 1..400 {
        join(&mut queue, &mut frames, ms(now), (1, 1448), 1);
        join(&mut queue, &mut frames, ms(now), (2, 1448), 1);
        for _ in 0..2 {
            queue.dequeue(ms(now), &mut frames, &mut effects);
        }
    }
    assert!(!effects.dropped_now.is_empty());
    assert!(
        effects
            .dropped_now
            .iter()
            .all(|(held, _)| held.frame.to.0 == 1)
    );
}

#[test]
fn beyond_the_limit_the_longest_queue_loses_half() {
    let config = FqCodelConfig {
        limit: 40,
        ..FqCodelConfig::default()
    };
    let mut queue = FqCodel::new(&config, 1518);
    let mut frames = FramePool::default();
    join(&mut queue, &mut frames, ms(0), (1, 1448), 30);
    let effects = join(&mut queue, &mut frames, ms(0), (2, 1448), 11);
    let lost = effects.dropped_now.iter().map(|(held, _)| held.frame.to.0);
    let lost: Vec<u32> = lost.collect();
    assert_eq!(lost, [1; 15]);
    let of_limit = |(_, cause): &(Held, DropCause)| *cause == DropCause::QueueLimit;
    assert!(effects.dropped_now.iter().all(of_limit));
    assert_eq!(queue.waiting().count(), 26);
    let few = FqCodelConfig {
        drop_batch: 4,
        ..config
    };
    let mut queue = FqCodel::new(&few, 1518);
    let effects = join(&mut queue, &mut frames, ms(0), (1, 1448), 41);
    assert_eq!(effects.dropped_now.len(), 4);
}

#[test]
fn a_turn_is_a_quantum() {
    let config = FqCodelConfig {
        quantum: Some(Bytes::new(3 * 1518)),
        ..FqCodelConfig::default()
    };
    let mut queue = FqCodel::new(&config, 1518);
    let mut frames = FramePool::default();
    // MTU 1500: frames of 1518 bytes.
    join(&mut queue, &mut frames, ms(0), (1, 1448), 20);
    join(&mut queue, &mut frames, ms(0), (2, 1448), 20);
    let order: Vec<u32> = (0..9)
        .filter_map(|_| queue.dequeue(ms(1), &mut frames, &mut Effects::default()))
        .map(|held| held.frame.to.0)
        .collect();
    assert_eq!(order, [1, 1, 1, 2, 2, 2, 1, 1, 1]);
}

#[test]
fn a_turn_is_a_frame_of_the_link_if_nothing_is_said() {
    // With MTU 9000 as many bytes of small frames leave together as a long one has.
    let mut queue = FqCodel::new(&FqCodelConfig::default(), 9018);
    let mut frames = FramePool::default();
    join(&mut queue, &mut frames, ms(0), (1, 1448), 12);
    join(&mut queue, &mut frames, ms(0), (2, 8948), 2);
    let mut order = Vec::new();
    for _ in 0..8 {
        let held = queue.dequeue(ms(0), &mut frames, &mut Effects::default());
        order.push(held.expect("frames that wait").frame.to.0);
    }
    assert_eq!(order, [1, 1, 1, 1, 1, 1, 2, 1]);
}

#[test]
fn ce_threshold_may_be_for_some_code_points_alone() {
    // Which of Not-ECT, ECT(0), ECT(1) and CE are marked that waited 2 ms.
    for (mask, selector, marked) in [
        (0, 0, [false, true, true, true]),
        (3, 1, [false, false, true, false]),
        (3, 2, [false, true, false, false]),
        (1, 1, [false, false, true, true]),
        (0xe0, 0xa0, [false; 4]),
    ] {
        let config = FqCodelConfig {
            ce_threshold: Some(Duration::from_ms(1)),
            ce_threshold_mask: mask,
            ce_threshold_selector: selector,
            ..FqCodelConfig::default()
        };
        let leaves_marked = |ecn| {
            let mut queue = FqCodel::new(&config, 1518);
            let (mut frames, mut effects) = (FramePool::default(), Effects::default());
            queue.enqueue(held(&mut frames, ms(0), 1, 1448, ecn), &mut effects);
            queue.dequeue(ms(2), &mut frames, &mut effects);
            !effects.marked.is_empty()
        };
        let points = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
        assert_eq!(points.map(leaves_marked), marked, "{selector} of {mask}");
    }
}
