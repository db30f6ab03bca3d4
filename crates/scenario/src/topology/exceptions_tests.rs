use tailback_net::impairment::script::Direction;
use tailback_units::{Bytes, Rate};

use crate::Plan;
use crate::topology::{Node, Topology};
use crate::workload::test_network;

/// The link between two of a network's hosts and switches, by their names.
fn rate(network: &Topology, ends: [&str; 2]) -> Rate {
    let [a, b] = ends;
    let named = |link: &&super::super::Link| {
        let names = [network.name(link.a), network.name(link.b)];
        names == [a, b] || names == [b, a]
    };
    network
        .links
        .iter()
        .find(named)
        .expect("a link")
        .config
        .rate
}

#[test]
fn a_link_differs_in_what_is_said_and_no_other_does() {
    for (topology, ends) in [
        ("topology = \"star\", hosts = 3,", ["host1", "switch"]),
        (
            "topology = \"stars\", stars = 2, hosts = 3, core = \"arista-7124s\", uplink = LINK,",
            ["core", "star1"],
        ),
        ("topology = \"fat-tree\", k = 4,", ["aggregation3", "core2"]),
        (
            "topology = \"leaf-spine\", leaves = 2, spines = 2, hosts = 2,",
            ["leaf1", "spine0"],
        ),
        (
            "topology = \"dumbbell\", pairs = 2, trunk = [LINK, LINK],",
            ["switch2", "switch1"],
        ),
        (
            "topology = \"parking-lot\", trunk = [LINK, LINK],",
            ["hop1-left0", "switch1"],
        ),
    ] {
        let usual = test_network(topology);
        let [a, b] = ends;
        let except =
            format!("{topology} except = [{{ ends = [\"{a}\", \"{b}\"], rate = \"3Gbit\" }}],");
        let network = test_network(&except);
        assert_eq!(rate(&network, ends), Rate::from_bps(3_000_000_000));
        let differ = network.links.iter().zip(&usual.links);
        let differ: Vec<_> = differ.filter(|(one, other)| one != other).collect();
        let [(one, other)] = differ.as_slice() else {
            panic!("{topology}: {differ:?}");
        };
        assert_eq!(
            (one.config.delay, one.config.mtu),
            (other.config.delay, other.config.mtu)
        );
    }
}

#[test]
fn a_trace_may_be_one_links() {
    let text = fabric(
        r#"{ ends = ["spine1", "leaf0"], trace = { forward = "slow" } }"#,
        "[trace.slow]\nkind = \"rates\"\nsteps = [{ from = \"0s\", rate = \"1Gbit\" }]\nperiod = \"1s\"",
    );
    let plan = Plan::from_toml(&text, "fabric", &[], None).expect("a good scenario");
    let traced = plan.runs[0].network.links.iter();
    let traced: Vec<_> = traced.filter(|link| link.traces[0].is_some()).collect();
    // Forward is from the first of the ends that are named, however the topology has them.
    let ends = (Node::Switch(3), Node::Switch(0));
    assert_eq!(traced.len(), 1);
    assert_eq!((traced[0].a, traced[0].b), ends);
}

