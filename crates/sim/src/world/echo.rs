//! Pings: ICMP echo requests, and the hosts that answer them. Frames that are for no endpoint.
//!
//! Models RFC 792's echo as `ping` sends it: 8 bytes of header before its data. A request and
//! its answer go through queues and links as any frame does, are not ECN-capable, and are answered
//! by the host's kernel as soon as it gets them. Left out: the time that takes.

use tailback_net::frame::{EndpointId, Frame, HostId};
use tailback_net::pool::Flight;
use tailback_tcp::{Segment, Seq};
use tailback_units::Time;

use super::World;

/// The endpoint that stands for a request, and for an answer.
const REQUEST: EndpointId = EndpointId(u32::MAX - 1);
const ANSWER: EndpointId = EndpointId(u32::MAX);
/// 8 bytes of ICMP header and so much data are as long as a TCP header with nothing behind it; pings have no less.
const DATA_OF_HEADER_BYTES: u16 = 12;
/// Endpoints from here on stand for background traffic, down to one for each of its sources.
const BACKGROUND: u32 = u32::MAX - 2;
/// Most sources of background traffic; the scenario's checks allow fewer.
const BACKGROUND_MAX: u32 = 1 << 16;

/// What a frame is that is for no endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stray {
    /// A ping's request.
    Request,
    /// The answer to it.
    Answer,
    /// Background traffic of that source.
    Background(usize),
}

impl Stray {
    /// What stands there in an endpoint's place; `None` if it is an endpoint.
    pub(crate) fn of(to: EndpointId) -> Option<Stray> {
        match to {
            REQUEST => Some(Stray::Request),
            ANSWER => Some(Stray::Answer),
            EndpointId(id) => (id > BACKGROUND - BACKGROUND_MAX)
                .then(|| Stray::Background((BACKGROUND - id) as usize)),
        }
    }

    /// The endpoint that stands for that source.
    pub(crate) fn background(source: usize) -> EndpointId {
        EndpointId(BACKGROUND - source as u32)
    }
}

impl World {
    /// Data of the ping that a frame carries, bytes.
    pub(crate) fn ping_data_bytes(frame: &Frame) -> usize {
        usize::from(frame.segment.payload_bytes + DATA_OF_HEADER_BYTES)
    }

    /// A host sends a ping.
    pub(super) fn ping(
        &mut self,
        (source, destination): (usize, usize),
        priority: u8,
        number: u32,
        data_bytes: u16,
    ) {
        let mut segment = Segment::EMPTY;
        segment.seq = Seq(number);
        segment.ack = Seq(source as u32);
        segment.payload_bytes = data_bytes - DATA_OF_HEADER_BYTES;
        segment.priority = priority;
        self.send_frame(
            source,
            Frame::new(segment, REQUEST, HostId(destination as u16)),
        );
    }

    /// A frame has come that is for no endpoint.
    #[cold]
    pub(super) fn echo(&mut self, flight: Flight) {
        let mut frame = self.frames.frame(&flight);
        self.frames.release(flight.frame);
        match Stray::of(flight.to) {
            Some(Stray::Answer) => {
                let number = frame.segment.seq.0;
                self.workload
                    .ping_answered(self.now, number, &mut self.actions);
                self.do_actions();
            }
            Some(Stray::Request) => {
                let here = frame.destination;
                frame.to = ANSWER;
                frame.destination = HostId(frame.segment.ack.0 as u16);
                frame.segment.ack = Seq(here.0.into());
                self.send_frame(usize::from(here.0), frame);
            }
            Some(Stray::Background(source)) => self.background_came(source),
            None => {}
        }
    }

    /// Puts a frame on a host's link, if its queue has room; gives when it will have left, as far as that is known: one
    /// that its card holds back counts as gone.
    pub(super) fn send_frame(&mut self, host: usize, frame: Frame) -> Option<Time> {
        let now = self.now;
        let bytes = frame.segment.payload_bytes;
        let (to, payload_bytes) = (frame.to, bytes.into());
        if let Some(waiting) = self.waiting_at_card(host, frame.class()) {
            let admitted = self.hosts[host]
                .queue
                .admits_beside(waiting, payload_bytes, bytes);
            if admitted {
                let flight = self.frames.put(now, &frame);
                self.put_at_card(host, flight);
            }
            return admitted.then_some(now);
        }
        let at = self.hosts[host].sending_at(now, payload_bytes);
        if !self.hosts[host].admits(now, at, payload_bytes, bytes) {
            return None;
        }
        let uplink = self.hosts[host].uplink;
        let state = &mut self.links[uplink as usize];
        let flight = self.frames.put(now, &frame);
        self.ledger.sent.count(&flight);
        let finish = state.link.transmit(at, &flight);
        let first = state.launch(
            finish,
            flight,
            &mut self.frames,
            &mut self.hosts,
            &mut self.ledger,
        );
        self.hosts[host].leaves(now, at, finish);
        self.hosts[host].sent(self.now, to, finish, payload_bytes);
        if let Some(at) = first {
            self.calendar.schedule(uplink, at);
        }
        self.arm_machine(host);
        Some(finish)
    }
}
