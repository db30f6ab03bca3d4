//! Links that differ from others of their kind, in networks that a few numbers describe.

use std::borrow::Cow;

use tailback_net::link::LinkConfig;

use super::{Node, Topology};
use crate::nearest;
use crate::network::{LinkException, Network};
use crate::problem::Finding;

/// In place of a name: every neighbour.
const ANY: &str = "*";

/// Lays each exception over its links. What is left does not fit the network.
pub(super) fn apply(topology: &mut Topology, exceptions: &[LinkException]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut laid: Vec<(usize, usize)> = Vec::new();
    for (i, exception) in exceptions.iter().enumerate() {
        let at = format!("network.except[{i}]");
        let links = match links(topology, exception, &at) {
            Err(found) => {
                findings.extend(found);
                continue;
            }
            Ok(links) => links,
        };
        let spoken = laid.iter().find(|(_, other)| links.contains(other));
        if let Some((before, other)) = spoken {
            let link = &topology.links[*other];
            let [a, b] = [link.a, link.b].map(|node| topology.name(node));
            findings.push(Finding::new(
                format!("{at}.ends"),
                format!("network.except[{before}] speaks of the link of {a} to {b}, too"),
                "one entry for each link",
            ));
        }
        laid.extend(links.iter().map(|link| (i, *link)));
        let [from, to] = exception.ends.each_ref().map(|name| node(topology, name));
        for number in links {
            let link = &mut topology.links[number];
            // Forward is as the exception has it, as in an explicit topology.
            let is_turned = match (from, to) {
                (Some(from), _) => link.a != from,
                (None, to) => Some(link.b) != to,
            };
            if is_turned {
                std::mem::swap(&mut link.a, &mut link.b);
                link.config = link.config.clone().turned();
            }
            link.config = exception.link.over(&link.config);
        }
    }
    findings.extend(narrow(topology, &laid));
    findings
}

/// Links with exceptions, as they are, by their paths in the scenario; of several that one entry makes alike the first.
pub(crate) fn whole<'a>(
    network: &Network,
    topology: &'a Topology,
) -> Vec<(String, Cow<'a, LinkConfig>)> {
    let mut whole: Vec<(String, Cow<'a, LinkConfig>)> = Vec::new();
    for (i, exception) in network.exceptions().iter().enumerate() {
        let at = format!("network.except[{i}]");
        for number in links(topology, exception, &at).unwrap_or_default() {
            let one = (at.clone(), Cow::Borrowed(&topology.links[number].config));
            if !whole.contains(&one) {
                whole.push(one);
            }
        }
    }
    whole
}

/// Which links an exception speaks of.
fn links(
    topology: &Topology,
    exception: &LinkException,
    at: &str,
) -> Result<Vec<usize>, Vec<Finding>> {
    let known = exception.ends.each_ref().map(|name| node(topology, name));
    let unknown = known.into_iter().zip(&exception.ends).enumerate();
    let unknown = unknown.filter(|(_, (node, name))| node.is_none() && *name != ANY);
    let unknown: Vec<Finding> = unknown
        .map(|(e, (_, name))| {
            Finding::new(
                format!("{at}.ends[{e}]"),
                format!("there is no host or switch {name:?}"),
                nearest::suggest(name, names(topology)),
            )
        })
        .collect();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    if exception.link.is_as_link() {
        return Err(vec![Finding::new(
            at,
            "it does not say in what this link differs",
            "a value of a link, such as rate = \"1Gbit\"",
        )]);
    }
    let (a, b) = match known {
        [Some(a), Some(b)] => (a, b),
        [Some(one), None] | [None, Some(one)] => return Ok(topology.links_of(one).collect()),
        [None, None] => {
            return Err(vec![Finding::new(
                format!("{at}.ends"),
                "all links cannot be an exception",
                "one name at least, or network.link",
            )]);
        }
    };
    let found = topology.links_of(a).find(|number| {
        let link = &topology.links[*number];
        [(a, b), (b, a)].contains(&(link.a, link.b))
    });
    let found = found.ok_or_else(|| {
        let [from, to] = &exception.ends;
        let others = topology.links_of(a).map(|number| {
            let link = &topology.links[number];
            if link.a == a { link.b } else { link.a }
        });
        // Switches first: there are fewer.
        let mut others: Vec<Node> = others.collect();
        others.sort_by_key(|node| !matches!(node, Node::Switch(_)));
        let beside = others.into_iter().map(|node| topology.name(node));
        vec![Finding::new(
            format!("{at}.ends"),
            format!("no link joins {from:?} and {to:?}"),
            format!("of {from:?} to {}", some(beside)),
        )]
    })?;
    Ok(vec![found])
}

fn names(topology: &Topology) -> impl Iterator<Item = &str> {
    let switches = topology.switches.iter().map(|s| s.name.as_str());
    let hosts = topology.hosts.iter().map(|h| h.name.as_str());
    switches.chain(hosts)
}

fn node(topology: &Topology, name: &str) -> Option<Node> {
    let switch = topology.switches.iter().position(|s| s.name == name);
    let host = || topology.hosts.iter().position(|h| h.name == name);
    switch.map(Node::Switch).or_else(|| host().map(Node::Host))
}

/// The first few of these.
fn some<'a>(names: impl Iterator<Item = &'a str>) -> String {
    /// A reader chooses among so many at a glance.
    const MOST: usize = 8;
    let names: Vec<&str> = names.collect();
    let shown = names[..names.len().min(MOST)].join(", ");
    if names.len() > MOST {
        return format!("one of {shown}, …");
    }
    match names.as_slice() {
        [only] => (*only).to_owned(),
        _ => format!("one of {shown}"),
    }
}

/// Links between switches that do not carry what some host sends, where an exception makes it so.
fn narrow(topology: &Topology, laid: &[(usize, usize)]) -> Option<Finding> {
    let is_switch = |node| matches!(node, Node::Switch(_));
    let links = || topology.links.iter();
    let between = |link: &super::Link| is_switch(link.a) && is_switch(link.b);
    let largest = links()
        .filter(|l| !between(l))
        .map(|l| l.config.mtu)
        .max()?;
    let least = links().filter(|l| between(l)).map(|l| l.config.mtu).min()?;
    let (i, _) = laid.iter().find(|(_, number)| {
        let link = &topology.links[*number];
        let mtu = link.config.mtu;
        if between(link) {
            mtu < largest
        } else {
            mtu > least
        }
    })?;
    Some(Finding::new(
        format!("network.except[{i}].mtu"),
        format!(
            "switches do not fragment, and hosts send packets of {largest} where a link carries {least}"
        ),
        "between switches no less than the hosts' links carry",
    ))
}

#[cfg(test)]
#[path = "exceptions_tests.rs"]
mod tests;
