//! The table `background_flows`: what flows beside the workload did.

use tailback_units::Time;

use crate::outcome::control;
use crate::tables::Table;
use crate::world::{FlowRecord, World};

/// A row for each flow beside the workload; no table if there is none.
pub(crate) fn table(world: &World) -> Option<Table> {
    let flows = world.beside.flows();
    if flows.is_empty() {
        return None;
    }
    let rows = world.flows_beside();
    let name = |host: usize| world.hosts[host].name.clone();
    let count = |value: fn(&FlowRecord) -> u64| rows.iter().map(value);
    let start = || flows.iter().map(|one| one.flow.start);
    let end = || {
        let read = rows.iter().map(|row| row.received_bytes).enumerate();
        read.map(|(number, bytes)| world.beside.end_of(number, bytes, world.now))
    };
    let spans = start().zip(end()).map(|(from, to)| from.min(to)..to);
    let rates = spans.zip(&rows).map(|(span, row)| {
        let seconds = span.end.since(span.start).as_secs_f64();
        // No number (NaN) of a flow that never began.
        let rate = row.received_bytes as f64 * 8.0 / seconds / 1e6;
        if seconds > 0.0 { rate } else { f64::NAN }
    });
    let control_of = |number: usize| {
        let flow = &flows[number].flow;
        control(&world.hosts[flow.source], flow.congestion, true)
    };
    let seconds = |times: &mut dyn Iterator<Item = Time>| -> Vec<f64> {
        times.map(|at| at.as_secs_f64()).collect()
    };
    Some(
        Table::new("background_flows")
            .counts("flow", 0..flows.len() as u64)
            .names("source", flows.iter().map(|one| name(one.flow.source)))
            .names(
                "destination",
                flows.iter().map(|one| name(one.flow.destination)),
            )
            .measures("start_s", seconds(&mut start()))
            .measures("end_s", seconds(&mut end()))
            .counts("received_bytes", count(|f| f.received_bytes))
            .measures("throughput_mbps", rates)
            .counts("segments_sent", count(|f| f.sender.segments_sent))
            .counts("retransmissions", count(|f| f.sender.retransmissions))
            .counts("timeouts", count(|f| f.sender.timeouts.into()))
            .counts("cwnd_segments", count(|f| u64::from(f.cwnd)))
            .measures("srtt_us", rows.iter().map(|f| f.srtt.as_ps() as f64 / 1e6))
            .names(
                "sender_congestion_control",
                (0..flows.len()).map(control_of),
            ),
    )
}
