//! Queues of an egress port that is served when it is free: disciplines and the scheduler over them.
//!
//! A discipline takes frames, gives them back one by one, and may mark or drop on either occasion;
//! one discipline, one file. A port has one for each traffic class, and `ets` says whose turn it
//! is. Memory is not theirs: the switch admits a frame before it is queued, and may ask a discipline for room.

pub mod cake;
pub mod cobalt;
pub mod codel;
mod control_law;
pub mod dualpi2;
pub mod ets;
pub mod fq_codel;
pub mod own;
pub mod pie;
pub mod replay;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Time;

use self::cake::{Cake, CakeConfig};
use self::cobalt::{Cobalt, CobaltConfig};
use self::codel::{Codel, CodelConfig};
use self::dualpi2::{Dualpi2, Dualpi2Config};
use self::fq_codel::{FqCodel, FqCodelConfig};
use self::own::{Own, OwnQueueConfig, OwnQueues};
use self::pie::{Pie, PieConfig};
use crate::marking::{Mark, is_ecn_capable};
use crate::pool::{Flight, FramePool};
use crate::random::Stream;
use crate::switch::DropCause;
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
    /// It has been marked at this port already: each frame counts once.
    pub marked: bool,
}

/// How the frames of one class wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueConfig {
    /// First in, first out.
    Fifo {},
    /// CoDel: drops or marks what has waited too long for too long.
    Codel(CodelConfig),
    /// A queue for each flow, served by turns, each under CoDel.
    FqCodel(FqCodelConfig),
    /// PIE: drops or marks on arrival, by a controller of the delay.
    Pie(PieConfig),
    /// A queue for scalable senders beside one for all others, coupled.
    Dualpi2(Dualpi2Config),
    /// CAKE's queue management, with SCE's ramp.
    Cobalt(CobaltConfig),
    /// CAKE: tins, fair shares for hosts and flows, COBALT in each queue.
    Cake(CakeConfig),
    /// One of the user's own, in Python.
    Python(OwnQueueConfig),
}

impl Default for QueueConfig {
    fn default() -> QueueConfig {
        QueueConfig::Fifo {}
    }
}

/// The disciplines of the two ports that a link joins, in place of those of their switches, as `tc qdisc` sets one
/// for an interface; at a host's end, of the host's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkQdiscs {
    /// Forward: from the first to the second of a link's `ends`, from a host to its switch, from left to right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forward: Option<QueueConfig>,
    /// The other way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backward: Option<QueueConfig>,
}

impl LinkQdiscs {
    /// Those that there are.
    pub fn iter(&self) -> impl Iterator<Item = &QueueConfig> {
        [&self.forward, &self.backward].into_iter().flatten()
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut QueueConfig> {
        [&mut self.forward, &mut self.backward]
            .into_iter()
            .flatten()
    }
}

impl QueueConfig {
    /// If it is one of the user's own, it is to be made by `own`.
    pub fn make_own_by(&mut self, own: &OwnQueues) {
        if let QueueConfig::Python(config) = self {
            config.own = own.clone();
        }
    }
}

/// What a discipline did beside what it was asked for.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Frames it has dropped just now, and why; their memory is still held.
    pub dropped_now: Vec<(Held, DropCause)>,
    /// Frames it dropped before, of which nobody has asked yet.
    pub dropped: Vec<(Held, DropCause)>,
    /// Frames it marked, of which nobody has asked yet.
    pub marked: Vec<Flight>,
}

impl Effects {
    /// Drops a frame.
    fn drop(&mut self, held: Held, cause: DropCause) {
        self.dropped_now.push((held, cause));
    }

    /// Marks a frame if its ECN field allows it; says whether it bears this mark now, or had a greater one.
    fn mark(&mut self, held: &mut Held, frames: &mut FramePool, mark: Mark) -> bool {
        let header = frames.header_mut(held.frame.frame);
        if mark.set(header) && !std::mem::replace(&mut held.marked, true) {
            self.marked.push(held.frame);
        }
        // Of what is ECN-capable, only a packet that bears as much is not marked anew.
        is_ecn_capable(header)
    }
}

/// A queue at work.
#[derive(Clone, Debug)]
pub enum Discipline {
    /// First in, first out.
    Fifo(VecDeque<Held>),
    /// CoDel.
    Codel(Codel),
    /// FQ-CoDel.
    FqCodel(Box<FqCodel>),
    /// PIE.
    Pie(Box<Pie>),
    /// DualPI2.
    Dualpi2(Box<Dualpi2>),
    /// COBALT.
    Cobalt(Box<Cobalt>),
    /// CAKE.
    Cake(Box<Cake>),
    /// One of the user's own.
    Own(Box<Own>),
}

impl Discipline {
    /// An empty queue of frames of so many bytes at most, as the port's link has them; `stream` draws what is drawn.
    #[must_use]
    pub fn new(config: &QueueConfig, frame_bytes_max: u32, stream: Stream) -> Discipline {
        let longest = frame_bytes_max;
        match config {
            QueueConfig::Fifo {} => Discipline::Fifo(VecDeque::new()),
            QueueConfig::Codel(config) => Discipline::Codel(Codel::new(config, longest)),
            QueueConfig::FqCodel(config) => {
                Discipline::FqCodel(Box::new(FqCodel::new(config, longest)))
            }
            QueueConfig::Pie(config) => {
                Discipline::Pie(Box::new(Pie::new(config, longest, stream)))
            }
            QueueConfig::Dualpi2(config) => {
                Discipline::Dualpi2(Box::new(Dualpi2::new(config, longest, stream)))
            }
            QueueConfig::Cobalt(config) => {
                Discipline::Cobalt(Box::new(Cobalt::new(config, stream)))
            }
            QueueConfig::Cake(config) => {
                Discipline::Cake(Box::new(Cake::new(config, longest, stream)))
            }
            QueueConfig::Python(config) => {
                Discipline::Own(Box::new(Own::new(config, longest, stream)))
            }
        }
    }

