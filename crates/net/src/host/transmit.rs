//! The transmit path as a queue with a limit.
//!
//! Models pfifo_fast with txqueuelen over the card's ring: packets beyond both are refused, which
//! TCP takes as congestion (tcp_enter_cwr). A packet that segmentation offload will cut takes one
//! place, and is as many frames if it is refused. Left out: the classes of pfifo_fast, the card's DMA.

use tailback_units::Time;

use super::HostConfig;
use crate::loss::Losses;
use crate::ring::Ring;

/// A transmit queue.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct TransmitQueue {
    limit: usize,
    /// When each packet in the queue will have left, in order.
    leaving: Ring<Time>,
    /// The first of these; never if there is none.
    first_at: Time,
    refused: Losses,
}

impl TransmitQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(config: &HostConfig) -> TransmitQueue {
        TransmitQueue {
            limit: config.tx_queue_packets as usize + config.tx_ring_descriptors as usize,
            leaving: Ring::default(),
            first_at: Time::NEVER,
            refused: Losses::default(),
        }
    }

    /// Whether there is room for one more packet, with so much payload, at `now`; counts the frames of `mss`
    /// bytes that it would have been as refused if not.
    #[inline(always)]
    pub fn admits(&mut self, now: Time, payload_bytes: u32, mss: u16) -> bool {
        let mut first_at = self.first_at;
        if first_at <= now {
            while first_at <= now {
                let (_, next) = self.leaving.next_front();
                first_at = next.copied().unwrap_or(Time::NEVER);
            }
            self.first_at = first_at;
        }
        self.admits_beside(self.leaving.len(), payload_bytes, mss)
    }

    /// The same where what waits is queued elsewhere: so many packets do.
    #[inline]
    pub fn admits_beside(&mut self, waiting: usize, payload_bytes: u32, mss: u16) -> bool {
        let admitted = waiting < self.limit;
        if !admitted {
            self.refused.count_cut(payload_bytes.into(), mss);
        }
        admitted
    }

    /// The packet just admitted will have left at `at`, no earlier than those before it.
    #[inline(always)]
    pub fn leaves(&mut self, at: Time) {
        self.first_at = self.first_at.min(at);
        self.leaving.push_back(at);
    }

    /// Packets that the queue and the ring hold.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Packets refused because the queue was full.
    #[must_use]
    pub fn refused(&self) -> Losses {
        self.refused
    }
}

#[cfg(test)]
#[path = "transmit_tests.rs"]
mod tests;
