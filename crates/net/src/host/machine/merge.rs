//! Receive offload: frames of a flow become one packet before TCP has them.
//!
//! Models generic receive offload as [`joining`](crate::host::joining) has it, at the core's cost, and large
//! receive offload as cards have it (RSC): the same, but what acknowledges or is stamped
//! differently joins too, and it costs the core nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Duration;

use crate::host::joining::{HELD_MAX, Joining, Joint};
use crate::pool::Flight;

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

/// Frames that are one packet.
#[derive(Clone, Debug)]
pub(super) struct Packet {
    pub(super) frames: Vec<Flight>,
    joining: Joining,
}

impl Packet {
    fn new(frame: Flight, joint: &Joint) -> Packet {
        Packet {
            frames: vec![frame],
            joining: Joining::new(frame.payload_bytes, joint),
        }
    }

    fn is_of(&self, frame: &Flight) -> bool {
        self.frames.first().is_some_and(|f| f.to == frame.to)
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
        let payload_bytes = frame.payload_bytes;
        let takes = |at: &usize| self.held[*at].joining.takes(payload_bytes, joint, alike);
        if let Some(at) = at.filter(takes) {
            let packet = &mut self.held[at];
            packet.frames.push(frame);
            if packet.joining.join(payload_bytes, joint) {
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
