//! Flows from a list: each opens a connection at its time, sends and is done.
//!
//! What workloads `bulk` and `flows` come down to. A flow is complete when the receiving application
//! has read its last byte. Its connection ends as the agent's on kernels does (`crates/agent/src/traffic/bulk.rs`):
//! the source shuts its direction when TCP has taken all it has to write, and reads until the end of the
//! other; the destination closes when it has read to the end, and the source when it has seen that.
//! The destination's end is taken away when its FIN is acknowledged, the source's, in TIME-WAIT, as soon as
//! word of that can be there: the FIN it has is then the last that the other end sends, and what is on its way
//! before it is acknowledgements, which TIME-WAIT does not answer. What no frame can have told a host, the host does not know,
//! which is what lets parts of a network be worked off apart. A source whose TCP gives up tells the other end likewise; a destination
//! whose TCP gives up before it has read all is gone without a word. A program begins to write when
//! it has seen that its connection is up (`client_latency` of its host), and not while another of that
//! host begins (`send_call_cost`).
//! Left out: what TIME-WAIT answers to a FIN sent a second time that comes after the other end is gone. Flows without
//! end are not closed: the run ends. Of a flow with an
//! end outside, on a kernel, the source closes when it has written all, the destination
//! when it has read all, and it is complete here when the other side has closed too. Of a flow with both
//! ends outside nothing is seen here until those hosts have ended.

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::Flow;
use tailback_units::{Duration, Time};

use super::{Action, Ending, Notice};

/// Bytes that a flow without end wants to send: more than any run carries.
const ENDLESS: u64 = 1 << 62;

/// A list of flows being worked off. Endpoint 2i is the source's end of flow i, 2i + 1 the
/// destination's; the list is in the order of starts.
#[derive(Debug)]
pub(crate) struct FlowsApp {
    flows: Vec<Flow>,
    /// By host: whether it is outside.
    outside: Vec<bool>,
    /// By host: what its programs take to begin.
    programs: Vec<Program>,
    /// Of each flow that has begun, bytes not read yet; zero once it is over. The destinations' side.
    left: Vec<u64>,
    /// Of each flow that has begun, how far its source is.
    sources: Vec<Source>,
    /// Of each flow that has begun and has no end outside, how far its destination is.
    destinations: Vec<Destination>,
    over: usize,
    /// Of those that have begun and are not over, how many have both ends outside.
    unseen: usize,
    /// All hosts outside have ended.
    outside_ended: bool,
    /// Nothing is counted before.
    begin: Time,
    begun: bool,
    /// Bytes that had been read by then.
    omitted_bytes: u64,
    /// The run ends then, whatever is left.
    end: Time,
    read_bytes: u64,
    done: bool,
    has_queries: bool,
}

/// How far the source of a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// It has written nothing yet.
    Opening,
    /// It has written all it has.
    Writing,
    /// It has seen the other direction's end and has closed: TIME-WAIT.
    Closed,
    /// It is gone.
    Gone,
}

/// How far the destination of a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Destination {
    /// It has not read all.
    Reading,
    /// The same, and TCP has got the source's FIN.
    Ending,
    /// It has read all and waits for the end.
    Complete,
    /// It has closed; its FIN is not acknowledged.
    Closed,
    /// It is gone.
    Gone,
}

/// What the programs of one host, which share its processor, take to begin to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    /// From when a connection is up.
    pub(crate) latency: Duration,
    /// From when another has begun.
    pub(crate) call: Duration,
    /// None begins before.
    pub(crate) free_at: Time,
}

impl FlowsApp {
    pub(crate) fn new(
        flows: Vec<Flow>,
        end: Time,
        outside: &[bool],
        programs: Vec<Program>,
    ) -> FlowsApp {
        FlowsApp {
            outside: outside.to_vec(),
            programs,
            left: Vec::with_capacity(flows.len()),
            sources: Vec::with_capacity(flows.len()),
            destinations: Vec::with_capacity(flows.len()),
            flows,
            over: 0,
            unseen: 0,
            outside_ended: false,
            begin: Time::ZERO,
            begun: false,
            omitted_bytes: 0,
            end,
            read_bytes: 0,
            done: false,
            has_queries: false,
        }
    }

