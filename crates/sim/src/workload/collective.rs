//! The ranks of a collective: each passes on what has come, and begins again by itself. A program that has all of an
//! iteration on a connection reads there again when it begins the next: what comes earlier waits in the socket.

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_net::random::Stream;
use tailback_scenario::{Collective, Lane, Rank};
use tailback_units::{Duration, Time};

use super::{Action, Notice};

/// One way out of a rank, and the way in that it depends on.
#[derive(Debug)]
struct LaneState {
    lane: Lane,
    /// What has come of all iterations, bytes.
    received_bytes: u64,
    /// What has been written of all iterations, bytes.
    written_bytes: u64,
    /// It is not read: all of the iteration has come.
    holds: bool,
}

#[derive(Debug)]
struct RankState {
    lanes: Vec<LaneState>,
    /// Ends of its connections that are not up.
    unconnected: usize,
    /// The iteration that it is in, or is to begin.
    iteration: u64,
    running: bool,
    /// Draws how long it computes.
    stream: Stream,
}

/// An iteration that some rank has begun, and not all have ended.
#[derive(Debug)]
struct Open {
    started: Time,
    ended: usize,
}

/// All ranks. Endpoint 2i is the sending end of connection i, 2i + 1 the reading one.
#[derive(Debug)]
pub(crate) struct CollectiveApp {
    ranks: Vec<RankState>,
    /// For each connection the rank that sends, and the rank and lane that read it.
    senders: Vec<usize>,
    readers: Vec<(usize, usize)>,
    iterations: u64,
    compute: Duration,
    compute_jitter: Duration,
    iteration_bytes: u64,
    /// Iterations that all ranks have ended.
    ended: u64,
    /// Those after them.
    open: VecDeque<Open>,
}

impl CollectiveApp {
    pub(crate) fn new(spec: &Collective, ranks: &[Rank], seed: u64) -> CollectiveApp {
        let connections = ranks.iter().map(|rank| rank.lanes.len()).sum();
        let mut senders = vec![0; connections];
        let mut readers = vec![(0, 0); connections];
        for (number, rank) in ranks.iter().enumerate() {
            for (place, lane) in rank.lanes.iter().enumerate() {
                senders[lane.sends] = number;
                readers[lane.reads] = (number, place);
            }
        }
        let state = |(number, rank): (usize, &Rank)| RankState {
            lanes: rank
                .lanes
                .iter()
                .map(|lane| LaneState::new(*lane))
                .collect(),
            unconnected: 2 * rank.lanes.len(),
            iteration: 0,
            running: false,
            stream: Stream::new(seed, "compute", number as u64),
        };
        CollectiveApp {
            senders,
            readers,
            iterations: u64::from(spec.iterations),
            compute: spec.compute,
            compute_jitter: spec.compute_jitter,
            iteration_bytes: ranks
                .iter()
                .flat_map(|rank| &rank.lanes)
                .map(|l| l.bytes)
                .sum(),
            ranks: ranks.iter().enumerate().map(state).collect(),
            ended: 0,
            open: VecDeque::new(),
        }
    }

    pub(super) fn start(&self, actions: &mut VecDeque<Action>) {
        actions.extend((0..self.senders.len()).map(|number| Action::Connect {
            client: sending_end(number),
        }));
    }

    pub(super) fn is_done(&self) -> bool {
        self.ended == self.iterations
    }

    /// Ranks outside have all been through so many iterations.
    pub(super) fn iterated_outside(&mut self, iterations: u64) {
        self.ended = iterations;
    }

    pub(super) fn progress(&self) -> u64 {
        self.ended
    }

    pub(super) fn exchanged_bytes_total(&self) -> u64 {
        self.ended * self.iteration_bytes
    }

