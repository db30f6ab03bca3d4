//! The two applications of an exchange: one list of timed actions.

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::{Deed, End, Exchange, TimedAction};
use tailback_units::Time;

use super::{Action, Ending, Notice};

/// An exchange being worked off: endpoint 0 is the client's, endpoint 1 the server's.
#[derive(Debug)]
pub(crate) struct ExchangeApp {
    actions: VecDeque<TimedAction>,
    /// Whether each end's connection is up, and what it was to do before it was.
    up: [bool; 2],
    /// Ends that are no modelled hosts: their actions are not done here.
    outside: [bool; 2],
    waiting: [Vec<TimedAction>; 2],
    end: Time,
    read_bytes: u64,
    /// The end that writes more, whose counters the table `flows` shows.
    sender: u32,
    done: bool,
}

impl ExchangeApp {
    pub(crate) fn new(exchange: &Exchange, outside: [bool; 2]) -> ExchangeApp {
        let more = exchange.written_bytes(End::Server) > exchange.written_bytes(End::Client);
        ExchangeApp {
            actions: exchange.in_order().into(),
            up: [false; 2],
            outside,
            waiting: [Vec::new(), Vec::new()],
            end: Time::ZERO + exchange.duration,
            read_bytes: 0,
            sender: u32::from(more),
            done: false,
        }
    }

    pub(super) fn start(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        actions.push_back(Action::Begin { iteration: 0 });
        if !self.outside[0] {
            let client = EndpointId(0);
            actions.push_back(Action::Connect { client });
        }
        self.alarm(now, actions);
    }

    /// The time of the next action, or of the end.
    pub(super) fn alarm(&mut self, now: Time, actions: &mut VecDeque<Action>) {
        if now >= self.end {
            if !std::mem::replace(&mut self.done, true) {
                let started = Time::ZERO;
                actions.push_back(Action::End { started });
            }
            return;
        }
        while let Some(action) = self.actions.front()
            && Time::ZERO + action.at <= now
        {
            let Some(action) = self.actions.pop_front() else {
                break;
            };
            let end = place(action.end);
            if self.outside[end] {
                continue;
            }
            if self.up[end] {
                actions.push_back(wish(&action));
            } else {
                self.waiting[end].push(action);
            }
        }
        let next = self.actions.front().map_or(self.end, |a| Time::ZERO + a.at);
        actions.push_back(Action::Alarm { at: next });
    }

    pub(super) fn notice(
        &mut self,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        match notice {
            Notice::Connected => {
                let end = id.0 as usize;
                self.up[end] = true;
                actions.extend(self.waiting[end].drain(..).map(|action| wish(&action)));
            }
            Notice::Received(bytes) => self.read_bytes += bytes,
            Notice::Awake | Notice::Sent(_) | Notice::Closed | Notice::Failed => {}
        }
    }

    /// An end outside has read so much.
    pub(super) fn read_outside(&mut self, bytes: u64) {
        self.read_bytes += bytes;
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    pub(crate) fn sender(&self) -> u32 {
        self.sender
    }
}

fn place(end: End) -> usize {
    match end {
        End::Client => 0,
        End::Server => 1,
    }
}

fn wish(action: &TimedAction) -> Action {
    let endpoint = EndpointId(place(action.end) as u32);
    match action.does {
        Deed::Write => Action::Write {
            endpoint,
            bytes: action.size.get(),
        },
        Deed::Hold => Action::Hold { endpoint },
        Deed::Read => Action::Read {
            endpoint,
            most: Some(action.size.get()).filter(|bytes| *bytes > 0),
        },
        Deed::Shutdown => Action::Finish {
            endpoint,
            ending: Ending::Shutdown,
        },
        Deed::Close => Action::Finish {
            endpoint,
            ending: Ending::Close,
        },
        Deed::Abort => Action::Finish {
            endpoint,
            ending: Ending::Reset,
        },
    }
}

#[cfg(test)]
#[path = "exchange_tests.rs"]
mod tests;
