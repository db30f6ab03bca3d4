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

use std::ops::Range;

use tailback_net::frame::{EndpointId, HostId};
use tailback_net::host::joining::{HELD_MAX, JoinedMemory, Joining, Joint};
use tailback_net::host::{FrameMemory, ReceiveRing};
use tailback_net::link::Link;
use tailback_net::pool::{Flight, FrameId, FramePool};
use tailback_tcp::{Arrival, Flags, Header, Segment, Seq};
use tailback_units::Time;

use super::hosts::course;
use super::ledger::Tally;
use super::{HostState, World};

/// Frames in a poll at most (NAPI_POLL_WEIGHT, include/linux/netdevice.h).
const WEIGHT: usize = 64;

/// What a host's poll has in hand.
#[derive(Debug, Default)]
pub(crate) struct Gro {
    /// Frames in front of the link that are known to belong to the poll, and when the last is handled.
    known: usize,
    until: Time,
    /// What is in the making: empty between polls, and away during one.
    hand: Option<Box<Hand>>,
}

/// Packets in the making, those that are made and not TCP's yet, and endpoints whose applications have
/// something to read.
#[derive(Debug, Default)]
struct Hand {
    held: Vec<Held>,
    made: Vec<Held>,
    readers: Vec<EndpointId>,
}

/// A packet in the making: its first frame, in the pool, is made to have all of its data in the end.
#[derive(Clone, Copy, Debug)]
struct Held {
    first: Flight,
    joining: Joining,
    memory: JoinedMemory,
    /// What it acknowledges, and what else is alike in frames that surely join it and do not end it.
    ack: Seq,
    likeness: (u64, u64),
}

impl Held {
    /// A packet that begins with this frame.
    fn new(first: Flight, header: &Header, joint: &Joint) -> Held {
        Held {
            joining: Joining::new(first.payload_bytes, joint),
            memory: JoinedMemory::default(),
            ack: header.ack,
            likeness: header.likeness(),
            first,
        }
    }

    /// Takes a frame that is like the first but for its place, if it is the next.
    #[inline(always)]
    fn goes_on(&mut self, header: &Header) -> bool {
        header.likeness() == self.likeness
            && header.ack == self.ack
            && !header.has_ecn_counters()
            && self.joining.goes_on(header.seq.0)
    }
}

/// What became of a frame of a poll.
enum Polled {
    Joined,
    Begins,
    /// It goes its way alone.
    Alone,
}

impl Hand {
    /// A frame of a poll joins the packet of its flow, which is at `of_flow`, and perhaps ends it, begins one, or
    /// does neither. `ends`: so many endpoints there are.
    #[inline(never)]
    fn take(
        &mut self,
        of_flow: Option<usize>,
        frame: &Flight,
        frames: &mut FramePool,
        (host, ends): (&mut HostState, usize),
    ) -> Polled {
        let joint = joint(frames, frame.frame);
        let header = frames.header(frame.frame);
        if let Some(at) = of_flow {
            let packet = &mut self.held[at];
            if packet.joining.takes(frame.payload_bytes, &joint, true) {
                let memory = host.frame_memory(frame.frame_bytes);
                packet.memory.join(memory, host.config.rx_head_bytes);
                if packet.joining.join(frame.payload_bytes, &joint) {
                    let flags = header.flags;
                    let first = frames.header_mut(packet.first.frame);
                    first.flags = first.flags.with(flags);
                    self.made.push(take_out(&mut self.held, at));
                }
                return Polled::Joined;
            }
            self.made.push(take_out(&mut self.held, at));
        }
        if joint.alone || (frame.to.0 as usize) >= ends {
            return Polled::Alone;
        }
        if self.held.len() == HELD_MAX {
            self.made.push(take_out(&mut self.held, 0));
        }
        let mut packet = Held::new(*frame, header, &joint);
        packet.memory.join(host.frame_memory(frame.frame_bytes), 0);
        let packets = if joint.ends {
            &mut self.made
        } else {
            &mut self.held
        };
        packets.push(packet);
        Polled::Begins
    }
}

