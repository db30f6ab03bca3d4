//! Topologies that a few numbers describe.

use std::sync::Arc;

use tailback_net::link::LinkConfig;
use tailback_net::switch::SwitchConfig;

use super::{Host, Link, Node, Switch, Topology};
use crate::kernel::{HostKind, KernelHost};
use crate::model::Scenario;
use crate::network::{Dumbbell, FatTree, LeafSpine, ParkingLot, Stars};
use crate::problem::Finding;

/// Hosts as the scenario describes all.
fn hosts(names: impl Iterator<Item = String>, scenario: &Scenario) -> Vec<Host> {
    let stack = Arc::new(scenario.stack.clone());
    let kernel = KernelHost::new(scenario.kernel.as_ref(), None, &stack);
    let kernel = Arc::new(kernel.sampled(scenario.record.sample_interval));
    let socket = Arc::new(scenario.socket.clone().unwrap_or_default());
    let host = |name| Host {
        name,
        config: scenario.host.clone(),
        stack: Arc::clone(&stack),
        socket: Arc::clone(&socket),
        kind: HostKind::Model,
        kernel: Arc::clone(&kernel),
    };
    names.map(host).collect()
}

fn too_few_ports(path: &str, switch: &SwitchConfig, needed: u32) -> Option<Finding> {
    let ports = u32::from(switch.ports);
    (needed > ports).then(|| {
        Finding::new(
            format!("network.{path}.ports"),
            format!("{needed} links do not fit a switch with {ports} ports"),
            format!("at least {needed} ports, or a smaller network"),
        )
    })
}

fn too_narrow(path: &str, between: &LinkConfig, hosts: &LinkConfig) -> Option<Finding> {
    (between.mtu < hosts.mtu).then(|| {
        Finding::new(
            format!("network.{path}.mtu"),
            format!(
                "switches do not fragment, and hosts send packets of {}",
                hosts.mtu
            ),
            format!("at least {}", hosts.mtu),
        )
    })
}

pub(super) fn stars(stars: &Stars, scenario: &Scenario) -> Result<Topology, Vec<Finding>> {
    let mut findings: Vec<Finding> = [
        too_few_ports("switch", &stars.switch, stars.hosts + 1),
        too_few_ports("core", &stars.core, stars.stars),
    ]
    .into_iter()
    .flatten()
    .collect();
    findings.extend(too_narrow("uplink", &stars.uplink, &stars.link));
    if !findings.is_empty() {
        return Err(findings);
    }
    let (count, each) = (stars.stars as usize, stars.hosts as usize);
    let names = (0..count).flat_map(|s| (0..each).map(move |h| format!("star{s}-host{h}")));
    let mut switches: Vec<Switch> = (0..count)
        .map(|s| Switch {
            name: format!("star{s}"),
            config: stars.switch.clone(),
        })
        .collect();
    switches.push(Switch {
        name: "core".to_owned(),
        config: stars.core.clone(),
    });
    let mut links = Vec::new();
    for star in 0..count {
        links.extend((0..each).map(|h| Link {
            a: Node::Host(star * each + h),
            b: Node::Switch(star),
            config: stars.link.clone(),
            vlans: Vec::new(),
            traces: [None, None],
        }));
    }
    links.extend((0..count).map(|star| Link {
        a: Node::Switch(star),
        b: Node::Switch(count),
        config: stars.uplink.clone(),
        vlans: Vec::new(),
        traces: [None, None],
    }));
    Ok(Topology {
        clock_ppm: stars.clock_ppm,
        reroute: None,
        hosts: hosts(names, scenario),
        switches,
        links,
    })
}

pub(super) fn dumbbell(dumbbell: &Dumbbell, scenario: &Scenario) -> Result<Topology, Vec<Finding>> {
    let chain = Chain {
        pairs: dumbbell.pairs,
        hop_pairs: 0,
        switch: &dumbbell.switch,
        link: &dumbbell.link,
        trunk: &dumbbell.trunk,
        clock_ppm: dumbbell.clock_ppm,
    };
    chain.topology(scenario)
}

pub(super) fn parking_lot(lot: &ParkingLot, scenario: &Scenario) -> Result<Topology, Vec<Finding>> {
    let chain = Chain {
        pairs: lot.pairs,
        hop_pairs: lot.hop_pairs,
        switch: &lot.switch,
        link: &lot.link,
        trunk: &lot.trunk,
        clock_ppm: lot.clock_ppm,
    };
    chain.topology(scenario)
}

/// Switches in a row, hosts at its ends and at the ends of its links.
struct Chain<'a> {
    /// Hosts at each end of the whole.
    pairs: u32,
    /// Hosts at each end of every link.
    hop_pairs: u32,
    switch: &'a SwitchConfig,
    link: &'a LinkConfig,
    trunk: &'a [LinkConfig],
    clock_ppm: u32,
}