    pub(super) fn notice(
        &mut self,
        now: Time,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        let connection = (id.0 / 2) as usize;
        let sends = id.0.is_multiple_of(2);
        match notice {
            Notice::Connected => {
                let rank = match sends {
                    true => self.senders[connection],
                    false => self.readers[connection].0,
                };
                self.ranks[rank].unconnected -= 1;
                if self.ranks[rank].unconnected == 0 {
                    self.begin(now, rank, actions);
                    self.go_on(now, rank, actions);
                }
            }
            Notice::Awake => {
                let rank = self.senders[connection];
                self.begin(now, rank, actions);
                self.go_on(now, rank, actions);
            }
            Notice::Received(bytes) if !sends => {
                let (rank, lane) = self.readers[connection];
                self.ranks[rank].lanes[lane].received_bytes += bytes;
                self.go_on(now, rank, actions);
            }
            Notice::Received(_) | Notice::Sent(_) | Notice::Closed | Notice::Failed => {}
        }
    }

    /// A rank begins the iteration that it is to begin.
    fn begin(&mut self, now: Time, rank: usize, actions: &mut VecDeque<Action>) {
        let state = &mut self.ranks[rank];
        state.running = true;
        for lane in &mut state.lanes {
            if std::mem::take(&mut lane.holds) {
                let endpoint = reading_end(lane.lane.reads);
                actions.push_back(Action::Read {
                    endpoint,
                    most: None,
                });
            }
        }
        let place = (state.iteration - self.ended) as usize;
        if place == self.open.len() {
            self.open.push_back(Open {
                started: now,
                ended: 0,
            });
            if place == 0 {
                actions.push_back(Action::Begin {
                    iteration: self.ended,
                });
            }
        }
    }

    /// A rank writes what it may, and ends the iteration when all has come.
    fn go_on(&mut self, now: Time, rank: usize, actions: &mut VecDeque<Action>) {
        // It may have all of the next iteration before it begins that.
        while self.ranks[rank].running {
            let state = &mut self.ranks[rank];
            let iteration = state.iteration;
            let mut whole = true;
            for lane in &mut state.lanes {
                let may = lane.may_have_written(iteration);
                let bytes = may - lane.written_bytes;
                if bytes > 0 {
                    lane.written_bytes = may;
                    let endpoint = sending_end(lane.lane.sends);
                    actions.push_back(Action::Write { endpoint, bytes });
                }
                let is_whole = lane.received_bytes >= (iteration + 1) * lane.lane.bytes;
                whole &= is_whole;
                if is_whole && !std::mem::replace(&mut lane.holds, true) {
                    let endpoint = reading_end(lane.lane.reads);
                    actions.push_back(Action::Hold { endpoint });
                }
            }
            if !whole {
                return;
            }
            self.end(now, rank, actions);
        }
    }

    /// A rank ends an iteration, and computes before it begins the next.
    fn end(&mut self, now: Time, rank: usize, actions: &mut VecDeque<Action>) {
        let state = &mut self.ranks[rank];
        state.running = false;
        let place = (state.iteration - self.ended) as usize;
        state.iteration += 1;
        let last = state.iteration == self.iterations;
        let jitter = state.stream.exponential(self.compute_jitter.as_ps());
        let compute = self.compute + Duration::from_ps(jitter);
        let endpoint = sending_end(state.lanes[0].lane.sends);
        self.open[place].ended += 1;
        while let Some(first) = self.open.front()
            && first.ended == self.ranks.len()
        {
            let started = first.started;
            self.open.pop_front();
            self.ended += 1;
            actions.push_back(Action::End { started });
            if !self.open.is_empty() {
                actions.push_back(Action::Begin {
                    iteration: self.ended,
                });
            }
        }
        if last {
            return;
        }
        if compute.is_zero() {
            self.begin(now, rank, actions);
        } else {
            let at = now + compute;
            actions.push_back(Action::Wake { endpoint, at });
        }
    }
}

impl LaneState {
    fn new(lane: Lane) -> LaneState {
        LaneState {
            lane,
            received_bytes: 0,
            written_bytes: 0,
            holds: false,
        }
    }

    /// What may have been written of all iterations by a rank that is in that one.
    fn may_have_written(&self, iteration: u64) -> u64 {
        let before = iteration * self.lane.bytes;
        before + self.lane.may_send(self.received_bytes - before)
    }
}

fn reading_end(connection: usize) -> EndpointId {
    EndpointId(2 * connection as u32 + 1)
}

fn sending_end(connection: usize) -> EndpointId {
    EndpointId(2 * connection as u32)
}

#[cfg(test)]
#[path = "collective_tests.rs"]
mod tests;
