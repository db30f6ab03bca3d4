//! Hosts whose interface has a queue discipline of its own ([`tailback_net::host::HostQdisc`]).
//!
//! Packets wait as TCP made them and are cut as the card is handed them, or before they wait where the discipline has it
//! so. TCP is told when each has left, which nobody knows before (its small queues). Left out: what a discipline says of
//! packets that it dropped in favour of another (NET_XMIT_CN); packets that the kernel itself cuts behind the
//! discipline leave as one.

use tailback_net::frame::EndpointId;
use tailback_net::host::{HostQdisc, Next};
use tailback_net::pool::{Flight, FramePool};
use tailback_tcp::{Flags, Pieces, Transmit};
use tailback_units::{Duration, Time};

use super::World;
use super::cut::{Whole, send};

/// A discipline, and how its packets are to be cut.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) qdisc: HostQdisc,
    /// By a packet's place in the pool; none: it is a frame.
    cuts: Vec<Option<Cutting>>,
}

/// How a packet will be cut: as its [`Transmit`] says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cutting {
    mss: u16,
    first_only: Flags,
}

impl Interface {
    pub(super) fn new(qdisc: HostQdisc) -> Interface {
        Interface {
            qdisc,
            cuts: Vec::new(),
        }
    }

    /// A packet is to be sent.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        packet: Flight,
        cutting: Option<Cutting>,
        frames: &mut FramePool,
    ) {
        let place = packet.frame.place();
        if self.cuts.len() <= place {
            self.cuts.resize(place + 1, None);
        }
        self.cuts[place] = cutting;
        self.qdisc.enqueue(now, packet, frames);
    }

    fn cutting(&self, packet: &Flight) -> Option<Cutting> {
        self.cuts.get(packet.frame.place()).copied().flatten()
    }
}

impl World {
    /// The interfaces that have a discipline of their own.
    pub(crate) fn interfaces_with_qdisc(&self) -> impl Iterator<Item = &Interface> {
        let cards = self.pushback.iter().flat_map(|pushback| &pushback.cards);
        cards.filter_map(|card| card.qdisc.as_deref())
    }

    /// All that an endpoint's connection has to send goes to the discipline of its host; false if that has none.
    pub(super) fn queue_at_qdisc(&mut self, host: usize, id: EndpointId) -> bool {
        let now = self.now;
        while let Some(pushback) = &mut self.pushback {
            let Some(interface) = &mut pushback.cards[host].qdisc else {
                return false;
            };
            let endpoint = &mut self.endpoints[id.0 as usize];
            let connection = endpoint.connection.as_mut();
            let Some(transmit) = connection.and_then(|c| c.poll_transmit(now)) else {
                break;
            };
            let payload_bytes = transmit.segment.payload_bytes;
            let is_frame = payload_bytes <= transmit.mss;
            let splits = interface.qdisc.splits();
            let uncut = Transmit {
                mss: payload_bytes.max(1),
                ..transmit
            };
            let whole = Whole {
                transmit: if splits { &transmit } else { &uncut },
                priority: endpoint.priority,
                to: (endpoint.peer, endpoint.peer_host),
            };
            let cutting = (!splits && !is_frame).then_some(Cutting {
                mss: transmit.mss,
                first_only: transmit.first_only,
            });
            let mut cut = whole.cut();
            let packet = loop {
                let last = cut.is_last();
                let packet = cut.put(&mut self.frames, now, last);
                interface.enqueue(now, packet, cutting, &mut self.frames);
                if last {
                    break packet.frame;
                }
                cut.advance();
            };
            let pieces = (splits && !is_frame).then_some(Pieces {
                first: Time::NEVER,
                each: Duration::ZERO,
                mss: transmit.mss,
            });
            let dropped = self.take_dropped(host);
            let refused = pieces.is_none() && dropped.iter().any(|one| one.frame == packet);
            if let Some(connection) = &mut self.endpoints[id.0 as usize].connection {
                if refused {
                    connection.refused(now, &transmit.segment);
                } else {
                    connection.left_host(now, Time::NEVER, pieces, &transmit);
                }
            }
            for one in dropped.iter().filter(|one| !refused || one.frame != packet) {
                self.leaves_interface(one, now);
            }
        }
        true
    }