impl Gro {
    /// When the poll that is at work is over, as far as is known at `now`.
    pub(super) fn goes_on(&self, now: Time) -> Option<Time> {
        (self.until > now).then_some(self.until)
    }

    /// Counts the frames in front of the link that a poll takes which is at work: each comes before the
    /// one before it has been handled.
    #[inline(always)]
    fn look(&mut self, link: &Link, ring: &ReceiveRing) {
        let (mut known, mut until) = (self.known, self.until);
        // Most are as long as the one before.
        let mut cost = ring.cost_of_last();
        'frames: for stretch in link.flying_between(known, WEIGHT) {
            for next in stretch {
                if cost.0 != next.payload_bytes {
                    cost = (next.payload_bytes, ring.cost(next.payload_bytes));
                }
                if next.at != until + cost.1 && known > 0 {
                    break 'frames;
                }
                known += 1;
                until = next.at;
            }
        }
        (self.known, self.until) = (known, until);
    }
}

/// Takes one out of the few packets in the making; the others stay in their order.
#[inline]
fn take_out(held: &mut Vec<Held>, at: usize) -> Held {
    let packet = held[at];
    for later in at + 1..held.len() {
        held[later - 1] = held[later];
    }
    held.pop();
    packet
}

/// What decides whether a segment joins others before TCP has them (tcp_gro_receive of Linux 7.2):
/// acknowledgement, window, flags but PSH and FIN, options and mark are to be alike. What is not TCP's has no
/// flags, and joins nothing.
pub(super) fn joint(frames: &FramePool, id: FrameId) -> Joint {
    let header = frames.header(id);
    let ends = Flags::PSH.with(Flags::FIN);
    let first = Flags::SYN.with(Flags::RST);
    let plain =
        header.flags.contains(Flags::ACK) && !header.flags.intersects(first) && !header.has_sack();
    // Alike segments of one connection differ in nothing else: a sum tells them apart well enough.
    let mut likeness = u64::from(header.ack.0) << 32 | u64::from(header.ts_val);
    likeness ^= u64::from(header.ts_ecr).rotate_left(17);
    likeness ^= u64::from(header.window).rotate_left(41) ^ (header.ecn as u64);
    likeness ^= u64::from(header.flags.without(ends).0).rotate_left(25);
    if header.has_ecn_counters() {
        likeness = likeness.wrapping_add(counted(&frames.segment(id)));
    }
    Joint {
        start: header.seq.0,
        end: header.seq.0.wrapping_add(header.payload_bytes.into()),
        likeness,
        ends: header.flags.intersects(ends),
        alone: header.payload_bytes == 0 || !plain,
    }
}

/// What accurate ECN's option adds to the likeness: three counters of 24 bits.
#[cold]
#[inline(never)]
fn counted(segment: &Segment) -> u64 {
    let told = segment.ecn_counters().unwrap_or_default();
    told.iter().fold(told.len() as u64, |sum, counter| {
        sum.rotate_left(24).wrapping_mul(3) ^ u64::from(*counter)
    })
}

impl HostState {
    /// What a frame that is received lies in.
    #[inline]
    pub(super) fn frame_memory(&mut self, frame_bytes: u16) -> FrameMemory {
        match &mut self.buffers {
            Some(pages) => pages.take(frame_bytes),
            None => FrameMemory {
                bytes: self.config.rx_truesize_bytes,
                fragments: 1,
                room: 0,
            },
        }
    }
}

