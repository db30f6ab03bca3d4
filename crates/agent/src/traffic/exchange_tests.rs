//! Exchanges over this machine's loopback.

use std::net::{Ipv4Addr, TcpListener};

use super::tests::{flows, free_port, run_tasks};
use super::*;
use crate::config::{self, Deed};

/// So long after the start an exchange is over, ns.
const DURATION_NS: u64 = 400_000_000;

fn action(at_ns: u64, does: Deed, bytes: u64) -> config::Action {
    config::Action { at_ns, does, bytes }
}

/// One end of an exchange that begins at `start_ns`.
fn end(port: u16, start_ns: u64, server: Option<Ipv4Addr>, actions: Vec<config::Action>) -> Task {
    Task::Exchange(config::Exchange {
        server,
        port,
        start_ns: 0,
        duration_ns: start_ns + DURATION_NS,
        actions,
    })
}

#[test]
fn an_exchange_writes_holds_reads_and_shuts() {
    let port = free_port();
    let start_ns = Clock { epoch_ns: 0 }.now_ns();
    let at = |ms: u64, does, bytes| action(start_ns + ms * 1_000_000, does, bytes);
    let writes = vec![at(0, Deed::Write, 3_000_000), at(0, Deed::Shutdown, 0)];
    let reads = vec![at(0, Deed::Hold, 0), at(150, Deed::Read, 0)];
    let server = end(port, start_ns, None, writes);
    let client = end(port, start_ns, Some(Ipv4Addr::LOCALHOST), reads);
    let records = run_tasks("exchange", vec![server, client]);
    let received = flows(&records, false)[0];
    assert_eq!(received.read_bytes, 3_000_000);
    assert!(
        received.first_byte_ns >= start_ns + 150_000_000,
        "{received:?}"
    );
}

#[test]
fn an_end_that_reads_so_much_holds_after_it() {
    let port = free_port();
    let start_ns = Clock { epoch_ns: 0 }.now_ns();
    let at = |ms: u64, does, bytes| action(start_ns + ms * 1_000_000, does, bytes);
    let writes = vec![at(0, Deed::Write, 30_000)];
    let reads = vec![
        at(0, Deed::Hold, 0),
        at(100, Deed::Read, 700),
        at(300, Deed::Read, 1),
    ];
    let server = end(port, start_ns, None, writes);
    let client = end(port, start_ns, Some(Ipv4Addr::LOCALHOST), reads);
    let records = run_tasks("exchange-part", vec![server, client]);
    let received = flows(&records, false)[0];
    assert_eq!(received.read_bytes, 701);
    assert!(
        received.first_byte_ns >= start_ns + 100_000_000,
        "{received:?}"
    );
}

/// Runs one end of an exchange alone and says how long that took, ns.
fn alone(name: &str, port: u16, server: Option<Ipv4Addr>, bytes: u64) -> u64 {
    let start_ns = Clock { epoch_ns: 0 }.now_ns();
    let writes = vec![action(start_ns, Deed::Write, bytes)];
    let records = run_tasks(name, vec![end(port, start_ns, server, writes)]);
    assert!(
        !records.iter().any(|r| matches!(r, Record::Error { .. })),
        "{records:?}"
    );
    wall_ns() - start_ns
}

#[test]
fn an_exchange_is_over_in_time_whatever_its_other_end_does() {
    let within = DURATION_NS..20 * DURATION_NS;
    // Nobody connects, and nobody listens.
    let took = alone("exchange-server", free_port(), None, 1000);
    assert!(within.contains(&took), "{took}");
    let localhost = Some(Ipv4Addr::LOCALHOST);
    let took = alone("exchange-client", free_port(), localhost, 1000);
    assert!(within.contains(&took), "{took}");
    // Nobody reads.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let took = alone("exchange-unread", port, localhost, 100_000_000);
    assert!(within.contains(&took), "{took}");
}
