use tailback_units::Duration;

use super::*;
use crate::frame::EndpointId;
use crate::queue::fq_codel::FqCodelConfig;
use crate::testing::frame;

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

fn qdisc(config: &QueueConfig, fifo_packets: u32) -> HostQdisc {
    HostQdisc::new(config, 1518, fifo_packets, Stream::new(1, "qdisc", 0))
}

fn packet(frames: &mut FramePool, to: u32, payload_bytes: u16) -> Flight {
    let mut flight = frames.put(Time::ZERO, &frame(payload_bytes));
    flight.to = EndpointId(to);
    flight
}

fn handed(next: Next) -> Option<u32> {
    match next {
        Next::Frame(flight) => Some(flight.to.0),
        Next::Wait(_) | Next::Idle => None,
    }
}

#[test]
fn the_card_has_one_packet_at_first_and_the_rest_wait() {
    let mut frames = FramePool::default();
    let mut qdisc = qdisc(&QueueConfig::Fifo {}, 10);
    for to in 0..3 {
        let flight = packet(&mut frames, to, 1448);
        qdisc.enqueue(at(0), flight, &mut frames);
    }
    assert_eq!(handed(qdisc.next(at(0), &mut frames)), Some(0));
    qdisc.handed(at(120), 1518);
    let Next::Wait(until) = qdisc.next(at(0), &mut frames) else {
        panic!("the card has what it may");
    };
    assert_eq!(until, at(120));
    assert_eq!(qdisc.waiting().count(), 2);
    // It ran dry: from now on it is handed more.
    assert_eq!(handed(qdisc.next(at(120), &mut frames)), Some(1));
    qdisc.handed(at(240), 1518);
    assert_eq!(handed(qdisc.next(at(120), &mut frames)), Some(2));
    qdisc.handed(at(360), 1518);
    assert!(matches!(qdisc.next(at(120), &mut frames), Next::Idle));
}

#[test]
fn a_fifo_holds_as_many_packets_as_txqueuelen_says() {
    let mut frames = FramePool::default();
    let mut qdisc = qdisc(&QueueConfig::Fifo {}, 2);
    for to in 0..3 {
        let flight = packet(&mut frames, to, 2896);
        qdisc.enqueue(at(0), flight, &mut frames);
    }
    let (lost, cause) = qdisc.take_dropped().expect("there was no room");
    assert_eq!((lost.to.0, cause), (2, DropCause::QueueLimit));
    assert!(qdisc.take_dropped().is_none());
    qdisc.lost(&lost, cause, 1448);
    let lost: u64 = qdisc.losses().map(|(_, lost)| lost.frames).sum();
    assert_eq!(lost, 2);
    assert_eq!(qdisc.waiting().count(), 2);
}

#[test]
fn flows_take_turns_with_packets_that_are_whole() {
    let mut frames = FramePool::default();
    let config = QueueConfig::FqCodel(FqCodelConfig::default());
    let mut qdisc = qdisc(&config, 1000);
    assert!(!qdisc.splits());
    for to in [0, 0, 0, 2] {
        let flight = packet(&mut frames, to, 14_480);
        qdisc.enqueue(at(0), flight, &mut frames);
    }
    let mut order = Vec::new();
    for step in 0..4 {
        let now = at(12_000 * step);
        while let Some(to) = handed(qdisc.next(now, &mut frames)) {
            order.push(to);
            qdisc.handed(now + Duration::from_us(12_000), 14_550);
        }
    }
    // The other is served before the first's second.
    assert_eq!(order, [0, 2, 0, 0]);
}
