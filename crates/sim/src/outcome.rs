//! From a finished world to its tables.

use tailback_net::frame::{EndpointId, HostId};
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Duration, Time};

use crate::RunOutcome;
use crate::outcome_background;
use crate::outcome_cores;
use crate::outcome_flows;
use crate::outcome_measured;
use crate::outcome_ping;
use crate::outcome_ports;
use crate::outcome_queries;
use crate::outcome_requests;
use crate::outcome_udp;
use crate::tables::Table;
use crate::traces;
use crate::world::{FlowRecord, HostState, LinkState, Totals, Transaction, World};

/// The tables and figures of a finished world.
pub(crate) fn outcome(world: &World) -> RunOutcome {
    let mut tables = vec![
        summary(world),
        transactions(&world.transactions),
        flows(world),
        drops(world),
    ];
    let hosts: Vec<String> = world.hosts.iter().map(|host| host.name.clone()).collect();
    tables.extend(world.recorder.tables(&hosts));
    tables.extend(outcome_cores::table(world));
    tables.extend(outcome_ports::table(world));
    tables.extend(traces::table(world));
    tables.extend(outcome_flows::table(world));
    tables.extend(outcome_queries::table(world));
    tables.extend(outcome_requests::tables(world));
    tables.extend(world.series.as_ref().map(|series| series.table()));
    let names: Vec<&str> = world.links.iter().map(LinkState::name).collect();
    tables.extend(world.interfaces.as_ref().map(|polled| polled.table(&names)));
    tables.extend(world.background.as_ref().map(|b| b.table(&hosts)));
    tables.extend(outcome_background::table(world));
    if let Some(app) = world.workload.udp() {
        tables.extend(outcome_udp::tables(world, app));
    }
    if let Some(app) = world.workload.ping() {
        tables.push(outcome_ping::table(world, app));
    }
    if let Some(app) = world.workload.measured() {
        tables.extend(outcome_measured::tables(world, app));
    }
    RunOutcome {
        tables,
        capture: None,
        parts: 1,
        hops: world.hops(),
        events: world.events,
        simulated: world.now.since(Time::ZERO),
        trajectory: world.trajectory,
    }
}

fn summary(world: &World) -> Table {
    let rows = &world.transactions;
    let count = rows.len().max(1) as f64;
    let mean = |value: fn(&Totals) -> u64| {
        rows.iter().map(|t| value(&t.counted)).sum::<u64>() as f64 / count
    };
    let mut completions: Vec<Duration> = rows.iter().map(|t| t.completion).collect();
    completions.sort_unstable();
    let total = completions.iter().fold(Duration::ZERO, |sum, c| sum + *c);
    let answer_bytes: u64 = world.workload.answer_bytes_total();
    // No number (NaN) where nothing took any time: there was nothing to wait for.
    let known = |value: f64| [if total.is_zero() { f64::NAN } else { value }];
    let quantile = |q| known(quantile(&completions, q).as_ms_f64());
    let queue_bytes_max = world
        .switches
        .iter()
        .flat_map(|s| &s.ports)
        .map(|p| p.queued_bytes_max)
        .max()
        .unwrap_or(0);
    if let Some(app) = world.workload.measured() {
        return outcome_measured::summary(world, app, queue_bytes_max);
    }
    if let Some(app) = world.workload.udp() {
        return outcome_udp::summary(world, app);
    }
    if let Some(app) = world.workload.ping() {
        return outcome_ping::summary(world, app, queue_bytes_max);
    }
    let table = Table::new("summary")
        .counts("iterations", [rows.len() as u64])
        .measures("completion_ms_mean", known(total.as_ms_f64() / count))
        .measures("completion_ms_min", quantile(0.0))
        .measures("completion_ms_median", quantile(0.5))
        .measures("completion_ms_p95", quantile(0.95))
        .measures("completion_ms_p99", quantile(0.99))
        .measures("completion_ms_max", quantile(1.0))
        .measures(
            "goodput_mbps_mean",
            known(answer_bytes as f64 * 8.0 / total.as_secs_f64() / 1e6),
        )
        .measures("switch_drops_mean", [mean(|t| t.switch_drops)])
        .measures("host_drops_mean", [mean(|t| t.host_drops)])
        .measures("link_losses_mean", [mean(|t| t.link_losses)])
        .measures("marks_mean", [mean(|t| t.marks)])
        .measures("retransmissions_mean", [mean(|t| t.retransmissions)])
        .measures("timeouts_mean", [mean(|t| t.timeouts)])
        .measures("fast_recoveries_mean", [mean(|t| t.fast_recoveries)])
        .counts("queue_bytes_max", [queue_bytes_max])
        .counts("data_bytes_total", [answer_bytes])
        .measures("duration_s_total", [total.as_secs_f64()]);
    match world.workload.request_response() {
        None => outcome_queries::summary(outcome_flows::summary(table, world), world),
        Some(app) => outcome_requests::summary(table, world, app, total),
    }
}

