//! Hosts that ping others in equal steps of time.
//!
//! Each pair's requests go out at their times whether or not those before are answered. It is over when all answers
//! are in, or when those that are not have been waited for.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tailback_scenario::{Ping, Pinger};
use tailback_units::{Duration, Time};

use super::Action;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Request {
    pub(crate) sent: Time,
    /// Which of the workload's pairs sent it.
    pub(crate) pair: usize,
    /// Its number among the pair's.
    pub(crate) sequence: u32,
    /// From request to answer; none: it has not come.
    pub(crate) rtt: Option<Duration>,
}

/// The hosts that ping.
#[derive(Debug)]
pub(crate) struct PingApp {
    spec: Ping,
    pingers: Vec<Pinger>,
    /// The next request of each pair that has any, by time.
    next: BinaryHeap<Reverse<(Time, usize, u32)>>,
    requests: Vec<Request>,
    /// Requests that are not answered.
    open: usize,
    done: bool,
}

impl PingApp {
    /// `outside` are the hosts that are not modelled, by their numbers; missing: they are.
    pub(crate) fn new(spec: &Ping, pingers: Vec<Pinger>, outside: &[bool]) -> PingApp {
        let own = |pinger: &Pinger| outside.get(pinger.source) != Some(&true);
        let own = pingers.iter().enumerate().filter(|(_, one)| own(one));
        PingApp {
            next: own
                .map(|(pair, one)| Reverse((one.start, pair, 0)))
                .collect(),
            spec: spec.clone(),
            pingers,
            requests: Vec::new(),
            open: 0,
            done: false,
        }
    }

    pub(super) fn start(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        actions.push_back(Action::Begin { iteration: 0 });
        self.alarm(now, actions);
    }

    pub(super) fn alarm(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        while let Some(Reverse((at, pair, sequence))) = self.next.peek().copied()
            && at <= now
        {
            self.next.pop();
            let pinger = self.pingers[pair];
            actions.push_back(Action::Ping {
                source: pinger.source,
                destination: pinger.destination,
                priority: 0,
                number: self.requests.len() as u32,
                data_bytes: self.spec.size.get() as u16,
            });
            self.requests.push(Request {
                sent: now,
                pair,
                sequence,
                rtt: None,
            });
            self.open += 1;
            if sequence + 1 < pinger.count {
                let at = at + self.spec.interval;
                self.next.push(Reverse((at, pair, sequence + 1)));
            }
        }
        let last = self.requests.last().map_or(now, |request| request.sent);
        let end = last + self.spec.wait;
        match self.next.peek() {
            Some(Reverse((at, ..))) => actions.push_back(Action::Alarm { at: *at }),
            None if self.open > 0 && now < end => actions.push_back(Action::Alarm { at: end }),
            None => self.end(actions),
        }
    }

    fn end(&mut self, actions: &mut VecDeque<Action>) {
        if !std::mem::replace(&mut self.done, true) {
            actions.push_back(Action::End {
                started: Time::ZERO,
            });
        }
    }

    /// The answer to a request has come. What the network has doubled is one answer, the first.
    pub(super) fn ping_answered(&mut self, now: Time, number: u32, actions: &mut VecDeque<Action>) {
        let Some(request) = self.requests.get_mut(number as usize) else {
            return;
        };
        if self.done || request.rtt.is_some() {
            return;
        }
        request.rtt = Some(now.since(request.sent));
        self.open -= 1;
        if self.open == 0 && self.next.is_empty() {
            self.end(actions);
        }
    }

    /// Hosts outside have sent these requests.
    pub(super) fn pinged_outside(&mut self, requests: impl Iterator<Item = Request>) {
        self.requests.extend(requests);
        self.requests.sort_unstable();
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Bytes of data of all answers.
    pub(super) fn read_bytes(&self) -> u64 {
        let answered = self.requests.iter().filter(|r| r.rtt.is_some()).count();
        answered as u64 * self.spec.size.get()
    }

    /// Who pings whom.
    pub(crate) fn pingers(&self) -> &[Pinger] {
        &self.pingers
    }

    /// Every request, in the order of sending.
    pub(crate) fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// From the beginning until all answers were in, or had been waited for.
    pub(crate) fn span(&self) -> Duration {
        let over = |request: &Request| request.sent + request.rtt.unwrap_or(self.spec.wait);
        let last = self.requests.iter().map(over).max();
        last.unwrap_or(Time::ZERO).since(Time::ZERO)
    }
}

#[cfg(test)]
#[path = "ping_tests.rs"]
mod tests;
