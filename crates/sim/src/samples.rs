//! What is looked at in equal steps of time over a whole run: TCP_INFO and memory of every modelled
//! connection, and what waits at every port of every switch.
//!
//! The tables `samples` and `queue_samples`. Kernels tell of their connections in the same columns
//! (`external/told.rs`), so a run's `samples` is read alike whoever its hosts are.

use std::collections::BTreeMap;

use tailback_net::frame::HostId;
use tailback_tcp::{MemInfo, TcpInfo};
use tailback_units::{Duration, Time};
use tailback_wire::plan;

use crate::tables::Table;

/// Most looks at connections or places that a run keeps: some gigabytes with the tables that are made of them.
pub(crate) const LOOKS_MAX: usize = 5_000_000;

/// One connection's end at one look.
#[derive(Debug)]
struct ConnectionLook {
    at: Time,
    endpoint: u32,
    host: HostId,
    peer: u32,
    peer_host: HostId,
    bytes: u64,
    info: TcpInfo,
    memory: MemInfo,
}

/// One port with something queued, or that had at the look before.
#[derive(Debug)]
struct QueueLook {
    at: Time,
    place: u32,
    bytes: u64,
}

/// What was looked at so far.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    interval: Duration,
    connections: Vec<ConnectionLook>,
    queues: Vec<QueueLook>,
    /// When there were too many to go on.
    too_many_at: Option<Time>,
}

/// An end of a connection as it is looked at.
pub(crate) struct Looked {
    pub(crate) endpoint: u32,
    pub(crate) host: HostId,
    pub(crate) peer: u32,
    pub(crate) peer_host: HostId,
    /// What its application has read and written.
    pub(crate) bytes: u64,
    pub(crate) info: TcpInfo,
    pub(crate) memory: MemInfo,
}

impl Samples {
    /// Looks so far apart; none if there is no interval.
    pub(crate) fn new(interval: Option<Duration>) -> Samples {
        Samples {
            interval: interval.unwrap_or_default(),
            ..Samples::default()
        }
    }

    /// When to look first, and after a look at `last` the next time.
    pub(crate) fn next(&self, last: Option<Time>) -> Time {
        match last {
            _ if self.interval.is_zero() || self.too_many_at.is_some() => Time::NEVER,
            None => Time::ZERO,
            Some(last) => last + self.interval,
        }
    }

    /// Keeps a look at every place and every connection.
    pub(crate) fn look(
        &mut self,
        at: Time,
        queues: impl Iterator<Item = u64>,
        connections: impl Iterator<Item = Looked>,
    ) {
        self.queues.extend(
            (0..)
                .zip(queues)
                .map(|(place, bytes)| QueueLook { at, place, bytes }),
        );
        self.connections
            .extend(connections.map(|one| ConnectionLook {
                at,
                endpoint: one.endpoint,
                host: one.host,
                peer: one.peer,
                peer_host: one.peer_host,
                bytes: one.bytes,
                info: one.info,
                memory: one.memory,
            }));
        if self.connections.len().max(self.queues.len()) > LOOKS_MAX {
            self.too_many_at = Some(at);
            self.connections = Vec::new();
            self.queues = Vec::new();
        }
    }

    /// When there were more looks than are kept, if so, and how far apart they were.
    pub(crate) fn too_many(&self) -> Option<(Time, Duration)> {
        self.too_many_at.map(|at| (at, self.interval))
    }

    /// The tables, if there is anything in them; `places` are the names of the queues, `hosts`
    /// those of the hosts.
    pub(crate) fn tables(&self, places: &[String], hosts: &[String]) -> Vec<Table> {
        let mut used = vec![false; places.len()];
        for look in self.queues.iter().filter(|look| look.bytes > 0) {
            used[look.place as usize] = true;
        }
        let queues = || self.queues.iter().filter(|look| used[look.place as usize]);
        let queues = Table::new("queue_samples")
            .measures("time_s", queues().map(|look| look.at.as_secs_f64()))
            .names(
                "place",
                queues().map(|look| places[look.place as usize].clone()),
            )
            .counts("queue_bytes", queues().map(|look| look.bytes));
        let rows = &self.connections;
        let address = |host: HostId, endpoint: u32| {
            format!("{}:{}", plan::ipv4(host.0), plan::port(endpoint))
        };
        let mut samples = Table::new("samples")
            .names(
                "host",
                rows.iter()
                    .map(|row| hosts[usize::from(row.host.0)].clone()),
            )
            .names(
                "local",
                rows.iter().map(|row| address(row.host, row.endpoint)),
            )
            .names(
                "peer",
                rows.iter().map(|row| address(row.peer_host, row.peer)),
            )
            .measures("time_s", rows.iter().map(|row| row.at.as_secs_f64()))
            .counts("bytes", rows.iter().map(|row| row.bytes));
        let mut fields: BTreeMap<&'static str, Vec<u64>> = BTreeMap::new();
        for row in rows {
            for (name, value) in told(&row.info).into_iter().chain(held(&row.memory)) {
                fields.entry(name).or_default().push(value);
            }
        }
        for (name, values) in fields {
            samples = samples.counts(name, values);
        }
        [queues, samples]
            .into_iter()
            .filter(|table| table.rows() > 0)
            .collect()
    }
}

