//! Routes over any topology: shortest paths, spread by flow where several are equal.
//!
//! Models static IP routes with equal-cost multipath by a hash of the flow, as switches do it
//! (RFC 2992 discusses the choice). Every link counts one. Left out: weights, failures, tables
//! that overflow.

use std::collections::VecDeque;

use tailback_net::random::mix;

/// A port of a node: its number there.
pub(crate) type Port = u16;

/// The topology as routing sees it: hosts first, then switches, and what each port leads to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// For each node, for each of its ports in order, the node at the other end.
    pub(crate) neighbours: Vec<Vec<usize>>,
}

/// One node's routes: for each destination host the ports that lie on a shortest path.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    /// First index into `ports`, and how many, for each destination.
    spans: Vec<(u32, u16)>,
    ports: Vec<Port>,
    /// Differs from node to node, so that a flow's choices are independent along its path.
    salt: u64,
}

impl Routes {
    /// The egress port towards host `destination` for the flow that `flow` numbers. The topology
    /// is connected (the scenario's checks say so), so there is always one.
    #[inline]
    pub(crate) fn port(&self, destination: u16, flow: u32) -> Port {
        let (first, count) = self.spans[usize::from(destination)];
        let choice = if count == 1 {
            0
        } else {
            mix(u64::from(flow) ^ self.salt) % u64::from(count)
        };
        self.ports[first as usize + choice as usize]
    }
}

/// The routes of every node to the first `hosts` nodes.
pub(crate) fn shortest_paths(graph: &Graph, hosts: usize) -> Vec<Routes> {
    let nodes = graph.neighbours.len();
    let mut routes: Vec<Routes> = (0..nodes)
        .map(|node| Routes {
            spans: Vec::with_capacity(hosts),
            ports: Vec::new(),
            salt: mix(node as u64 + 1),
        })
        .collect();
    for destination in 0..hosts {
        let distance = distances(graph, destination, hosts);
        for (node, routes) in routes.iter_mut().enumerate() {
            let first = routes.ports.len() as u32;
            for (port, neighbour) in graph.neighbours[node].iter().enumerate() {
                let transit = *neighbour >= hosts || *neighbour == destination;
                if transit
                    && distance[*neighbour] != usize::MAX
                    && distance[*neighbour] + 1 == distance[node]
                {
                    routes.ports.push(port as Port);
                }
            }
            routes
                .spans
                .push((first, (routes.ports.len() as u32 - first) as u16));
        }
    }
    routes
}

/// Hops from every node to `destination`; hosts do not forward.
fn distances(graph: &Graph, destination: usize, hosts: usize) -> Vec<usize> {
    let mut distance = vec![usize::MAX; graph.neighbours.len()];
    distance[destination] = 0;
    let mut queue = VecDeque::from([destination]);
    while let Some(node) = queue.pop_front() {
        if node < hosts && node != destination {
            continue;
        }
        for neighbour in &graph.neighbours[node] {
            if distance[*neighbour] == usize::MAX {
                distance[*neighbour] = distance[node] + 1;
                queue.push_back(*neighbour);
            }
        }
    }
    distance
}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;
