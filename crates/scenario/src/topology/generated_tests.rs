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

#[test]
fn a_parking_lot_has_hosts_for_all_of_its_chain_and_for_each_link() {
    let network = test_network(
        r#"topology = "parking-lot", pairs = 2, hop_pairs = 3, trunk = [LINK, LINK, LINK], "#,
    );
    assert_eq!(network.hosts.len(), 2 * (2 + 3 * 3));
    assert_eq!(degrees(&network), [2 + 3 + 1, 8, 8, 2 + 3 + 1]);
    assert!(network.unreached().is_empty());
    let switch_of = |host: usize| {
        network.links[network.links_of(Node::Host(host)).next()?]
            .b
            .into()
    };
    let half = network.hosts.len() / 2;
    for source in 0..half {
        let [a, b] = [source, half + source].map(|host| &network.hosts[host].name);
        assert_eq!(&a.replace("left", "right"), b);
        let ends: [Option<Node>; 2] = [source, half + source].map(switch_of);
        let hop = a
            .strip_prefix("hop")
            .and_then(|rest| rest[..1].parse().ok());
        let (from, to) = hop.map_or((0, 3), |hop: usize| (hop, hop + 1));
        assert_eq!(ends, [from, to].map(|s| Some(Node::Switch(s))), "{a}");
    }
    // A pair alone is the least there is.
    let least = test_network(r#"topology = "parking-lot", trunk = [LINK], "#);
    let names: Vec<&str> = least.hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["left0", "hop0-left0", "right0", "hop0-right0"]);
    assert_eq!(degrees(&least), [3, 3]);
}

#[test]
fn leaves_are_linked_to_every_spine() {
    let network = test_network(
        r#"topology = "leaf-spine", leaves = 3, spines = 2, hosts = 4, spine = { latency = "9us" }, "#,
    );
    assert_eq!(network.hosts.len(), 12);
    assert_eq!(degrees(&network), [6, 6, 6, 3, 3]);
    assert!(network.unreached().is_empty());
    let names = |node: Node| -> Vec<&str> {
        let far = |l: usize| {
            let link = &network.links[l];
            network.name(if link.a == node { link.b } else { link.a })
        };
        network.links_of(node).map(far).collect()
    };
    let ports = names(Node::Switch(1));
    assert_eq!(
        ports,
        ["host4", "host5", "host6", "host7", "spine0", "spine1"]
    );
    assert_eq!(names(Node::Switch(4)), ["leaf0", "leaf1", "leaf2"]);
    // A table lies over the leaves' switch.
    let latency = |s: usize| network.switches[s].config.latency.to_string();
    assert_ne!(latency(0), latency(3));
    assert_eq!(latency(3), "9us");
    assert_eq!(
        network.switches[0].config.ports,
        network.switches[3].config.ports
    );
}

#[test]
fn uplinks_are_as_the_hosts_links_but_for_what_they_say() {
    let shape = r#"topology = "leaf-spine", leaves = 2, spines = 2, hosts = 2, "#;
    let alike = test_network(shape);
    assert!(
        alike
            .links
            .iter()
            .all(|l| l.config == alike.links[0].config)
    );
    let faster = test_network(&format!(r#"{shape}uplink = {{ rate = "40Gbit" }}, "#));
    let [first, .., last] = faster.links.as_slice() else {
        panic!("a network has links")
    };
    assert_eq!(last.config.rate.to_string(), "40Gbit");
    assert_eq!(first.config, alike.links[0].config);
    assert_eq!(
        (last.config.delay, last.config.mtu),
        (first.config.delay, first.config.mtu)
    );
}

#[test]
fn what_does_not_fit_a_leaf_or_a_spine_is_told_where_it_is_said() {
    let found = |shape: &str| {
        let text = format!(
            r#"
            name = "test"
            host = "ideal"
            network = {{ topology = "leaf-spine", switch = "arista-7124s", {shape}, link = {{ rate = "1Gbit", delay = "1us", mtu = "1500B" }} }}
            workload = {{ kind = "bulk", pairs = {{ kind = "to-first" }}, duration = "1ms" }}
            "#
        );
        let problems = crate::Plan::check(&text, "test", &[], None);
        problems.iter().map(ToString::to_string).collect::<String>()
    };
    let whole = "leaves = 24, spines = 8, hosts = 16";
    assert_eq!(found(whole), "");
    let wide = found("leaves = 24, spines = 8, hosts = 17");
    assert!(
        wide.contains("network.switch.ports: 25 links do not fit"),
        "{wide}"
    );
    let many = found("leaves = 25, spines = 8, hosts = 16");
    assert!(
        many.contains("network.switch.ports: 25 links do not fit"),
        "{many}"
    );
    let own = found(&format!("{whole}, spine = {{ ports = 12 }}"));
    assert!(
        own.contains("network.spine.ports: 24 links do not fit"),
        "{own}"
    );
    let narrow = found(&format!(r#"{whole}, uplink = {{ mtu = "1000B" }}"#));
    assert!(
        narrow.contains("network.uplink.mtu: switches do not fragment"),
        "{narrow}"
    );
    let still = found(&format!(r#"{whole}, uplink = {{ rate = "0bit" }}"#));
    assert!(still.contains("network.uplink.rate"), "{still}");
}
