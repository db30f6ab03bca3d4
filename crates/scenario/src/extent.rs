//! How much a scenario asks for: more than memory holds is refused before anything of it is listed.
//!
//! Bounds on what a run has to keep: connections that are there at once, and flows that come one after another. What a
//! machine really has is its user's to know; these are what none of today's has.

use tailback_units::Duration;

use crate::model::Scenario;
use crate::problem::Finding;
use crate::topology::Topology;
use crate::workload::{Pairs, Workload};

/// Connections, or flows of datagrams, that may be there at once. Two idle ends take 3.3 KB, a busy flow up to 13
/// (measured: docs/decisions/0013), so that these take some 7 to 26 GB.
const AT_ONCE_MAX: u64 = 2_000_000;
/// Flows of a run that come one after another: what is known of each is kept, 0.3 KB.
const IN_ALL_MAX: u64 = 20_000_000;

/// Rows of a table that is written at an interval of simulated time.
const ROWS_MAX: u64 = 10_000_000;

/// What of a scenario is more than a run can hold.
pub(crate) fn findings(scenario: &Scenario, network: &Topology) -> Vec<Finding> {
    let mut found = flows(scenario, network);
    // Of more flows than can be there nobody wants the rows.
    if found.is_empty() {
        found = rows(scenario, network);
    }
    found
}

fn flows(scenario: &Scenario, network: &Topology) -> Vec<Finding> {
    let (key, count, most) = asked(&scenario.workload, network);
    let mut found: Vec<Finding> = too_many(&format!("workload.{key}"), count, most)
        .into_iter()
        .collect();
    let mut beside = 0_u64;
    for (i, flows) in scenario.background_flows.iter().enumerate() {
        let own = count_pairs(&flows.pairs, network).saturating_mul(flows.connections.into());
        beside = beside.saturating_add(own);
        found.extend(too_many(
            &format!("background_flows[{i}].pairs"),
            beside,
            AT_ONCE_MAX,
        ));
    }
    found
}

/// The key that says how many flows a workload has, how many these are, and how many they may be.
fn asked(workload: &Workload, network: &Topology) -> (&'static str, u64, u64) {
    let hosts = network.hosts.len() as u64;
    let (key, count) = match workload {
        Workload::Bulk(bulk) => {
            let pairs = count_pairs(&bulk.pairs, network);
            of_pairs(pairs, ("connections", bulk.connections))
        }
        Workload::RequestResponse(asking) => {
            let pairs = count_pairs(&asking.pairs, network);
            of_pairs(pairs, ("connections", asking.connections))
        }
        Workload::Udp(udp) => {
            let pairs = count_pairs(&udp.pairs, network);
            let rounds = udp.schedule.as_ref().map_or(1, |schedule| schedule.rounds);
            of_pairs(pairs, ("schedule.rounds", rounds))
        }
        Workload::Collective(spec) => ("connections", spec.count(hosts)),
        Workload::Ping(ping) => ("pairs", count_pairs(&ping.pairs, network)),
        Workload::Bernoulli(_) => ("kind", hosts * hosts.saturating_sub(1)),
        Workload::Iperf3(spec) => (
            "parallel",
            u64::from(spec.senders) * u64::from(spec.parallel),
        ),
        Workload::FlowList(list) => return ("flows", list.count(), IN_ALL_MAX),
        Workload::Flows(flows) => return ("duration", flows.expected_flows(network), IN_ALL_MAX),
        // One or a few of each host, or of each program.
        Workload::Incast(_) | Workload::Exchange(_) | Workload::Flent(_) | Workload::Command(_) => {
            ("kind", hosts)
        }
    };
    (key, count, AT_ONCE_MAX)
}

/// So many of each of so many pairs, as `key` says, and which key is to blame if these are too many.
fn of_pairs(pairs: u64, (key, each): (&'static str, u32)) -> (&'static str, u64) {
    let key = if pairs > AT_ONCE_MAX { "pairs" } else { key };
    (key, pairs.saturating_mul(each.into()))
}

/// How many pairs these are, without listing them.
fn count_pairs(pairs: &Pairs, network: &Topology) -> u64 {
    let hosts = network.hosts.len() as u64;
    match pairs {
        Pairs::ToFirst {} | Pairs::Groups { .. } | Pairs::Permutation {} => hosts,
        Pairs::Across { .. } => hosts / 2,
        Pairs::Mesh {} => hosts * hosts.saturating_sub(1),
        Pairs::Listed { list } => list.len() as u64,
    }
}

/// Tables that would be too long, where the run's end is known beforehand.
fn rows(scenario: &Scenario, network: &Topology) -> Vec<Finding> {
    let (workload, record) = (&scenario.workload, &scenario.record);
    let mut tables = Vec::new();
    if let Some(span) = workload.latest_end() {
        let every = |interval: Duration| span.as_ps().div_ceil(interval.as_ps().max(1));
        let mut table = |path: &str, interval: Duration, each: u64| {
            tables.push((path.to_owned(), every(interval).saturating_mul(each)));
        };
        if let Some(interval) = record.interfaces {
            table(
                "record.interfaces",
                interval,
                2 * network.links.len() as u64,
            );
        }
        if let Some(series) = &record.series {
            table("record.series.interval", series.interval, 1);
        }
        for look in workload.looks() {
            if !look.interval.is_zero() {
                table(&format!("workload.{}", look.key), look.interval, look.count);
            }
        }
    }
    let long = tables.into_iter().filter(|(_, rows)| *rows > ROWS_MAX);
    let finding = |(path, rows): (String, u64)| {
        Finding::new(
            path,
            format!("it comes to about {rows} rows of a table"),
            format!("a longer interval, or a shorter run: at most {ROWS_MAX} rows"),
        )
    };
    long.map(finding).collect()
}

/// What is wrong with so many flows as the key at `path` asks for.
fn too_many(path: &str, count: u64, most: u64) -> Option<Finding> {
    (count > most).then(|| {
        Finding::new(
            path,
            format!("it comes to about {count} flows, more than a machine's memory holds"),
            format!("fewer: {most} at most"),
        )
    })
}

#[cfg(test)]
#[path = "extent_tests.rs"]
mod tests;
