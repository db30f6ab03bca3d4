//! A discipline fed with what a real one was fed with, and held against what that one did.
//!
//! What came when, what left when and with which mark was seen at a kernel's queue. Each decision of the model is
//! compared as it is made. Where it is drawn, other draws are tried until one comes out as the kernel's, so that both
//! stay in step: a decision that no draw explains is a difference, and how often the model would have
//! acted is counted beside how often the kernel did. A look at the queue may be some microseconds early or late, for
//! kernels count in coarser units and their clocks are read before and after. The kernel's queue is
//! looked at as token buckets look at theirs: its next frame is taken out (and judged) as soon as the one before has
//! left or, where none waited, as it comes.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tailback_tcp::{Ecn, Segment, Seq};
use tailback_units::Time;

use super::{Discipline, Effects, Held, QueueConfig};
use crate::frame::{EndpointId, Frame, HostId};
use crate::marking::{Marker, MarkingConfig, QueueLook, Verdict};
use crate::pool::FramePool;
use crate::random::Stream;
use crate::switch::shared::Pool;

/// A frame: when it came (ns), its flow, bytes and DS field (of that the class selector and the ECN field count), and when it
/// left with which ECN field, if it did.
pub type Passage = (u64, u32, u16, u8, Option<(u64, u8)>);

/// What is to be replayed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// The model to hold against it.
    pub queue: QueueConfig,
    /// A marking rule before the queue, as RED is.
    #[serde(default)]
    pub marking: Option<MarkingConfig>,
    /// The longest frame, as the kernel counts it, bytes.
    pub frame_bytes_max: u32,
    /// By how much a look may be early or late, ns.
    pub slack_ns: u64,
    /// How long the discipline has been there when the first frame comes, ns: its controller's timer runs from there.
    #[serde(default)]
    pub phase_ns: u64,
    /// How many draws are tried for each decision that the kernel made; 1 for what draws nothing.
    pub draws: u32,
    /// Whether the next frame is taken out as soon as the one before has left, as by a token bucket; otherwise it is
    /// where it was until it leaves.
    pub takes_early: bool,
    /// Whether the discipline itself says when the next frame leaves, so that this is held against the kernel's too.
    #[serde(default)]
    pub own_pace: bool,
    /// Every frame in the order in which they came; DS fields as in the IP header.
    pub frames: Vec<Passage>,
}

/// How far both are alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Replayed {
    /// Frames decided on alike before the first that was not, or all.
    pub alike: usize,
    /// What parted, in words.
    pub difference: Option<String>,
    /// Frames that the kernel dropped, and marked.
    pub dropped: u64,
    /// Frames that it marked.
    pub marked: u64,
    /// Looks that were alike only some microseconds earlier or later.
    pub off_by_slack: u64,
    /// For each tenth of the time: how often the kernel acted where the model draws, how often the model would have in
    /// the mean, and that figure's variance.
    pub acted: Vec<(f64, f64, f64)>,
}

/// How many draws a prediction is the mean of.
const PREDICTIONS: u32 = 32;

/// How many draws are tried at the time that was seen before others are.
const EXACT_DRAWS: u32 = 1000;

/// Of a frame that comes and one that leaves so near one another, either may have been first: a sender's stamp is
/// of before its call.
const ORDER_NS: u64 = 600;

#[derive(Clone)]
struct Subject {
    discipline: Discipline,
    marker: Marker,
}

impl Subject {
    fn reseed(&mut self, seed: u64) {
        self.discipline.reseed(Stream::new(seed, "queue", 0));
        self.marker.reseed(Stream::new(seed, "marking", 0));
    }
}

/// What came of one call of the model.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    served: Option<(usize, Ecn)>,
    dropped: Vec<usize>,
}

struct Replay<'a> {
    recording: &'a Recording,
    subject: Subject,
    frames: FramePool,
    /// Of each frame that waits in the pool: its handle.
    waiting: Vec<Option<Held>>,
    /// The ECN field that each frame bears.
    bears: Vec<Ecn>,
    backlog_bytes: u64,
    /// When the last frame came or left, ns.
    last_ns: u64,
    /// The kernel's departures in order.
    leaves: VecDeque<(u64, usize)>,
    /// Whether the kernel is known to judge frames as they come.
    on_arrival: bool,
    seed: u64,
    result: Replayed,
}

