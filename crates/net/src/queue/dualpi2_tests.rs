use tailback_tcp::Ecn;
use tailback_units::{Duration, Time};

use super::{DropAt, Dualpi2, Dualpi2Config, ONE, Overload};
use crate::pool::FramePool;
use crate::queue::Effects;
use crate::random::Stream;
use crate::testing::held;

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

fn queues(config: &Dualpi2Config) -> Dualpi2 {
    Dualpi2::new(config, 1518, Stream::new(1, "queue", 0))
}

/// No changes of the probability, and no step.
fn fixed() -> Dualpi2Config {
    Dualpi2Config {
        tupdate: Duration::from_secs(1_000_000),
        step_thresh: Duration::from_secs(1_000_000),
        ..Dualpi2Config::default()
    }
}

/// Of 100 000 frames with this ECN field that find ten others and a probability: shares dropped, and
/// marked.
fn acted(config: &Dualpi2Config, probability: f64, ecn: Ecn) -> (f64, f64) {
    let mut queue = queues(config);
    queue.probability = (probability * ONE as f64) as i64;
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let count = 100_000_u32;
    for _ in 0..count {
        let held = held(&mut frames, us(0), 1, 1448, ecn);
        queue.enqueue(us(0), held, &mut frames, &mut effects);
        if queue.waiting().count() > 10 {
            let held = queue.dequeue(us(0), &mut frames, &mut effects);
            frames.release(held.expect("frames that wait").frame.frame);
        }
        for (held, cause) in effects.dropped_now.drain(..) {
            frames.release(held.frame.frame);
            effects.dropped.push((held, cause));
        }
    }
    let share = |n: u64| n as f64 / f64::from(count);
    (
        share(effects.dropped.len() as u64),
        share(effects.marked.len() as u64),
    )
}

#[test]
fn the_classic_queue_sees_the_square_and_the_other_twice_the_probability() {
    for probability in [0.05, 0.1, 0.3] {
        let near = |(seen, _): (f64, f64), expected: f64| {
            assert!((seen / expected - 1.0).abs() < 0.1, "{seen}, {expected}");
        };
        let swap = |(dropped, marked): (f64, f64)| (marked, dropped);
        let squared = probability * probability;
        near(acted(&fixed(), probability, Ecn::NotEct), squared);
        near(swap(acted(&fixed(), probability, Ecn::Ect0)), squared);
        near(
            swap(acted(&fixed(), probability, Ecn::Ect1)),
            2.0 * probability,
        );
        assert_eq!(acted(&fixed(), probability, Ecn::Ect1).0, 0.0);
    }
}

#[test]
fn beyond_certainty_both_queues_drop_or_neither() {
    // Twice 0.6 is more than 1.
    let (dropped, marked) = acted(&fixed(), 0.6, Ecn::Ect1);
    assert!((dropped - 0.36).abs() < 0.02, "{dropped}");
    assert!((marked - 0.64).abs() < 0.02, "{marked}");
    let overflow = Dualpi2Config {
        overload: Overload::Overflow,
        ..fixed()
    };
    // All but the ten that still wait.
    assert_eq!(acted(&overflow, 0.6, Ecn::Ect1), (0.0, 0.9999));
}

#[test]
fn less_than_two_frames_of_the_link_s_mtu_pass() {
    for (mtu, bytes, drops) in [
        (1500, 3035, false),
        (1500, 3036, true),
        (9000, 18_035, false),
        (9000, 18_036, true),
    ] {
        let mut queue = Dualpi2::new(&fixed(), mtu + 18, Stream::new(1, "queue", 0));
        let (mut frames, mut effects) = (FramePool::default(), Effects::default());
        queue.probability = ONE;
        queue.bytes = bytes;
        let mut held = held(&mut frames, us(0), 1, 1448, Ecn::NotEct);
        let seen = queue.drops(&mut held, false, &mut frames, &mut effects);
        assert_eq!(seen, drops, "MTU {mtu}, {bytes} B");
    }
}

#[test]
fn judging_frames_as_they_join_comes_to_the_same() {
    let early = Dualpi2Config {
        drop: DropAt::Enqueue,
        ..fixed()
    };
    let (dropped, _) = acted(&early, 0.3, Ecn::NotEct);
    assert!((dropped / 0.09 - 1.0).abs() < 0.1, "{dropped}");
}

#[test]
fn a_tenth_of_the_bytes_is_the_classic_queues_while_both_wait() {
    let mut queue = queues(&fixed());
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    for _ in 0..1000 {
        for (to, ecn) in [(1, Ecn::Ect1), (2, Ecn::NotEct)] {
            let held = held(&mut frames, us(0), to, 1448, ecn);
            queue.enqueue(us(0), held, &mut frames, &mut effects);
        }
    }
    let leaving = (0..1000).filter_map(|_| queue.dequeue(us(0), &mut frames, &mut effects));
    let order: Vec<u32> = leaving.map(|held| held.frame.to.0).collect();
    assert_eq!(order[0], 1);
    assert_eq!(order.iter().filter(|to| **to == 2).count(), 100);
}

