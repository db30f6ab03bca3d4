//! Marking with a probability linear in queue depth, as a switch of the ECN-switch study does it.
//!
//! Models the remarking of the Aruba switch in that study (HPE 2019): probability =
//! `probability_rise` × (memory in use − `mem_start_point`), both sides in percent of the queue's
//! memory, so that a rise of 1 from 0 marks every packet of a full queue and every second one of a
//! half-full one. Assumed, as the study does not say: the use is instantaneous and looked at as the
//! packet joins the queue, itself not counted. Left out: how coarsely the chip quantises either.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_tcp::Header;

use super::{Mark, QueueLook};
use crate::random::{self, Stream};

/// Parameters of linear marking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearConfig {
    /// Percentage points of probability for every percentage point of the queue's memory in use.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub probability_rise: f64,
    /// Percent of the queue's memory in use where marking begins.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub mem_start_point: f64,
    /// What a mark is.
    #[serde(default)]
    pub mark: Mark,
}

/// Where the probability rises for queues of one size.
#[derive(Clone, Copy, Debug)]
struct Slope {
    start_bytes: u64,
    /// What a random 64-bit number has to be below, for every byte beyond the start.
    rise_per_byte: u64,
}

/// Linear marking at work.
#[derive(Clone, Debug)]
pub struct Linear {
    /// By band.
    slopes: Vec<Slope>,
    mark: Mark,
    stream: Stream,
}

impl Linear {
    pub(super) fn new(config: &LinearConfig, capacities_bytes: &[u64], stream: Stream) -> Linear {
        let slope = |bytes: &u64| {
            let capacity = (*bytes).max(1) as f64;
            Slope {
                start_bytes: (capacity * config.mem_start_point / 100.0) as u64,
                rise_per_byte: random::threshold(config.probability_rise / capacity),
            }
        };
        Linear {
            slopes: capacities_bytes.iter().map(slope).collect(),
            mark: config.mark,
            stream,
        }
    }

    #[inline]
    pub(super) fn arrive(&mut self, queue: QueueLook, header: &mut Header) -> bool {
        let slope = self.slopes[usize::from(queue.band)];
        let beyond = queue.queued_bytes.saturating_sub(slope.start_bytes);
        if beyond == 0 {
            return false;
        }
        let below = beyond.saturating_mul(slope.rise_per_byte);
        self.stream.next_u64() <= below && self.mark.set(header)
    }
}

#[cfg(test)]
#[path = "linear_tests.rs"]
mod tests;