    /// The same, where flows may answer queries.
    pub(crate) fn with_queries(self, has_queries: bool) -> FlowsApp {
        FlowsApp {
            has_queries,
            ..self
        }
    }

    /// The same, where nothing before this time is counted.
    pub(crate) fn counted_from(self, begin: Time) -> FlowsApp {
        FlowsApp { begin, ..self }
    }

    pub(super) fn start(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        self.alarm(now, actions);
    }

    /// The time of the next flow, of the first that is counted, or of the end.
    pub(super) fn alarm(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        if !self.begun && now >= self.begin {
            self.begun = true;
            self.omitted_bytes += self.read_bytes;
            actions.push_back(Action::Begin { iteration: 0 });
        }
        while let Some(flow) = self.flows.get(self.left.len())
            && flow.start <= now
            && now < self.end
        {
            actions.push_back(Action::Open {
                source: flow.source,
                destination: flow.destination,
                priority: flow.priority,
            });
            self.sources.push(Source::Opening);
            self.destinations.push(Destination::Reading);
            if self.is_host_outside(flow.source) && self.is_host_outside(flow.destination) {
                self.left.push(0);
                self.unseen += 1;
            } else {
                self.left.push(flow.bytes.unwrap_or(ENDLESS));
            }
        }
        if self.outside_ended {
            self.over += std::mem::take(&mut self.unseen);
        }
        if self.over == self.flows.len() || now >= self.end {
            if !std::mem::replace(&mut self.done, true) {
                actions.push_back(Action::End {
                    started: self.begin.min(now),
                });
                if self.outside.contains(&true) {
                    self.stop(actions);
                }
            }
            return;
        }
        let next = self.flows.get(self.left.len());
        let at = next.map_or(self.end, |flow| flow.start.min(self.end));
        let at = if self.begun { at } else { at.min(self.begin) };
        actions.push_back(Action::Alarm { at });
    }

    /// Hosts outside go on until they have ended; what is modelled stops at the end.
    fn stop(&mut self, actions: &mut VecDeque<Action>) {
        for number in 0..self.left.len() {
            let id = EndpointId(2 * number as u32);
            let complete = self.is_read(number);
            self.source_over(id, actions);
            if std::mem::take(&mut self.left[number]) > 0 {
                actions.push_back(retire(EndpointId(id.0 | 1), complete));
            } else {
                self.destination_over(EndpointId(id.0 | 1), actions);
            }
        }
    }

    /// Whether all of a flow with an end outside has been read, as far as that is seen here: of a
    /// destination outside it is told later.
    fn is_read(&self, flow: usize) -> bool {
        self.flows[flow].bytes.is_some() && self.left[flow] == ENDLESS
    }

    /// All hosts outside have ended: no flow of theirs goes on.
    pub(super) fn outside_ended(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        if self.done || std::mem::replace(&mut self.outside_ended, true) {
            return;
        }
        for number in 0..self.left.len() {
            if self.has_end_outside(number) {
                self.closed(now, EndpointId(2 * number as u32 + 1), actions);
            }
        }
        self.alarm(now, actions);
    }

    #[inline(always)]
    pub(super) fn notice(
        &mut self,
        now: Time,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        let flow = (id.0 / 2) as usize;
        let at_source = id.0.is_multiple_of(2);
        match notice {
            Notice::Connected if at_source => {
                let program = &mut self.programs[self.flows[flow].source];
                let at = (now + program.latency).max(program.free_at);
                program.free_at = at + program.call;
                if at > now {
                    actions.push_back(Action::Wake { endpoint: id, at });
                } else {
                    self.begin(id, actions);
                }
            }
            Notice::Awake => self.awake(now, id, actions),
            Notice::Received(bytes) if !at_source => {
                self.read_bytes += bytes;
                let left = &mut self.left[flow];
                *left -= bytes.min(*left);
                if *left == 0 {
                    self.all_read(now, id, actions);
                }
            }
            Notice::Closed => self.closed(now, id, actions),
            Notice::Failed => self.failed(now, id, actions),
            Notice::Connected | Notice::Received(_) | Notice::Sent(_) => {}
        }
    }

