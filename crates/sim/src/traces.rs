//! What the traces of links have let go, and what of it went: the table `traces`.

use tailback_scenario::{Run, Topology};
use tailback_units::Time;

use crate::tables::Table;
use crate::world::{SwitchBuffer, World};

/// What is told of the ports that follow a trace.
#[derive(Debug)]
pub(crate) struct Traces {
    ports: Vec<Traced>,
    rows: Vec<Row>,
}

/// A port that follows a trace.
#[derive(Debug)]
struct Traced {
    switch: usize,
    port: usize,
    trace: String,
}

#[derive(Clone, Debug)]
struct Row {
    at: Time,
    /// Which of the ports.
    traced: usize,
    offered_bytes: u64,
    used_bytes: u64,
}

impl Traces {
    /// The ports of a run that follow traces, if any does.
    pub(crate) fn new(run: &Run, world: &World) -> Option<Box<Traces>> {
        let mut ports = Vec::new();
        for (number, switch) in world.switches.iter().enumerate() {
            for (port, state) in switch.ports.iter().enumerate() {
                let name = name(&run.network, state.out_link);
                ports.extend(name.map(|trace| Traced {
                    switch: number,
                    port,
                    trace: trace.to_owned(),
                }));
            }
        }
        let rows = Vec::new();
        (!ports.is_empty()).then(|| Box::new(Traces { ports, rows }))
    }
}

/// The name of the trace that a link direction follows.
fn name(network: &Topology, link: u32) -> Option<&str> {
    let named = network.links[link as usize / 2].config.trace.as_ref()?;
    match link % 2 {
        0 => named.forward.as_deref(),
        _ => named.backward.as_deref(),
    }
}

impl World {
    /// Keeps what has gone by `at`.
    pub(crate) fn look_at_traces(&mut self, at: Time) {
        let Some(traces) = &mut self.traces else {
            return;
        };
        if traces.rows.last().is_some_and(|last| last.at >= at) {
            return; // a look at the very end
        }
        for (traced, place) in traces.ports.iter().enumerate() {
            let SwitchBuffer::Queued(queues) = &mut self.switches[place.switch].buffer else {
                continue;
            };
            let Some((offered_bytes, used_bytes)) = queues.ports[place.port].carried(at) else {
                continue;
            };
            traces.rows.push(Row {
                at,
                traced,
                offered_bytes,
                used_bytes,
            });
        }
    }
}

/// The table, of runs in which any link follows a trace.
pub(crate) fn table(world: &World) -> Option<Table> {
    let traces = world.traces.as_ref()?;
    let rows = &traces.rows;
    let place = |row: &Row| {
        let place = &traces.ports[row.traced];
        format!("{}:{}", world.switches[place.switch].name, place.port)
    };
    let link = |row: &Row| {
        let place = &traces.ports[row.traced];
        let out_link = world.switches[place.switch].ports[place.port].out_link;
        world.links[out_link as usize].name().to_owned()
    };
    let trace = |row: &Row| traces.ports[row.traced].trace.clone();
    Some(
        Table::new("traces")
            .measures("time_s", rows.iter().map(|row| row.at.as_secs_f64()))
            .names("place", rows.iter().map(place))
            .names("link", rows.iter().map(link))
            .names("trace", rows.iter().map(trace))
            .counts("offered_bytes", rows.iter().map(|row| row.offered_bytes))
            .counts("used_bytes", rows.iter().map(|row| row.used_bytes)),
    )
}
