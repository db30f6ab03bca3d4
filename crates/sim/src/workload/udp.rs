//! Datagrams at a constant rate.
//!
//! A sender sends a datagram when one is due; if it is late it sends as soon as its socket has room, until it has
//! caught up or its time is over (iperf 1.7 and 2.0's delay loop).

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::{Probe, Topology, Udp};
use tailback_units::{Duration, Time};

use super::{Action, Notice};

/// Time for what waits in queues and in a full socket: so long after the last that came, another is waited for.
pub(crate) const QUEUES: Duration = Duration::from_ms(500);

/// Time after the last datagram for those under way to arrive and be read: no way is longer than all links.
pub(crate) fn drain(network: &Topology) -> Duration {
    let links = network.links.iter();
    links.fold(QUEUES, |time, link| time + link.config.delay_max())
}

/// Senders of datagrams. Endpoint 2i sends, 2i + 1 receives.
#[derive(Debug)]
pub(crate) struct UdpApp {
    gap: Duration,
    /// When each sender's next datagram is due (never, if its host is not modelled), and when it stops.
    senders: Vec<Sender>,
    done: bool,
    /// Time after the last datagram.
    drain: Duration,
    spec: Udp,
}

#[derive(Clone, Copy, Debug)]
struct Sender {
    due: Time,
    end: Time,
    /// Datagrams that are due until then.
    all: u64,
}

impl UdpApp {
    /// `outside` says of each probe whether its sender's host is not modelled.
    pub(crate) fn new(spec: &Udp, probes: &[Probe], outside: &[bool], drain: Duration) -> UdpApp {
        let sender = |(probe, outside): (&Probe, &bool)| Sender {
            due: if *outside { Time::NEVER } else { probe.start },
            end: probe.end,
            all: due(probe, spec.gap()),
        };
        UdpApp {
            gap: spec.gap(),
            senders: probes.iter().zip(outside).map(sender).collect(),
            done: false,
            drain,
            spec: spec.clone(),
        }
    }

    pub(super) fn start(&mut self, actions: &mut VecDeque<Action>) {
        actions.push_back(Action::Begin { iteration: 0 });
        let modelled = self.senders.iter().enumerate();
        for (flow, sender) in modelled.filter(|(_, sender)| sender.due != Time::NEVER) {
            actions.push_back(Action::DatagramAt {
                endpoint: EndpointId(2 * flow as u32),
                at: sender.due,
            });
        }
        let end = self.senders.iter().map(|sender| sender.end).max();
        actions.push_back(Action::Alarm {
            at: end.unwrap_or(Time::ZERO) + self.drain,
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
        let sender = &mut self.senders[(id.0 / 2) as usize];
        match notice {
            Notice::Awake => actions.push_back(Action::Datagram { endpoint: id }),
            Notice::Sent(room) => {
                sender.due += self.gap;
                if sender.due >= sender.end || now >= sender.end {
                    return;
                }
                let at = sender.due.max(room);
                actions.push_back(if at > now {
                    Action::DatagramAt { endpoint: id, at }
                } else {
                    Action::Datagram { endpoint: id }
                });
            }
            Notice::Connected | Notice::Received(_) | Notice::Closed | Notice::Failed => {}
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// What is asked of it.
    pub(crate) fn spec(&self) -> &Udp {
        &self.spec
    }

    /// Datagrams that were to be sent, by each sender.
    pub(crate) fn due(&self) -> impl Iterator<Item = u64> {
        self.senders.iter().map(|sender| sender.all)
    }

    pub(crate) fn gap(&self) -> Duration {
        self.gap
    }
}

/// Datagrams of a sender that is never late: one at the start, and one each `gap` before the end.
fn due(probe: &Probe, gap: Duration) -> u64 {
    let span = probe.end.since(probe.start).as_ps();
    span.div_ceil(gap.as_ps().max(1))
}
