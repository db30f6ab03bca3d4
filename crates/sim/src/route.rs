//! Routes over any topology: shortest paths, spread by flow where several are equal.
//!
//! Models IP routes with equal-cost multipath by a hash of the flow, as switches do it
//! (RFC 2992 discusses the choice); where a switch spreads frames in another way (`multipath`), which ports there
//! are to choose from. Every link counts one. What is [`Lost`] is left out: by the switch at its end alone, as one that
//! takes a dead port out of a group of equal ones does, or by all, as a routing protocol that has converged does.
//! Where some of a set of equal ports are lost, flows are spread anew over the others, or only those of the lost ones are
//! (resilient hashing: RFC 2992's region of a hash that a next hop owns, in many small ones). Left out: weights, tables that overflow.
//!
//! A host has one link, so the way to it is the way to the switch it is on: a switch's table has a line
//! for each switch with hosts (and, where links carry some VLANs only, for each set of them that its hosts
//! are in), not for each host.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use prefetch_index::prefetch_index;
use tailback_net::multipath::Equal;
use tailback_net::random::{Stream, mix};
use tailback_scenario::carries;

/// A port of a node: its number there.
pub(crate) type Port = u16;

/// The topology as routing sees it: hosts first, then switches, and what each port leads to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// For each node, for each of its ports in order, the node at the other end.
    pub(crate) neighbours: Vec<Vec<usize>>,
    /// For the same, the VLANs that the link carries; empty: all.
    pub(crate) vlans: Vec<Vec<Vec<u16>>>,
}

impl Graph {
    /// The VLANs that a host is in; empty: all.
    fn vlans_of(&self, host: usize) -> &[u16] {
        self.vlans[host].first().map_or(&[], Vec::as_slice)
    }
}

/// Between switches: for each, of those ports that lead to another, the other's number and the VLANs that the link
/// carries. Hosts are left out: nothing goes through them, and they are most of a network.
#[derive(Clone, Debug)]
struct Core(Vec<Vec<(Port, usize, Vec<u16>)>>);

impl Core {
    /// Of a network whose first `hosts` nodes are hosts.
    fn new(graph: &Graph, hosts: usize) -> Core {
        let ways = |node: usize| {
            let ports = graph.neighbours[node].iter().zip(&graph.vlans[node]);
            let ways = ports.enumerate().filter_map(|(port, (to, carried))| {
                Some((port as Port, to.checked_sub(hosts)?, carried.clone()))
            });
            ways.collect()
        };
        Core((hosts..graph.neighbours.len()).map(ways).collect())
    }

    /// Ports of a switch over which frames for hosts of these VLANs may go to another, and to which, but for what all
    /// know to be lost.
    fn ways<'b>(
        &'b self,
        switch: usize,
        vlans: &'b [u16],
        lost: &'b Lost,
    ) -> impl Iterator<Item = (Port, usize)> + 'b {
        let ways = self.0[switch].iter();
        ways.filter_map(move |(port, to, carried)| {
            let carries = carries(carried, vlans) && !lost.everywhere.contains(&(switch, *port));
            carries.then_some((*port, *to))
        })
    }

    /// Hops from every switch to the switch `destination`.
    fn distances(&self, destination: usize, vlans: &[u16], lost: &Lost) -> Vec<usize> {
        let mut distance = vec![usize::MAX; self.0.len()];
        distance[destination] = 0;
        let mut queue = VecDeque::from([destination]);
        while let Some(switch) = queue.pop_front() {
            for (_, neighbour) in self.ways(switch, vlans, lost) {
                if distance[neighbour] == usize::MAX {
                    distance[neighbour] = distance[switch] + 1;
                    queue.push_back(neighbour);
                }
            }
        }
        distance
    }

    /// The ports of a switch that lead nearer to where all have these distances from.
    fn nearer(&self, switch: usize, vlans: &[u16], distance: &[usize], lost: &Lost) -> Vec<Port> {
        let nearer = self.ways(switch, vlans, lost).filter(|(_, neighbour)| {
            let far = distance[*neighbour];
            far != usize::MAX && far + 1 == distance[switch]
        });
        nearer.map(|(port, _)| port).collect()
    }
}

