//! When a machine is to be looked at: before nobody gets anything of it.
//!
//! Somebody does when a packet has been handled or a call is done. Whatever else is due may be done later, as
//! if at its time, so all that matters is a time before which neither can be: the earliest end of such work on
//! any core, what the card's next interrupt can lead to, and tasks that sleep. That time may be too early, and
//! costs a look in vain then; it must not be too late. What an interrupt stops ends later than it would have.

use tailback_units::{Duration, Time};

use super::Machine;
use super::core::Op;

/// When a core is to be seen to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    /// Something is due there.
    pub(super) due: Time,
    /// Nobody gets anything of it before.
    pub(super) acts: Time,
}

impl Due {
    /// Nothing is.
    pub(super) const NEVER: Due = Due {
        due: Time::NEVER,
        acts: Time::NEVER,
    };
}

/// The places of a word's bits, from the lowest.
#[derive(Clone, Copy)]
pub(super) struct Bits(pub(super) u64);

impl Iterator for Bits {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit as usize)
    }
}

/// What is due first of all cores.
pub(super) struct First {
    pub(super) due: Time,
    /// Nobody gets anything of any core before.
    pub(super) acts: Time,
    /// The first core of which something is due then.
    pub(super) core: usize,
}

impl Machine {
    /// What is due first of all cores.
    #[inline(always)]
    pub(super) fn first(&self) -> First {
        let mut first = First {
            due: Time::NEVER,
            acts: Time::NEVER,
            core: 0,
        };
        for core in Bits(self.live) {
            let Due { due, acts } = self.dues[core];
            if due < first.due {
                (first.due, first.core) = (due, core);
            }
            first.acts = first.acts.min(acts);
        }
        first
    }

    /// When something is next due at a core, and when anybody else can get anything of it.
    #[inline(always)]
    pub(super) fn note_due(&mut self, core: usize) {
        let this = &self.cores[core];
        let tick_at = this.tick_at;
        let (due, acts) = match this.op {
            None => (tick_at, tick_at),
            Some((Op::Frame | Op::Task(_), ends)) => {
                let due = ends.min(tick_at);
                (due, due)
            }
            // Nothing follows: whoever needs the core looks whether it still rests.
            Some((Op::Rest, _)) if self.cores[core].wanting == 0 => (tick_at, tick_at),
            Some((_, ends)) => (ends.min(tick_at), self.acts_by(core).min(tick_at)),
        };
        self.dues[core] = Due { due, acts };
        let bit = 1 << core;
        if due == Time::NEVER {
            self.live &= !bit;
        } else {
            self.live |= bit;
        }
    }

    /// No packet or call is done at a core before then, whatever the card and other cores do.
    #[inline(never)]
    fn acts_by(&self, core: usize) -> Time {
        let this = &self.cores[core];
        let Some((op, ends)) = this.op else {
            return Time::NEVER;
        };
        match op {
            // Nothing follows.
            Op::Completions
                if self.cores[core].wanting == 0 && !this.soft.raised && this.interrupts == 0 =>
            {
                Time::NEVER
            }
            // The softirq is next, and its first frame.
            Op::Interrupt(queue, _)
                if !this.soft.running && this.stopped.is_none() && !self.is_closed(core) =>
            {
                ends + self.least_of_softirq(queue as usize)
            }
            _ => ends,
        }
    }

    /// A core's task has softirqs disabled.
    fn is_closed(&self, core: usize) -> bool {
        let task = self.cores[core].task;
        task.is_some_and(|number| self.tasks[number].closed)
    }

    /// What the first frame costs at least that a softirq handles after an interrupt of a queue.
    fn least_of_softirq(&self, queue: usize) -> Duration {
        if self.nics.len() == 1
            && self.config.softirq.napi
            && self.config.merging.is_off()
            && let Some(first) = self.nics[queue].first()
        {
            return self.softirq_costs[usize::from(first.payload_bytes > 0)];
        }
        self.softirq_least
    }

    /// When a receive interrupt that comes at `at` is handled and the first frame of it can be, at the
    /// earliest. What it stops is done later than without it.
    fn acts_after_interrupt(&self, at: Time, queue: usize) -> Time {
        let costs = &self.config.costs;
        let handled = if self.config.softirq.napi {
            costs.interrupt
        } else {
            costs.interrupt + costs.handler_frame
        };
        at + handled + self.least_of_softirq(queue)
    }

    /// The same of an interrupt for packets that have left: never, if no softirq is left that it could
    /// set going.
    fn acts_after_completions(&self, at: Time) -> Time {
        if self.balance_at > at && !self.cores[self.interrupted[0]].soft.raised {
            return Time::NEVER;
        }
        at + self.config.costs.interrupt
    }

    /// Nobody gets anything because of the card's interrupts before then.
    pub(super) fn card_acts(&self) -> Time {
        let nics = self.nics.iter().enumerate();
        let received = nics
            .filter(|(_, nic)| nic.interrupt_at != Time::NEVER)
            .map(|(queue, nic)| self.acts_after_interrupt(nic.interrupt_at, queue))
            .min()
            .unwrap_or(Time::NEVER);
        match self.nics[0].complete_at {
            Time::NEVER => received,
            at => received.min(self.acts_after_completions(at)),
        }
    }

    /// Nobody gets anything because of tasks that begin a call later before then.
    pub(super) fn sleepers_act(&self) -> Time {
        let acts = self.asleep.iter().map(|(at, task, cost)| {
            let home = self.tasks[task.0 as usize].core;
            if self.cores[home].wanting == 0 {
                *at + self.config.costs.wakeup + *cost
            } else {
                *at
            }
        });
        acts.min().unwrap_or(Time::NEVER)
    }
}
