//! What is wrong with hosts, switches and links that are listed one by one.

use crate::common::{EXPLICIT, STAR, explicit, problem, problems};

#[test]
fn links_to_unknown_nodes_are_told_with_the_nearest_name() {
    assert_eq!(
        problem(&explicit("[\"a1\", \"left\"]", "[\"a1\", \"lefft\"]"), &[]),
        "s.toml:28:15: network.link[0].ends[1]: there is no host or switch \"lefft\"; did you mean \
         \"left\"?"
    );
    let found = problem(&explicit("[\"a1\", \"left\"]", "[\"left\", \"left\"]"), &[]);
    assert!(
        found.contains("network.link[0].ends: both ends are at \"left\""),
        "{found}"
    );
    let found = problem(&explicit("[\"a1\", \"left\"]", "[\"a1\"]"), &[]);
    assert!(
        found.contains("the list has 1 elements; exactly 2"),
        "{found}"
    );
}

#[test]
fn what_no_path_joins_is_told() {
    let text = EXPLICIT.replace("[\"left\", \"right\"]", "[\"right\", \"right\"]");
    assert_eq!(problems(&text, &[]).len(), 2);
    let cut = explicit("ends = [\"b1\", \"right\"]", "ends = [\"left\", \"right\"]");
    assert_eq!(
        problem(&cut, &[]),
        "s.toml:15:1: network.host[2]: host \"b1\" is not connected to host \"a1\"; add the links \
         that join them"
    );
}

#[test]
fn a_host_alone_has_nobody_to_send_to() {
    let alone = r#"
        topology = "stars", stars = 1, hosts = 1, core = "arista-7124s",
        uplink = { rate = "10Gbit", delay = "1us", mtu = "9000B" }
    "#;
    let two = alone.replace("hosts = 1", "hosts = 2");
    for kind in [
        "bulk\", pairs = { kind = \"permutation\" }",
        "bernoulli\", load = 0.5",
    ] {
        let text = |network: &str| {
            format!(
                r#"
                name = "alone"
                network = {{ {network}, switch = "arista-7124s", link = {{ rate = "10Gbit", delay = "1us", mtu = "9000B" }} }}
                host = "plain"
                stack = "linux-7.2"
                workload = {{ kind = "{kind}, duration = "1ms" }}
                "#,
                network = network.split_whitespace().collect::<Vec<_>>().join(" ")
            )
        };
        assert_eq!(
            crate::common::plan(&text(&two), &[]).runs[0]
                .network
                .hosts
                .len(),
            2
        );
        let found = problem(&text(alone), &[]);
        assert!(
            found.contains("network: its one host has nobody"),
            "{found}"
        );
    }
}

#[test]
fn names_taken_twice_are_told() {
    let found = problem(
        &explicit("name = \"b1\"", "name = \"a1\"").replace("\"b1\"", "\"a1\""),
        &[],
    );
    assert!(
        found.contains("network.host[2].name: the name \"a1\" is taken by network.host[0].name"),
        "{found}"
    );
    let found = problem(STAR, &["network.names=[\"c\", \"x\", \"y\", \"x\"]"]);
    assert!(
        found.contains("network.names[3]: the name \"x\" is taken by network.names[1]"),
        "{found}"
    );
    let found = problem(STAR, &["network.names=[\"c\", \"x\"]"]);
    assert!(found.contains("2 names for 4 hosts"), "{found}");
    // Names alone say how many there are.
    let named = STAR.replace("hosts = 4", r#"names = ["c", "x", "y", "z"]"#);
    assert_eq!(
        crate::common::plan(&named, &[]).runs[0].network.hosts.len(),
        4
    );
    let found = problem(&STAR.replace("hosts = 4", ""), &[]);
    assert!(
        found.contains("how many hosts the star has is not said"),
        "{found}"
    );
}

#[test]
fn a_host_with_two_links_is_told() {
    let text = explicit("ends = [\"left\", \"right\"]", "ends = [\"a1\", \"right\"]");
    let found = problem(&text, &[]);
    assert!(found.contains("host \"a1\" has 2 links"), "{found}");
}

#[test]
fn a_switch_with_more_links_than_ports_is_told() {
    let found = problem(EXPLICIT, &["network.switch.right.model.ports=2"]);
    assert!(
        found.contains("switch \"right\" has 2 ports and 3 links"),
        "{found}"
    );
}

#[test]
fn packets_too_large_for_a_link_between_switches_are_told() {
    let found = problem(EXPLICIT, &["network.link.3.mtu=1500B"]);
    assert!(
        found.contains("network.link[3].mtu: switches do not fragment"),
        "{found}"
    );
}

#[test]
fn values_of_a_host_of_its_own_are_told_at_its_place() {
    let text = explicit("rx_ring_descriptors = 100", "rx_ring_descriptor = 100");
    assert_eq!(
        problem(&text, &[]),
        "s.toml:17:10: network.host[2].host.rx_ring_descriptor: there is no key \
         \"rx_ring_descriptor\" here; did you mean \"rx_ring_descriptors\"?"
    );
}
