//! What workload `udp` adds to the tables.

use tailback_agent::{Delays, DelaysTold};
use tailback_units::Time;

use crate::tables::Table;
use crate::workload::UdpApp;
use crate::world::{DatagramFlow, World};

/// Places where a datagram can be lost, in the order of its way.
const PLACES: [&str; 6] = ["tx-queue", "switch", "link", "rx-ring", "backlog", "socket"];

/// The table `summary`: all flows together.
pub(crate) fn summary(world: &World, app: &UdpApp) -> Table {
    let flows = &world.datagrams;
    let sent = total(flows, |f| f.sent);
    let lost = |place| {
        (0..flows.len())
            .map(|f| world.ledger.lost_at(f, place))
            .sum::<u64>()
    };
    let all: u64 = PLACES.into_iter().map(lost).sum();
    // What waited on its way is read after the senders' time.
    let last_read = flows.iter().map(|f| f.last_read.since(Time::ZERO)).max();
    let span = app.spec().span().max(last_read.unwrap_or_default());
    let seconds = span.as_secs_f64();
    let bits = flows.iter().map(bits).sum::<f64>();
    let payload_bits = app.spec().datagram.get() as f64 * 8.0;
    let sending = app.spec().span().as_secs_f64();
    let offered = |datagrams: u64| datagrams as f64 * payload_bits / sending / 1e6;
    let share = 100.0 * all as f64 / sent.max(1) as f64;
    let mut table = Table::new("summary")
        .counts("iterations", [world.transactions.len() as u64])
        .counts("datagrams_due", [app.due().sum()])
        .counts("datagrams_sent", [sent])
        .measures("asked_mbps", [offered(app.due().sum())])
        .measures("sent_mbps", [offered(sent)])
        .counts("datagrams_received", [total(flows, |f| f.received)])
        .counts(
            "datagrams_reordered",
            [total(flows, |f| f.reordered.len() as u32)],
        )
        .counts("datagrams_lost", [all])
        .measures("loss_percent", [share])
        .measures("goodput_mbps_mean", [bits / seconds / 1e6]);
    let mut delays = Delays::default();
    for flow in flows {
        delays.join(&flow.delays.told());
    }
    table = with_delays(table, &[delays.told()]);
    for place in PLACES {
        table = table.counts(&column(place), [lost(place)]);
    }
    let counted = world.transactions.first().map(|whole| whole.counted);
    table
        .counts("marks", [counted.unwrap_or_default().marks])
        .counts("data_bytes_total", [(bits / 8.0) as u64])
        .measures("duration_s_total", [seconds])
}

/// The table `flows`: a row for each pair.
pub(crate) fn flows(world: &World, app: &UdpApp) -> Table {
    let flows = &world.datagrams;
    let count = |value: fn(&DatagramFlow) -> u32| flows.iter().map(move |f| u64::from(value(f)));
    let host = |end: usize| {
        let ends = world.endpoints.iter().skip(end).step_by(2);
        ends.take(flows.len())
            .map(|e| world.hosts[usize::from(e.host.0)].name.clone())
    };
    let mut table = Table::new("flows")
        .counts("flow", 0..flows.len() as u64)
        .names("source", host(0))
        .names("destination", host(1))
        .counts("round", count(|f| f.round))
        .measures("start_s", flows.iter().map(|f| f.start.as_secs_f64()))
        .counts("datagrams_due", app.due())
        .counts("datagrams_sent", count(|f| f.sent))
        .counts("datagrams_received", count(|f| f.received))
        .counts("datagrams_reordered", count(|f| f.reordered.len() as u32))
        .measures("jitter_us", flows.iter().map(|f| f.jitter_ps as f64 / 1e6));
    let delays: Vec<DelaysTold> = flows.iter().map(|f| f.delays.told()).collect();
    table = with_delays(table, &delays).measures(
        "goodput_mbps",
        flows.iter().map(|f| {
            // To the last that was read there is a gap less than there are datagrams.
            let span = app.spec().duration.max(f.last_read.since(f.start));
            bits(f) / span.as_secs_f64() / 1e6
        }),
    );
    for place in PLACES {
        table = table.counts(
            &column(place),
            (0..flows.len()).map(|f| world.ledger.lost_at(f, place)),
        );
    }
    table
}

/// The tables `lost` and `reordered` name each datagram; `arrivals` has the times of a receiver's first.
pub(crate) fn tables(world: &World, app: &UdpApp) -> Vec<Table> {
    let runs = numbered(&world.ledger.lost, Clone::clone);
    let late = numbered(&world.datagrams, |f| f.reordered.clone());
    let mut tables = vec![
        Table::new("lost")
            .counts("flow", runs.iter().map(|r| r.0 as u64))
            .counts("first_datagram", runs.iter().map(|r| u64::from(r.1.first)))
            .counts("datagrams", runs.iter().map(|r| u64::from(r.1.count)))
            .names("place", runs.iter().map(|r| r.1.place.to_owned())),
        Table::new("reordered")
            .counts("flow", late.iter().map(|r| r.0 as u64))
            .counts("datagram", late.iter().map(|r| u64::from(r.1))),
    ];
    if app.spec().record_arrivals > 0 {
        tables.push(arrivals(world));
    }
    tables
}

fn arrivals(world: &World) -> Table {
    let mut rows = Vec::new();
    for host in &world.hosts {
        let Some(state) = &host.machine else { continue };
        let stamps = state.machine.stamps();
        for (number, at) in stamps.iter().enumerate() {
            let before = number.checked_sub(1).map_or(*at, |n| stamps[n]);
            rows.push((host.name.clone(), number as u64, *at, at.since(before)));
        }
    }
    Table::new("arrivals")
        .names("host", rows.iter().map(|r| r.0.clone()))
        .counts("packet", rows.iter().map(|r| r.1))
        .measures("at_us", rows.iter().map(|r| r.2.as_ps() as f64 / 1e6))
        .measures("gap_us", rows.iter().map(|r| r.3.as_ps() as f64 / 1e6))
}

fn numbered<F, T>(flows: &[F], of: impl Fn(&F) -> Vec<T>) -> Vec<(usize, T)> {
    let each = |(number, flow)| of(flow).into_iter().map(move |row| (number, row));
    flows.iter().enumerate().flat_map(each).collect()
}

/// One-way delays; no number (NaN) where there are none.
fn with_delays(table: Table, rows: &[DelaysTold]) -> Table {
    type Of = fn(&DelaysTold) -> Option<f64>;
    let statistics: [(&str, Of); 6] = [
        ("mean", DelaysTold::mean_us),
        ("min", DelaysTold::least_us),
        ("median", |d| d.quantile_us(0.5)),
        ("p95", |d| d.quantile_us(0.95)),
        ("p99", |d| d.quantile_us(0.99)),
        ("max", DelaysTold::greatest_us),
    ];
    statistics.iter().fold(table, |table, (statistic, of)| {
        let values = rows.iter().map(|delays| of(delays).unwrap_or(f64::NAN));
        table.measures(&format!("delay_us_{statistic}"), values)
    })
}

fn total(flows: &[DatagramFlow], value: fn(&DatagramFlow) -> u32) -> u64 {
    flows.iter().map(|f| u64::from(value(f))).sum()
}

fn bits(flow: &DatagramFlow) -> f64 {
    f64::from(flow.received) * f64::from(flow.payload_bytes) * 8.0
}

fn column(place: &str) -> String {
    format!("lost_{}", place.replace('-', "_"))
}
