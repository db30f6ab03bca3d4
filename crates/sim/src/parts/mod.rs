//! One run on several cores: the network is cut into parts, each a world of its own on a thread of
//! its own.
//!
//! A conservative parallel simulation (R. M. Fujimoto, *Parallel Discrete Event Simulation*, CACM
//! 33(10), 1990) with synchronous windows (B. D. Lubachevsky, CACM 32(1), 1989). What leaves one part
//! reaches another no sooner than the least latency of a link that was cut, so all events of a window that
//! long, from the earliest of any part on, can be handled without word from the others. Between windows
//! frames and news that cross a cut are handed over ([`mail`]).
//!
//! Every part is built whole, from the same run, and does what is its own: links, hosts, flows and their
//! random streams have the numbers that they have in one world, and events of one time order by
//! those, so each component sees the same events in the same order. At the end the parts are put together
//! into one world ([`merge`]), which goes on alone from the time at which the run might end with any event:
//! once no flow has more to send than a window may bring, or with the window in which its time is up.
//!
//! Workloads `flows` and `bulk` in networks of switches with shared memory are cut; [`obstacle`] says
//! what is not.

mod cut;
mod mail;
mod merge;
mod pace;

use tailback_net::frame::HostId;
use tailback_scenario::Run;
use tailback_units::{Duration, Time};

use crate::workload::{FlowsApp, Source, Workload};
use crate::world::World;
use crate::{Control, SimError, build};
use cut::Cut;
pub(crate) use mail::Outbox;
use pace::{Pace, Report, Stopped};

/// Builds the world of a run and, if it can be cut, works off most of it on so many threads. Answers a
/// world that has begun and is to be run to its end, and how many parts it was.
///
/// # Errors
///
/// [`SimError::Cancelled`].
pub(crate) fn begin(
    run: &Run,
    control: &Control,
    threads: usize,
) -> Result<(World, usize), SimError> {
    let mut world = build::world(run, &[]);
    let divisible = threads > 1 && obstacle(run).is_none();
    if divisible && let Some(cut) = Cut::new(&world, threads) {
        if let Some(whole) = together(run, world, &cut, control)? {
            return Ok((whole, cut.parts()));
        }
        world = build::world(run, &[]);
    }
    world.start();
    Ok((world, 1))
}

/// Why a run cannot be cut into parts, if it cannot.
pub(crate) fn obstacle(run: &Run) -> Option<&'static str> {
    use tailback_net::switch::BufferConfig;
    use tailback_scenario::Workload as Spec;
    let record = &run.record;
    let switches = || run.network.switches.iter().map(|s| &s.config);
    if !matches!(
        run.workload,
        Spec::Flows(_) | Spec::FlowList(_) | Spec::Bulk(_)
    ) {
        Some("only workloads flows, flow-list and bulk can be cut")
    } else if matches!(&run.workload, Spec::Bulk(bulk) if !bulk.omit.is_zero()) {
        Some("flows with omit cannot be cut")
    } else if !switches().all(|s| matches!(s.buffer, BufferConfig::Shared(_)) && !s.pushes_back()) {
        Some("only switches with shared memory that do not push back can be cut")
    } else if run.network.hosts.iter().any(|h| h.config.dcqcn.is_some()) {
        Some("hosts with dcqcn cannot be cut")
    } else if run.network.hosts.iter().any(|h| h.config.machine.is_some()) {
        Some("hosts with a machine cannot be cut")
    } else if !run.python.controls.is_empty() {
        Some("congestion controls in Python share one interpreter")
    } else if !run.background.is_empty() {
        Some("background traffic cannot be cut")
    } else if !run.background_flows.is_empty() {
        Some("flows beside the workload cannot be cut")
    } else if record.pcap.is_some()
        || record.series.is_some()
        || record.interfaces.is_some()
        || record.sample_interval.is_some()
        || record.anatomy_iteration.is_some()
    {
        Some("what is recorded beyond the usual tables looks at the whole network at once")
    } else {
        None
    }
}

