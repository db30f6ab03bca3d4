//! Continuous senders that are measured, and pings beside them: workloads `iperf3` and `flent`.
//!
//! Flows without end that begin at their times, a window of time that is measured, pings every so often
//! and a look at all flows every `interval`. What still sends when the load ends before the run
//! does is reset, as a program that is killed leaves its sockets.

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::Measurement;
use tailback_units::{Duration, Time};

use super::{Action, Ending, Notice, Request};

/// Bytes that a sender wants to send: more than any run carries.
const ENDLESS: u64 = 1 << 62;
/// Time between looks at the queue: its mean over a run of seconds.
const QUEUE_LOOK: Duration = Duration::from_ms(1);

/// Data of a ping, bytes: ping(8)'s.
const PING_BYTES: u16 = 56;

/// The answer to a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Which of the measurement's pings.
    pub(crate) line: usize,
    /// When it was sent.
    pub(crate) sent: Time,
    /// When the answer came.
    pub(crate) at: Time,
}

impl Answer {
    /// The round trip.
    pub(crate) fn rtt(&self) -> Duration {
        self.at.since(self.sent)
    }
}

/// The senders. Endpoint 2i is the sending end of flow i, in the order of their starts.
#[derive(Debug)]
pub(crate) struct MeasuredApp {
    spec: Measurement,
    opened: usize,
    begun: bool,
    stopped: bool,
    done: bool,
    next_ping: Time,
    next_look: Time,
    next_interval: Time,
    /// When each ping was sent; none: it has been answered.
    pinged: Vec<Option<Time>>,
    answers: Vec<Answer>,
    /// By line, which of its pings was the last that has been answered.
    last_answered: Vec<Option<usize>>,
    read_bytes: u64,
    /// The hosts between which the pings go send and answer them themselves: they are kernels.
    pings_outside: bool,
}

impl MeasuredApp {
    /// `outside` are the hosts that are not modelled, by their numbers; missing: they are.
    pub(crate) fn new(spec: Measurement, outside: &[bool]) -> MeasuredApp {
        // All go to one host, and to one of its own kind.
        let first = spec.pings.first().map(|line| line.source);
        let pings_outside = first.is_some_and(|host| outside.get(host) == Some(&true));
        MeasuredApp {
            pings_outside,
            opened: 0,
            begun: false,
            stopped: false,
            done: false,
            next_ping: if spec.ping_interval.is_zero() || pings_outside {
                Time::NEVER
            } else {
                spec.begin
            },
            next_look: spec.load.0 + QUEUE_LOOK,
            next_interval: spec.begin + spec.interval,
            pinged: Vec::new(),
            answers: Vec::new(),
            last_answered: vec![None; spec.pings.len().max(1)],
            read_bytes: 0,
            spec,
        }
    }

