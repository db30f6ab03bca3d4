//! What a machine has counted, and what is in it.

use tailback_units::Duration;

use super::core::Core;
use super::nic::Nic;
use super::{Effect, Machine};
use crate::loss::Losses;
use crate::pool::Flight;

impl Machine {
    /// Frames that found the ring full.
    #[must_use]
    pub fn ring_dropped(&self) -> Losses {
        let mut all = Losses::default();
        for nic in &self.nics {
            all += nic.dropped;
        }
        all
    }

    /// Frames that have arrived.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.nics.iter().map(|nic| nic.arrived).sum()
    }

    /// Frames that found the backlog full.
    #[must_use]
    pub fn backlog_dropped(&self) -> Losses {
        self.backlog_dropped
    }

    /// Interrupts of the card.
    #[must_use]
    pub fn interrupts(&self) -> u64 {
        self.nics.iter().map(|nic| nic.interrupts).sum()
    }

    /// How long each core has worked.
    pub fn busy(&self) -> impl Iterator<Item = Duration> {
        self.cores.iter().map(|core| core.busy)
    }

    /// Frames that are in the machine or on their way to it.
    pub fn waiting(&self) -> impl Iterator<Item = &Flight> {
        let held = self.cores.iter().flat_map(Core::held);
        let rings = self.nics.iter().flat_map(Nic::waiting);
        let lost = self.lost.iter().filter_map(|effect| match effect {
            Effect::BacklogFull(frame) | Effect::RingFull(frame) => Some(frame),
            _ => None,
        });
        rings.chain(held).chain(lost)
    }
}
