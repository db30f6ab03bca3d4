//! PIE: drops or marks on arrival, with a probability that a controller moves by the delay.
//!
//! Models RFC 8033 with the parameters and defaults of Linux `tc pie` (net/sched/sch_pie.c of 7.2): every
//! `tupdate` the probability rises by `alpha` times the delay's excess over `target` and by `beta` times
//! its growth, both scaled down while the probability is small; by two percent at most once it is a
//! tenth, by two percent more beyond 250 ms; without a delay it decays by a 64th. The first `max_burst`
//! of a burst passes (a constant in Linux), as does what finds less than two frames of the link's MTU, or
//! little delay and a probability below a fifth. A frame is dropped no sooner than the probabilities since
//! the last one have come to 0.85, and at 8.5 for sure. Delay is that of the frame that left last. With `ecn` a frame that can be is marked while the
//! probability is at most a tenth.
//! Left out: `dq_rate_estimator` (off there by default), `bytemode`.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Time};

use super::{Effects, Held};
use crate::marking::Mark;
use crate::pool::FramePool;
use crate::random::Stream;
use crate::switch::DropCause;

/// Certainty, in the probability's fixed point.
const ONE: i64 = 1 << 56;
/// `alpha` and `beta` are in sixteenths (RFC 8033 section 5.2: 2 is 0.125 Hz).
const GAIN_PARTS: i128 = 16;
/// A delay beyond which the probability rises faster, ms (RFC 8033 section 5.5).
const LONG_DELAY: Duration = Duration::from_ms(250);

/// Parameters of PIE, by the names of `tc pie`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PieConfig {
    /// Frames that may wait; one more is dropped.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub limit: u32,
    /// Delay that is aimed at.
    pub target: Duration,
    /// Time between two changes of the probability.
    pub tupdate: Duration,
    /// Weight of the delay's excess, in sixteenths a second.
    #[schemars(range(min = 0, max = 32))]
    pub alpha: u32,
    /// Weight of the delay's growth, in sixteenths a second.
    #[schemars(range(min = 0, max = 32))]
    pub beta: u32,
    /// The beginning of a burst that passes, after a time without a queue (MAX_BURST, RFC 8033 section 4.1; `tc pie` has it
    /// fixed).
    pub max_burst: Duration,
    /// Mark frames that can be rather than drop them, while the probability is at most a tenth.
    pub ecn: bool,
    /// What a mark is.
    pub mark: Mark,
}

impl Default for PieConfig {
    /// The defaults of `tc pie` (pie_params_init, include/net/pie.h).
    fn default() -> PieConfig {
        PieConfig {
            limit: 1000,
            target: Duration::from_ms(15),
            tupdate: Duration::from_ms(15),
            alpha: 2,
            beta: 20,
            max_burst: Duration::from_ms(150),
            ecn: false,
            mark: Mark::Ce,
        }
    }
}

/// A queue under PIE.
#[derive(Clone, Debug)]
pub struct Pie {
    config: PieConfig,
    /// Less is no queue (RFC 8033 section 4.1: two frames).
    small_queue_bytes: u64,
    queue: VecDeque<Held>,
    bytes: u64,
    stream: Stream,
    probability: i64,
    /// Probabilities since the last drop or mark, summed.
    since_last: i64,
    delay: Duration,
    delay_before: Duration,
    burst: Duration,
    left_last: Option<Time>,
    next_update: Time,
}

impl Pie {
    /// An empty queue of frames of so many bytes at most; `stream` draws what is drawn.
    #[must_use]
    pub fn new(config: &PieConfig, frame_bytes_max: u32, stream: Stream) -> Pie {
        Pie {
            small_queue_bytes: 2 * u64::from(frame_bytes_max),
            queue: VecDeque::new(),
            bytes: 0,
            stream,
            probability: 0,
            since_last: 0,
            delay: Duration::ZERO,
            delay_before: Duration::ZERO,
            burst: config.max_burst,
            left_last: None,
            next_update: Time::ZERO + config.tupdate,
            config: config.clone(),
        }
    }

    /// What is drawn from here on is drawn from `stream`.
    pub(super) fn reseed(&mut self, stream: Stream) {
        self.stream = stream;
    }

