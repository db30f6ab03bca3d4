//! The network of one run: every host, switch and link.

use std::collections::BTreeMap;
use std::sync::Arc;

use tailback_net::host::HostConfig;
use tailback_net::link::LinkConfig;
use tailback_net::queue::QueueConfig;
use tailback_net::switch::SwitchConfig;
use tailback_net::trace::{LinkTraces, Trace};
use tailback_tcp::Stack;

use crate::kernel::{HostKind, KernelHost};
use crate::kernel_unheeded;
use crate::model::Scenario;
use crate::network::{Explicit, Network, Star};
use crate::problem::Finding;
use crate::reroute::Reroute;
use crate::socket::SocketConfig;

pub(crate) mod exceptions;
mod generated;

/// Hosts, switches and the links between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// The hosts, in the order in which a workload takes them. Each has one link.
    pub hosts: Vec<Host>,
    /// The switches.
    pub switches: Vec<Switch>,
    /// The links. A switch's port 0 is its first link here, port 1 its second, ….
    pub links: Vec<Link>,
    /// How far a host's or switch's clock is off at most, parts in a million.
    pub clock_ppm: u32,
    /// When switches learn that a link between them is down.
    pub reroute: Option<Reroute>,
}

impl Topology {
    /// What kernels in virtual time, on the hosts that are or would be kernels by `outside`, do not do of what the
    /// scenario says of these hosts, a sentence each.
    #[must_use]
    pub fn unheeded_by_kernels(&self, outside: &[bool]) -> Vec<String> {
        let hosts = self.hosts.iter().zip(outside);
        kernel_unheeded::unheeded(hosts.filter(|(_, is)| **is).map(|(host, _)| host))
    }
}

/// A host.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Its name, unique among hosts and switches.
    pub name: String,
    /// Its machine.
    pub config: HostConfig,
    /// Its TCP.
    pub stack: Arc<Stack>,
    /// Options of its TCP sockets.
    pub socket: Arc<SocketConfig>,
    /// Whether it is modelled or a real kernel.
    pub kind: HostKind,
    /// What it is as a kernel, if it is one or the backend makes it one.
    pub kernel: Arc<KernelHost>,
}

/// A switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// Its name, unique among hosts and switches.
    pub name: String,
    /// What it is.
    pub config: SwitchConfig,
}

/// A link.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// One end.
    pub a: Node,
    /// The other end.
    pub b: Node,
    /// What it is.
    pub config: LinkConfig,
    /// VLANs that it carries; empty: all.
    pub vlans: Vec<u16>,
    /// How its capacity changes: from `a` to `b`, and back.
    pub traces: [Option<Arc<Trace>>; 2],
}

/// A host or a switch, by its place in the topology's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// `hosts[i]`.
    Host(usize),
    /// `switches[i]`.
    Switch(usize),
}

impl Topology {
    /// The topology that `scenario` describes; hosts are its `host` with its `stack` and its
    /// `kernel` unless they say otherwise. `Err`: names that do not fit together.
    pub(crate) fn new(scenario: &Scenario) -> Result<Topology, Vec<Finding>> {
        let mut topology = match &scenario.network {
            Network::Star(star) => from_star(star, scenario),
            Network::Stars(stars) => generated::stars(stars, scenario),
            Network::FatTree(tree) => generated::fat_tree(tree, scenario),
            Network::LeafSpine(fabric) => generated::leaf_spine(fabric, scenario),
            Network::Dumbbell(dumbbell) => generated::dumbbell(dumbbell, scenario),
            Network::ParkingLot(lot) => generated::parking_lot(lot, scenario),
            Network::Explicit(explicit) => from_explicit(explicit, scenario),
        }?;
        let findings = exceptions::apply(&mut topology, scenario.network.exceptions());
        if !findings.is_empty() {
            return Err(findings);
        }
        let traces = scenario.trace.iter();
        let traces: BTreeMap<&str, Arc<Trace>> = traces
            .map(|(name, trace)| (name.as_str(), Arc::new(trace.clone())))
            .collect();
        for link in &mut topology.links {
            if let Some(LinkTraces { forward, backward }) = &link.config.trace {
                let named = |name: &Option<String>| traces.get(name.as_deref()?).cloned();
                link.traces = [named(forward), named(backward)];
            }
        }
        Ok(topology)
    }

    /// The name of a host or a switch.
    #[must_use]
    pub fn name(&self, node: Node) -> &str {
        match node {
            Node::Host(i) => &self.hosts[i].name,
            Node::Switch(i) => &self.switches[i].name,
        }
    }

    /// Numbers of the links that end at `node`, in port order.
    pub fn links_of(&self, node: Node) -> impl Iterator<Item = usize> {
        self.links
            .iter()
            .enumerate()
            .filter(move |(_, link)| link.a == node || link.b == node)
            .map(|(i, _)| i)
    }

