//! Collectives over this machine's loopback.

use super::tests::{flows, free_port, run_tasks};
use super::*;
use crate::config::{Collective, Lane};

/// A ring of so many ranks, all on this host.
fn ring(ports: &[u16], iterations: u64, bytes: u64) -> Vec<Task> {
    let ranks = ports.len();
    let rank = |number: usize| {
        let lane = Lane {
            address: Ipv4Addr::LOCALHOST,
            port: ports[(number + 1) % ranks],
            own_port: ports[number],
            bytes,
            first_bytes: 100_000,
            slice_bytes: 30_000,
        };
        Task::Collective(Collective {
            lanes: vec![lane],
            iterations,
            compute_ns: 2_000_000,
            compute_jitter_ns: 0,
            stream: number as u64,
            priority: 0,
            start_ns: 0,
        })
    };
    (0..ranks).map(rank).collect()
}

#[test]
fn a_ring_passes_on_what_comes_and_tells_of_each_iteration() {
    let ports = [free_port(), free_port(), free_port()];
    let records = run_tasks("ring", ring(&ports, 3, 390_000));
    let failures: Vec<_> = records
        .iter()
        .filter(|record| matches!(record, Record::Error { .. }))
        .collect();
    assert!(failures.is_empty(), "{failures:?}");
    let spans: Vec<(u64, u64)> = records
        .iter()
        .filter_map(|record| match record {
            Record::Transaction {
                started_ns,
                ended_ns,
                bytes: 390_000,
                ..
            } => Some((*started_ns, *ended_ns)),
            _ => None,
        })
        .collect();
    assert_eq!(spans.len(), 9);
    assert!(spans.iter().all(|(started, ended)| started < ended));
    for sends in [true, false] {
        let all = flows(&records, sends);
        assert_eq!(all.len(), 3);
        for flow in all {
            let bytes = flow.read_bytes.max(flow.written_bytes);
            assert_eq!(bytes, 3 * 390_000, "{flow:?}");
        }
    }
}

#[test]
fn a_host_that_goes_fails_the_others_and_nobody_waits() {
    let ports = [free_port(), free_port()];
    let mut tasks = ring(&ports, 1, 390_000);
    // The second has had enough after less.
    if let Task::Collective(second) = &mut tasks[1] {
        second.lanes[0].bytes = 100_000;
    }
    let records = run_tasks("gone", tasks);
    let told = records.iter().find_map(|record| match record {
        Record::Error { message } => Some(message),
        _ => None,
    });
    let told = told.expect("the first misses something");
    assert!(told.contains("closed before all had come"), "{told}");
}
