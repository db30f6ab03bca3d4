//! CAKE: tins, and in each a queue for each flow with fair shares for hosts, served by turns, each under COBALT.
//!
//! Models net/sched/sch_cake.c of Linux 7.2 with the words of `tc cake`: a frame's priority chooses its tin
//! (`diffserv_mode`); in a [`tin`] a flow's hash chooses one of 1024 queues, in sets of eight so that flows meet in one late;
//! queues take turns by deficit round robin, sparse ones ahead, with a turn that is divided by the flows that a host has
//! under way (`flow_mode`); COBALT looks after each queue ([`cobalt`](super::cobalt)), and empty ones are kept in mind
//! until its state has faded. Beyond `memlimit`, and where the switch's memory has no room for a frame that comes, the
//! longest queue loses its first frame.
//! With `bandwidth` frames leave no faster ([`shaper`]), and tins have shares of it: the first in order of priority that
//! keeps to its own goes first, and targets are raised where a frame takes long. Without it tins take turns by
//! weight (`unlimited`). What a frame counts for is said by `overhead`, `mpu` and `atm_mode`; with `ingress` what is dropped
//! counts too. [`ack_filter`] drops acknowledgements that later ones say again.
//! Left out: `autorate-ingress`, `nat`, `wash`, `split-gso`, filters. Source hosts are told apart by the port that their
//! frames come in by.

mod ack_filter;
mod config;
mod shaper;
mod tin;

use tailback_units::{Bytes, Duration, Rate, Time};

pub use self::config::{AckFilter, AtmMode, CakeConfig, DiffservMode, FlowMode};

use self::config::Framing;
use self::shaper::{Pace, Shaper};
use self::tin::{Set, Tin};
use super::cobalt::Verdict;
use super::{Effects, Held};
use crate::pool::FramePool;
use crate::random::Stream;
use crate::switch::DropCause;

/// The queues of one port's class under CAKE.
#[derive(Clone, Debug)]
pub struct Cake {
    flow_mode: FlowMode,
    tin_of: [usize; 8],
    memlimit: u64,
    tins: Vec<Tin>,
    tin: usize,
    waiting: usize,
    bytes: u64,
    stream: Stream,
    shaper: Shaper,
    framing: Framing,
    ingress: bool,
    ack_filter: AckFilter,
}

impl Cake {
    /// Empty queues of frames of so many bytes at most; `stream` draws what is drawn.
    #[must_use]
    pub fn new(config: &CakeConfig, frame_bytes_max: u32, stream: Stream) -> Cake {
        let rate_bytes = config.bandwidth.map_or(0, Rate::as_bps) / 8;
        let shares = config.diffserv_mode.shares(rate_bytes);
        Cake {
            flow_mode: config.flow_mode,
            tin_of: config.diffserv_mode.tins(),
            memlimit: config.memlimit.map_or(u64::MAX, Bytes::get),
            tins: shares
                .into_iter()
                .map(|share| Tin::new(config, share, frame_bytes_max))
                .collect(),
            tin: 0,
            waiting: 0,
            bytes: 0,
            stream,
            shaper: Shaper::new(config.bandwidth.map(|_| Pace::new(rate_bytes))),
            framing: Framing::new(config),
            ingress: config.ingress,
            ack_filter: config.ack_filter,
        }
    }

    /// What is drawn from here on is drawn from `stream`.
    pub(super) fn reseed(&mut self, stream: Stream) {
        self.stream = stream;
    }

    /// When the next frame may leave, if any waits.
    #[must_use]
    pub fn held_until(&self) -> Time {
        if self.waiting == 0 {
            return Time::ZERO;
        }
        self.shaper.held_until()
    }

