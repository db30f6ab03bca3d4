//! One core: what it does now, and what it does next.
//!
//! An interrupt stops whatever runs; when it returns, a raised softirq runs before the task that was
//! stopped. A softirq makes passes over the card's ring (or the backlog) until it is empty; after
//! too many passes the rest is left to ksoftirqd, a task like others, and to the next return from an
//! interrupt, the clock's included.

use std::collections::VecDeque;

use tailback_units::{Duration, Time};

use super::merge::Merge;
use super::softirq::Soft;
use super::task::{self, State};
use super::when::Due;
use super::{Machine, Packet};
use crate::host::joining::Joint;
use crate::pool::Flight;

#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// A hardware interrupt of a queue, that takes so many frames from its ring (without NAPI).
    Interrupt(u32, u32),
    /// The hardware interrupt whose handler sees to packets that have left.
    Completions,
    /// A softirq handles a frame: [`Core::frame`].
    Frame,
    /// A softirq takes a frame that may join others.
    Join,
    /// A softirq handles the first packet that frames have joined to.
    Packet,
    /// A task's call.
    Task(u32),
    /// What was charged to a core that has nothing else to do.
    Rest,
}

#[derive(Debug)]
pub(super) struct Core {
    pub(super) op: Option<(Op, Time)>,
    /// When a task's call began or went on.
    since: Time,
    /// The frame that a softirq handles or takes, and what decides whether it joins others.
    pub(super) frame: Option<Flight>,
    pub(super) joint: Option<Joint>,
    /// What a softirq did when an interrupt stopped it, and what is left of it.
    pub(super) stopped: Option<(Op, Duration)>,
    /// Queues whose interrupt waits, a bit each.
    pub(super) interrupts: u64,
    pub(super) completions: bool,
    pub(super) soft: Soft,
    /// Tasks that wait for nothing but the core.
    pub(super) wanting: usize,
    /// Queues that are polled, in turn.
    pub(super) polled: VecDeque<usize>,
    pub(super) merge: Merge,
    pub(super) backlog: VecDeque<Flight>,
    pub(super) task: Option<usize>,
    /// Another task is to have the core.
    pub(super) yields: bool,
    pub(super) debt: Duration,
    pub(super) tick_at: Time,
    pub(super) busy: Duration,
    pub(super) busy_lately: Duration,
}

impl Default for Core {
    fn default() -> Core {
        Core {
            op: None,
            since: Time::ZERO,
            frame: None,
            joint: None,
            stopped: None,
            interrupts: 0,
            completions: false,
            soft: Soft::default(),
            wanting: 0,
            polled: VecDeque::new(),
            merge: Merge::default(),
            backlog: VecDeque::new(),
            task: None,
            yields: false,
            debt: Duration::ZERO,
            tick_at: Time::NEVER,
            busy: Duration::ZERO,
            busy_lately: Duration::ZERO,
        }
    }
}

/// What a core has done that is somebody else's business: a few bits, for what it is about lies elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// Nothing for anybody else.
    Nothing,
    /// A frame has been handled.
    Frame,
    /// A packet that frames have joined to.
    Packet,
    /// A task's call is done.
    Task(u32),
    /// Frames were lost.
    Lost,
}

impl Op {
    /// Somebody gets something at its end.
    pub(super) fn acts(&self) -> bool {
        matches!(self, Op::Frame | Op::Packet | Op::Task(_))
    }
}

impl Core {
    /// When what it does now ends.
    pub(super) fn ends(&self) -> Time {
        self.op.map_or(Time::NEVER, |(_, ends)| ends)
    }

    /// The clock is to tick for it, and does not, or the other way round.
    #[inline(always)]
    pub(super) fn wants_tick_changed(&self) -> bool {
        let left = self.soft.raised && !self.soft.running;
        let wanted = left || self.wanting > 1;
        wanted != (self.tick_at != Time::NEVER)
    }

    /// Frames it holds.
    pub(super) fn held(&self) -> impl Iterator<Item = &Flight> {
        let merged = self.merge.frames();
        self.backlog.iter().chain(&self.frame).chain(merged)
    }

    #[inline(always)]
    pub(super) fn start(&mut self, now: Time, op: Op, cost: Duration) -> Time {
        let cost = cost + std::mem::take(&mut self.debt);
        self.busy += cost;
        self.busy_lately += cost;
        self.since = now;
        let ends = now + cost;
        self.op = Some((op, ends));
        ends
    }
}

