//! DualPI2: a queue of little delay for scalable senders beside one for all others, under one control.
//!
//! Models RFC 9332's coupled AQM with the parameters and defaults of Linux `tc dualpi2`
//! (net/sched/sch_dualpi2.c of 7.2). Packets with ECT(1) or CE wait in the L queue, others in the C
//! queue. A PI controller moves a probability p by the longer of both heads' delays; in the C queue
//! frames are marked or dropped with p squared, in the L queue marked with `coupling_factor` times p,
//! and all that have waited longer than `step_thresh`. So a scalable sender (rate like 1/p) and a Reno
//! (rate like 1/√p) come to like windows. The L queue goes first but for `classic_protection` percent
//! of the bytes while both wait. Once the L queue's probability would be beyond certainty frames are
//! dropped there too, if `overload` says so. Nothing is done with less than two frames of the link's MTU
//! waiting.
//! Left out: `memory_limit` (the switch's memory is the limit), filters, splitting of offloaded frames
//! (frames here are what is on the wire), a step threshold in packets.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_tcp::Ecn;
use tailback_units::{Duration, Time};

use super::{Effects, Held};
use crate::marking::Mark;
use crate::pool::FramePool;
use crate::random::Stream;
use crate::switch::DropCause;

/// Certainty, in the probability's fixed point.
const ONE: i64 = 1 << 32;
/// `alpha` and `beta` are in 256ths of a Hz as `tc` takes them.
const WEIGHT_PARTS: f64 = 256.0;
/// Gains are for so much of delay (ALPHA_BETA_GRANULARITY: 64 ns).
const GAIN_PS: i128 = 64_000;
/// Weights of both queues come to so much.
const PERCENT: i64 = 100;

/// Parameters of DualPI2, by the names of `tc dualpi2`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dualpi2Config {
    /// Frames that may wait in both queues; one more is dropped.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub limit: u32,
    /// Delay of the C queue that is aimed at.
    pub target: Duration,
    /// Time between two changes of the probability.
    pub tupdate: Duration,
    /// Weight of the delay's excess, Hz; 0.1 × `tupdate` / RTT² (RFC 9332 appendix A.1), at most 2^23 - 1 as in Linux
    /// (ALPHA_BETA_MAX).
    #[schemars(range(min = 0.0, max = 8_388_607.0))]
    pub alpha: f64,
    /// Weight of the delay's growth, Hz; 0.3 / RTT, at most as much.
    #[schemars(range(min = 0.0, max = 8_388_607.0))]
    pub beta: f64,
    /// Frames of the L queue that have waited longer are marked.
    pub step_thresh: Duration,
    /// Fewest frames in the L queue for that.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub min_qlen_step: u32,
    /// The L queue's probability over the controller's.
    #[schemars(range(min = 1, max = 255))]
    pub coupling_factor: u8,
    /// What happens once the L queue's probability would be beyond certainty.
    pub overload: Overload,
    /// When frames are judged.
    pub drop: DropAt,
    /// Least share of the bytes for the C queue while both wait, percent.
    #[schemars(range(min = 0, max = 100))]
    pub classic_protection: u8,
    /// Which packets wait in the L queue.
    pub ecn: L4sMask,
}

/// What happens once the L queue's probability would be beyond certainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overload {
    /// Frames are dropped in both queues as in the C queue.
    DropOnOverload,
    /// The L queue's are only marked, until the limit is reached.
    Overflow,
}

/// When frames are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DropAt {
    /// As they join.
    Enqueue,
    /// As they leave.
    Dequeue,
}

/// Which packets wait in the L queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum L4sMask {
    /// ECT(1) and CE (RFC 9331).
    L4sEct,
    /// All that is ECN-capable.
    AnyEct,
}

impl Default for Dualpi2Config {
    /// The defaults of `tc dualpi2` (dualpi2_reset_default).
    fn default() -> Dualpi2Config {
        Dualpi2Config {
            limit: 10_000,
            target: Duration::from_ms(15),
            tupdate: Duration::from_ms(16),
            alpha: 41.0 / 256.0,
            beta: 819.0 / 256.0,
            step_thresh: Duration::from_ms(1),
            min_qlen_step: 0,
            coupling_factor: 2,
            overload: Overload::DropOnOverload,
            drop: DropAt::Dequeue,
            classic_protection: 10,
            ecn: L4sMask::L4sEct,
        }
    }
}

