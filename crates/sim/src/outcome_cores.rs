//! The table `cores`: how busy each core of a host with a machine was.

use tailback_net::host::Machine;
use tailback_units::{Duration, Time};

use crate::tables::Table;
use crate::world::World;

/// One core.
struct Row {
    host: String,
    core: u64,
    busy: Duration,
}

/// The table, of runs in which a host has a machine.
pub(crate) fn table(world: &World) -> Option<Table> {
    let machines = world.hosts.iter().filter_map(|host| {
        let machine = &host.machine.as_ref()?.machine;
        Some((&host.name, machine))
    });
    let rows: Vec<Row> = machines
        .flat_map(|(host, machine): (&String, &Machine)| {
            let cores = machine.busy().enumerate();
            cores.map(move |(core, busy)| Row {
                host: host.clone(),
                core: core as u64,
                busy,
            })
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    // A run of datagrams goes on for a while after the last was sent; a core is judged by the time before.
    let ended = world.now.since(Time::ZERO);
    let whole = (world.workload.udp()).map_or(ended, |app| ended.min(app.spec().span()));
    let whole_s = whole.as_secs_f64();
    // What has begun is counted to its end.
    let percent = |row: &Row| (100.0 * row.busy.as_secs_f64() / whole_s.max(1e-12)).min(100.0);
    Some(
        Table::new("cores")
            .names("host", rows.iter().map(|row| row.host.clone()))
            .counts("core", rows.iter().map(|row| row.core))
            .measures("busy_s", rows.iter().map(|row| row.busy.as_secs_f64()))
            .measures("busy_percent", rows.iter().map(percent)),
    )
}