/// Stands for no limit: tables hold no more.
const UNLIMITED: u64 = i64::MAX as u64;

/// TCP_INFO under the names that the agent gives it, which end in their unit.
fn told(info: &TcpInfo) -> [(&'static str, u64); 50] {
    [
        ("state", u64::from(info.state)),
        ("ca_state", u64::from(info.ca_state)),
        ("retransmits", u64::from(info.retransmits)),
        ("probes", u64::from(info.probes)),
        ("backoff", u64::from(info.backoff)),
        ("options", u64::from(info.options)),
        ("rto_us", u64::from(info.rto)),
        ("ato_us", u64::from(info.ato)),
        ("snd_mss_bytes", u64::from(info.snd_mss)),
        ("rcv_mss_bytes", u64::from(info.rcv_mss)),
        ("unacked", u64::from(info.unacked)),
        ("sacked", u64::from(info.sacked)),
        ("lost", u64::from(info.lost)),
        ("retrans", u64::from(info.retrans)),
        ("pmtu_bytes", u64::from(info.pmtu)),
        ("rcv_ssthresh_bytes", u64::from(info.rcv_ssthresh)),
        ("rtt_us", u64::from(info.rtt)),
        ("rttvar_us", u64::from(info.rttvar)),
        ("snd_ssthresh", u64::from(info.snd_ssthresh)),
        ("snd_cwnd", u64::from(info.snd_cwnd)),
        ("advmss_bytes", u64::from(info.advmss)),
        ("reordering", u64::from(info.reordering)),
        ("rcv_rtt_us", u64::from(info.rcv_rtt)),
        ("rcv_space_bytes", u64::from(info.rcv_space)),
        ("total_retrans", u64::from(info.total_retrans)),
        ("pacing_rate_bytes_per_s", info.pacing_rate.min(UNLIMITED)),
        ("bytes_acked", info.bytes_acked),
        ("bytes_received", info.bytes_received),
        ("segs_out", u64::from(info.segs_out)),
        ("segs_in", u64::from(info.segs_in)),
        ("notsent_bytes", u64::from(info.notsent_bytes)),
        ("min_rtt_us", u64::from(info.min_rtt)),
        ("data_segs_in", u64::from(info.data_segs_in)),
        ("data_segs_out", u64::from(info.data_segs_out)),
        ("delivery_rate_bytes_per_s", info.delivery_rate),
        ("busy_time_us", info.busy_time),
        ("rwnd_limited_us", info.rwnd_limited),
        ("sndbuf_limited_us", info.sndbuf_limited),
        ("delivered", u64::from(info.delivered)),
        ("delivered_ce", u64::from(info.delivered_ce)),
        ("bytes_sent", info.bytes_sent),
        ("bytes_retrans", info.bytes_retrans),
        ("dsack_dups", u64::from(info.dsack_dups)),
        ("reord_seen", u64::from(info.reord_seen)),
        ("rcv_ooopack", u64::from(info.rcv_ooopack)),
        ("snd_wnd_bytes", u64::from(info.snd_wnd)),
        ("rcv_wnd_bytes", u64::from(info.rcv_wnd)),
        ("total_rto", u64::from(info.total_rto)),
        ("total_rto_recoveries", u64::from(info.total_rto_recoveries)),
        ("total_rto_time_ms", u64::from(info.total_rto_time)),
    ]
}

/// SO_MEMINFO under the names that the agent gives it.
fn held(memory: &MemInfo) -> [(&'static str, u64); 4] {
    [
        ("rmem_alloc_bytes", memory.rmem_alloc.into()),
        ("rcvbuf_bytes", memory.rcvbuf.into()),
        ("sndbuf_bytes", memory.sndbuf.into()),
        ("wmem_queued_bytes", memory.wmem_queued.into()),
    ]
}

#[cfg(test)]
#[path = "samples_tests.rs"]
mod tests;
