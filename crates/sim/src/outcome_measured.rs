//! What workloads `iperf3` and `flent` add to the tables.

use tailback_net::frame::{
    ETHERNET_BYTES, HostId, IP_HEADER_BYTES, TCP_HEADER_BYTES, TIMESTAMPS_BYTES,
};
use tailback_scenario::{MeasuredFlow, Measurement};
use tailback_units::Time;

use crate::fairness::jain_index;
use crate::outcome::sender_control;
use crate::tables::Table;
use crate::workload::MeasuredApp;
use crate::world::{FlowRecord, IntervalLook, World};

/// What the window saw of the flows that `wanted` names: bytes received, segments retransmitted.
fn seen(world: &World, app: &MeasuredApp, wanted: impl Fn(&MeasuredFlow) -> bool) -> (u64, u64) {
    let flows = app.spec().flows.iter().enumerate();
    flows
        .take(world.begun_flows())
        .filter(|(_, one)| wanted(one))
        .map(|(number, _)| world.flow_in_window(number))
        .fold((0, 0), |sum, f| {
            (sum.0 + f.received_bytes, sum.1 + f.retransmissions)
        })
}

/// The table `summary`: bandwidth is the mean of the measured senders, retransmissions are their
/// sum, and all else is of the whole network while it was measured. Pings are those sent under load.
pub(crate) fn summary(world: &World, app: &MeasuredApp, queue_bytes_max: u64) -> Table {
    let spec = app.spec();
    let (bytes, retransmissions) = seen(world, app, |one| one.measured);
    let seconds = spec.duration().as_secs_f64();
    let gbps = |bytes: u64| bytes as f64 * 8.0 / seconds / 1e9;
    let flows = spec.flows.iter().enumerate().take(world.begun_flows());
    let received: Vec<f64> = flows
        .filter(|(_, one)| one.measured)
        .map(|(number, _)| world.flow_in_window(number).received_bytes as f64)
        .collect();
    let counted = world
        .transactions
        .first()
        .map(|t| t.counted)
        .unwrap_or_default();
    let (from, until) = spec.load;
    let answers = app
        .answers()
        .iter()
        .filter(|a| (from..until).contains(&a.sent));
    let rtts: Vec<f64> = answers.map(|a| a.rtt().as_ms_f64()).collect();
    let way = |to_first: bool| {
        let is = |one: &MeasuredFlow| (one.flow.destination == app.spec().receiver) == to_first;
        gbps(seen(world, app, is).0)
    };
    Table::new("summary")
        .counts("iterations", [world.transactions.len() as u64])
        .measures(
            "bandwidth_gbps_mean",
            [gbps(bytes) / f64::from(spec.senders_measured().max(1))],
        )
        .measures("jain_index", [jain_index(&received)])
        .measures("upload_gbps", [way(true)])
        .measures("download_gbps", [way(false)])
        .counts("retransmissions", [retransmissions])
        .counts("switch_drops", [counted.switch_drops])
        .counts("host_drops", [counted.host_drops])
        .counts("marks", [counted.marks])
        .counts("timeouts", [counted.timeouts])
        .counts("fast_recoveries", [counted.fast_recoveries])
        .measures("utilisation", [utilisation(world, app)])
        // No number (NaN) of none.
        .measures(
            "ping_ms_mean",
            [rtts.iter().sum::<f64>() / rtts.len() as f64],
        )
        .measures(
            "ping_ms_max",
            [rtts.iter().copied().fold(f64::NAN, f64::max)],
        )
        .counts("pings", [app.pings() as u64])
        .counts("pings_lost", [app.pings_lost() as u64])
        .measures("queue_bytes_mean", [world.window.queue_bytes_mean()])
        .counts("queue_bytes_max", [queue_bytes_max])
        .counts("data_bytes_total", [seen(world, app, |_| true).0])
        .measures("duration_s_total", [seconds])
}

/// The share of the first host's link that the flows took while they were measured, of the busier direction:
/// payload received over what full segments could bring.
fn utilisation(world: &World, app: &MeasuredApp) -> f64 {
    let way = |to_first: bool| {
        let is = |one: &MeasuredFlow| (one.flow.destination == app.spec().receiver) == to_first;
        seen(world, app, is).0
    };
    let bytes = way(true).max(way(false));
    let mtu =
        u32::from(world.hosts[app.spec().receiver].config.mss) + IP_HEADER_BYTES + TCP_HEADER_BYTES;
    let mut stacks = world.hosts.iter().map(|host| &host.config.stack);
    let options = match stacks.all(|stack| stack.tcp_timestamps) {
        true => TIMESTAMPS_BYTES,
        false => 0,
    };
    let payload = mtu - IP_HEADER_BYTES - TCP_HEADER_BYTES - options;
    let link = &world.links[world.hosts[app.spec().receiver].uplink as usize].link;
    let wire = link.wire_bytes((mtu + ETHERNET_BYTES) as u16);
    let bps = link.rate().as_bps() as f64 * f64::from(payload) / wire as f64;
    bytes as f64 * 8.0 / app.spec().duration().as_secs_f64() / bps
}

