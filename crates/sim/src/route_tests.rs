use super::{Graph, shortest_paths};

#[test]
fn a_star_has_one_port_to_each_host() {
    // Hosts 0..3, switch 3 with ports to hosts 0, 1, 2.
    let graph = Graph {
        neighbours: vec![vec![3], vec![3], vec![3], vec![0, 1, 2]],
    };
    let (hosts, switches) = shortest_paths(&graph, 3);
    for host in 0..3 {
        assert_eq!(switches[0].port(&hosts, host, 9), host);
    }
}

#[test]
fn equal_paths_share_the_flows_and_a_flow_keeps_its_path() {
    // Hosts 0, 1; leaves 2, 3; spines 4, 5: two equal paths from leaf 2 to leaf 3.
    let graph = Graph {
        neighbours: vec![
            vec![2],
            vec![3],
            vec![0, 4, 5],
            vec![1, 4, 5],
            vec![2, 3],
            vec![2, 3],
        ],
    };
    let (hosts, switches) = shortest_paths(&graph, 2);
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
fn paths_do_not_lead_through_hosts() {
    // Host 1 has links to both switches 3 and 4, but 0 reaches 2 only by 3-5-4.
    let graph = Graph {
        neighbours: vec![
            vec![3],
            vec![3, 4],
            vec![4],
            vec![0, 1, 5],
            vec![2, 1, 5],
            vec![3, 4],
        ],
    };
    let (hosts, switches) = shortest_paths(&graph, 3);
    assert_eq!(
        switches[0].port(&hosts, 2, 0),
        2,
        "towards switch 5, not host 1"
    );
}