    /// Lets the card of a host have what it may, and comes back when it may have more.
    pub(super) fn serve_qdisc(&mut self, host: usize) {
        let now = self.now;
        while let Some(pushback) = &mut self.pushback {
            let card = &mut pushback.cards[host];
            if card.armed <= now {
                card.armed = Time::NEVER;
            }
            let Some(interface) = &mut card.qdisc else {
                return;
            };
            let next = interface.qdisc.next(now, &mut self.frames);
            if let Next::Wait(until) = next
                && until < card.armed
            {
                card.armed = until;
                self.calendar
                    .schedule(pushback.first_card + host as u32, until);
            }
            for one in self.take_dropped(host) {
                self.leaves_interface(&one, now);
            }
            let Next::Frame(packet) = next else {
                return;
            };
            let leaves = self.hand_over(host, &packet);
            self.leaves_interface(&packet, leaves);
        }
    }

    /// Puts a packet on a host's link, cut into frames; gives when the last will have left.
    fn hand_over(&mut self, host: usize, packet: &Flight) -> Time {
        let now = self.now;
        let uplink = self.hosts[host].uplink;
        let state = &mut self.links[uplink as usize];
        let interface = self
            .pushback
            .as_mut()
            .and_then(|p| p.cards[host].qdisc.as_mut());
        let cutting = interface
            .as_ref()
            .and_then(|interface| interface.cutting(packet));
        let (first, last) = match cutting {
            None => {
                self.ledger.sent.count(packet);
                let finish = state.link.transmit(now, packet);
                let (frames, hosts, ledger) = (&mut self.frames, &mut self.hosts, &mut self.ledger);
                (state.launch(finish, *packet, frames, hosts, ledger), finish)
            }
            Some(Cutting { mss, first_only }) => {
                let transmit = Transmit {
                    segment: self.frames.segment(packet.frame),
                    mss,
                    first_only,
                };
                let whole = Whole {
                    transmit: &transmit,
                    priority: transmit.segment.priority,
                    to: (packet.to, packet.destination),
                };
                let books = (&mut self.frames, &mut self.ledger);
                let sent = send::<false>(state, &mut self.hosts, books, now, whole);
                self.frames.release(packet.frame);
                sent
            }
        };
        if let Some(interface) = interface {
            interface.qdisc.handed(last, packet.frame_bytes);
        }
        if let Some(at) = first {
            self.calendar.schedule(uplink, at);
        }
        if let Some(endpoint) = self.endpoints.get(packet.to.0 as usize) {
            let payload_bytes = packet.payload_bytes.into();
            self.hosts[host].sent(now, endpoint.peer, last, payload_bytes);
        }
        last
    }

    /// What a host's discipline has just dropped; none of it is in the pool any more.
    fn take_dropped(&mut self, host: usize) -> Vec<Flight> {
        let interface = self
            .pushback
            .as_mut()
            .and_then(|p| p.cards[host].qdisc.as_mut());
        let mut dropped = Vec::new();
        if let Some(interface) = interface {
            while let Some((packet, cause)) = interface.qdisc.take_dropped() {
                let mss = interface.cutting(&packet).map(|cutting| cutting.mss);
                interface
                    .qdisc
                    .lost(&packet, cause, mss.unwrap_or(packet.payload_bytes));
                let number = self.frames.header(packet.frame).seq.0;
                self.ledger.lose(packet.to, number, "tx-queue");
                self.frames.release(packet.frame);
                dropped.push(packet);
            }
        }
        dropped
    }

    /// A packet of a connection will have left the interface at `at`, which lets its TCP go on.
    fn leaves_interface(&mut self, packet: &Flight, at: Time) {
        if packet.payload_bytes == 0 {
            return;
        }
        let to = self.endpoints.get(packet.to.0 as usize);
        let Some(sender) = to.map(|endpoint| endpoint.peer) else {
            return;
        };
        let endpoint = &mut self.endpoints[sender.0 as usize];
        if let Some(connection) = &mut endpoint.connection {
            connection.leaves_host(at);
            endpoint.arm(
                self.first_timer + sender.0,
                &mut self.calendar,
                &mut self.lead,
            );
        }
    }
}