/// The table `flows`: who sent, whether measured, and what the window saw of it.
pub(crate) fn flows(world: &World, app: &MeasuredApp) -> Table {
    let flows = world.all_flows();
    let host = |id: HostId| world.hosts[usize::from(id.0)].name.clone();
    let seen = |f: &FlowRecord| world.flow_in_window(f.number as usize);
    let asked = |f: &FlowRecord| app.spec().flows.get(f.number as usize);
    let seconds = app.spec().duration().as_secs_f64();
    let gbytes = |f: &FlowRecord| seen(f).received_bytes as f64 / 1e9;
    let sender = |f: &FlowRecord| u64::from(asked(f).map_or(0, |one| one.sender));
    let series = |f: &FlowRecord| asked(f).map_or_else(String::new, |one| one.series.clone());
    Table::new("flows")
        .counts("flow", flows.iter().map(|f| u64::from(f.number)))
        .names("source", flows.iter().map(|f| host(f.source)))
        .names("destination", flows.iter().map(|f| host(f.destination)))
        .counts("sender", flows.iter().map(sender))
        .names("series", flows.iter().map(series))
        .flags(
            "measured",
            flows
                .iter()
                .map(|f| asked(f).is_some_and(|one| one.measured)),
        )
        .measures(
            "bandwidth_gbps",
            flows.iter().map(|f| gbytes(f) * 8.0 / seconds),
        )
        .measures("transfer_gbytes", flows.iter().map(gbytes))
        .counts(
            "retransmissions",
            flows.iter().map(|f| seen(f).retransmissions),
        )
        .counts("timeouts", flows.iter().map(|f| seen(f).timeouts))
        .counts("cwnd_segments", flows.iter().map(|f| u64::from(f.cwnd)))
        .counts("mss_bytes", flows.iter().map(|f| u64::from(f.mss_bytes)))
        .measures("srtt_us", flows.iter().map(|f| f.srtt.as_ps() as f64 / 1e6))
        .names(
            "sender_congestion_control",
            flows
                .iter()
                .map(|f| sender_control(world, f.number, f.source)),
        )
}

/// What a look tells of the interval that ends with it.
struct OwnOfInterval {
    bandwidth_gbps: f64,
    retransmissions: u64,
    switch_drops: u64,
}

/// What each of the looks tells of its own interval; they count since the window began.
fn in_intervals(looks: &[IntervalLook], spec: &Measurement) -> Vec<OwnOfInterval> {
    // When each flow was last looked at, and what it had received and sent again by then.
    let mut last: Vec<(Time, u64, u64)> = spec
        .flows
        .iter()
        .map(|one| (spec.begin.max(one.flow.start), 0, 0))
        .collect();
    // All flows are looked at together, and drops are of the network.
    let (mut at, mut drops, mut drops_before) = (Time::ZERO, 0, 0);
    let own = |look: &IntervalLook| {
        if look.at != at {
            (at, drops_before, drops) = (look.at, drops, look.switch_drops);
        }
        let now = (look.at, look.received_bytes, look.retransmissions);
        let (from, bytes, retransmissions) = std::mem::replace(&mut last[look.flow as usize], now);
        let seconds = look.at.since(from).as_secs_f64();
        // A kernel's connection that is gone tells nothing any more.
        let bits = look.received_bytes.saturating_sub(bytes) as f64 * 8.0;
        OwnOfInterval {
            bandwidth_gbps: if seconds > 0.0 {
                bits / seconds / 1e9
            } else {
                0.0
            },
            retransmissions: look.retransmissions.saturating_sub(retransmissions),
            switch_drops: drops - drops_before,
        }
    };
    looks.iter().map(own).collect()
}

/// Tables of their own: `intervals`, a row a flow and interval, and `pings`.
pub(crate) fn tables(world: &World, app: &MeasuredApp) -> Vec<Table> {
    let spec = app.spec();
    let seconds = |at: Time| at.since(spec.begin).as_secs_f64();
    let looks = &world.window.intervals;
    let own = in_intervals(looks, spec);
    let asked = |flow: u32| &spec.flows[flow as usize];
    let intervals = Table::new("intervals")
        .measures("time_s", looks.iter().map(|l| seconds(l.at)))
        .counts("flow", looks.iter().map(|l| u64::from(l.flow)))
        .counts(
            "sender",
            looks.iter().map(|l| u64::from(asked(l.flow).sender)),
        )
        .names("series", looks.iter().map(|l| asked(l.flow).series.clone()))
        .measures("bandwidth_gbps", own.iter().map(|o| o.bandwidth_gbps))
        .counts("retransmissions", own.iter().map(|o| o.retransmissions))
        .counts("cwnd_segments", looks.iter().map(|l| u64::from(l.cwnd)))
        .counts("switch_drops", own.iter().map(|o| o.switch_drops))
        .counts("queue_bytes", looks.iter().map(|l| l.queue_bytes));
    let answers = app.answers();
    let line = |number: usize| &spec.pings[number];
    let pings = Table::new("pings")
        .measures("time_s", answers.iter().map(|a| seconds(a.at)))
        .counts(
            "sender",
            answers.iter().map(|a| u64::from(line(a.line).sender)),
        )
        .names(
            "series",
            answers.iter().map(|a| line(a.line).series.clone()),
        )
        .measures("rtt_ms", answers.iter().map(|a| a.rtt().as_ms_f64()));
    vec![intervals, pings]
}
