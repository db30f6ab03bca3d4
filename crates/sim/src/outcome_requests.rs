//! What became of requests over connections that stay open ([`tailback_scenario::RequestResponse`]).
//!
//! Alone a request takes its bytes with their headers on its way, and then its answer's on the way back
//! (as flows do, [`crate::outcome_flows`]); a request's slowdown is its latency over that.

use tailback_net::frame::HostId;
use tailback_units::Duration;

use crate::outcome::quantile;
use crate::outcome_flows::{alone, by_size, mean, quantile as nearest};
use crate::tables::Table;
use crate::workload::{Answer, RequestResponseApp};
use crate::world::World;

/// `table` with how many requests there were, and what their clients waited.
pub(crate) fn summary(
    table: Table,
    world: &World,
    app: &RequestResponseApp,
    total: Duration,
) -> Table {
    let mut sorted = app.latencies().to_vec();
    sorted.sort_unstable();
    // No number (NaN) where nothing was answered: zero would be the least latency of all.
    let us = |time: Duration| match sorted.is_empty() {
        true => [f64::NAN],
        false => [us(time)],
    };
    let sum = sorted.iter().fold(Duration::ZERO, |sum, l| sum + *l);
    let count = sorted.len() as u64;
    let table = match app.due() {
        None => table,
        Some(due) => table.counts("requests_due", [due]),
    };
    let table = table
        .counts("requests", [count])
        .measures("requests_per_s", [count as f64 / total.as_secs_f64()])
        .measures("latency_us_mean", us(sum / count.max(1)))
        .measures("latency_us_min", us(quantile(&sorted, 0.0)))
        .measures("latency_us_median", us(quantile(&sorted, 0.5)))
        .measures("latency_us_p95", us(quantile(&sorted, 0.95)))
        .measures("latency_us_p99", us(quantile(&sorted, 0.99)))
        .measures("latency_us_max", us(quantile(&sorted, 1.0)));
    if !app.is_drawn() {
        return table;
    }
    let answers = app.answers().unwrap_or_default();
    let mut slowdowns: Vec<f64> = answers.iter().map(|a| slowdown(world, app, a)).collect();
    slowdowns.sort_by(f64::total_cmp);
    table
        .measures("slowdown_mean", [mean(&slowdowns)])
        .measures("slowdown_median", [nearest(&slowdowns, 0.5)])
        .measures("slowdown_p95", [nearest(&slowdowns, 0.95)])
        .measures("slowdown_p99", [nearest(&slowdowns, 0.99)])
}

/// The tables `slowdowns`, where sizes are drawn, and `requests`, where it is asked for.
pub(crate) fn tables(world: &World) -> Vec<Table> {
    let Some(app) = world.workload.request_response() else {
        return Vec::new();
    };
    let answers = app.answers().unwrap_or_default();
    let mut tables = Vec::new();
    if app.is_drawn() && !answers.is_empty() {
        tables.push(classes(world, app, answers));
    }
    if app.tells_each() {
        tables.push(each(world, app, answers));
    }
    tables
}

/// A row for each class of what their connections' senders wrote: of answers, or of requests.
fn classes(world: &World, app: &RequestResponseApp, answers: &[Answer]) -> Table {
    let size = |answer: &Answer| match world.workload.sender() {
        0 => answer.request_bytes,
        _ => answer.response_bytes,
    };
    let all: Vec<(u64, &Answer)> = answers.iter().map(|a| (size(a), a)).collect();
    let rows = by_size(&all);
    let sorted = |value: &dyn Fn(&Answer) -> f64| -> Vec<Vec<f64>> {
        let of_row = |(_, class): &(u64, Vec<&Answer>)| {
            let mut values: Vec<f64> = class.iter().map(|answer| value(answer)).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        rows.iter().map(of_row).collect()
    };
    let slowdowns = sorted(&|answer| slowdown(world, app, answer));
    let latencies = sorted(&|answer| us(answer.latency));
    let at = |values: &[Vec<f64>], q: f64| -> Vec<f64> {
        values.iter().map(|class| nearest(class, q)).collect()
    };
    Table::new("slowdowns")
        .counts("size_bytes_max", rows.iter().map(|(most, _)| *most))
        .counts("requests", rows.iter().map(|(_, c)| c.len() as u64))
        .measures("slowdown_mean", slowdowns.iter().map(|c| mean(c)))
        .measures("slowdown_median", at(&slowdowns, 0.5))
        .measures("slowdown_p95", at(&slowdowns, 0.95))
        .measures("slowdown_p99", at(&slowdowns, 0.99))
        .measures("latency_us_mean", latencies.iter().map(|c| mean(c)))
        .measures("latency_us_median", at(&latencies, 0.5))
        .measures("latency_us_p95", at(&latencies, 0.95))
        .measures("latency_us_p99", at(&latencies, 0.99))
}

/// A row for each request, in the order in which they were due.
fn each(world: &World, app: &RequestResponseApp, answers: &[Answer]) -> Table {
    let mut answers = answers.to_vec();
    answers.sort_by_key(|answer| (answer.due, answer.flow));
    let host = |answer: &Answer, end: usize| {
        let ends = app.ends(answer.flow);
        ends.map_or_else(String::new, |ends| world.hosts[ends[end]].name.clone())
    };
    let rows = || answers.iter();
    Table::new("requests")
        .counts("flow", rows().map(|a| a.flow.into()))
        .names("client", rows().map(|a| host(a, 0)))
        .names("server", rows().map(|a| host(a, 1)))
        .measures("due_s", rows().map(|a| a.due.as_secs_f64()))
        .counts("request_bytes", rows().map(|a| a.request_bytes))
        .counts("response_bytes", rows().map(|a| a.response_bytes))
        .measures("latency_us", rows().map(|a| us(a.latency)))
        .measures("slowdown", rows().map(|a| slowdown(world, app, a)))
}

fn slowdown(world: &World, app: &RequestResponseApp, answer: &Answer) -> f64 {
    let Some(ends) = app.ends(answer.flow) else {
        return f64::NAN;
    };
    let [client, server] = ends.map(|host| HostId(host as u16));
    let endpoint = 2 * answer.flow;
    let request = alone(world, [client, server], endpoint + 1, answer.request_bytes);
    let response = alone(world, [server, client], endpoint, answer.response_bytes);
    answer.latency.as_secs_f64() / (request + response).as_secs_f64()
}

fn us(time: Duration) -> f64 {
    time.as_ps() as f64 / 1e6
}
