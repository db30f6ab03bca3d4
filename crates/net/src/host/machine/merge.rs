//! Receive offload: frames of a flow become one packet before TCP has them.
//!
//! Models generic receive offload of Linux 7.2 (net/core/gro.c, net/ipv4/tcp_offload.c): within one
//! poll frames of a flow that follow one another and are alike but for their place join; a packet
//! ends with a frame that is pushed, finishes or is short, at 65 535 bytes, or at 17 fragments and its
//! head; a flow is held in one of eight buckets of eight. All are flushed when the poll ends.
//! And large receive offload as cards have it (RSC): the same, but what acknowledges or is stamped
//! differently joins too, and it costs the core nothing.
//! Left out: holding packets beyond a poll (gro_flush_timeout), packets larger than 64 KiB.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Duration;

use crate::pool::Flight;

/// Frames in a packet at most: its head and MAX_SKB_FRAGS fragments (include/linux/skbuff.h).
const FRAMES_MAX: usize = 18;
/// Packet bytes are fewer than these (GRO_LEGACY_MAX_SIZE, include/linux/netdevice.h), with 40 to 60
/// bytes of headers.
const BYTES_MAX: u32 = 65_536 - 60;
/// Flows that are held at a time: GRO_HASH_BUCKETS of MAX_GRO_SKBS each (net/core/gro.c).
const HELD_MAX: usize = 64;

/// Whether frames of a flow are put together before TCP has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Merging {
    /// Each frame goes on its own.
    #[default]
    Off,
    /// The kernel does it in the poll (GRO).
    Gro {
        /// What a frame costs until it has joined a packet; the packet then costs the rest of
        /// `receive_frame` once.
        merge_frame: Duration,
    },
    /// The card does it (LRO, RSC).
    Lro,
}

impl Merging {
    pub(super) fn is_off(&self) -> bool {
        *self == Merging::Off
    }

    /// What a frame costs until it has joined.
    pub(super) fn frame_cost(self) -> Duration {
        match self {
            Merging::Gro { merge_frame } => merge_frame,
            Merging::Off | Merging::Lro => Duration::ZERO,
        }
    }
}

/// What decides whether a frame joins those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joint {
    /// Sequence numbers of its first byte and of the one after its last.
    pub start: u32,
    /// See `start`.
    pub end: u32,
    /// Alike in frames that may be one packet: acknowledgement, window, flags, timestamps, mark.
    pub likeness: u64,
    /// The packet ends with it: it is pushed or finishes.
    pub ends: bool,
    /// It never joins: it carries nothing, or is no data of TCP.
    pub alone: bool,
}

/// Frames that are one packet.
#[derive(Clone, Debug, Default)]
pub(super) struct Packet {
    pub(super) frames: Vec<Flight>,
    bytes: u32,
    end: u32,
    likeness: u64,
}

impl Packet {
    fn new(frame: Flight, joint: &Joint) -> Packet {
        Packet {
            frames: vec![frame],
            bytes: u32::from(frame.payload_bytes),
            end: joint.end,
            likeness: joint.likeness,
        }
    }

    fn is_of(&self, frame: &Flight) -> bool {
        self.frames.first().is_some_and(|f| f.to == frame.to)
    }

    fn takes(&self, frame: &Flight, joint: &Joint, alike: bool) -> bool {
        let segment = self.frames.first().map_or(0, |f| f.payload_bytes);
        !joint.alone
            && joint.start == self.end
            && (!alike || joint.likeness == self.likeness)
            && frame.payload_bytes <= segment
            && self.frames.len() < FRAMES_MAX
            && self.bytes + u32::from(frame.payload_bytes) < BYTES_MAX
    }
}

/// Packets in the making, and those that TCP is to have, in their order.
#[derive(Debug, Default)]
pub(super) struct Merge {
    held: Vec<Packet>,
    ready: std::collections::VecDeque<Packet>,
}

impl Merge {
    /// A frame has come out of the ring.
    pub(super) fn take(&mut self, frame: Flight, joint: &Joint, merging: Merging) {
        let alike = merging != Merging::Lro;
        let at = self.held.iter().position(|packet| packet.is_of(&frame));
        let joins = at.filter(|at| self.held[*at].takes(&frame, joint, alike));
        if let Some(at) = joins {
            let packet = &mut self.held[at];
            packet.frames.push(frame);
            packet.bytes += u32::from(frame.payload_bytes);
            packet.end = joint.end;
            let short = frame.payload_bytes < packet.frames[0].payload_bytes;
            if joint.ends || short {
                self.release(at);
            }
            return;
        }
        if let Some(at) = at {
            self.release(at);
        }
        let packet = Packet::new(frame, joint);
        if joint.alone || joint.ends {
            return self.ready.push_back(packet);
        }
        if self.held.len() == HELD_MAX {
            self.release(0);
        }
        self.held.push(packet);
    }

    /// The poll is over.
    pub(super) fn flush(&mut self) {
        self.ready.extend(self.held.drain(..));
    }

    fn release(&mut self, at: usize) {
        self.ready.push_back(self.held.remove(at));
    }

    /// The next packet for TCP.
    pub(super) fn next(&self) -> Option<&Packet> {
        self.ready.front()
    }

    pub(super) fn pop(&mut self) -> Option<Packet> {
        self.ready.pop_front()
    }

    /// Frames in it.
    pub(super) fn frames(&self) -> impl Iterator<Item = &Flight> {
        let packets = self.held.iter().chain(&self.ready);
        packets.flat_map(|packet| &packet.frames)
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
