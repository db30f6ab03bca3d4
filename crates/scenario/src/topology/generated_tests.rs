use std::collections::BTreeSet;

use crate::topology::{Node, Topology};
use crate::workload::test_network;

fn degrees(network: &Topology) -> Vec<usize> {
    (0..network.switches.len())
        .map(|s| network.links_of(Node::Switch(s)).count())
        .collect()
}

#[test]
fn a_fat_tree_has_its_numbers_and_all_ports_in_use() {
    let network = test_network(r#"topology = "fat-tree", k = 4, "#);
    assert_eq!(network.hosts.len(), 16);
    assert_eq!(network.switches.len(), 8 + 8 + 4);
    assert_eq!(network.links.len(), 3 * 16);
    assert!(degrees(&network).iter().all(|d| *d == 4));
    assert!(network.unreached().is_empty());
    // A core switch reaches every pod once.
    for core in 16..20 {
        let pods: BTreeSet<usize> = network
            .links_of(Node::Switch(core))
            .map(|l| match network.links[l].a {
                Node::Switch(aggregation) => (aggregation - 8) / 2,
                Node::Host(_) => panic!("a host at the core"),
            })
            .collect();
        assert_eq!(pods.len(), 4);
    }
}

#[test]
fn stars_are_joined_by_their_core() {
    let network = test_network(
        r#"topology = "stars", stars = 3, hosts = 5, core = "arista-7124s", uplink = LINK, "#,
    );
    assert_eq!(network.hosts.len(), 15);
    assert_eq!(degrees(&network), [6, 6, 6, 3]);
    assert_eq!(network.hosts[5].name, "star1-host0");
    assert!(network.unreached().is_empty());
}

#[test]
fn a_dumbbell_is_a_chain_with_hosts_at_its_ends() {
    let network = test_network(r#"topology = "dumbbell", pairs = 3, trunk = [LINK, LINK], "#);
    assert_eq!(network.hosts.len(), 6);
    assert_eq!(network.hosts[3].name, "right0");
    assert_eq!(degrees(&network), [4, 2, 4]);
    assert!(network.unreached().is_empty());
}
