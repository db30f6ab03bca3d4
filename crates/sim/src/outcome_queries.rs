//! What became of queries that many hosts answer at once ([`tailback_scenario::Queries`]).
//!
//! A query is complete when the last byte of its last answer has been read, and began with the first of them.
//! Alone it would take what all its answers take on its host's line, behind the longest way, or its slowest answer
//! by itself, whichever is more (as in [`crate::outcome_flows`]).

use std::collections::BTreeMap;

use tailback_net::frame::HostId;
use tailback_units::{Duration, Time};

use crate::outcome_flows::{completion, ideal, mean, quantile, wire_bytes};
use crate::tables::Table;
use crate::workload::FlowsApp;
use crate::world::{FlowRecord, World};

/// One query.
struct Query {
    number: u32,
    host: HostId,
    answers: usize,
    start: Time,
    /// How long it took, or has lasted.
    took: Duration,
    /// What it would have taken alone.
    alone: Duration,
    complete: bool,
}

impl Query {
    fn slowdown(&self) -> f64 {
        self.took.as_secs_f64() / self.alone.as_secs_f64()
    }
}

/// The queries in the order of their numbers.
fn all(world: &World) -> Vec<Query> {
    let Some(app) = world.workload.flows() else {
        return Vec::new();
    };
    let mut answers: BTreeMap<u32, Vec<(FlowRecord, Time, u64)>> = BTreeMap::new();
    for flow in world.all_flows() {
        if let Some(listed) = app.flow(flow.number as usize)
            && let (Some(query), Some(bytes)) = (listed.query, listed.bytes)
        {
            let all = answers.entry(query).or_default();
            all.push((flow, listed.start, bytes));
        }
    }
    answers
        .into_iter()
        .filter_map(|(number, all)| query(world, number, &all))
        .collect()
}

fn query(world: &World, number: u32, answers: &[(FlowRecord, Time, u64)]) -> Option<Query> {
    let (first, ..) = answers.first()?;
    let start = answers.iter().map(|(_, start, _)| *start).min()?;
    let ends = answers
        .iter()
        .map(|(flow, start, _)| *start + completion(world, flow, *start));
    let uplink = world.hosts[usize::from(first.destination.0)].uplink;
    let line = world.links[uplink as usize].link.rate();
    let (mut wire_bytes_all, mut slowest, mut delay) = (0, Duration::ZERO, Duration::ZERO);
    for (flow, _, bytes) in answers {
        wire_bytes_all += wire_bytes(world, [flow.source, flow.destination], *bytes);
        slowest = slowest.max(ideal(world, flow, *bytes));
        let (_, way) = world.way(flow.source, flow.destination, 2 * flow.number + 1);
        delay = delay.max(way);
    }
    Some(Query {
        number,
        host: first.destination,
        answers: answers.len(),
        start,
        took: ends.max()?.since(start),
        alone: (line.time_for(wire_bytes_all) + delay).max(slowest),
        complete: answers.iter().all(|(flow, ..)| flow.completed.is_some()),
    })
}

/// `table` with how many queries there were, how many are complete, and what those took.
pub(crate) fn summary(table: Table, world: &World) -> Table {
    if !world.workload.flows().is_some_and(FlowsApp::has_queries) {
        return table;
    }
    let all = all(world);
    let sorted = |value: fn(&Query) -> f64| {
        let complete = all.iter().filter(|query| query.complete);
        let mut values: Vec<f64> = complete.map(value).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let took = sorted(|query| query.took.as_ms_f64());
    let slowdown = sorted(Query::slowdown);
    table
        .counts("queries", [all.len() as u64])
        .counts("queries_complete", [took.len() as u64])
        .measures("query_ms_mean", [mean(&took)])
        .measures("query_ms_median", [quantile(&took, 0.5)])
        .measures("query_ms_p99", [quantile(&took, 0.99)])
        .measures("query_slowdown_median", [quantile(&slowdown, 0.5)])
        .measures("query_slowdown_p99", [quantile(&slowdown, 0.99)])
}

/// The table `queries`: a row for each; none where nobody has asked.
pub(crate) fn table(world: &World) -> Option<Table> {
    let all = all(world);
    if all.is_empty() {
        return None;
    }
    let host = |id: HostId| world.hosts[usize::from(id.0)].name.clone();
    let slowdown = |query: &Query| match query.complete {
        true => query.slowdown(),
        false => f64::NAN,
    };
    Some(
        Table::new("queries")
            .counts("query", all.iter().map(|query| query.number.into()))
            .names("destination", all.iter().map(|query| host(query.host)))
            .counts("answers", all.iter().map(|query| query.answers as u64))
            .measures("start_s", all.iter().map(|query| query.start.as_secs_f64()))
            .flags("complete", all.iter().map(|query| query.complete))
            .measures(
                "completion_ms",
                all.iter().map(|query| query.took.as_ms_f64()),
            )
            .measures("slowdown", all.iter().map(slowdown)),
    )
}
