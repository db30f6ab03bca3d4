//! Links that differ from others of their kind, in networks that a few numbers describe.

use std::borrow::Cow;

use tailback_net::link::LinkConfig;

use super::{Node, Topology};
use crate::nearest;
use crate::network::{LinkException, Network};
use crate::problem::Finding;

/// Lays each exception over its link. What is left does not fit the network.
pub(super) fn apply(topology: &mut Topology, exceptions: &[LinkException]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut laid: Vec<(usize, usize)> = Vec::new();
    for (i, exception) in exceptions.iter().enumerate() {
        let at = format!("network.except[{i}]");
        match link(topology, exception, &at) {
            Err(found) => findings.extend(found),
            Ok(link) => {
                if let Some((before, _)) = laid.iter().find(|(_, other)| *other == link) {
                    findings.push(Finding::new(
                        format!("{at}.ends"),
                        format!("network.except[{before}] speaks of this link, too"),
                        "one entry for each link",
                    ));
                }
                laid.push((i, link));
                let first = node(topology, &exception.ends[0]);
                let link = &mut topology.links[link];
                // Forward is as the exception has it, as in an explicit topology.
                if Some(link.a) != first {
                    std::mem::swap(&mut link.a, &mut link.b);
                    link.config = link.config.clone().turned();
                }
                link.config = exception.link.over(&link.config);
            }
        }
    }
    findings.extend(narrow(topology, &laid));
    findings
}

/// Links with exceptions, as they are, by their paths in the scenario.
pub(crate) fn whole<'a>(
    network: &Network,
    topology: &'a Topology,
) -> Vec<(String, Cow<'a, LinkConfig>)> {
    let exceptions = network.exceptions().iter().enumerate();
    let whole = exceptions.filter_map(|(i, exception)| {
        let at = format!("network.except[{i}]");
        let number = link(topology, exception, &at).ok()?;
        Some((at, Cow::Borrowed(&topology.links[number].config)))
    });
    whole.collect()
}

/// Which link an exception speaks of.
fn link(topology: &Topology, exception: &LinkException, at: &str) -> Result<usize, Vec<Finding>> {
    let [a, b] = exception.ends.each_ref().map(|name| node(topology, name));
    let (Some(a), Some(b)) = (a, b) else {
        let ends = [a, b].into_iter().zip(&exception.ends).enumerate();
        let unknown = ends.filter(|(_, (node, _))| node.is_none());
        let unknown = unknown.map(|(e, (_, name))| {
            Finding::new(
                format!("{at}.ends[{e}]"),
                format!("there is no host or switch {name:?}"),
                nearest::suggest(name, names(topology)),
            )
        });
        return Err(unknown.collect());
    };
    if exception.link.is_as_link() {
        return Err(vec![Finding::new(
            at,
            "it does not say in what this link differs",
            "a value of a link, such as rate = \"1Gbit\"",
        )]);
    }
    let found = topology.links_of(a).find(|number| {
        let link = &topology.links[*number];
        [(a, b), (b, a)].contains(&(link.a, link.b))
    });
    found.ok_or_else(|| {
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
    })
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
