//! Clients that ask, as soon as they have been answered or when it is time to, and servers that answer.

use std::collections::VecDeque;

use tailback_net::arrivals::Arrivals;
use tailback_net::frame::EndpointId;
use tailback_scenario::{Flow, RequestResponse};
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Duration, Time};

use super::{Action, Ending, Notice};

/// The connections. Endpoint 2i is the client's end of connection i, 2i + 1 the server's.
#[derive(Debug)]
pub(crate) struct RequestResponseApp {
    flows: Vec<Flow>,
    /// Those that are open.
    open: Vec<Asked>,
    spec: RequestResponse,
    seed: u64,
    begin: Time,
    end: Time,
    latencies: Vec<Duration>,
    /// Requests that were due in the time that is counted.
    due: u64,
    begun: bool,
    done: bool,
}

/// A connection.
#[derive(Clone, Debug, Default)]
struct Asked {
    /// When its requests were due that have no answer yet, the first first.
    unanswered: VecDeque<Time>,
    /// When those are due that think first.
    thinking: VecDeque<Time>,
    /// When the next is due and those after it are from when the connection was up on, if they do not wait for answers.
    next: Option<Next>,
    /// What its two ends still have to read, of the first answer and of the first request.
    response_left: u64,
    request_left: u64,
}

/// What comes next of requests that do not wait for answers.
#[derive(Clone, Debug)]
struct Next {
    connected: Time,
    due: Time,
    arrivals: Arrivals,
}

impl Next {
    fn new(connected: Time, arrivals: Arrivals) -> Next {
        let mut next = Next {
            connected,
            due: connected,
            arrivals,
        };
        next.advance();
        next
    }

    fn advance(&mut self) {
        let after_ns = self.arrivals.next();
        self.due = after_ns.map_or(Time::NEVER, |ns| self.connected + Duration::from_ns(ns));
    }
}

impl RequestResponseApp {
    /// Nothing has been opened yet.
    pub(crate) fn new(spec: &RequestResponse, flows: Vec<Flow>, seed: u64) -> RequestResponseApp {
        RequestResponseApp {
            open: Vec::with_capacity(flows.len()),
            flows,
            seed,
            begin: spec.begin(),
            end: spec.end(),
            spec: spec.clone(),
            latencies: Vec::new(),
            due: 0,
            begun: false,
            done: false,
        }
    }

    pub(super) fn start(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        self.alarm(now, actions);
    }

    /// The time of the next connection, of the first answer that is counted, or of the end.
    pub(super) fn alarm(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        if !self.begun && now >= self.begin {
            self.begun = true;
            actions.push_back(Action::Begin { iteration: 0 });
        }
        if now >= self.end {
            if !std::mem::replace(&mut self.done, true) {
                actions.push_back(Action::End {
                    started: self.begin,
                });
            }
            return;
        }
        while let Some(flow) = self.flows.get(self.open.len())
            && flow.start <= now
        {
            actions.push_back(Action::Open {
                source: flow.source,
                destination: flow.destination,
                priority: flow.priority,
            });
            self.open.push(Asked {
                request_left: self.spec.request.get(),
                response_left: self.spec.response.get(),
                ..Asked::default()
            });
        }
        let next = self.flows.get(self.open.len());
        let at = next.map_or(self.end, |flow| flow.start.min(self.end));
        let at = if self.begun { at } else { at.min(self.begin) };
        actions.push_back(Action::Alarm { at });
    }

    pub(super) fn notice(
        &mut self,
        now: Time,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        // Where hosts are outside, the run goes on until they have ended.
        let over = self.done;
        let number = (id.0 / 2) as usize;
        let is_client = id.0.is_multiple_of(2);
        match notice {
            Notice::Connected if is_client && over => actions.push_back(close(id)),
            Notice::Connected if is_client => self.connected(now, number, actions),
            Notice::Awake if is_client && !over => self.ask_due(now, number, actions),
            Notice::Received(bytes) if is_client => self.read_answers(now, number, bytes, actions),
            Notice::Received(bytes) => self.answer(number, bytes, actions),
            // A client outside has gone: the server closes too.
            Notice::Closed | Notice::Failed if !is_client => actions.push_back(close(id)),
            Notice::Connected
            | Notice::Awake
            | Notice::Sent(_)
            | Notice::Closed
            | Notice::Failed => {}
        }
    }

