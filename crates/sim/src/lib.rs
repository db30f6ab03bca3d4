//! The simulator: packet by packet, deterministic.
//!
//! [`simulate`] takes one run of a scenario and gives its tables. The same run gives the same
//! tables on every machine. Inside, [`event`](self) order is (time, rank of the component); a
//! component has at most one pending event; TCP, switches and hosts are driven from outside and
//! hold no clock.

pub mod bottleneck;
mod build;
mod build_applications;
mod capture;
mod ends;
mod event;
mod external;
mod fairness;
mod oscillators;
mod outcome;
mod outcome_background;
mod outcome_cores;
mod outcome_flows;
mod outcome_measured;
mod outcome_ping;
mod outcome_ports;
mod outcome_queries;
mod outcome_requests;
mod outcome_udp;
mod packets;
mod parts;
mod record;
mod reroute;
mod route;
mod samples;
mod tables;
mod traces;
mod workload;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tailback_scenario::{HostKind, Run};
use tailback_units::{Duration, Time};

pub use external::{
    Counted, CountedPort, Elsewhere, HostElsewhere, KernelSetup, RealHosts, Seen, hosts_elsewhere,
    kernels_can, not_applied_by_kernels, real_hosts, simulate_with_kernels, tables_of_real_hosts,
    working_hosts,
};
pub use packets::packets;
pub use tables::{Column, ColumnData, Table};

/// A run's way of being watched and given up, from another thread.
#[derive(Debug, Default)]
pub struct Control {
    /// Set it to give the run up.
    pub cancel: Arc<AtomicBool>,
    /// Iterations finished so far.
    pub done: AtomicU64,
}

/// Why a run gave no tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SimError {
    /// It was given up through [`Control::cancel`].
    #[error("the run was given up")]
    Cancelled,
    /// The run has hosts that are real kernels, or programs that need them.
    #[error("host {host} is a real kernel, which this way of running has not: {why}")]
    NeedsKernel {
        /// The first such host.
        host: String,
        /// What makes it one.
        why: &'static str,
    },
    /// Modelled hosts are to have what no model is of.
    #[error("{0}")]
    NotModelled(String),
    /// A kernel or a guest failed; says which and why.
    #[error("{0}")]
    Kernel(String),
    /// A real host failed, or cannot do what the scenario says.
    #[error("{0}")]
    RealHosts(String),
    /// Bytes or frames were made or lost unseen: a defect of the simulator.
    #[error("conservation is violated: {0}")]
    Conservation(String),
    /// Links have stopped one another by PAUSE or PFC, for good.
    #[error(
        "deadlock at {}: {} has stopped links that wait for one another: {cycle}. \
         Routes without a cycle where watch = \"ingress\", or {}, avoid that",
        seconds(*.at),
        if *.classes { "PFC" } else { "PAUSE" },
        if *.classes { "flows of the cycle in different classes" } else { "PFC with classes" }
    )]
    Deadlock {
        /// When it was found.
        at: Time,
        /// The links.
        cycle: String,
        /// Whether classes were stopped (PFC), rather than whole links.
        classes: bool,
    },
    /// What is recorded at an interval asks for more than a run keeps.
    #[error(
        "{key} = {interval} comes to more than {} million rows by {}, one for each of {each} at each look; a longer \
         interval, or a shorter run",
        most / 1_000_000,
        seconds(*.at)
    )]
    TooManyRows {
        /// The key that asks for them.
        key: &'static str,
        /// How far apart they are.
        interval: Duration,
        /// Of what there is a row at each look.
        each: &'static str,
        /// So many rows are kept.
        most: usize,
        /// When they were too many.
        at: Time,
    },
    /// Nothing is left to happen, but the workload is not done: connections that it needs are gone, or a
    /// defect of the simulator.
    #[error("the run stalled at {} after {done} iterations: nothing that it waits for is left to happen; {why}", seconds(*.at))]
    Stalled {
        /// When.
        at: Time,
        /// Iterations finished.
        done: u64,
        /// What the workload waits for, and what would help.
        why: String,
    },
}

/// A time as people read it, to the microsecond.
fn seconds(at: Time) -> String {
    format!("{:.6} s", at.as_secs_f64())
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// Its tables: `summary` (one row), `transactions`, `flows`, `drops` and, if the scenario asks
    /// for an anatomy, `queues` and `progress`, if it asks for samples `samples` and
    /// `queue_samples`; with queued switches `ports`.
    pub tables: Vec<Table>,
    /// The frames that the scenario asked to capture, as a pcapng file.
    pub capture: Option<Vec<u8>>,
    /// Parts in which the run was worked off, each on a thread of its own.
    pub parts: usize,
    /// Frames that crossed a link, data and acknowledgements.
    pub hops: u64,
    /// Events handled.
    pub events: u64,
    /// Simulated time that the run took.
    pub simulated: Duration,
    /// A hash of every delivery, with its time: equal for runs that took the same course.
    pub trajectory: u64,
}

/// Simulates one run in which all hosts are modelled, on one core.
///
/// # Errors
///
/// [`SimError::NeedsKernel`] if one is not, [`SimError::Cancelled`] if it was given up; the others
/// tell of defects of the simulator.
pub fn simulate(run: &Run, control: &Control) -> Result<RunOutcome, SimError> {
    simulate_on(1, run, control)
}

/// The same on so many threads if the run can be cut into parts ([`why_whole`]), else on one. The
/// tables do not depend on it.
///
/// # Errors
///
/// Those of [`simulate`].
pub fn simulate_on(threads: usize, run: &Run, control: &Control) -> Result<RunOutcome, SimError> {
    if let Some((host, why)) = kernel_host(run) {
        return Err(SimError::NeedsKernel {
            host: host.to_owned(),
            why,
        });
    }
    let refused = external::without_model(run, |_| false);
    if let Some(refused) = refused.or_else(|| external::without_maker(run, |_| false)) {
        return Err(SimError::NotModelled(refused));
    }
    let (mut world, parts) = parts::begin(run, control, threads)?;
    world.run(control)?;
    if world.has_shown_order() {
        world = build::world(run, &[]);
        world.in_order = true;
        world.start();
        world.run(control)?;
    }
    world.check_conservation()?;
    world.check_rows()?;
    world.look_at_traces(world.now);
    let mut outcome = outcome::outcome(&world);
    outcome.parts = parts;
    outcome.capture = capture::file(&world, run);
    Ok(outcome)
}

/// Why a run takes one core only, whatever it is offered; nothing if it may take several.
#[must_use]
pub fn why_whole(run: &Run) -> Option<&'static str> {
    parts::obstacle(run)
}

/// The first host that has to be a real kernel, and why.
fn kernel_host(run: &Run) -> Option<(&str, &'static str)> {
    if let tailback_scenario::Workload::Command(commands) = &run.workload {
        let first = commands.command.first()?;
        return Some((&first.host, "it is to run a program"));
    }
    let hosts = &run.network.hosts;
    let host = hosts.iter().find(|host| host.kind == HostKind::Kernel)?;
    Some((&host.name, "the scenario says so"))
}

impl Control {
    fn check(&self, done: u64) -> Result<(), SimError> {
        self.done.store(done, Ordering::Relaxed);
        if self.cancel.load(Ordering::Relaxed) {
            Err(SimError::Cancelled)
        } else {
            Ok(())
        }
    }
}
