//! Hosts ahead of the others: what is on its way to a host is handled in one go.
//!
//! All that a host gets comes over its one link, in order, and as soon as a frame is launched onto that it is
//! known when it comes. So when one has come, those behind it can be handled too, each at its own time, as far as
//! nothing else may happen to the host before: a timer of one of its connections, or the workload. What it
//! sends then leaves at those times, which the calendar sorts out. A port that is always busy has hundreds of frames on its way: they
//! cost no event each, and what the processor needs for them is in its cache.
//!
//! Only of workloads that are lists of flows, which have to do with a host at times that are known beforehand,
//! and only segments of connections that are up and go on, of flows that these do not complete. So the workload has nothing to do with
//! what is handled ahead, and no flow's end, with which a run may end, comes before it. Should it be otherwise,
//! the run is made again, in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailback_net::frame::{EndpointId, HostId};
use tailback_net::pool::Flight;
use tailback_units::{Duration, Time};

use super::World;
use super::network::{LinkState, Sink};
use crate::workload::Workload;

/// What comes later than this is not handled when it is launched: others may come behind it, and all are handled together.
const NEAR: Duration = Duration::from_us(20);

/// How far hosts may be ahead.
#[derive(Debug, Default)]
pub(crate) struct Lead {
    /// They are.
    on: bool,
    /// By host, when the calendar looks at its endpoints: none if hosts are not ahead.
    due: Vec<BinaryHeap<Reverse<Time>>>,
    /// By host, when the first of these is: close together, for it is asked for often.
    first_due: Vec<Time>,
    /// The workload does nothing of itself, nor does the run's time end, before.
    until: Time,
    /// What is being handled is ahead.
    ahead: bool,
    /// As far as any host has been.
    reached: Time,
    /// Something has happened that shows that hosts were ahead.
    shown: bool,
}

impl Lead {
    /// Whether hosts may be ahead.
    #[inline(always)]
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// The calendar will look at an endpoint of this host.
    #[inline]
    pub(super) fn will_look(&mut self, host: HostId, at: Time) {
        if let Some(due) = self.due.get_mut(usize::from(host.0)) {
            due.push(Reverse(at));
            let first = &mut self.first_due[usize::from(host.0)];
            *first = at.min(*first);
        }
    }

    /// The calendar looks at an endpoint of this host.
    #[inline]
    fn looks(&mut self, host: HostId, at: Time) {
        if let Some(due) = self.due.get_mut(usize::from(host.0)) {
            let looked_at = due.pop();
            debug_assert_eq!(looked_at, Some(Reverse(at)), "looks come in order");
            self.first_due[usize::from(host.0)] = due.peek().map_or(Time::NEVER, |first| first.0);
        }
    }

    /// Nothing happens at a host before this but what comes over its link.
    #[inline(always)]
    fn until(&self, host: HostId) -> Time {
        self.until.min(self.first_due[usize::from(host.0)])
    }

    /// A host has been ahead to `at`.
    #[inline(always)]
    fn reached(&mut self, at: Time) {
        self.ahead = false;
        self.reached = self.reached.max(at);
    }

    /// The workload will do nothing of itself before.
    pub(super) fn alarm_at(&mut self, at: Time) {
        self.until = at;
    }

    /// Takes over what is known of a host of another part.
    pub(crate) fn take(&mut self, other: &mut Lead, host: usize) {
        if let (Some(own), Some(others)) = (self.due.get_mut(host), other.due.get_mut(host)) {
            std::mem::swap(own, others);
            self.first_due[host] = other.first_due[host];
        }
    }

    /// Takes over what else another part knows.
    pub(crate) fn join(&mut self, other: &Lead) {
        self.shown |= other.shown;
        self.reached = self.reached.max(other.reached);
    }

    /// What must not depend on whether hosts are ahead has happened.
    pub(super) fn show(&mut self) {
        self.shown |= self.ahead;
    }

    pub(super) fn is_shown(&self) -> bool {
        self.shown
    }

    /// The run has ended.
    pub(super) fn end(&mut self, at: Time) {
        self.shown |= self.reached > at;
    }
}

