//! From what guests told to the tables that every run gives.
//!
//! Times are on the world's clock. Of an incast's retransmissions and timeouts its guests tell at
//! every iteration; of everything else kernels count, and of other workloads, the run as a whole is
//! known, so the means of `summary` have it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddrV4;

use tailback_agent::{Record, record::Flow, tcp_info::TcpInfo};
use tailback_net::frame::HostId;
use tailback_net::loss::Losses;
use tailback_scenario::{Run, Workload};
use tailback_tcp::Stats;
use tailback_units::{Duration, Time};
use tailback_wire::plan;

use super::{beside, collective, measured, repairs, to_world};
use crate::RunOutcome;
use crate::tables::{ColumnData, Table};
use crate::workload::{PingApp, RequestResponseApp};
use crate::world::{FlowRecord, ToldBySender, Totals, Transaction, World};

pub(super) type Records = BTreeMap<usize, Vec<Record>>;

/// A time that a guest told, on the world's clock.
pub(super) fn at(ns: u64) -> Time {
    to_world(Time::from_ps(ns * 1000))
}

/// Puts into the world what the guests' applications did, as if its own had done it. `log` is what
/// was counted in the network, by time.
pub(super) fn fill(world: &mut World, run: &Run, log: &[(Time, Totals)], records: &Records) {
    beside::fill(world, run, records);
    match &run.workload {
        Workload::Iperf3(_) | Workload::Flent(_) => {
            if let Some(spec) = run.workload.measurement(run.seed, &run.network) {
                measured::fill_window(world, &spec, records);
            }
            return;
        }
        Workload::Udp(_) => return measured::fill_datagrams(world, records),
        Workload::Ping(_) => {
            measured::fill_pings(world, records);
            whole_run(world);
            // Hosts that answer stay as long as an answer could be waited for.
            let span = world.workload.ping().map(PingApp::span);
            if let (Some(span), Some(whole)) = (span, world.transactions.first_mut()) {
                whole.completion = span;
            }
            return;
        }
        _ => {}
    }
    let until = |at: Time| {
        let seen = log.partition_point(|(time, _)| *time <= at);
        seen.checked_sub(1)
            .map_or(Totals::default(), |last| log[last].1)
    };
    if let Some(app) = world.workload.request_response_mut() {
        answered(app, records);
    }
    if let Workload::Incast(_) = &run.workload {
        let told = || records.values().flatten();
        for record in told() {
            if let Record::Transaction {
                started_ns,
                ended_ns,
                ..
            } = record
            {
                let (started, ended) = (at(*started_ns), at(*ended_ns));
                world.transactions.push(Transaction {
                    started,
                    completion: ended.since(started),
                    counted: until(ended).since(until(started)),
                });
            }
        }
        if told().any(|record| matches!(record, Record::Transaction { .. })) {
            world
                .workload
                .iterated_outside(world.transactions.len() as u64);
        }
        repairs::add(&mut world.transactions, records);
        for flow in workload_flows(world.beside.first(), records).filter(|flow| !is_sender(flow, 1))
        {
            let client = world.endpoints.get_mut(2 * number(flow) as usize);
            if let Some(end) = client {
                end.read_bytes = flow.read_bytes;
            }
        }
        senders(world, records);
        return;
    }
    receivers(world, records);
    if let Workload::Exchange(_) = &run.workload {
        // Its other end reads too.
        let sends = world.workload.sender();
        let ends = workload_flows(world.beside.first(), records);
        for end in ends.filter(|end| is_sender(end, sends)) {
            world.workload.read_outside(end.read_bytes);
        }
    }
    senders(world, records);
    if let (Workload::Collective(_), true) = (&run.workload, world.transactions.is_empty()) {
        world.transactions = collective::iterations(records, until);
        let count = world.transactions.len() as u64;
        world.workload.iterated_outside(count);
        return repairs::add(&mut world.transactions, records);
    }
    unconnected(world);
    match &run.workload {
        Workload::Bulk(bulk) if !bulk.omit.is_zero() => {
            measured::fill_omitted(world, &bulk.flows(run.seed, &run.network), records);
        }
        Workload::RequestResponse(spec) if !spec.omit.is_zero() => {
            measured::fill_omitted(world, &spec.flows(run.seed, &run.network), records);
        }
        _ => {}
    }
    whole_run(world);
    if let (Workload::Exchange(exchange), Some(whole)) =
        (&run.workload, world.transactions.first_mut())
    {
        // Hosts outside take a while longer to end.
        whole.completion = exchange.duration;
    }
    flows_span(world, records);
}

