use super::{Attachments, Graph, Lost, Router, Routes};

/// A network whose links carry all VLANs.
fn graph(neighbours: Vec<Vec<usize>>) -> Graph {
    let vlans = neighbours.iter().map(|of| vec![Vec::new(); of.len()]);
    Graph {
        vlans: vlans.collect(),
        neighbours,
    }
}

/// Hosts 0, 1; leaves 2, 3; spines 4, 5: two equal paths from leaf 2 to leaf 3.
fn fabric() -> Graph {
    graph(vec![
        vec![2],
        vec![3],
        vec![0, 4, 5],
        vec![1, 4, 5],
        vec![2, 3],
        vec![2, 3],
    ])
}

/// The routes of a network in which nothing is lost.
fn shortest_paths(graph: &Graph, hosts: usize, seed: u64) -> (Attachments, Vec<Routes>) {
    let (attachments, router) = Router::new(graph, hosts, seed);
    (attachments, router.routes(&Lost::default()))
}

#[test]
fn a_star_has_one_port_to_each_host() {
    // Hosts 0..3, switch 3 with ports to hosts 0, 1, 2.
    let graph = graph(vec![vec![3], vec![3], vec![3], vec![0, 1, 2]]);
    let (hosts, switches) = shortest_paths(&graph, 3, 1);
    for host in 0..3 {
        assert_eq!(switches[0].port(&hosts, host, 9), host);
    }
}

#[test]
fn equal_paths_share_the_flows_and_a_flow_keeps_its_path() {
    let graph = fabric();
    let (hosts, switches) = shortest_paths(&graph, 2, 1);
    let port = |to, flow| switches[0].port(&hosts, to, flow);
    let ports: Vec<u16> = (0..1000).map(|flow| port(1, flow)).collect();
    let first = ports.iter().filter(|p| **p == 1).count();
    assert!(ports.iter().all(|p| *p == 1 || *p == 2));
    assert!(
        (400..600).contains(&first),
        "{first} of 1000 flows on the first spine"
    );
    assert_eq!(port(1, 77), port(1, 77));
    assert_eq!(port(0, 5), 0);
}

#[test]
fn another_seed_spreads_flows_in_another_way() {
    let graph = fabric();
    let ports = |seed| -> Vec<u16> {
        let (hosts, switches) = shortest_paths(&graph, 2, seed);
        (0..64)
            .map(|flow| switches[0].port(&hosts, 1, flow))
            .collect()
    };
    assert_eq!(ports(1), ports(1));
    assert_ne!(ports(1), ports(2));
}

#[test]
fn paths_do_not_lead_through_hosts() {
    // Host 1 has links to both switches 3 and 4, but 0 reaches 2 only by 3-5-4.
    let graph = graph(vec![
        vec![3],
        vec![3, 4],
        vec![4],
        vec![0, 1, 5],
        vec![2, 1, 5],
        vec![3, 4],
    ]);
    let (hosts, switches) = shortest_paths(&graph, 3, 1);
    assert_eq!(
        switches[0].port(&hosts, 2, 0),
        2,
        "towards switch 5, not host 1"
    );
}

#[test]
fn frames_go_only_over_links_that_carry_their_vlan() {
    // Hosts 0 and 1 at leaf 3, host 2 at leaf 4; spine 5 carries VLAN 10, spine 6 VLAN 20.
    let mut graph = graph(vec![
        vec![3],
        vec![3],
        vec![4],
        vec![0, 1, 5, 6],
        vec![2, 5, 6],
        vec![3, 4],
        vec![3, 4],
    ]);
    graph.vlans[0] = vec![vec![10]];
    graph.vlans[1] = vec![vec![20]];
    graph.vlans[2] = vec![vec![10, 20]];
    graph.vlans[3] = vec![vec![10], vec![20], vec![10], vec![20]];
    graph.vlans[4] = vec![vec![10, 20], vec![10], vec![20]];
    graph.vlans[5] = vec![vec![10], vec![10]];
    graph.vlans[6] = vec![vec![20], vec![20]];
    let (hosts, switches) = shortest_paths(&graph, 3, 1);
    for flow in 0..100 {
        // From leaf 4 to host 0 by spine 5, to host 1 by spine 6.
        assert_eq!(switches[1].port(&hosts, 0, flow), 1);
        assert_eq!(switches[1].port(&hosts, 1, flow), 2);
    }
    assert_eq!(switches[0].port(&hosts, 1, 0), 1, "at its own switch");
}

