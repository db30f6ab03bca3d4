//! Queues of an egress port that is served when it is free: disciplines and the scheduler over them.
//!
//! A discipline takes frames, gives them back one by one, and may mark or drop on either occasion;
//! one discipline, one file. A port has one for each traffic class, and `ets` says whose turn it
//! is. Memory is not theirs: the switch admits a frame before it is queued.

pub mod codel;
pub mod ets;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Time;

use self::codel::{Codel, CodelConfig};
use crate::pool::{Flight, FramePool};
use crate::switch::shared::Pool;

/// A frame that waits, and what it holds.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The frame.
    pub frame: Flight,
    /// The port it came in by.
    pub in_port: u16,
    /// The memory it is in.
    pub pool: Pool,
    /// Since when it waits.
    pub since: Time,
}

/// How the frames of one class wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueConfig {
    /// First in, first out.
    Fifo {},
    /// CoDel: drops or marks what has waited too long for too long.
    Codel(CodelConfig),
}

impl Default for QueueConfig {
    fn default() -> QueueConfig {
        QueueConfig::Fifo {}
    }
}

/// What a discipline did beside what it was asked for.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Frames it has dropped just now; their memory is still held.
    pub dropped_now: Vec<Held>,
    /// Frames it dropped before, of which nobody has asked yet.
    pub dropped: Vec<Held>,
    /// Frames it marked.
    pub marked: u64,
}

/// A queue at work.
#[derive(Clone, Debug)]
pub enum Discipline {
    /// First in, first out.
    Fifo(VecDeque<Held>),
    /// CoDel.
    Codel(Codel),
}

impl Discipline {
    /// An empty queue.
    #[must_use]
    pub fn new(config: &QueueConfig) -> Discipline {
        match config {
            QueueConfig::Fifo {} => Discipline::Fifo(VecDeque::new()),
            QueueConfig::Codel(config) => Discipline::Codel(Codel::new(config)),
        }
    }

    /// A frame joins the queue.
    pub fn enqueue(
        &mut self,
        _now: Time,
        held: Held,
        _frames: &mut FramePool,
        effects: &mut Effects,
    ) {
        match self {
            Discipline::Fifo(queue) => queue.push_back(held),
            Discipline::Codel(codel) => codel.enqueue(held, effects),
        }
    }

    /// The next frame, if any is left.
    pub fn dequeue(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        match self {
            Discipline::Fifo(queue) => queue.pop_front(),
            Discipline::Codel(codel) => codel.dequeue(now, frames, effects),
        }
    }

    /// The frame that is the next to be looked at.
    #[must_use]
    pub fn first(&self) -> Option<&Held> {
        match self {
            Discipline::Fifo(queue) => queue.front(),
            Discipline::Codel(codel) => codel.first(),
        }
    }

    /// Frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Held> {
        let (fifo, codel) = match self {
            Discipline::Fifo(queue) => (Some(queue.iter()), None),
            Discipline::Codel(codel) => (None, Some(codel.waiting())),
        };
        fifo.into_iter()
            .flatten()
            .chain(codel.into_iter().flatten())
    }
}
