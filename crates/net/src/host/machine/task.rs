//! What runs in a core's time that is not an interrupt: applications and ksoftirqd.
//!
//! Models the completely fair scheduler of Linux 2.6.24 (kernel/sched_fair.c): the runnable task
//! with the least virtual run time has the core; at a tick it yields if it had its slice, at a
//! wakeup if the woken one is far enough behind. A woken task's virtual run time is at most one
//! latency behind. Virtual time goes by weight (nice 0: 1024, nice 19: 15).
//! Left out: groups, real-time classes, load balancing but at wakeups.

use tailback_units::{Duration, Time};

use super::config::Scheduler;

/// A task of a machine, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskId(pub u32);

/// Weight of nice 0 (kernel/sched.c, prio_to_weight).
pub(super) const NICE_0: u64 = 1024;
/// Weight of nice 19, as ksoftirqd has in 2.6.
pub(super) const NICE_19: u64 = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It waits for something.
    Blocked,
    /// It wants to run.
    Runnable,
    /// Its call is done; what it does next is about to be said.
    Deciding,
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) core: usize,
    pub(super) weight: u64,
    /// Virtual run time, ps at nice 0.
    pub(super) vruntime: u64,
    pub(super) state: State,
    /// What its call still takes.
    pub(super) left: Duration,
    /// Since it was given the core.
    pub(super) ran: Duration,
    /// It has softirqs disabled: they wait for it, and so do other tasks.
    pub(super) closed: bool,
}

impl Task {
    pub(super) fn new(core: usize, weight: u64) -> Task {
        Task {
            core,
            weight,
            vruntime: 0,
            state: State::Blocked,
            left: Duration::ZERO,
            ran: Duration::ZERO,
            closed: false,
        }
    }

    /// It has had the core for so long.
    pub(super) fn account(&mut self, ran: Duration) {
        self.ran += ran;
        self.vruntime += match self.weight {
            NICE_0 => ran.as_ps(),
            weight => ran.as_ps() * NICE_0 / weight,
        };
    }
}

/// The runnable task of a core that is furthest behind.
pub(super) fn next(tasks: &[Task], core: usize) -> Option<usize> {
    let mine = tasks
        .iter()
        .enumerate()
        .filter(|(_, t)| t.core == core && t.state == State::Runnable);
    mine.min_by_key(|(number, t)| (t.vruntime, *number))
        .map(|(n, _)| n)
}

/// Whether the task that has the core yields it at a tick.
pub(super) fn yields(tasks: &[Task], current: usize, config: &Scheduler) -> bool {
    let task = &tasks[current];
    let Some(other) = next_but(tasks, task.core, current) else {
        return false;
    };
    let total: u64 = tasks
        .iter()
        .filter(|t| t.core == task.core && t.state == State::Runnable)
        .map(|t| t.weight)
        .sum();
    let slice = Duration::from_ps(config.sched_latency.as_ps() * task.weight / total.max(1));
    task.ran >= slice.max(config.sched_min_granularity) && tasks[other].vruntime < task.vruntime
}

fn next_but(tasks: &[Task], core: usize, not: usize) -> Option<usize> {
    let mine = tasks
        .iter()
        .enumerate()
        .filter(|(n, t)| *n != not && t.core == core && t.state == State::Runnable);
    mine.min_by_key(|(number, t)| (t.vruntime, *number))
        .map(|(n, _)| n)
}

/// Where a woken task begins in virtual time, and whether it takes the core from `current` at once.
pub(super) fn place(
    tasks: &mut [Task],
    woken: usize,
    current: Option<usize>,
    config: &Scheduler,
) -> bool {
    let core = tasks[woken].core;
    let least = tasks
        .iter()
        .enumerate()
        .filter(|(n, t)| *n != woken && t.core == core && t.state != State::Blocked)
        .map(|(_, t)| t.vruntime)
        .min();
    let Some(least) = least else { return false };
    let floor = least.saturating_sub(config.sched_latency.as_ps());
    tasks[woken].vruntime = tasks[woken].vruntime.max(floor);
    let behind = |c: usize| {
        tasks[woken].vruntime + config.sched_wakeup_granularity.as_ps() < tasks[c].vruntime
    };
    current.is_some_and(behind)
}

/// The tick after `now`.
pub(super) fn next_tick(now: Time, tick: Duration) -> Time {
    Time::from_ps((now.as_ps() / tick.as_ps() + 1) * tick.as_ps())
}