    /// A frame joins its flow's queue; beyond the limit the longest loses frames.
    pub fn enqueue(&mut self, now: Time, held: Held, frames: &FramePool, effects: &mut Effects) {
        let mode = self.flow_mode;
        if self.waiting == 0 {
            self.shaper.begin(now);
        }
        let tin = &mut self.tins[self.tin_of[usize::from(held.frame.class & 7)]];
        let at = tin.flow_of(&held, mode);
        let bytes = u64::from(held.frame.frame_bytes);
        if tin.bytes == 0 {
            tin.next = tin.next.max(now);
        }
        let flow = &mut tin.flows[at];
        flow.queue.push_back(held);
        flow.bytes += bytes;
        tin.bytes += bytes;
        self.bytes += bytes;
        self.waiting += 1;
        if let Some(place) = ack_filter::said_again(self.ack_filter, &flow.queue, frames)
            && let Some(acknowledgement) = flow.queue.remove(place)
        {
            let bytes = u64::from(acknowledgement.frame.frame_bytes);
            flow.bytes -= bytes;
            tin.bytes -= bytes;
            self.bytes -= bytes;
            self.waiting -= 1;
            if self.ingress {
                let counted = self
                    .framing
                    .counted_bytes(acknowledgement.frame.frame_bytes);
                tin.charge_rate(now, counted);
                self.shaper.charge(counted, true);
            }
            effects.drop(acknowledgement, DropCause::AckFilter);
        }
        match tin.flows[at].set {
            Set::None | Set::Decaying => {
                if tin.flows[at].set == Set::Decaying {
                    tin.decaying.retain(|other| *other != at);
                }
                tin.flows[at].set = Set::Sparse;
                tin.sparse += 1;
                tin.new.push_back(at);
                tin.flows[at].deficit = tin.turn_of(at, mode, &mut self.stream);
            }
            Set::SparseWait => {
                tin.flows[at].set = Set::Bulk;
                tin.sparse -= 1;
                tin.bulk += 1;
                tin.count_bulk(at, mode, true);
            }
            Set::Sparse | Set::Bulk => {}
        }
        while self.bytes > self.memlimit
            && self.drop_from_longest(now, DropCause::QueueLimit, effects)
        {}
    }

    /// The longest queue loses its first frame; says whether there was any.
    pub(super) fn drop_from_longest(
        &mut self,
        now: Time,
        cause: DropCause,
        effects: &mut Effects,
    ) -> bool {
        // What is not empty is in one of these lists.
        let queues = self.tins.iter().enumerate().flat_map(|(place, tin)| {
            let listed = tin.new.iter().chain(&tin.old);
            listed.map(move |at| (tin.flows[*at].bytes, place, *at))
        });
        let Some((_, tin, at)) = queues.max() else {
            return false;
        };
        let tin = &mut self.tins[tin];
        let flow = &mut tin.flows[at];
        let Some(held) = flow.queue.pop_front() else {
            return false;
        };
        let bytes = u64::from(held.frame.frame_bytes);
        flow.bytes -= bytes;
        flow.law.overflowed(&tin.settings, now);
        tin.bytes -= bytes;
        self.bytes -= bytes;
        self.waiting -= 1;
        if self.ingress {
            let counted = self.framing.counted_bytes(held.frame.frame_bytes);
            tin.charge_rate(now, counted);
            self.shaper.charge(counted, true);
        }
        effects.drop(held, cause);
        true
    }

    /// The next frame, if any is left that need not be held back.
    pub fn dequeue(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        // One queue that only fades is looked at before any that waits.
        let mut looks_at_fading = true;
        while self.waiting > 0 && self.held_until() <= now {
            self.choose_tin(now)?;
            while let Some(at) = self.next_flow(&mut looks_at_fading) {
                if let Some(held) = self.serve(at, now, frames, effects) {
                    return Some(held);
                }
                if self.tins[self.tin].flows[at].set == Set::None
                    || self.tins[self.tin].flows[at].set == Set::Decaying
                {
                    break;
                }
            }
        }
        None
    }