#[test]
fn what_waited_longer_than_the_step_is_marked() {
    let config = Dualpi2Config {
        tupdate: Duration::from_secs(1_000_000),
        ..Dualpi2Config::default()
    };
    for (waits_us, ecn, marks) in [
        (1000, Ecn::Ect1, 0),
        (1001, Ecn::Ect1, 1),
        (1001, Ecn::Ect0, 0),
    ] {
        let mut queue = queues(&config);
        let (mut frames, mut effects) = (FramePool::default(), Effects::default());
        let held = held(&mut frames, us(0), 1, 1448, ecn);
        queue.enqueue(us(0), held, &mut frames, &mut effects);
        queue.dequeue(us(waits_us), &mut frames, &mut effects);
        assert_eq!(effects.marked.len(), marks, "{waits_us} us, {ecn:?}");
    }
}

#[test]
fn a_frame_that_is_marked_twice_counts_once() {
    for drop in [DropAt::Enqueue, DropAt::Dequeue] {
        let config = Dualpi2Config {
            tupdate: Duration::from_secs(1_000_000),
            drop,
            ..Dualpi2Config::default()
        };
        let mut queue = queues(&config);
        queue.probability = ONE / 2;
        let (mut frames, mut effects) = (FramePool::default(), Effects::default());
        for _ in 0..10 {
            let held = held(&mut frames, us(0), 1, 1448, Ecn::Ect1);
            queue.enqueue(us(0), held, &mut frames, &mut effects);
        }
        // By the controller where two frames are there, and by the step beyond a millisecond.
        for _ in 0..10 {
            queue.dequeue(us(2000), &mut frames, &mut effects);
        }
        assert_eq!(effects.marked.len(), 10, "{drop:?}");
    }
}

#[test]
fn the_controller_moves_by_the_older_head() {
    let mut queue = queues(&Dualpi2Config::default());
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    for (at, ecn) in [(0, Ecn::NotEct), (5_000, Ecn::Ect1)] {
        let held = held(&mut frames, us(at), 1, 1448, ecn);
        queue.enqueue(us(at), held, &mut frames, &mut effects);
    }
    queue.update_until(us(32_000));
    // Delays of 16 and 32 ms: 44 parts for 64 ns of 1 and 17 ms, 879 of 16 ms twice.
    assert_eq!(queue.probability, (44 * 18_000 + 879 * 32_000) * 1000 / 64);
    // Without a queue: 44 of -15 ms each time.
    queue.probability = ONE / 2;
    while queue
        .dequeue(us(32_000), &mut frames, &mut effects)
        .is_some()
    {}
    queue.update_until(us(48_000));
    let before = queue.probability;
    queue.update_until(us(64_000));
    assert_eq!(before - queue.probability, 44 * 15_000_000 / 64);
}

#[test]
fn the_greatest_gains_stay_within_certainty() {
    let config = Dualpi2Config {
        alpha: 8_388_607.0,
        beta: 8_388_607.0,
        ..Dualpi2Config::default()
    };
    let mut queue = queues(&config);
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let held = held(&mut frames, us(0), 1, 1448, Ecn::NotEct);
    queue.enqueue(us(0), held, &mut frames, &mut effects);
    queue.update_until(us(3_600_000_000));
    assert_eq!(queue.probability, ONE);
    queue.dequeue(us(3_600_000_000), &mut frames, &mut effects);
    queue.update_until(us(3_600_016_000));
    assert_eq!(queue.probability, 0);
}

#[test]
fn a_steady_overload_settles_at_the_target() {
    let mut queue = queues(&Dualpi2Config::default());
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let (mut came, mut waited, mut left) = (0_u64, 0.0, 0_u64);
    for now in 0..40_000_000_u64 {
        let counts = now >= 20_000_000;
        // 1.04 times what leaves.
        if now % 960 == 0 {
            let held = held(&mut frames, us(now), 1, 1448, Ecn::NotEct);
            queue.enqueue(us(now), held, &mut frames, &mut effects);
            came += u64::from(counts);
        }
        if now % 1000 == 0
            && let Some(held) = queue.dequeue(us(now), &mut frames, &mut effects)
            && counts
        {
            left += 1;
            waited += us(now).since(held.since).as_ms_f64();
        }
        if !counts {
            effects = Effects::default();
        }
    }
    let dropped = effects.dropped_now.len() as f64 / came as f64;
    assert!((dropped - 0.04).abs() < 0.005, "{dropped}");
    let delay = waited / left as f64;
    assert!((delay / 15.0 - 1.0).abs() < 0.1, "{delay} ms");
}