    pub(super) fn alarm(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        if !self.begun && now >= self.spec.begin {
            self.begun = true;
            actions.push_back(Action::Begin { iteration: 0 });
        }
        while let Some(one) = self.spec.flows.get(self.opened)
            && one.flow.start <= now
        {
            self.opened += 1;
            actions.push_back(Action::Open {
                source: one.flow.source,
                destination: one.flow.destination,
                priority: one.flow.priority,
            });
        }
        // None when all ends: nobody would see its answer.
        if self.next_ping <= now && now < self.spec.end {
            self.next_ping = now + self.spec.ping_interval;
            for line in &self.spec.pings {
                actions.push_back(Action::Ping {
                    source: line.source,
                    destination: line.destination,
                    priority: line.priority,
                    number: self.pinged.len() as u32,
                    data_bytes: PING_BYTES,
                });
                self.pinged.push(Some(now));
            }
        }
        if self.next_look <= now {
            self.next_look = now + QUEUE_LOOK;
            actions.push_back(Action::LookAtQueues);
        }
        if self.next_interval <= now {
            // The last is as long as what is left, as iperf3's is.
            self.next_interval = match now < self.spec.end {
                true => (now + self.spec.interval).min(self.spec.end),
                false => Time::NEVER,
            };
            actions.push_back(Action::LookAtFlows);
        }
        if !self.stopped && now >= self.spec.load.1 {
            self.stopped = true;
            self.next_look = Time::NEVER;
            // What is still on its way is not the load's.
            actions.push_back(Action::CloseWindow);
            let lasting = if self.spec.load.1 < self.spec.end {
                self.opened as u32
            } else {
                0
            };
            for flow in 0..lasting {
                actions.push_back(Action::Finish {
                    endpoint: EndpointId(2 * flow),
                    ending: Ending::Abort,
                });
            }
        }
        if now >= self.spec.end {
            if !std::mem::replace(&mut self.done, true) {
                actions.push_back(Action::End {
                    started: self.spec.begin,
                });
            }
            return;
        }
        let open = self.spec.flows.get(self.opened).map(|one| one.flow.start);
        let begin = (!self.begun).then_some(self.spec.begin);
        let stop = (!self.stopped).then_some(self.spec.load.1);
        let next = [
            self.next_ping,
            self.next_look,
            self.next_interval,
            self.spec.end,
        ];
        let at = next.into_iter().chain(open).chain(begin).chain(stop).min();
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
            | Notice::Sent(_)
            | Notice::Closed
            | Notice::Failed => {}
        }
    }

    /// The answer to a ping has come. What the network has doubled is one answer, the first.
    pub(super) fn ping_answered(&mut self, now: Time, number: u32) {
        let ping = self.pinged.get_mut(number as usize);
        if let Some(sent) = ping.and_then(Option::take) {
            let lines = self.last_answered.len();
            let (line, round) = (number as usize % lines, number as usize / lines);
            let last = &mut self.last_answered[line];
            *last = (*last).max(Some(round));
            self.answers.push(Answer {
                line,
                sent,
                at: now,
            });
        }
    }

    /// Pings that hosts outside have sent, those of a line in any order.
    pub(super) fn pinged_outside(&mut self, pings: Vec<Request>) {
        if !self.pings_outside {
            return;
        }
        let lines = self.last_answered.len();
        for ping in pings.iter().filter(|ping| ping.pair < lines) {
            let round = ping.sequence as usize;
            let sent = self.pinged.len().max((round + 1) * lines);
            self.pinged.resize(sent, None);
            self.pinged[round * lines + ping.pair] = Some(ping.sent);
            // What comes after the end nobody here sees.
            let in_time = |rtt: &Duration| ping.sent + *rtt < self.spec.end;
            if let Some(rtt) = ping.rtt.filter(in_time) {
                let last = &mut self.last_answered[ping.pair];
                *last = (*last).max(Some(round));
                self.answers.push(Answer {
                    line: ping.pair,
                    sent: ping.sent,
                    at: ping.sent + rtt,
                });
            }
        }
        self.answers.sort_by_key(|answer| (answer.at, answer.line));
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// What is asked of it.
    pub(crate) fn spec(&self) -> &Measurement {
        &self.spec
    }

    /// Answers to pings.
    pub(crate) fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// Pings that were lost, as far as is known: those after the last that was answered may be on their way still. All of a
    /// line of which none was answered.
    pub(crate) fn pings_lost(&self) -> usize {
        let lines = self.last_answered.len().max(1);
        let sent = |line: usize| (self.pinged.len() + lines - 1 - line) / lines;
        let lines = self.last_answered.iter().enumerate();
        let judged = lines.map(|(line, last)| last.map_or(sent(line), |round| round + 1));
        judged.sum::<usize>() - self.answers.len()
    }

    /// Pings sent.
    pub(crate) fn pings(&self) -> usize {
        self.pinged.len()
    }
}

#[cfg(test)]
#[path = "measured_tests.rs"]
mod tests;
