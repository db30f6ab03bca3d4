//! Marking of ECN-capable packets at a switch's egress queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Bytes;

/// How a queue marks ECN-capable packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MarkingConfig {
    /// No marking.
    Off {},
    /// Step marking, DCTCP's K: CE on every ECN-capable packet that finds more than `threshold`
    /// bytes queued (Alizadeh et al., SIGCOMM 2010, section 3.1; RFC 8257).
    Step {
        /// The threshold K: bytes of frames in the egress queue on arrival.
        threshold: Bytes,
    },
}

/// A marker at work.
#[derive(Clone, Copy, Debug)]
pub struct Marker {
    /// Bytes queued above which a packet is marked; never reached where marking is off.
    threshold_bytes: u64,
}

impl Marker {
    /// The marker that `config` describes.
    #[must_use]
    pub fn new(config: &MarkingConfig) -> Marker {
        let threshold_bytes = match config {
            MarkingConfig::Off {} => u64::MAX,
            MarkingConfig::Step { threshold } => threshold.get(),
        };
        Marker { threshold_bytes }
    }

    /// Whether a packet that finds `queued_bytes` ahead of it is to be marked.
    #[inline]
    #[must_use]
    pub fn marks(self, queued_bytes: u64) -> bool {
        queued_bytes > self.threshold_bytes
    }
}

#[cfg(test)]
#[path = "marking_tests.rs"]
mod tests;
