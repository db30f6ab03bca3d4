//! From what TCP gives to frames on a host's link.

use tailback_net::frame::{EndpointId, Frame, HostId};
use tailback_net::link::Link;
use tailback_net::pool::{Flight, FrameId, FramePool};
use tailback_tcp::{Flags, Header, Pieces, Segment, Seq, Transmit};
use tailback_units::{Duration, Time};

use super::ledger::Tally;
use super::network::LinkState;
use super::{HostState, Ledger};

/// Cuts what TCP gave into frames and puts them on the link of the host, which may have a modelled
/// `MACHINE`. Answers when the link's next event is, if it had none, and when the last frame has left.
#[inline(always)]
pub(super) fn send<const MACHINE: bool>(
    state: &mut LinkState,
    hosts: &mut [HostState],
    books: (&mut FramePool, &mut Ledger),
    now: Time,
    whole: Whole<'_>,
) -> (Option<Time>, Time) {
    if state.plain {
        return send_plainly(&mut state.link, books, now, whole);
    }
    send_with_care::<MACHINE>(state, hosts, books, now, whole.cut())
}

/// The same on a link on which nothing happens to frames.
#[inline(always)]
pub(super) fn send_plainly(
    link: &mut Link,
    books: (&mut FramePool, &mut Ledger),
    now: Time,
    whole: Whole<'_>,
) -> (Option<Time>, Time) {
    // Cut on either side: what a function of its own is handed would lie in memory for the other too.
    if whole.is_frame() {
        send_last(link, books, now, &whole.cut())
    } else {
        send_burst(link, books, now, whole.transmit, whole.priority, whole.to)
    }
}

/// The same of a frame that is the last.
#[inline(always)]
fn send_last(
    link: &mut Link,
    (frames, ledger): (&mut FramePool, &mut Ledger),
    now: Time,
    cut: &Cut<'_>,
) -> (Option<Time>, Time) {
    let flight = cut.put(frames, now, true);
    ledger.sent.count(&flight);
    let finish = link.transmit(now, &flight);
    let arrival = link.arrival(finish);
    (link.launch_for(&flight, arrival).then_some(arrival), finish)
}

/// The same of several frames.
#[inline(never)]
fn send_burst(
    link: &mut Link,
    (frames, ledger): (&mut FramePool, &mut Ledger),
    now: Time,
    transmit: &Transmit,
    priority: u8,
    to: (EndpointId, HostId),
) -> (Option<Time>, Time) {
    let cut = Cut::new(transmit, priority, to);
    let (first, cut) = send_run(link, frames, ledger, now, cut);
    let (lone, finish) = send_last(link, (frames, ledger), now, &cut);
    (first.or(lone), finish)
}

/// The same on a link on which something may happen to frames.
#[inline]
fn send_with_care<const MACHINE: bool>(
    state: &mut LinkState,
    hosts: &mut [HostState],
    (frames, ledger): (&mut FramePool, &mut Ledger),
    now: Time,
    mut cut: Cut<'_>,
) -> (Option<Time>, Time) {
    let mut first = None;
    loop {
        let last = cut.is_last();
        let flight = cut.put(frames, now, last);
        ledger.sent.count(&flight);
        let finish = state.link.transmit(now, &flight);
        let launched = if MACHINE {
            state.launch_from_machine(finish, flight, frames, hosts, ledger)
        } else {
            state.launch(finish, flight, frames, hosts, ledger)
        };
        // A later frame says when the link's next event is if it overtakes those before it.
        first = launched.or(first);
        if last {
            return (first, finish);
        }
        cut.advance();
    }
}

/// Puts all frames but the last, which are alike but for their places, on a link on which nothing happens
/// to them. Answers when the link's next event is, if it had none, and what is left to cut.
#[inline(always)]
fn send_run<'a>(
    link: &mut Link,
    frames: &mut FramePool,
    ledger: &mut Ledger,
    now: Time,
    mut cut: Cut<'a>,
) -> (Option<Time>, Cut<'a>) {
    let mss = cut.transmit.mss;
    let count = (cut.rest - 1) / mss;
    let mut like = cut.transmit.segment;
    cut.write(&mut like, false);
    let mut flight = cut.flight(FrameId::NONE, Time::ZERO, false);
    let (finish, each) = link.transmit_run(now, flight.frame_bytes, count);
    let arrival = link.arrival(finish);
    flight.at = arrival;
    // The first alone says that the window was reduced.
    let first_only = cut.transmit.first_only;
    let alone = u16::from(like.flags.intersects(first_only));
    let mut first = false;
    if alone > 0 {
        first = launch_copies(link, frames, (&like, &flight), alone, each);
        like.seq += u32::from(mss);
        flight.at += each;
        like.flags = like.flags.without(first_only);
    }
    first |= launch_copies(link, frames, (&like, &flight), count - alone, each);
    like.seq += u32::from(count - alone) * u32::from(mss);
    cut.seq = like.seq;
    cut.rest -= count * mss;
    cut.flags = cut.flags.without(first_only);
    ledger.sent += Tally::of(count.into(), u64::from(count) * u64::from(mss));
    (first.then_some(arrival), cut)
}