impl World {
    /// A host looks at the link that it polls: its poll is over, or more has come meanwhile.
    pub(super) fn handle_poll(&mut self, rank: u32, host: HostId) {
        let now = self.now;
        let state = &mut self.hosts[usize::from(host.0)];
        let Some(gro) = &mut state.gro else { return };
        gro.look(&self.links[rank as usize].link, &state.ring);
        if gro.until > now {
            self.calendar.schedule(rank, gro.until);
            return;
        }
        let frames = std::mem::take(&mut gro.known);
        let mut hand = gro.hand.take().unwrap_or_default();
        self.hops += frames as u64;
        let mut done = 0;
        while let Some(&frame) = self.links[rank as usize].link.flying_behind(done)
            && done < frames
        {
            let may_join = frame.payload_bytes > 0 || !hand.held.is_empty();
            if may_join {
                let before = done;
                done = self.join_polled((rank, host), done..frames, &mut hand);
                for packet in &hand.made {
                    self.receive_held(packet, &mut hand.readers);
                }
                hand.made.clear();
                if done > before {
                    continue;
                }
            }
            self.receive_alone(frame);
            done += 1;
        }
        self.links[rank as usize].link.forget_polled(frames);
        for packet in &hand.held {
            self.receive_held(packet, &mut hand.readers);
        }
        hand.held.clear();
        for &reader in &hand.readers {
            self.drive(reader);
        }
        hand.readers.clear();
        let state = &mut self.hosts[usize::from(host.0)];
        if let Some(buffers) = &mut state.buffers {
            buffers.polled();
        }
        if let Some(gro) = &mut state.gro {
            gro.hand = Some(hand);
        }
        if let Some(next) = self.links[rank as usize].link.next() {
            let at = next.at;
            self.calendar.schedule(rank, at);
        }
    }

    /// Makes packets of these frames of a poll, up to the first that goes its way alone: answers which
    /// that is.
    #[inline(never)]
    fn join_polled(
        &mut self,
        (rank, host): (u32, HostId),
        polled: Range<usize>,
        hand: &mut Hand,
    ) -> usize {
        let link = &self.links[rank as usize].link;
        let host = &mut self.hosts[usize::from(host.0)];
        let head_bytes = host.config.rx_head_bytes;
        let frames = &mut self.frames;
        let ends = self.endpoints.len();
        let (mut delivered, mut sum) = (Tally::default(), 0_u64);
        let mut done = polled.start;
        'frames: for stretch in link.flying_between(polled.start, polled.end) {
            for frame in stretch {
                let header = frames.header(frame.frame);
                let seen = course(frame, header, self.now);
                let mut packets = hand.held.iter_mut().enumerate();
                let of_flow = packets.find(|(_, packet)| packet.first.to == frame.to);
                let (at, joined) = match of_flow {
                    Some((at, packet)) => {
                        let goes_on = packet.goes_on(header);
                        if goes_on {
                            let memory = host.frame_memory(frame.frame_bytes);
                            packet.memory.join(memory, head_bytes);
                        }
                        (Some(at), goes_on)
                    }
                    None => (None, false),
                };
                let became = if joined {
                    Polled::Joined
                } else {
                    hand.take(at, frame, frames, (host, ends))
                };
                match became {
                    Polled::Joined => {
                        delivered.count(frame);
                        sum = sum.wrapping_add(seen);
                        frames.release(frame.frame);
                    }
                    Polled::Begins => {}
                    Polled::Alone => break 'frames,
                }
                done += 1;
            }
        }
        self.ledger.delivered += delivered;
        self.trajectory = self.trajectory.wrapping_add(sum);
        done
    }

    #[inline(never)]
    pub(super) fn receive_alone(&mut self, frame: Flight) {
        if self.datagrams.is_empty() {
            self.receive(frame);
        } else {
            self.receive_datagram(frame);
        }
    }

    /// TCP gets a packet of data. Its application reads when the poll is over.
    fn receive_held(&mut self, packet: &Held, readers: &mut Vec<EndpointId>) {
        let Held {
            first,
            joining,
            memory,
            ..
        } = *packet;
        let endpoint = &mut self.endpoints[first.to.0 as usize];
        let Some(connection) = &mut endpoint.connection else {
            self.frames.header_mut(first.frame).payload_bytes = joining.bytes() as u16;
            return self.receive(first);
        };
        let mut segment = self.frames.segment(first.frame);
        segment.payload_bytes = joining.bytes() as u16;
        let arrival = Arrival {
            mss: joining.segment_bytes(),
            memory_bytes: memory.bytes(),
            fragments: memory.fragments() as u8,
            room: memory.room(),
        };
        connection.handle_aggregate(self.now, &segment, arrival);
        self.note_delivery(&first);
        self.frames.release(first.frame);
        if !readers.contains(&first.to) {
            readers.push(first.to);
        }
    }
}