/// A frame that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    held: Held,
    /// Its delay may be held against it.
    step: bool,
}

/// Both queues.
#[derive(Clone, Debug)]
pub struct Dualpi2 {
    config: Dualpi2Config,
    /// Gains of the delay's excess and growth.
    alpha: i64,
    beta: i64,
    /// The longest frame.
    frame_bytes_max: u32,
    low: VecDeque<Waiting>,
    classic: VecDeque<Waiting>,
    bytes: u64,
    /// Below or at zero it is the L queue's turn.
    credit: i64,
    probability: i64,
    delay_before: Duration,
    next_update: Time,
    stream: Stream,
}

impl Dualpi2 {
    /// Empty queues of frames of so many bytes at most; `stream` draws what is drawn.
    #[must_use]
    pub fn new(config: &Dualpi2Config, frame_bytes_max: u32, stream: Stream) -> Dualpi2 {
        Dualpi2 {
            frame_bytes_max,
            low: VecDeque::new(),
            classic: VecDeque::new(),
            bytes: 0,
            credit: first_credit(config, frame_bytes_max),
            probability: 0,
            delay_before: Duration::ZERO,
            next_update: Time::ZERO + config.tupdate,
            stream,
            alpha: gain(config.alpha),
            beta: gain(config.beta),
            config: config.clone(),
        }
    }

    /// What is drawn from here on is drawn from `stream`.
    pub(super) fn reseed(&mut self, stream: Stream) {
        self.stream = stream;
    }

    /// A frame joins its queue, or is dropped.
    pub fn enqueue(
        &mut self,
        now: Time,
        mut held: Held,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) {
        self.update_until(now);
        let ecn = frames.header(held.frame.frame).ecn;
        let is_low = match self.config.ecn {
            L4sMask::L4sEct => matches!(ecn, Ecn::Ect1 | Ecn::Ce),
            L4sMask::AnyEct => ecn != Ecn::NotEct,
        };
        let full = self.low.len() + self.classic.len() >= self.config.limit as usize;
        let early = self.config.drop == DropAt::Enqueue;
        if full {
            effects.drop(held, DropCause::QueueLimit);
            return;
        }
        if early && self.drops(&mut held, is_low, frames, effects) {
            effects.drop(held, DropCause::Early);
            return;
        }
        self.bytes += u64::from(held.frame.frame_bytes);
        let step = is_low && self.low.len() >= self.config.min_qlen_step as usize;
        let queue = if is_low {
            &mut self.low
        } else {
            &mut self.classic
        };
        queue.push_back(Waiting { held, step });
    }

    /// The next frame, if any is left.
    pub fn dequeue(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        loop {
            match self.judge(now, frames, effects)? {
                Ok(held) => return Some(held),
                Err(held) => effects.drop(held, DropCause::Early),
            }
        }
    }

    /// The next frame is taken out, if any is left: it leaves, or is to be dropped.
    pub(super) fn judge(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Result<Held, Held>> {
        self.update_until(now);
        let is_low = self.is_low_next()?;
        let queue = if is_low {
            &mut self.low
        } else {
            &mut self.classic
        };
        let Waiting { mut held, step } = queue.pop_front()?;
        let bytes = u64::from(held.frame.frame_bytes);
        self.bytes -= bytes;
        let late = self.config.drop == DropAt::Dequeue;
        if late && self.drops(&mut held, is_low, frames, effects) {
            return Some(Err(held));
        }
        if step && now.since(held.since) > self.config.step_thresh {
            effects.mark(&mut held, frames, Mark::Ce);
        }
        let weight = i64::from(self.config.classic_protection);
        if is_low && !self.classic.is_empty() {
            self.credit += weight * bytes as i64;
        } else if !is_low && !self.low.is_empty() {
            self.credit -= (PERCENT - weight) * bytes as i64;
        }
        Some(Ok(held))
    }

    /// The frame at the head of the queue whose turn it is.
    #[must_use]
    pub fn first(&self) -> Option<&Held> {
        let queue = if self.low_is_next() {
            &self.low
        } else {
            &self.classic
        };
        queue.front().map(|waiting| &waiting.held)
    }

    /// Frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Held> {
        self.low.iter().chain(&self.classic).map(|one| &one.held)
    }

