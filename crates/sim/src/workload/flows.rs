//! Flows from a list: each opens a connection at its time, sends and is done.
//!
//! What workloads `bulk` and `flows` come down to. A flow is complete when the receiving application
//! has read its last byte; both ends of its connection are then taken away. A program begins to write when
//! it has seen that its connection is up (`client_latency` of its host), and not while another of that
//! host begins (`send_call_cost`).
//! Left out: closing the connection (two small frames in each direction), TIME_WAIT. A flow with an
//! end outside, on a kernel, is closed: the source closes when it has written all, the destination
//! when it has read all, and it is complete here when the other side has closed too.

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
    /// Of each flow that has begun, bytes not read yet; zero once it is over.
    left: Vec<u64>,
    over: usize,
    /// The run ends then, whatever is left.
    end: Time,
    read_bytes: u64,
    done: bool,
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
            flows,
            over: 0,
            end,
            read_bytes: 0,
            done: false,
        }
    }

    pub(super) fn start(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        actions.push_back(Action::Begin { iteration: 0 });
        self.alarm(now, actions);
    }

    /// The time of the next flow, or of the end.
    pub(super) fn alarm(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        while let Some(flow) = self.flows.get(self.left.len())
            && flow.start <= now
            && now < self.end
        {
            actions.push_back(Action::Open {
                source: flow.source,
                destination: flow.destination,
                priority: flow.priority,
            });
            if self.is_host_outside(flow.source) && self.is_host_outside(flow.destination) {
                // Nothing of it is seen here.
                self.left.push(0);
                self.over += 1;
            } else {
                self.left.push(flow.bytes.unwrap_or(ENDLESS));
            }
        }
        if self.over == self.flows.len() || now >= self.end {
            if !std::mem::replace(&mut self.done, true) {
                actions.push_back(Action::End {
                    started: Time::ZERO,
                });
            }
            return;
        }
        let next = self.flows.get(self.left.len());
        let at = next.map_or(self.end, |flow| flow.start.min(self.end));
        actions.push_back(Action::Alarm { at });
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
            Notice::Awake => self.begin(id, actions),
            Notice::Received(bytes) if !at_source => {
                self.read_bytes += bytes;
                let left = &mut self.left[flow];
                *left -= bytes.min(*left);
                if *left == 0 {
                    self.all_read(now, id, actions);
                }
            }
            Notice::Closed if self.left[flow] > 0 => {
                // It was given up after too many timeouts.
                self.left[flow] = 0;
                self.flow_over(now, id, actions);
            }
            Notice::Connected | Notice::Received(_) | Notice::Sent | Notice::Closed => {}
        }
    }

    /// The source writes all it has.
    #[cold]
    fn begin(&self, id: EndpointId, actions: &mut VecDeque<Action>) {
        let flow = (id.0 / 2) as usize;
        actions.push_back(Action::Write {
            endpoint: id,
            bytes: self.left[flow],
        });
        if self.has_end_outside(flow) {
            actions.push_back(close(id));
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
            self.flow_over(now, id, actions);
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

    fn flow_over(&mut self, now: Time, id: EndpointId, actions: &mut VecDeque<Action>) {
        actions.push_back(Action::Retire { endpoint: id });
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
        self.read_bytes
    }

    /// Applications outside have read so many bytes.
    pub(super) fn read_outside(&mut self, bytes: u64) {
        self.read_bytes += bytes;
    }

    /// The flow of that number.
    pub(crate) fn flow(&self, number: usize) -> Option<&Flow> {
        self.flows.get(number)
    }
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
