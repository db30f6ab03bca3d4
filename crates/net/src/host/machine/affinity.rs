//! Which core gets an interrupt, and which a task that wakes.
//!
//! Models irqbalance (a period, after which each queue's interrupts go to a core that was least busy) and where
//! the scheduler wakes a task: its core, or another that is idle; with interrupts bound, the waker's if that is idle.
//! Left out: irqbalance's thresholds and its classes of interrupts, caches and packages, moving tasks that run.

use tailback_units::{Duration, Time};

use super::core::Op;
use super::task::State;
use super::{Affinity, Machine, TaskId, task};

impl Machine {
    /// Where a task is, or would be if it were woken now.
    #[must_use]
    pub fn core_of(&self, task: TaskId) -> usize {
        let number = task.0 as usize;
        match self.tasks[number].state {
            State::Blocked => self.wakes_at_core(number),
            _ => self.tasks[number].core,
        }
    }

    /// When a task's core ticks next. Cores tick apart by half a tick over their number, as in 2.6.24's
    /// tick_setup_sched_timer; slices are counted as if all ticked at once.
    #[must_use]
    pub fn next_tick_of(&self, now: Time, task: TaskId) -> Time {
        let tick = self.tick.as_ps();
        let late = tick / 2 / self.cores.len() as u64 * self.core_of(task) as u64;
        Time::from_ps((now.as_ps() + tick - late) / tick * tick + late)
    }

    /// The task that has just begun a call lets another have its core that is further behind; if none is it goes on
    /// (sched_yield, yield_task_fair of 2.6.24).
    pub fn yield_core(&mut self, task: TaskId) {
        let number = task.0 as usize;
        let core = self.tasks[number].core;
        let other = task::next(&self.tasks, core).filter(|other| *other != number);
        let behind = |other: usize| self.tasks[other].vruntime < self.tasks[number].vruntime;
        self.cores[core].yields |= other.is_some_and(behind);
    }

    /// irqbalance: interrupts go to the cores that were least busy since it last looked.
    pub(super) fn balance(&mut self) {
        let Affinity::Balanced { period } = self.config.interrupts.affinity else {
            return;
        };
        self.balance_at += period;
        let mut idle: Vec<usize> = (0..self.cores.len()).collect();
        idle.sort_by_key(|core| self.cores[*core].busy_lately);
        for core in &mut self.cores {
            core.busy_lately = Duration::ZERO;
        }
        for (queue, core) in self.interrupted.iter_mut().enumerate() {
            *core = idle[queue % idle.len()];
        }
    }

    /// Where a task goes that is woken now.
    fn wakes_at_core(&self, number: usize) -> usize {
        let home = self.tasks[number].core;
        let bound = matches!(self.config.interrupts.affinity, Affinity::Bound { .. });
        let runs = |core: usize| self.cores[core].wanting;
        match self.acting {
            Some(waker) if bound && runs(waker) == 0 => waker,
            _ if runs(home) == 0 => home,
            _ if bound => home,
            _ => (0..self.cores.len())
                .find(|c| runs(*c) == 0)
                .unwrap_or(home),
        }
    }

    pub(super) fn wake(&mut self, now: Time, number: usize) {
        let to = self.wakes_at_core(number);
        self.tasks[number].core = to;
        self.tasks[number].state = State::Runnable;
        self.cores[to].wanting += 1;
        self.rest(to, now);
        let current = self.cores[to].task;
        // Where nobody else wants the core there is nobody to be before or behind.
        let takes = self.cores[to].wanting > 1
            && task::place(&mut self.tasks, number, current, &self.config.scheduler);
        if takes {
            self.cores[to].yields = true;
            if matches!(self.cores[to].op, Some((Op::Task(_), _))) {
                self.stop(to, now);
                return;
            }
        }
        if self.acting == Some(to) {
            // It is about to look at what is next.
        } else if self.cores[to].op.is_none() {
            self.advance(to, now);
        } else {
            self.arm_tick(to, now);
        }
    }
}

#[cfg(test)]
#[path = "affinity_tests.rs"]
mod tests;