/// Puts copies of a frame on a link, each with the payload that follows that of the one before, and handled
/// so much `later`. True if nothing was on its way.
#[inline(never)]
fn launch_copies(
    link: &mut Link,
    frames: &mut FramePool,
    (like, flight): (&Segment, &Flight),
    copies: u16,
    later: Duration,
) -> bool {
    let bytes = u32::from(like.payload_bytes);
    let mut seq = like.seq;
    let ids = frames.write_run(like, copies.into(), |header| {
        header.seq = seq;
        seq += bytes;
    });
    link.launch_run(flight, later, ids)
}

/// What TCP gave, the priority that its frames have, and whom they are for.
#[derive(Clone, Copy)]
pub(super) struct Whole<'a> {
    pub(super) transmit: &'a Transmit,
    pub(super) priority: u8,
    pub(super) to: (EndpointId, HostId),
}

impl<'a> Whole<'a> {
    /// Whether it is one frame.
    #[inline(always)]
    fn is_frame(&self) -> bool {
        self.transmit.segment.payload_bytes <= self.transmit.mss
    }

    /// When its frames will have left if they are put on this link one after another from `at` on; none if
    /// it is one.
    #[inline(never)]
    pub(super) fn pieces(&self, link: &Link, at: Time) -> Option<Pieces> {
        if self.is_frame() {
            return None;
        }
        let mss = self.transmit.mss;
        let overhead_bytes = Frame::overhead_bytes(&self.transmit.segment);
        let each = link.serialisation_of(Frame::bytes_of(overhead_bytes, mss));
        Some(Pieces {
            first: link.free_at().max(at) + each,
            each,
            mss,
        })
    }

    #[inline(always)]
    pub(super) fn cut(self) -> Cut<'a> {
        Cut::new(self.transmit, self.priority, self.to)
    }
}

/// What TCP gave, cut into frames of the MSS, one after another.
pub(super) struct Cut<'a> {
    transmit: &'a Transmit,
    to: EndpointId,
    destination: HostId,
    priority: u8,
    /// What each frame has around its payload, bytes.
    overhead_bytes: u32,
    /// Where the frame at hand begins, and its flags but for its end.
    seq: Seq,
    flags: Flags,
    /// Payload not cut off yet, bytes.
    rest: u16,
}

impl<'a> Cut<'a> {
    #[inline(always)]
    pub(super) fn new(
        transmit: &'a Transmit,
        priority: u8,
        (to, destination): (EndpointId, HostId),
    ) -> Cut<'a> {
        let segment = &transmit.segment;
        Cut {
            transmit,
            to,
            destination,
            priority,
            overhead_bytes: Frame::overhead_bytes(segment),
            seq: segment.seq,
            flags: segment.flags,
            rest: segment.payload_bytes,
        }
    }

    /// Whether the frame at hand is the last.
    #[inline(always)]
    pub(super) fn is_last(&self) -> bool {
        self.rest <= self.transmit.mss
    }

    /// Puts the frame at hand into the pool, to be handled at `at`; `last`: whether it is the last.
    #[inline(always)]
    pub(super) fn put(&self, frames: &mut FramePool, at: Time, last: bool) -> Flight {
        let id = frames.write(&self.transmit.segment, |header| self.write(header, last));
        self.flight(id, at, last)
    }

    /// What links and switches see of the frame at hand.
    #[inline(always)]
    fn flight(&self, frame: FrameId, at: Time, last: bool) -> Flight {
        let payload_bytes = self.payload_bytes(last);
        Flight {
            at,
            frame,
            to: self.to,
            destination: self.destination,
            frame_bytes: Frame::bytes_of(self.overhead_bytes, payload_bytes),
            payload_bytes,
            class: self.priority & 7,
        }
    }

    #[inline(always)]
    fn payload_bytes(&self, last: bool) -> u16 {
        if last { self.rest } else { self.transmit.mss }
    }

    /// Makes what TCP gave the header of the frame at hand.
    #[inline(always)]
    fn write(&self, header: &mut Header, last: bool) {
        header.seq = self.seq;
        header.payload_bytes = self.payload_bytes(last);
        header.priority = self.priority;
        // All but the last are full, and say neither that they are the last …
        header.flags = if last {
            self.flags
        } else {
            self.flags.without(Flags::PSH.with(Flags::FIN))
        };
    }

    /// Goes on to the next.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.rest -= self.transmit.mss;
        self.seq += u32::from(self.transmit.mss);
        // … nor, but for the first, that the window was reduced.
        self.flags = self.flags.without(self.transmit.first_only);
    }
}
