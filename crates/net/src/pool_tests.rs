use tailback_units::Time;

use super::{Flight, FramePool};
use crate::testing::frame;

#[test]
fn a_place_that_falls_free_is_used_next() {
    let mut pool = FramePool::default();
    let flights = [100, 200, 300].map(|bytes| pool.put(Time::ZERO, &frame(bytes)));
    assert_eq!(pool.get(flights[1].frame).segment.payload_bytes, 200);
    assert_eq!(flights[1].payload_bytes, 200);
    pool.release(flights[1].frame);
    assert_eq!(pool.len(), 2);
    let reused = pool.put(Time::ZERO, &frame(400));
    assert_eq!(reused.frame, flights[1].frame);
    assert_eq!(pool.get(reused.frame).segment.payload_bytes, 400);
    assert_eq!(pool.get(flights[2].frame).segment.payload_bytes, 300);
    assert_eq!(pool.len(), 3);
    assert!(!pool.is_empty());
}

#[test]
fn a_flight_is_small() {
    assert_eq!(size_of::<Flight>(), 24);
}
