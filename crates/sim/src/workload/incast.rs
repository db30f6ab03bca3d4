//! Synchronised reads: the incast benchmark's client and servers.
//!
//! Models the study's tool (Principled Technologies 2010) and Phanishayee et al. (FAST 2008): the
//! client asks all servers back to back over open connections, each send call a little after the
//! one before; a server answers after its service latency; when the client has seen the last
//! byte of the last answer the iteration ends and the next begins at once. Completion time runs
//! from the first send call to that moment.
//! Left out: what the tool does between iterations (the study's figures leave no time for it).

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_net::random::Stream;
use tailback_units::{Duration, Time};

use super::{Action, Ending, Notice};

/// Times of the applications at both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latencies {
    pub(crate) send_call: Duration,
    pub(crate) client: Duration,
}

/// One server, as the client and itself see it.
#[derive(Debug)]
pub(crate) struct Server {
    /// Bytes of its answer.
    pub(crate) answer_bytes: u64,
    pub(crate) service_latency: Duration,
    pub(crate) service_jitter: Duration,
    /// Draws its service latencies.
    pub(crate) stream: Stream,
    /// Of the current request, bytes that have not reached the server.
    pub(crate) request_left: u64,
    /// Of the current answer, bytes that the client has not read.
    pub(crate) answer_left: u64,
    /// It is not modelled here.
    pub(crate) outside: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Connecting {
        left: usize,
    },
    Running,
    /// All bytes are in; the client is about to see the last.
    Finishing,
    Done,
}

/// The client and its servers. Endpoint 2i is the client's end of server i's connection, 2i + 1
/// the server's.
#[derive(Debug)]
pub(crate) struct IncastApp {
    request_bytes: u64,
    iterations: u64,
    latencies: Latencies,
    servers: Vec<Server>,
    phase: Phase,
    iteration: u64,
    started: Time,
    /// Servers whose answers are not in whole.
    unfinished: usize,
}

impl IncastApp {
    pub(crate) fn new(
        servers: Vec<Server>,
        request_bytes: u64,
        iterations: u64,
        latencies: Latencies,
    ) -> IncastApp {
        IncastApp {
            request_bytes,
            iterations,
            latencies,
            phase: Phase::Connecting {
                left: servers.len(),
            },
            unfinished: 0,
            servers,
            iteration: 0,
            started: Time::ZERO,
        }
    }

    pub(super) fn start(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        for server in 0..self.servers.len() {
            actions.push_back(Action::Wake {
                endpoint: client_end(server),
                at: now + self.latencies.send_call * server as u64,
            });
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// A client outside has been through so many iterations.
    pub(super) fn iterated_outside(&mut self, iterations: u64) {
        self.iteration = iterations;
    }

    pub(super) fn progress(&self) -> u64 {
        self.iteration
    }

    pub(super) fn answer_bytes_total(&self) -> u64 {
        self.iteration * self.servers.iter().map(|s| s.answer_bytes).sum::<u64>()
    }

    #[inline]
    pub(super) fn notice(
        &mut self,
        now: Time,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        let server = (id.0 / 2) as usize;
        let at_client = id.0.is_multiple_of(2);
        match notice {
            Notice::Received(bytes) if at_client => {
                self.answer_arrived(now, server, bytes, actions)
            }
            Notice::Received(bytes) => self.request_arrived(now, server, bytes, actions),
            Notice::Awake if at_client => self.client_awake(now, server, actions),
            Notice::Awake => {
                let bytes = self.servers[server].answer_bytes;
                actions.push_back(Action::Write {
                    endpoint: id,
                    bytes,
                });
            }
            Notice::Connected if at_client => self.connected(now, actions),
            // A client outside has gone: the server closes too.
            Notice::Closed | Notice::Failed if !at_client => actions.push_back(Action::Finish {
                endpoint: id,
                ending: Ending::Close,
            }),
            Notice::Connected | Notice::Sent(_) | Notice::Closed | Notice::Failed => {}
        }
    }

    fn connected(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        if let Phase::Connecting { left } = &mut self.phase {
            *left -= 1;
            if *left == 0 {
                self.begin(now, actions);
            }
        }
    }

    fn begin(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        self.phase = Phase::Running;
        self.started = now;
        self.unfinished = self.servers.len();
        actions.push_back(Action::Begin {
            iteration: self.iteration,
        });
        for (number, server) in self.servers.iter_mut().enumerate() {
            server.request_left = self.request_bytes;
            server.answer_left = server.answer_bytes;
            actions.push_back(Action::Wake {
                endpoint: client_end(number),
                at: now + self.latencies.send_call * number as u64,
            });
        }
    }

    fn client_awake(&mut self, now: Time, server: usize, actions: &mut VecDeque<Action>) {
        let endpoint = client_end(server);
        match self.phase {
            Phase::Connecting { .. } => actions.push_back(Action::Connect { client: endpoint }),
            Phase::Running => actions.push_back(Action::Write {
                endpoint,
                bytes: self.request_bytes,
            }),
            Phase::Finishing => {
                actions.push_back(Action::End {
                    started: self.started,
                });
                self.iteration += 1;
                if self.iteration == self.iterations {
                    self.phase = Phase::Done;
                    self.leave(actions);
                } else {
                    self.begin(now, actions);
                }
            }
            Phase::Done => {}
        }
    }

    /// The client closes its connections to servers outside, which then tell what they have counted.
    fn leave(&self, actions: &mut VecDeque<Action>) {
        let servers = self.servers.iter().enumerate();
        actions.extend(
            servers
                .filter(|(_, server)| server.outside)
                .map(|(number, _)| Action::Finish {
                    endpoint: client_end(number),
                    ending: Ending::Close,
                }),
        );
    }

    fn request_arrived(
        &mut self,
        now: Time,
        server: usize,
        bytes: u64,
        actions: &mut VecDeque<Action>,
    ) {
        let state = &mut self.servers[server];
        state.request_left = state.request_left.saturating_sub(bytes);
        if state.request_left == 0 {
            // A client outside tells nobody when it begins again.
            state.request_left = self.request_bytes;
            let jitter = Duration::from_ps(state.stream.exponential(state.service_jitter.as_ps()));
            let at = now + state.service_latency + jitter;
            actions.push_back(Action::Wake {
                endpoint: EndpointId(2 * server as u32 + 1),
                at,
            });
        }
    }

    #[inline]
    fn answer_arrived(
        &mut self,
        now: Time,
        server: usize,
        bytes: u64,
        actions: &mut VecDeque<Action>,
    ) {
        let state = &mut self.servers[server];
        state.answer_left = state.answer_left.saturating_sub(bytes);
        if state.answer_left > 0 || bytes == 0 {
            return;
        }
        self.unfinished -= 1;
        if self.unfinished == 0 {
            self.phase = Phase::Finishing;
            actions.push_back(Action::Wake {
                endpoint: client_end(server),
                at: now + self.latencies.client,
            });
        }
    }
}

fn client_end(server: usize) -> EndpointId {
    EndpointId(2 * server as u32)
}

#[cfg(test)]
#[path = "incast_tests.rs"]
mod tests;
