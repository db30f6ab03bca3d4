//! Continuous senders, some of them measured, and a ping beside them.
//!
//! What workload `iperf3` comes down to: flows without end that begin at their times, a window of
//! time that is measured, a ping every so often from the first sender to the receiver, and a look
//! at all flows every `interval`.

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::{Flow, Iperf3};
use tailback_units::{Duration, Time};

use super::{Action, Notice};

/// Bytes that a sender wants to send: more than any run carries.
const ENDLESS: u64 = 1 << 62;
/// Time between looks at the queue: its mean over a run of seconds.
const QUEUE_LOOK: Duration = Duration::from_ms(1);

/// The senders. Endpoint 2i is the sending end of flow i, in the order of their starts.
#[derive(Debug)]
pub(crate) struct Iperf3App {
    spec: Iperf3,
    flows: Vec<(u32, Flow)>,
    opened: usize,
    begun: bool,
    done: bool,
    next_ping: Time,
    next_look: Time,
    next_interval: Time,
    pings: u32,
    /// When each ping was sent.
    pinged: Vec<Time>,
    /// When each answer came, and the round trip.
    answers: Vec<(Time, Duration)>,
    read_bytes: u64,
    /// The hosts between which the pings go send and answer them themselves: they are kernels.
    pings_outside: bool,
}

impl Iperf3App {
    /// `outside` are the hosts that are not modelled, by their numbers; missing: they are.
    pub(crate) fn new(spec: &Iperf3, seed: u64, outside: &[bool]) -> Iperf3App {
        Iperf3App {
            pings_outside: outside.get(1) == Some(&true),
            flows: spec.flows(seed),
            opened: 0,
            begun: false,
            done: false,
            next_ping: if spec.ping_interval.is_zero() || outside.get(1) == Some(&true) {
                Time::NEVER
            } else {
                spec.begin()
            },
            next_look: spec.begin() + QUEUE_LOOK,
            next_interval: spec.begin() + spec.interval,
            pings: 0,
            pinged: Vec::new(),
            answers: Vec::new(),
            read_bytes: 0,
            spec: spec.clone(),
        }
    }

    pub(super) fn alarm(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        if !self.begun && now >= self.spec.begin() {
            self.begun = true;
            actions.push_back(Action::Begin { iteration: 0 });
        }
        while let Some((_, flow)) = self.flows.get(self.opened)
            && flow.start <= now
        {
            self.opened += 1;
            actions.push_back(Action::Open {
                source: flow.source,
                destination: flow.destination,
            });
        }
        if self.next_ping <= now {
            self.next_ping = now + self.spec.ping_interval;
            self.pinged.push(now);
            actions.push_back(Action::Ping {
                source: 1,
                destination: 0,
                number: self.pings,
            });
            self.pings += 1;
        }
        if self.next_look <= now {
            self.next_look = now + QUEUE_LOOK;
            actions.push_back(Action::LookAtQueues);
        }
        if self.next_interval <= now {
            self.next_interval = now + self.spec.interval;
            actions.push_back(Action::LookAtFlows);
        }
        if now >= self.spec.end() {
            if !std::mem::replace(&mut self.done, true) {
                actions.push_back(Action::End {
                    started: self.spec.begin(),
                });
            }
            return;
        }
        let open = self.flows.get(self.opened).map(|(_, flow)| flow.start);
        let begin = (!self.begun).then(|| self.spec.begin());
        let next = [
            self.next_ping,
            self.next_look,
            self.next_interval,
            self.spec.end(),
        ];
        let at = next.into_iter().chain(open).chain(begin).min();
        actions.push_back(Action::Alarm {
            at: at.unwrap_or(Time::NEVER),
        });
    }

    #[inline]
    pub(super) fn notice(
        &mut self,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        let at_source = id.0.is_multiple_of(2);
        match notice {
            Notice::Connected if at_source => actions.push_back(Action::Write {
                endpoint: id,
                bytes: ENDLESS,
            }),
            Notice::Received(bytes) if !at_source => self.read_bytes += bytes,
            Notice::Connected
            | Notice::Received(_)
            | Notice::Awake
            | Notice::Sent
            | Notice::Closed => {}
        }
    }

    /// The answer to a ping has come.
    pub(super) fn ping_answered(&mut self, now: Time, number: u32) {
        if let Some(sent) = self.pinged.get(number as usize) {
            self.answers.push((now, now.since(*sent)));
        }
    }

    /// Pings that a host outside has sent, each with its time, and its round trip if it was answered.
    pub(crate) fn pinged_outside(&mut self, pings: &[(Time, Option<Duration>)]) {
        if !self.pings_outside {
            return;
        }
        self.pings = pings.len() as u32;
        let answered = pings.iter().filter_map(|(at, rtt)| Some((*at, (*rtt)?)));
        self.answers = answered.map(|(at, rtt)| (at + rtt, rtt)).collect();
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// What is asked of it.
    pub(crate) fn spec(&self) -> &Iperf3 {
        &self.spec
    }

    /// The sender of a flow, from 1.
    pub(crate) fn sender(&self, flow: usize) -> u32 {
        self.flows.get(flow).map_or(0, |(sender, _)| *sender)
    }

    /// Answers to pings: when each came, and its round trip.
    pub(crate) fn answers(&self) -> &[(Time, Duration)] {
        &self.answers
    }

    /// Pings sent.
    pub(crate) fn pings(&self) -> u32 {
        self.pings
    }
}

#[cfg(test)]
#[path = "iperf3_tests.rs"]
mod tests;
