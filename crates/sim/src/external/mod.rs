//! Hosts that are real Linux kernels, in the same network and on the same clock as modelled ones.
//!
//! The world keeps links, switches and modelled hosts; a kernel host is a link that leads outside
//! ([`Sink::Outside`](crate::world::Sink)) and a card that sends into its uplink. Whoever is next, the
//! world's calendar or the kernels, does its event; at one time the world comes first. Frames of
//! kernels carry their bytes beside them ([`cable`]), so switches and links treat them as any other;
//! modelled TCP's segments become bytes when they come to a kernel, and the other way round.
//! A run without kernels has nothing of this in its path.

mod addresses;
mod beside;
mod bytes;
mod cable;
mod collective;
mod configuration;
mod datagram;
mod elsewhere;
mod guests;
mod measured;
mod not_applied;
mod possible;
mod real;
mod real_plan;
mod repairs;
mod results;
mod still;
mod tasks;
mod tc;
mod told;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration as WallTime;

use tailback_kernel::{KernelError, Kernels, KernelsConfig};
use tailback_net::loss::Losses;
use tailback_scenario::{Run, Workload};
use tailback_units::{Duration, Time};

use crate::{Control, RunOutcome, SimError, build, capture, ends, outcome};

pub use addresses::{Elsewhere, HostElsewhere};
use cable::Cable;
pub use elsewhere::{hosts_elsewhere, working_hosts};
use guests::{EPOCH_NS, Guests};
pub use not_applied::not_applied_by_kernels;
pub use possible::kernels_can;
pub(crate) use possible::{without_maker, without_model};

/// The sysctl.
pub(crate) const CONGESTION_CONTROL: &str = "net.ipv4.tcp_congestion_control";
pub use real::{Counted, CountedPort, Seen, tables_of_real_hosts};
pub use real_plan::{RealHosts, real_hosts};

/// What a run with kernels needs beyond its scenario.
#[derive(Clone, Debug)]
pub struct KernelSetup {
    /// The User-Mode Linux program.
    pub kernel: PathBuf,
    /// The guests' first program, if the run's folder has no root yet.
    pub agent: PathBuf,
    /// The run's private folder, with a short path, on a tmpfs or not. Its `root` is the guests'
    /// root file system; what guests write is in `host/NAME`.
    pub folder: PathBuf,
    /// A directory on a tmpfs for the guests' memory.
    pub memory: PathBuf,
    /// The core to bind the run to; none: all of the machine's.
    pub core: Option<usize>,
    /// How long a kernel may run without a word, wall-clock time.
    pub patience: WallTime,
}

/// The world's time zero on the hosts' clock. A guest with a few sysctls is ready within
/// a millisecond of its own time; programs it runs for its set-up take longer.
const START: Duration = Duration::from_ms(100);

impl From<KernelError> for SimError {
    fn from(error: KernelError) -> SimError {
        match error {
            KernelError::GivenUp => SimError::Cancelled,
            error => SimError::Kernel(error.to_string()),
        }
    }
}

/// Between two looks at whether the run is to be given up.
const STEPS_PER_CHECK: u64 = 1 << 10;

/// Runs one run whose hosts are kernels where `outside` says so, by the hosts' numbers.
///
/// # Errors
///
/// [`SimError::Kernel`] if a kernel or a guest failed, with the host's name; else as
/// [`simulate`](crate::simulate).
pub fn simulate_with_kernels(
    run: &Run,
    outside: &[bool],
    setup: &KernelSetup,
    control: &Control,
) -> Result<RunOutcome, SimError> {
    kernels_can(run, outside)?;
    if let Some(refused) = without_maker(run, |host| outside[host]) {
        return Err(SimError::NotModelled(refused));
    }
    let guests = Guests::new(run, outside, &setup.folder);
    guests.prepare(&setup.agent)?;
    let mut cable = Cable::new(build::world(run, outside), guests.hosts(), ends::all(run));
    let config = KernelsConfig {
        kernel: setup.kernel.clone(),
        directory: setup.folder.clone(),
        memory: setup.memory.clone(),
        epoch_ns: EPOCH_NS,
        patience: setup.patience,
        given_up: Arc::clone(&control.cancel),
        shared_clock: true,
        look_ahead: true,
        core: setup.core,
    };
    let mut kernels = Kernels::boot(&config, &guests.configs(), &mut cable)?;
    let modelled = starts_in_the_world(run, outside);
    if let (Workload::Incast(_) | Workload::Collective(_), false) = (&run.workload, modelled) {
        cable.log = Some(Vec::new());
    }
    drive(run, &mut cable, &mut kernels, &guests, modelled, control)?;
    let drops = |(kernel, host): (usize, usize)| {
        let counters = kernels.counters(kernel);
        let lost = Losses {
            frames: counters.rx_ring_drops,
            data_frames: counters.rx_ring_data_drops,
            payload_bytes: counters.rx_ring_payload_bytes,
        };
        (host, lost)
    };
    let ring_drops: Vec<(usize, Losses)> =
        guests.hosts().into_iter().enumerate().map(drops).collect();
    drop(kernels);
    let log = cable.log.take().unwrap_or_default();
    let records = guests.records()?;
    results::fill(&mut cable.world, run, &log, &records);
    cable.world.settle_machines();
    cable.world.check_conservation()?;
    cable.world.check_rows()?;
    cable.world.look_at_traces(cable.world.now);
    let mut outcome = outcome::outcome(&cable.world);
    outcome.capture = capture::file(&cable.world, run);
    let mut outcome = results::complete(outcome, run, &cable.world, &records, &ring_drops);
    for table in told::tables(&cable.world, &records) {
        // Modelled hosts may have told of the same.
        match outcome.tables.iter_mut().find(|t| t.name == table.name) {
            Some(known) => known.append(table),
            None => outcome.tables.push(table),
        }
    }
    results::end_with_the_run(&mut outcome.tables, &cable.world);
    Ok(outcome)
}