/// Replays `recording`.
#[must_use]
pub fn replay(recording: &Recording) -> Replayed {
    let count = recording.frames.len();
    let mut leaves: Vec<(u64, usize)> = (recording.frames.iter().enumerate())
        .filter_map(|(number, frame)| frame.4.map(|(at, _)| (at, number)))
        .collect();
    leaves.sort_unstable();
    let stream = || Stream::new(0, "queue", 0);
    let off = MarkingConfig::Off(crate::marking::Off {});
    let marking = recording.marking.as_ref().unwrap_or(&off);
    let longest = recording.frame_bytes_max;
    let mut replay = Replay {
        recording,
        subject: Subject {
            discipline: Discipline::new(&recording.queue, longest, stream()),
            marker: Marker::new(marking, 1, &[u64::MAX], stream()),
        },
        frames: FramePool::default(),
        waiting: vec![None; count],
        bears: recording.frames.iter().map(|frame| ecn(frame.3)).collect(),
        backlog_bytes: 0,
        last_ns: 0,
        leaves: leaves.into(),
        on_arrival: matches!(recording.queue, QueueConfig::Pie(_)) || recording.marking.is_some(),
        seed: 0,
        result: Replayed {
            acted: vec![(0.0, 0.0, 0.0); 10],
            ..Replayed::default()
        },
    };
    for frame in &recording.frames {
        match frame.4 {
            None => replay.result.dropped += 1,
            Some((_, ecn)) => replay.result.marked += u64::from(ecn != frame.3 & 3),
        }
    }
    if let Err(why) = replay.run() {
        replay.result.difference = Some(why);
    }
    replay.result
}

fn ecn(bits: u8) -> Ecn {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(bits & 3)]
}

impl Recording {
    /// Whether the frame after this one comes after `left`.
    fn is_later(&self, number: usize, left: u64) -> bool {
        self.frames.get(number + 1).is_none_or(|next| next.0 > left)
    }
}