impl Chain<'_> {
    fn topology(&self, scenario: &Scenario) -> Result<Topology, Vec<Finding>> {
        let hops = self.trunk.len();
        let ends = self.pairs + self.hop_pairs + 1;
        let within = if hops > 1 { 2 * self.hop_pairs + 2 } else { 0 };
        let mut findings: Vec<Finding> = too_few_ports("switch", self.switch, ends.max(within))
            .into_iter()
            .collect();
        let narrow =
            |(i, link): (usize, &LinkConfig)| too_narrow(&format!("trunk[{i}]"), link, self.link);
        findings.extend(self.trunk.iter().enumerate().filter_map(narrow));
        if !findings.is_empty() {
            return Err(findings);
        }
        let mut names = Vec::new();
        let mut edges = Vec::new();
        for (side, far) in [("left", 0), ("right", 1)] {
            let whole = (0..self.pairs).map(|h| (format!("{side}{h}"), far * hops));
            let of_hop = |hop| {
                let name = move |h| (format!("hop{hop}-{side}{h}"), hop + far);
                (0..self.hop_pairs).map(name)
            };
            for (name, switch) in whole.chain((0..hops).flat_map(of_hop)) {
                edges.push(Link {
                    a: Node::Host(names.len()),
                    b: Node::Switch(switch),
                    config: self.link.clone(),
                    vlans: Vec::new(),
                    traces: [None, None],
                });
                names.push(name);
            }
        }
        let trunk = self.trunk.iter().enumerate().map(|(i, config)| Link {
            a: Node::Switch(i),
            b: Node::Switch(i + 1),
            config: config.clone(),
            vlans: Vec::new(),
            traces: [None, None],
        });
        Ok(Topology {
            clock_ppm: self.clock_ppm,
            reroute: None,
            hosts: hosts(names.into_iter(), scenario),
            switches: (0..=hops)
                .map(|s| Switch {
                    name: format!("switch{s}"),
                    config: self.switch.clone(),
                })
                .collect(),
            links: edges.into_iter().chain(trunk).collect(),
        })
    }
}

pub(super) fn fat_tree(tree: &FatTree, scenario: &Scenario) -> Result<Topology, Vec<Finding>> {
    if tree.k % 2 == 1 {
        return Err(vec![Finding::new(
            "network.k",
            format!("half of {} ports cannot lead up and half down", tree.k),
            "an even number of ports",
        )]);
    }
    if let Some(finding) = too_few_ports("switch", &tree.switch, tree.k) {
        return Err(vec![finding]);
    }
    let half = tree.k as usize / 2;
    let pods = tree.k as usize;
    let layer = |name: &'static str, count: usize| {
        (0..count).map(move |i| Switch {
            name: format!("{name}{i}"),
            config: tree.switch.clone(),
        })
    };
    let edges = pods * half;
    let switches = layer("edge", edges)
        .chain(layer("aggregation", edges))
        .chain(layer("core", half * half))
        .collect();
    let mut links = Vec::new();
    let mut join = |a, b| {
        links.push(Link {
            a,
            b,
            config: tree.link.clone(),
            vlans: Vec::new(),
            traces: [None, None],
        });
    };
    for edge in 0..edges {
        for h in 0..half {
            join(Node::Host(edge * half + h), Node::Switch(edge));
        }
    }
    for pod in 0..pods {
        for edge in 0..half {
            for aggregation in 0..half {
                join(
                    Node::Switch(pod * half + edge),
                    Node::Switch(edges + pod * half + aggregation),
                );
            }
        }
    }
    for pod in 0..pods {
        for aggregation in 0..half {
            for core in 0..half {
                join(
                    Node::Switch(edges + pod * half + aggregation),
                    Node::Switch(2 * edges + aggregation * half + core),
                );
            }
        }
    }
    let names = (0..edges * half).map(|i| format!("host{i}"));
    Ok(Topology {
        clock_ppm: tree.clock_ppm,
        reroute: tree.reroute,
        hosts: hosts(names, scenario),
        switches,
        links,
    })
}

pub(super) fn leaf_spine(
    fabric: &LeafSpine,
    scenario: &Scenario,
) -> Result<Topology, Vec<Finding>> {
    let uplink = fabric.uplink();
    let own = fabric.spine.as_ref().map_or("switch", |_| "spine");
    let findings: Vec<Finding> = [
        too_few_ports("switch", &fabric.switch, fabric.hosts + fabric.spines),
        too_few_ports(own, fabric.spine(), fabric.leaves),
        too_narrow("uplink", &uplink, &fabric.link),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !findings.is_empty() {
        return Err(findings);
    }
    let [leaves, spines, each] = [fabric.leaves, fabric.spines, fabric.hosts].map(|n| n as usize);
    let layer = |name: &'static str, count: usize, config: &SwitchConfig| {
        let config = config.clone();
        (0..count).map(move |i| Switch {
            name: format!("{name}{i}"),
            config: config.clone(),
        })
    };
    let of_host = |host| Link {
        a: Node::Host(host),
        b: Node::Switch(host / each),
        config: fabric.link.clone(),
        vlans: Vec::new(),
        traces: [None, None],
    };
    let up = |i| Link {
        a: Node::Switch(i / spines),
        b: Node::Switch(leaves + i % spines),
        config: uplink.clone(),
        vlans: Vec::new(),
        traces: [None, None],
    };
    let names = (0..leaves * each).map(|i| format!("host{i}"));
    Ok(Topology {
        clock_ppm: fabric.clock_ppm,
        reroute: fabric.reroute,
        hosts: hosts(names, scenario),
        switches: layer("leaf", leaves, &fabric.switch)
            .chain(layer("spine", spines, fabric.spine()))
            .collect(),
        links: (0..leaves * each)
            .map(of_host)
            .chain((0..leaves * spines).map(up))
            .collect(),
    })
}

#[cfg(test)]
#[path = "generated_tests.rs"]
mod tests;
