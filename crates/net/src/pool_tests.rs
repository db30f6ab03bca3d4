use tailback_tcp::{Flags, SackBlock, Seq, SynOptions};
use tailback_units::Time;

use super::{Flight, FramePool};
use crate::frame::PayloadHandle;
use crate::testing::frame;

#[test]
fn a_place_that_falls_free_is_used_next() {
    let mut pool = FramePool::default();
    let flights = [100, 200, 300].map(|bytes| pool.put(Time::ZERO, &frame(bytes)));
    assert_eq!(pool.header(flights[1].frame).payload_bytes, 200);
    assert_eq!(flights[1].payload_bytes, 200);
    pool.release(flights[1].frame);
    assert_eq!(pool.len(), 2);
    let reused = pool.put(Time::ZERO, &frame(400));
    assert_eq!(reused.frame, flights[1].frame);
    assert_eq!(pool.header(reused.frame).payload_bytes, 400);
    assert_eq!(pool.header(flights[2].frame).payload_bytes, 300);
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
        .write_run(&frame(1448).segment, 3, |header| {
            header.seq = Seq(number);
            number += 1;
        })
        .collect();
    assert_eq!(places[0], free);
    let seen = places.iter().map(|id| pool.segment(*id));
    assert!(seen.clone().all(|segment| segment.payload_bytes == 1448));
    assert!(seen.map(|segment| segment.seq.0).eq(0..3));
    assert_eq!(pool.len(), 3);
}

#[test]
fn what_lies_aside_goes_with_its_frame() {
    let block = |start: u32| SackBlock {
        start: Seq(start),
        end: Seq(start + 1),
    };
    let told = |start: u32| {
        let mut told = frame(0);
        told.segment.flags = Flags::ACK;
        told.segment.push_sack(block(start));
        told
    };
    let mut pool = FramePool::default();
    let first = pool.put(Time::ZERO, &told(1));
    let mut bytes = told(5);
    bytes.payload = PayloadHandle(7);
    let second = pool.put(Time::ZERO, &bytes);
    assert_eq!(*pool.segment(first.frame).sack_blocks(), [block(1)]);
    assert_eq!(pool.frame(&second).payload, PayloadHandle(7));
    assert_eq!(*pool.segment(second.frame).sack_blocks(), [block(5)]);
    pool.release(second.frame);
    // The same place, with nothing aside: what lay there is not its own.
    let third = pool.put(Time::ZERO, &frame(100));
    assert_eq!(third.frame, second.frame);
    assert!(pool.segment(third.frame).sack_blocks().is_empty());
    assert_eq!(pool.frame(&third).payload, PayloadHandle(0));
    assert!(!pool.payloads().any(|payload| payload == PayloadHandle(7)));
    // A run takes what lies aside along, each copy its own.
    let run: Vec<_> = pool.write_run(&told(9).segment, 2, |_| ()).collect();
    pool.release(run[0]);
    pool.put(Time::ZERO, &frame(100));
    assert_eq!(*pool.segment(run[1]).sack_blocks(), [block(9)]);
    assert_eq!(*pool.segment(first.frame).sack_blocks(), [block(1)]);
}

#[test]
fn a_syn_keeps_its_options() {
    let mut syn = frame(0);
    let options = SynOptions {
        mss: 1460,
        window_scale: Some(7),
        sack_permitted: true,
    };
    syn.segment.set_syn_options(options);
    let mut pool = FramePool::default();
    let flight = pool.put(Time::ZERO, &syn);
    assert_eq!(pool.segment(flight.frame), syn.segment);
}

#[test]
fn a_packet_in_flight_takes_56_bytes() {
    assert_eq!(size_of::<Flight>() + size_of::<super::Place>(), 24 + 32);
}
