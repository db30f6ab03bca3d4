//! The network as a monitor sees it, a fixed time apart: what table `network` is made of.

use tailback_net::frame::HostId;
use tailback_units::{Duration, Time};

use super::{ROWS_MAX, World};
use crate::tables::Table;

/// What is watched, and what was seen.
#[derive(Debug)]
pub(crate) struct Series {
    interval: Duration,
    /// The host that is looked at by itself, and the port that leads to it, if a switch does.
    host: HostId,
    port: Option<(u16, u16)>,
    next: Time,
    rows: Vec<Look>,
    /// When there were more than are kept; then nobody looks any more.
    too_many_at: Option<Time>,
}

/// Counters since the beginning, and the queue at that moment.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    at: Time,
    read_bytes: u64,
    host_read_bytes: u64,
    queue_bytes: u64,
    switch_drops: u64,
    timeouts: u64,
    retransmissions: u64,
    pauses: u64,
    notices: u64,
}

impl Series {
    /// Looks `interval` apart, at `host` behind `port` of a switch too; on a direct cable there is none.
    pub(crate) fn new(interval: Duration, host: HostId, port: Option<(u16, u16)>) -> Series {
        Series {
            interval,
            host,
            port,
            next: Time::ZERO + interval,
            rows: Vec::new(),
            too_many_at: None,
        }
    }

    /// When it looks next.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Keeps a look.
    fn keep(&mut self, look: Look) {
        if self.rows.len() >= ROWS_MAX {
            self.too_many_at = Some(look.at);
            self.rows = Vec::new();
            self.next = Time::NEVER;
            return;
        }
        self.rows.push(look);
        self.next += self.interval;
    }

    /// When there were more rows than are kept, if so, and how far apart they were.
    pub(super) fn too_many(&self) -> Option<(Time, Duration)> {
        self.too_many_at.map(|at| (at, self.interval))
    }

    /// The table: a row an interval, at its end.
    pub(crate) fn table(&self) -> Table {
        let before = |i: usize| {
            i.checked_sub(1)
                .map_or_else(Look::default, |b| self.rows[b])
        };
        let change = |value: fn(&Look) -> u64| {
            let rows = self.rows.iter().enumerate();
            rows.map(move |(i, row)| value(row) - value(&before(i)))
        };
        let seconds = self.interval.as_secs_f64();
        let gbps = |value| change(value).map(|bytes| bytes as f64 * 8.0 / seconds / 1e9);
        let time_ms = |row: &Look| row.at.since(Time::ZERO).as_ms_f64();
        Table::new("network")
            .measures("time_ms", self.rows.iter().map(time_ms))
            .measures("goodput_gbps", gbps(|r| r.read_bytes).collect::<Vec<_>>())
            .measures(
                "host_goodput_gbps",
                gbps(|r| r.host_read_bytes).collect::<Vec<_>>(),
            )
            .counts("queue_bytes", self.rows.iter().map(|r| r.queue_bytes))
            .counts(
                "switch_drops",
                change(|r| r.switch_drops).collect::<Vec<_>>(),
            )
            .counts("timeouts", change(|r| r.timeouts).collect::<Vec<_>>())
            .counts(
                "retransmissions",
                change(|r| r.retransmissions).collect::<Vec<_>>(),
            )
            .counts("pauses", change(|r| r.pauses).collect::<Vec<_>>())
            .counts(
                "congestion_messages",
                change(|r| r.notices).collect::<Vec<_>>(),
            )
    }
}

impl World {
    /// What flows beside the workload have read.
    fn read_beside(&self) -> u64 {
        let ends = self.endpoints.iter().skip(self.beside.first() as usize);
        ends.map(|end| end.read_bytes).sum()
    }

    /// Looks at the network, which was then as it is now.
    pub(super) fn look_at_network(&mut self) {
        let Some(series) = &self.series else { return };
        let (at, host) = (series.next, series.host);
        let queue_bytes = series.port.map_or(0, |(switch, port)| {
            let state = &mut self.switches[usize::from(switch)];
            state.settle(at);
            state.queued_bytes(port)
        });
        let totals = self.totals();
        let ends = self.endpoints.iter().filter(|e| e.host == host);
        let (pauses, notices) = self
            .pushback
            .as_ref()
            .map_or((0, 0), |p| (p.pauses, p.notices));
        let look = Look {
            at,
            read_bytes: totals.read_bytes + self.read_beside(),
            host_read_bytes: ends.map(|e| e.read_bytes).sum(),
            queue_bytes,
            switch_drops: totals.switch_drops,
            timeouts: totals.timeouts,
            retransmissions: totals.retransmissions,
            pauses,
            notices,
        };
        if let Some(series) = &mut self.series {
            series.keep(look);
        }
    }
}