fn transactions(rows: &[Transaction]) -> Table {
    let count = |value: fn(&Totals) -> u64| rows.iter().map(move |t| value(&t.counted));
    Table::new("transactions")
        .counts("iteration", 0..rows.len() as u64)
        .measures("start_s", rows.iter().map(|t| t.started.as_secs_f64()))
        .measures(
            "completion_ms",
            rows.iter().map(|t| t.completion.as_ms_f64()),
        )
        .counts("switch_drops", count(|t| t.switch_drops))
        .counts("host_drops", count(|t| t.host_drops))
        .counts("retransmissions", count(|t| t.retransmissions))
        .counts("timeouts", count(|t| t.timeouts))
}

fn flows(world: &World) -> Table {
    if let Some(app) = world.workload.measured() {
        return outcome_measured::flows(world, app);
    }
    if let Some(app) = world.workload.udp() {
        return outcome_udp::flows(world, app);
    }
    if let Some(app) = world.workload.ping() {
        return outcome_ping::flows(world, app);
    }
    let flows = world.all_flows_in_window();
    let host = |id: HostId| world.hosts[usize::from(id.0)].name.clone();
    let count = |value: fn(&FlowRecord) -> u64| flows.iter().map(value);
    let table = Table::new("flows")
        .counts("flow", count(|f| u64::from(f.number)))
        .names("source", flows.iter().map(|f| host(f.source)))
        .names("destination", flows.iter().map(|f| host(f.destination)))
        .counts("received_bytes", count(|f| f.received_bytes))
        .counts("segments_sent", count(|f| f.sender.segments_sent))
        .counts("retransmissions", count(|f| f.sender.retransmissions))
        .counts("timeouts", count(|f| f.sender.timeouts.into()))
        .counts(
            "fast_recoveries",
            count(|f| f.sender.fast_recoveries.into()),
        )
        .counts("cwnd_segments", count(|f| u64::from(f.cwnd)))
        .measures("srtt_us", flows.iter().map(|f| f.srtt.as_ps() as f64 / 1e6))
        .names(
            "sender_congestion_control",
            flows
                .iter()
                .map(|f| sender_control(world, f.number, f.source)),
        );
    let Some(app) = world.workload.flows() else {
        return table;
    };
    let listed = |f: &FlowRecord| app.flow(f.number as usize);
    let start = |f: &FlowRecord| listed(f).map_or(Time::ZERO, |l| l.start);
    let table = match app.has_queries() {
        true => {
            let query = |f: &FlowRecord| u64::from(listed(f).and_then(|l| l.query).unwrap_or(0));
            table.counts("query", flows.iter().map(query))
        }
        false => table,
    };
    table
        .counts(
            "priority",
            flows
                .iter()
                .map(|f| listed(f).map_or(0, |l| u64::from(l.priority))),
        )
        .measures("start_s", flows.iter().map(|f| start(f).as_secs_f64()))
        .flags("complete", flows.iter().map(|f| f.completed.is_some()))
        .measures(
            "completion_ms",
            flows
                .iter()
                .map(|f| outcome_flows::completion(world, f, start(f)).as_ms_f64()),
        )
        .measures(
            "slowdown",
            outcome_flows::slowdowns(world)
                .into_iter()
                .map(|known| known.map_or(f64::NAN, |(_, slowdown)| slowdown)),
        )
}

/// The congestion control of a flow's sender.
pub(crate) fn sender_control(world: &World, flow: u32, source: HostId) -> String {
    let sender = EndpointId(2 * flow + world.workload.sender());
    let asked = world.workload.congestion(sender);
    control(&world.hosts[usize::from(source.0)], asked, false)
}

/// The same of any sender of a host: what its program asks for, what its sockets are set to, or the host's. Programs
/// beside the workload may have socket options of their own.
pub(crate) fn control(host: &HostState, asked: Option<CongestionKind>, is_beside: bool) -> String {
    let own = host.beside_options.as_ref().filter(|_| is_beside);
    let options = own.unwrap_or(&host.config.options);
    let kind = match (asked.or(options.congestion), &host.kernel_control) {
        (Some(kind), _) => kind,
        (None, Some(name)) => return name.clone(),
        (None, None) => host.config.stack.tcp_congestion_control,
    };
    if host.outside {
        return kind.linux_name().to_owned();
    }
    kind.name().to_owned()
}

fn drops(world: &World) -> Table {
    let rows = world.drop_rows();
    Table::new("drops")
        .names("place", rows.iter().map(|r| r.place.clone()))
        .names("cause", rows.iter().map(|r| r.cause.to_owned()))
        .counts("frames", rows.iter().map(|r| r.lost.frames))
        .counts("data_frames", rows.iter().map(|r| r.lost.data_frames))
        .counts("payload_bytes", rows.iter().map(|r| r.lost.payload_bytes))
}

/// The value below which the share `q` of sorted values lies (nearest rank); zero of none.
pub(crate) fn quantile(sorted: &[Duration], q: f64) -> Duration {
    let rank = (q * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted
        .get(rank.min(sorted.len()).wrapping_sub(1))
        .copied()
        .unwrap_or(Duration::ZERO)
}