impl Machine {
    /// What a core did is done. [`Machine::advance`] is to follow, before anybody asks when the core is due.
    #[inline(always)]
    pub(super) fn end(&mut self, core: usize, now: Time) -> Done {
        let this = &mut self.cores[core];
        let Some((op, _)) = this.op.take() else {
            return Done::Nothing;
        };
        match op {
            Op::Interrupt(queue, frames) => {
                this.soft.raised = true;
                // One that returns to a softirq begins none (irq_exit, kernel/softirq.c).
                this.soft.returned |= !this.soft.running;
                let queue = queue as usize;
                if self.config.softirq.napi {
                    this.polled.push_back(queue);
                } else {
                    self.fill_backlog(core, queue, frames, now);
                    self.nics[queue].unmask(now);
                    self.note_card();
                }
                Done::Nothing
            }
            Op::Completions => {
                this.soft.returned |= !this.soft.running;
                Done::Nothing
            }
            Op::Frame => Done::Frame,
            Op::Join => {
                if let (Some(frame), Some(joint)) = (this.frame.take(), this.joint.take()) {
                    this.merge.take(frame, &joint, self.config.merging);
                }
                Done::Nothing
            }
            Op::Packet => Done::Packet,
            Op::Task(number) => {
                let task = &mut self.tasks[number as usize];
                task.account(now.since(this.since));
                task.state = State::Deciding;
                task.closed = false;
                Done::Task(number)
            }
            Op::Rest => Done::Nothing,
        }
    }

    /// The packet that a core has handled.
    #[cold]
    pub(super) fn joined(&mut self, core: usize) -> Option<Packet> {
        let frames = self.cores[core].merge.pop()?.frames;
        Some(match frames[..] {
            [frame] => Packet::Frame(frame),
            _ => Packet::Joined(frames),
        })
    }

    /// An interrupt or another task needs the core: what runs is stopped, unless it is an interrupt.
    pub(super) fn stop(&mut self, core: usize, now: Time) {
        self.rest(core, now);
        let this = &mut self.cores[core];
        match this.op {
            None if self.acting == Some(core) => return,
            None => {}
            // What interrupts it waits.
            Some((Op::Interrupt(..) | Op::Completions, _)) => return self.note_due(core),
            Some((op, ends)) => {
                let left = ends.since(now);
                this.busy = this.busy - left;
                this.busy_lately = this.busy_lately - left.min(this.busy_lately);
                this.op = None;
                match op {
                    Op::Frame | Op::Join | Op::Packet => this.stopped = Some((op, left)),
                    Op::Task(number) => {
                        let task = &mut self.tasks[number as usize];
                        task.account(now.since(this.since));
                        task.left = left;
                    }
                    Op::Interrupt(..) | Op::Completions => {}
                    Op::Rest => this.debt += left,
                }
            }
        }
        self.advance(core, now);
    }

    /// A core that does nothing begins what is next.
    pub(super) fn advance(&mut self, core: usize, now: Time) {
        self.rest(core, now);
        self.begin_next(core, now);
        self.arm_tick(core, now);
    }

    /// A core begins what mostly follows: the next frame of a poll, or the next step of a task's call, and it is noted
    /// when that is due. False if that is not next, or might not be.
    #[inline(always)]
    pub(super) fn goes_on(&mut self, core: usize, now: Time) -> bool {
        #[cfg(test)]
        if self.goes_long {
            return false;
        }
        let cores = self.cores.len();
        let this = &mut self.cores[core];
        let plain = this.op.is_none()
            && this.stopped.is_none()
            && this.interrupts == 0
            && !this.completions;
        if !plain {
            return false;
        }
        if this.soft.running {
            if !self.takes_plainly || this.soft.polled_out(&self.config.softirq) {
                return false;
            }
            let carries = if !self.config.softirq.napi {
                this.frame = this.backlog.pop_front();
                let frame = this.frame.as_ref();
                frame.map(|frame| frame.payload_bytes > 0)
            } else if this.polled.is_empty() {
                None
            } else {
                self.nics[0].pop_into(&mut this.frame)
            };
            let Some(carries) = carries else {
                return false;
            };
            this.soft.count_frame();
            let cost = self.softirq_costs[usize::from(carries)];
            let ends = this.start(now, Op::Frame, cost);
            let (changes, tick_at) = (this.wants_tick_changed(), this.tick_at);
            self.note_begun(core, now, changes, ends.min(tick_at));
            return true;
        }
        if (this.soft.raised && this.soft.returned) || this.yields {
            return false;
        }
        let Some(number) = this.task.filter(|number| *number >= cores) else {
            return false;
        };
        let task = &self.tasks[number];
        if task.state != State::Runnable || task.core != core {
            return false;
        }
        let ends = this.start(now, Op::Task(number as u32), task.left);
        let (changes, tick_at) = (this.wants_tick_changed(), this.tick_at);
        self.note_begun(core, now, changes, ends.min(tick_at));
        true
    }

    /// A core has begun what somebody gets something of at its end, or a tick is before, unless the clock
    /// `changes` for it: what [`Machine::arm_tick`] does, where all that it looks at is at hand.
    #[inline(always)]
    fn note_begun(&mut self, core: usize, now: Time, changes: bool, due: Time) {
        if changes {
            return self.arm_tick(core, now);
        }
        self.dues[core] = Due { due, acts: due };
        self.live |= 1 << core;
    }

