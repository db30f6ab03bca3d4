//! Collective: hosts that exchange parts of what all of them hold, again and again, as jobs do that train one model
//! on many machines.
//!
//! Models the rings of Patarasuk and Yuan (Bandwidth optimal all-reduce algorithms for clusters of workstations, J.
//! Parallel Distrib. Comput. 69, 2009), which MPI, Gloo and NCCL use for large messages: each host sends its part to
//! the next one, and passes on what comes from the one before; and the direct exchange of all with all. A host begins
//! an iteration when it has ended the one before and computed for a while: nobody waits for all. `size` is what
//! nccl-tests calls the size.
//! Left out: the time to reduce what has come, trees, and hosts that are closer to each other than a network
//! (machines with several accelerators).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration};

use super::order;
use crate::problem::Finding;
use crate::topology::Topology;

/// All hosts exchange parts of what they hold, again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collective {
    /// What they do together.
    pub operation: Operation,
    /// Bytes that are reduced, gathered or exchanged: of `n` hosts each has an `n`th part to begin with, or in the end,
    /// or for each other. Parts are rounded up to whole bytes of a slice.
    pub size: Bytes,
    /// Iterations, one after another.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub iterations: u32,
    /// Rings side by side, each of a part of `size`; of all-to-all connections from each host to each other.
    #[serde(default = "one")]
    #[schemars(default = "one", range(min = 1, max = 64))]
    pub connections: u32,
    /// Slices of a part: what has come is passed on by the slice. Of rings only.
    #[serde(default = "one")]
    #[schemars(default = "one", range(min = 1, max = 1024))]
    pub slices: u32,
    /// How long a host computes from its end of an iteration to its beginning of the next.
    #[serde(default)]
    #[schemars(default)]
    pub compute: Duration,
    /// Mean of an exponential time beyond that, drawn by each host each time: stragglers.
    #[serde(default)]
    #[schemars(default)]
    pub compute_jitter: Duration,
    /// The priority of their packets, 0 to 7: a switch's traffic class.
    #[serde(default)]
    #[schemars(default, range(max = 7))]
    pub priority: u8,
    /// Names of the hosts that take part, in the order of the ring. Absent: all, in the topology's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 2), extend("examples" = [["host3", "host0"]]))]
    pub hosts: Vec<String>,
}

/// What hosts do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Each has the sum of all in the end: a part goes round the ring nearly twice.
    AllReduce,
    /// Each has its part of the sum in the end: a part goes round once.
    ReduceScatter,
    /// Each has what all had in the beginning: a part goes round once.
    AllGather,
    /// Each has something for each other, and sends it at once.
    AllToAll,
}

/// What one host does in an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rank {
    /// The host.
    pub host: usize,
    /// Its ways in and out.
    pub lanes: Vec<Lane>,
}

/// A connection that a host sends on, and that from which comes what this depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Number of the connection that it sends on.
    pub sends: usize,
    /// Number of the connection that it reads.
    pub reads: usize,
    /// Bytes of an iteration, on both.
    pub bytes: u64,
    /// Bytes that it sends before anything has come.
    pub first_bytes: u64,
    /// What has come is passed on by so much, bytes.
    pub slice_bytes: u64,
}

impl Lane {
    /// How much of an iteration's bytes may be sent when so much of it has come.
    #[must_use]
    pub fn may_send(&self, received_bytes: u64) -> u64 {
        let whole = received_bytes / self.slice_bytes * self.slice_bytes;
        self.bytes.min(self.first_bytes + whole)
    }
}

fn one() -> u32 {
    1
}

/// More than any run exchanges in an iteration, and little enough for every sum of it.
const SIZE_MAX: Bytes = Bytes::new(1_000_000_000_000_000);
/// Longest that hosts may compute in a run: a hundred days; the simulator's clock ends after 213.
const COMPUTE_MAX: Duration = Duration::from_secs(100 * 86_400);

impl Collective {
    /// The hosts that take part.
    #[must_use]
    pub fn order(&self, network: &Topology) -> Vec<usize> {
        order::hosts(&self.hosts, network)
    }

    /// The connections by their numbers: from which host to which.
    #[must_use]
    pub fn connections(&self, network: &Topology) -> Vec<(usize, usize)> {
        let order = self.order(network);
        let hosts = order.len();
        let connection = |number: usize| {
            let (group, rank) = (number / hosts, number % hosts);
            let next = (rank + self.distance(group)) % hosts;
            (order[rank], order[next])
        };
        (0..self.groups(hosts) * hosts).map(connection).collect()
    }

