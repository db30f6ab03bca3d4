//! Request and response: one question at a time over each connection.
//!
//! Models netperf's TCP_RR: a client sends a request, the server answers when it has read all of it,
//! and the client sends the next when it has read the answer. How long that takes is the latency
//! that an application sees, handshake left out.
//! Left out: several requests under way on one connection (netperf's burst), time to think.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::random::Stream;
use tailback_units::{Bytes, Duration, Time};

use super::bulk::Pairs;
use super::flow::Flow;
use crate::problem::Finding;
use crate::topology::Topology;

/// Questions and answers between fixed pairs of hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponse {
    /// Who asks whom.
    pub pairs: Pairs,
    /// Payload of a request.
    #[serde(default = "one_byte")]
    #[schemars(default = "one_byte")]
    pub request: Bytes,
    /// Payload of its answer.
    #[serde(default = "one_byte")]
    #[schemars(default = "one_byte")]
    pub response: Bytes,
    /// When the run ends.
    pub duration: Duration,
    /// Connections of each pair.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000), default = "one")]
    pub connections: u32,
    /// Each connection is opened at a random time from 0 to this.
    #[serde(default = "start_within")]
    #[schemars(default = "start_within")]
    pub start_within: Duration,
}

/// netperf's default (TCP_RR -r 1,1).
fn one_byte() -> Bytes {
    Bytes::new(1)
}

fn one() -> u32 {
    1
}

/// As `bulk`'s. [assumed]
fn start_within() -> Duration {
    Duration::from_us(100)
}

impl RequestResponse {
    /// The connections that `seed` gives on `network`, in the order of their starts.
    #[must_use]
    pub fn flows(&self, seed: u64, network: &Topology) -> Vec<Flow> {
        let mut starts = Stream::new(seed, "request-response-start", 0);
        let mut flows = Vec::new();
        for (source, destination) in self.pairs.of(seed, 0, network) {
            for _ in 0..self.connections {
                let start = starts.below(self.start_within.as_ps().saturating_add(1));
                flows.push(Flow {
                    start: Time::from_ps(start),
                    source,
                    destination,
                    bytes: None,
                    congestion: None,
                    priority: 0,
                    query: None,
                });
            }
        }
        flows.sort_by_key(|flow| flow.start);
        flows
    }

    /// A guess: a round trip of 20 us.
    pub(super) fn expected_bytes(&self) -> u64 {
        let each = self.request.get() + self.response.get();
        self.duration.as_us() / 20 * each * u64::from(self.connections)
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        if self.duration.is_zero() {
            found.push(Finding::new(
                "duration",
                "the run would end before it begins",
                "a time above zero, such as \"1s\"",
            ));
        }
        found.extend(super::never_begin(
            "start_within",
            self.start_within,
            self.duration,
        ));
        for (name, bytes) in [("request", self.request), ("response", self.response)] {
            if bytes.get() == 0 {
                found.push(Finding::new(
                    name,
                    "nothing would tell that it has come",
                    "at least \"1B\"",
                ));
            }
        }
        found
    }
}
