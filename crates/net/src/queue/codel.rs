//! CoDel: drops or marks at the head of a queue whose delay has stayed above a target.
//!
//! Models RFC 8289 with the parameters of Linux `tc codel`: once every frame of an `interval` has
//! waited longer than `target`, the next is dropped (or marked, if `ecn` and it can be), and then
//! further ones at times that come closer with the square root of their number, until one has
//! waited less. A new episode soon after the last goes on near its rate.
//! Left out: `ce_threshold`; the law's square root is exact here, Linux steps towards it.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Time};

use super::{Effects, Held};
use crate::marking::Mark;
use crate::pool::FramePool;

/// A queue no longer than this is left alone, bytes (RFC 8289 section 4.4: one MTU).
const MAX_PACKET_BYTES: u64 = 1514;
/// An episode begins anew if the last ended this many intervals ago (RFC 8289 section 4.2).
const FORGET_INTERVALS: u64 = 16;

/// Parameters of CoDel, by the names of `tc codel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CodelConfig {
    /// Frames that may wait; one more is dropped.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub limit: u32,
    /// Delay that is acceptable.
    pub target: Duration,
    /// How long it may be exceeded: about the longest round trip.
    pub interval: Duration,
    /// Mark frames that can be rather than drop them.
    pub ecn: bool,
}

impl Default for CodelConfig {
    /// The defaults of `tc codel`.
    fn default() -> CodelConfig {
        CodelConfig {
            limit: 1000,
            target: Duration::from_ms(5),
            interval: Duration::from_ms(100),
            ecn: false,
        }
    }
}

/// CoDel's state, whatever queue it looks after.
#[derive(Clone, Debug, Default)]
struct Law {
    /// When the delay will have been above the target for an interval; none: it is not above.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u64,
    last_count: u64,
}

/// A queue under CoDel.
#[derive(Clone, Debug)]
pub struct Codel {
    config: CodelConfig,
    queue: VecDeque<Held>,
    bytes: u64,
    law: Law,
}

impl Codel {
    /// An empty queue.
    #[must_use]
    pub fn new(config: &CodelConfig) -> Codel {
        Codel {
            config: config.clone(),
            queue: VecDeque::new(),
            bytes: 0,
            law: Law::default(),
        }
    }

    /// A frame joins the queue, or is dropped if it is full.
    pub fn enqueue(&mut self, held: Held, effects: &mut Effects) {
        if self.queue.len() >= self.config.limit as usize {
            effects.dropped_now.push(held);
            return;
        }
        self.bytes += u64::from(held.frame.frame_bytes);
        self.queue.push_back(held);
    }

    /// The next frame, if any is left.
    pub fn dequeue(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        let (mut held, mut may_drop) = self.pop(now)?;
        if self.law.dropping {
            if !may_drop {
                self.law.dropping = false;
            }
            while self.law.dropping && now >= self.law.drop_next {
                self.law.count += 1;
                let from = self.law.drop_next;
                if self.marks(&held, frames, effects) {
                    self.law.drop_next = self.after(from);
                    return Some(held);
                }
                effects.dropped_now.push(held);
                let Some(next) = self.pop(now) else {
                    self.law.dropping = false;
                    return None;
                };
                (held, may_drop) = next;
                if may_drop {
                    self.law.drop_next = self.after(from);
                } else {
                    self.law.dropping = false;
                }
            }
            return Some(held);
        }
        if !may_drop {
            return Some(held);
        }
        let marked = self.marks(&held, frames, effects);
        let next = if marked {
            Some(held)
        } else {
            effects.dropped_now.push(held);
            self.pop(now).map(|(next, _)| next)
        };
        let law = &mut self.law;
        law.dropping = true;
        let episode = law.count - law.last_count;
        let soon = now < law.drop_next + self.config.interval * FORGET_INTERVALS;
        law.count = if episode > 1 && soon { episode } else { 1 };
        law.last_count = law.count;
        self.law.drop_next = self.after(now);
        next
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

    /// The next frame, and whether the delay has been too long for an interval.
    fn pop(&mut self, now: Time) -> Option<(Held, bool)> {
        let Some(held) = self.queue.pop_front() else {
            self.law.first_above = None;
            return None;
        };
        self.bytes -= u64::from(held.frame.frame_bytes);
        if now.since(held.since) < self.config.target || self.bytes <= MAX_PACKET_BYTES {
            self.law.first_above = None;
            return Some((held, false));
        }
        match self.law.first_above {
            None => {
                self.law.first_above = Some(now + self.config.interval);
                Some((held, false))
            }
            Some(above) => Some((held, now >= above)),
        }
    }

    fn marks(&self, held: &Held, frames: &mut FramePool, effects: &mut Effects) -> bool {
        let marked = self.config.ecn && frames.get_mut(held.frame.frame).mark(Mark::Ce);
        effects.marked += u64::from(marked);
        marked
    }

    /// The control law: an interval over the square root of the count after `from`.
    fn after(&self, from: Time) -> Time {
        let interval = u128::from(self.config.interval.as_ps());
        let ps = (interval * interval / u128::from(self.law.count.max(1))).isqrt();
        from + Duration::from_ps(ps as u64)
    }
}

#[cfg(test)]
#[path = "codel_tests.rs"]
mod tests;