    /// What each host does.
    #[must_use]
    pub fn ranks(&self, network: &Topology) -> Vec<Rank> {
        let order = self.order(network);
        let hosts = order.len();
        let rank = |(rank, host): (usize, &usize)| Rank {
            host: *host,
            lanes: (0..self.groups(hosts))
                .map(|group| {
                    let before = (rank + hosts - self.distance(group)) % hosts;
                    self.lane(hosts, group * hosts + rank, group * hosts + before)
                })
                .collect(),
        };
        order.iter().enumerate().map(rank).collect()
    }

    /// Groups of connections, one of each host in a group: rings, or a distance to send to.
    fn groups(&self, hosts: usize) -> usize {
        let distances = match self.operation {
            Operation::AllToAll => hosts.saturating_sub(1),
            _ => 1,
        };
        self.connections as usize * distances
    }

    /// How many places further a host's receiver of that group is.
    fn distance(&self, group: usize) -> usize {
        match self.operation {
            Operation::AllToAll => 1 + group / self.connections as usize,
            _ => 1,
        }
    }

    fn lane(&self, hosts: usize, sends: usize, reads: usize) -> Lane {
        let slice_bytes = self.slice_bytes(hosts);
        let part_bytes = slice_bytes * u64::from(self.slices);
        Lane {
            sends,
            reads,
            bytes: part_bytes * self.steps(hosts),
            first_bytes: part_bytes,
            slice_bytes,
        }
    }

    fn slice_bytes(&self, hosts: usize) -> u64 {
        let slices = hosts as u64 * u64::from(self.connections) * u64::from(self.slices);
        self.size.get().div_ceil(slices.max(1))
    }

    /// How many parts a host sends on a connection.
    fn steps(&self, hosts: usize) -> u64 {
        let others = hosts.saturating_sub(1) as u64;
        match self.operation {
            Operation::AllReduce => 2 * others,
            Operation::ReduceScatter | Operation::AllGather => others,
            Operation::AllToAll => 1,
        }
    }

    /// Bytes that a host sends in an iteration, and receives, with `hosts` of them.
    #[must_use]
    pub fn host_bytes(&self, hosts: usize) -> u64 {
        let lane = self.lane(hosts, 0, 0);
        lane.bytes.saturating_mul(self.groups(hosts) as u64)
    }

    /// About how many bytes an iteration brings to all hosts; as if there were two where the topology says how many.
    pub(super) fn expected_bytes(&self) -> u64 {
        let hosts = self.hosts.len().max(2);
        self.host_bytes(hosts).saturating_mul(hosts as u64)
    }

    /// Connections of so many hosts.
    pub(crate) fn count(&self, hosts: u64) -> u64 {
        let hosts = match self.hosts.len() as u64 {
            0 => hosts,
            named => named,
        };
        let each = match self.operation {
            Operation::AllToAll => hosts.saturating_sub(1),
            _ => 1,
        };
        let all = hosts.saturating_mul(each);
        all.saturating_mul(self.connections.into())
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        if self.size.get() == 0 {
            let remedy = "a size above zero, such as \"64MB\"";
            found.push(Finding::new("size", "no bytes to exchange", remedy));
        }
        if self.size > SIZE_MAX {
            found.push(Finding::new(
                "size",
                format!("{} take days on any link", self.size),
                format!("{SIZE_MAX} at most"),
            ));
        }
        let computes_ps = self
            .compute
            .as_ps()
            .saturating_add(self.compute_jitter.as_ps());
        if computes_ps.saturating_mul(self.iterations.into()) > COMPUTE_MAX.as_ps() {
            let key = match self.compute >= self.compute_jitter {
                true => "compute",
                false => "compute_jitter",
            };
            found.push(Finding::new(
                key,
                format!(
                    "in {} iterations hosts would compute for more than a hundred days",
                    self.iterations
                ),
                "less, or fewer iterations",
            ));
        }
        if self.operation == Operation::AllToAll && self.slices > 1 {
            found.push(Finding::new(
                "slices",
                "nothing is passed on in operation \"all-to-all\"",
                "leave it out",
            ));
        }
        found
    }
}

#[cfg(test)]
#[path = "collective_tests.rs"]
mod tests;