    fn begin_next(&mut self, core: usize, now: Time) {
        let napi = self.config.softirq.napi;
        let this = &mut self.cores[core];
        if this.op.is_some() {
            return;
        }
        if this.interrupts != 0 {
            let queue = this.interrupts.trailing_zeros();
            this.interrupts &= this.interrupts - 1;
            let costs = &self.config.costs;
            let frames = if napi {
                0
            } else {
                self.nics[queue as usize].filled() as u32
            };
            let cost = costs.interrupt + costs.handler_frame * u64::from(frames);
            this.start(now, Op::Interrupt(queue, frames), cost);
            return;
        }
        if std::mem::take(&mut this.completions) {
            let costs = &self.config.costs;
            let left = self.nics[0].complete(now);
            let mut cost = costs.interrupt + costs.complete_packet * u64::from(left);
            if let Some(crossing) = &self.config.crossing {
                let crossed = self.nics[0].crossed(core as u8, left);
                cost += crossing.lines(crossing.completed) * u64::from(crossed);
            }
            this.start(now, Op::Completions, cost);
            self.note_card();
            return;
        }
        if this.task.is_none_or(|number| !self.tasks[number].closed) {
            if this.soft.raised
                && !this.soft.running
                && std::mem::take(&mut this.soft.returned)
                && !self.left_to_daemon(core)
            {
                self.begin_softirq(core, now, false);
            }
            if self.cores[core].soft.running && self.softirq_step(core, now) {
                return;
            }
        }
        self.begin_task(core, now);
    }

    fn begin_task(&mut self, core: usize, now: Time) {
        let mut current = self.cores[core].task;
        if let Some(number) = current
            && self.tasks[number].state == State::Deciding
        {
            self.block(number);
        }
        let gone = |n: usize| self.tasks[n].state != State::Runnable || self.tasks[n].core != core;
        let closed = current.is_some_and(|number| self.tasks[number].closed);
        if (self.cores[core].yields && !closed) || current.is_none_or(gone) {
            self.cores[core].yields = false;
            current = if self.cores[core].wanting > 0 {
                task::next(&self.tasks, core)
            } else {
                None
            };
            if let Some(number) = current {
                self.tasks[number].ran = Duration::ZERO;
            }
            self.cores[core].task = current;
        }
        match current {
            Some(daemon) if daemon < self.cores.len() => {
                self.begin_softirq(core, now, true);
                if !self.softirq_step(core, now) {
                    self.begin_task(core, now);
                }
            }
            Some(number) => {
                let left = self.tasks[number].left;
                self.cores[core].start(now, Op::Task(number as u32), left);
            }
            None if !self.cores[core].debt.is_zero() => {
                self.cores[core].start(now, Op::Rest, Duration::ZERO);
            }
            None => {}
        }
    }

    /// The clock ticks for a core as long as that can change anything.
    #[inline(always)]
    pub(super) fn arm_tick(&mut self, core: usize, now: Time) {
        let this = &mut self.cores[core];
        if this.wants_tick_changed() {
            this.tick_at = if this.tick_at == Time::NEVER {
                task::next_tick(now, self.tick)
            } else {
                Time::NEVER
            };
        }
        self.note_due(core);
    }

    /// Sees to a core that rests, if it has done so by now: nothing else does.
    #[inline]
    pub(super) fn rest(&mut self, core: usize, now: Time) {
        let op = &mut self.cores[core].op;
        if let Some((Op::Rest, ends)) = *op
            && ends <= now
        {
            *op = None;
        }
    }

    /// A task waits for something from now on.
    pub(super) fn block(&mut self, number: usize) {
        let task = &mut self.tasks[number];
        if task.state != State::Blocked {
            task.state = State::Blocked;
            self.cores[task.core].wanting -= 1;
        }
    }

    pub(super) fn handle_tick(&mut self, core: usize, now: Time) {
        self.cores[core].tick_at = task::next_tick(now, self.tick);
        self.note_due(core);
        let this = &mut self.cores[core];
        let soft_left = this.soft.raised && !this.soft.running;
        if soft_left {
            // The clock's interrupt returns too.
            this.soft.returned = true;
        }
        let daemon_since = this.soft.daemon_since;
        if let Some(since) = daemon_since {
            self.tasks[core].account(now.since(since));
            self.cores[core].soft.daemon_since = Some(now);
        }
        if let Some((Op::Task(number), _)) = self.cores[core].op {
            // What it has run so far counts; the rest goes on from here.
            let ran = now.since(self.cores[core].since);
            self.tasks[number as usize].account(ran);
            self.cores[core].since = now;
        }
        let Some(current) = self.cores[core].task else {
            if soft_left && self.cores[core].op.is_none() {
                self.advance(core, now);
            }
            return;
        };
        let yields = task::yields(&self.tasks, current, &self.config.scheduler);
        self.cores[core].yields |= yields;
        let at_task = matches!(self.cores[core].op, Some((Op::Task(_), _)) | None);
        if (yields || soft_left) && at_task {
            self.stop(core, now);
        }
    }
}