    /// The queue discipline that a host's end of its link has, if it has one of its own.
    #[must_use]
    pub fn host_qdisc(&self, host: usize) -> Option<&QueueConfig> {
        let link = &self.links[self.links_of(Node::Host(host)).next()?];
        let both = link.config.qdisc.as_ref()?;
        match link.a == Node::Host(host) {
            true => both.forward.as_ref(),
            false => both.backward.as_ref(),
        }
    }

    /// The VLANs that a host is in; empty: all.
    #[must_use]
    pub fn vlans_of(&self, host: usize) -> &[u16] {
        let link = self.links_of(Node::Host(host)).next();
        link.map_or(&[], |link| &self.links[link].vlans)
    }

    /// Hosts and switches that no path joins to the first host.
    fn unreached(&self) -> Vec<Node> {
        let all = (0..self.hosts.len())
            .map(Node::Host)
            .chain((0..self.switches.len()).map(Node::Switch));
        let mut reached = vec![Node::Host(0)];
        let mut next = 0;
        while let Some(&from) = reached.get(next) {
            next += 1;
            for link in self.links_of(from) {
                let link = &self.links[link];
                let to = if link.a == from { link.b } else { link.a };
                if !reached.contains(&to) {
                    reached.push(to);
                }
            }
        }
        all.filter(|node| !reached.contains(node)).collect()
    }
}

fn from_star(star: &Star, scenario: &Scenario) -> Result<Topology, Vec<Finding>> {
    let mut findings = Vec::new();
    let Some(hosts) = star.count() else {
        return Err(vec![Finding::new(
            "network",
            "how many hosts the star has is not said",
            "hosts = 9, or names for all of them",
        )]);
    };
    let ports = usize::from(star.switch.ports);
    if hosts > ports {
        findings.push(Finding::new(
            "network.hosts",
            format!("{hosts} hosts do not fit a switch with {ports} ports"),
            format!("at most {ports} hosts, or a larger network.switch.ports"),
        ));
    }
    let names = match &star.names {
        Some(names) => names.clone(),
        None => (0..hosts).map(|i| format!("host{i}")).collect(),
    };
    if names.len() != hosts {
        findings.push(Finding::new(
            "network.names",
            format!("{} names for {hosts} hosts", names.len()),
            "one name for each host, or no network.hosts",
        ));
    }
    let switch_name = "switch";
    findings.extend(duplicates(
        names
            .iter()
            .enumerate()
            .map(|(i, name)| (format!("network.names[{i}]"), name.as_str())),
    ));
    if let Some(i) = names.iter().position(|n| n == switch_name) {
        findings.push(Finding::new(
            format!("network.names[{i}]"),
            "the star's switch has this name",
            "another name",
        ));
    }
    for (i, kernel) in star.kernels.iter().enumerate() {
        if !names.contains(kernel) {
            findings.push(Finding::new(
                format!("network.kernels[{i}]"),
                format!("there is no host {kernel:?}"),
                crate::nearest::suggest(kernel, names.iter().map(String::as_str)),
            ));
        }
    }
    if !findings.is_empty() {
        return Err(findings);
    }
    let stack = Arc::new(scenario.stack.clone());
    let kernel = KernelHost::new(scenario.kernel.as_ref(), None, &stack);
    let kernel = Arc::new(kernel.sampled(scenario.record.sample_interval));
    let socket = Arc::new(scenario.socket.clone().unwrap_or_default());
    Ok(Topology {
        clock_ppm: star.clock_ppm,
        reroute: None,
        links: (0..hosts)
            .map(|i| Link {
                a: Node::Host(i),
                b: Node::Switch(0),
                config: star.link.clone(),
                vlans: Vec::new(),
                traces: [None, None],
            })
            .collect(),
        hosts: names
            .into_iter()
            .map(|name| Host {
                kind: if star.kernels.contains(&name) {
                    HostKind::Kernel
                } else {
                    HostKind::Model
                },
                name,
                config: scenario.host.clone(),
                stack: Arc::clone(&stack),
                socket: Arc::clone(&socket),
                kernel: Arc::clone(&kernel),
            })
            .collect(),
        switches: vec![Switch {
            name: switch_name.to_owned(),
            config: star.switch.clone(),
        }],
    })
}

