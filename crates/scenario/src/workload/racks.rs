//! Which hosts share a switch, and drawing a flow's destination by it: of a host's flows a share stays at its switch, as
//! traces of data centres have it (Roy et al., Inside the Social Network's (Datacenter) Network, SIGCOMM 2015).

use tailback_net::random::{Stream, threshold};

use crate::problem::Finding;
use crate::topology::{Node, Topology};

/// The hosts of a network by the switches that they are at.
pub(super) struct Racks {
    /// Of each switch with hosts these, in ascending order.
    members: Vec<Vec<usize>>,
    /// Of each host its rack, and its place there.
    of: Vec<(usize, usize)>,
}

impl Racks {
    pub(super) fn new(network: &Topology) -> Racks {
        let mut at: Vec<Option<Node>> = vec![None; network.hosts.len()];
        for link in &network.links {
            for (node, other) in [(link.a, link.b), (link.b, link.a)] {
                if let Node::Host(host) = node {
                    at[host] = Some(other);
                }
            }
        }
        let mut switches: Vec<Option<Node>> = Vec::new();
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut of = Vec::new();
        for (host, switch) in at.into_iter().enumerate() {
            let known = switches.iter().position(|s| *s == switch);
            let rack = known.unwrap_or_else(|| {
                switches.push(switch);
                members.push(Vec::new());
                members.len() - 1
            });
            of.push((rack, members[rack].len()));
            members[rack].push(host);
        }
        Racks { members, of }
    }

    /// A host other than `source`: with a probability of `local` at its switch, all there alike, else at another switch,
    /// all of them alike.
    pub(super) fn draw(&self, stream: &mut Stream, source: usize, local: f64) -> usize {
        let (rack, place) = self.of[source];
        let here = &self.members[rack];
        // 1 is beyond all that is drawn.
        let is_local = local >= 1.0 || stream.next_u64() < threshold(local);
        if is_local {
            let other = stream.below(here.len() as u64 - 1) as usize;
            return here[other + usize::from(other >= place)];
        }
        let others = self.of.len() - here.len();
        let mut host = stream.below(others as u64) as usize;
        for own in here {
            host += usize::from(host >= *own);
        }
        host
    }

    /// Why a share of `local` cannot be drawn on this network, if it cannot.
    pub(super) fn finding(network: &Topology, local: f64) -> Option<Finding> {
        let racks = Racks::new(network);
        let alone = racks.members.iter().find(|members| members.len() == 1);
        let (reason, remedy) = match alone {
            _ if racks.members.len() == 1 && local < 1.0 => (
                "all hosts are at one switch: no flow could go to another".to_owned(),
                "leave it out, or 1 for flows within the switch".to_owned(),
            ),
            Some(members) if local > 0.0 => (
                format!(
                    "{} is alone at its switch: none of its flows could stay there",
                    network.hosts[members[0]].name
                ),
                "0, or more hosts at that switch".to_owned(),
            ),
            _ => return None,
        };
        Some(Finding::new("local_share", reason, remedy))
    }
}
