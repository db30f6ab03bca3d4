//! Queries among flows: one host asks many at once, and all of them answer together.
//!
//! The other half of what studies of data-centre transport load a network with ("partition and aggregate" in
//! Alizadeh et al., SIGCOMM 2010; the incasts beside a web search in Li et al., *HPCC*, SIGCOMM 2019): at each host
//! queries arrive as a Poisson process whose answers make its link carry `load` of its rate on average. Those who
//! answer are drawn anew each time, and each answer is a flow of its own. Load counts payload. Left out: the
//! messages that ask; that answers depend on one another.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::random::Stream;
use tailback_units::{Bytes, Duration, Time};

use super::flow::{self, Flow};
use crate::problem::Finding;
use crate::topology::Topology;

/// Queries that many hosts answer at once, beside the flows of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queries {
    /// Share of each host's line rate that answers to its queries bring on average, as payload.
    #[schemars(range(min = 0.000_001, max = 1.0))]
    pub load: f64,
    /// Hosts that answer a query, drawn from all others.
    #[schemars(range(min = 1, max = 65_535))]
    pub fan_in: u32,
    /// Bytes of each answer.
    pub size: Bytes,
    /// Each answer begins at a random time of this after its query.
    #[serde(default)]
    #[schemars(default)]
    pub start_within: Duration,
    /// Priority of its packets both ways, 0 to 7 (SO_PRIORITY): a switch's traffic class.
    #[serde(default)]
    #[schemars(range(min = 0, max = 7), default)]
    pub priority: u8,
}

impl Queries {
    /// The answers' flows, those of one query together, queries by their starts and numbered from 1.
    pub(super) fn flows(&self, seed: u64, duration: Duration, network: &Topology) -> Vec<Flow> {
        let hosts = network.hosts.len();
        let mut queries = Vec::new();
        for (host, (rate, _)) in flow::host_lines(network).into_iter().enumerate() {
            let gap_ps = flow::gap_ps(self.load, rate, self.query_bytes());
            let mut stream = Stream::new(seed, "queries", host as u64);
            let mut start = stream.exponential(gap_ps);
            while start < duration.as_ps() {
                let sources = others(&mut stream, host, hosts, self.fan_in as usize);
                let answers = sources.into_iter().map(|source| {
                    let later = stream.below(self.start_within.as_ps().saturating_add(1));
                    (source, Time::from_ps(start) + Duration::from_ps(later))
                });
                queries.push((start, host, answers.collect::<Vec<_>>()));
                start = start.saturating_add(stream.exponential(gap_ps).max(1));
            }
        }
        queries.sort_by_key(|(start, host, _)| (*start, *host));
        let numbered = (1..).zip(queries);
        let flows = numbered.flat_map(|(number, (_, destination, answers))| {
            answers.into_iter().map(move |(source, start)| Flow {
                start,
                source,
                destination,
                bytes: Some(self.size.get()),
                congestion: None,
                priority: self.priority,
                query: Some(number),
            })
        });
        flows.collect()
    }

    /// Payload of all answers to a query.
    fn query_bytes(&self) -> u64 {
        self.size.get().saturating_mul(self.fan_in.into())
    }

    /// How many answers come to the hosts of `network` in this time, on average.
    pub(super) fn expected_flows(&self, duration: Duration, network: &Topology) -> u64 {
        let queries = flow::arrivals(self.load, self.query_bytes(), duration, network);
        queries.saturating_mul(self.fan_in.into())
    }

    /// What is wrong with it by itself, where the run goes on for `drain` after the last query.
    pub(super) fn findings(&self, drain: Duration) -> Vec<Finding> {
        let mut found = Vec::new();
        if self.size.get() == 0 {
            found.push(Finding::new(
                "queries.size",
                "no bytes to answer with",
                "a size above zero, such as \"20KB\"",
            ));
        }
        if !self.start_within.is_zero() && self.start_within >= drain {
            found.push(Finding::new(
                "queries.start_within",
                format!(
                    "answers may begin {drain} after the last query and later, when the run is over"
                ),
                format!("less than {drain}, or a longer `drain`"),
            ));
        }
        found
    }

    /// Answers that need more hosts than there are.
    pub(super) fn name_findings(&self, network: &Topology) -> Vec<Finding> {
        let others = network.hosts.len().saturating_sub(1);
        let too_many = self.fan_in as usize > others;
        let finding = || {
            Finding::new(
                "queries.fan_in",
                format!(
                    "{} hosts are to answer, and there are {others} others",
                    self.fan_in
                ),
                format!("at most {others}, or more hosts"),
            )
        };
        too_many.then(finding).into_iter().collect()
    }
}

/// So many hosts other than `host` of all, each set of them as likely (Floyd's method), in their order.
fn others(stream: &mut Stream, host: usize, hosts: usize, count: usize) -> BTreeSet<usize> {
    let all = hosts.saturating_sub(1);
    let mut chosen = BTreeSet::new();
    for last in all.saturating_sub(count)..all {
        let drawn = stream.below(last as u64 + 1) as usize;
        if !chosen.insert(drawn) {
            chosen.insert(last);
        }
    }
    let skip = |other: usize| other + usize::from(other >= host);
    chosen.into_iter().map(skip).collect()
}

#[cfg(test)]
#[path = "queries_tests.rs"]
mod tests;
