//! VLANs: which links carry which, and whether hosts that talk share one.
//!
//! Models membership as IEEE 802.1Q-2022 has it (8.8, the member set of a VLAN): a frame of a VLAN
//! goes over the links that carry it and over no other. A link without a list carries all. A host is in the
//! VLANs of its link. Left out: learning and flooding, a spanning tree for each VLAN, routing between
//! VLANs; of a host in several VLANs, in which of them a flow is: any link that carries one of the
//! destination's may be on its way.

use std::collections::BTreeSet;

use tailback_net::link::Framing;

use crate::model::Scenario;
use crate::problem::Finding;
use crate::topology::{Node, Topology};
use crate::workload::Pairs;

/// VLAN identifiers that a frame may have (IEEE 802.1Q-2022, 9.6: 0 and 4095 are reserved).
const IDS: std::ops::RangeInclusive<u16> = 1..=4094;

/// Whether a link with the VLANs `carried` takes frames for a host in the VLANs `wanted`; an empty list
/// is all there are.
#[must_use]
pub fn carries(carried: &[u16], wanted: &[u16]) -> bool {
    carried.is_empty() || wanted.is_empty() || carried.iter().any(|id| wanted.contains(id))
}

/// What is wrong with the VLANs of a network, and with who talks to whom over them.
pub(crate) fn findings(scenario: &Scenario, network: &Topology) -> Vec<Finding> {
    if network.links.iter().all(|link| link.vlans.is_empty()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (i, link) in network.links.iter().enumerate() {
        let path = format!("network.link[{i}].vlans");
        if let Some(id) = link.vlans.iter().find(|id| !IDS.contains(id)) {
            let reason = format!("{id} is no VLAN's identifier");
            found.push(Finding::new(path.clone(), reason, "numbers from 1 to 4094"));
        }
        if link.vlans.len() > 1 && link.config.framing != Framing::Vlan {
            found.push(Finding::new(
                path,
                "frames of several VLANs are told apart by a tag, and this link's have none",
                "framing = \"vlan\" beside it, or one VLAN",
            ));
        }
    }
    if !found.is_empty() {
        return found;
    }
    let hosts = network.hosts.len();
    let any = || (0..hosts).flat_map(|a| (0..hosts).map(move |b| (a, b)));
    let mut pairs = scenario
        .workload
        .pairs(network)
        .unwrap_or_else(|| any().filter(|(a, b)| a != b).collect());
    let number = |name: &str| network.hosts.iter().position(|host| host.name == name);
    let beside = scenario.background.iter();
    pairs.extend(beside.filter_map(|b| Some((number(&b.source)?, number(&b.destination)?))));
    for beside in &scenario.background_flows {
        // Of pairs that are drawn, any may be.
        let drawn = matches!(beside.pairs, Pairs::Permutation {});
        match drawn {
            true => pairs.extend(any().filter(|(a, b)| a != b)),
            false => pairs.extend(beside.pairs.of(0, 0, network)),
        }
    }
    // One finding for hosts that are in the same place.
    let mut told = BTreeSet::new();
    for (a, b) in pairs {
        let lists = [a, b].map(|host| network.vlans_of(host));
        if reaches(network, a, b) && reaches(network, b, a) {
            continue;
        }
        let mut places = lists;
        places.sort_unstable();
        if !told.insert(places) {
            continue;
        }
        let [ours, theirs] = lists.map(named);
        let names = [a, b].map(|host| network.hosts[host].name.as_str());
        let why = if carries(lists[0], lists[1]) {
            "no path of links carries what they share"
        } else {
            "they share none"
        };
        found.push(Finding::new(
            "network.link",
            format!(
                "hosts {:?} (VLANs {ours}) and {:?} (VLANs {theirs}) exchange frames, and {why}",
                names[0], names[1]
            ),
            "a VLAN that the links of both, and those between them, have in their `vlans`",
        ));
    }
    found
}

fn named(ids: &[u16]) -> String {
    match ids {
        [] => "all".to_owned(),
        ids => ids
            .iter()
            .map(u16::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Whether links that carry a VLAN of host `b` join host `a` to it.
fn reaches(network: &Topology, a: usize, b: usize) -> bool {
    let wanted = network.vlans_of(b);
    let mut seen = vec![Node::Host(a)];
    let mut next = 0;
    while let Some(&from) = seen.get(next) {
        next += 1;
        // Hosts do not forward.
        if next > 1 && matches!(from, Node::Host(_)) {
            continue;
        }
        for link in network.links_of(from) {
            let link = &network.links[link];
            let to = if link.a == from { link.b } else { link.a };
            if carries(&link.vlans, wanted) && !seen.contains(&to) {
                seen.push(to);
            }
        }
    }
    seen.contains(&Node::Host(b))
}
