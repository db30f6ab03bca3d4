use tailback_units::Duration;

use crate::clock::JiffyClock;
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
    receive.charge_in_order(0, false);
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
    receive.charge_in_order(0, true);
    assert_eq!(receive.queued_memory() - before, 2368);
    receive.rcv_nxt += 1000;
    receive.charge_in_order(0, false);
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
