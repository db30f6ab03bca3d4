//! Traffic endpoints: a thread for each task, blocking calls only.

mod ask;
mod bulk;
mod collective;
mod command;
mod ends;
mod exchange;
mod incast;
mod options;
mod ping;
mod sampler;
mod socket;
mod udp;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::config::{GuestConfig, OVER, Task};
use crate::counters;
use crate::record::{Record, Recorder};
use crate::sys;
use ends::Ends;
use sampler::Sampler;

/// How often a host that is there for others looks whether they have ended: a call costs a microsecond. [assumed]
const LOOK: Duration = Duration::from_millis(1);

/// Where a guest's programs are looked for.
pub const PATH: &str = "/bin:/sbin:/usr/bin:/usr/sbin";

/// What a task can use.
struct Context<'a> {
    config: &'a GuestConfig,
    folder: &'a Path,
    recorder: &'a Recorder,
    clock: Clock,
    sampler: &'a Sampler,
    ends: Ends,
}

impl Context<'_> {
    /// Where its sockets are: any of the host's addresses, or on a machine that others use too the one.
    fn address(&self) -> Ipv4Addr {
        if self.config.peers.is_empty() {
            Ipv4Addr::UNSPECIFIED
        } else {
            self.config.interface.address
        }
    }

    /// Whether what this address sends is the run's.
    fn takes_from(&self, address: &SocketAddr) -> bool {
        let peers = &self.config.peers;
        peers.is_empty() || peers.iter().any(|peer| address.ip() == *peer)
    }
}

/// The engine's clock: the host's wall clock less the epoch.
#[derive(Clone, Copy, Debug)]
struct Clock {
    epoch_ns: u64,
}

impl Clock {
    /// Nanoseconds since the engine's start; zero before it.
    fn now_ns(self) -> u64 {
        self.at_ns(wall_ns())
    }

    /// A time of the wall clock on the engine's.
    fn at_ns(self, wall_ns: u64) -> u64 {
        wall_ns.saturating_sub(self.epoch_ns)
    }

    /// How long it is until then, from before the engine's start too; zero if it is over, ns.
    fn left_ns(self, time_ns: u64) -> u64 {
        let then_ns = self.epoch_ns.saturating_add(time_ns);
        then_ns.saturating_sub(wall_ns())
    }

    /// Sleeps until then; not at all if that is over.
    fn sleep_until(self, time_ns: u64) {
        sleep_ns(self.left_ns(time_ns));
    }
}

/// The host's wall clock, ns since 1970.
#[must_use]
pub fn wall_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or(Duration::ZERO).as_nanos() as u64
}

/// Sleeps so long; a sleep of zero is none.
fn sleep_ns(duration_ns: u64) {
    if duration_ns > 0 {
        thread::sleep(Duration::from_nanos(duration_ns));
    }
}

/// Timers of this thread, and of those it starts, fire when they are due: by default Linux may take
/// 50 us more to save a wake-up (prctl(2), PR_SET_TIMERSLACK).
pub fn precise_timers() {
    sys::least_timer_slack();
}

/// A socket for each of a thousand flows is more than programs may have by default (setrlimit(2)).
pub fn most_open_files() {
    sys::most_open_files(None);
}

/// Runs all tasks; returns when those in the foreground are over, having told `recorder` all.
/// Files go to `folder`.
pub fn run(config: &GuestConfig, folder: &Path, recorder: &Recorder) {
    let clock = Clock {
        epoch_ns: config.epoch_ns,
    };
    // A host of the run's own has counted nothing before.
    let before = match config.peers.is_empty() {
        true => BTreeMap::new(),
        false => counters::read(),
    };
    recorder.add(&Record::Ready {
        time_ns: clock.now_ns(),
    });
    recorder.flush();
    let sampler = Sampler::new(config);
    let context = Context {
        config,
        folder,
        recorder,
        clock,
        sampler: &sampler,
        ends: Ends::default(),
    };
    // Background programs hold up the end only where there is nothing else to wait for.
    let only_background = !config.until_over && config.tasks.iter().all(Task::is_background);
    let awaited = |task: &Task| only_background || !task.is_background();
    sampler.expect(config.tasks.iter().filter(|task| awaited(task)).count());
    thread::scope(|scope| {
        let context = &context;
        for (number, task) in config.tasks.iter().enumerate() {
            if let (Task::Command(task), false) = (task, awaited(task)) {
                command::run_in_background(context, number, task);
                continue;
            }
            let run = move || {
                // Who waits for others is there before the engine's start.
                if task.start_ns() > 0 {
                    clock.sleep_until(task.start_ns());
                }
                if let Err(message) = run_task(context, number, task) {
                    context.recorder.fail(message);
                }
                context.sampler.task_over();
            };
            if let Err(error) = thread::Builder::new().spawn_scoped(scope, run) {
                recorder.fail(format!(
                    "task {number} of {}: no thread for it: {error}",
                    config.tasks.len()
                ));
                sampler.task_over();
            }
        }
        if config.until_over {
            while !folder.join(OVER).exists() {
                thread::sleep(LOOK);
            }
        }
        scope.spawn(move || context.sampler.run(context.clock, context.recorder));
        scope.spawn(move || context.sampler.measure(context.clock, context.recorder));
    });
    recorder.add(&Record::Counters {
        time_ns: clock.now_ns(),
        counters: counters::since(&before),
    });
    recorder.add(&Record::Done {
        time_ns: clock.now_ns(),
    });
    recorder.flush();
}

fn run_task(context: &Context<'_>, number: usize, task: &Task) -> Result<(), String> {
    let result = match task {
        Task::IncastClient(task) => incast::client(context, task),
        Task::IncastServer(task) => incast::server(context, task),
        Task::Ask(task) => ask::ask(context, task),
        Task::Bulk(task) => bulk::source(context, task),
        Task::Sink(task) => bulk::sink(context, task),
        Task::UdpSource(task) => udp::source(context, task),
        Task::UdpSink(task) => udp::sink(context, task),
        Task::Ping(task) => ping::ping(context, task),
        Task::Stay(task) => {
            context.clock.sleep_until(task.end_ns);
            Ok(())
        }
        Task::Exchange(task) => exchange::run(context, task),
        Task::Collective(task) => collective::run(context, task),
        Task::Command(task) => command::run(context, number, task),
    };
    result.map_err(|error: io::Error| format!("task {number}: {error}"))
}

#[cfg(test)]
#[path = "traffic_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "bulk_tests.rs"]
mod bulk_tests;

#[cfg(test)]
#[path = "datagrams_tests.rs"]
mod datagrams_tests;

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod exchange_tests;

#[cfg(test)]
#[path = "collective_tests.rs"]
mod collective_tests;
