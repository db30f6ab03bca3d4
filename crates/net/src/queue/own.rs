//! Queue disciplines that are made elsewhere while the program runs: by whoever embeds this crate, such as those
//! that users write in Python.
//!
//! One queue, in the order of what a discipline answers for each frame as it comes (push-in first-out: Sivaraman et
//! al., SIGCOMM 2016), first in, first out if it says nothing; frames may be marked or dropped as they come and as
//! they are about to leave, and the first may be held back until a time. Models nothing itself. Left out: dropping what
//! waits in favour of what comes, and timers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_tcp::Ecn;
use tailback_units::Time;

use super::{Effects, Held};
use crate::marking::Mark;
use crate::pool::FramePool;
use crate::random::Stream;
use crate::switch::DropCause;

/// Which of the user's own disciplines it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnQueueConfig {
    /// The table `python.NAME` of the scenario.
    #[schemars(extend("examples" = ["mine"]))]
    pub name: String,
    /// Who makes it: known when a run is made.
    #[serde(skip)]
    pub own: OwnQueues,
}

/// What a discipline listens to: what it does not ask for it is not called for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Frames that come ([`OwnQueue::enqueue`]).
    pub enqueue: bool,
    /// Where they join the queue ([`OwnQueue::rank`]).
    pub rank: bool,
    /// Frames that are about to leave ([`OwnQueue::dequeue`]).
    pub dequeue: bool,
    /// When the first may leave ([`OwnQueue::due`]).
    pub due: bool,
}

/// The queue, as a discipline is told of it.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The time.
    pub now: Time,
    /// Frames that wait, that of the call not counted but where it stays.
    pub qlen: usize,
    /// Bytes of theirs.
    pub backlog_bytes: u64,
    /// The longest frame that the port's link carries, bytes.
    pub frame_bytes_max: u32,
}

/// A frame, as a discipline is told of it.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// From destination address to FCS, bytes.
    pub frame_bytes: u16,
    /// TCP or UDP payload in it, bytes.
    pub payload_bytes: u16,
    /// Its ECN field.
    pub ecn: Ecn,
    /// One direction of one connection has one number.
    pub flow: u32,
    /// The traffic class, 0 to 7.
    pub priority: u8,
    /// The port it came in by.
    pub in_port: u16,
    /// Since when it waits.
    pub since: Time,
    /// What `rank` answered for it.
    pub rank: i64,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// It is marked, if its ECN field allows it.
    pub mark: Option<Mark>,
    /// It is dropped.
    pub drop: bool,
}

/// A discipline at work in one queue. Without a clock or randomness of its own: the same calls give the same
/// answers.
pub trait OwnQueue: fmt::Debug + Send + Sync {
    /// What it listens to; always the same.
    fn needs(&self) -> Needs;
    /// A frame has come, for which the switch has room.
    fn enqueue(&mut self, _look: &Look, _packet: &Packet) -> Verdict {
        Verdict::default()
    }
    /// Where it joins the queue: before all of a greater rank. Asked after `enqueue`.
    fn rank(&mut self, _look: &Look, _packet: &Packet) -> i64 {
        0
    }
    /// A frame is the next to leave; if it is dropped the one after it is asked of.
    fn dequeue(&mut self, _look: &Look, _packet: &Packet) -> Verdict {
        Verdict::default()
    }
    /// When this frame, the first of those that wait, may leave. Asked anew whenever a frame has come or left.
    fn due(&mut self, _look: &Look, _packet: &Packet) -> Time {
        Time::ZERO
    }
    /// Another one in the same state.
    fn boxed_clone(&self) -> Box<dyn OwnQueue>;
}

/// Makes disciplines by their names.
pub trait MakeQueue: fmt::Debug + Send + Sync {
    /// One for an empty queue, all of whose randomness derives from `seed`; nothing if there is none of this name.
    fn make(&self, name: &str, seed: u64) -> Option<Box<dyn OwnQueue>>;
}

/// Who makes disciplines, if anybody does. Two are equal if they are the same.
#[derive(Clone, Debug, Default)]
pub struct OwnQueues(pub Option<Arc<dyn MakeQueue>>);

impl PartialEq for OwnQueues {
    fn eq(&self, other: &OwnQueues) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(another)) => Arc::ptr_eq(one, another),
            _ => false,
        }
    }
}

/// A queue under one.
#[derive(Debug)]
pub struct Own {
    discipline: Box<dyn OwnQueue>,
    needs: Needs,
    /// By rank, and those of one rank as they came.
    queue: BTreeMap<(i64, u64), Held>,
    bytes: u64,
    /// When the first may leave.
    held_until: Time,
    /// Frames that have come.
    come: u64,
    frame_bytes_max: u32,
}

