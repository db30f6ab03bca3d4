//! From what TCP gives to frames on a host's link.

use tailback_net::frame::{EndpointId, Frame, HostId, PayloadHandle};
use tailback_net::pool::FramePool;
use tailback_tcp::{Flags, Seq, Transmit};
use tailback_units::Time;

use super::network::LinkState;
use super::{HostState, Ledger};

/// Cuts what TCP gave into frames and puts them on the link of the host, which may have a modelled `MACHINE`. Answers when the link's next
/// event is, if it had none, and when the last frame has left.
#[inline(always)]
pub(super) fn send<const MACHINE: bool>(
    state: &mut LinkState,
    hosts: &mut [HostState],
    (frames, ledger): (&mut FramePool, &mut Ledger),
    now: Time,
    mut cut: Cut<'_>,
) -> (Option<Time>, Time) {
    let mut first = None;
    loop {
        let last = cut.is_last();
        let flight = frames.write(now, |frame| cut.write(frame));
        ledger.sent.count(&flight);
        let finish = state.link.transmit(now, &flight);
        let launched = if MACHINE {
            state.launch_from_machine(finish, flight, frames, hosts, ledger)
        } else {
            state.launch(finish, flight, frames, hosts, ledger)
        };
        first = first.or(launched);
        if last {
            return (first, finish);
        }
        cut.advance();
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

    /// Writes the frame at hand.
    #[inline(always)]
    pub(super) fn write(&self, frame: &mut Frame) {
        let last = self.is_last();
        let payload_bytes = if last { self.rest } else { self.transmit.mss };
        frame.segment = self.transmit.segment;
        frame.segment.seq = self.seq;
        frame.segment.payload_bytes = payload_bytes;
        frame.segment.priority = self.priority;
        // All but the last are full, and say neither that they are the last …
        frame.segment.flags = if last {
            self.flags
        } else {
            self.flags.without(Flags::PSH.with(Flags::FIN))
        };
        frame.to = self.to;
        frame.destination = self.destination;
        frame.frame_bytes = Frame::bytes_of(self.overhead_bytes, payload_bytes);
        frame.payload = PayloadHandle(0);
    }

    /// Goes on to the next.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        self.rest -= self.transmit.mss;
        self.seq += u32::from(self.transmit.mss);
        // … nor, but for the first, that the window was reduced.
        self.flags = self.flags.without(Flags::CWR);
    }
}
