//! Which host has which part of a workload that numbers its parts.
//!
//! `incast`, `iperf3`, `flent`, `exchange` and `collective` have a first host, with which others have to do, a second, and
//! so on. That is the topology's order, unless their key `hosts` names another.

use std::collections::{BTreeMap, BTreeSet};

use crate::nearest;
use crate::problem::Finding;
use crate::topology::Topology;

/// The hosts that `named` names in its order; all of `network` in its own where it names none.
pub(super) fn hosts(named: &[String], network: &Topology) -> Vec<usize> {
    if named.is_empty() {
        return (0..network.hosts.len()).collect();
    }
    let hosts = network.hosts.iter().enumerate();
    let numbers: BTreeMap<&str, usize> = hosts.map(|(i, host)| (host.name.as_str(), i)).collect();
    let number = |name: &String| numbers.get(name.as_str()).copied();
    named.iter().filter_map(number).collect()
}

/// How many hosts there are for parts in a network of `hosts`, and whose number that is.
pub(super) fn count(named: &[String], hosts: usize) -> (usize, &'static str) {
    if named.is_empty() {
        (hosts, "the network has")
    } else {
        (named.len(), "`hosts` names")
    }
}

/// Names that are no host's, and hosts that are to have two parts.
pub(super) fn findings(named: &[String], network: &Topology) -> Vec<Finding> {
    let names = || network.hosts.iter().map(|host| host.name.as_str());
    let known: BTreeSet<&str> = names().collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (i, name) in named.iter().enumerate() {
        if !known.contains(name.as_str()) {
            found.push(Finding::new(
                format!("hosts[{i}]"),
                format!("there is no host {name:?}"),
                nearest::suggest(name, names()),
            ));
        } else if !seen.insert(name) {
            found.push(Finding::new(
                format!("hosts[{i}]"),
                format!("{name:?} is named twice"),
                "each host once",
            ));
        }
    }
    found
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
