//! Datagrams at a constant rate.
//!
//! A sender sends a datagram when one is due; if it is late it sends at once, until it has caught up
//! (iperf 1.7 and 2.0's delay loop).

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::Udp;
use tailback_units::{Duration, Time};

use super::{Action, Notice};

/// Time after the last datagram for those under way to arrive and be read: a long path and a full
/// socket.
pub(crate) const DRAIN: Duration = Duration::from_ms(500);

/// When the first datagram of a flow is due: senders of different hosts are not in step.
pub(crate) fn first_due(spec: &Udp, flow: usize, flows: usize) -> Duration {
    Duration::from_ps(spec.gap().as_ps() * flow as u64 / flows as u64)
}

/// Senders of datagrams. Endpoint 2i sends, 2i + 1 receives.
#[derive(Debug)]
pub(crate) struct UdpApp {
    gap: Duration,
    end: Time,
    /// When each sender's next datagram is due; never, if its host is not modelled.
    due: Vec<Time>,
    done: bool,
    spec: Udp,
}

impl UdpApp {
    /// `outside` says of each flow whether its sender's host is not modelled.
    pub(crate) fn new(spec: &Udp, outside: &[bool]) -> UdpApp {
        let flows = outside.len();
        let due = |(flow, outside): (usize, &bool)| match outside {
            true => Time::NEVER,
            false => Time::ZERO + first_due(spec, flow, flows),
        };
        UdpApp {
            gap: spec.gap(),
            end: Time::ZERO + spec.duration,
            due: outside.iter().enumerate().map(due).collect(),
            done: false,
            spec: spec.clone(),
        }
    }

    pub(super) fn start(&mut self, actions: &mut VecDeque<Action>) {
        actions.push_back(Action::Begin { iteration: 0 });
        let modelled = self.due.iter().enumerate();
        for (flow, due) in modelled.filter(|(_, due)| **due != Time::NEVER) {
            actions.push_back(Action::Wake {
                endpoint: EndpointId(2 * flow as u32),
                at: *due,
            });
        }
        actions.push_back(Action::Alarm {
            at: self.end + DRAIN,
        });
    }

    pub(super) fn alarm(&mut self, actions: &mut VecDeque<Action>) {
        if !std::mem::replace(&mut self.done, true) {
            actions.push_back(Action::End {
                started: Time::ZERO,
            });
        }
    }

    pub(super) fn notice(
        &mut self,
        now: Time,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        let due = &mut self.due[(id.0 / 2) as usize];
        match notice {
            Notice::Awake => actions.push_back(Action::Datagram { endpoint: id }),
            Notice::Sent => {
                *due += self.gap;
                if *due >= self.end {
                    return;
                }
                actions.push_back(if *due > now {
                    Action::Wake {
                        endpoint: id,
                        at: *due,
                    }
                } else {
                    Action::Datagram { endpoint: id }
                });
            }
            Notice::Connected | Notice::Received(_) | Notice::Closed => {}
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// What is asked of it.
    pub(crate) fn spec(&self) -> &Udp {
        &self.spec
    }

    pub(crate) fn gap(&self) -> Duration {
        self.gap
    }
}