#[test]
fn what_a_link_has_in_one_direction_it_has_in_that_one_still() {
    let trunk = r#"[{ rate = "1Gbit", delay = "1us", mtu = "1500B", impairment = { direction = "forward", duplicate = 0.5 } }]"#;
    let network = |ends: &str| {
        test_network(&format!(
            r#"topology = "dumbbell", pairs = 1, trunk = {trunk}, except = [{{ ends = [{ends}], loss = 0.1 }}],"#
        ))
    };
    for (ends, wanted) in [
        (r#""switch0", "switch1""#, Direction::Forward),
        (r#""switch1", "switch0""#, Direction::Backward),
    ] {
        let network = network(ends);
        let link = network.links.last().expect("the trunk");
        let impairment = link.config.impairment.as_ref().expect("its own");
        assert_eq!(impairment.direction, Some(wanted));
        let from = usize::from(wanted == Direction::Backward);
        assert_eq!(link.a, Node::Switch(from));
    }
}

fn fabric(except: &str, more: &str) -> String {
    format!(
        r#"
        name = "fabric"
        host = "plain"
        stack = "linux-7.2"
        workload = {{ kind = "bulk", pairs = {{ kind = "across", pairs = 1 }}, duration = "1ms" }}
        [network]
        topology = "leaf-spine"
        leaves = 2
        spines = 2
        hosts = 2
        switch = "plain-queued"
        link = {{ rate = "10Gbit", delay = "1us", mtu = "1500B" }}
        except = [{except}]
        {more}
        "#
    )
}

fn told(except: &str) -> String {
    let problems = Plan::check(&fabric(except, ""), "fabric", &[], None);
    problems
        .iter()
        .map(|problem| format!("{problem}\n"))
        .collect()
}

#[test]
fn what_fits_no_link_is_told_where_it_is_said() {
    for (except, wanted) in [
        (
            r#"{ ends = ["leaf0", "spin1"], rate = "1Gbit" }"#,
            "network.except[0].ends[1]: there is no host or switch \"spin1\"; did you mean \"spine1\"?",
        ),
        (
            r#"{ ends = ["leaf0", "leaf1"], rate = "1Gbit" }"#,
            "network.except[0].ends: no link joins \"leaf0\" and \"leaf1\"; of \"leaf0\" to one of spine0, spine1, host0, host1",
        ),
        (
            r#"{ ends = ["host2", "leaf0"], rate = "1Gbit" }"#,
            "of \"host2\" to leaf1",
        ),
        (
            r#"{ ends = ["leaf0", "spine1"] }"#,
            "network.except[0]: it does not say in what this link differs",
        ),
        (
            r#"{ ends = ["leaf0", "spine1"], loss = 0.1 }, { ends = ["spine1", "leaf0"], rate = "1Gbit" }"#,
            "network.except[1].ends: network.except[0] speaks of the link of leaf0 to spine1, too",
        ),
        (
            r#"{ ends = ["leaf0", "*"], loss = 0.1 }, { ends = ["*", "spine1"], rate = "1Gbit" }"#,
            "network.except[1].ends: network.except[0] speaks of the link of leaf0 to spine1, too",
        ),
        (
            r#"{ ends = ["*", "*"], rate = "1Gbit" }"#,
            "network.except[0].ends: all links cannot be an exception",
        ),
        (
            r#"{ ends = ["spine*", "*"], rate = "1Gbit" }"#,
            "network.except[0].ends[0]: there is no host or switch \"spine*\"",
        ),
        (
            r#"{ ends = ["leaf0", "*"], rate = "0bit" }"#,
            "network.except[0].rate: nothing ever crosses",
        ),
        (
            r#"{ ends = ["leaf0", "spine1"], mtu = "1400B" }"#,
            "network.except[0].mtu: switches do not fragment",
        ),
        (
            r#"{ ends = ["host0", "leaf0"], mtu = "9000B" }"#,
            "network.except[0].mtu: switches do not fragment",
        ),
        (
            r#"{ ends = ["host0", "leaf0"], mtu = "100B" }"#,
            "network.except[0].mtu: an MTU of 100B",
        ),
        (
            r#"{ ends = ["leaf0", "host0"], trace = { forward = "slow" } }"#,
            "network.except[0].trace.forward: there is no trace \"slow\"",
        ),
        (
            r#"{ ends = ["host0", "leaf0"], colour = "red" }"#,
            "network.except[0].colour: there is no key \"colour\" here",
        ),
    ] {
        let told = told(except);
        assert!(told.contains(wanted), "{except}\n{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
}

#[test]
fn all_links_of_one_may_differ() {
    for ends in [r#"["spine1", "*"]"#, r#"["*", "spine1"]"#] {
        let network = test_network(&format!(
            "topology = \"leaf-spine\", leaves = 3, spines = 2, hosts = 2, \
             except = [{{ ends = {ends}, rate = \"3Gbit\", \
             impairment = {{ direction = \"forward\", jitter = \"1us\" }} }}],"
        ));
        let differ = network
            .links
            .iter()
            .filter(|link| link.config.rate == Rate::from_bps(3_000_000_000));
        let differ: Vec<[&str; 2]> = differ
            .map(|link| [link.a, link.b].map(|node| network.name(node)))
            .collect();
        // Forward is from whom the entry names first.
        let wanted = ["leaf0", "leaf1", "leaf2"].map(|leaf| match ends.find('*') {
            Some(2) => [leaf, "spine1"],
            _ => ["spine1", leaf],
        });
        assert_eq!(differ, wanted, "{ends}");
    }
}

#[test]
fn what_is_wrong_with_all_links_is_told_once() {
    let text = fabric(r#"{ ends = ["host0", "leaf0"], delay = "2us" }"#, "");
    let text = text.replace("mtu = \"1500B\"", "mtu = \"100B\"");
    let problems = Plan::check(&text, "fabric", &[], None);
    assert_eq!(problems.len(), 1, "{problems:?}");
}

#[test]
fn a_host_with_a_smaller_mtu_is_sound() {
    let text = fabric(r#"{ ends = ["host0", "leaf0"], mtu = "1280B" }"#, "");
    let plan = Plan::from_toml(&text, "fabric", &[], None).expect("a good scenario");
    assert_eq!(plan.runs[0].network.links[0].config.mtu, Bytes::new(1280));
}
