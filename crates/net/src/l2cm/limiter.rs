//! A rate limiter at a host: the queue of one flow, let out at the rate its reaction point allows.
//!
//! Models a leaky bucket of one frame: a frame may leave once the one before it is paid for at the
//! rate that held in the meantime, so a change of rate acts at once.

use std::collections::VecDeque;

use tailback_units::{Duration, Rate, Time};

use super::{Feedback, ReactionPoint};
use crate::pool::Flight;

/// A limiter at work, from the first message on until its rate is the line's again.
#[derive(Clone, Debug)]
pub struct Limiter {
    reaction: ReactionPoint,
    line: Rate,
    queue: VecDeque<Flight>,
    /// Bits that have been sent and not been paid for, as of `settled`, in 2^-16 bits.
    owed: u128,
    settled: Time,
}

const PS_PER_SECOND: u128 = 1_000_000_000_000;

impl Limiter {
    /// A limiter at line rate, about to get its first message.
    #[must_use]
    pub fn new(reaction: ReactionPoint, line: Rate, now: Time) -> Limiter {
        Limiter {
            reaction,
            line,
            queue: VecDeque::new(),
            owed: 0,
            settled: now,
        }
    }

    /// The rate it allows.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.reaction.rate()
    }

    /// Whether it obeys that congestion point's messages to send more.
    #[must_use]
    pub fn associated(&self, point: u32) -> bool {
        self.reaction.associated(point)
    }

    /// A message has arrived.
    pub fn message(&mut self, now: Time, point: u32, feedback: Feedback) {
        self.settle(now);
        self.reaction.message(now, point, feedback);
    }

    /// A frame joins the queue.
    pub fn push(&mut self, frame: Flight) {
        self.queue.push_back(frame);
    }

    /// When the next frame may leave; [`Time::NEVER`] if none waits.
    #[must_use]
    pub fn ready_at(&self) -> Time {
        if self.queue.is_empty() {
            return Time::NEVER;
        }
        let bps = u128::from(self.rate().as_bps().max(1));
        let ps = (self.owed * PS_PER_SECOND).div_ceil(bps << 16);
        self.settled + Duration::from_ps(ps.min(u128::from(u64::MAX)) as u64)
    }

    /// The next frame, if it may leave by `now`.
    pub fn pop(&mut self, now: Time) -> Option<Flight> {
        if self.ready_at() > now {
            return None;
        }
        self.settle(now);
        let frame = self.queue.pop_front()?;
        self.owed += u128::from(frame.wire_bytes() * 8) << 16;
        self.reaction.sent(now, u64::from(frame.frame_bytes));
        Some(frame)
    }

    /// When [`Limiter::handle_timeout`] is to be called.
    #[must_use]
    pub fn poll_timeout(&self) -> Time {
        self.reaction.poll_timeout()
    }

    /// A timer of the reaction point is due.
    pub fn handle_timeout(&mut self, now: Time) {
        self.settle(now);
        self.reaction.handle_timeout(now);
    }

    /// Whether it limits nothing any more and can go.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.queue.is_empty() && self.rate() >= self.line && self.reaction.may_go()
    }

    /// Frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Flight> {
        self.queue.iter()
    }

    /// Pays for the time since the last look at the rate that held.
    fn settle(&mut self, now: Time) {
        let ps = u128::from(now.since(self.settled).as_ps());
        let paid = (ps * (u128::from(self.rate().as_bps()) << 16)) / PS_PER_SECOND;
        self.owed = self.owed.saturating_sub(paid);
        self.settled = now;
    }
}

#[cfg(test)]
#[path = "limiter_tests.rs"]
mod tests;
