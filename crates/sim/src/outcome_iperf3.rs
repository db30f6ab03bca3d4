//! What workload `iperf3` adds to the tables.

use tailback_net::frame::{ETHERNET_BYTES, GAP_BYTES, HostId, IP_HEADER_BYTES};
use tailback_scenario::Measured;
use tailback_units::Time;

use crate::tables::Table;
use crate::workload::Iperf3App;
use crate::world::{FlowRecord, World};

/// Header of TCP with timestamps, bytes.
const TCP_HEADER_BYTES: f64 = 32.0;

/// The table `summary`: bandwidth is the mean of the measured senders, retransmissions are their
/// sum, and all else is of the whole network while it was measured.
pub(crate) fn summary(world: &World, app: &Iperf3App, queue_bytes_max: u64) -> Table {
    let spec = app.spec();
    let flows = world.endpoints.len() / 2;
    let window = |measured: bool| {
        (0..flows)
            .filter(|flow| !measured || spec.is_measured(app.sender(*flow)))
            .map(|flow| world.flow_in_window(flow))
            .fold((0, 0), |sum, f| (sum.0 + f.0, sum.1 + f.1))
    };
    let (bytes, retransmissions) = window(true);
    let senders = match spec.measured {
        Measured::First => 1,
        Measured::All => spec.senders,
    };
    let seconds = spec.duration.as_secs_f64();
    let bandwidth = bytes as f64 * 8.0 / seconds / f64::from(senders) / 1e9;
    let counted = world
        .transactions
        .first()
        .map(|t| t.counted)
        .unwrap_or_default();
    let rtts: Vec<f64> = app
        .answers()
        .iter()
        .map(|(_, rtt)| rtt.as_ms_f64())
        .collect();
    let pings = u64::from(app.pings());
    Table::new("summary")
        .counts("iterations", [world.transactions.len() as u64])
        .measures("bandwidth_gbps_mean", [bandwidth])
        .counts("retransmissions", [retransmissions])
        .counts("switch_drops", [counted.switch_drops])
        .counts("host_drops", [counted.host_drops])
        .counts("marks", [counted.marks])
        .counts("timeouts", [counted.timeouts])
        .counts("fast_recoveries", [counted.fast_recoveries])
        .measures("utilisation", [utilisation(world, app)])
        .measures(
            "ping_ms_mean",
            [rtts.iter().sum::<f64>() / rtts.len().max(1) as f64],
        )
        .measures("ping_ms_max", [rtts.iter().copied().fold(0.0, f64::max)])
        .counts("pings", [pings])
        .counts("pings_lost", [pings - rtts.len() as u64])
        .measures("queue_bytes_mean", [world.window.queue_bytes_mean()])
        .counts("queue_bytes_max", [queue_bytes_max])
        .counts("data_bytes_total", [window(false).0])
        .measures("duration_s_total", [seconds])
}

/// The share of the receiver's link that the flows took in the window: payload received over what
/// full segments could bring.
fn utilisation(world: &World, app: &Iperf3App) -> f64 {
    let flows = world.endpoints.len() / 2;
    let bytes: u64 = (0..flows).map(|flow| world.flow_in_window(flow).0).sum();
    let mtu = f64::from(world.hosts[0].config.mss) + 40.0;
    let payload = mtu - f64::from(IP_HEADER_BYTES) - TCP_HEADER_BYTES;
    let wire = mtu + f64::from(ETHERNET_BYTES + GAP_BYTES);
    let link = &world.links[world.hosts[0].uplink as usize].link;
    let bps = link.rate().as_bps() as f64 * payload / wire;
    bytes as f64 * 8.0 / app.spec().duration.as_secs_f64() / bps
}

/// The table `flows`: who sent, whether measured, and what the window saw of it.
pub(crate) fn flows(world: &World, app: &Iperf3App) -> Table {
    let flows = world.all_flows();
    let host = |id: HostId| world.hosts[usize::from(id.0)].name.clone();
    let seen = |f: &FlowRecord| world.flow_in_window(f.number as usize);
    let sender = |f: &FlowRecord| app.sender(f.number as usize);
    let seconds = app.spec().duration.as_secs_f64();
    let gbytes = |f: &FlowRecord| seen(f).0 as f64 / 1e9;
    Table::new("flows")
        .counts("flow", flows.iter().map(|f| u64::from(f.number)))
        .names("source", flows.iter().map(|f| host(f.source)))
        .names("destination", flows.iter().map(|f| host(f.destination)))
        .counts("sender", flows.iter().map(|f| u64::from(sender(f))))
        .flags(
            "measured",
            flows.iter().map(|f| app.spec().is_measured(sender(f))),
        )
        .measures(
            "bandwidth_gbps",
            flows.iter().map(|f| gbytes(f) * 8.0 / seconds),
        )
        .measures("transfer_gbytes", flows.iter().map(gbytes))
        .counts("retransmissions", flows.iter().map(|f| seen(f).1))
        .counts("timeouts", flows.iter().map(|f| f.sender.timeouts))
        .counts("cwnd_segments", flows.iter().map(|f| u64::from(f.cwnd)))
        .measures("srtt_us", flows.iter().map(|f| f.srtt.as_ps() as f64 / 1e6))
}

/// Tables of their own: `intervals`, a row a flow and interval, and `pings`.
pub(crate) fn tables(world: &World, app: &Iperf3App) -> Vec<Table> {
    let begin = app.spec().begin();
    let seconds = |at: Time| at.since(begin).as_secs_f64();
    let looks = &world.window.intervals;
    let flows = world.endpoints.len() / 2;
    let bandwidth = looks.iter().enumerate().map(|(i, look)| {
        let before = i.checked_sub(flows).map(|b| looks[b]);
        let (at, bytes) = before.map_or((begin, 0), |b| (b.at, b.received_bytes));
        let time = look.at.since(at).as_secs_f64();
        (look.received_bytes - bytes) as f64 * 8.0 / time / 1e9
    });
    let intervals = Table::new("intervals")
        .measures("time_s", looks.iter().map(|l| seconds(l.at)))
        .counts("flow", looks.iter().map(|l| u64::from(l.flow)))
        .counts(
            "sender",
            looks.iter().map(|l| u64::from(app.sender(l.flow as usize))),
        )
        .measures("bandwidth_gbps", bandwidth)
        .counts("retransmissions", looks.iter().map(|l| l.retransmissions))
        .counts("cwnd_segments", looks.iter().map(|l| u64::from(l.cwnd)))
        .counts("switch_drops", looks.iter().map(|l| l.switch_drops))
        .counts("queue_bytes", looks.iter().map(|l| l.queue_bytes));
    let answers = app.answers();
    let pings = Table::new("pings")
        .measures("time_s", answers.iter().map(|(at, _)| seconds(*at)))
        .measures("rtt_ms", answers.iter().map(|(_, rtt)| rtt.as_ms_f64()));
    vec![intervals, pings]
}
