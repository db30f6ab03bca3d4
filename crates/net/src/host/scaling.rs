//! Receive-side scaling: which of a card's receive queues a frame comes to.
//!
//! Models a card that hashes a frame's flow, so that a flow's frames are all in one queue, and finds the queue in a
//! table of 128 that is filled in turn (Linux Documentation/networking/scaling.rst; ixgbe's redirection table,
//! drivers/net/ethernet/intel/ixgbe/ixgbe_main.c; mlx5 has as many entries and more).
//! Left out: Toeplitz' hash of addresses and ports: drivers draw its key at random (netdev_rss_key_fill), and a mix of
//! the endpoint's number and a key spreads flows as well.

use crate::frame::EndpointId;
use crate::random;

/// Receive queues of a card at most.
pub const QUEUES_MAX: u32 = 64;
/// Entries of the table.
const TABLE: usize = 128;
/// 2^64 over the golden ratio.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Picks queues.
#[derive(Clone, Copy, Debug)]
pub struct Scaling {
    key: u64,
    queues: usize,
    /// The queue of each flow's hash, modulo the table's size.
    table: [u8; TABLE],
}

impl Scaling {
    /// A card with so many `queues`, of which there is one at least; those with other keys spread flows otherwise.
    #[must_use]
    pub fn new(key: u64, queues: u32) -> Scaling {
        let queues = queues.clamp(1, QUEUES_MAX) as usize;
        Scaling {
            key,
            queues,
            table: std::array::from_fn(|entry| (entry % queues) as u8),
        }
    }

    /// How many there are.
    #[must_use]
    pub fn queues(&self) -> usize {
        self.queues
    }

    /// The queue of the flow whose frames are for this endpoint.
    #[inline]
    #[must_use]
    pub fn queue_of(&self, to: EndpointId) -> usize {
        let hash = random::mix((self.key ^ u64::from(to.0)).wrapping_add(GAMMA));
        self.table[hash as usize % TABLE].into()
    }
}

#[cfg(test)]
#[path = "scaling_tests.rs"]
mod tests;
