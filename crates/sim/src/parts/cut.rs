//! Where a network is cut into parts.
//!
//! Only links between two switches, on which nothing happens to frames, are cut: a host stays with its
//! switch. Of all cuts that balance, one whose shortest link is as long as possible: windows are as long as
//! that. Hosts are shared out in the order in which a walk through the network finds them, so that
//! neighbours stay together; a switch without hosts goes where most of its links lead.

use std::collections::VecDeque;

use tailback_net::frame::{FRAME_BYTES_MIN, GAP_BYTES};
use tailback_units::{Duration, Time};

use super::mail::Mail;
use crate::world::{Sink, World};

/// Hosts of the largest part over those of an even share, at most, tenths.
const IMBALANCE_MAX: usize = 12;

/// Lengths that differ by less than one part in so many do so by the clocks of switches.
const CLOCKS: u64 = 256;

/// Which part does what.
#[derive(Debug)]
pub(super) struct Cut {
    parts: usize,
    hosts: Vec<u8>,
    switches: Vec<u8>,
    /// By link: the part of the end it leaves, and of the end it leads to.
    links: Vec<[u8; 2]>,
    window: Duration,
}

/// A link as the cut sees it: the nodes it joins, hosts first, and the least time across.
#[derive(Clone, Copy, Debug)]
struct Edge {
    ends: [usize; 2],
    /// None: it must not be cut.
    least: Option<Duration>,
}

impl Cut {
    /// Cuts a network into so many parts, or as many as there is something to do for; nothing if it is best
    /// left whole.
    pub(super) fn new(world: &World, parts: usize) -> Option<Cut> {
        let edges = edges(world);
        let hosts = world.hosts.len();
        let nodes = hosts + world.switches.len();
        let mut lengths: Vec<Duration> = edges.iter().filter_map(|edge| edge.least).collect();
        lengths.sort_unstable();
        // What differs by clocks only is as long as the shortest of it.
        lengths.dedup_by(|longer, length| *longer - *length <= *length / CLOCKS);
        let parts = parts.min(usize::from(u8::MAX));
        (2..=parts).rev().find_map(|parts| {
            let lengths = lengths.iter().rev().filter(|l| !l.is_zero());
            let owners = lengths.map(|least| share_out(&edges, [hosts, nodes], *least, parts));
            let owners = owners.flatten().next()?;
            Some(Cut::of(hosts, &edges, &owners, parts))
        })
    }

    fn of(hosts: usize, edges: &[Edge], owners: &[u8], parts: usize) -> Cut {
        let links: Vec<[u8; 2]> = edges.iter().map(|e| e.ends.map(|n| owners[n])).collect();
        let cut = |(edge, [from, to]): (&Edge, &[u8; 2])| (from != to).then_some(edge.least)?;
        let least = edges.iter().zip(&links).filter_map(cut).min();
        Cut {
            parts,
            hosts: owners[..hosts].to_vec(),
            switches: owners[hosts..].to_vec(),
            links,
            window: least.unwrap_or_default(),
        }
    }

    pub(super) fn parts(&self) -> usize {
        self.parts
    }

    /// How long parts may go on without word from one another.
    pub(super) fn window(&self) -> Duration {
        self.window
    }

    pub(super) fn of_host(&self, host: usize) -> usize {
        usize::from(self.hosts[host])
    }

    pub(super) fn of_switch(&self, switch: usize) -> usize {
        usize::from(self.switches[switch])
    }

    /// The parts that a link leaves, and leads to.
    pub(super) fn of_link(&self, link: usize) -> [usize; 2] {
        self.links[link].map(usize::from)
    }

    /// A world, before it begins, is to do what is this part's only.
    pub(super) fn confine(&self, world: &mut World, part: usize) {
        let own = part as u8;
        for (host, owner) in world.hosts.iter_mut().zip(&self.hosts) {
            host.outside = *owner != own;
        }
        for (state, [from, to]) in world.links.iter_mut().zip(&self.links) {
            state.plain &= from == to;
        }
        let foreign = |[_, to]: &[u8; 2]| (*to != own).then_some(*to);
        let links = self.links.iter().map(foreign).collect();
        let hosts = self.hosts.clone();
        let outbox = world.outbox();
        outbox.links = links;
        outbox.hosts = hosts;
        outbox.own = own;
        outbox.mail = (0..self.parts).map(|_| Mail::default()).collect();
    }
}