/// The ports by which a switch sends to a host what many flows send.
fn used(attachments: &Attachments, routes: &Routes, host: u16) -> Vec<u16> {
    let mut ports: Vec<u16> = (0..100)
        .map(|flow| routes.port(attachments, host, flow))
        .collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

#[test]
fn a_switch_leaves_its_own_dead_port_out_while_another_leads_as_near() {
    let (hosts, router) = Router::new(&fabric(), 2, 1);
    // The link between leaf 0 and spine 0 (switches 0 and 2).
    let lost = Lost {
        local: [(0, 1), (2, 0)].into(),
        ..Lost::default()
    };
    let routes = router.routes(&lost);
    assert_eq!(used(&hosts, &routes[0], 1), [2]);
    // The other leaf does not know, and the spine has no other way.
    assert_eq!(used(&hosts, &routes[1], 0), [1, 2]);
    assert_eq!(used(&hosts, &routes[2], 0), [0]);
}

#[test]
fn what_all_know_changes_paths_and_leaves_those_that_there_are_no_others_for() {
    let (hosts, router) = Router::new(&fabric(), 2, 1);
    let lost = Lost {
        everywhere: [(0, 1), (2, 0)].into(),
        ..Lost::default()
    };
    let routes = router.routes(&lost);
    assert_eq!(used(&hosts, &routes[0], 1), [2]);
    assert_eq!(used(&hosts, &routes[1], 0), [2]);
    // The spine gets to leaf 0 by leaf 1 and the other spine.
    assert_eq!(used(&hosts, &routes[2], 0), [1]);
    // Both uplinks of leaf 0: host 0 is cut off, and what was goes on.
    let lost = Lost {
        everywhere: [(0, 1), (2, 0), (0, 2), (3, 0)].into(),
        ..Lost::default()
    };
    assert_eq!(router.routes(&lost), router.routes(&Lost::default()));
}

#[test]
fn a_resilient_hash_moves_only_flows_that_have_lost_their_port() {
    // Hosts 0, 1; leaves 2, 3; spines 4 to 7.
    let fabric = graph(vec![
        vec![2],
        vec![3],
        vec![0, 4, 5, 6, 7],
        vec![1, 4, 5, 6, 7],
        vec![2, 3],
        vec![2, 3],
        vec![2, 3],
        vec![2, 3],
    ]);
    let (hosts, router) = Router::new(&fabric, 2, 1);
    let resilient = router.clone().resilient(vec![true; 6]);
    let lost = |ports: &[u16]| Lost {
        local: ports.iter().map(|port| (0, *port)).collect(),
        ..Lost::default()
    };
    let ports = |router: &Router, lost: &Lost| -> Vec<u16> {
        let routes = router.routes(lost);
        (0..4000).map(|f| routes[0].port(&hosts, 1, f)).collect()
    };
    let whole = ports(&resilient, &lost(&[]));
    assert_eq!(whole, ports(&router, &lost(&[])));
    let moved = |before: &[u16], after: &[u16], gone: u16| {
        let both = before.iter().zip(after);
        both.filter(|(b, a)| **b != gone && b != a).count()
    };
    let without = ports(&resilient, &lost(&[2]));
    assert!(!without.contains(&2));
    assert_eq!(moved(&whole, &without, 2), 0);
    assert_eq!(moved(&without, &ports(&resilient, &lost(&[2, 4])), 4), 0);
    // Each of the three has its quarter and about a third of the lost one.
    for port in [1, 3, 4] {
        let share = without.iter().filter(|p| **p == port).count();
        assert!((1100..1560).contains(&share), "{port}: {share}");
    }
    // Regions of a hash that are drawn anew: of a third that was port 4's a quarter comes to it from port 3.
    let anew = moved(&whole, &ports(&router, &lost(&[2])), 2);
    assert!((250..420).contains(&anew), "{anew}");
}
