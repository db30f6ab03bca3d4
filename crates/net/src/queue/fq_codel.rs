//! FQ-CoDel: a queue for each flow, served by turns, each under CoDel.
//!
//! Models RFC 8290 with the parameters and defaults of Linux `tc fq_codel`: a flow's hash chooses one of
//! `flows` queues; queues take turns of `quantum` bytes by deficit round robin; a queue that was empty is
//! new and goes ahead of the old ones for one turn, so that sparse flows hardly wait. `codel` is the
//! law of each queue. Beyond `limit` the longest queue loses half of what it holds at its head, 64 frames
//! at most (`drop_batch`); so it does where the switch's memory has no room for a frame that comes, as
//! Linux's at its `memory_limit`. A flow is one direction of a connection; hashes collide as they do there.
//! Left out: a `memory_limit` of its own (the switch's memory is the limit), filters.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Time};

use super::codel::{Managed, Settings, Threshold};
use super::control_law::in_ticks;
use super::{Effects, Held};
use crate::marking::Mark;
use crate::pool::FramePool;
use crate::random::mix;
use crate::switch::DropCause;

/// Parameters of FQ-CoDel, by the names of `tc fq_codel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelConfig {
    /// Frames that may wait in all queues together.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub limit: u32,
    /// Queues that flows are spread over.
    #[schemars(range(min = 1, max = 65_536))]
    pub flows: u32,
    /// Delay that is acceptable.
    pub target: Duration,
    /// How long it may be exceeded: about the longest round trip.
    pub interval: Duration,
    /// Bytes of a turn; absent: the longest frame of the port's link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Bytes>,
    /// Most frames dropped at once when the limit is exceeded.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub drop_batch: u32,
    /// Mark frames that can be rather than drop them.
    pub ecn: bool,
    /// What a mark is.
    pub mark: Mark,
    /// What has waited longer than this is marked CE as it leaves, if it can be, whatever else is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Duration>,
    /// Only what has these bits in the DS field's `ce_threshold_mask`: 1 under a mask of 3 is ECT(1), L4S's. The field has a
    /// class selector from a frame's priority, and the ECN field.
    pub ce_threshold_selector: u8,
    /// Bits of the DS field that `ce_threshold_selector` is compared with; 0: everything is meant.
    pub ce_threshold_mask: u8,
}

impl Default for FqCodelConfig {
    /// The defaults of `tc fq_codel` (net/sched/sch_fq_codel.c).
    fn default() -> FqCodelConfig {
        FqCodelConfig {
            limit: 10_240,
            flows: 1024,
            target: Duration::from_ms(5),
            interval: Duration::from_ms(100),
            quantum: None,
            drop_batch: 64,
            ecn: true,
            mark: Mark::Ce,
            ce_threshold: None,
            ce_threshold_selector: 0,
            ce_threshold_mask: 0,
        }
    }
}

/// One queue.
#[derive(Clone, Debug, Default)]
struct Flow {
    queue: Managed,
    deficit: i64,
    /// It is in one of the lists.
    listed: bool,
}

/// The queues of one port's class under FQ-CoDel.
#[derive(Clone, Debug)]
pub struct FqCodel {
    settings: Settings,
    limit: usize,
    quantum: i64,
    drop_batch: u32,
    flows: Vec<Flow>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    waiting: usize,
    bytes: u64,
}

impl FqCodel {
    /// Empty queues of frames of so many bytes at most.
    #[must_use]
    pub fn new(config: &FqCodelConfig, frame_bytes_max: u32) -> FqCodel {
        FqCodel {
            settings: Settings {
                target: in_ticks(config.target),
                interval: in_ticks(config.interval),
                mark: config.ecn.then_some(config.mark),
                frame_bytes_max: frame_bytes_max.into(),
                threshold: config.ce_threshold.map(|delay| Threshold {
                    delay: in_ticks(delay),
                    mask: config.ce_threshold_mask,
                    selector: config.ce_threshold_selector,
                }),
            },
            limit: config.limit as usize,
            quantum: (config.quantum).map_or(i64::from(frame_bytes_max), |quantum| {
                quantum.get().max(1) as i64
            }),
            drop_batch: config.drop_batch,
            flows: vec![Flow::default(); config.flows.max(1) as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            waiting: 0,
            bytes: 0,
        }
    }

    /// A frame joins its flow's queue; beyond the limit the longest queue loses frames.
    pub fn enqueue(&mut self, held: Held, effects: &mut Effects) {
        let number = (mix(u64::from(held.frame.to.0) + 1) % self.flows.len() as u64) as usize;
        let flow = &mut self.flows[number];
        self.waiting += 1;
        self.bytes += u64::from(held.frame.frame_bytes);
        flow.queue.push(held);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum;
            self.new.push_back(number);
        }
        if self.waiting > self.limit {
            self.drop_from_longest(DropCause::QueueLimit, effects);
        }
    }

    /// The longest queue loses half of what it holds, `drop_batch` frames at most; says whether there was any.
    pub(super) fn drop_from_longest(&mut self, cause: DropCause, effects: &mut Effects) -> bool {
        let Some(longest) = self.flows.iter_mut().max_by_key(|flow| flow.queue.bytes()) else {
            return false;
        };
        let before = longest.queue.bytes();
        for _ in 0..self.drop_batch {
            let Some(held) = longest.queue.overflow() else {
                break;
            };
            self.waiting -= 1;
            self.bytes -= u64::from(held.frame.frame_bytes);
            effects.drop(held, cause);
            if before - longest.queue.bytes() >= before / 2 {
                break;
            }
        }
        before > 0
    }

    /// The next frame, if any is left.
    pub fn dequeue(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let flow = &mut self.flows[number];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(number);
                continue;
            }
            let (had, had_bytes) = (flow.queue.len(), flow.queue.bytes());
            let beside = self.bytes - had_bytes;
            let taken = flow
                .queue
                .dequeue(&self.settings, (now, beside), frames, effects);
            self.waiting -= had - flow.queue.len();
            self.bytes -= had_bytes - flow.queue.bytes();
            if let Some(held) = taken {
                flow.deficit -= i64::from(held.frame.frame_bytes);
                return Some(held);
            }
            list.pop_front();
            // A new queue that is empty waits its turn among the old ones before it may be new again.
            if is_new && !self.old.is_empty() {
                self.old.push_back(number);
            } else {
                flow.listed = false;
            }
        }
    }

    /// The frame that is the next to be looked at.
    #[must_use]
    pub fn first(&self) -> Option<&Held> {
        let lists = || self.new.iter().chain(&self.old).map(|n| &self.flows[*n]);
        let in_credit = lists().find(|flow| flow.deficit > 0 && flow.queue.len() > 0);
        in_credit
            .or_else(|| lists().find(|flow| flow.queue.len() > 0))
            .and_then(|flow| flow.queue.first())
    }

    /// Frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Held> {
        self.flows.iter().flat_map(|flow| flow.queue.waiting())
    }
}

#[cfg(test)]
#[path = "fq_codel_tests.rs"]
mod tests;