/// A time on the kernels' clock, which is ahead: they boot before the world's time zero.
fn to_kernels(at: Time) -> Time {
    at + START
}

/// A time of the kernels on the world's clock; zero while they boot.
fn to_world(at: Time) -> Time {
    at.before(START)
}

/// Whether any modelled application opens connections of its own accord.
fn starts_in_the_world(run: &Run, outside: &[bool]) -> bool {
    match &run.workload {
        // The first host is the client.
        Workload::Incast(incast) => !outside[incast.order(&run.network)[0]],
        // From when flows are counted the world knows in any case.
        Workload::Bulk(bulk) if !bulk.omit.is_zero() => true,
        Workload::Bulk(_) | Workload::Flows(_) | Workload::FlowList(_) => {
            !outside.iter().all(|is| *is)
        }
        Workload::Exchange(exchange) => {
            let ends = exchange.ends(&run.network);
            ends.iter().any(|host| !outside[*host])
        }
        // All its hosts are alike.
        Workload::Collective(spec) => spec.order(&run.network).iter().any(|host| !outside[*host]),
        Workload::Command(_) => false,
        Workload::Ping(spec) => {
            let pingers = spec.pingers(run.seed, &run.network);
            pingers.iter().any(|one| !outside[one.source])
        }
        // The window, the queues and the time of datagrams are the world's in any case.
        Workload::Iperf3(_)
        | Workload::Flent(_)
        | Workload::Bernoulli(_)
        | Workload::RequestResponse(_)
        | Workload::Udp(_) => true,
    }
}

/// Runs world and kernels until the workload is done in both.
fn drive(
    run: &Run,
    cable: &mut Cable,
    kernels: &mut Kernels,
    guests: &Guests<'_>,
    modelled: bool,
    control: &Control,
) -> Result<(), SimError> {
    let count = guests.hosts().len();
    let ended = |kernels: &Kernels| -> Vec<bool> {
        let ended = (0..count).map(|guest| kernels.has_ended(guest));
        ended.collect()
    };
    let mut seen = vec![false; count];
    let mut over = 0;
    while kernels.next_event() < to_kernels(Time::ZERO) {
        kernels.step(cable)?;
    }
    cable.begun = true;
    if modelled {
        cable.world.start();
    } else {
        cable.world.start_beside();
    }
    for step in 0_u64.. {
        let in_world = cable.world.calendar.next_at();
        let in_kernels = kernels.next_event();
        match in_world {
            Some(at) if to_kernels(at) <= in_kernels => {
                cable.world.step()?;
                cable.deliver(kernels);
            }
            // Nothing was drawn that anybody has to do: all were over before they began.
            None if in_kernels == Time::NEVER
                && kernels.ended() == count
                && (!modelled || cable.world.workload.is_done()) =>
            {
                break;
            }
            None if in_kernels == Time::NEVER => {
                // Others wait for a guest that has failed.
                guests.failure(&ended(kernels))?;
                return Err(cable.world.stalled());
            }
            _ => {
                cable.note_totals();
                let at = to_world(in_kernels);
                // Where all hosts are kernels the world may have nothing more to do by itself.
                cable.world.look_before(at);
                cable.world.now = at;
                kernels.step(cable)?;
            }
        }
        if kernels.ended() > over {
            over = kernels.ended();
            guests.tell_of_the_end(&ended(kernels))?;
        }
        if over == count {
            if modelled {
                cable.world.outside_ended();
            }
            if !modelled || cable.world.workload.is_done() {
                break;
            }
        }
        if step.is_multiple_of(STEPS_PER_CHECK) {
            control.check(cable.world.workload.progress())?;
            let now = ended(kernels);
            if now != seen {
                let new = now.iter().zip(&seen).map(|(now, seen)| now != seen);
                guests.failure(&new.collect::<Vec<bool>>())?;
                seen = now;
            }
            if cable.world.waits_for_nothing() {
                return Err(cable.world.stalled());
            }
            still::check(run, cable)?;
        }
    }
    cable.note_totals();
    control.check(cable.world.workload.progress())
}