    fn low_is_next(&self) -> bool {
        !self.low.is_empty() && (self.classic.is_empty() || self.credit <= 0)
    }

    /// Whether it is the L queue's turn; none if both are empty, and the credit starts anew.
    fn is_low_next(&mut self) -> Option<bool> {
        if self.low.is_empty() && self.classic.is_empty() {
            self.credit = first_credit(&self.config, self.frame_bytes_max);
            return None;
        }
        Some(self.low_is_next())
    }

    /// Whether a frame is to be dropped; it may be marked instead.
    fn drops(
        &mut self,
        held: &mut Held,
        is_low: bool,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> bool {
        if self.bytes < 2 * u64::from(self.frame_bytes_max) {
            return false;
        }
        let low_probability = self.probability * i64::from(self.config.coupling_factor);
        let overload = low_probability > ONE;
        if !is_low {
            let acts = self.roll(self.probability) && self.roll(self.probability);
            return acts && (overload || !effects.mark(held, frames, Mark::Ce));
        }
        if overload {
            let may_drop = self.config.overload == Overload::DropOnOverload;
            if may_drop && self.roll(self.probability) && self.roll(self.probability) {
                return true;
            }
            effects.mark(held, frames, Mark::Ce);
        } else if self.roll(low_probability) {
            return !effects.mark(held, frames, Mark::Ce);
        }
        false
    }

    fn roll(&mut self, probability: i64) -> bool {
        ((self.stream.next_u64() >> 32) as i64) < probability
    }

    /// Makes good the changes of the probability that have been due since the last look: the heads that
    /// they go by have not changed.
    fn update_until(&mut self, now: Time) {
        let step = self.config.tupdate;
        while self.next_update <= now && !step.is_zero() {
            self.update(self.next_update);
            self.next_update += step;
            let empty = self.low.is_empty() && self.classic.is_empty();
            if empty && self.probability == 0 && self.delay_before.is_zero() {
                // Nothing changes any more.
                if self.next_update <= now {
                    let due = now.since(self.next_update).as_ps() / step.as_ps() + 1;
                    self.next_update += step * due;
                }
            }
        }
    }

    fn update(&mut self, at: Time) {
        let delay = |queue: &VecDeque<Waiting>| {
            queue
                .front()
                .map_or(Duration::ZERO, |one| at.since(one.held.since))
        };
        let delay = delay(&self.low).max(delay(&self.classic));
        let before = std::mem::replace(&mut self.delay_before, delay);
        let weighted = |gain: i64, from: Duration| {
            i128::from(gain) * (i128::from(delay.as_ps()) - i128::from(from.as_ps()))
        };
        let change = weighted(self.alpha, self.config.target) + weighted(self.beta, before);
        let change = change / GAIN_PS;
        let most = match self.config.overload {
            Overload::DropOnOverload => ONE,
            Overload::Overflow => ONE / i64::from(self.config.coupling_factor.max(1)),
        };
        let moved = i128::from(self.probability) + change;
        self.probability = moved.clamp(0, i128::from(most)) as i64;
    }
}

/// A weight in parts of certainty for `GAIN_PS`: a whole number, as in Linux (dualpi2_scale_alpha_beta), where the default of
/// 41/256 Hz is 44 for 44.02.
fn gain(weight_hz: f64) -> i64 {
    let parts = i128::from((weight_hz * WEIGHT_PARTS) as i64);
    (parts * i128::from(ONE - 1) / 4 / 1_000_000_000) as i64
}

/// The credit of idle queues: the heavier queue goes first.
fn first_credit(config: &Dualpi2Config, frame_bytes_max: u32) -> i64 {
    let classic = i64::from(config.classic_protection);
    i64::from(frame_bytes_max) * (classic - (PERCENT - classic))
}

#[cfg(test)]
#[path = "dualpi2_tests.rs"]
mod tests;
