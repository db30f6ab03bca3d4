//! How long flows took beside how long they would have taken alone.
//!
//! The ideal is what studies of data-centre transport take (Alizadeh et al., SIGCOMM 2013): the
//! flow's bytes with their headers, timestamps where both ends send them, at the slowest rate of the
//! way, then the way's delays; no handshake. Slowdown is the time taken over that.

use tailback_net::frame::{
    ETHERNET_BYTES, GAP_BYTES, HostId, IP_HEADER_BYTES, TCP_HEADER_BYTES, TIMESTAMPS_BYTES,
};
use tailback_units::{Duration, Time};

use crate::fairness::jain_index;
use crate::tables::Table;
use crate::workload::FlowsApp;
use crate::world::{FlowRecord, World};

/// Upper ends of the classes of sizes, bytes.
const SIZES: [u64; 6] = [10_000, 30_000, 100_000, 1_000_000, 10_000_000, u64::MAX];

/// What a flow of so many bytes takes alone.
pub(crate) fn ideal(world: &World, flow: &FlowRecord, bytes: u64) -> Duration {
    let ends = [flow.source, flow.destination];
    alone(world, ends, 2 * flow.number + 1, bytes)
}

/// What so many bytes from one host to another take alone, to that endpoint.
pub(crate) fn alone(world: &World, ends: [HostId; 2], endpoint: u32, bytes: u64) -> Duration {
    let (rate, delay) = world.way(ends[0], ends[1], endpoint);
    rate.time_for(wire_bytes(world, ends, bytes)) + delay
}

/// What so many bytes from one host to another take of a line, with headers and gaps.
pub(crate) fn wire_bytes(world: &World, ends: [HostId; 2], bytes: u64) -> u64 {
    let ends = ends.map(|id| &world.hosts[usize::from(id.0)].config);
    let options = match ends.iter().all(|end| end.stack.tcp_timestamps) {
        true => TIMESTAMPS_BYTES,
        false => 0,
    };
    let payload = u64::from(ends[0].mss).saturating_sub(options.into());
    let headers = TCP_HEADER_BYTES + options + IP_HEADER_BYTES + ETHERNET_BYTES + GAP_BYTES;
    bytes + bytes.div_ceil(payload.max(1)) * u64::from(headers)
}

/// How much longer each complete flow took than alone, and its size; nothing of the others.
pub(crate) fn slowdowns(world: &World) -> Vec<Option<(u64, f64)>> {
    let Some(app) = world.workload.flows() else {
        return Vec::new();
    };
    let slowdown = |flow: &FlowRecord| {
        let listed = app.flow(flow.number as usize)?;
        let bytes = listed.bytes?;
        let took = flow.completed?.since(listed.start).as_secs_f64();
        Some((bytes, took / ideal(world, flow, bytes).as_secs_f64()))
    };
    world.all_flows().iter().map(slowdown).collect()
}

/// The same, but for answers to queries.
fn by_themselves(world: &World) -> Vec<Option<(u64, f64)>> {
    let Some(app) = world.workload.flows() else {
        return Vec::new();
    };
    let all = world.all_flows();
    let answers = |flow: &FlowRecord| {
        let listed = app.flow(flow.number as usize);
        listed.is_some_and(|listed| listed.query.is_some())
    };
    let known = all.iter().zip(slowdowns(world));
    known
        .filter(|(flow, _)| !answers(flow))
        .map(|(_, slowdown)| slowdown)
        .collect()
}

/// `table` with what became of the flows: how many there were, how many are complete, and of those the slowdown.
pub(crate) fn summary(table: Table, world: &World) -> Table {
    if world.workload.flows().is_none() {
        return table;
    }
    let all = by_themselves(world);
    let mut complete: Vec<f64> = all
        .iter()
        .flatten()
        .map(|(_, slowdown)| *slowdown)
        .collect();
    complete.sort_by(f64::total_cmp);
    let table = match endless_rates(world) {
        rates if rates.len() < 2 => table,
        rates => table.measures("jain_index", [jain_index(&rates)]),
    };
    table
        .counts("flows", [all.len() as u64])
        .counts("flows_complete", [complete.len() as u64])
        .measures("slowdown_mean", [mean(&complete)])
        .measures("slowdown_median", [quantile(&complete, 0.5)])
        .measures("slowdown_p95", [quantile(&complete, 0.95)])
        .measures("slowdown_p99", [quantile(&complete, 0.99)])
}

/// What came of each flow that lasts as long as the run, bytes a second from its start or from when it is
/// counted.
fn endless_rates(world: &World) -> Vec<f64> {
    let Some(app) = world.workload.flows() else {
        return Vec::new();
    };
    let rate = |flow: &FlowRecord| {
        let listed = app.flow(flow.number as usize)?;
        let lasted = completion(world, flow, listed.start).as_secs_f64();
        let endless = listed.bytes.is_none() && lasted > 0.0;
        endless.then(|| flow.received_bytes as f64 / lasted)
    };
    let flows = world.all_flows_in_window();
    flows.iter().filter_map(rate).collect()
}

/// No number (NaN) of none: a slowdown of zero would be one of something.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    values.iter().sum::<f64>() / values.len() as f64
}

/// The value below which the share `q` of sorted values lies (nearest rank); no number (NaN) of none.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let rank = (q * sorted.len() as f64).ceil().max(1.0) as usize;
    let place = rank.min(sorted.len()).checked_sub(1);
    place.map_or(f64::NAN, |place| sorted[place])
}

/// Those of `all` that each class of sizes has, and the largest size of the class: classes that have any.
pub(crate) fn by_size<T: Copy>(all: &[(u64, T)]) -> Vec<(u64, Vec<T>)> {
    let largest = all.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0);
    let mut rows = Vec::new();
    let mut least = 0;
    for most in SIZES {
        let of_class = all
            .iter()
            .filter(|(bytes, _)| (least..=most).contains(bytes));
        let class: Vec<T> = of_class.map(|(_, value)| *value).collect();
        if !class.is_empty() {
            rows.push((most.min(largest), class));
        }
        least = most.saturating_add(1);
    }
    rows
}

/// The table `slowdowns`: a row for each class of sizes that has complete flows.
pub(crate) fn table(world: &World) -> Option<Table> {
    let mut all: Vec<(u64, f64)> = by_themselves(world).into_iter().flatten().collect();
    if all.is_empty() {
        return None;
    }
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    let rows = by_size(&all);
    let at = |q: f64| rows.iter().map(move |(_, class)| quantile(class, q));
    Some(
        Table::new("slowdowns")
            .counts("size_bytes_max", rows.iter().map(|(most, _)| *most))
            .counts("flows", rows.iter().map(|(_, c)| c.len() as u64))
            .measures("slowdown_mean", rows.iter().map(|(_, c)| mean(c)))
            .measures("slowdown_median", at(0.5))
            .measures("slowdown_p95", at(0.95))
            .measures("slowdown_p99", at(0.99)),
    )
}

/// How long after its start each flow was complete, or has lasted; of those that are counted later, from then.
pub(crate) fn completion(world: &World, flow: &FlowRecord, start: Time) -> Duration {
    let begin = world
        .workload
        .flows()
        .map_or(Time::ZERO, FlowsApp::counted_since);
    // Hosts outside take a while longer to end than the workload.
    let whole = world.transactions.first();
    let over = whole.map_or(world.now, |whole| whole.started + whole.completion);
    flow.completed.unwrap_or(over).since(start.max(begin))
}
