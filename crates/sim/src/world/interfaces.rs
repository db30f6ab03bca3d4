//! Interface counters as a poller sees them: what table `interfaces` is made of.
//!
//! Models SNMP's ifHCOutOctets and ifHCOutUcastPkts (RFC 2863) of every interface, read a fixed time
//! apart: 64-bit counters since the beginning, and the rate between two polls. A frame counts when its last bit
//! has left. Octets include the Ethernet header and FCS, not preamble and gap, whatever a link's framing is. Left out: the poller's own
//! packets and jitter.

use std::collections::VecDeque;

use tailback_units::{Duration, Time};

use super::network::LinkState;
use super::{ROWS_MAX, World};
use crate::tables::Table;

/// Frames that a link was handed and that leave it after the next poll.
#[derive(Debug)]
pub(crate) struct Unsent {
    poll: Time,
    /// When each has left, and its octets.
    frames: VecDeque<(Time, u16)>,
}

impl Unsent {
    /// None, on a link that is polled first at `poll`.
    pub(crate) fn new(poll: Time) -> Unsent {
        Unsent {
            poll,
            frames: VecDeque::new(),
        }
    }

    /// A frame will have left the link at `finish`.
    #[inline]
    pub(super) fn note(&mut self, finish: Time, octets: u16) {
        if finish > self.poll {
            self.frames.push_back((finish, octets));
        }
    }

    /// Of so many octets and frames handed over, those that have left at the poll; the next one is at `next`.
    fn left(&mut self, (octets, frames): (u64, u64), next: Time) -> (u64, u64) {
        let waiting: u64 = self.frames.iter().map(|frame| u64::from(frame.1)).sum();
        let left = (octets - waiting, frames - self.frames.len() as u64);
        self.poll = next;
        self.frames.retain(|(finish, _)| *finish > next);
        left
    }
}

/// What was polled.
#[derive(Debug)]
pub(crate) struct Interfaces {
    interval: Duration,
    next: Time,
    /// A poll's time, then octets and frames of every link direction.
    polls: Vec<(Time, Vec<(u64, u64)>)>,
    /// When they came to more rows than are kept; then nothing is polled any more.
    too_many_at: Option<Time>,
}

impl Interfaces {
    /// Polls `interval` apart.
    pub(crate) fn new(interval: Duration) -> Interfaces {
        Interfaces {
            interval,
            next: Time::ZERO + interval,
            polls: Vec::new(),
            too_many_at: None,
        }
    }

    /// When it polls next.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Keeps a poll.
    fn keep(&mut self, counters: impl Iterator<Item = (u64, u64)>) {
        let counters: Vec<(u64, u64)> = counters.collect();
        if self.polls.len().saturating_mul(counters.len()) >= ROWS_MAX {
            self.too_many_at = Some(self.next);
            self.polls = Vec::new();
            self.next = Time::NEVER;
            return;
        }
        self.polls.push((self.next, counters));
        self.next += self.interval;
    }

    /// When there were more rows than are kept, if so, and how far apart they were.
    pub(super) fn too_many(&self) -> Option<(Time, Duration)> {
        self.too_many_at.map(|at| (at, self.interval))
    }

    /// The table: a row a poll and link direction that has carried anything.
    pub(crate) fn table(&self, names: &[&str]) -> Table {
        let carries: Vec<usize> = match self.polls.last() {
            Some((_, last)) => (0..last.len()).filter(|l| last[*l].1 > 0).collect(),
            None => Vec::new(),
        };
        let rows: Vec<(usize, usize)> = (0..self.polls.len())
            .flat_map(|poll| carries.iter().map(move |link| (poll, *link)))
            .collect();
        let octets = |(poll, link): (usize, usize)| self.polls[poll].1[link].0;
        let mbps = |(poll, link): (usize, usize)| {
            let before = poll.checked_sub(1).map_or(0, |b| octets((b, link)));
            let bits = (octets((poll, link)) - before) as f64 * 8.0;
            bits / self.interval.as_secs_f64() / 1e6
        };
        let time = |(poll, _): &(usize, usize)| self.polls[*poll].0.as_secs_f64();
        Table::new("interfaces")
            .measures("time_s", rows.iter().map(time))
            .names("interface", rows.iter().map(|(_, l)| names[*l].to_owned()))
            .counts("out_octets", rows.iter().map(|row| octets(*row)))
            .counts(
                "out_frames",
                rows.iter().map(|(p, l)| self.polls[*p].1[*l].1),
            )
            .measures("out_mbps", rows.iter().map(|row| mbps(*row)))
    }
}

impl World {
    /// Polls every interface, all of which were then as they are now.
    pub(super) fn poll_interfaces(&mut self) {
        let Some(interfaces) = &mut self.interfaces else {
            return;
        };
        let next = interfaces.next + interfaces.interval;
        let left = |state: &mut LinkState| {
            let handed = state.link.handed();
            let unsent = state.label.unsent.as_mut();
            unsent.map_or(handed, |unsent| unsent.left(handed, next))
        };
        interfaces.keep(self.links.iter_mut().map(left));
    }

    /// When the network as a whole is to be looked at or polled next, or may take other ways.
    pub(crate) fn watches_at(&self) -> Time {
        let series = self.series.as_ref().map_or(Time::NEVER, |s| s.next());
        let polls = self.interfaces.as_ref().map_or(Time::NEVER, |i| i.next());
        series.min(polls).min(self.reroutes_at())
    }
}

#[cfg(test)]
#[path = "interfaces_tests.rs"]
mod tests;
