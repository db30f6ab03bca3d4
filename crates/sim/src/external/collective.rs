//! The iterations of a collective whose hosts are all outside: each tells when it began and ended its own.

use tailback_agent::Record;
use tailback_units::Time;

use super::results::{Records, at};
use crate::world::{Totals, Transaction};

/// Those that all hosts have ended, from the first host's beginning to the last one's end. `until` says what had been
/// counted in the network at a time; what is counted between two iterations is neither's.
pub(super) fn iterations(records: &Records, until: impl Fn(Time) -> Totals) -> Vec<Transaction> {
    let mut spans: Vec<(Time, Time, usize)> = Vec::new();
    let mut hosts = 0;
    for told in records.values() {
        let own = told.iter().filter_map(|record| match record {
            Record::Transaction {
                started_ns,
                ended_ns,
                ..
            } => Some((at(*started_ns), at(*ended_ns))),
            _ => None,
        });
        let mut takes_part = false;
        for (iteration, (started, ended)) in own.enumerate() {
            takes_part = true;
            if iteration == spans.len() {
                spans.push((started, ended, 0));
            }
            let span = &mut spans[iteration];
            *span = (span.0.min(started), span.1.max(ended), span.2 + 1);
        }
        hosts += usize::from(takes_part);
    }
    let mut before = Time::ZERO;
    let whole = spans.into_iter().take_while(|span| span.2 == hosts);
    whole
        .map(|(started, ended, _)| {
            // Hosts begin the next one while others end this.
            let from = started.max(before);
            before = ended;
            Transaction {
                started,
                completion: ended.since(started),
                counted: until(ended).since(until(from)),
            }
        })
        .collect()
}