    /// What is drawn from here on is drawn from `stream`.
    pub fn reseed(&mut self, stream: Stream) {
        match self {
            Discipline::Fifo(_)
            | Discipline::Codel(_)
            | Discipline::FqCodel(_)
            | Discipline::Own(_) => {}
            Discipline::Pie(pie) => pie.reseed(stream),
            Discipline::Dualpi2(queues) => queues.reseed(stream),
            Discipline::Cobalt(cobalt) => cobalt.reseed(stream),
            Discipline::Cake(cake) => cake.reseed(stream),
        }
    }

    /// A frame joins the queue.
    pub fn enqueue(
        &mut self,
        now: Time,
        held: Held,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) {
        match self {
            Discipline::Fifo(queue) => queue.push_back(held),
            Discipline::Codel(codel) => codel.enqueue(held, effects),
            Discipline::FqCodel(queues) => queues.enqueue(held, effects),
            Discipline::Pie(pie) => pie.enqueue(now, held, frames, effects),
            Discipline::Dualpi2(queues) => queues.enqueue(now, held, frames, effects),
            Discipline::Cobalt(cobalt) => cobalt.enqueue(now, held, effects),
            Discipline::Cake(cake) => cake.enqueue(now, held, frames, effects),
            Discipline::Own(own) => own.enqueue(now, held, frames, effects),
        }
    }

    /// The memory has no room for a frame that comes, for this cause: a discipline that keeps flows apart drops from
    /// the longest in its favour. Says whether it dropped any.
    pub fn make_room(&mut self, now: Time, cause: DropCause, effects: &mut Effects) -> bool {
        match self {
            Discipline::FqCodel(queues) => queues.drop_from_longest(cause, effects),
            Discipline::Cake(cake) => cake.drop_from_longest(now, cause, effects),
            Discipline::Fifo(_)
            | Discipline::Codel(_)
            | Discipline::Pie(_)
            | Discipline::Dualpi2(_)
            | Discipline::Cobalt(_)
            | Discipline::Own(_) => false,
        }
    }

    /// When the next frame may leave, if any waits: later than now where a discipline holds back of its own accord.
    #[inline]
    #[must_use]
    pub fn held_until(&self) -> Time {
        match self {
            Discipline::Cake(cake) => cake.held_until(),
            Discipline::Own(own) => own.held_until(),
            Discipline::Fifo(_)
            | Discipline::Codel(_)
            | Discipline::FqCodel(_)
            | Discipline::Pie(_)
            | Discipline::Dualpi2(_)
            | Discipline::Cobalt(_) => Time::ZERO,
        }
    }

    /// The next frame, if any is left that need not be held back.
    pub fn dequeue(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        match self {
            Discipline::Fifo(queue) => queue.pop_front(),
            Discipline::Codel(codel) => codel.dequeue(now, frames, effects),
            Discipline::FqCodel(queues) => queues.dequeue(now, frames, effects),
            Discipline::Pie(pie) => pie.dequeue(now),
            Discipline::Dualpi2(queues) => queues.dequeue(now, frames, effects),
            Discipline::Cobalt(cobalt) => cobalt.dequeue(now, frames, effects),
            Discipline::Cake(cake) => cake.dequeue(now, frames, effects),
            Discipline::Own(own) => own.dequeue(now, frames, effects),
        }
    }

    /// As `dequeue`, but where decisions are drawn as frames leave, one decision only: none, if the frame was dropped.
    pub fn judge(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        match self {
            Discipline::Dualpi2(queues) => match queues.judge(now, frames, effects)? {
                Ok(held) => Some(held),
                Err(held) => {
                    effects.drop(held, DropCause::Early);
                    None
                }
            },
            _ => self.dequeue(now, frames, effects),
        }
    }

    /// The frame that is the next to be looked at.
    #[must_use]
    pub fn first(&self) -> Option<&Held> {
        match self {
            Discipline::Fifo(queue) => queue.front(),
            Discipline::Codel(codel) => codel.first(),
            Discipline::FqCodel(queues) => queues.first(),
            Discipline::Pie(pie) => pie.first(),
            Discipline::Dualpi2(queues) => queues.first(),
            Discipline::Cobalt(cobalt) => cobalt.first(),
            Discipline::Cake(cake) => cake.first(),
            Discipline::Own(own) => own.first(),
        }
    }

    /// Frames that wait. For books at a run's end: it allocates.
    #[must_use]
    pub fn waiting(&self) -> Box<dyn Iterator<Item = &Held> + '_> {
        match self {
            Discipline::Fifo(queue) => Box::new(queue.iter()),
            Discipline::Codel(codel) => Box::new(codel.waiting()),
            Discipline::FqCodel(queues) => Box::new(queues.waiting()),
            Discipline::Pie(pie) => Box::new(pie.waiting()),
            Discipline::Dualpi2(queues) => Box::new(queues.waiting()),
            Discipline::Cobalt(cobalt) => Box::new(cobalt.waiting()),
            Discipline::Cake(cake) => Box::new(cake.waiting()),
            Discipline::Own(own) => Box::new(own.waiting()),
        }
    }
}
