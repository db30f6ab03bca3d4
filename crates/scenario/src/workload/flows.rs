//! Flows that arrive at random: an open workload at a given load.
//!
//! Models the usual workload of studies of data-centre transport (Alizadeh et al., SIGCOMM 2010
//! and 2013): at each host flows arrive as a Poisson process whose rate makes the host's link carry
//! `load` of its rate on average; sizes come from a distribution; the destination is any other host.
//! Load counts payload. Left out: connections kept open for several flows, dependence of flows on one
//! another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::random::Stream;
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Duration, Rate, Time};

use super::flow::{self, Flow};
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
        let mut flows = Vec::new();
        for (source, (rate, _)) in flow::host_lines(network).into_iter().enumerate() {
            let gap_ps = self.gap_ps(rate, sizes.mean_bytes());
            let mut stream = Stream::new(seed, "flows", source as u64);
            let mut start = stream.exponential(gap_ps);
            let mut number = 0;
            while start < self.duration.as_ps() {
                let other = stream.below(hosts as u64 - 1) as usize;
                flows.push(Flow {
                    start: Time::from_ps(start),
                    source,
                    destination: other + usize::from(other >= source),
                    bytes: Some(sizes.draw(&mut stream)),
                    congestion: flow::turn(&self.congestion, number),
                    priority: flow::turn(&self.priority, number).unwrap_or(0),
                });
                number += 1;
                start = start.saturating_add(stream.exponential(gap_ps).max(1));
            }
        }
        flows.sort_by_key(|flow| (flow.start, flow.source));
        flows
    }

    /// Mean time between the flows of a host with this line, picoseconds.
    fn gap_ps(&self, rate: Rate, mean_bytes: u64) -> u64 {
        // In 2^-32, so that the same number comes out everywhere.
        let load = (self.load * 4_294_967_296.0) as u128;
        let line = u128::from(rate.time_for(mean_bytes).as_ps());
        ((line << 32) / load.max(1)).min(u128::from(u64::MAX)) as u64
    }

    /// How many flows arrive on `network`, on average; none if sizes or times are not sound.
    pub(crate) fn expected_flows(&self, network: &Topology) -> u64 {
        if !self.findings().is_empty() {
            return 0;
        }
        let mean_bytes = self.sizes.distribution().mean_bytes();
        let of = |rate| self.duration.as_ps() / self.gap_ps(rate, mean_bytes).max(1);
        let lines = flow::host_lines(network).into_iter();
        lines.fold(0, |sum, (rate, _)| of(rate).saturating_add(sum))
    }

    /// Bytes that the run may bring, as if to ten hosts at 10 Gb/s.
    pub(super) fn expected_bytes(&self) -> u64 {
        (self.duration.as_us() as f64 * 12_500.0 * self.load) as u64
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found = self.sizes.findings();
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
