use super::super::test_network;
use super::{Collective, Lane, Operation};

fn collective(operation: Operation) -> Collective {
    Collective {
        operation,
        size: tailback_units::Bytes::new(1000),
        iterations: 3,
        connections: 1,
        slices: 1,
        compute: tailback_units::Duration::ZERO,
        compute_jitter: tailback_units::Duration::ZERO,
        priority: 0,
        hosts: Vec::new(),
    }
}

#[test]
fn a_ring_sends_to_the_next_and_reads_from_the_one_before() {
    let network = test_network(r#"topology = "star", hosts = 4, "#);
    let mut spec = collective(Operation::AllReduce);
    spec.connections = 2;
    let ring = [(0, 1), (1, 2), (2, 3), (3, 0)];
    assert_eq!(spec.connections(&network), [ring, ring].concat());
    let ranks = spec.ranks(&network);
    assert_eq!(ranks[0].host, 0);
    // 1000 B on two rings of four hosts: parts of 125 B, six of which each sends.
    let lane = |sends, reads| Lane {
        sends,
        reads,
        bytes: 750,
        first_bytes: 125,
        slice_bytes: 125,
    };
    assert_eq!(ranks[0].lanes, [lane(0, 3), lane(4, 7)]);
    assert_eq!(ranks[3].lanes, [lane(3, 2), lane(7, 6)]);
    assert_eq!(spec.host_bytes(4), 1500);
}

#[test]
fn all_to_all_has_a_connection_from_each_to_each_other() {
    let network = test_network(r#"topology = "star", hosts = 3, "#);
    let spec = collective(Operation::AllToAll);
    let connections = spec.connections(&network);
    assert_eq!(
        connections,
        [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1)]
    );
    for rank in spec.ranks(&network) {
        for lane in &rank.lanes {
            assert_eq!(connections[lane.sends].0, rank.host);
            assert_eq!(connections[lane.reads].1, rank.host);
            // A third of 1000 B, rounded up, and all of it at once.
            assert_eq!((lane.bytes, lane.first_bytes), (334, 334));
        }
        assert_eq!(rank.lanes.len(), 2);
    }
    assert_eq!(spec.count(3), 6);
}

#[test]
fn operations_differ_in_how_often_parts_go_round() {
    let bytes = |operation| collective(operation).host_bytes(5);
    assert_eq!(bytes(Operation::AllReduce), 1600);
    assert_eq!(bytes(Operation::ReduceScatter), 800);
    assert_eq!(bytes(Operation::AllGather), 800);
    assert_eq!(bytes(Operation::AllToAll), 800);
}

#[test]
fn what_has_come_is_passed_on_by_the_slice() {
    let mut spec = collective(Operation::AllGather);
    spec.slices = 3;
    // 1000 B of four hosts in three slices each: 83.3 B, rounded up.
    let lane = spec.lane(4, 0, 1);
    assert_eq!(
        (lane.slice_bytes, lane.first_bytes, lane.bytes),
        (84, 252, 756)
    );
    let sent = [0, 83, 84, 170, 504, 700, 756].map(|received| lane.may_send(received));
    assert_eq!(sent, [252, 252, 336, 420, 756, 756, 756]);
}

#[test]
fn sizes_times_and_slices_that_are_of_no_use_are_told() {
    let mut spec = collective(Operation::AllToAll);
    assert!(spec.findings().is_empty());
    spec.slices = 2;
    spec.size = tailback_units::Bytes::new(0);
    let told = |spec: &Collective| -> Vec<String> {
        let found = spec.findings();
        found.iter().map(|finding| finding.path.clone()).collect()
    };
    assert_eq!(told(&spec), ["size", "slices"]);
    spec.slices = 1;
    spec.size = tailback_units::Bytes::new(u64::MAX);
    assert_eq!(told(&spec), ["size"]);
    // Three iterations of 40 days, then of 33.
    spec.size = tailback_units::Bytes::new(1);
    spec.compute_jitter = tailback_units::Duration::from_secs(40 * 86_400);
    assert_eq!(told(&spec), ["compute_jitter"]);
    spec.compute_jitter = tailback_units::Duration::ZERO;
    spec.compute = tailback_units::Duration::from_secs(40 * 86_400);
    assert_eq!(told(&spec), ["compute"]);
    spec.compute = tailback_units::Duration::from_secs(33 * 86_400);
    assert!(spec.findings().is_empty());
}
