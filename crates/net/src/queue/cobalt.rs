//! COBALT, the queue management of CAKE, with SCE's ramp.
//!
//! Models the behaviour of CAKE's COBALT (net/sched/sch_cake.c of Linux 7.2) and of the ramp that the SCE
//! kernel adds to it (chromi/sce, same file), for one queue. CoDel's law with one difference: it comes
//! down as it went up, signal by signal, once the delay is below `target`. It sets CE where it can and
//! drops otherwise, never the last frame; the first signal of all comes without an interval's delay, as does the first
//! after an idle interval. BLUE beside it drops with a probability that rises by 1/256
//! when the queue overflows and falls by 1/4096 when it runs empty, each at most once in `target`. The
//! ramp marks ECT(0) as SCE with a probability that rises from nothing at half of `target`: to
//! 1/`sce` at `target` and to 1 at twice that; `sce` = 1 marks all from `target` on, and beyond 1024
//! nothing below it (CAKE's `sce-single`).
//! Left out: flow isolation and tins ([`cake`](super::cake) has them), shaping, the law's floor of four frames' line
//! time, which matters below 10 Mb/s.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Time};

use super::control_law::InverseRoot;
use super::{Effects, Held};
use crate::marking::Mark;
use crate::pool::FramePool;
use crate::random::Stream;
use crate::switch::DropCause;

/// BLUE's step up, of 2^32 (CAKE: 1/256).
const P_INC: u64 = 1 << 24;
/// BLUE's step down, of 2^32 (CAKE: 1/4096).
const P_DEC: u64 = 1 << 20;
/// Certainty, of BLUE's probability and the ramp's.
const ONE: u64 = 1 << 32;
/// A divisor beyond this marks nothing below the target (chromi/sce, `sce-single`).
const SINGLE_BEYOND: u32 = 1024;

/// Parameters of COBALT, by the names of `tc cake` where it has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CobaltConfig {
    /// Bytes that may wait; beyond, the frame at the head is dropped.
    pub memlimit: Bytes,
    /// Delay that is acceptable.
    pub target: Duration,
    /// How long it may be exceeded: about the longest round trip.
    pub interval: Duration,
    /// SCE's ramp: its divisor (`sce` is 1, `sce-thresh n` is n); 0: no ramp.
    #[schemars(range(min = 0, max = 65_535))]
    pub sce: u32,
}

impl Default for CobaltConfig {
    /// The defaults of `tc cake` at 100 ms (`internet`), and its least memory.
    fn default() -> CobaltConfig {
        CobaltConfig {
            memlimit: Bytes::new(4 << 20),
            target: Duration::from_ms(5),
            interval: Duration::from_ms(100),
            sce: 0,
        }
    }
}

/// What the law needs to know, whoever asks it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) target: Duration,
    pub(super) interval: Duration,
    /// No delay up to this is too long, whatever the target.
    pub(super) floor: Duration,
}

impl Settings {
    /// The same where `bulk` queues take turns and what is dropped counts: no delay of two frames of each is too long
    /// (cobalt_should_drop's `bulk_flows`). The floor is that of four frames.
    pub(super) fn among(mut self, bulk: u32) -> Settings {
        self.floor = self.floor.max(self.floor * u64::from(bulk) / 2);
        self
    }
}

/// The state of CoDel's law and of BLUE.
#[derive(Clone, Debug, Default)]
pub(super) struct Law {
    count: u32,
    /// Of nothing at first, so that the first delay that is too long has its signal at once.
    root: InverseRoot,
    dropping: bool,
    next: Time,
    blue: u64,
    blue_moved: Option<Time>,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Goes,
    /// It has been marked.
    Marked,
    Drops,
}

impl Law {
    /// What becomes of a frame that is about to leave.
    pub(super) fn judge(
        &mut self,
        settings: &Settings,
        now: Time,
        held: &mut Held,
        (frames, effects): (&mut FramePool, &mut Effects),
        stream: &mut Stream,
    ) -> Verdict {
        let sojourn = now.since(held.since);
        let over = sojourn > settings.target && sojourn > settings.floor;
        let was_due = self.count > 0 && now >= self.next;
        // When the next signal was due before this frame, or is after one.
        let mut due = self.next;
        if over && !self.dropping {
            self.next = now + self.root.of(settings.interval);
        }
        self.dropping = over;
        if over {
            self.count = self.count.max(1);
        }
        let mut verdict = Verdict::Goes;
        if was_due && over {
            verdict = if effects.mark(held, frames, Mark::Ce) {
                Verdict::Marked
            } else {
                Verdict::Drops
            };
            self.count_to(settings, self.count.saturating_add(1));
            due = self.next;
        } else if was_due {
            while self.count > 0 && now >= self.next {
                self.count_to(settings, self.count - 1);
            }
            due = self.next;
        }
        if verdict != Verdict::Drops && self.blue > 0 && stream.next_u64() >> 32 < self.blue {
            verdict = Verdict::Drops;
        }
        // The time of the next signal serves as the end of an idle time too.
        if self.count == 0 {
            self.next = now + settings.interval;
        } else if now > due && verdict != Verdict::Drops {
            self.next = now;
        }
        verdict
    }

