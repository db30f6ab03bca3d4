//! Messages to everybody at a given load: the traffic pattern of IEEE 802.1's congestion studies.
//!
//! Models the pattern of the L2 congestion-management study (Geisler, Wadekar, IEEE 802.1, 2007): at
//! each host time is cut into slots of a message's line time, which is one full frame's there; in each slot a
//! message comes with probability `load`, for a host drawn uniformly from all others. Messages go over TCP: one
//! connection from each host to each other, open from the beginning; what TCP does not take yet
//! waits in the application, without bound. Left out: what the study's messages were beside
//! full-sized, which it does not say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::frame::{ETHERNET_BYTES, GAP_BYTES, IP_HEADER_BYTES, TCP_HEADER_BYTES};
use tailback_units::{Bytes, Duration, Rate};

use super::flow;
use crate::problem::Finding;
use crate::topology::Topology;

/// Messages from every host to all others at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bernoulli {
    /// Probability that a message comes in a slot: the share of its line that a host offers.
    #[schemars(range(min = 0.000_001, max = 1.0))]
    pub load: f64,
    /// Payload of a message; with the headers of as many full frames as it takes, it takes a slot.
    #[serde(default = "message")]
    #[schemars(default = "message")]
    pub message: Bytes,
    /// Messages come, and the run lasts, until then.
    pub duration: Duration,
}

/// The payload of a full frame at MTU 1500, without options.
fn message() -> Bytes {
    Bytes::new(1460)
}

impl Bernoulli {
    /// The length of each host's slot.
    #[must_use]
    pub fn slots(&self, network: &Topology) -> Vec<Duration> {
        let packet = u64::from(TCP_HEADER_BYTES + IP_HEADER_BYTES);
        let headers = packet + u64::from(ETHERNET_BYTES + GAP_BYTES);
        let slot = |(rate, mtu): (Rate, Bytes)| {
            let most = mtu.get().saturating_sub(packet).max(1);
            let frames = self.message.get().div_ceil(most);
            rate.time_for(self.message.get() + frames * headers)
        };
        flow::host_lines(network).into_iter().map(slot).collect()
    }

    /// Bytes that the run may bring, as if to ten hosts at 10 Gb/s.
    pub(super) fn expected_bytes(&self) -> u64 {
        (self.duration.as_us() as f64 * 12_500.0 * self.load) as u64
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found: Vec<Finding> = super::no_time(self.duration, "500ms").into_iter().collect();
        if self.message.get() == 0 {
            found.push(Finding::new(
                "message",
                "no bytes to send",
                "a size above zero, such as \"1460B\"",
            ));
        }
        found
    }
}

#[cfg(test)]
#[path = "bernoulli_tests.rs"]
mod tests;
