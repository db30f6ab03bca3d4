//! A machine with parts: card, interrupts, softirqs, cores and tasks.
//!
//! Models a Linux host of 2.4 to 2.6.24 between the last bit of a frame and the system call that
//! takes its bytes: the receive ring and its throttled interrupt ([`nic`](self)), NAPI's polls with weight,
//! budget, time limit and restarts, or an interrupt handler that fills a backlog (net/core/dev.c,
//! kernel/softirq.c), ksoftirqd, and tasks that share a core under a fair scheduler. Interrupts stop
//! softirqs, softirqs stop tasks; what each costs is in [`Costs`]. Receive livelock is not a
//! setting: it comes of that order (Mogul and Ramakrishnan, USENIX 1996).
//!
//! Bound interrupts keep everything on one core: an application that a frame wakes is moved to the
//! core that handled the frame, if nothing else runs there (wake_affine). Balanced interrupts leave
//! it where it is. [assumed: what the published study's two settings mean]
//!
//! It is looked at when somebody gets something of it, and then does what has been due meanwhile, each
//! thing at its time: interrupts, their handlers, ticks and frames that arrive are nobody else's business.
//!
//! It knows no protocol. It is told of frames and of tasks that want to run; it says when a frame has
//! been handled and when a task's call is done, and whoever drives it says what that cost beyond.
//! A card may have several receive queues, each with its interrupt (RSS); a hash of the flow picks one.
//! What waits at a TCP socket for its thread is a [`Socket`]'s; whoever drives the machine keeps one for
//! each, and asks it.
//! Left out: preemption of softirqs and within a backlog, load balancing between cores but at wakeups.

mod affinity;
mod config;
mod core;
mod counters;
mod crossing;
mod merge;
mod nic;
mod socket;
mod softirq;
mod task;
mod throttle;
mod when;

use std::collections::VecDeque;

use tailback_units::{Duration, Time};

pub use config::{Affinity, Costs, Interrupts, MachineConfig, Scheduler, Softirq};
pub use crossing::{Crossing, Whereabouts};
pub use merge::Merging;
pub use socket::{Admission, Memory, Packet, Socket, SocketLock, User};
pub use task::TaskId;
pub use throttle::Adaptive;

use self::core::Core;
pub use self::core::Done;
use self::nic::Nic;
use self::task::{NICE_0, NICE_19, State, Task};
use self::when::{Bits, Due, First};
use crate::host::Scaling;
use crate::host::joining::Joint;
use crate::loss::Losses;
use crate::pool::Flight;

/// Cores at most: a bit each.
const CORES_MAX: u32 = 64;
/// No core, where one is noted.
const NO_CORE: u8 = u8::MAX;

/// What happens at a machine, for whoever drives it to act on.
#[derive(Clone, Debug)]
pub enum Effect {
    /// TCP or UDP gets this packet.
    Packet(Packet),
    /// The call of a task is done. Unless it is told to [`run`](Machine::run) again, it blocks.
    Task(TaskId),
    /// The backlog was full: the frame is lost.
    BacklogFull(Flight),
    /// The card's ring was full: the frame is lost.
    RingFull(Flight),
}

/// A machine.
#[derive(Debug)]
pub struct Machine {
    config: MachineConfig,
    /// The card's receive queues; packets are sent by the first.
    nics: Vec<Nic>,
    scaling: Scaling,
    cores: Vec<Core>,
    /// The first of them are the cores' ksoftirqd.
    tasks: Vec<Task>,
    /// By core, when something is due there next.
    dues: Vec<Due>,
    /// The cores of which something is due at some time, a bit each.
    live: u64,
    /// When the card interrupts first.
    card_at: Time,
    /// When a frame arrives first.
    lands_at: Time,
    /// Tasks that begin a call later: when, which, and what it costs.
    asleep: Vec<(Time, TaskId, Duration)>,
    /// When the first of them does.
    wakes_at: Time,
    /// What a frame without payload and one with it costs a softirq, and either at least.
    softirq_costs: [Duration; 2],
    softirq_least: Duration,
    /// A softirq takes frames of one queue, which TCP gets one by one, and nobody stamps them.
    takes_plainly: bool,
    /// What mostly follows is found out as everything else is.
    #[cfg(test)]
    goes_long: bool,
    /// By queue, the core that takes its interrupts.
    interrupted: Vec<usize>,
    balance_at: Time,
    tick: Duration,
    /// The core whose effect is being acted on.
    acting: Option<usize>,
    /// Frames that are lost and that nobody has been told of.
    lost: VecDeque<Effect>,
    backlog_dropped: Losses,
    /// When the interrupt handler or the poll saw each of the first frames, if asked for.
    seen: Vec<Time>,
    seen_wanted: usize,
}