    /// A frame joins the queue, or is dropped.
    pub fn enqueue(
        &mut self,
        now: Time,
        mut held: Held,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) {
        self.update_until(now);
        let full = self.queue.len() >= self.config.limit as usize;
        if !full && self.acts() {
            let may_mark = self.config.ecn && self.probability <= ONE / 10;
            if !may_mark || !effects.mark(&mut held, frames, self.config.mark) {
                self.since_last = 0;
                effects.drop(held, DropCause::Early);
                return;
            }
        }
        if full {
            self.since_last = 0;
            effects.drop(held, DropCause::QueueLimit);
            return;
        }
        self.bytes += u64::from(held.frame.frame_bytes);
        self.queue.push_back(held);
    }

    /// The next frame, if any is left.
    pub fn dequeue(&mut self, now: Time) -> Option<Held> {
        self.update_until(now);
        let held = self.queue.pop_front()?;
        self.bytes -= u64::from(held.frame.frame_bytes);
        self.delay = if self.queue.is_empty() {
            Duration::ZERO
        } else {
            now.since(held.since)
        };
        if let Some(last) = self.left_last.replace(now) {
            self.burst = self.burst - now.since(last);
        }
        Some(held)
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

    /// Whether the frame that comes is to be dropped or marked.
    fn acts(&mut self) -> bool {
        let is_short = self.delay < self.config.target / 2 && self.probability < ONE / 5;
        if !self.burst.is_zero() || is_short || self.bytes < self.small_queue_bytes {
            return false;
        }
        if self.probability == 0 {
            self.since_last = 0;
        } else {
            self.since_last += self.probability;
        }
        if self.since_last < ONE / 100 * 85 {
            return false;
        }
        if self.since_last >= ONE / 2 * 17 {
            return true;
        }
        let acts = ((self.stream.next_u64() >> 8) as i64) < self.probability;
        if acts {
            self.since_last = 0;
        }
        acts
    }

    /// Makes good the changes of the probability that have been due since the last look: the delay they
    /// go by changes only when a frame leaves.
    fn update_until(&mut self, now: Time) {
        let step = self.config.tupdate;
        while self.next_update <= now && !step.is_zero() {
            self.update();
            self.next_update += step;
            let quiet =
                self.probability == 0 && self.delay.is_zero() && self.delay_before.is_zero();
            if quiet && self.next_update <= now {
                // Nothing changes any more.
                let due = now.since(self.next_update).as_ps() / step.as_ps() + 1;
                self.next_update += step * due;
            }
        }
    }

    fn update(&mut self) {
        let (delay, before) = (self.delay, self.delay_before);
        let told = !delay.is_zero() || self.queue.is_empty();
        let weighted = |gain: u32, from: Duration, to: Duration| {
            i128::from(gain) * (i128::from(to.as_ps()) - i128::from(from.as_ps()))
        };
        let config = &self.config;
        let sum =
            weighted(config.alpha, config.target, delay) + weighted(config.beta, before, delay);
        let per_second = i128::from(ONE) / GAIN_PARTS * sum / 1_000_000_000_000;
        let mut change = (per_second / i128::from(damping(self.probability))) as i64;
        if self.probability >= ONE / 10 {
            change = change.min(ONE / 50);
        }
        if delay > LONG_DELAY {
            change += ONE / 50;
        }
        let certain = self.probability + change > ONE;
        self.probability = (self.probability + change).clamp(0, ONE);
        if delay.is_zero() && before.is_zero() && told && !certain {
            self.probability -= self.probability / 64;
        }
        let half = config.target / 2;
        if delay < half && before < half && self.probability == 0 {
            self.burst = config.max_burst;
            self.since_last = 0;
            self.left_last = None;
        }
        self.delay_before = delay;
    }
}

/// By how much changes are scaled down: 2 below a tenth, and 4 times as much for each further tenth
/// down to a millionth (RFC 8033 section 5.2).
fn damping(probability: i64) -> i64 {
    let mut by = 1;
    if probability < ONE / 10 {
        by = 2;
        let mut part = 100;
        while part <= 1_000_000 && probability < ONE / part {
            by *= 4;
            part *= 10;
        }
    }
    by
}

#[cfg(test)]
#[path = "pie_tests.rs"]
mod tests;
