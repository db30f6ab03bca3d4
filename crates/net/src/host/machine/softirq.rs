//! A softirq: passes over a core's ring or backlog, until they are empty or the rest is left to ksoftirqd.
//!
//! Linux 2.6's net_rx_action, process_backlog and do_softirq: a poll takes frames up to the queue's weight, a
//! pass begins polls up to the budget or the end of the tick, and after so many passes in a row the daemon goes on.
//! With `yields` it is that of 4.9 to 6.4 (kernel/softirq.c: __do_softirq, need_resched, ksoftirqd_running; ksoftirqd at nice 0).
//! Left out of these: an end after 2 ms, which their passes of at most 2 ms come to with a third.

use tailback_units::Time;

use super::config::Softirq;
use super::core::Op;
use super::task::{self, State};
use super::{Effect, Machine};

#[derive(Debug, Default)]
pub(super) struct Soft {
    /// There is something to do.
    pub(super) raised: bool,
    /// It is being done.
    pub(super) running: bool,
    /// By ksoftirqd, since then.
    pub(super) daemon_since: Option<Time>,
    /// An interrupt has just returned: it may begin.
    pub(super) returned: bool,
    pub(super) passes: u32,
    /// Frames that the pass, and the poll in it, may still handle; the pass none if a poll has gone beyond.
    pub(super) budget: u32,
    pub(super) weight: u32,
    /// The clock's tick when the pass began.
    pub(super) jiffy: u64,
}

impl Soft {
    /// The poll has handled what it may, and another queue's turn has come.
    #[inline(always)]
    pub(super) fn polled_out(&self, rules: &Softirq) -> bool {
        self.weight == 0 || (self.budget == 0 && rules.budget_cuts_polls)
    }

    /// A poll takes a frame.
    #[inline(always)]
    pub(super) fn count_frame(&mut self) {
        self.weight -= 1;
        self.budget = self.budget.saturating_sub(1);
    }
}

impl Machine {
    pub(super) fn begin_softirq(&mut self, core: usize, now: Time, daemon: bool) {
        let soft = &mut self.cores[core].soft;
        soft.running = true;
        soft.daemon_since = daemon.then_some(now);
        soft.passes = 0;
        self.begin_pass(core, now);
    }

    fn begin_pass(&mut self, core: usize, now: Time) {
        let jiffy = self.jiffy(now);
        let soft = &mut self.cores[core].soft;
        soft.budget = self.config.softirq.budget;
        soft.weight = self.config.softirq.weight;
        soft.jiffy = jiffy;
    }

    fn jiffy(&self, now: Time) -> u64 {
        now.as_ps() / self.tick.as_ps()
    }

    /// Goes on with a softirq; false if none runs, or it ends here.
    pub(super) fn softirq_step(&mut self, core: usize, now: Time) -> bool {
        if !self.cores[core].soft.running {
            return false;
        }
        if let Some((op, left)) = self.cores[core].stopped.take() {
            self.cores[core].start(now, op, left);
            return true;
        }
        if self.begin_packet(core, now) {
            return true;
        }
        if self.cores[core].soft.polled_out(&self.config.softirq) {
            self.cores[core].merge.flush();
            if self.begin_packet(core, now) {
                return true;
            }
            let this = &mut self.cores[core];
            if this.polled.len() > 1 {
                this.polled.rotate_left(1);
            }
            if !self.begin_poll(core, now) {
                return false;
            }
        }
        let napi = self.config.softirq.napi;
        if napi {
            if !self.poll(core, now) {
                return false;
            }
        } else {
            let this = &mut self.cores[core];
            this.frame = this.backlog.pop_front();
        }
        let Some(frame) = &self.cores[core].frame else {
            if self.begin_packet(core, now) {
                return true;
            }
            self.end_softirq(core, now);
            return false;
        };
        let cost = self.softirq_costs[usize::from(frame.payload_bytes > 0)];
        if napi {
            self.stamp(now);
        }
        let this = &mut self.cores[core];
        this.soft.count_frame();
        if this.joint.is_some() {
            let cost = self.config.merging.frame_cost();
            this.start(now, Op::Join, cost);
        } else {
            this.start(now, Op::Frame, cost);
        }
        true
    }