/// Switches' ports to links that are known to be down. A link has two: it is lost in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lost {
    /// What the switch that has the port knows: it takes another that leads as near, if there is one.
    pub(crate) local: BTreeSet<(usize, Port)>,
    /// What all know: paths are those that are left. Where none is, what there was stays.
    pub(crate) everywhere: BTreeSet<(usize, Port)>,
}

/// Where each host is attached.
#[derive(Clone, Debug)]
pub(crate) struct Attachments {
    /// For each host its line in every table, its port at its switch, and the first line of that.
    hosts: Vec<(u16, Port, u16)>,
}

/// Equal paths: the first of `count` ports in a node's list, which has each set of them once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    first: u32,
    count: u16,
    /// The one port, if there is but one.
    only: Port,
}

/// One switch's routes: for each switch with hosts, and each set of VLANs that some of them are in, the
/// ports that lie on a shortest path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Routes {
    spans: Vec<Span>,
    ports: Vec<Port>,
    /// This switch's own first line, if it has hosts.
    own: Option<u16>,
    /// Differs from node to node, so that a flow's choices are independent along its path.
    salt: u64,
}

impl Routes {
    /// The egress port towards host `destination` for the flow that `flow` numbers. The topology
    /// is connected (the scenario's checks say so), so there is always one.
    #[inline]
    pub(crate) fn port(&self, attachments: &Attachments, destination: u16, flow: u32) -> Port {
        self.port_of(attachments, destination, flow).0
    }

    /// The same, and whether there are others to choose from.
    #[inline(always)]
    pub(crate) fn port_of(
        &self,
        attachments: &Attachments,
        destination: u16,
        flow: u32,
    ) -> (Port, bool) {
        let (line, port, home) = attachments.hosts[usize::from(destination)];
        if self.own == Some(home) {
            return (port, false);
        }
        let span = self.spans[usize::from(line)];
        if span.count == 1 {
            return (span.only, false);
        }
        // The high half of the product is uniform below the count.
        let spread = mix(u64::from(flow) ^ self.salt) >> 32;
        let choice = (spread * u64::from(span.count)) >> 32;
        (self.ports[span.first as usize + choice as usize], true)
    }
}

impl Routes {
    /// The egress ports towards a host, if there are several to choose from.
    pub(crate) fn equal(&self, attachments: &Attachments, destination: u16) -> Option<Equal<'_>> {
        let (line, _, home) = attachments.hosts[usize::from(destination)];
        let span = self.spans[usize::from(line)];
        let set = span.first as usize;
        (self.own != Some(home) && span.count > 1).then(|| Equal {
            set,
            ports: &self.ports[set..set + usize::from(span.count)],
        })
    }

    /// Above the number of each set of ports there is to choose from.
    pub(crate) fn sets(&self) -> usize {
        self.ports.len()
    }

    /// Whether a host is on this very switch.
    #[inline]
    pub(crate) fn is_last(&self, attachments: &Attachments, destination: u16) -> bool {
        let (_, _, home) = attachments.hosts[usize::from(destination)];
        self.own == Some(home)
    }

    /// The way to a host will be asked for soon: brings it into the processor's cache.
    #[inline]
    pub(crate) fn prefetch(&self, attachments: &Attachments, destination: u16) {
        let (line, ..) = attachments.hosts[usize::from(destination)];
        prefetch_index(&self.spans, usize::from(line));
    }
}

/// What the routes of every switch follow from.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    core: Core,
    /// By line of every table, the switch that it leads to, by VLANs that hosts there are in.
    lines: Vec<(usize, Vec<u16>)>,
    /// By switch, its own first line.
    own: Vec<Option<u16>>,
    /// By switch, whether flows keep a port when others are lost; empty: nowhere.
    resilient: Vec<bool>,
    seed: u64,
}

/// Buckets of each port of a switch whose flows keep theirs: so even is what is left over those that are left. (Switches
/// have a few hundred for a group of equal ports.)
const BUCKETS: usize = 64;