    /// The time to begin has come, or word from the other end that it is over there.
    #[cold]
    fn awake(&mut self, now: Time, id: EndpointId, actions: &mut VecDeque<Action>) {
        let flow = (id.0 / 2) as usize;
        if !id.0.is_multiple_of(2) {
            self.destination_lost(now, id, actions);
        } else if self.sources[flow] == Source::Opening {
            self.begin(id, actions);
        } else {
            self.source_over(id, actions);
        }
    }

    /// The other end writes no more, or the connection has ended in order.
    #[cold]
    fn closed(&mut self, now: Time, id: EndpointId, actions: &mut VecDeque<Action>) {
        let flow = (id.0 / 2) as usize;
        if self.has_end_outside(flow) {
            return self.failed(now, id, actions);
        }
        if id.0.is_multiple_of(2) {
            if self.sources[flow] == Source::Writing {
                self.sources[flow] = Source::Closed;
                actions.push_back(close(id));
            }
            return;
        }
        match self.destinations[flow] {
            Destination::Reading => self.destinations[flow] = Destination::Ending,
            Destination::Complete => {
                self.destinations[flow] = Destination::Closed;
                actions.push_back(close(id));
            }
            Destination::Closed => {
                self.destination_over(id, actions);
                actions.push_back(Action::Tell { endpoint: id });
            }
            Destination::Ending | Destination::Gone => {}
        }
    }

    /// The connection is gone: given up after too many timeouts, or closed where an end is outside.
    #[cold]
    fn failed(&mut self, now: Time, id: EndpointId, actions: &mut VecDeque<Action>) {
        let flow = (id.0 / 2) as usize;
        if self.has_end_outside(flow) {
            if self.left[flow] > 0 {
                let complete = self.is_read(flow);
                self.left[flow] = 0;
                actions.push_back(retire(EndpointId(id.0 & !1), complete));
                self.flow_over(now, EndpointId(id.0 | 1), complete, actions);
            }
        } else if !id.0.is_multiple_of(2) {
            if self.left[flow] == 0 && self.destinations[flow] != Destination::Gone {
                actions.push_back(Action::Tell { endpoint: id });
            }
            self.destination_lost(now, id, actions);
        } else if self.sources[flow] != Source::Gone {
            self.source_over(id, actions);
            actions.push_back(Action::Tell { endpoint: id });
        }
    }

    /// The source's end of a flow is over.
    fn source_over(&mut self, id: EndpointId, actions: &mut VecDeque<Action>) {
        let source = &mut self.sources[(id.0 / 2) as usize];
        if std::mem::replace(source, Source::Gone) != Source::Gone {
            actions.push_back(retire(id, false));
        }
    }

    /// The destination's end of a flow of which all has been read is over.
    #[cold]
    fn destination_over(&mut self, id: EndpointId, actions: &mut VecDeque<Action>) {
        let destination = &mut self.destinations[(id.0 / 2) as usize];
        let before = std::mem::replace(destination, Destination::Gone);
        if matches!(before, Destination::Complete | Destination::Closed) {
            actions.push_back(Action::TakeAway { endpoint: id });
        }
    }

    /// The destination's end of a flow is over, whatever has been read.
    #[cold]
    fn destination_lost(&mut self, now: Time, id: EndpointId, actions: &mut VecDeque<Action>) {
        let flow = (id.0 / 2) as usize;
        self.destination_over(id, actions);
        if std::mem::take(&mut self.left[flow]) > 0 {
            self.flow_over(now, id, false, actions);
        }
    }

    /// The source writes all it has, and then no more.
    #[cold]
    fn begin(&mut self, id: EndpointId, actions: &mut VecDeque<Action>) {
        let flow = (id.0 / 2) as usize;
        self.sources[flow] = Source::Writing;
        actions.push_back(Action::Write {
            endpoint: id,
            bytes: self.left[flow],
        });
        if self.has_end_outside(flow) {
            actions.push_back(close(id));
        } else if self.flows[flow].bytes.is_some() {
            actions.push_back(Action::Finish {
                endpoint: id,
                ending: Ending::Shutdown,
            });
        }
    }

