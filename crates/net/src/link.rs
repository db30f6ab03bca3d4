//! Point-to-point full-duplex Ethernet links.
//!
//! Models one direction as a serialiser and a pipe: frames leave one after another at line rate,
//! each takes the propagation delay, none overtakes another. Random loss is independent from
//! frame to frame (a bit error the FCS finds). Left out: burst loss, jitter, reordering.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{ByteTime, Bytes, Duration, Rate, Time};

use crate::pool::Flight;
use crate::random::{self, Stream};
use crate::ring::Ring;

/// A full-duplex Ethernet link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Line rate in decimal bits per second.
    pub rate: Rate,
    /// Propagation delay, one way. 5 ns a metre in copper or fibre.
    pub delay: Duration,
    /// Largest IP packet that the link carries (the IP MTU), 576 B to 9216 B.
    pub mtu: Bytes,
    /// Probability that a frame is lost on the link, in each direction, independently; 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss: f64,
}

/// One direction of a link: what is on its way, in order.
#[derive(Debug)]
pub struct Link {
    byte_time: ByteTime,
    delay: Duration,
    /// When the transmitter has sent all it was given.
    free_at: Time,
    /// A frame is lost if a random 64-bit number is below this.
    loss_below: u64,
    stream: Stream,
    flying: Ring<Flight>,
    lost: u64,
    lost_payload_bytes: u64,
}

impl Link {
    /// An idle link; `stream` decides which frames are lost.
    #[must_use]
    pub fn new(config: &LinkConfig, stream: Stream) -> Link {
        Link {
            byte_time: config.rate.byte_time(),
            delay: config.delay,
            free_at: Time::ZERO,
            loss_below: random::threshold(config.loss),
            stream,
            flying: Ring::default(),
            lost: 0,
            lost_payload_bytes: 0,
        }
    }

    /// When the transmitter will be free.
    #[inline]
    #[must_use]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// Time to serialise a frame with its preamble and gap.
    #[inline]
    #[must_use]
    pub fn serialisation(&self, frame: &Flight) -> Duration {
        self.byte_time.time_for(frame.wire_bytes())
    }

    /// Sends a frame as soon as the transmitter is free, but not before `earliest`; the answer is
    /// when its last bit has left.
    #[inline]
    pub fn transmit(&mut self, earliest: Time, frame: &Flight) -> Time {
        let finish = self.free_at.max(earliest) + self.serialisation(frame);
        self.free_at = finish;
        finish
    }

    /// When a frame whose last bit left at `finish` has arrived.
    #[inline]
    #[must_use]
    pub fn arrival(&self, finish: Time) -> Time {
        finish + self.delay
    }

    /// Decides whether the frame is lost on the way, and counts it if so.
    #[inline]
    pub fn loses(&mut self, frame: &Flight) -> bool {
        if self.loss_below == 0 || self.stream.next_u64() >= self.loss_below {
            return false;
        }
        self.lost += 1;
        self.lost_payload_bytes += u64::from(frame.payload_bytes);
        true
    }

    /// Puts a frame on its way, to be handled at its `at`, no earlier than the one before it. True
    /// if nothing was on its way, so that this is now the next event of the link.
    #[inline]
    pub fn launch(&mut self, frame: Flight) -> bool {
        debug_assert!(
            self.flying.back().is_none_or(|last| last.at <= frame.at),
            "a frame overtakes"
        );
        self.flying.push_back(frame);
        self.flying.len() == 1
    }

    /// When the next frame is to be handled.
    #[inline]
    #[must_use]
    pub fn next_at(&self) -> Option<Time> {
        self.flying.front().map(|f| f.at)
    }

    /// Takes the next frame.
    #[inline]
    pub fn land(&mut self) -> Option<Flight> {
        self.flying.pop_front()
    }

    /// Frames on their way.
    pub fn flying(&self) -> impl Iterator<Item = &Flight> {
        self.flying.iter()
    }

    /// Frames lost on the link so far.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Payload bytes of the frames lost so far.
    #[must_use]
    pub fn lost_payload_bytes(&self) -> u64 {
        self.lost_payload_bytes
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
