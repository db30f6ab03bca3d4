//! Bulk: long-running flows between fixed pairs of hosts.
//!
//! Models iperf3 or netperf between pairs (tcp_stream): a source opens its connections and writes
//! as fast as they take it. Each connection starts at a random time of `start_within`, as no two
//! programs start at the same picosecond.
//! Left out: closing the connections; the run is over before.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::random::Stream;
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Bytes, Duration, Time};

use super::flow::{self, Flow};
use crate::problem::Finding;
use crate::topology::Topology;

/// Flows between fixed pairs of hosts, for a time or until each has sent its bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// Who sends to whom.
    pub pairs: Pairs,
    /// When the run ends, if not all flows have sent their bytes before; with `omit`, so long after that.
    pub duration: Duration,
    /// Time before `duration` of which nothing is counted, as iperf3's -O: flows that begin together need
    /// a while to find their shares. Not with `size`.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub omit: Duration,
    /// Bytes that each connection sends; absent: as many as it can until the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Connections of each pair.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 100_000), default = "one")]
    pub connections: u32,
    /// SO_SNDBUF and SO_RCVBUF that a pair's connections ask for together (the sum of iperf's -w);
    /// each asks for its share, and Linux doubles it. Absent: the stack's automatic buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair_window: Option<Bytes>,
    /// Each connection starts at a random time from 0 to this.
    #[serde(default = "start_within")]
    #[schemars(default = "start_within")]
    pub start_within: Duration,
    /// Congestion controls that sources ask for by TCP_CONGESTION, as iperf3's -C: a pair's connections take turns.
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

/// Who sends to whom; hosts in the topology's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pairs {
    /// Every other host to the first.
    ToFirst {},
    /// Hosts stand in groups, such as the stars of topology `stars`: in each, all send to its
    /// first.
    Groups {
        /// Hosts of a group; the number of all hosts is a multiple of it.
        #[schemars(range(min = 2, max = 65_536))]
        hosts: u32,
        /// Share of a group's senders that send to the first host of the next group instead.
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 1.0))]
        crossing: f64,
    },
    /// Each host to one other, drawn so that each receives from one.
    Permutation {},
    /// The first hosts of the first half, each to its like in the second half.
    Across {
        /// How many pairs; at most half as many as there are hosts.
        #[schemars(range(min = 1, max = 32_768))]
        pairs: u32,
    },
    /// Every host to every other. Each host's destinations are in the order of the hosts behind it, so
    /// that the first of all hosts, the second of all, … are different hosts.
    Mesh {},
    /// Pairs of hosts by name, source first.
    Listed {
        /// The pairs.
        #[schemars(length(min = 1), extend("examples" = [[["host1", "host0"]]]))]
        list: Vec<[String; 2]>,
    },
}

pub(super) fn is_nothing(time: &Duration) -> bool {
    time.is_zero()
}

pub(super) fn one() -> u32 {
    1
}

/// A hundred round trips of a data centre: enough for no two to be in step. [assumed]
fn start_within() -> Duration {
    Duration::from_us(100)
}

impl Bulk {
    /// The flows that `seed` gives on `network`, in the order of their starts.
    #[must_use]
    pub fn flows(&self, seed: u64, network: &Topology) -> Vec<Flow> {
        let mut starts = Stream::new(seed, "bulk-start", 0);
        let mut flows = Vec::new();
        for (source, destination) in self.pairs.of(seed, 0, network) {
            for number in 0..self.connections as usize {
                let start = starts.below(self.start_within.as_ps().saturating_add(1));
                flows.push(Flow {
                    start: Time::from_ps(start),
                    source,
                    destination,
                    bytes: self.size.map(Bytes::get),
                    congestion: flow::turn(&self.congestion, number),
                    priority: flow::turn(&self.priority, number).unwrap_or(0),
                    query: None,
                });
            }
        }
        flows.sort_by_key(|flow| flow.start);
        flows
    }

    /// From when flows are counted.
    #[must_use]
    pub fn begin(&self) -> Time {
        Time::ZERO + self.omit
    }

    /// When the run ends, if not all flows have sent their bytes before.
    #[must_use]
    pub fn end(&self) -> Time {
        self.begin() + self.duration
    }

