//! Tables of what only kernels tell: `counters`, `samples`, `programs`, `not_set`.
//!
//! Times are on the kernels' clock less their head start, so they are the world's.

use std::collections::BTreeMap;

use tailback_agent::Record;

use super::START;
use crate::tables::Table;
use crate::world::World;

type Records = BTreeMap<usize, Vec<Record>>;

/// The tables in which there is something; `told` is by the hosts' numbers.
pub(super) fn tables(world: &World, told: &Records) -> impl Iterator<Item = Table> {
    [
        counters(world, told),
        samples(world, told),
        programs(world, told),
        not_set(told),
    ]
    .into_iter()
    .filter(|table| table.rows() > 0)
}

/// Seconds on the world's clock.
fn seconds(kernel_ns: u64) -> f64 {
    kernel_ns.saturating_sub(START.as_ps() / 1000) as f64 / 1e9
}

/// All records that `pick` makes something of, with the host's name.
fn rows<'a, T>(
    world: &World,
    told: &'a Records,
    pick: impl Fn(&'a Record) -> Option<T>,
) -> Vec<(String, T)> {
    told.iter()
        .flat_map(|(host, records)| records.iter().map(move |record| (*host, record)))
        .filter_map(|(host, record)| Some((world.hosts[host].name.clone(), pick(record)?)))
        .collect()
}

/// Every counter of a kernel that is not zero.
fn counters(world: &World, told: &Records) -> Table {
    let rows = rows(world, told, |record| match record {
        Record::Counters { counters, .. } => Some(counters),
        _ => None,
    });
    let all = || {
        rows.iter().flat_map(|(host, counters)| {
            let counted = counters.iter().filter(|(_, value)| **value > 0);
            counted.map(move |(counter, value)| (host, counter, *value))
        })
    };
    Table::new("counters")
        .names("host", all().map(|row| row.0.clone()))
        .names("counter", all().map(|row| row.1.clone()))
        .counts("value", all().map(|row| row.2))
}

/// TCP_INFO in the course of time.
fn samples(world: &World, told: &Records) -> Table {
    let rows = rows(world, told, |record| match record {
        Record::Sample {
            local,
            peer,
            time_ns,
            bytes,
            tcp_info,
        } => Some((local, peer, *time_ns, *bytes, tcp_info)),
        _ => None,
    });
    let mut table = Table::new("samples")
        .names("host", rows.iter().map(|row| row.0.clone()))
        .names("local", rows.iter().map(|row| row.1.0.to_string()))
        .names("peer", rows.iter().map(|row| row.1.1.to_string()))
        .measures("time_s", rows.iter().map(|row| seconds(row.1.2)))
        .counts("bytes", rows.iter().map(|row| row.1.3));
    if let Some((_, first)) = rows.first() {
        for field in first.4.keys() {
            table = table.counts(
                field,
                rows.iter()
                    .map(|row| row.1.4.get(field).copied().unwrap_or(0)),
            );
        }
    }
    table
}

fn programs(world: &World, told: &Records) -> Table {
    let rows = rows(world, told, |record| match record {
        Record::Command {
            argv,
            output,
            started_ns,
            ended_ns,
            ..
        } => Some((argv.join(" "), output.clone(), *started_ns, *ended_ns)),
        _ => None,
    });
    Table::new("programs")
        .names("host", rows.iter().map(|row| row.0.clone()))
        .names("command", rows.iter().map(|row| row.1.0.clone()))
        .measures("start_s", rows.iter().map(|row| seconds(row.1.2)))
        .measures("end_s", rows.iter().map(|row| seconds(row.1.3)))
        .names("output", rows.iter().map(|row| row.1.1.clone()))
}

/// Sysctls of the hosts' stack profiles that they do not have, or not with that value, and why.
fn not_set(told: &Records) -> Table {
    let all = told.values().flatten().filter_map(|record| match record {
        Record::NotSet { sysctls } => Some(sysctls),
        _ => None,
    });
    let names: BTreeMap<&String, &String> = all.flatten().collect();
    Table::new("not_set")
        .names("sysctl", names.keys().map(ToString::to_string))
        .names("reason", names.values().map(ToString::to_string))
}