    fn connected(&mut self, now: Time, number: usize, actions: &mut VecDeque<Action>) {
        if let Some(arrivals) = self.spec.arrivals(self.seed, number) {
            self.open[number].next = Some(Next::new(now, arrivals));
            return self.ask_due(now, number, actions);
        }
        for _ in 0..self.spec.outstanding {
            self.ask(number, now, actions);
        }
    }

    /// Asks what is due, and says when it is to be woken for the next.
    fn ask_due(&mut self, now: Time, number: usize, actions: &mut VecDeque<Action>) {
        let end = self.end;
        loop {
            let asked = &mut self.open[number];
            let next = asked.next.as_ref().map(|next| next.due);
            let next = next.or(asked.thinking.front().copied());
            let Some(due) = next.filter(|due| *due < end) else {
                return;
            };
            if due > now {
                return actions.push_back(Action::Wake {
                    endpoint: client(number),
                    at: due,
                });
            }
            match &mut asked.next {
                Some(next) => next.advance(),
                None => drop(asked.thinking.pop_front()),
            }
            self.ask(number, due, actions);
        }
    }

    fn ask(&mut self, number: usize, due: Time, actions: &mut VecDeque<Action>) {
        self.open[number].unanswered.push_back(due);
        self.due += u64::from(due >= self.begin);
        actions.push_back(write(client(number), self.spec.request.get()));
    }

    /// A client has read so much.
    fn read_answers(
        &mut self,
        now: Time,
        number: usize,
        mut bytes: u64,
        actions: &mut VecDeque<Action>,
    ) {
        while bytes > 0 {
            let asked = &mut self.open[number];
            let of_this = bytes.min(asked.response_left);
            bytes -= of_this;
            asked.response_left -= of_this;
            if asked.response_left > 0 {
                return;
            }
            if self.done {
                return actions.push_back(close(client(number)));
            }
            asked.response_left = self.spec.response.get();
            // A server that answers what nobody asked is none of ours.
            let Some(due) = asked.unanswered.pop_front() else {
                return;
            };
            if now >= self.begin {
                self.latencies.push(now.since(due));
            }
            if self.spec.every.is_some() {
                continue;
            }
            if self.spec.think.is_zero() {
                self.ask(number, now, actions);
            } else {
                asked.thinking.push_back(now + self.spec.think);
                self.ask_due(now, number, actions);
            }
        }
    }

    /// A server has read so much.
    fn answer(&mut self, number: usize, mut bytes: u64, actions: &mut VecDeque<Action>) {
        let asked = &mut self.open[number];
        while bytes > 0 {
            let of_this = bytes.min(asked.request_left);
            bytes -= of_this;
            asked.request_left -= of_this;
            if asked.request_left == 0 {
                asked.request_left = self.spec.request.get();
                let server = EndpointId(client(number).0 | 1);
                actions.push_back(write(server, self.spec.response.get()));
            }
        }
    }

    /// What the socket at an endpoint asks for by TCP_CONGESTION.
    pub(super) fn congestion(&self, id: EndpointId) -> Option<CongestionKind> {
        self.flows.get((id.0 / 2) as usize)?.congestion
    }

    /// From when answers are counted.
    pub(super) fn counted_since(&self) -> Time {
        self.begin
    }

    /// Requests that were due in the time that is counted, where they do not wait for answers.
    pub(crate) fn due(&self) -> Option<u64> {
        self.spec.every.map(|_| self.due)
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Bytes of all answered requests and their answers.
    pub(super) fn read_bytes(&self) -> u64 {
        self.latencies.len() as u64 * (self.spec.request.get() + self.spec.response.get())
    }

    /// A client outside has waited so long for its answers, and so many requests were due.
    pub(crate) fn answered_outside(&mut self, latencies: impl Iterator<Item = Duration>, due: u64) {
        self.latencies.extend(latencies);
        self.due += due;
    }

    /// The end of each connection that writes more: 0 the client's, 1 the server's.
    pub(super) fn sender(&self) -> u32 {
        u32::from(self.spec.response > self.spec.request)
    }

    /// From each request to its answer, in the order of the answers.
    pub(crate) fn latencies(&self) -> &[Duration] {
        &self.latencies
    }
}

fn client(number: usize) -> EndpointId {
    EndpointId(2 * number as u32)
}

fn close(endpoint: EndpointId) -> Action {
    Action::Finish {
        endpoint,
        ending: Ending::Close,
    }
}

fn write(endpoint: EndpointId, bytes: u64) -> Action {
    Action::Write { endpoint, bytes }
}
