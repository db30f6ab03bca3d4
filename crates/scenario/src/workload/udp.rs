//! UDP: datagrams at a constant rate between fixed pairs of hosts.
//!
//! Models `iperf -u` as the lambda-rings study runs it (Marian et al.): a sender that writes a
//! datagram whenever one is due by its rate, and several at once if it is late; a receiver that reads
//! one datagram a system call and counts which are missing and which came out of order.
//! Left out: iperf's final report over the same path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Rate};

use super::bulk::Pairs;
use crate::problem::Finding;
use crate::topology::Topology;

/// Datagrams at a constant rate between fixed pairs of hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Udp {
    /// Who sends to whom.
    pub pairs: Pairs,
    /// Payload that each sender offers (iperf's -b).
    pub rate: Rate,
    /// Payload of a datagram (iperf's -l).
    #[serde(default = "datagram")]
    #[schemars(default = "datagram")]
    pub datagram: Bytes,
    /// How long they send (iperf's -t).
    pub duration: Duration,
    /// SO_RCVBUF as the receiver asks for it (iperf's -w); Linux doubles it, within rmem_max.
    pub socket_buffer: Bytes,
    /// Of so many of a receiver's first datagrams the times of arrival are recorded, as its
    /// interrupt handler or poll sees them.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub record_arrivals: u32,
}

/// iperf's for IPv4 at MTU 1500.
fn datagram() -> Bytes {
    Bytes::new(1470)
}

/// Largest payload of a datagram that is not fragmented on jumbo Ethernet of 9216 bytes.
const DATAGRAM_MAX: u64 = 9216 - 28;

impl Udp {
    /// Source and destination of each pair, by their places in the topology.
    #[must_use]
    pub fn flows(&self, seed: u64, network: &Topology) -> Vec<(usize, usize)> {
        self.pairs.of(seed, network)
    }

    /// Time between two datagrams of a sender.
    #[must_use]
    pub fn gap(&self) -> Duration {
        self.rate.time_for(self.datagram.get())
    }

    /// Bytes that one pair sends.
    pub(super) fn expected_bytes(&self) -> u64 {
        self.duration.as_ps() / self.gap().as_ps().max(1) * self.datagram.get()
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found: Vec<Finding> = super::no_time(self.duration, "60s").into_iter().collect();
        if self.rate.as_bps() == 0 {
            found.push(Finding::new(
                "rate",
                "nothing would be sent",
                "a rate above zero, such as \"400Mbit\"",
            ));
        }
        let bytes = self.datagram.get();
        if bytes == 0 || bytes > DATAGRAM_MAX {
            found.push(Finding::new(
                "datagram",
                format!("a datagram of {} is not sent as one frame", self.datagram),
                "1 B to 28 bytes less than the MTU, such as \"1470B\"",
            ));
        }
        found
    }

    /// Pairs that do not fit `network`, and datagrams that do not fit its links.
    pub(super) fn name_findings(&self, network: &Topology) -> Vec<Finding> {
        let mut found = self.pairs.name_findings(network);
        let mtu = network.links.iter().map(|l| l.config.mtu.get()).min();
        if mtu.is_some_and(|mtu| self.datagram.get() + 28 > mtu) {
            found.push(Finding::new(
                "datagram",
                format!(
                    "{} and 28 bytes of headers do not fit an MTU of {}",
                    self.datagram,
                    Bytes::new(mtu.unwrap_or_default())
                ),
                "a smaller datagram or a larger MTU",
            ));
        }
        found
    }
}

#[cfg(test)]
#[path = "udp_tests.rs"]
mod tests;