    /// Whose turn it is among the tins.
    fn choose_tin(&mut self, now: Time) -> Option<()> {
        if self.shaper.is_on() {
            let mut best: Option<(usize, Duration)> = None;
            for (at, tin) in self
                .tins
                .iter()
                .enumerate()
                .filter(|(_, tin)| tin.has_any())
            {
                // A tin that keeps to its part goes before those in front of it, else the earliest to be due.
                let wait = tin.next.since(now.min(tin.next));
                let behind = wait.is_zero();
                if behind || best.is_none_or(|(_, least)| wait <= least) {
                    best = Some((at, wait));
                }
            }
            self.tin = best?.0;
            return Some(());
        }
        if !self.tins.iter().any(Tin::has_any) {
            return None;
        }
        let count = self.tins.len();
        loop {
            let tin = &mut self.tins[self.tin];
            if tin.deficit >= 0 && tin.has_any() {
                return Some(());
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.turn;
            }
            self.tin = (self.tin + 1) % count;
        }
    }

    /// The queue whose turn it is in the tin; it leaves its list.
    fn next_flow(&mut self, looks_at_fading: &mut bool) -> Option<usize> {
        let tin = &mut self.tins[self.tin];
        let fading = if std::mem::take(looks_at_fading) {
            tin.decaying.pop_front()
        } else {
            None
        };
        let at = fading
            .or_else(|| tin.new.pop_front())
            .or_else(|| tin.old.pop_front())
            .or_else(|| tin.decaying.pop_front())?;
        Some(at)
    }

    /// A queue has its turn, or waits for the next: a frame, if it gives one.
    fn serve(
        &mut self,
        at: usize,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        let mode = self.flow_mode;
        let tin = &mut self.tins[self.tin];
        let flow = &mut tin.flows[at];
        if flow.deficit <= 0 {
            if flow.set == Set::Sparse {
                if flow.queue.is_empty() {
                    flow.set = Set::SparseWait;
                } else {
                    flow.set = Set::Bulk;
                    tin.sparse -= 1;
                    tin.bulk += 1;
                    tin.count_bulk(at, mode, true);
                }
            }
            let turn = tin.turn_of(at, mode, &mut self.stream);
            tin.flows[at].deficit += turn;
            tin.old.push_back(at);
            return None;
        }
        loop {
            let flow = &mut tin.flows[at];
            let Some(mut held) = flow.queue.pop_front() else {
                tin.run_empty(at, mode, now);
                return None;
            };
            let bytes = u64::from(held.frame.frame_bytes);
            flow.bytes -= bytes;
            tin.bytes -= bytes;
            self.bytes -= bytes;
            self.waiting -= 1;
            let books = (&mut *frames, &mut *effects);
            let settings = tin.settings.among(if self.ingress { tin.bulk } else { 0 });
            let law = &mut flow.law;
            let verdict = law.judge(&settings, now, &mut held, books, &mut self.stream);
            // The last may be marked, and is not dropped.
            let is_dropped = verdict == Verdict::Drops && !flow.queue.is_empty();
            if is_dropped && !self.ingress {
                effects.drop(held, DropCause::Early);
                continue;
            }
            let counted = self.framing.counted_bytes(held.frame.frame_bytes);
            flow.deficit -= counted as i64;
            match flow.set {
                Set::Sparse => tin.new.push_front(at),
                Set::SparseWait | Set::Bulk => tin.old.push_front(at),
                Set::None | Set::Decaying => {}
            }
            tin.charge(now, counted);
            self.shaper.charge(counted, is_dropped);
            if is_dropped {
                effects.drop(held, DropCause::Early);
                return None;
            }
            return Some(held);
        }
    }

    /// A frame that is among the next to be looked at.
    #[must_use]
    pub fn first(&self) -> Option<&Held> {
        let tins = self.tins[self.tin..].iter().chain(&self.tins[..self.tin]);
        tins.flat_map(|tin| tin.new.iter().chain(&tin.old).map(|at| &tin.flows[*at]))
            .find_map(|flow| flow.queue.front())
    }

    /// Frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Held> {
        let flows = self.tins.iter().flat_map(|tin| &tin.flows);
        flows.flat_map(|flow| &flow.queue)
    }
}

#[cfg(test)]
#[path = "cake_tests.rs"]
mod tests;