/// What kernels that receive have read of their connections.
fn receivers(world: &mut World, records: &Records) {
    let sends = world.workload.sender();
    let all = workload_flows(world.beside.first(), records);
    for flow in all.filter(|flow| !is_sender(flow, sends)) {
        world.workload.read_outside(flow.read_bytes);
        let number = number(flow) as u32;
        let [from, to] = [flow.peer, flow.local].map(|a| plan::host_of_ipv4(*a.ip()));
        let outside = |host: Option<u16>| host.is_some_and(|h| world.hosts[usize::from(h)].outside);
        let known = world.begun_flows() > number as usize;
        let asked = world.workload.flows();
        let asked = asked.and_then(|app| app.flow(number as usize)?.bytes);
        let whole = asked.is_some_and(|bytes| flow.read_bytes >= bytes);
        let completed = whole.then(|| at(flow.last_byte_ns));
        if known && outside(from) && outside(to) {
            // The world has not seen its end.
            world.flows.push(FlowRecord {
                received_bytes: flow.read_bytes,
                ..world.flow_record(number, 2 * number + sends, completed)
            });
        } else if let (false, Some(source), Some(destination)) = (known, from, to) {
            // Nobody in the world has seen anything of it.
            world.flows.push(FlowRecord {
                received_bytes: flow.read_bytes,
                completed,
                ..unseen(number, [source, destination])
            });
        } else if let Some(over) = world.flows.iter_mut().find(|over| over.number == number) {
            over.received_bytes = flow.read_bytes;
            over.completed = completed;
        } else if known {
            let receiver = 2 * number + (1 - sends);
            if let Some(end) = world.endpoints.get_mut(receiver as usize) {
                end.read_bytes = flow.read_bytes;
            }
        }
    }
}

/// A list of flows is over with the last byte of the last of them, or at its end: hosts outside take a
/// while longer to end.
fn flows_span(world: &mut World, records: &Records) {
    let listed = world.workload.flows().filter(|app| app.len() > 0);
    let Some(app) = listed else {
        return;
    };
    let flows = world.all_flows();
    let complete = flows.iter().filter_map(|flow| flow.completed);
    let over = if complete.clone().count() == app.len() {
        complete.max().unwrap_or(Time::ZERO)
    } else {
        // A program on a real host may be late.
        let told = workload_flows(world.beside.first(), records);
        let last = told.filter(|flow| !is_sender(flow, 0));
        let last = last.map(|flow| at(flow.last_byte_ns));
        last.fold(app.end(), Time::max)
    };
    if let Some(whole) = world.transactions.first_mut() {
        whole.completion = over.since(whole.started);
    }
}

/// One iteration, if the world has seen none.
fn whole_run(world: &mut World) {
    if world.transactions.is_empty() {
        world.transactions.push(Transaction {
            started: Time::ZERO,
            completion: world.now.since(Time::ZERO),
            counted: world.totals(),
        });
    }
}

/// A flow of which nobody in the world has seen anything.
fn unseen(number: u32, [source, destination]: [u16; 2]) -> FlowRecord {
    FlowRecord {
        number,
        source: HostId(source),
        destination: HostId(destination),
        received_bytes: 0,
        sender: Stats::default(),
        cwnd: 0,
        mss_bytes: 0,
        srtt: Duration::ZERO,
        completed: None,
    }
}

/// Flows that nobody tells of, for they never came to be.
fn unconnected(world: &mut World) {
    let Some(app) = world.workload.flows() else {
        return;
    };
    let told: BTreeSet<u32> = world.flows.iter().map(|flow| flow.number).collect();
    let missing = (world.begun_flows()..app.len())
        .filter(|number| !told.contains(&(*number as u32)))
        .filter_map(|number| {
            let flow = app.flow(number)?;
            let ends = [flow.source, flow.destination].map(|host| host as u16);
            Some(unseen(number as u32, ends))
        });
    let missing: Vec<FlowRecord> = missing.collect();
    world.flows.extend(missing);
}

/// What kernels that send have counted of their connections.
fn senders(world: &mut World, records: &Records) {
    let sends = world.workload.sender();
    let flows = workload_flows(world.beside.first(), records);
    for flow in flows.filter(|flow| is_sender(flow, sends)) {
        let sender = 2 * number(flow) as u32 + sends;
        let told = world.flows.iter().any(|f| f.number == sender / 2);
        if sender >= world.begun_endpoints && !told {
            let ends = [flow.local, flow.peer].map(|a| plan::host_of_ipv4(*a.ip()));
            let [Some(source), Some(destination)] = ends else {
                continue;
            };
            // Its receiver had no time to take it.
            world.flows.push(unseen(sender / 2, [source, destination]));
        }
        world.told_by_sender(sender, &ToldBySender::of(&flow.tcp_info));
    }
}