impl World {
    /// Hosts are ahead from now on, if they can be.
    pub(super) fn begin_lead(&mut self) {
        let alone = match &self.workload {
            Workload::Flows(flows) => flows.is_modelled(),
            _ => false,
        };
        let plain = self.pushback.is_none()
            && self.background.is_none()
            && self.beside.flows().is_empty()
            && self.datagrams.is_empty()
            && !self.page_buffers
            && self.hosts.iter().all(|host| host.machine.is_none());
        let at_once = |link: &LinkState| matches!(link.sink, Sink::Host { at_once: true, .. });
        let worth = self.links.iter().any(at_once);
        self.lead.on = alone && self.is_unseen() && plain && worth && !self.in_order;
        if self.lead.on {
            let hosts = self.hosts.len();
            self.lead.due.resize_with(hosts, BinaryHeap::new);
            self.lead.first_due.resize(hosts, Time::NEVER);
        }
    }

    /// The calendar looks at an endpoint.
    #[inline]
    pub(super) fn looks_at(&mut self, id: EndpointId) {
        self.lead
            .looks(self.endpoints[id.0 as usize].host, self.now);
    }

    /// An end is to be taken away: one that is up, for the other has given up, may have got frames that come
    /// later.
    #[cold]
    pub(super) fn show_lead(&mut self, id: EndpointId) {
        let connection = &self.endpoints[id.0 as usize].connection;
        let is_up = connection.as_ref().is_some_and(|tcp| tcp.is_up());
        self.lead.shown |= is_up && self.lead.reached > self.now;
    }

    /// A frame has come to a host over a link: it is handled, and so are those behind it as far as the host
    /// may be ahead.
    #[inline(never)]
    pub(super) fn receive_run(&mut self, rank: u32, host: HostId, first: Flight) {
        let now = self.now;
        let mut frame = first;
        let several = self.links[rank as usize].link.next().is_some();
        let fetches = several && self.is_large();
        if fetches {
            self.fetch_first(rank);
        }
        let next_at = loop {
            if fetches {
                self.fetch_more(rank);
            }
            self.receive(frame);
            let link = &self.links[rank as usize].link;
            let next_at = link.next_at();
            if self.done
                || next_at >= self.lead.until(host)
                || !link.next().is_some_and(|next| self.is_foreseen(next))
            {
                break next_at;
            }
            frame = self.links[rank as usize].link.land();
            self.hops += 1;
            self.lead.ahead = true;
            self.now = next_at;
        };
        self.lead.reached(self.now);
        self.now = now;
        if next_at != Time::NEVER {
            self.calendar.schedule(rank, next_at);
        }
    }

    /// The only frame on a link comes at `at`: it is handled, if it comes to a host that may be ahead so far.
    #[inline(never)]
    pub(super) fn receive_or_schedule(&mut self, link: u32, sink: Sink, at: Time) {
        if let Sink::Host {
            host,
            at_once: true,
        } = sink
            && at < self.lead.until(host).min(self.now + NEAR)
            && let state = &self.links[link as usize].link
            && state.next().is_some_and(|frame| self.is_foreseen(frame))
        {
            let now = self.now;
            let frame = self.links[link as usize].link.land();
            self.hops += 1;
            self.lead.ahead = true;
            self.now = at;
            self.receive(frame);
            self.lead.reached(at);
            self.now = now;
        } else {
            self.calendar.schedule(link, at);
        }
    }

    /// Whether nothing but this host and its link has to do with what this frame does there.
    #[inline(always)]
    fn is_foreseen(&self, frame: &Flight) -> bool {
        let endpoint = self.endpoints.get(frame.to.0 as usize);
        let Some(endpoint) = endpoint.filter(|end| !end.holds) else {
            return false;
        };
        let (Some(connection), Workload::Flows(flows)) = (&endpoint.connection, &self.workload)
        else {
            return false;
        };
        let header = self.frames.header(frame.frame);
        connection.goes_on_with(header)
            && (frame.payload_bytes == 0 || flows.left(frame.to) > connection.readable_with(header))
    }
}

#[cfg(test)]
#[path = "lead_tests.rs"]
mod tests;
