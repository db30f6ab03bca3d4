//! Messages to everybody at a given load.
//!
//! What workload `bernoulli` comes down to: connection k·(n − 1) + j goes from host k to its j-th
//! other; each host draws slot by slot whether a message comes and for whom.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tailback_net::frame::EndpointId;
use tailback_net::random::{Stream, threshold};
use tailback_scenario::Bernoulli;
use tailback_units::{Duration, Time};

use super::{Action, Notice};

#[derive(Debug)]
struct Source {
    slot: Duration,
    stream: Stream,
}

/// The hosts' messages.
#[derive(Debug)]
pub(crate) struct BernoulliApp {
    sources: Vec<Source>,
    /// A slot has a message if a random 64-bit number is below this.
    below: u64,
    message_bytes: u64,
    end: Time,
    /// The next message of each host.
    next: BinaryHeap<Reverse<(Time, usize)>>,
    connected: Vec<bool>,
    /// Bytes for connections that are not up yet.
    pending: Vec<u64>,
    read_bytes: u64,
    done: bool,
}

impl BernoulliApp {
    /// `slots` has the length of each host's slot.
    pub(crate) fn new(spec: &Bernoulli, slots: Vec<Duration>, seed: u64) -> BernoulliApp {
        let connections = slots.len() * slots.len().saturating_sub(1);
        let source = |(host, slot)| Source {
            slot,
            stream: Stream::new(seed, "bernoulli", host as u64),
        };
        BernoulliApp {
            sources: (0..).zip(slots).map(source).collect(),
            below: threshold(spec.load),
            message_bytes: spec.message.get(),
            end: Time::ZERO + spec.duration,
            next: BinaryHeap::new(),
            connected: vec![false; connections],
            pending: vec![0; connections],
            read_bytes: 0,
            done: false,
        }
    }

    pub(super) fn start(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        actions.push_back(Action::Begin { iteration: 0 });
        let hosts = self.sources.len();
        for source in 0..hosts {
            for destination in (0..hosts).filter(|d| *d != source) {
                actions.push_back(Action::Open {
                    source,
                    destination,
                    priority: 0,
                });
            }
            let at = self.next_of(source, now);
            self.next.push(Reverse((at, source)));
        }
        self.alarm(now, actions);
    }

    /// When a host's next message comes, after the slot that begins at `from`.
    fn next_of(&mut self, host: usize, from: Time) -> Time {
        let source = &mut self.sources[host];
        let mut at = from + source.slot;
        while source.stream.next_u64() > self.below {
            at += source.slot;
        }
        at
    }

    pub(super) fn alarm(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        if now >= self.end {
            if !std::mem::replace(&mut self.done, true) {
                actions.push_back(Action::End {
                    started: Time::ZERO,
                });
            }
            return;
        }
        let others = self.sources.len() as u64 - 1;
        while let Some(Reverse((at, host))) = self.next.peek().copied()
            && at <= now
        {
            self.next.pop();
            let other = self.sources[host].stream.below(others);
            let connection = host as u64 * others + other;
            if self.connected[connection as usize] {
                actions.push_back(Action::Write {
                    endpoint: EndpointId(2 * connection as u32),
                    bytes: self.message_bytes,
                });
            } else {
                self.pending[connection as usize] += self.message_bytes;
            }
            let next = self.next_of(host, at);
            self.next.push(Reverse((next, host)));
        }
        let next = self.next.peek().map_or(self.end, |Reverse((at, _))| *at);
        actions.push_back(Action::Alarm {
            at: next.min(self.end),
        });
    }

    #[inline]
    pub(super) fn notice(
        &mut self,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        let connection = (id.0 / 2) as usize;
        let at_source = id.0.is_multiple_of(2);
        match notice {
            Notice::Connected if at_source => {
                self.connected[connection] = true;
                let bytes = std::mem::take(&mut self.pending[connection]);
                if bytes > 0 {
                    actions.push_back(Action::Write {
                        endpoint: id,
                        bytes,
                    });
                }
            }
            Notice::Received(bytes) if !at_source => self.read_bytes += bytes,
            Notice::Connected
            | Notice::Received(_)
            | Notice::Awake
            | Notice::Sent(_)
            | Notice::Closed
            | Notice::Failed => {}
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }
}

#[cfg(test)]
#[path = "bernoulli_tests.rs"]
mod tests;
