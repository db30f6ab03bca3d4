//! CoDel: drops or marks at the head of a queue whose delay has stayed above a target.
//!
//! Models RFC 8289 with the parameters of Linux `tc codel`: once every frame of an `interval` has
//! waited longer than `target`, the next is dropped (or marked, if `ecn` and it can be), and then
//! further ones at times that come closer with the square root of their number, until one has
//! waited less. A new episode soon after the last goes on near its rate. A queue of no more than one frame
//! of the link's MTU is left alone. No more than 256 frames are dropped as one leaves (7.2). Beside the law, what has
//! waited longer than `ce_threshold` is marked as it leaves.
//! Left out: instants are not rounded to Linux's ticks of 1.024 us, spans of time are.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_tcp::Header;
use tailback_units::{Duration, Time};

use super::control_law::{InverseRoot, in_ticks};
use super::{Effects, Held};
use crate::marking::Mark;
use crate::pool::FramePool;
use crate::switch::DropCause;

/// An episode begins anew if the last ended this many intervals ago (RFC 8289 section 4.2).
const FORGET_INTERVALS: u64 = 16;
/// Most frames dropped as one leaves (CODEL_MAX_DROPS_PER_DEQUEUE).
const DROPS_MAX: u32 = 256;

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
    /// What a mark is.
    pub mark: Mark,
    /// What has waited longer than this is marked CE as it leaves, if it can be, whatever else is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Duration>,
}

impl Default for CodelConfig {
    /// The defaults of `tc codel`.
    fn default() -> CodelConfig {
        CodelConfig {
            limit: 1000,
            target: Duration::from_ms(5),
            interval: Duration::from_ms(100),
            ecn: false,
            mark: Mark::Ce,
            ce_threshold: None,
        }
    }
}

/// What is marked for its delay alone (ce_threshold and its like).
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    pub(super) delay: Duration,
    /// Bits of the DS field, and what they have to be; no bits: any will do.
    pub(super) mask: u8,
    pub(super) selector: u8,
}

impl Threshold {
    /// Whether a frame with this header is meant. Of the DS field it has the class selector and the ECN field.
    fn means(self, header: &Header) -> bool {
        let field = header.class() << 5 | header.ecn as u8;
        field & self.mask == self.selector || self.mask == 0
    }
}

/// What the law needs to know, whoever asks it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) target: Duration,
    pub(super) interval: Duration,
    /// What a frame that can be marked is marked with rather than dropped; none: all are dropped.
    pub(super) mark: Option<Mark>,
    /// A queue no longer than this is left alone, bytes (RFC 8289 section 4.4: one MTU).
    pub(super) frame_bytes_max: u64,
    pub(super) threshold: Option<Threshold>,
}

/// CoDel's state, whatever queue it looks after.
#[derive(Clone, Debug, Default)]
struct Law {
    /// When the delay will have been above the target for an interval; none: it is not above.
    first_above: Option<Time>,
    dropping: bool,
    /// None: there was no episode yet.
    drop_next: Option<Time>,
    count: u32,
    last_count: u32,
    root: InverseRoot,
}

/// Frames that wait together under one law.
#[derive(Clone, Debug, Default)]
pub(super) struct Managed {
    queue: VecDeque<Held>,
    bytes: u64,
    law: Law,
}

impl Managed {
    pub(super) fn push(&mut self, held: Held) {
        self.bytes += u64::from(held.frame.frame_bytes);
        self.queue.push_back(held);
    }

    /// Takes the first frame for want of room, which the law counts as a drop of its own.
    pub(super) fn overflow(&mut self) -> Option<Held> {
        let held = self.queue.pop_front()?;
        self.bytes -= u64::from(held.frame.frame_bytes);
        self.law.count = self.law.count.wrapping_add(1);
        Some(held)
    }