fn from_explicit(explicit: &Explicit, scenario: &Scenario) -> Result<Topology, Vec<Finding>> {
    let shared = Arc::new(scenario.stack.clone());
    let sockets = scenario.socket.clone().unwrap_or_default();
    let hosts: Vec<Host> = explicit
        .host
        .iter()
        .map(|h| {
            let stack = match &h.stack {
                Some(own) => Arc::new(own.clone()),
                None => Arc::clone(&shared),
            };
            let (all, own) = (scenario.kernel.as_ref(), h.kernel.as_ref());
            let interval = scenario.record.sample_interval;
            Host {
                name: h.name.clone(),
                config: h.host.as_ref().unwrap_or(&scenario.host).clone(),
                kind: h.kind,
                socket: Arc::new(match &h.socket {
                    Some(own) => own.over(&sockets),
                    None => sockets.clone(),
                }),
                kernel: Arc::new(KernelHost::new(all, own, &stack).sampled(interval)),
                stack,
            }
        })
        .collect();
    let switches: Vec<Switch> = explicit
        .switch
        .iter()
        .map(|s| Switch {
            name: s.name.clone(),
            config: s.model.clone(),
        })
        .collect();
    let mut nodes = BTreeMap::new();
    for (i, switch) in switches.iter().enumerate() {
        nodes.insert(switch.name.as_str(), Node::Switch(i));
    }
    for (i, host) in hosts.iter().enumerate() {
        nodes.insert(host.name.as_str(), Node::Host(i));
    }
    let mut findings = duplicates(
        hosts
            .iter()
            .enumerate()
            .map(|(i, h)| (format!("network.host[{i}].name"), h.name.as_str()))
            .chain(
                switches
                    .iter()
                    .enumerate()
                    .map(|(i, s)| (format!("network.switch[{i}].name"), s.name.as_str())),
            ),
    );
    let mut links = Vec::new();
    for (i, link) in explicit.link.iter().enumerate() {
        let mut end = |e: usize| {
            let name = link.ends[e].as_str();
            let node = nodes.get(name).copied();
            if node.is_none() {
                findings.push(Finding::new(
                    format!("network.link[{i}].ends[{e}]"),
                    format!("there is no host or switch {name:?}"),
                    crate::nearest::suggest(name, nodes.keys().copied()),
                ));
            }
            node
        };
        let (a, b) = (end(0), end(1));
        let (Some(a), Some(b)) = (a, b) else { continue };
        if a == b {
            findings.push(Finding::new(
                format!("network.link[{i}].ends"),
                format!("both ends are at {:?}", link.ends[0]),
                "the names of two different hosts or switches",
            ));
            continue;
        }
        links.push(Link {
            a,
            b,
            config: link.link.clone(),
            vlans: link.vlans.clone(),
            traces: [None, None],
        });
    }
    let topology = Topology {
        hosts,
        switches,
        links,
        clock_ppm: explicit.clock_ppm,
        reroute: explicit.reroute,
    };
    if findings.is_empty() {
        findings.extend(misfits(&topology));
    }
    if findings.is_empty() {
        Ok(topology)
    } else {
        Err(findings)
    }
}

/// What does not fit once every name is known: ports, interfaces, connection.
fn misfits(topology: &Topology) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (i, host) in topology.hosts.iter().enumerate() {
        let count = topology.links_of(Node::Host(i)).count();
        if count > 1 {
            findings.push(Finding::new(
                format!("network.host[{i}]"),
                format!("host {:?} has {count} links", host.name),
                "a host is one interface with one link; put a switch in front of it",
            ));
        }
    }
    for (i, switch) in topology.switches.iter().enumerate() {
        let count = topology.links_of(Node::Switch(i)).count();
        let ports = usize::from(switch.config.ports);
        if count > ports {
            findings.push(Finding::new(
                format!("network.switch[{i}]"),
                format!(
                    "switch {:?} has {ports} ports and {count} links",
                    switch.name
                ),
                format!("at most {ports} links to it, or a larger model.ports"),
            ));
        }
    }
    let of_hosts =
        |link: &&Link| matches!(link.a, Node::Host(_)) || matches!(link.b, Node::Host(_));
    let largest = topology.links.iter().filter(of_hosts);
    let largest = largest
        .map(|link| link.config.mtu)
        .max()
        .unwrap_or_default();
    for (i, link) in topology.links.iter().enumerate() {
        if !of_hosts(&link) && link.config.mtu < largest {
            findings.push(Finding::new(
                format!("network.link[{i}].mtu"),
                format!("switches do not fragment, and hosts send packets of {largest}"),
                format!("at least {largest}, or smaller MTUs at the hosts"),
            ));
        }
    }
    for node in topology.unreached() {
        let (path, what) = match node {
            Node::Host(i) => (format!("network.host[{i}]"), "host"),
            Node::Switch(i) => (format!("network.switch[{i}]"), "switch"),
        };
        findings.push(Finding::new(
            path,
            format!(
                "{what} {:?} is not connected to host {:?}",
                topology.name(node),
                topology.hosts[0].name
            ),
            "add the links that join them",
        ));
    }
    findings
}

fn duplicates<'a>(names: impl Iterator<Item = (String, &'a str)>) -> Vec<Finding> {
    let mut seen: BTreeMap<&str, String> = BTreeMap::new();
    let mut findings = Vec::new();
    for (path, name) in names {
        if let Some(first) = seen.get(name) {
            findings.push(Finding::new(
                path,
                format!("the name {name:?} is taken by {first}"),
                "a name of its own for each host and switch",
            ));
        } else {
            seen.insert(name, path);
        }
    }
    findings
}