impl Replay<'_> {
    fn run(&mut self) -> Result<(), String> {
        let takes_early = self.recording.takes_early;
        let mut taken = None;
        for number in 0..self.recording.frames.len() {
            let at = self.recording.frames[number].0;
            let mut has_come = false;
            while let Some((left, _)) = self.leaves.front().copied()
                && left < at
            {
                let left_alone = self.leave(&mut taken, takes_early);
                if left_alone.is_err() && takes_early && left + ORDER_NS > at && !has_come {
                    // It had come already.
                    self.arrive(number)?;
                    has_come = true;
                    taken = self.look(left)?;
                    self.result.off_by_slack += 1;
                } else {
                    left_alone?;
                }
            }
            if !has_come {
                self.come(number, &mut taken, takes_early)?;
            }
            self.result.alike = number + 1;
        }
        while !self.leaves.is_empty() {
            self.leave(&mut taken, takes_early)?;
        }
        Ok(())
    }

    /// A frame comes; if one is about to leave, it may in truth have left before.
    fn come(
        &mut self,
        number: usize,
        taken: &mut Option<usize>,
        takes_early: bool,
    ) -> Result<(), String> {
        let at = self.recording.frames[number].0;
        let next = self.leaves.front().copied();
        let soon =
            next.filter(|(left, next)| takes_early && *left < at + ORDER_NS && *next != number);
        let before = soon.map(|_| (self.subject.clone(), self.result.acted.clone()));
        self.arrive(number)?;
        if taken.is_none() && takes_early {
            *taken = self.look(at)?;
        }
        let (Some((left, next)), Some(before)) = (soon, before) else {
            return Ok(());
        };
        if *taken != Some(next) || !self.recording.is_later(number, left) {
            return Ok(());
        }
        let Err(why) = self.leave(taken, takes_early) else {
            return Ok(());
        };
        if self.on_arrival || self.waiting[number].is_none() {
            return Err(why);
        }
        (self.subject, self.result.acted) = before;
        self.result.off_by_slack += 1;
        self.bears[number] = ecn(self.recording.frames[number].3);
        self.forget(&[number]);
        *taken = self.look(left)?;
        self.arrive(number)?;
        if taken.is_none() {
            *taken = self.look(left)?;
        }
        Ok(())
    }

    /// The kernel's next frame leaves.
    fn leave(&mut self, taken: &mut Option<usize>, takes_early: bool) -> Result<(), String> {
        let Some((at, number)) = self.leaves.front().copied() else {
            return Ok(());
        };
        if self.recording.own_pace {
            self.is_due(at, number)?;
        }
        if !takes_early {
            *taken = self.look(at)?;
        }
        if *taken != Some(number) {
            return Err(format!(
                "at {at} ns frame {number} leaves, the model has {taken:?}"
            ));
        }
        self.leaves.pop_front();
        *taken = None;
        if takes_early {
            *taken = self.look(at)?;
        }
        Ok(())
    }

    /// Whether the model lets the next frame go at about this time too.
    fn is_due(&mut self, at: u64, number: usize) -> Result<(), String> {
        let held_until = self.subject.discipline.held_until().as_ps() / 1000;
        let due = held_until
            .saturating_sub(self.recording.phase_ns)
            .max(self.last_ns);
        self.last_ns = at;
        if at.abs_diff(due) > self.recording.slack_ns {
            return Err(format!(
                "at {at} ns frame {number} leaves, which the model lets go at {due} ns"
            ));
        }
        Ok(())
    }

    fn part(&mut self, at: u64) -> &mut (f64, f64, f64) {
        let span = self.recording.frames.last().map_or(1, |frame| frame.0 + 1);
        let tenth = (at * 10 / span).min(9) as usize;
        &mut self.result.acted[tenth]
    }

    /// Tries draws, if any are drawn here, until `fits`, and counts how often the model would have acted.
    fn decide(
        &mut self,
        (times, is_drawn): (&[u64], bool),
        act: impl Fn(&mut Self, &mut Subject, Time) -> Outcome,
        fits: impl Fn(&Self, &Outcome) -> bool,
    ) -> Result<Outcome, String> {
        let at = times[0];
        let draws = if is_drawn { self.recording.draws } else { 1 };
        let mut mean = 0.0;
        if draws > 1 {
            let mut would = 0;
            for _ in 0..PREDICTIONS {
                self.seed += 1;
                let mut tried = self.subject.clone();
                tried.reseed(self.seed);
                let now = self.time(at);
                let outcome = act(self, &mut tried, now);
                would += u32::from(self.acts(&outcome));
                self.restore(&outcome);
            }
            mean = f64::from(would) / f64::from(PREDICTIONS);
        }
        let mut last = None;
        for draw in 0..draws.max(1) {
            // Drawn anew at the time that was seen, with one look a little early or late.
            let may_be_off = draws <= 1 || draw == EXACT_DRAWS;
            let times = if may_be_off { times } else { &times[..1] };
            for (n, time) in times.iter().enumerate() {
                self.seed += 1;
                let mut tried = self.subject.clone();
                tried.reseed(self.seed);
                let now = self.time(*time);
                let outcome = act(self, &mut tried, now);
                if fits(self, &outcome) {
                    self.result.off_by_slack += u64::from(n > 0);
                    self.subject = tried;
                    // A decision that does not stand counts on neither side.
                    if draws > 1 {
                        let did = self.acts(&outcome);
                        let part = self.part(at);
                        part.0 += f64::from(u8::from(did));
                        part.1 += mean;
                        part.2 += mean * (1.0 - mean);
                    }
                    if let Some((number, ecn)) = outcome.served {
                        self.bears[number] = ecn;
                    }
                    return Ok(outcome);
                }
                self.restore(&outcome);
                last.get_or_insert(outcome);
            }
        }
        let expected = self.leaves.front();
        Err(format!(
            "at {at} ns: the model has {last:?}, the kernel's next is {expected:?}"
        ))
    }

    /// Whether it dropped a frame, or marked the one that it let go.
    fn acts(&self, outcome: &Outcome) -> bool {
        let is_marked = |(number, ecn): (usize, Ecn)| self.bears[number] != ecn;
        !outcome.dropped.is_empty() || outcome.served.is_some_and(is_marked)
    }

    /// Marks that a failed try has set are taken back.
    fn restore(&mut self, outcome: &Outcome) {
        let numbers = outcome.served.iter().map(|(number, _)| *number);
        for number in numbers.chain(outcome.dropped.iter().copied()) {
            if let Some(held) = self.waiting[number] {
                self.frames.header_mut(held.frame.frame).ecn = self.bears[number];
            }
        }
    }

    fn arrive(&mut self, number: usize) -> Result<(), String> {
        let (at, flow, bytes, bits, left) = self.recording.frames[number];
        self.last_ns = at;
        let mut segment = Segment::EMPTY;
        segment.ecn = ecn(bits);
        segment.priority = bits >> 5;
        segment.seq = Seq(number as u32);
        let mut frame = Frame::new(segment, EndpointId(flow), HostId(0));
        frame.frame_bytes = bytes;
        let now = self.time(at);
        let held = Held {
            frame: self.frames.put(now, &frame),
            in_port: 0,
            pool: Pool::Shared,
            since: now,
            marked: false,
        };
        self.waiting[number] = Some(held);
        let backlog_bytes = self.backlog_bytes;
        let is_random = self.on_arrival;
        let act = |replay: &mut Self, subject: &mut Subject, now: Time| {
            let mut effects = Effects::default();
            let look = QueueLook {
                port: 0,
                band: 0,
                queued_bytes: backlog_bytes,
                free_at: Time::NEVER,
            };
            let header = replay.frames.header_mut(held.frame.frame);
            let mut dropped = Vec::new();
            if subject.marker.arrive(now, look, header) == Verdict::Drop {
                dropped.push(number);
            } else {
                subject
                    .discipline
                    .enqueue(now, held, &mut replay.frames, &mut effects);
            }
            dropped.extend(
                effects
                    .dropped_now
                    .iter()
                    .map(|(held, _)| replay.number(held)),
            );
            let ecn = replay.frames.header(held.frame.frame).ecn;
            Outcome {
                served: Some((number, ecn)),
                dropped,
            }
        };
        let wanted = left.map(|(_, bits)| ecn(bits));
        let fits = |replay: &Self, outcome: &Outcome| {
            let lost = |n: &usize| replay.recording.frames[*n].4.is_none();
            outcome.dropped.iter().all(lost)
                && (!is_random
                    || (outcome.dropped.contains(&number) == wanted.is_none()
                        && wanted.is_none_or(|ecn| outcome.served == Some((number, ecn)))))
        };
        let outcome = self.decide((&[at], is_random), act, fits)?;
        self.backlog_bytes += u64::from(bytes);
        self.forget(&outcome.dropped);
        Ok(())
    }

    /// The next frame is taken out; those dropped before it are decided on one by one.
    fn look(&mut self, at: u64) -> Result<Option<usize>, String> {
        loop {
            let outcome = self.judge(at)?;
            self.forget(&outcome.dropped);
            if let Some((number, _)) = outcome.served {
                self.forget(&[number]);
            } else if !outcome.dropped.is_empty() {
                continue;
            }
            return Ok(outcome.served.map(|(number, _)| number));
        }
    }

    /// One decision of a look, as the kernel made it.
    fn judge(&mut self, at: u64) -> Result<Outcome, String> {
        let slack = self.recording.slack_ns;
        let times = [at, at + slack, at.saturating_sub(slack)];
        let act = |replay: &mut Self, subject: &mut Subject, now: Time| {
            let mut effects = Effects::default();
            let served = subject
                .discipline
                .judge(now, &mut replay.frames, &mut effects);
            let ecn_of = |held: &Held| replay.frames.header(held.frame.frame).ecn;
            Outcome {
                served: served
                    .as_ref()
                    .map(|held| (replay.number(held), ecn_of(held))),
                dropped: effects
                    .dropped_now
                    .iter()
                    .map(|(held, _)| replay.number(held))
                    .collect(),
            }
        };
        let wanted = self.leaves.front().map(|(_, number)| {
            let left = self.recording.frames[*number].4;
            (*number, left.map_or(Ecn::NotEct, |(_, bits)| ecn(bits)))
        });
        let fits = |replay: &Self, outcome: &Outcome| {
            let lost = |n: &usize| replay.recording.frames[*n].4.is_none();
            // What has not come yet leaves later.
            let waits = wanted.is_some_and(|(number, _)| replay.waiting[number].is_some());
            outcome.dropped.iter().all(lost)
                && match outcome.served {
                    Some(served) => wanted == Some(served),
                    None => !waits || !outcome.dropped.is_empty(),
                }
        };
        self.decide((&times, !self.on_arrival), act, fits)
    }

    /// A time of the recording on the model's clock.
    fn time(&self, at: u64) -> Time {
        Time::from_ps((at + self.recording.phase_ns) * 1000)
    }

    fn number(&self, held: &Held) -> usize {
        self.frames.header(held.frame.frame).seq.0 as usize
    }

    /// These frames wait no more.
    fn forget(&mut self, numbers: &[usize]) {
        for number in numbers {
            if let Some(held) = self.waiting[*number].take() {
                self.frames.release(held.frame.frame);
                self.backlog_bytes -= u64::from(held.frame.frame_bytes);
            }
        }
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