    /// The queue was too long, and lost a frame.
    pub(super) fn overflowed(&mut self, settings: &Settings, now: Time) {
        if self.blue_may_move(settings, now) {
            self.blue = (self.blue + P_INC).min(ONE);
        }
        self.dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// The queue has been served and is empty.
    pub(super) fn run_empty(&mut self, settings: &Settings, now: Time) {
        if self.blue > 0 && self.blue_may_move(settings, now) {
            self.blue = self.blue.saturating_sub(P_DEC);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.next {
            self.count_to(settings, self.count - 1);
        }
    }

    /// Nothing is left of what it has seen.
    pub(super) fn is_at_rest(&self, now: Time) -> bool {
        self.blue == 0 && self.count == 0 && now >= self.next
    }

    /// The count moves, and the next signal by a gap.
    fn count_to(&mut self, settings: &Settings, count: u32) {
        self.count = count;
        self.root.step_or_look_up(count);
        self.next += self.root.of(settings.interval);
    }

    /// BLUE moves at most once in `target`; if it may now, it does.
    fn blue_may_move(&mut self, settings: &Settings, now: Time) -> bool {
        let may = self
            .blue_moved
            .is_none_or(|at| now.since(at) > settings.target);
        if may {
            self.blue_moved = Some(now);
        }
        may
    }
}

/// A queue under COBALT.
#[derive(Clone, Debug)]
pub struct Cobalt {
    config: CobaltConfig,
    settings: Settings,
    queue: VecDeque<Held>,
    bytes: u64,
    law: Law,
    stream: Stream,
}

impl Cobalt {
    /// An empty queue; `stream` draws what is drawn.
    #[must_use]
    pub fn new(config: &CobaltConfig, stream: Stream) -> Cobalt {
        Cobalt {
            config: config.clone(),
            settings: Settings {
                target: config.target,
                interval: config.interval,
                floor: Duration::ZERO,
            },
            queue: VecDeque::new(),
            bytes: 0,
            law: Law::default(),
            stream,
        }
    }

    /// What is drawn from here on is drawn from `stream`.
    pub(super) fn reseed(&mut self, stream: Stream) {
        self.stream = stream;
    }

    /// A frame joins the queue; if there are too many, the first are dropped.
    pub fn enqueue(&mut self, now: Time, held: Held, effects: &mut Effects) {
        self.bytes += u64::from(held.frame.frame_bytes);
        self.queue.push_back(held);
        while self.bytes > self.config.memlimit.get()
            && let Some(held) = self.queue.pop_front()
        {
            self.bytes -= u64::from(held.frame.frame_bytes);
            effects.drop(held, DropCause::QueueLimit);
            self.law.overflowed(&self.settings, now);
        }
    }

    /// The next frame, if any is left.
    pub fn dequeue(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        loop {
            let Some(mut held) = self.queue.pop_front() else {
                self.law.run_empty(&self.settings, now);
                return None;
            };
            self.bytes -= u64::from(held.frame.frame_bytes);
            let is_last = self.queue.is_empty();
            if self.drops(now, &mut held, frames, effects) && !is_last {
                effects.drop(held, DropCause::Early);
                continue;
            }
            return Some(held);
        }
    }

    /// The frame at the head.
    #[must_use]
    pub fn first(&self) -> Option<&Held> {
        self.queue.front()
    }

    /// Frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Held> {
        self.queue.iter()
    }

    /// Whether a frame is to be dropped; it may be marked instead.
    fn drops(
        &mut self,
        now: Time,
        held: &mut Held,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> bool {
        let (law, stream) = (&mut self.law, &mut self.stream);
        let verdict = law.judge(&self.settings, now, held, (frames, effects), stream);
        let sojourn = now.since(held.since);
        if verdict == Verdict::Goes && self.stream.next_u64() >> 32 < self.ramp(sojourn) {
            effects.mark(held, frames, Mark::Sce);
        }
        verdict == Verdict::Drops
    }

    /// The probability of SCE's mark after such a delay, of 2^32.
    fn ramp(&self, sojourn: Duration) -> u64 {
        let (target, sojourn) = (
            u128::from(self.config.target.as_ps().max(2)),
            u128::from(sojourn.as_ps()),
        );
        let one = u128::from(ONE);
        let half = target / 2;
        let below = match self.config.sce {
            0 => return 0,
            divisor if divisor > SINGLE_BEYOND => 0,
            divisor => one / u128::from(divisor),
        };
        let share = if sojourn <= half {
            0
        } else if sojourn <= target {
            below * (sojourn - half) / half
        } else {
            below + (one - below) * (sojourn - target) / target
        };
        share.min(one) as u64
    }
}

#[cfg(test)]
#[path = "cobalt_tests.rs"]
mod tests;
