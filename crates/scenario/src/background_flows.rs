//! TCP flows beside the workload: those that the workload's own have to share the network with.
//!
//! What a `netperf -t TCP_STREAM` or `iperf3` beside a test is ("elephants" beside questions and answers):
//! between pairs as in workload `bulk`, all they can for a time, or a given number of bytes once. They
//! react to loss, marks and delay as their congestion control does; the workload's figures are the workload's
//! alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::random::Stream;
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Bytes, Duration, Rate, Time};

use crate::problem::Finding;
use crate::topology::Topology;
use crate::workload::{Flow, Pairs, turn};

/// TCP flows between pairs of hosts beside the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackgroundFlows {
    /// Who sends to whom.
    pub pairs: Pairs,
    /// Connections of each pair.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000), default = "one")]
    pub connections: u32,
    /// Bytes that each connection sends; absent: as many as it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["10MB"]))]
    pub size: Option<Bytes>,
    /// Payload that each program writes in a time at most, as iperf3's `-b`: a `block` whenever one is due, and several
    /// at once if it has been held up. Absent: as much as its connection takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["25Mbit"]))]
    pub rate: Option<Rate>,
    /// What it writes at a time with `rate`.
    #[serde(default = "block", skip_serializing_if = "is_block")]
    #[schemars(default = "block")]
    pub block: Bytes,
    /// When they begin.
    #[serde(default)]
    #[schemars(default)]
    pub from: Duration,
    /// When their programs write no more, as after iperf3's `-t`: what their sockets hold is still sent.
    /// Absent: they last as long as the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Duration>,
    /// Each connection begins at a random time of this after `from`.
    #[serde(default = "start_within")]
    #[schemars(default = "start_within")]
    pub start_within: Duration,
    /// Congestion controls that sources ask for by TCP_CONGESTION: a pair's connections take turns.
    /// Absent: the host's `stack.tcp_congestion_control`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["cubic", "reno"]]))]
    pub congestion: Vec<CongestionKind>,
    /// Priorities of its packets both ways, 0 to 7 (SO_PRIORITY): a switch's traffic classes. Connections take
    /// turns. Absent: 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = 0, max = 7)), extend("examples" = [[0, 3]]))]
    pub priority: Vec<u8>,
}

/// One such flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackgroundFlow {
    /// Who sends what to whom, and from when.
    pub flow: Flow,
    /// When its program writes no more, if not at the run's end.
    pub until: Option<Time>,
    /// How it writes, if not as much as its connection takes.
    pub pace: Option<Pace>,
}

/// A program that writes so much every so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Bytes at a time.
    pub block_bytes: u64,
    /// From one to the next, ns as kernels have it.
    pub gap_ns: u64,
}

/// Blocks are no closer to each other: a timer of each would be most of a run.
const GAP_MIN: Duration = Duration::from_us(1);

/// iperf3's default for TCP (`-l`).
fn block() -> Bytes {
    Bytes::new(128 * 1024)
}

fn is_block(bytes: &Bytes) -> bool {
    *bytes == block()
}

fn one() -> u32 {
    1
}

/// As in workload `bulk`.
fn start_within() -> Duration {
    Duration::from_us(100)
}

impl BackgroundFlows {
    /// The flows that `seed` gives on `network`; `number` is this entry's place in the list of them.
    #[must_use]
    pub(crate) fn flows(&self, seed: u64, number: u64, network: &Topology) -> Vec<BackgroundFlow> {
        let mut starts = Stream::new(seed, "background-flows", number);
        let mut flows = Vec::new();
        for (source, destination) in self.pairs.of(seed, number + 1, network) {
            for number in 0..self.connections as usize {
                let later = starts.below(self.start_within.as_ps().saturating_add(1));
                let flow = Flow {
                    start: Time::ZERO + self.from + Duration::from_ps(later),
                    source,
                    destination,
                    bytes: self.size.map(Bytes::get),
                    congestion: turn(&self.congestion, number),
                    priority: turn(&self.priority, number).unwrap_or(0),
                    query: None,
                };
                let until = self.until.map(|until| Time::ZERO + until);
                let pace = self.gap().map(|gap| Pace {
                    block_bytes: self.block.get(),
                    gap_ns: gap.as_ps() / 1000,
                });
                flows.push(BackgroundFlow { flow, until, pace });
            }
        }
        flows
    }

    /// From one block to the next.
    fn gap(&self) -> Option<Duration> {
        Some(self.rate?.time_for(self.block.get()))
    }

    pub(crate) fn findings(&self, network: &Topology) -> Vec<Finding> {
        let mut found = self.pairs.name_findings(network);
        if self.size == Some(Bytes::new(0)) {
            found.push(Finding::new(
                "size",
                "no bytes to send",
                "a size above zero, such as \"8MB\", or none at all",
            ));
        }
        if self.rate.is_some_and(|rate| rate.as_bps() == 0) {
            found.push(Finding::new(
                "rate",
                "nothing would be sent",
                "a rate above zero, or none at all: as much as the connection takes",
            ));
        } else if self.gap().is_some_and(|gap| gap < GAP_MIN) {
            found.push(Finding::new(
                "block",
                format!("blocks would be due less than {GAP_MIN} apart"),
                "a larger block, or a lower rate",
            ));
        } else if self.rate.is_none() && !is_block(&self.block) {
            found.push(Finding::new(
                "block",
                "is what a program writes at a time that has a rate, and there is none",
                "rate, or no block",
            ));
        }
        if self
            .until
            .is_some_and(|until| until <= self.from + self.start_within)
        {
            found.push(Finding::new(
                "until",
                "it would end before all have begun (from and start_within)",
                format!("a time after {}", self.from + self.start_within),
            ));
        }
        found
    }
}
