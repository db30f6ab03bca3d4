//! A host's network card that can be stopped and told to send less.
//!
//! Stands behind the transmit queue of a host whose switch pauses it or sends it congestion
//! messages: frames wait here until the link is free, their class may be sent and their rate
//! limiter, if they have one, lets them. Classes take turns, and each has the transmit queue's bound to itself, as
//! the bands of pfifo_fast and the rings of a card with a queue for each class (mqprio) have, so that one that is
//! paused holds back no other; within a class limited flows and the rest take turns too.
//! Left out: a bound on what waits at a limiter (its class's bound counts it).

use std::collections::VecDeque;

use tailback_units::{Rate, Time};

use crate::flow_control::Paused;
use crate::frame::EndpointId;
use crate::l2cm::dcqcn::{DcqcnConfig, DcqcnReaction};
use crate::l2cm::{Feedback, L2cmConfig, Limiter, LimiterScope, ReactionPoint};
use crate::pool::Flight;
use crate::queue::ets::CLASSES;
use crate::random::Stream;

/// What a card that is free does next.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// Sends this frame.
    Frame(Flight),
    /// Waits until then.
    Wait(Time),
    /// Nothing: no frame may be sent until something happens.
    Idle,
}

/// The transmitting side of such a card.
#[derive(Clone, Debug)]
pub struct HostPort {
    line: Rate,
    queues: [VecDeque<Flight>; CLASSES],
    waiting: usize,
    /// The same by class, at limiters too.
    waiting_of: [usize; CLASSES],
    turn: usize,
    limiters: Vec<(u32, Limiter)>,
    scope: LimiterScope,
    /// Limiters there have ever been.
    made: u64,
    seed: u64,
    host: u64,
    /// Who may stop it, and has.
    pub paused: Paused,
}

impl HostPort {
    /// The card of host number `host` on a link of rate `line`.
    #[must_use]
    pub fn new(line: Rate, seed: u64, host: u64) -> HostPort {
        HostPort {
            line,
            queues: [const { VecDeque::new() }; CLASSES],
            waiting: 0,
            waiting_of: [0; CLASSES],
            turn: 0,
            limiters: Vec::new(),
            scope: LimiterScope::default(),
            made: 0,
            seed,
            host,
            paused: Paused::default(),
        }
    }

    /// A frame is to be sent.
    pub fn push(&mut self, frame: Flight) {
        self.waiting += 1;
        self.waiting_of[usize::from(frame.class)] += 1;
        let key = key(self.scope, &frame);
        match self.limiters.iter_mut().find(|(k, _)| *k == key) {
            Some((_, limiter)) => limiter.push(frame),
            None => self.queues[usize::from(frame.class)].push_back(frame),
        }
    }

    /// Frames that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Frames of one class that wait.
    #[must_use]
    pub fn len_of(&self, class: u8) -> usize {
        self.waiting_of[usize::from(class)]
    }

    /// True if no frame waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// The link is free: what is done next.
    pub fn next(&mut self, now: Time) -> Next {
        let places = CLASSES + self.limiters.len();
        let mut wait = Time::NEVER;
        for step in 0..places {
            let place = (self.turn + step) % places;
            let frame = match place.checked_sub(CLASSES) {
                None if self.paused.is_paused(now, place as u8) => None,
                None => self.queues[place].pop_front(),
                Some(limited) => {
                    let limiter = &mut self.limiters[limited].1;
                    let class = limiter.waiting().next().map(|frame| frame.class);
                    if class.is_none_or(|class| self.paused.is_paused(now, class)) {
                        None
                    } else {
                        let frame = limiter.pop(now);
                        if frame.is_none() {
                            wait = wait.min(limiter.ready_at());
                        }
                        frame
                    }
                }
            };
            if let Some(frame) = frame {
                self.turn = (place + 1) % places;
                self.waiting -= 1;
                self.waiting_of[usize::from(frame.class)] -= 1;
                return Next::Frame(frame);
            }
        }
        if self.waiting > 0 {
            wait = wait.min(self.paused.next_end(now));
        }
        if wait == Time::NEVER {
            Next::Idle
        } else {
            Next::Wait(wait)
        }
    }

