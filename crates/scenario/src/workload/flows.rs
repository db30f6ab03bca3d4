//! Flows that arrive at random: an open workload at a given load.
//!
//! Models the usual workload of studies of data-centre transport (Alizadeh et al., SIGCOMM 2010
//! and 2013): at each host flows arrive as a Poisson process whose rate makes the host's link carry
//! `load` of its rate on average; sizes come from a distribution; the destination is any other host, or one of the source's
//! own switch with a given probability (racks.rs).
//! Load counts payload. Left out: connections kept open for several flows, dependence of flows on one
//! another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::random::Stream;
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Duration, Time};

use super::flow::{self, Flow};
use super::queries::Queries;
use super::racks::Racks;
use super::sizes::Sizes;
use crate::problem::Finding;
use crate::topology::Topology;

/// Flows between random hosts that arrive at random times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flows {
    /// Share of each host's line rate that it sends on average, as payload.
    #[schemars(range(min = 0.000_001, max = 1.0))]
    pub load: f64,
    /// How large flows are.
    pub sizes: Sizes,
    /// Flows arrive from the beginning until then; the run ends when all are complete.
    pub duration: Duration,
    /// Most time that flows get to complete after that.
    #[serde(default = "drain")]
    #[schemars(default = "drain")]
    pub drain: Duration,
    /// Congestion controls that sources ask for by TCP_CONGESTION, as iperf3's -C: a host's flows take turns.
    /// Absent: the host's `stack.tcp_congestion_control`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["cubic", "reno"]]))]
    pub congestion: Vec<CongestionKind>,
    /// Priorities of its packets both ways, 0 to 7 (SO_PRIORITY): a switch's traffic classes. Flows take
    /// turns. Absent: 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = 0, max = 7)), extend("examples" = [[0, 3]]))]
    pub priority: Vec<u8>,
    /// Share of a host's flows to hosts at its own switch, all of them alike; the others go to hosts at other switches, all
    /// alike. Absent: to any other host, all alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [0.0]))]
    pub local_share: Option<f64>,
    /// Queries beside them, each answered by many hosts at once. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<Queries>,
}

/// Long beside any timeout but those backed off many times. [assumed]
fn drain() -> Duration {
    Duration::from_secs(10)
}

impl Flows {
    /// The flows that `seed` gives on `network`, in the order of their starts.
    #[must_use]
    pub fn flows(&self, seed: u64, network: &Topology) -> Vec<Flow> {
        let sizes = self.sizes.distribution();
        let hosts = network.hosts.len();
        let racks = self.local_share.map(|share| (Racks::new(network), share));
        let mut flows = Vec::new();
        for (source, (rate, _)) in flow::host_lines(network).into_iter().enumerate() {
            let gap_ps = flow::gap_ps(self.load, rate, sizes.mean_bytes());
            let mut stream = Stream::new(seed, "flows", source as u64);
            let mut start = stream.exponential(gap_ps);
            let mut number = 0;
            while start < self.duration.as_ps() {
                let destination = match &racks {
                    Some((racks, share)) => racks.draw(&mut stream, source, *share),
                    None => {
                        let other = stream.below(hosts as u64 - 1) as usize;
                        other + usize::from(other >= source)
                    }
                };
                flows.push(Flow {
                    start: Time::from_ps(start),
                    source,
                    destination,
                    bytes: Some(sizes.draw(&mut stream)),
                    congestion: flow::turn(&self.congestion, number),
                    priority: flow::turn(&self.priority, number).unwrap_or(0),
                    query: None,
                });
                number += 1;
                start = start.saturating_add(stream.exponential(gap_ps).max(1));
            }
        }
        if let Some(queries) = &self.queries {
            flows.extend(queries.flows(seed, self.duration, network));
        }
        flows.sort_by_key(|flow| (flow.start, flow.source));
        flows
    }

    /// How many flows arrive on `network`, on average; none if sizes or times are not sound.
    pub(crate) fn expected_flows(&self, network: &Topology) -> u64 {
        if !self.findings().is_empty() {
            return 0;
        }
        let mean_bytes = self.sizes.distribution().mean_bytes();
        let flows = flow::arrivals(self.load, mean_bytes, self.duration, network);
        let answers = self
            .queries
            .as_ref()
            .map_or(0, |queries| queries.expected_flows(self.duration, network));
        flows.saturating_add(answers)
    }

    /// Bytes that the run may bring, as if to ten hosts at 10 Gb/s.
    pub(super) fn expected_bytes(&self) -> u64 {
        (self.duration.as_us() as f64 * 12_500.0 * self.load) as u64
    }

    /// Queries that more hosts are to answer than there are, and destinations that there are not.
    pub(super) fn name_findings(&self, network: &Topology) -> Vec<Finding> {
        let queries = self.queries.iter();
        let racks = self
            .local_share
            .and_then(|share| Racks::finding(network, share));
        queries
            .flat_map(|queries| queries.name_findings(network))
            .chain(racks)
            .collect()
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found = self.sizes.findings("sizes");
        let queries = self.queries.as_ref();
        found.extend(
            queries
                .into_iter()
                .flat_map(|queries| queries.findings(self.drain)),
        );
        if self.duration.is_zero() {
            found.push(Finding::new(
                "duration",
                "no flow would ever arrive",
                "a time above zero, such as \"50ms\"",
            ));
        }
        found
    }
}

#[cfg(test)]
#[path = "flows_tests.rs"]
mod tests;
