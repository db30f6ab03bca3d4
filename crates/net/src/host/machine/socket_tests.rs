use tailback_units::Time;

use super::{Admission, HEADROOM_BYTES, Memory, Packet, Socket, User};
use crate::pool::FramePool;
use crate::testing::frame;

/// A packet of a frame with so much payload.
fn packet(pool: &mut FramePool, payload_bytes: u16) -> Packet {
    Packet::Frame(pool.put(Time::ZERO, &frame(payload_bytes)))
}

/// What became of packets that come one after another, each charged 1000 bytes of 3000.
fn arrive(socket: &mut Socket, user: User, payloads: &[u16]) -> Vec<Admission> {
    let mut pool = FramePool::default();
    let packets = payloads.iter().map(|bytes| packet(&mut pool, *bytes));
    packets
        .map(|packet| socket.arrive(packet, user, 1000, MEMORY))
        .collect()
}

const MEMORY: Memory = Memory {
    rcvbuf: 3000,
    sndbuf: 1000,
    queued: None,
};

#[test]
fn a_socket_that_nobody_uses_lets_packets_through() {
    let mut socket = Socket::default();
    let admitted = arrive(&mut socket, User::Away, &[100]);
    assert!(matches!(admitted[..], [Admission::Now(_)]));
    assert_eq!(socket.waiting().count(), 0);
}

#[test]
fn an_owned_socket_keeps_packets_in_order_and_without_limit() {
    let mut socket = Socket::default();
    let admitted = arrive(&mut socket, User::Owns, &[1, 2, 3, 4, 5]);
    assert!(admitted.iter().all(|a| matches!(a, Admission::Kept)));
    assert!(socket.prequeued().is_none());
    let taken: Vec<u64> = std::iter::from_fn(|| socket.next_backlogged())
        .map(|packet| packet.payload_bytes())
        .collect();
    assert_eq!(taken, [1, 2, 3, 4, 5]);
}

#[test]
fn the_first_packet_wakes_a_reader_and_too_many_overrun_it() {
    let mut socket = Socket::default();
    let admitted = arrive(&mut socket, User::Reads, &[1, 2, 3, 4]);
    let [
        Admission::Wakes,
        Admission::Kept,
        Admission::Kept,
        Admission::Overrun,
    ] = admitted[..]
    else {
        panic!("{admitted:?}");
    };
    assert_eq!(socket.waiting().count(), 4);
    while socket.next_prequeued().is_some() {}
    // What it was charged is given back.
    let again = arrive(&mut socket, User::Reads, &[1]);
    assert!(matches!(again[..], [Admission::Wakes]));
}

#[test]
fn a_backlog_is_charged_until_it_is_worked_off() {
    let mut socket = Socket::default();
    let mut pool = FramePool::default();
    // Both buffers and the headroom, of which the receive queue has 2000 bytes.
    let memory = Memory {
        queued: Some(2000),
        ..MEMORY
    };
    let mut bring = |socket: &mut Socket| {
        let packet = packet(&mut pool, 100);
        socket.arrive(packet, User::Owns, 1000, memory)
    };
    let room = (3000 + 1000 + HEADROOM_BYTES - 2000) / 1000;
    for _ in 0..=room {
        assert!(matches!(bring(&mut socket), Admission::Kept));
    }
    assert!(matches!(bring(&mut socket), Admission::Full(_)));
    // What its owner has handled still counts,
    while socket.next_backlogged().is_some() {}
    assert!(matches!(bring(&mut socket), Admission::Full(_)));
    // until there is no more.
    socket.worked_off();
    assert!(matches!(bring(&mut socket), Admission::Kept));
}