    /// Bytes that the run may bring: those asked for, or what one 10 Gb/s link carries.
    pub(super) fn expected_bytes(&self) -> u64 {
        self.duration.as_us().saturating_mul(1250)
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found: Vec<Finding> = super::no_time(self.duration, "1s").into_iter().collect();
        found.extend(super::never_begin(
            "start_within",
            self.start_within,
            self.end().since(Time::ZERO),
        ));
        if self.size.is_some() && !self.omit.is_zero() {
            found.push(Finding::new(
                "omit",
                "flows of a size are counted from their first byte to their last",
                "no omit, or no size: flows that last as long as the run",
            ));
        }
        if self.size == Some(Bytes::new(0)) {
            found.push(Finding::new(
                "size",
                "no bytes to send",
                "a size above zero, such as \"8MB\", or none at all",
            ));
        }
        found
    }
}

impl Pairs {
    /// What of the pairs does not fit `network`.
    pub(crate) fn name_findings(&self, network: &Topology) -> Vec<Finding> {
        let hosts = network.hosts.len();
        let list = match self {
            Pairs::Listed { list } => list,
            Pairs::Groups { hosts: group, .. }
                if !(hosts as u64).is_multiple_of(u64::from(*group).max(1)) =>
            {
                return vec![Finding::new(
                    "pairs.hosts",
                    format!("{hosts} hosts do not divide into groups of {group}"),
                    "a divisor of the number of hosts",
                )];
            }
            Pairs::Across { pairs } if 2 * *pairs as usize > network.hosts.len() => {
                return vec![Finding::new(
                    "pairs.pairs",
                    format!("{pairs} pairs on {} hosts", network.hosts.len()),
                    "at most half as many pairs as there are hosts",
                )];
            }
            _ => return Vec::new(),
        };
        let mut found = Vec::new();
        for (i, pair) in list.iter().enumerate() {
            for (j, name) in pair.iter().enumerate() {
                if !network.hosts.iter().any(|h| h.name == *name) {
                    found.push(Finding::new(
                        format!("pairs.list[{i}][{j}]"),
                        format!("there is no host {name:?}"),
                        crate::nearest::suggest(
                            name,
                            network.hosts.iter().map(|h| h.name.as_str()),
                        ),
                    ));
                }
            }
            if pair[0] == pair[1] {
                found.push(Finding::new(
                    format!("pairs.list[{i}]"),
                    format!("{:?} would send to itself", pair[0]),
                    "the names of two different hosts",
                ));
            }
        }
        found
    }

    /// Source and destination of each pair. What is drawn is from stream `number` of `seed`: 0 is the
    /// workload's, others are what runs beside it, so that no two draw the same.
    pub(crate) fn of(&self, seed: u64, number: u64, network: &Topology) -> Vec<(usize, usize)> {
        let hosts = network.hosts.len();
        match self {
            Pairs::ToFirst {} => (1..hosts).map(|source| (source, 0)).collect(),
            Pairs::Groups {
                hosts: group,
                crossing,
            } => {
                let group = *group as usize;
                let leave = ((group - 1) as f64 * crossing).round() as usize;
                let pair = |source: usize| {
                    let (first, member) = (source / group * group, source % group);
                    let destination = if member < group - leave {
                        first
                    } else {
                        (first + group) % hosts
                    };
                    (member > 0 && destination != source).then_some((source, destination))
                };
                (0..hosts).filter_map(pair).collect()
            }
            Pairs::Permutation {} => {
                // One cycle through all hosts in random order (Sattolo): nobody sends to itself.
                let mut order: Vec<usize> = (0..hosts).collect();
                let mut stream = Stream::new(seed, "permutation", number);
                for last in (1..hosts).rev() {
                    order.swap(last, stream.below(last as u64) as usize);
                }
                order.into_iter().enumerate().collect()
            }
            Pairs::Across { pairs } => {
                let half = hosts / 2;
                let pairs = (*pairs as usize).min(half);
                (0..pairs).map(|source| (source, half + source)).collect()
            }
            Pairs::Mesh {} => {
                let others = |source| (1..hosts).map(move |k| (source, (source + k) % hosts));
                (0..hosts).flat_map(others).collect()
            }
            Pairs::Listed { list } => {
                let host = |name: &String| network.hosts.iter().position(|h| h.name == *name);
                let pairs = list.iter().map(|[a, b]| (host(a), host(b)));
                pairs.filter_map(|(a, b)| a.zip(b)).collect()
            }
        }
    }
}

#[cfg(test)]
#[path = "bulk_tests.rs"]
mod tests;