    pub(super) fn first(&self) -> Option<&Held> {
        self.queue.front()
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = &Held> {
        self.queue.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next frame that the law lets go, marked if it has waited for long; `beside` are bytes that wait in other queues
    /// of the port, which count towards whether there is a queue at all.
    pub(super) fn dequeue(
        &mut self,
        settings: &Settings,
        (now, beside): (Time, u64),
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        let mut held = self.dequeue_by_law(settings, (now, beside), frames, effects)?;
        if let Some(threshold) = settings.threshold
            && in_ticks(now.since(held.since)) > threshold.delay
            && threshold.means(frames.header(held.frame.frame))
        {
            effects.mark(&mut held, frames, Mark::Ce);
        }
        Some(held)
    }

    fn dequeue_by_law(
        &mut self,
        settings: &Settings,
        (now, beside): (Time, u64),
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        let (mut held, mut may_drop) = self.pop(settings, now, beside)?;
        if self.law.dropping {
            if !may_drop {
                self.law.dropping = false;
            }
            let mut drops = 0;
            while self.law.dropping
                && let Some(from) = self.law.drop_next
                && now >= from
            {
                if drops == DROPS_MAX {
                    self.law.next_after(settings, now);
                    break;
                }
                drops += 1;
                self.law.count = self.law.count.wrapping_add(1);
                self.law.root.step(self.law.count);
                if marks(settings, &mut held, frames, effects) {
                    self.law.next_after(settings, from);
                    return Some(held);
                }
                effects.drop(held, DropCause::Early);
                let Some(next) = self.pop(settings, now, beside) else {
                    self.law.dropping = false;
                    return None;
                };
                (held, may_drop) = next;
                if may_drop {
                    self.law.next_after(settings, from);
                } else {
                    self.law.dropping = false;
                }
            }
            return Some(held);
        }
        if !may_drop {
            return Some(held);
        }
        let next = if marks(settings, &mut held, frames, effects) {
            Some(held)
        } else {
            effects.drop(held, DropCause::Early);
            self.pop(settings, now, beside).map(|(next, _)| next)
        };
        self.law.begin(settings, now);
        next
    }

    /// The next frame, and whether the delay has been too long for an interval.
    fn pop(&mut self, settings: &Settings, now: Time, beside: u64) -> Option<(Held, bool)> {
        let Some(held) = self.queue.pop_front() else {
            self.law.first_above = None;
            return None;
        };
        self.bytes -= u64::from(held.frame.frame_bytes);
        if now.since(held.since) < settings.target
            || self.bytes + beside <= settings.frame_bytes_max
        {
            self.law.first_above = None;
            return Some((held, false));
        }
        match self.law.first_above {
            None => {
                self.law.first_above = Some(now + settings.interval);
                Some((held, false))
            }
            Some(above) => Some((held, now > above)),
        }
    }
}

impl Law {
    /// An episode of dropping begins, near the last one's rate if that is not long ago.
    fn begin(&mut self, settings: &Settings, now: Time) {
        self.dropping = true;
        let episode = self.count.wrapping_sub(self.last_count);
        let forgotten = settings.interval * FORGET_INTERVALS;
        let soon = self.drop_next.is_some_and(|at| now < at + forgotten);
        if episode > 1 && soon {
            self.count = episode;
            self.root.step(episode);
        } else {
            self.count = 1;
            self.root = InverseRoot::ONE;
        }
        self.last_count = self.count;
        self.next_after(settings, now);
    }

    /// The next signal is due a gap after `from`.
    fn next_after(&mut self, settings: &Settings, from: Time) {
        self.drop_next = Some(self.root.after(from, settings.interval));
    }
}

fn marks(
    settings: &Settings,
    held: &mut Held,
    frames: &mut FramePool,
    effects: &mut Effects,
) -> bool {
    settings
        .mark
        .is_some_and(|mark| effects.mark(held, frames, mark))
}

/// A queue under CoDel.
#[derive(Clone, Debug)]
pub struct Codel {
    limit: usize,
    settings: Settings,
    queue: Managed,
}

impl Codel {
    /// An empty queue of frames of so many bytes at most.
    #[must_use]
    pub fn new(config: &CodelConfig, frame_bytes_max: u32) -> Codel {
        Codel {
            limit: config.limit as usize,
            settings: Settings {
                target: in_ticks(config.target),
                interval: in_ticks(config.interval),
                mark: config.ecn.then_some(config.mark),
                frame_bytes_max: frame_bytes_max.into(),
                threshold: config.ce_threshold.map(|delay| Threshold {
                    delay: in_ticks(delay),
                    mask: 0,
                    selector: 0,
                }),
            },
            queue: Managed::default(),
        }
    }

    /// A frame joins the queue, or is dropped if it is full.
    pub fn enqueue(&mut self, held: Held, effects: &mut Effects) {
        if self.queue.len() >= self.limit {
            effects.drop(held, DropCause::QueueLimit);
        } else {
            self.queue.push(held);
        }
    }

    /// The next frame, if any is left.
    pub fn dequeue(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        self.queue
            .dequeue(&self.settings, (now, 0), frames, effects)
    }

    /// The frame at the head.
    #[must_use]
    pub fn first(&self) -> Option<&Held> {
        self.queue.first()
    }

    /// Frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Held> {
        self.queue.waiting()
    }
}

#[cfg(test)]
#[path = "codel_tests.rs"]
mod tests;