impl ToldBySender {
    /// As a kernel's TCP_INFO has it.
    pub(super) fn of(info: &TcpInfo) -> ToldBySender {
        let count = |name: &str| info.get(name).copied().unwrap_or(0);
        ToldBySender {
            segments_sent: count("data_segs_out"),
            retransmissions: count("total_retrans"),
            timeouts: count("total_rto") as u32,
            cwnd: count("snd_cwnd") as u32,
            mss_bytes: count("snd_mss_bytes") as u32,
            srtt: Duration::from_us(count("rtt_us")),
        }
    }
}

/// Adds what kernels counted and told to a run's tables. `ring_drops` are those of each card.
pub(super) fn complete(
    mut outcome: RunOutcome,
    run: &Run,
    world: &World,
    records: &Records,
    ring_drops: &[(usize, Losses)],
) -> RunOutcome {
    let iterations = world.transactions.len().max(1) as f64;
    let counted = |name: &str| counted_since_begin(records, name) as f64 / iterations;
    // Flows beside the workload are none of its business.
    let of_workload = |all: &str, one: &str| {
        (counted(all) - beside::counted(world, records, one) / iterations).max(0.0)
    };
    let retransmissions = of_workload("Tcp.RetransSegs", "total_retrans");
    let timeouts = of_workload("TcpExt.TCPTimeouts", "total_rto");
    // What is counted in a window of time is in the tables already.
    let in_window = matches!(
        run.workload,
        Workload::Iperf3(_) | Workload::Flent(_) | Workload::Udp(_) | Workload::Ping(_)
    );
    let by_iteration = matches!(run.workload, Workload::Incast(_) | Workload::Collective(_));
    // What programs transfer nobody sees: their bytes and flows would be zeros that are no measurements.
    let programs = matches!(run.workload, Workload::Command(_));
    let in_rings: u64 = ring_drops.iter().map(|(_, lost)| lost.frames).sum();
    for table in &mut outcome.tables {
        match table.name {
            "summary" if in_window => table.add_count("host_drops", in_rings as f64),
            "transactions" | "flows" if in_window => {}
            "summary" => {
                let all = counted("TcpExt.TCPSackRecovery") + counted("TcpExt.TCPRenoRecovery");
                // TCP_INFO has none: which are of flows beside the workload nobody knows.
                let recoveries = if beside::is_outside(world) {
                    f64::NAN
                } else {
                    all
                };
                table.add("host_drops_mean", in_rings as f64 / iterations);
                table.add("fast_recoveries_mean", recoveries);
                if programs {
                    table.without(of_transfers);
                }
                if !by_iteration {
                    table.add("retransmissions_mean", retransmissions);
                    table.add("timeouts_mean", timeouts);
                }
            }
            "transactions" if !by_iteration => {
                table.add_count("retransmissions", retransmissions);
                table.add_count("timeouts", timeouts);
            }
            "network" => table.unseen_of(world, run),
            // TCP_INFO has none.
            "flows" if world.hosts.iter().all(|host| host.outside) => {
                table.without(|name| name == "fast_recoveries");
            }
            "drops" => {
                for (host, lost) in ring_drops.iter().filter(|(_, lost)| lost.frames > 0) {
                    table.push_row("place", world.hosts[*host].name.clone());
                    table.push_row("cause", "rx-ring-full".to_owned());
                    table.push_count("frames", lost.frames);
                    table.push_count("data_frames", lost.data_frames);
                    table.push_count("payload_bytes", lost.payload_bytes);
                }
            }
            _ => {}
        }
    }
    outcome
}

/// What all hosts outside have counted: from when they first looked for a measurement, if they did.
pub(super) fn counted_since_begin(records: &Records, name: &str) -> u64 {
    let of_host = |records: &Vec<Record>| {
        let (mut before, mut all) = (None, 0);
        for record in records {
            match record {
                Record::LookedCounters { counters, .. } => {
                    before = before.or_else(|| counters.get(name).copied());
                }
                Record::Counters { counters, .. } => all += counters.get(name).unwrap_or(&0),
                _ => {}
            }
        }
        u64::saturating_sub(all, before.unwrap_or(0))
    };
    records.values().map(of_host).sum()
}

/// Ends what is told over time with the last transaction, as it does where all hosts are modelled: guests
/// close their connections after it.
pub(super) fn end_with_the_run(tables: &mut [Table], world: &World) {
    let ends = world.transactions.iter().map(|t| t.started + t.completion);
    let Some(end) = ends.max() else { return };
    // Times of guests are whole nanoseconds.
    let end_s = end.as_secs_f64() + 0.5e-9;
    for table in tables {
        match table.name {
            "network" => table.retain("time_ms", |ms| ms <= end_s * 1e3),
            "interfaces" | "queue_samples" | "samples" => table.retain("time_s", |s| s <= end_s),
            _ => {}
        }
    }
}

