//! Hosts whose kernel puts frames together before TCP has them.
//!
//! Models NAPI of Linux 7.2 around generic receive offload (net/core/dev.c, gro.c): one poll takes what the
//! receive ring has, and what comes while it works; what became one packet meanwhile is TCP's when it ends,
//! when its ring is empty or after as many frames as NAPI's weight, and applications read after that. What
//! joins: [`joining`].
//! When each frame is handled is known once it is on its way ([`ReceiveRing`](tailback_net::host::ReceiveRing)),
//! so a poll needs no event a frame: it is looked at when its last frame that is known of has been handled.
//! Left out: packets that outlast a poll of a full weight (napi_gro_flush of the old only); that
//! packets for which eight frames have been done go to TCP before the poll ends (gro_normal_batch).
//!
//! [`joining`]: tailback_net::host::joining

use tailback_net::frame::{EndpointId, HostId};
use tailback_net::host::PageBuffers;
use tailback_net::host::joining::{HELD_MAX, Joining, Joint, heads_given_up};
use tailback_net::pool::{Flight, FrameId};
use tailback_tcp::{Flags, Segment};
use tailback_units::Time;

use super::{HostState, World};

/// Frames in a poll at most (NAPI_POLL_WEIGHT, include/linux/netdevice.h).
const WEIGHT: usize = 64;

/// What a host's poll has in hand.
#[derive(Debug, Default)]
pub(crate) struct Gro {
    /// Frames in front of the link that are known to belong to the poll, and when the last is handled.
    known: usize,
    until: Time,
    /// What is in the making; empty between polls.
    hand: Hand,
}

/// Packets in the making, and endpoints whose applications have something to read.
#[derive(Debug, Default)]
struct Hand {
    held: Vec<Held>,
    readers: Vec<EndpointId>,
}

/// A packet in the making: its first frame, in the pool, has all of its data.
#[derive(Debug)]
struct Held {
    first: Flight,
    joining: Joining,
}

/// What decides whether a segment joins others before TCP has them (tcp_gro_receive of Linux 7.2):
/// acknowledgement, window, flags but PSH and FIN, timestamps and mark are to be alike.
pub(super) fn joint(segment: &Segment, is_tcp: bool) -> Joint {
    let ends = Flags::PSH.with(Flags::FIN);
    let plain = segment.flags.without(ends) == Flags::ACK && !segment.has_sack();
    // Alike segments of one connection differ in nothing else: a sum tells them apart well enough.
    let mut likeness = u64::from(segment.ack.0) << 32 | u64::from(segment.ts_val);
    likeness ^= u64::from(segment.ts_ecr).rotate_left(17);
    likeness ^= u64::from(segment.window).rotate_left(41) ^ (segment.ecn as u64);
    Joint {
        start: segment.seq.0,
        end: segment.seq.0.wrapping_add(segment.payload_bytes.into()),
        likeness,
        ends: segment.flags.intersects(ends),
        alone: !is_tcp || segment.payload_bytes == 0 || !plain,
    }
}

impl HostState {
    /// Memory that a packet of so many frames is charged for: the heads of those that joined are given up.
    pub(super) fn joined_memory(&mut self, frames: u32) -> u32 {
        let pages = &mut self.buffers;
        let each = self.config.rx_truesize_bytes;
        let mut take = || pages.as_mut().map_or(each, PageBuffers::take);
        let memory_bytes: u32 = (0..frames).map(|_| take()).sum();
        memory_bytes - self.config.rx_head_bytes * heads_given_up(frames)
    }
}

