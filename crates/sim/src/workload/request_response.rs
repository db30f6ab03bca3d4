//! Clients that ask, as soon as they have been answered or when it is time to, and servers that answer.

use std::collections::VecDeque;

use tailback_net::arrivals::Arrivals;
use tailback_net::frame::EndpointId;
use tailback_net::sizes::Lengths;
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
    /// The end of each connection that writes more: 0 the client's, 1 the server's.
    sender: u32,
    seed: u64,
    begin: Time,
    end: Time,
    latencies: Vec<Duration>,
    /// Of the same each, where there is to be a table of all or they are not alike.
    answers: Option<Vec<Answer>>,
    tells_each: bool,
    /// Bytes of requests that have been answered, and of the answers.
    answered_bytes: u64,
    /// Requests that were due in the time that is counted.
    due: u64,
    begun: bool,
    done: bool,
}

/// A request that has been answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// Number of its connection.
    pub(crate) flow: u32,
    /// When it was due.
    pub(crate) due: Time,
    /// From then to the last byte of the answer.
    pub(crate) latency: Duration,
    pub(crate) request_bytes: u64,
    pub(crate) response_bytes: u64,
}

/// A connection.
#[derive(Clone, Debug)]
struct Asked {
    /// When its requests were due that have no answer yet, the first first, and their bytes.
    unanswered: VecDeque<(Time, u64)>,
    /// When those are due that think first.
    thinking: VecDeque<Time>,
    /// When the next is due and those after it are from when the connection was up on, if they do not wait for answers.
    next: Option<Next>,
    /// The client's sizes: of requests to come, and of answers after the first that it reads.
    client: (Lengths, Lengths),
    /// The server's: of requests after the first that it reads, and of answers to come. It draws for itself, as a kernel's
    /// program does.
    server: (Lengths, Lengths),
    /// The first answer that the client has not read, and what is left of it.
    response: u64,
    response_left: u64,
    /// What is left of the first request that the server has not read.
    request_left: u64,
}

impl Asked {
    fn new(lengths: (Lengths, Lengths)) -> Asked {
        let (mut client, mut server) = (lengths.clone(), lengths);
        let response = client.1.draw();
        Asked {
            unanswered: VecDeque::new(),
            thinking: VecDeque::new(),
            next: None,
            response,
            response_left: response,
            request_left: server.0.draw(),
            client,
            server,
        }
    }
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
    /// Nothing has been opened yet. With `tells_each` there is to be a table of all requests.
    pub(crate) fn new(
        spec: &RequestResponse,
        flows: Vec<Flow>,
        seed: u64,
        tells_each: bool,
    ) -> RequestResponseApp {
        let (request, response) = spec.mean_bytes();
        RequestResponseApp {
            sender: u32::from(response > request),
            open: Vec::with_capacity(flows.len()),
            flows,
            seed,
            begin: spec.begin(),
            end: spec.end(),
            spec: spec.clone(),
            latencies: Vec::new(),
            answers: (tells_each || spec.is_drawn()).then(Vec::new),
            tells_each,
            answered_bytes: 0,
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
            let lengths = self.spec.lengths(self.seed, self.open.len());
            self.open.push(Asked::new(lengths));
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
        let asked = &mut self.open[number];
        let bytes = asked.client.0.draw();
        asked.unanswered.push_back((due, bytes));
        self.due += u64::from(due >= self.begin);
        actions.push_back(write(client(number), bytes));
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
            let next = asked.client.1.draw();
            let response_bytes = std::mem::replace(&mut asked.response, next);
            asked.response_left = next;
            // A server that answers what nobody asked is none of ours.
            let Some((due, request_bytes)) = asked.unanswered.pop_front() else {
                return;
            };
            if now >= self.begin {
                self.answered(Answer {
                    flow: number as u32,
                    due,
                    latency: now.since(due),
                    request_bytes,
                    response_bytes,
                });
            }
            let asked = &mut self.open[number];
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

    fn answered(&mut self, answer: Answer) {
        self.latencies.push(answer.latency);
        self.answered_bytes += answer.request_bytes + answer.response_bytes;
        if let Some(answers) = &mut self.answers {
            answers.push(answer);
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
                asked.request_left = asked.server.0.draw();
                let server = EndpointId(client(number).0 | 1);
                actions.push_back(write(server, asked.server.1.draw()));
            }
        }
    }

    /// Bytes of the first request that a server has not read yet.
    pub(super) fn request_left(&self, id: EndpointId) -> Option<u64> {
        let asked = self.open.get((id.0 / 2) as usize)?;
        (!id.0.is_multiple_of(2)).then_some(asked.request_left)
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
        self.answered_bytes
    }

    /// The client outside of this number, of whose requests so many were due, has waited for its answers from then on and
    /// so long; those before the `first` are not counted.
    pub(crate) fn answered_outside(
        &mut self,
        number: u32,
        first: u64,
        waits: impl Iterator<Item = (Time, Duration)>,
        due: u64,
    ) {
        self.due += due;
        let (mut requests, mut responses) = self.spec.lengths(self.seed, number as usize);
        for _ in 0..first {
            requests.draw();
            responses.draw();
        }
        for (due, latency) in waits {
            self.answered(Answer {
                flow: number,
                due,
                latency,
                request_bytes: requests.draw(),
                response_bytes: responses.draw(),
            });
        }
    }

    /// The end of each connection that writes more: 0 the client's, 1 the server's.
    pub(super) fn sender(&self) -> u32 {
        self.sender
    }

    /// Each request that has been answered, where that is kept, in the order of the answers.
    pub(crate) fn answers(&self) -> Option<&[Answer]> {
        self.answers.as_deref()
    }

    /// Whether there is to be a table of all requests.
    pub(crate) fn tells_each(&self) -> bool {
        self.tells_each
    }

    /// Whether sizes are drawn.
    pub(crate) fn is_drawn(&self) -> bool {
        self.spec.is_drawn()
    }

    /// Client and server of a connection.
    pub(crate) fn ends(&self, flow: u32) -> Option<[usize; 2]> {
        let flow = self.flows.get(flow as usize)?;
        Some([flow.source, flow.destination])
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