impl Machine {
    /// An idle machine whose card's rings have so many descriptors, and spread flows by a key.
    #[must_use]
    pub fn new(config: &MachineConfig, rx_ring_descriptors: u32, rss_key: u64) -> Machine {
        let count = config.cores.clamp(1, CORES_MAX) as usize;
        let (first, balance_at) = match config.interrupts.affinity {
            Affinity::Bound { core } => (core as usize, Time::NEVER),
            Affinity::Balanced { period } => (0, Time::ZERO + period),
        };
        let scaling = Scaling::new(rss_key, config.interrupts.queues);
        let queues = scaling.queues();
        let (throttle, adaptive) = (config.interrupts.throttle, config.interrupts.adaptive);
        let nic = || Nic::new(rx_ring_descriptors, throttle, adaptive);
        let daemon = if config.softirq.yields {
            NICE_0
        } else {
            NICE_19
        };
        let interrupted = (0..queues).map(|queue| (first + queue) % count).collect();
        Machine {
            nics: (0..queues).map(|_| nic()).collect(),
            scaling,
            cores: (0..count).map(|_| Core::default()).collect(),
            tasks: (0..count).map(|core| Task::new(core, daemon)).collect(),
            dues: vec![Due::NEVER; count],
            live: 0,
            #[cfg(test)]
            goes_long: false,
            card_at: Time::NEVER,
            lands_at: Time::NEVER,
            asleep: Vec::new(),
            wakes_at: Time::NEVER,
            softirq_costs: [false, true].map(|carries| config.softirq_cost(carries)),
            softirq_least: config.softirq_least(),
            takes_plainly: !config.softirq.napi || (queues == 1 && config.merging.is_off()),
            interrupted,
            balance_at,
            tick: Duration::from_secs(1) / u64::from(config.hz.max(1)),
            acting: None,
            lost: VecDeque::new(),
            backlog_dropped: Losses::default(),
            seen: Vec::new(),
            seen_wanted: 0,
            config: config.clone(),
        }
    }

    /// What work costs here.
    #[inline]
    #[must_use]
    pub fn config(&self) -> &MachineConfig {
        &self.config
    }

    /// The first so many frames are to be stamped as the interrupt handler or the poll sees them.
    pub fn stamp_first(&mut self, frames: usize) {
        self.seen_wanted = frames;
        self.takes_plainly &= frames == 0;
    }

    /// Those stamps.
    #[must_use]
    pub fn stamps(&self) -> &[Time] {
        &self.seen
    }

    /// Adds a task that waits for something.
    pub fn add_task(&mut self) -> TaskId {
        let count = self.cores.len();
        // The next core after the interrupts', in turn: what a fork does on an idle machine.
        let core = (self.interrupted[0] + 1 + self.tasks.len() - count) % count;
        self.tasks.push(Task::new(core, NICE_0));
        TaskId(self.tasks.len() as u32 - 1)
    }

    /// Whether frames are put together: then [`Machine::arrive`] is to be told what decides it.
    #[must_use]
    pub fn merges(&self) -> bool {
        self.config.softirq.napi && !self.config.merging.is_off()
    }

    /// A frame is on its way to the card and arrives at its `at`, no earlier than those before it. Says
    /// whether [`Machine::poll_timeout`] may have changed.
    #[inline(always)]
    pub fn arrive(&mut self, frame: Flight, joint: Option<Joint>) -> bool {
        let queue = self.queue_of(&frame);
        let nic = &mut self.nics[queue];
        let interrupts = nic.arrive(frame, joint);
        self.lands_at = self.lands_at.min(frame.at);
        self.card_at = self.card_at.min(nic.interrupt_at);
        interrupts
    }

    /// The frame that is likely to be handled next.
    #[inline]
    #[must_use]
    pub fn upcoming(&self) -> Option<&Flight> {
        self.nics[0].first()
    }

    /// Frames that have arrived by `now` are in the card's rings.
    fn land(&mut self, now: Time) {
        let lost = &mut self.lost;
        let mut lands_at = Time::NEVER;
        for nic in &mut self.nics {
            lands_at = lands_at.min(nic.land(now, |f| lost.push_back(Effect::RingFull(f))));
        }
        self.lands_at = lands_at;
    }

    /// The queue of a flow.
    #[inline]
    fn queue_of(&self, frame: &Flight) -> usize {
        if self.nics.len() == 1 {
            return 0;
        }
        self.scaling.queue_of(frame.to)
    }

    /// A packet has been handed to the card and leaves it at `leaves`, no earlier than those before it:
    /// a reason for an interrupt, if the driver's work on what has left is modelled.
    #[inline]
    pub fn send(&mut self, now: Time, leaves: Time) {
        if !self.config.costs.complete_packet.is_zero() {
            self.catch_up(now);
            self.nics[0].send(leaves);
            if self.config.crossing.is_some() {
                let core = self.acting.map_or(NO_CORE, |core| core as u8);
                self.nics[0].note_sender(core);
            }
            self.card_at = self.card_at.min(self.nics[0].complete_at);
        }
    }