impl Router {
    /// Of a network whose first `hosts` nodes are hosts; and where those are.
    /// Each switch hashes flows in a way of its own, drawn from `seed`, as switches have a hash seed each.
    pub(crate) fn new(graph: &Graph, hosts: usize, seed: u64) -> (Attachments, Router) {
        let mut lines: Vec<(usize, Vec<u16>)> = Vec::new();
        let mut line_of: BTreeMap<(usize, &[u16]), u16> = BTreeMap::new();
        let mut own = vec![None; graph.neighbours.len() - hosts];
        let attachment = |host: usize| {
            let first = graph.neighbours[host].first().copied();
            // Two hosts at the ends of one link need no way.
            let Some(switch) = first.and_then(|node| node.checked_sub(hosts)) else {
                return (0, 0, 0);
            };
            let vlans = graph.vlans_of(host);
            let line = *line_of.entry((switch, vlans)).or_insert_with(|| {
                lines.push((switch, vlans.to_vec()));
                lines.len() as u16 - 1
            });
            let home = *own[switch].get_or_insert(line);
            let mut ports = graph.neighbours[hosts + switch].iter();
            let port = ports.position(|n| *n == host);
            (line, port.unwrap_or(0) as Port, home)
        };
        let attachments = Attachments {
            hosts: (0..hosts).map(attachment).collect(),
        };
        let core = Core::new(graph, hosts);
        let router = Router {
            core,
            lines,
            own,
            resilient: Vec::new(),
            seed,
        };
        (attachments, router)
    }

    /// The same, where flows of some switches keep their port when others are lost.
    pub(crate) fn resilient(self, resilient: Vec<bool>) -> Router {
        Router { resilient, ..self }
    }

    /// The routes of every switch.
    pub(crate) fn routes(&self, lost: &Lost) -> Vec<Routes> {
        let none = Lost::default();
        let is_changed = *lost != none;
        let own = (0..).zip(&self.own);
        let empty = own.map(|(switch, own)| Routes {
            spans: Vec::with_capacity(self.lines.len()),
            ports: Vec::new(),
            own: *own,
            salt: Stream::new(self.seed, "ecmp", switch).next_u64(),
        });
        let mut routes: Vec<Routes> = empty.collect();
        let mut groups: Vec<BTreeMap<Vec<Port>, u32>> = vec![BTreeMap::new(); routes.len()];
        for (destination, vlans) in &self.lines {
            let distance = self.core.distances(*destination, vlans, lost);
            let is_cut_off = distance.contains(&usize::MAX) && !lost.everywhere.is_empty();
            let mut usual = is_cut_off.then(|| self.core.distances(*destination, vlans, &none));
            for (switch, routes) in routes.iter_mut().enumerate() {
                let (distance, gone) = match &usual {
                    Some(usual) if distance[switch] == usize::MAX => (usual, &none),
                    _ => (&distance, lost),
                };
                let mut ports = self.core.nearer(switch, vlans, distance, gone);
                let is_lost = |port: &Port| lost.local.contains(&(switch, *port));
                if !ports.iter().all(is_lost) {
                    ports.retain(|port| !is_lost(port));
                }
                if is_changed && self.resilient.get(switch) == Some(&true) {
                    let usual = usual
                        .get_or_insert_with(|| self.core.distances(*destination, vlans, &none));
                    let all = self.core.nearer(switch, vlans, usual, &none);
                    ports = dealt(&all, ports);
                }
                let (count, only) = (ports.len() as u16, ports.first().copied().unwrap_or(0));
                let listed = &mut routes.ports;
                let first = *groups[switch].entry(ports).or_insert_with_key(|ports| {
                    listed.extend(ports);
                    (listed.len() - ports.len()) as u32
                });
                routes.spans.push(Span { first, count, only });
            }
        }
        routes
    }
}

/// Those `left` of `all` equal ports, each as often as it has buckets: its own, and some of those of ports that are lost.
/// A bucket of these goes to the port that a hash of both ranks first, so that it moves no more than it must. As they are
/// if none is lost, or if others have come.
fn dealt(all: &[Port], left: Vec<Port>) -> Vec<Port> {
    if left.len() >= all.len() || left.len() < 2 || !left.iter().all(|port| all.contains(port)) {
        return left;
    }
    let each = BUCKETS.min(usize::from(u16::MAX) / all.len());
    let owner = |bucket: usize| {
        let own = all[bucket / each];
        let rank = |port: &&Port| mix((bucket as u64) << 16 | u64::from(**port));
        let heir = left.iter().max_by_key(rank).copied();
        if left.contains(&own) {
            own
        } else {
            heir.unwrap_or(own)
        }
    };
    (0..all.len() * each).map(owner).collect()
}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;
