//! Clients that ask again as soon as they have been answered, and servers that answer.

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::{Flow, RequestResponse};
use tailback_units::{Duration, Time};

use super::{Action, Ending, Notice};

/// The connections. Endpoint 2i is the client's end of connection i, 2i + 1 the server's.
#[derive(Debug)]
pub(crate) struct RequestResponseApp {
    flows: Vec<Flow>,
    /// Of each connection that is open: what its two ends still have to read, and when it asked.
    open: Vec<Asked>,
    request_bytes: u64,
    response_bytes: u64,
    end: Time,
    latencies: Vec<Duration>,
    done: bool,
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    at: Time,
    request_left: u64,
    response_left: u64,
}

impl RequestResponseApp {
    /// Nothing has been opened yet.
    pub(crate) fn new(spec: &RequestResponse, flows: Vec<Flow>) -> RequestResponseApp {
        RequestResponseApp {
            open: Vec::with_capacity(flows.len()),
            flows,
            request_bytes: spec.request.get(),
            response_bytes: spec.response.get(),
            end: Time::ZERO + spec.duration,
            latencies: Vec::new(),
            done: false,
        }
    }

    pub(super) fn start(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        actions.push_back(Action::Begin { iteration: 0 });
        self.alarm(now, actions);
    }

    /// The time of the next connection, or of the end.
    pub(super) fn alarm(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        if now >= self.end {
            if !std::mem::replace(&mut self.done, true) {
                actions.push_back(Action::End {
                    started: Time::ZERO,
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
                at: now,
                request_left: self.request_bytes,
                response_left: self.response_bytes,
            });
        }
        let next = self.flows.get(self.open.len());
        let at = next.map_or(self.end, |flow| flow.start.min(self.end));
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
        let asked = &mut self.open[(id.0 / 2) as usize];
        let is_client = id.0.is_multiple_of(2);
        match notice {
            Notice::Connected if is_client && over => actions.push_back(close(id)),
            Notice::Connected if is_client => {
                asked.at = now;
                actions.push_back(write(id, self.request_bytes));
            }
            Notice::Received(bytes) if is_client => {
                asked.response_left -= bytes.min(asked.response_left);
                if asked.response_left == 0 && over {
                    actions.push_back(close(id));
                } else if asked.response_left == 0 {
                    self.latencies.push(now.since(asked.at));
                    asked.at = now;
                    asked.response_left = self.response_bytes;
                    actions.push_back(write(id, self.request_bytes));
                }
            }
            Notice::Received(bytes) => {
                asked.request_left -= bytes.min(asked.request_left);
                if asked.request_left == 0 {
                    asked.request_left = self.request_bytes;
                    actions.push_back(write(id, self.response_bytes));
                }
            }
            // A client outside has gone: the server closes too.
            Notice::Closed | Notice::Failed if !is_client => actions.push_back(close(id)),
            Notice::Connected
            | Notice::Awake
            | Notice::Sent(_)
            | Notice::Closed
            | Notice::Failed => {}
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Bytes of all answered requests and their answers.
    pub(super) fn read_bytes(&self) -> u64 {
        self.latencies.len() as u64 * (self.request_bytes + self.response_bytes)
    }

    /// A client outside has waited so long for its answers.
    pub(crate) fn answered_outside(&mut self, latencies: impl Iterator<Item = Duration>) {
        self.latencies.extend(latencies);
    }

    /// The end of each connection that writes more: 0 the client's, 1 the server's.
    pub(super) fn sender(&self) -> u32 {
        u32::from(self.response_bytes > self.request_bytes)
    }

    /// From each request to its answer, in the order of the answers.
    pub(crate) fn latencies(&self) -> &[Duration] {
        &self.latencies
    }
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