/// Whether a column of `summary` is about what the workload transfers.
fn of_transfers(column: &str) -> bool {
    const BEGINNINGS: [&str; 5] = [
        "completion_ms",
        "goodput_mbps",
        "data_bytes",
        "flows",
        "slowdown",
    ];
    BEGINNINGS.iter().any(|begins| column.starts_with(begins))
}

/// The workload's connections: endpoints from `beside` on are of flows beside it.
fn workload_flows(beside: u32, records: &Records) -> impl Iterator<Item = &Flow> {
    flows(records).filter(move |flow| 2 * number(flow) < u64::from(beside))
}

pub(super) fn flows(records: &Records) -> impl Iterator<Item = &Flow> {
    records
        .values()
        .flatten()
        .filter_map(|record| match record {
            Record::Flow(flow) => Some(flow),
            _ => None,
        })
}

/// Whether this end is the one that sends what flows are about: 0 means the one that connects, 1 the one
/// that listens, as [`workload::Workload::sender`](crate::workload::Workload::sender) has it.
pub(super) fn is_sender(flow: &Flow, sends: u32) -> bool {
    is_sending(flow.local, flow.peer, sends)
}

/// The same of the connection between these two ends.
pub(super) fn is_sending(local: SocketAddrV4, peer: SocketAddrV4, sends: u32) -> bool {
    // The lower port is in the plan: that of who listens, or of a modelled end that connects.
    let (own, peer) = (local.port(), peer.port());
    let low = own.min(peer);
    let low_listens = !low.saturating_sub(plan::FIRST_PORT).is_multiple_of(2);
    let listens = (own == low) == low_listens;
    listens == (sends == 1)
}

/// The number of a connection. Both its ends tell of it; the one that listens has the port that
/// numbers it, below all that kernels choose themselves.
pub(super) fn number(flow: &Flow) -> u64 {
    listening(flow.local, flow.peer)
}

/// Tells the workload what clients outside have waited for.
fn answered(app: &mut RequestResponseApp, records: &Records) {
    for record in records.values().flatten() {
        let Record::Answered {
            peer,
            latencies_ns,
            asked_ns,
            answered_before,
            due,
        } = record
        else {
            continue;
        };
        let waits = latencies_ns.iter().enumerate().map(|(i, latency_ns)| {
            let asked = asked_ns.get(i).map_or(Time::ZERO, |ns| at(*ns));
            (asked, Duration::from_ns(*latency_ns))
        });
        app.answered_outside(of_port(peer.port()), *answered_before, waits, *due);
    }
}

/// The number of the connection between these two ends.
pub(super) fn listening(local: SocketAddrV4, peer: SocketAddrV4) -> u64 {
    of_port(local.port().min(peer.port())).into()
}

/// The number of the connection to whoever listens on this port.
fn of_port(port: u16) -> u32 {
    u32::from(port.saturating_sub(plan::FIRST_PORT)) / 2
}

impl Table {
    /// Adds to a measure of the only row.
    fn add(&mut self, name: &str, value: f64) {
        if let Some(ColumnData::F64(values)) = self.column_mut(name)
            && let Some(first) = values.first_mut()
        {
            *first += value;
        }
    }

    /// Adds to a count of the only row.
    fn add_count(&mut self, name: &str, value: f64) {
        if let Some(ColumnData::U64(values)) = self.column_mut(name)
            && let Some(first) = values.first_mut()
        {
            *first += value as u64;
        }
    }

    /// Takes out of the network over time what only hosts outside would know, and tell in the end.
    fn unseen_of(&mut self, world: &World, run: &Run) {
        let watched = run
            .record
            .series
            .as_ref()
            .map(|series| series.host(&run.network));
        let watched_is_outside = watched.is_some_and(|host| world.hosts[host].outside);
        for name in ["goodput_gbps", "host_goodput_gbps"] {
            if (watched_is_outside || name == "goodput_gbps")
                && let Some(ColumnData::F64(values)) = self.column_mut(name)
            {
                values.fill(f64::NAN);
            }
        }
        self.without(|name| matches!(name, "timeouts" | "retransmissions"));
    }

    fn push_row(&mut self, name: &str, value: String) {
        if let Some(ColumnData::Str(values)) = self.column_mut(name) {
            values.push(value);
        }
    }

    fn push_count(&mut self, name: &str, value: u64) {
        if let Some(ColumnData::U64(values)) = self.column_mut(name) {
            values.push(value);
        }
    }

    fn column_mut(&mut self, name: &str) -> Option<&mut ColumnData> {
        let column = self.columns.iter_mut().find(|c| c.name == name)?;
        Some(&mut column.data)
    }
}