    /// All of a flow has been read.
    #[cold]
    fn all_read(&mut self, now: Time, id: EndpointId, actions: &mut VecDeque<Action>) {
        let flow = (id.0 / 2) as usize;
        if self.has_end_outside(flow) {
            // It is over when the other side has closed.
            self.left[flow] = ENDLESS;
            actions.push_back(close(id));
        } else {
            actions.push_back(Action::Complete { endpoint: id });
            if self.destinations[flow] == Destination::Ending {
                self.destinations[flow] = Destination::Closed;
                actions.push_back(close(id));
            } else {
                self.destinations[flow] = Destination::Complete;
            }
            self.one_over(now, actions);
        }
    }

    /// Whether an end of the flow is outside.
    #[cold]
    fn has_end_outside(&self, flow: usize) -> bool {
        let flow = &self.flows[flow];
        self.is_host_outside(flow.source) || self.is_host_outside(flow.destination)
    }

    /// Whether a host is outside.
    fn is_host_outside(&self, host: usize) -> bool {
        self.outside.get(host).copied().unwrap_or(false)
    }

    /// A flow is over at its destination, and so for the list.
    fn flow_over(
        &mut self,
        now: Time,
        id: EndpointId,
        complete: bool,
        actions: &mut VecDeque<Action>,
    ) {
        actions.push_back(retire(id, complete));
        self.one_over(now, actions);
    }

    /// One flow more is over.
    fn one_over(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        self.over += 1;
        if self.over == self.flows.len() {
            self.alarm(now, actions);
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn progress(&self) -> u64 {
        u64::from(self.done)
    }

    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes.saturating_sub(self.omitted_bytes)
    }

    /// Applications outside have read so many bytes.
    pub(super) fn read_outside(&mut self, bytes: u64) {
        self.read_bytes += bytes;
    }

    /// So many of them before anything was counted.
    pub(super) fn omit_outside(&mut self, bytes: u64) {
        self.omitted_bytes += bytes;
    }

    /// From when flows are counted.
    pub(crate) fn counted_since(&self) -> Time {
        self.begin
    }

    /// All hosts are modelled.
    pub(crate) fn is_modelled(&self) -> bool {
        !self.outside.contains(&true)
    }

    /// Bytes of its flow that the destination at this endpoint has not read; zero at a source.
    #[inline]
    pub(crate) fn left(&self, id: EndpointId) -> u64 {
        if id.0.is_multiple_of(2) {
            return 0;
        }
        self.left.get((id.0 / 2) as usize).copied().unwrap_or(0)
    }

    /// None ends by itself.
    pub(crate) fn are_endless(&self) -> bool {
        self.flows.iter().all(|flow| flow.bytes.is_none())
    }

    /// How many flows there are.
    pub(crate) fn len(&self) -> usize {
        self.flows.len()
    }

    /// How many are over.
    pub(crate) fn over(&self) -> usize {
        self.over
    }

    /// When the run ends, whatever is left.
    pub(crate) fn end(&self) -> Time {
        self.end
    }

    /// How far the source of a flow is, once the flow has begun.
    pub(crate) fn source(&self, number: usize) -> Option<Source> {
        self.sources.get(number).copied()
    }

    /// Takes over what is known of the hosts that `owns` names from the same list, worked off by another.
    pub(crate) fn join(&mut self, other: &FlowsApp, owns: impl Fn(usize) -> bool) {
        self.over += other.over;
        self.read_bytes += other.read_bytes;
        for (number, flow) in self.flows[..self.left.len()].iter().enumerate() {
            if owns(flow.destination) {
                self.left[number] = other.left[number];
                self.destinations[number] = other.destinations[number];
            }
            if owns(flow.source) {
                self.sources[number] = other.sources[number];
            }
        }
        for host in (0..self.programs.len()).filter(|host| owns(*host)) {
            self.programs[host] = other.programs[host];
        }
    }

    /// The flow of that number.
    pub(crate) fn flow(&self, number: usize) -> Option<&Flow> {
        self.flows.get(number)
    }

    /// Whether flows that answer queries are told apart, be there any or not.
    pub(crate) fn has_queries(&self) -> bool {
        self.has_queries
    }
}

fn retire(endpoint: EndpointId, complete: bool) -> Action {
    Action::Retire { endpoint, complete }
}

fn close(endpoint: EndpointId) -> Action {
    Action::Finish {
        endpoint,
        ending: Ending::Close,
    }
}

#[cfg(test)]
#[path = "flows_tests.rs"]
mod tests;