    /// The next poll of a pass begins, or the next pass; false if the rest is left to ksoftirqd.
    fn begin_poll(&mut self, core: usize, now: Time) -> bool {
        let jiffy = self.jiffy(now);
        let rules = &self.config.softirq;
        let soft = &mut self.cores[core].soft;
        soft.weight = rules.weight;
        if soft.budget == 0 || jiffy - soft.jiffy > u64::from(rules.time_limit_jiffies) {
            soft.passes += 1;
            let (passes, restarts, yields) = (soft.passes, rules.restarts, rules.yields);
            if passes >= restarts || (yields && self.needs_scheduler(core)) {
                self.leave_to_daemon(core, now);
                return false;
            }
            self.begin_pass(core, now);
        }
        true
    }

    /// Takes the next frame of the queues that a core polls, if there is one. A queue that is empty is polled no
    /// more: its interrupt is wanted again, once TCP has what joined in the poll. False if the rest is left to
    /// ksoftirqd.
    fn poll(&mut self, core: usize, now: Time) -> bool {
        while let Some(queue) = self.cores[core].polled.front().copied() {
            let (this, nic) = (&mut self.cores[core], &mut self.nics[queue]);
            this.frame = nic.pop();
            if this.frame.is_some() {
                this.joint = nic.pop_joint();
                return true;
            }
            this.merge.flush();
            if this.merge.next().is_some() {
                return true;
            }
            this.polled.pop_front();
            let more = !this.polled.is_empty();
            self.nics[queue].unmask(now);
            self.note_card();
            if more && !self.begin_poll(core, now) {
                return false;
            }
        }
        true
    }

    /// Begins to handle a packet that frames have joined to; false if there is none.
    fn begin_packet(&mut self, core: usize, now: Time) -> bool {
        let this = &mut self.cores[core];
        let Some(packet) = this.merge.next() else {
            return false;
        };
        let carries = packet.frames.iter().any(|frame| frame.payload_bytes > 0);
        let cost = self.config.softirq_cost(carries);
        let spent = self.config.merging.frame_cost();
        this.start(now, Op::Packet, cost - spent.min(cost));
        true
    }

    /// A socket's lock is released, or had: softirqs that are raised run first (local_bh_enable,
    /// kernel/softirq.c).
    #[inline]
    pub(super) fn run_raised(&mut self, core: usize) {
        let soft = &mut self.cores[core].soft;
        soft.returned |= soft.raised && !soft.running;
    }

    /// All is done: interrupts are wanted again.
    fn end_softirq(&mut self, core: usize, now: Time) {
        self.account_daemon(core, now);
        let soft = &mut self.cores[core].soft;
        soft.running = false;
        soft.raised = false;
        self.block(core);
        if self.cores[core].task == Some(core) {
            self.cores[core].task = None;
        }
    }

    /// Too many passes in a row: ksoftirqd goes on, when the scheduler lets it.
    fn leave_to_daemon(&mut self, core: usize, now: Time) {
        self.account_daemon(core, now);
        self.cores[core].soft.running = false;
        if self.tasks[core].state == State::Blocked {
            self.tasks[core].state = State::Runnable;
            self.cores[core].wanting += 1;
            let current = self.cores[core].task;
            let takes = task::place(&mut self.tasks, core, current, &self.config.scheduler);
            self.cores[core].yields |= takes;
        }
    }

    /// Another task is to have the core, or one and it has none (need_resched).
    fn needs_scheduler(&self, core: usize) -> bool {
        let this = &self.cores[core];
        this.yields || (this.task.is_none() && this.wanting > 0)
    }

    /// Softirqs that are raised are left to ksoftirqd, which has been woken (ksoftirqd_running).
    pub(super) fn left_to_daemon(&self, core: usize) -> bool {
        self.config.softirq.yields && self.tasks[core].state != State::Blocked
    }

    fn account_daemon(&mut self, core: usize, now: Time) {
        if let Some(since) = self.cores[core].soft.daemon_since.take() {
            self.tasks[core].account(now.since(since));
        }
    }

    pub(super) fn fill_backlog(&mut self, core: usize, queue: usize, frames: u32, now: Time) {
        for _ in 0..frames {
            let nic = &mut self.nics[queue];
            let Some(frame) = nic.pop() else {
                return;
            };
            nic.pop_joint();
            self.stamp(now);
            let backlog = &mut self.cores[core].backlog;
            if backlog.len() < self.config.softirq.backlog_frames as usize {
                backlog.push_back(frame);
            } else {
                self.backlog_dropped.count(frame.payload_bytes.into());
                self.lost.push_back(Effect::BacklogFull(frame));
            }
        }
    }

    fn stamp(&mut self, now: Time) {
        if self.seen.len() < self.seen_wanted {
            self.seen.push(now);
        }
    }
}