/// Works a run off in parts, up to where one world has to go on. Nothing if it turns out that it should
/// have done so earlier.
fn together(
    run: &Run,
    first: World,
    cut: &Cut,
    control: &Control,
) -> Result<Option<World>, SimError> {
    let pace = Pace::new(cut.parts());
    let ended = std::thread::scope(|scope| {
        let others: Vec<_> = (1..cut.parts())
            .map(|number| {
                let pace = &pace;
                scope.spawn(move || work(build::world(run, &[]), (cut, number), pace, control))
            })
            .collect();
        let mut ended = vec![work(first, (cut, 0), &pace, control)];
        for other in others {
            match other.join() {
                Ok(end) => ended.push(end),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        ended
    });
    let parts: Result<Vec<Option<World>>, Stopped> = ended.into_iter().collect();
    let parts = parts.map_err(|Stopped| SimError::Cancelled)?;
    let parts: Option<Vec<World>> = parts.into_iter().collect();
    Ok(parts.map(|parts| merge::merge(parts, cut)))
}

/// No more of what a flow has to send is looked at: it takes longer than a window on all but the longest links.
const BYTES_MAX: u64 = 1 << 30;

/// A part's first flow that cannot be over within a window.
#[derive(Clone, Copy, Debug, Default)]
struct Lasting {
    flow: usize,
    /// Not over before.
    until: Time,
    /// All events before this time have been handled.
    reached: Time,
}

/// Works off one part, window by window. Nothing if the run has ended in a window unforeseen.
fn work(
    mut world: World,
    (cut, number): (&Cut, usize),
    pace: &Pace,
    control: &Control,
) -> Result<Option<World>, Stopped> {
    let _guard = pace.guard();
    cut.confine(&mut world, number);
    world.start();
    let mut lasting = Lasting::default();
    loop {
        if control.cancel.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(pace.stop());
        }
        let report = world.report(&mut lasting, cut.window());
        let all = pace.meet(number, report, &mut world)?;
        let Workload::Flows(app) = &world.workload else {
            return Ok(Some(world));
        };
        if all.over == app.len() {
            return Ok(None);
        }
        // The end, if there is nothing left to happen or time is nearly up.
        if !all.sending || all.next >= app.end() || all.next + cut.window() > app.end() {
            return Ok(Some(world));
        }
        lasting.reached = all.next + cut.window();
        world.run_before(lasting.reached);
    }
}

impl World {
    /// What a part tells the others before they meet.
    fn report(&mut self, lasting: &mut Lasting, window: Duration) -> Report {
        let next = self.calendar.next_at().unwrap_or(Time::NEVER);
        let Workload::Flows(app) = &self.workload else {
            return Report::default();
        };
        // The next window begins no later than with this part's next event.
        if next == Time::NEVER || next + window > lasting.until {
            while lasting.flow < app.len() {
                let lasts = self.lasts(app, lasting.flow);
                lasting.until = lasting.reached + lasts;
                if lasts >= window {
                    break;
                }
                lasting.flow += 1;
            }
        }
        Report {
            next,
            sending: lasting.flow < app.len(),
            over: app.over(),
        }
    }

    /// How long a flow from a host of this part lasts at least, by what it has to send for the first
    /// time and how far. Once that is less than a window, it stays so.
    fn lasts(&self, app: &FlowsApp, number: usize) -> Duration {
        let Some(flow) = app.flow(number).filter(|f| !self.hosts[f.source].outside) else {
            return Duration::ZERO;
        };
        let unsent = match (app.source(number), self.endpoints.get(2 * number)) {
            (Some(Source::Closed | Source::Gone), _) => 0,
            (Some(Source::Writing), Some(end)) => {
                let connection = end.connection.as_ref();
                let info = connection.map(|c| c.tcp_info(self.now));
                end.backlog.bytes() + info.map_or(0, |info| u64::from(info.notsent_bytes))
            }
            _ => flow.bytes.unwrap_or(u64::MAX),
        };
        if unsent == 0 {
            return Duration::ZERO;
        }
        let [from, to] = [flow.source, flow.destination].map(|host| HostId(host as u16));
        let (rate, delay) = self.way(from, to, 2 * number as u32 + 1);
        delay + rate.time_for(unsent.min(BYTES_MAX))
    }

    /// What this part has for others.
    fn outbox(&mut self) -> &mut Outbox {
        self.ledger.outbox.get_or_insert_default()
    }
}