    /// A congestion message of point `point` about `sampled`, a frame of this host, has arrived. The
    /// first that may makes a limiter, which takes over the frames it is about.
    pub fn message(
        &mut self,
        now: Time,
        config: &L2cmConfig,
        point: u32,
        sampled: &Flight,
        feedback: Feedback,
    ) {
        self.scope = config.limiters();
        let key = key(self.scope, sampled);
        if !feedback.limits && self.place(key).is_none() {
            return;
        }
        let line = self.line;
        let make = |stream| ReactionPoint::new(config, line, now, stream);
        self.limiter(now, key, make).message(now, point, feedback);
    }

    /// A CNP about a flow of this host, by the endpoint its frames are for, has arrived.
    pub fn notified(&mut self, now: Time, config: &DcqcnConfig, flow: EndpointId) {
        self.scope = LimiterScope::Flow;
        let line = self.line;
        let make = |_| ReactionPoint::Dcqcn(DcqcnReaction::new(config, line, now));
        let limiter = self.limiter(now, flow.0, make);
        limiter.message(now, 0, Feedback::CNP);
    }

    fn place(&self, key: u32) -> Option<usize> {
        self.limiters.iter().position(|(k, _)| *k == key)
    }

    /// The limiter of that key. A new one takes over the frames it is about.
    fn limiter(
        &mut self,
        now: Time,
        key: u32,
        make: impl FnOnce(Stream) -> ReactionPoint,
    ) -> &mut Limiter {
        let index = self.place(key).unwrap_or_else(|| {
            let number = (self.host << 32) | self.made;
            self.made += 1;
            let reaction = make(Stream::new(self.seed, "limiter", number));
            let mut limiter = Limiter::new(reaction, self.line, now);
            let scope = self.scope;
            for queue in &mut self.queues {
                let (own, others): (VecDeque<Flight>, VecDeque<Flight>) =
                    queue.drain(..).partition(|f| self::key(scope, f) == key);
                *queue = others;
                own.into_iter().for_each(|frame| limiter.push(frame));
            }
            self.limiters.push((key, limiter));
            self.limiters.len() - 1
        });
        &mut self.limiters[index].1
    }

    /// Whether the limiter of a frame's flow obeys a congestion point.
    #[must_use]
    pub fn is_associated(&self, point: u32, sampled: &Flight) -> bool {
        let key = key(self.scope, sampled);
        let limiter = self.limiters.iter().find(|(k, _)| *k == key);
        limiter.is_some_and(|(_, limiter)| limiter.associated(point))
    }

    /// When [`HostPort::handle_timeout`] is to be called.
    #[must_use]
    pub fn poll_timeout(&self) -> Time {
        let limiters = self.limiters.iter().map(|(_, l)| l.poll_timeout());
        limiters.min().unwrap_or(Time::NEVER)
    }

    /// A limiter's timer is due. Those that limit nothing any more go.
    pub fn handle_timeout(&mut self, now: Time) {
        for (_, limiter) in &mut self.limiters {
            if limiter.poll_timeout() <= now {
                limiter.handle_timeout(now);
            }
        }
        self.limiters.retain(|(_, limiter)| !limiter.is_done());
    }

    /// Limiters at work.
    #[must_use]
    pub fn limiters(&self) -> usize {
        self.limiters.len()
    }

    /// All frames that wait.
    pub fn waiting(&self) -> impl Iterator<Item = &Flight> {
        let limited = self.limiters.iter().flat_map(|(_, l)| l.waiting());
        self.queues.iter().flatten().chain(limited)
    }
}

/// What tells a limiter's frames from others.
fn key(scope: LimiterScope, frame: &Flight) -> u32 {
    match scope {
        LimiterScope::Destination => u32::from(frame.destination.0),
        LimiterScope::Flow => frame.to.0,
    }
}

#[cfg(test)]
#[path = "port_tests.rs"]
mod tests;
