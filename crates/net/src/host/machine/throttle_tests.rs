use super::*;
use crate::pool::FramePool;
use crate::testing::frame;

/// The gap after polls of so many full frames each, us.
fn gap_us(mode: Adaptive, polls: &[u32], payload_bytes: u16) -> u64 {
    let mut throttle = Throttle::new(Duration::ZERO, Some(mode));
    let mut pool = FramePool::default();
    for frames in polls {
        throttle.interrupted(Time::ZERO + Duration::from_ms(1));
        for _ in 0..*frames {
            throttle.count(&pool.put(Time::ZERO, &frame(payload_bytes)));
        }
        throttle.adapt();
    }
    throttle
        .until()
        .since(Time::ZERO + Duration::from_ms(1))
        .as_us()
}

#[test]
fn bulk_is_slowed_to_4000_a_second_and_pings_are_not() {
    assert_eq!(gap_us(Adaptive::Dynamic, &[2, 20], 1448), 250);
    // Lone small frames: the lowest latency, from 20 000 up in steps.
    assert_eq!(gap_us(Adaptive::Dynamic, &[1; 20], 1), 1_000_000 / 70_000);
    assert_eq!(gap_us(Adaptive::DynamicConservative, &[1; 20], 1), 50);
}

#[test]
fn a_flood_of_full_frames_gets_interrupts_back_in_steps() {
    let mode = Adaptive::Dynamic;
    assert_eq!(gap_us(mode, &[2, 20], 1448), 250);
    // More than 35 frames: low latency, from 4000 by a quarter of 20 000.
    assert_eq!(gap_us(mode, &[2, 20, 40], 1448), 1_000_000 / 9000);
}

#[test]
fn a_fixed_gap_stays() {
    let mut throttle = Throttle::new(Duration::from_us(125), None);
    assert_eq!(throttle.until(), Time::ZERO);
    throttle.interrupted(Time::ZERO + Duration::from_us(10));
    throttle.adapt();
    assert_eq!(throttle.until(), Time::ZERO + Duration::from_us(135));
}