/// Every link.
fn edges(world: &World) -> Vec<Edge> {
    let hosts = world.hosts.len();
    // The last stretches of links that have several belong to where they lead.
    let mut from = vec![usize::MAX; world.links.len()];
    for (number, host) in world.hosts.iter().enumerate() {
        if let Some(from) = from.get_mut(host.uplink as usize) {
            *from = number;
        }
    }
    for (number, switch) in world.switches.iter().enumerate() {
        for port in &switch.ports {
            from[port.out_link as usize] = hosts + number;
        }
    }
    let edge = |(link, from): (usize, usize)| {
        let state = &world.links[link];
        let to = match world.end_of(link as u32) {
            Sink::Switch { switch, .. } => hosts + usize::from(switch),
            Sink::Host { host, .. }
            | Sink::Polled { host }
            | Sink::Spread { host }
            | Sink::Machine { host }
            | Sink::Outside { host } => usize::from(host.0),
            Sink::Onward { .. } => unreachable!("a link has no more than two stretches"),
        };
        let from = if from == usize::MAX { to } else { from };
        let between_switches = from >= hosts && to >= hosts;
        let least = (between_switches && state.plain).then(|| {
            let switch = &world.switches[from - hosts];
            let delay = state.link.arrival(Time::ZERO).since(Time::ZERO) + switch.latency;
            if switch.cut_through {
                return delay;
            }
            let shortest = state
                .link
                .rate()
                .time_for(u64::from(FRAME_BYTES_MIN + GAP_BYTES));
            (delay + shortest).min(state.link.least_transit() + switch.latency)
        });
        Edge {
            ends: [from, to],
            least,
        }
    };
    from.iter().copied().enumerate().map(edge).collect()
}

/// Gives each node to a part such that no link shorter than `least` is cut, if the parts can be balanced.
fn share_out(
    edges: &[Edge],
    [hosts, nodes]: [usize; 2],
    least: Duration,
    parts: usize,
) -> Option<Vec<u8>> {
    let groups = Groups::new(edges, nodes, least);
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for edge in edges {
        let [a, b] = edge.ends.map(|node| groups.of[node]);
        if a != b {
            neighbours[a].push(b);
        }
    }
    let mut hosts_of = vec![0; nodes];
    for host in 0..hosts {
        hosts_of[groups.of[host]] += 1;
    }
    let order = walk(&neighbours, &groups.of);
    let mut owner: Vec<Option<u8>> = vec![None; nodes];
    let mut load = vec![0; parts];
    let mut before = 0;
    for group in order.iter().copied().filter(|group| hosts_of[*group] > 0) {
        let middle = 2 * before + hosts_of[group];
        let part = (middle * parts / (2 * hosts)).min(parts - 1);
        owner[group] = Some(part as u8);
        load[part] += hosts_of[group];
        before += hosts_of[group];
    }
    let most = load.iter().max()?;
    if load.contains(&0) || 10 * most * parts > IMBALANCE_MAX * hosts {
        return None;
    }
    let mut rest: Vec<usize> = order;
    rest.retain(|group| owner[*group].is_none());
    let mut switches = vec![0; parts];
    while !rest.is_empty() {
        let left = rest.len();
        // Those first of which most is known: a core switch when all below it are shared out.
        rest.retain(|group| {
            let links = links_to(&neighbours[*group], &owner, parts);
            let known: usize = links.iter().sum();
            if 2 * known < neighbours[*group].len() {
                return true;
            }
            let part = most_links(&links, &switches);
            owner[*group] = Some(part as u8);
            switches[part] += 1;
            false
        });
        if rest.len() == left {
            let links = links_to(&neighbours[rest[0]], &owner, parts);
            owner[rest.remove(0)] = Some(most_links(&links, &switches) as u8);
        }
    }
    groups.of.iter().map(|group| owner[*group]).collect()
}

/// How many of a group's links lead to each part, as far as that is known.
fn links_to(neighbours: &[usize], owner: &[Option<u8>], parts: usize) -> Vec<usize> {
    let mut links = vec![0; parts];
    for part in neighbours.iter().filter_map(|group| owner[*group]) {
        links[usize::from(part)] += 1;
    }
    links
}

/// The part that most links lead to; of equals the one with the fewest switches without hosts.
fn most_links(links: &[usize], switches: &[usize]) -> usize {
    let fewest = |part: &usize| (links[*part], std::cmp::Reverse((switches[*part], *part)));
    (0..links.len()).max_by_key(fewest).unwrap_or_default()
}

/// All groups, each after one it is joined to, if it is joined to any.
fn walk(neighbours: &[Vec<usize>], groups: &[usize]) -> Vec<usize> {
    let mut seen = vec![false; groups.len()];
    let mut order = Vec::new();
    for start in groups {
        let mut queue = VecDeque::from([*start]);
        while let Some(group) = queue.pop_front() {
            if !std::mem::replace(&mut seen[group], true) {
                order.push(group);
                queue.extend(&neighbours[group]);
            }
        }
    }
    order
}

/// Nodes that must stay together: by node the first of its group.
struct Groups {
    of: Vec<usize>,
}

impl Groups {
    fn new(edges: &[Edge], nodes: usize, least: Duration) -> Groups {
        let mut parent: Vec<usize> = (0..nodes).collect();
        for edge in edges {
            if edge.least.is_none_or(|length| length < least) {
                let [a, b] = edge.ends.map(|node| root(&parent, node));
                parent[a.max(b)] = a.min(b);
            }
        }
        let of = (0..nodes).map(|node| root(&parent, node)).collect();
        Groups { of }
    }
}

fn root(parent: &[usize], mut node: usize) -> usize {
    while parent[node] != node {
        node = parent[node];
    }
    node
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
