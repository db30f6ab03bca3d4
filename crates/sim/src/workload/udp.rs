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
const DRAIN: Duration = Duration::from_ms(500);

/// Senders of datagrams. Endpoint 2i sends, 2i + 1 receives.
#[derive(Debug)]
pub(crate) struct UdpApp {
    gap: Duration,
    end: Time,
    /// When each sender's next datagram is due.
    due: Vec<Time>,
    done: bool,
    spec: Udp,
}

impl UdpApp {
    pub(crate) fn new(spec: &Udp, flows: usize) -> UdpApp {
        let gap = spec.gap();
        // Senders of different hosts are not in step.
        let due =
            |flow: usize| Time::ZERO + Duration::from_ps(gap.as_ps() * flow as u64 / flows as u64);
        UdpApp {
            gap,
            end: Time::ZERO + spec.duration,
            due: (0..flows).map(due).collect(),
            done: false,
            spec: spec.clone(),
        }
    }

    pub(super) fn start(&mut self, actions: &mut VecDeque<Action>) {
        actions.push_back(Action::Begin { iteration: 0 });
        for (flow, due) in self.due.iter().enumerate() {
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
