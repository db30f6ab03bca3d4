//! Flows of one's own: each at its time, from whom it is to whom, and as large as the list says.
//!
//! Models what traces of flows hold, as packet simulators take them (ns-3's programs for HPCC, htsim's connection
//! matrices): every flow is a connection of its own that begins whatever has become of the others. Left out: flows that
//! wait for each other.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Duration, Time};

use super::flow::Flow;
use super::flow_table::{FlowTable, Row};
use crate::nearest;
use crate::problem::Finding;
use crate::topology::Topology;

/// Flows from a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowList {
    /// File with the list, relative to the scenario; its text takes its place as `flows`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["flows.csv"]))]
    pub path: Option<String>,
    /// The list, where there is no file: a line for each flow, below one that names the columns.
    #[serde(default)]
    pub flows: FlowTable,
    /// Most time that flows get to complete after the last has begun.
    #[serde(default = "drain")]
    #[schemars(default = "drain")]
    pub drain: Duration,
}

/// As of workload `flows`. [assumed]
fn drain() -> Duration {
    Duration::from_secs(10)
}

/// Problems of this kind that are told one by one.
const TOLD_MAX: usize = 5;

impl FlowList {
    /// The flows on `network`, in the order of their starts.
    #[must_use]
    pub fn flows(&self, network: &Topology) -> Vec<Flow> {
        let hosts = self.hosts(network);
        let host = |name: u32| hosts.get(name as usize).copied().flatten();
        let flow = |row: &Row| {
            Some(Flow {
                start: row.start,
                source: host(row.source)?,
                destination: host(row.destination)?,
                bytes: Some(row.bytes),
                congestion: row.congestion,
                priority: row.priority,
                query: None,
            })
        };
        // A sound list names hosts that there are.
        let mut flows: Vec<Flow> = self.flows.rows().iter().filter_map(flow).collect();
        flows.sort_by_key(|flow| flow.start);
        flows
    }

    /// The host of each name in the list: that of this name, or else of this place among all hosts.
    fn hosts(&self, network: &Topology) -> Vec<Option<usize>> {
        let hosts = network.hosts.iter().enumerate();
        let numbers: BTreeMap<&str, usize> =
            hosts.map(|(i, host)| (host.name.as_str(), i)).collect();
        let of = |name: &String| {
            let place = || name.parse().ok().filter(|n| *n < network.hosts.len());
            numbers.get(name.as_str()).copied().or_else(place)
        };
        self.flows.names().iter().map(of).collect()
    }

    /// When the last begins.
    #[must_use]
    pub fn last_start(&self) -> Time {
        let starts = self.flows.rows().iter().map(|row| row.start);
        starts.max().unwrap_or(Time::ZERO)
    }

    /// The run ends then, whatever is left.
    #[must_use]
    pub fn end(&self) -> Time {
        self.last_start() + self.drain
    }

    /// Who sends to whom, each pair once.
    pub(super) fn pairs(&self, network: &Topology) -> Vec<(usize, usize)> {
        let flows = self.flows(network);
        let pairs: BTreeSet<_> = flows
            .iter()
            .map(|flow| (flow.source, flow.destination))
            .collect();
        pairs.into_iter().collect()
    }

    /// Congestion controls that any of them asks for.
    pub(crate) fn controls(&self) -> &[CongestionKind] {
        self.flows.controls()
    }

    pub(crate) fn count(&self) -> u64 {
        self.flows.rows().len() as u64
    }

    /// Bytes of all flows.
    pub(super) fn expected_bytes(&self) -> u64 {
        let bytes = self.flows.rows().iter().map(|row| row.bytes);
        bytes.fold(0, u64::saturating_add)
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        if let Some(path) = &self.path {
            found.push(Finding::new(
                "path",
                format!("{path} has not been read"),
                "a file named in a scenario's own text",
            ));
        } else if self.flows.rows().is_empty() {
            found.push(Finding::new(
                "flows",
                "no flow is listed",
                "path, a file with flows, or their list as a text",
            ));
        }
        found
    }

    /// Hosts that there are not, and flows from a host to itself.
    pub(super) fn name_findings(&self, network: &Topology) -> Vec<Finding> {
        let hosts = self.hosts(network);
        let names = self.flows.names();
        let (mut found, mut told) = (Vec::new(), vec![false; names.len()]);
        let mut more = 0;
        let mut tell = |reason: String, remedy: String| match found.len() < TOLD_MAX {
            true => found.push(Finding::new("flows", reason, remedy)),
            false => more += 1,
        };
        for row in self.flows.rows() {
            let mut sound = true;
            for name in [row.source, row.destination] {
                if hosts[name as usize].is_some() {
                    continue;
                }
                sound = false;
                if !std::mem::replace(&mut told[name as usize], true) {
                    let name = &names[name as usize];
                    tell(
                        format!("line {}: there is no host {name:?}", row.line),
                        nearest::suggest(name, network.hosts.iter().map(|host| host.name.as_str())),
                    );
                }
            }
            if sound && hosts[row.source as usize] == hosts[row.destination as usize] {
                let name = &names[row.source as usize];
                tell(
                    format!("line {}: from {name} to itself", row.line),
                    "two hosts".to_owned(),
                );
            }
        }
        if more > 0 {
            let reason = format!("{more} more like these");
            found.push(Finding::new("flows", reason, "names of hosts"));
        }
        found
    }
}

#[cfg(test)]
#[path = "flow_list_tests.rs"]
mod tests;
