use tailback_tcp::Seq;
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
fn a_run_of_copies_lies_in_free_places() {
    let mut pool = FramePool::default();
    let free = pool.put(Time::ZERO, &frame(100)).frame;
    pool.release(free);
    let mut number = 0;
    let places: Vec<_> = pool
        .write_run(&frame(1448), 3, |frame| {
            frame.segment.seq = Seq(number);
            number += 1;
        })
        .collect();
    assert_eq!(places[0], free);
    let seen = places.iter().map(|id| pool.get(*id).segment);
    assert!(seen.clone().all(|segment| segment.payload_bytes == 1448));
    assert!(seen.map(|segment| segment.seq.0).eq(0..3));
    assert_eq!(pool.len(), 3);
}

#[test]
fn a_flight_is_small() {
    assert_eq!(size_of::<Flight>(), 24);
}
