//! How often kernels retransmitted and timed out in each iteration.
//!
//! A server tells at each request, and at the end of its connection, what that connection has counted
//! so far; the client, and a host of a collective, tells at the end of each iteration what all of its own have. The differences are
//! an iteration's. What happens between an iteration's end and the next one's beginning counts to the
//! former.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use tailback_agent::Record;

use super::results::Records;
use crate::world::Transaction;

/// Retransmissions and timeouts.
type Repairs = (u64, u64);

/// Adds to each iteration what kernels counted in it.
pub(super) fn add(transactions: &mut [Transaction], records: &Records) {
    for told in records.values() {
        for counts in connections(told).into_values().chain([client(told)]) {
            for (transaction, both) in transactions.iter_mut().zip(counts.windows(2)) {
                let [before, after] = both else { continue };
                transaction.counted.retransmissions += after.0.saturating_sub(before.0);
                transaction.counted.timeouts += after.1.saturating_sub(before.1);
            }
        }
    }
}

/// For each connection of a server what it had counted at the beginning of each iteration and at its
/// end.
fn connections(told: &[Record]) -> BTreeMap<SocketAddrV4, Vec<Repairs>> {
    let mut counts: BTreeMap<SocketAddrV4, Vec<Repairs>> = BTreeMap::new();
    for record in told {
        match record {
            Record::Request {
                peer,
                retransmissions,
                timeouts,
                ..
            } => counts
                .entry(*peer)
                .or_default()
                .push((*retransmissions, *timeouts)),
            Record::Flow(flow) => {
                let count = |name: &str| flow.tcp_info.get(name).copied().unwrap_or(0);
                if let Some(counts) = counts.get_mut(&flow.peer) {
                    counts.push((count("total_retrans"), count("total_rto")));
                }
            }
            _ => {}
        }
    }
    counts
}

/// What connections of a client, or of a collective's host, had counted at the beginning and after each iteration.
fn client(told: &[Record]) -> Vec<Repairs> {
    let after = told.iter().filter_map(|record| match record {
        Record::Transaction {
            retransmissions,
            timeouts,
            ..
        } => Some((*retransmissions, *timeouts)),
        _ => None,
    });
    std::iter::once((0, 0)).chain(after).collect()
}

#[cfg(test)]
#[path = "repairs_tests.rs"]
mod tests;