impl World {
    /// A host looks at the link that it polls: its poll is over, or more has come meanwhile.
    pub(super) fn handle_poll(&mut self, rank: u32, host: HostId) {
        let now = self.now;
        let (link, state) = (
            &mut self.links[rank as usize].link,
            &mut self.hosts[usize::from(host.0)],
        );
        let Some(gro) = &mut state.gro else { return };
        while gro.known < WEIGHT
            && let Some(next) = link.flying_behind(gro.known)
            && (gro.known == 0 || state.ring.follows(gro.until, next.at, next.payload_bytes))
        {
            gro.known += 1;
            gro.until = next.at;
        }
        if gro.until > now {
            self.calendar.schedule(rank, gro.until);
            return;
        }
        let frames = std::mem::take(&mut gro.known);
        let mut hand = std::mem::take(&mut gro.hand);
        for _ in 0..frames {
            if let Some(frame) = self.links[rank as usize].link.take_polled() {
                self.hops += 1;
                self.take_polled(frame, &mut hand);
            }
        }
        for packet in hand.held.drain(..) {
            self.receive_held(packet, &mut hand.readers);
        }
        for reader in hand.readers.drain(..) {
            self.drive(reader);
        }
        if let Some(gro) = &mut self.hosts[usize::from(host.0)].gro {
            gro.hand = hand;
        }
        if let Some(next) = self.links[rank as usize].link.next() {
            let at = next.at;
            self.calendar.schedule(rank, at);
        }
    }

    /// A frame of a poll joins its packet, begins one, or goes its way alone.
    fn take_polled(&mut self, frame: Flight, hand: &mut Hand) {
        let is_tcp = self.datagrams.is_empty() && (frame.to.0 as usize) < self.endpoints.len();
        let joint = joint(&self.frames.get(frame.frame).segment, is_tcp);
        let payload_bytes = frame.payload_bytes;
        let mut of_flow = hand.held.iter();
        if let Some(at) = of_flow.position(|packet| packet.first.to == frame.to) {
            let packet = &mut hand.held[at];
            if packet.joining.takes(payload_bytes, &joint, true) {
                let ends = packet.joining.join(payload_bytes, &joint);
                let first = packet.first.frame;
                self.join(frame, first);
                if ends {
                    self.receive_held(hand.held.remove(at), &mut hand.readers);
                }
                return;
            }
            self.receive_held(hand.held.remove(at), &mut hand.readers);
        }
        if joint.alone {
            return self.receive_alone(frame);
        }
        if hand.held.len() == HELD_MAX {
            self.receive_held(hand.held.remove(0), &mut hand.readers);
        }
        let packet = Held {
            first: frame,
            joining: Joining::new(payload_bytes, &joint),
        };
        if joint.ends {
            self.receive_held(packet, &mut hand.readers);
        } else {
            hand.held.push(packet);
        }
    }

    /// A frame's data and flags become those of the first of its packet.
    fn join(&mut self, frame: Flight, first: FrameId) {
        self.note_delivery(&frame);
        let flags = self.frames.get(frame.frame).segment.flags;
        self.frames.release(frame.frame);
        let segment = &mut self.frames.get_mut(first).segment;
        segment.payload_bytes += frame.payload_bytes;
        segment.flags = segment.flags.with(flags);
    }

    fn receive_alone(&mut self, frame: Flight) {
        if self.datagrams.is_empty() {
            self.receive(frame);
        } else {
            self.receive_datagram(frame);
        }
    }

    /// TCP gets a packet of data. Its application reads when the poll is over.
    fn receive_held(&mut self, packet: Held, readers: &mut Vec<EndpointId>) {
        let Held { first, joining } = packet;
        let endpoint = &mut self.endpoints[first.to.0 as usize];
        let Some(connection) = &mut endpoint.connection else {
            return self.receive(first);
        };
        let host = &mut self.hosts[usize::from(first.destination.0)];
        let memory_bytes = host.joined_memory(joining.frames());
        let segment = &self.frames.get(first.frame).segment;
        let mss = u32::from(joining.segment_bytes());
        connection.handle_aggregate(self.now, segment, mss, memory_bytes);
        self.note_delivery(&first);
        self.frames.release(first.frame);
        if !readers.contains(&first.to) {
            readers.push(first.to);
        }
    }
}