/// In the place of one that nobody makes.
#[derive(Clone, Debug)]
struct Fifo;

impl OwnQueue for Fifo {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn boxed_clone(&self) -> Box<dyn OwnQueue> {
        Box::new(Fifo)
    }
}

impl Own {
    /// An empty queue of frames of so many bytes at most, whose discipline draws from what `stream` gives. First
    /// in, first out, if nobody makes it.
    #[must_use]
    pub fn new(config: &OwnQueueConfig, frame_bytes_max: u32, mut stream: Stream) -> Own {
        let maker = config.own.0.as_ref();
        let made = maker.and_then(|maker| maker.make(&config.name, stream.next_u64()));
        let discipline = made.unwrap_or_else(|| Box::new(Fifo));
        Own {
            needs: discipline.needs(),
            discipline,
            queue: BTreeMap::new(),
            bytes: 0,
            held_until: Time::ZERO,
            come: 0,
            frame_bytes_max,
        }
    }

    fn look(&self, now: Time) -> Look {
        Look {
            now,
            qlen: self.queue.len(),
            backlog_bytes: self.bytes,
            frame_bytes_max: self.frame_bytes_max,
        }
    }

    /// A frame joins the queue, or is dropped.
    pub fn enqueue(
        &mut self,
        now: Time,
        mut held: Held,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) {
        let look = self.look(now);
        let mut packet = seen(&held, frames, 0);
        if self.needs.enqueue {
            let verdict = self.discipline.enqueue(&look, &packet);
            if !carried_out(verdict, &mut held, frames, effects) {
                return;
            }
            packet.ecn = frames.header(held.frame.frame).ecn;
        }
        let rank = match self.needs.rank {
            true => self.discipline.rank(&look, &packet),
            false => 0,
        };
        self.bytes += u64::from(held.frame.frame_bytes);
        self.queue.insert((rank, self.come), held);
        self.come += 1;
        self.ask_when(now, frames);
    }

    /// When the first frame may leave, if any waits.
    #[must_use]
    pub fn held_until(&self) -> Time {
        self.held_until
    }

    /// Asks when the frame at the head may leave.
    fn ask_when(&mut self, now: Time, frames: &FramePool) {
        if !self.needs.due {
            return;
        }
        let look = self.look(now);
        self.held_until = match self.queue.first_key_value() {
            Some(((rank, _), held)) => self.discipline.due(&look, &seen(held, frames, *rank)),
            None => Time::ZERO,
        };
    }

    /// The next frame, if any is left that need not be held back.
    pub fn dequeue(
        &mut self,
        now: Time,
        frames: &mut FramePool,
        effects: &mut Effects,
    ) -> Option<Held> {
        while self.held_until <= now {
            let ((rank, _), mut held) = self.queue.pop_first()?;
            self.bytes -= u64::from(held.frame.frame_bytes);
            let verdict = if self.needs.dequeue {
                let packet = seen(&held, frames, rank);
                self.discipline.dequeue(&self.look(now), &packet)
            } else {
                Verdict::default()
            };
            self.ask_when(now, frames);
            if carried_out(verdict, &mut held, frames, effects) {
                return Some(held);
            }
        }
        None
    }

    /// The frame at the head.
    #[must_use]
    pub fn first(&self) -> Option<&Held> {
        self.queue.first_key_value().map(|(_, held)| held)
    }

    /// Frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Held> {
        self.queue.values()
    }
}

fn seen(held: &Held, frames: &FramePool, rank: i64) -> Packet {
    Packet {
        frame_bytes: held.frame.frame_bytes,
        payload_bytes: held.frame.payload_bytes,
        ecn: frames.header(held.frame.frame).ecn,
        flow: held.frame.to.0,
        priority: held.frame.class,
        in_port: held.in_port,
        since: held.since,
        rank,
    }
}

/// Marks or drops a frame; says whether it is still there.
fn carried_out(
    verdict: Verdict,
    held: &mut Held,
    frames: &mut FramePool,
    effects: &mut Effects,
) -> bool {
    if verdict.drop {
        effects.drop(*held, DropCause::Early);
        return false;
    }
    if let Some(mark) = verdict.mark {
        effects.mark(held, frames, mark);
    }
    true
}

impl Clone for Own {
    fn clone(&self) -> Own {
        Own {
            discipline: self.discipline.boxed_clone(),
            queue: self.queue.clone(),
            ..*self
        }
    }
}

#[cfg(test)]
#[path = "own_tests.rs"]
mod tests;
