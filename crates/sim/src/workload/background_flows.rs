//! TCP flows beside the workload ([`tailback_scenario::BackgroundFlows`]): each opens its connection at its time
//! and sends all it has, or all it can until its time is over.
//!
//! A program that is over shuts its end down, as iperf3's client does after `-t`: what its socket holds is
//! still sent; the other end closes when it has read all. One that is never over lasts as long as the run. A
//! connection that TCP gives up is not opened again. Left out: what the program's calls cost before it writes
//! (`client_latency`, `send_call_cost`).

use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::BackgroundFlow;
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Duration, Time};

use super::{Action, Ending, Notice, Workload};

/// Bytes that a flow without end wants to send: more than any run carries.
const ENDLESS: u64 = 1 << 62;

/// The flows beside the workload; there may be none.
#[derive(Debug)]
pub(crate) struct BackgroundFlowsApp {
    /// Endpoints from here on are theirs: this one and the next of the first flow, and so on.
    first: u32,
    flows: Vec<BackgroundFlow>,
    /// By flow.
    ends: Vec<Ends>,
    /// When the run ends; never where nobody outside knows it beforehand.
    end: Time,
}

/// How far the two ends of a flow are.
#[derive(Clone, Debug, Default)]
struct Ends {
    /// Of a source that writes blocks at a rate: when its connection was up, and how many it has written.
    next: Option<(Time, u64)>,
    /// The source has opened its connection.
    opened: bool,
    /// The source writes no more, or its connection is gone.
    over: bool,
    /// When the destination last read.
    last_read: Time,
}

impl BackgroundFlowsApp {
    /// `first` is the number of endpoints of the workload, those to come with them.
    pub(crate) fn new(first: u32, flows: Vec<BackgroundFlow>) -> BackgroundFlowsApp {
        BackgroundFlowsApp {
            // Nobody's, if there are none: the workload's endpoints are not counted then.
            first: if flows.is_empty() { u32::MAX } else { first },
            ends: vec![Ends::default(); flows.len()],
            flows,
            end: Time::NEVER,
        }
    }

    /// When a flow ended that has brought so many bytes: with the last of them, or with the run, at `now`. What
    /// its socket held at its `until` comes after that.
    pub(crate) fn end_of(&self, number: usize, received_bytes: u64, now: Time) -> Time {
        let one = &self.flows[number];
        let last_read = self.ends[number].last_read;
        let run = now.min(self.end);
        if one.flow.bytes.is_some_and(|bytes| received_bytes >= bytes) {
            return last_read;
        }
        let end = one.until.map_or(run, |until| until.max(last_read).min(run));
        end.max(one.flow.start)
    }

    /// The destination of a flow has read.
    pub(crate) fn read_at(&mut self, number: usize, at: Time) {
        if let Some(ends) = self.ends.get_mut(number) {
            ends.last_read = ends.last_read.max(at);
        }
    }

    /// Hosts outside end the run then.
    pub(crate) fn ends_at(&mut self, end: Time) {
        self.end = end;
    }

    /// The endpoint of the first flow's source.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// The flows, in the order of their endpoints.
    pub(crate) fn flows(&self) -> &[BackgroundFlow] {
        &self.flows
    }

    /// Whether an endpoint is of one of these flows.
    pub(crate) fn has(&self, id: EndpointId) -> bool {
        id.0 >= self.first
    }

    /// What the source at an endpoint asks for by TCP_CONGESTION, if it is one of these flows'.
    pub(crate) fn congestion(&self, id: EndpointId) -> Option<CongestionKind> {
        let number = id.0.checked_sub(self.first)? / 2;
        self.flows.get(number as usize)?.flow.congestion
    }

    /// Sees to it that flows begin whose sources are not `outside`.
    pub(crate) fn start(&self, outside: impl Fn(usize) -> bool, actions: &mut VecDeque<Action>) {
        for (number, one) in (0..).zip(&self.flows) {
            if !outside(one.flow.source) {
                actions.push_back(Action::Wake {
                    endpoint: EndpointId(self.first + 2 * number),
                    at: one.flow.start,
                });
            }
        }
    }

    /// Tells whom an endpoint belongs to: one of these flows, or the workload.
    #[inline(always)]
    pub(crate) fn notice(
        &mut self,
        workload: &mut Workload,
        now: Time,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        if id.0 < self.first {
            workload.notice(now, id, notice, actions);
        } else if let Notice::Received(_) = notice {
            self.read_at(((id.0 - self.first) / 2) as usize, now);
        } else {
            self.notice_own(now, id, notice, actions);
        }
    }

    #[cold]
    fn notice_own(
        &mut self,
        now: Time,
        id: EndpointId,
        notice: Notice,
        actions: &mut VecDeque<Action>,
    ) {
        let number = ((id.0 - self.first) / 2) as usize;
        let (one, ends) = (&self.flows[number], &mut self.ends[number]);
        let finish = |ending| Action::Finish {
            endpoint: id,
            ending,
        };
        let at_source = id.0.is_multiple_of(2);
        match notice {
            Notice::Awake if !ends.opened => {
                ends.opened = true;
                actions.push_back(Action::Connect { client: id });
            }
            Notice::Awake if !ends.over && one.until.is_some_and(|until| until <= now) => {
                ends.over = true;
                actions.push_back(finish(Ending::Stop));
            }
            Notice::Awake if !ends.over => self.write_due(now, id, actions),
            Notice::Connected if at_source && one.pace.is_some() => {
                ends.next = Some((now, 0));
                self.write_due(now, id, actions);
            }
            Notice::Connected if at_source => {
                let bytes = one.flow.bytes.unwrap_or(ENDLESS);
                actions.push_back(Action::Write {
                    endpoint: id,
                    bytes,
                });
                if one.flow.bytes.is_some() {
                    actions.push_back(finish(Ending::Shutdown));
                }
                if let Some(at) = one.until {
                    let at = at.max(now);
                    actions.push_back(Action::Wake { endpoint: id, at });
                }
            }
            Notice::Closed | Notice::Failed => {
                ends.over |= at_source;
                actions.push_back(finish(Ending::Close));
            }
            Notice::Awake | Notice::Connected | Notice::Received(_) | Notice::Sent(_) => {}
        }
    }

    /// Writes the blocks that are due, and is woken for the next or when the time is over.
    #[cold]
    fn write_due(&mut self, now: Time, id: EndpointId, actions: &mut VecDeque<Action>) {
        let number = ((id.0 - self.first) / 2) as usize;
        let (one, ends) = (&self.flows[number], &mut self.ends[number]);
        let (Some(pace), Some((connected, blocks))) = (one.pace, &mut ends.next) else {
            return;
        };
        let size = one.flow.bytes.unwrap_or(ENDLESS);
        loop {
            let written = *blocks * pace.block_bytes;
            if written >= size {
                ends.over = true;
                actions.push_back(Action::Finish {
                    endpoint: id,
                    ending: Ending::Shutdown,
                });
                return;
            }
            let due = *connected + Duration::from_ns(pace.gap_ns) * *blocks;
            if due > now {
                let at = one.until.map_or(due, |until| due.min(until.max(now)));
                return actions.push_back(Action::Wake { endpoint: id, at });
            }
            *blocks += 1;
            actions.push_back(Action::Write {
                endpoint: id,
                bytes: pace.block_bytes.min(size - written),
            });
        }
    }
}
