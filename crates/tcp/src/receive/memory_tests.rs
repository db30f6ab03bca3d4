use tailback_units::Duration;

use crate::clock::JiffyClock;
use crate::connection::Arrival;
use crate::receive::reassembly::Part;
use crate::receive::{AckPolicy, Receive};
use crate::seq::Seq;
use crate::testing::{stack, with_receiver_of_today};

/// A receiver of today with a frame of 2000 bytes waiting to be read in one fragment, all beyond 832 bytes of memory.
fn waiting() -> Receive {
    let stack = with_receiver_of_today(stack());
    let clock = JiffyClock::new(stack.hz, stack.timestamp_hz, Duration::ZERO);
    let ack = AckPolicy::new(&clock, &stack);
    let mut receive = Receive::new(&stack, 1460, 2368, ack);
    receive.set_head(832);
    receive.charge_in_order(1448, 0, false);
    receive.rcv_nxt += 2000;
    receive
}

/// A packet of two fragments in 4000 bytes of memory, from so many bytes before what is expected.
fn part(receive: &Receive, before: u32) -> Part {
    let next = receive.rcv_nxt;
    Part {
        start: next - before,
        end: next + 3000,
        fragments: 2,
        memory: 4000,
        in_head: false,
    }
}

/// What a packet that was out of order gives back when it is in order.
fn given_back(receive: &mut Receive, part: Part) -> u32 {
    receive.queued_memory += part.memory;
    let before = receive.queued_memory();
    receive.queue_reassembled(part);
    before - receive.queued_memory()
}

#[test]
fn a_packet_that_was_out_of_order_joins_what_it_follows() {
    let mut receive = waiting();
    let follows = part(&receive, 0);
    assert_eq!(given_back(&mut receive, follows), 832);
}

/// A small frame, copied into a head with room for so many bytes more.
fn small(room: u8) -> Option<Arrival> {
    Some(Arrival {
        mss: 0,
        memory_bytes: 832,
        fragments: 0,
        room,
    })
}

#[test]
fn what_fits_behind_a_small_frame_takes_no_memory() {
    let mut receive = waiting();
    let costs = |receive: &mut Receive, payload: u16, room: u8| {
        let before = receive.queued_memory();
        receive.set_frame(small(room));
        receive.charge_in_order(payload, 0, false);
        receive.rcv_nxt += u32::from(payload);
        receive.queued_memory() - before
    };
    // Nothing fits behind pages.
    assert_eq!(costs(&mut receive, 43, 81), 832);
    assert_eq!(costs(&mut receive, 28, 96), 0);
    // 53 are left: not enough, and this one has a head of its own.
    assert_eq!(costs(&mut receive, 54, 70), 832);
    assert_eq!(costs(&mut receive, 70, 54), 0);
    assert_eq!(costs(&mut receive, 1, 123), 832);
    // Nor behind a head that pages have joined.
    receive.set_frame(None);
    receive.charge_in_order(500, 0, false);
    receive.rcv_nxt += 500;
    assert_eq!(costs(&mut receive, 1, 123), 832);
    // What was out of order and fits is copied, too.
    let next = Part {
        start: receive.rcv_nxt,
        end: receive.rcv_nxt + 123,
        ..part(&receive, 0)
    };
    assert_eq!(given_back(&mut receive, next), 4000);
    let next = Part {
        start: receive.rcv_nxt,
        end: receive.rcv_nxt + 1,
        ..part(&receive, 0)
    };
    assert_eq!(given_back(&mut receive, next), 832);
}

#[test]
fn one_that_begins_in_its_head_keeps_it() {
    let mut receive = waiting();
    let small = Part {
        in_head: true,
        ..part(&receive, 0)
    };
    assert_eq!(given_back(&mut receive, small), 0);
    // What follows joins it.
    let next = part(&receive, 0);
    assert_eq!(given_back(&mut receive, next), 832);
}

#[test]
fn one_that_overlaps_what_is_there_is_a_packet_of_its_own() {
    let mut receive = waiting();
    let overlapping = part(&receive, 100);
    assert_eq!(given_back(&mut receive, overlapping), 0);
    receive = waiting();
    let before = receive.queued_memory();
    receive.charge_in_order(1448, 0, true);
    assert_eq!(receive.queued_memory() - before, 2368);
    receive.rcv_nxt += 1000;
    receive.charge_in_order(1448, 0, false);
    assert_eq!(receive.queued_memory() - before, 2 * 2368 - 832);
}

#[test]
fn numbers_may_wrap() {
    let mut receive = waiting();
    receive.rcv_nxt = Seq(u32::MAX - 10);
    let follows = part(&receive, 0);
    assert_eq!(given_back(&mut receive, follows), 832);
    assert_eq!(receive.rcv_nxt, Seq(u32::MAX - 10) + 3000);
}
