//! Traffic beside the workload: datagrams that answer to nothing.
//!
//! Cross traffic and reverse traffic as simulators offer it (ns-3's OnOffApplication, `iperf -u` beside
//! a test): a constant bit rate, or packets that come as a Poisson process does, for all of the run or a
//! part of it. It fills queues and is dropped as any frame is; nobody reads it, and losses change
//! nothing. Traffic that reacts to loss is workload `bulk` between more pairs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Rate};

use crate::nearest;
use crate::problem::Finding;
use crate::topology::Topology;
use crate::workload::datagram_finding;

/// Datagrams from one host to another beside the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// The host that sends.
    pub source: String,
    /// The host they are for; what comes to it is counted and thrown away.
    pub destination: String,
    /// Payload offered in the mean.
    pub rate: Rate,
    /// Payload of a datagram.
    #[serde(default = "datagram")]
    #[schemars(default = "datagram")]
    pub datagram: Bytes,
    /// Its datagrams are ECN-capable, ECT(0), as RoCEv2's are; marks go to cards that speak DCQCN.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// How the times between datagrams are spread.
    #[serde(default)]
    #[schemars(default)]
    pub arrivals: Arrivals,
    /// When it begins.
    #[serde(default)]
    #[schemars(default)]
    pub from: Duration,
    /// When it ends; absent: it lasts as long as the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
    /// Traffic class of its frames, 0 to 7.
    #[serde(default)]
    #[schemars(default, range(max = 7))]
    pub priority: u8,
}

/// How the times between datagrams are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// All alike; the first comes after a random part of one.
    #[default]
    Constant,
    /// Exponentially, each independent of the others.
    Poisson,
}

/// As in workload `udp`.
fn datagram() -> Bytes {
    Bytes::new(1470)
}

impl Background {
    /// Places of source and destination in the topology.
    #[must_use]
    pub fn ends(&self, network: &Topology) -> (usize, usize) {
        let place = |name: &str| network.hosts.iter().position(|host| host.name == name);
        // The scenario's checks have seen to it that both are there.
        (
            place(&self.source).unwrap_or(0),
            place(&self.destination).unwrap_or(0),
        )
    }

    /// Mean time between two datagrams.
    #[must_use]
    pub fn gap(&self) -> Duration {
        self.rate.time_for(self.datagram.get())
    }

    pub(crate) fn findings(&self, network: &Topology) -> Vec<Finding> {
        let mut found = Vec::new();
        for (path, name) in [("source", &self.source), ("destination", &self.destination)] {
            if !network.hosts.iter().any(|host| host.name == *name) {
                let names = network.hosts.iter().map(|host| host.name.as_str());
                found.push(Finding::new(
                    path,
                    format!("there is no host {name:?}"),
                    nearest::suggest(name, names),
                ));
            }
        }
        if self.source == self.destination {
            found.push(Finding::new(
                "destination",
                "a host does not send to itself over the network",
                "another host",
            ));
        }
        if self.rate.as_bps() == 0 {
            found.push(Finding::new(
                "rate",
                "nothing would ever be sent",
                "a rate above zero, such as \"2Gbit\"",
            ));
        }
        found.extend(datagram_finding(self.datagram, network));
        if self.until.is_some_and(|until| until <= self.from) {
            found.push(Finding::new(
                "until",
                "it would end before it begins",
                format!("a time after {}", self.from),
            ));
        }
        found
    }
}