    /// The call that is being acted on had a socket's lock: softirqs that were left to ksoftirqd run
    /// as it is released.
    #[inline]
    pub fn release_socket(&mut self) {
        if let Some(core) = self.acting {
            self.run_raised(core);
        }
    }

    /// A task begins a call that takes `cost`: the one whose call is just done, or one that
    /// waited and is woken. One that runs already is left alone.
    pub fn run(&mut self, now: Time, task: TaskId, cost: Duration) {
        self.catch_up(now);
        self.begin(now, task, cost);
    }

    /// Whether a task waits for something, so that [`Machine::run`] has it begin a call, or has just done one.
    #[inline]
    #[must_use]
    pub fn awaits(&self, task: TaskId) -> bool {
        self.tasks[task.0 as usize].state != State::Runnable
    }

    /// A task that waits, or is about to, begins a call that takes `cost` at a later time.
    pub fn run_at(&mut self, at: Time, task: TaskId, cost: Duration) {
        self.asleep.push((at, task, cost));
        self.wakes_at = self.wakes_at.min(at);
    }

    /// The first task that begins a call later does so now.
    fn wake_first(&mut self) {
        let first = self.asleep.iter().enumerate();
        let first = first.min_by_key(|(_, (at, task, _))| (*at, task.0));
        let Some((place, (at, task, cost))) = first.map(|(place, first)| (place, *first)) else {
            return;
        };
        self.asleep.swap_remove(place);
        let wakes = self.asleep.iter().map(|(at, ..)| *at).min();
        self.wakes_at = wakes.unwrap_or(Time::NEVER);
        self.begin(at, task, cost);
    }

    fn begin(&mut self, now: Time, task: TaskId, cost: Duration) {
        let number = task.0 as usize;
        match self.tasks[number].state {
            State::Runnable => {}
            State::Deciding => {
                self.tasks[number].left = cost;
                self.tasks[number].state = State::Runnable;
            }
            State::Blocked => {
                self.tasks[number].left = cost + self.config.costs.wakeup;
                self.wake(now, number);
            }
        }
    }

    /// The task whose call is just done goes on with the same call for `cost`; `closed`: with softirqs
    /// disabled.
    #[inline]
    pub fn go_on(&mut self, task: TaskId, cost: Duration, closed: bool) {
        let task = &mut self.tasks[task.0 as usize];
        if task.state == State::Deciding {
            task.left = cost;
            task.state = State::Runnable;
            task.closed = closed;
        }
    }

    /// What is being acted on costs the core so much more.
    #[inline]
    pub fn charge(&mut self, cost: Duration) {
        if let Some(core) = self.acting {
            self.cores[core].debt += cost;
        }
    }

    /// What has been charged for what is being acted on.
    #[inline]
    #[must_use]
    pub fn charged(&self) -> Duration {
        let core = self.acting.map(|core| &self.cores[core]);
        core.map_or(Duration::ZERO, |core| core.debt)
    }

    /// The core whose effect is being acted on.
    #[inline]
    #[must_use]
    pub fn acting(&self) -> Option<usize> {
        self.acting
    }

    /// When [`Machine::handle_timeout`] is to be called: nobody gets anything of the machine before.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Time {
        if self.acting.is_some() {
            return Time::ZERO;
        }
        self.acts_first(self.first().acts)
    }

    /// Before when nobody gets anything of the machine, if of its cores nobody does before `cores`.
    #[inline(always)]
    fn acts_first(&self, cores: Time) -> Time {
        let mut at = cores;
        if self.card_at < at {
            at = at.min(self.card_acts());
        }
        if self.wakes_at < at {
            at = at.min(self.sleepers_act());
        }
        at
    }

    /// When something is due that is no core's.
    #[inline(always)]
    fn own_due(&self) -> Time {
        self.card_at.min(self.balance_at).min(self.wakes_at)
    }

    /// Does what is due. Called again until it answers with nothing.
    #[inline]
    pub fn handle_timeout(&mut self, now: Time) -> Option<Effect> {
        self.work(&mut { now }, Time::ZERO)
    }

    /// Does what is due at `now`, and goes on to what is due next as long as that is before `limit`: until
    /// somebody gets something of it, or there is nothing more to do before.
    pub fn work(&mut self, now: &mut Time, limit: Time) -> Option<Effect> {
        let done = self.work_on(now, limit);
        self.effect(done)
    }

    /// The same; it answers what kind of thing it is that somebody gets. A frame is to be fetched by
    /// [`Machine::take_frame`], what is rare by [`Machine::effect`].
    #[inline(always)]
    pub fn work_on(&mut self, now: &mut Time, limit: Time) -> Done {
        self.proceed(now, limit, true)
    }

    /// The frame that has just been handled.
    #[inline(always)]
    pub fn take_frame(&mut self) -> Option<Flight> {
        let core = self.acting?;
        self.cores[core].frame.take()
    }

    /// What somebody gets, after [`Machine::work_on`] has said of which kind it is.
    #[cold]
    pub fn effect(&mut self, done: Done) -> Option<Effect> {
        match (done, self.acting) {
            (Done::Task(number), _) => Some(Effect::Task(TaskId(number))),
            (Done::Frame, _) => {
                let frame = self.take_frame();
                frame.map(|frame| Effect::Packet(Packet::Frame(frame)))
            }
            (Done::Packet, Some(core)) => self.joined(core).map(Effect::Packet),
            (Done::Lost, _) => self.lost.pop_front(),
            _ => None,
        }
    }

    /// Does what has been due and is nobody else's business.
    #[inline]
    fn catch_up(&mut self, now: Time) {
        if self.acting.is_none() {
            let done = self.proceed(&mut { now }, Time::ZERO, false);
            debug_assert_eq!(done, Done::Nothing, "nobody has asked");
        }
    }

    /// The machine as it stands at `now`: what has arrived, what was lost.
    pub fn settle(&mut self, now: Time) {
        self.catch_up(now);
        if self.lands_at <= now {
            self.land(now);
        }
    }

    /// A frame that is lost and that nobody has been told of.
    pub fn take_lost(&mut self) -> Option<Effect> {
        self.lost.pop_front()
    }

    /// Does what is due by `now`, one thing after another, each at its time, until somebody gets something
    /// of it: that is left, unless it is `wanted`. Where nothing is, now is when something is first, if that is
    /// before `limit`.
    #[inline(never)]
    fn proceed(&mut self, now: &mut Time, limit: Time, wanted: bool) -> Done {
        if let Some(core) = self.acting.take()
            && !self.goes_on(core, *now)
        {
            self.advance(core, *now);
        }
        loop {
            if wanted && !self.lost.is_empty() {
                return Done::Lost;
            }
            let First { due, acts, core } = self.first();
            let at = due.min(self.own_due());
            if at > *now {
                if limit <= *now {
                    return Done::Nothing;
                }
                let acts = self.acts_first(acts);
                if acts >= limit {
                    return Done::Nothing;
                }
                *now = acts;
                if at > acts {
                    continue;
                }
            }
            if self.lands_at <= at {
                self.land(at);
                if wanted && !self.lost.is_empty() {
                    return Done::Lost;
                }
            }
            if self.card_at <= at {
                self.interrupt(at);
            } else if due <= at {
                // Mostly the first's work has ended, not a tick come.
                let ended = self.cores[core].ends() <= at;
                let Some(core) = (if ended { Some(core) } else { self.core_due(at) }) else {
                    continue;
                };
                if !wanted && self.cores[core].op.is_some_and(|(op, _)| op.acts()) {
                    return Done::Nothing;
                }
                let done = self.end(core, at);
                if done != Done::Nothing {
                    debug_assert_eq!(at, *now, "somebody gets something late");
                    self.acting = Some(core);
                    return done;
                }
                self.advance(core, at);
            } else if self.balance_at <= at {
                self.balance();
            } else {
                self.wake_first();
            }
        }
    }

    /// The first core whose work has ended at `at`, when something is due; if it is a tick instead, that is handled.
    #[inline(never)]
    fn core_due(&mut self, at: Time) -> Option<usize> {
        let mut ticks = None;
        for core in Bits(self.live) {
            if self.dues[core].due > at {
                continue;
            }
            if self.cores[core].ends() <= at {
                return Some(core);
            }
            ticks = ticks.or(Some(core));
        }
        if let Some(core) = ticks {
            self.handle_tick(core, at);
        }
        None
    }

    /// The card interrupts: because of a frame that has come, or else of packets that have left.
    fn interrupt(&mut self, now: Time) {
        let queue = self.nics.iter().position(|nic| nic.interrupt_at <= now);
        let core = self.interrupted[queue.unwrap_or(0)];
        match queue {
            Some(queue) => {
                self.nics[queue].take_interrupt(now);
                self.cores[core].interrupts |= 1 << queue;
            }
            None => {
                self.nics[0].complete_at = Time::NEVER;
                self.cores[core].completions = true;
            }
        }
        self.note_card();
        self.stop(core, now);
    }

    /// The card has been told something: when it interrupts first.
    fn note_card(&mut self) {
        let interrupts = self.nics.iter().map(|nic| nic.interrupt_at).min();
        let received = interrupts.unwrap_or(Time::NEVER);
        self.card_at = received.min(self.nics[0].complete_at);
    }
}

#[cfg(test)]
mod bench;
#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
