//! UDP: datagrams at a constant rate between fixed pairs of hosts.
//!
//! Models `iperf -u` as the lambda-rings study runs it (Marian et al.): a sender that writes a
//! datagram whenever one is due by its rate, and several at once if it is late; a receiver that reads
//! one datagram a system call and counts which are missing and which came out of order.
//! Left out: iperf's final report over the same path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Rate, Time};

use super::bulk::Pairs;
use super::reporter::Reporter;
use crate::kernel::HostKind;
use crate::problem::Finding;
use crate::topology::{Host, Topology};

/// Datagrams at a constant rate between fixed pairs of hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Udp {
    /// Who sends to whom.
    pub pairs: Pairs,
    /// When each pair sends; absent: all at once, for `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// Payload that each sender offers (iperf's -b).
    pub rate: Rate,
    /// Payload of a datagram (iperf's -l).
    #[serde(default = "datagram")]
    #[schemars(default = "datagram")]
    pub datagram: Bytes,
    /// Datagrams are ECN-capable, ECT(0), as RoCEv2's are; marks go to cards that speak DCQCN.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// How long they send (iperf's -t).
    pub duration: Duration,
    /// SO_RCVBUF as the receiver asks for it (iperf's -w); Linux doubles it, within rmem_max.
    pub socket_buffer: Bytes,
    /// iperf's reporter thread at either end, on hosts with a machine; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reporter: Option<Reporter>,
    /// Of so many of a receiver's first datagrams the times of arrival are recorded, as its
    /// interrupt handler or poll sees them.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub record_arrivals: u32,
}

/// Measurements on a schedule: in every round each pair sends once, for `duration`. A source with
/// several destinations takes them one after the other, evenly spread over the round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Time between rounds.
    pub every: Duration,
    /// How many rounds.
    #[schemars(range(min = 1, max = 10_000))]
    pub rounds: u32,
}

/// One sender's datagrams, from `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// When the first is due.
    pub start: Time,
    /// When it stops.
    pub end: Time,
    /// Which round it is of, from 0.
    pub round: u32,
    /// Places of its hosts in the topology.
    pub source: usize,
    /// Where they go.
    pub destination: usize,
}

/// iperf's for IPv4 at MTU 1500.
fn datagram() -> Bytes {
    Bytes::new(1470)
}

/// IPv4 header without options and UDP header.
const HEADERS_BYTES: u64 = 28;
/// Longest run: a hundred days; the simulator's clock ends after 213.
const SPAN_MAX: Duration = Duration::from_secs(100 * 86_400);

impl Udp {
    /// Every sender's datagrams, in the order of rounds and pairs.
    #[must_use]
    pub fn probes(&self, seed: u64, network: &Topology) -> Vec<Probe> {
        let pairs = self.pairs.of(seed, 0, network);
        let mut slots = vec![0_u64; network.hosts.len()];
        let mut own_slots = Vec::with_capacity(pairs.len());
        for (source, _) in &pairs {
            own_slots.push(slots[*source]);
            slots[*source] += 1;
        }
        // Senders of different hosts are not in step; each begins before its time is over.
        let within = self.gap().min(self.duration);
        let phase = |pair: usize| within * pair as u64 / pairs.len().max(1) as u64;
        let probe = |round: u32, pair: usize| {
            let (source, destination) = pairs[pair];
            let offset = self.schedule.as_ref().map_or(Duration::ZERO, |schedule| {
                let slot = schedule.every / slots[source];
                schedule.every * u64::from(round) + slot * own_slots[pair]
            });
            Probe {
                start: Time::ZERO + offset + phase(pair),
                end: Time::ZERO + offset + self.duration,
                round,
                source,
                destination,
            }
        };
        let rounds = self.schedule.as_ref().map_or(1, |schedule| schedule.rounds);
        let all = (0..rounds).flat_map(|round| (0..pairs.len()).map(move |pair| (round, pair)));
        all.map(|(round, pair)| probe(round, pair)).collect()
    }

    /// How long the whole of it takes.
    #[must_use]
    pub fn span(&self) -> Duration {
        match &self.schedule {
            None => self.duration,
            Some(schedule) => schedule.every * u64::from(schedule.rounds),
        }
    }

    /// Time between two datagrams of a sender.
    #[must_use]
    pub fn gap(&self) -> Duration {
        self.rate.time_for(self.datagram.get())
    }

    /// Bytes that one pair sends.
    pub(super) fn expected_bytes(&self) -> u64 {
        let rounds = self.schedule.as_ref().map_or(1, |schedule| schedule.rounds);
        let datagrams = self.duration.as_ps() / self.gap().as_ps().max(1);
        u64::from(rounds) * datagrams * self.datagram.get()
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found: Vec<Finding> = super::no_time(self.duration, "60s").into_iter().collect();
        if self.rate.as_bps() == 0 {
            found.push(Finding::new(
                "rate",
                "nothing would be sent",
                "a rate above zero, such as \"400Mbit\"",
            ));
        }
        if self.span() > SPAN_MAX {
            found.push(Finding::new(
                "schedule.rounds",
                format!("all rounds together take {}", self.span()),
                format!("fewer rounds, or more often: {SPAN_MAX} at most"),
            ));
        }
        found
    }

    /// Pairs that do not fit `network`, and datagrams that do not fit its links.
    pub(super) fn name_findings(&self, network: &Topology) -> Vec<Finding> {
        let mut found = self.pairs.name_findings(network);
        if let Some(schedule) = &self.schedule {
            let pairs = self.pairs.of(0, 0, network);
            let mut slots = vec![0_u64; network.hosts.len()];
            for (source, _) in &pairs {
                slots[*source] += 1;
            }
            let busy = self.duration * slots.into_iter().max().unwrap_or(0);
            if busy > schedule.every {
                found.push(Finding::new(
                    "schedule.every",
                    format!("a source needs {busy} for all its destinations"),
                    format!("at least {busy}, or a shorter duration"),
                ));
            }
        }
        found.extend(datagram_finding(self.datagram, network));
        found.extend(self.unseen_arrivals(network));
        found
    }

    /// Arrivals that are asked for where no receiver's machine sees any.
    fn unseen_arrivals(&self, network: &Topology) -> Option<Finding> {
        let sees = |host: &Host| host.kind == HostKind::Model && host.config.machine.is_some();
        let pairs = self.pairs.of(0, 0, network);
        let seen = pairs.iter().any(|(_, to)| sees(&network.hosts[*to]));
        (self.record_arrivals > 0 && !seen).then(|| {
            Finding::new(
                "record_arrivals",
                "a machine's interrupt handler or poll stamps arrivals, and no receiver is a model with a machine",
                "0, or a host whose preset has a machine, such as host = \"xeon-e7330-ixgbe\"",
            )
        })
    }
}

/// What is wrong with datagrams of that much payload, if they do not go into one packet of every link.
pub(crate) fn datagram_finding(datagram: Bytes, network: &Topology) -> Option<Finding> {
    let mtu = network.links.iter().map(|l| l.config.mtu.get()).min()?;
    let most = mtu.saturating_sub(HEADERS_BYTES);
    (datagram.get() == 0 || datagram.get() > most).then(|| {
        Finding::new(
            "datagram",
            format!("a datagram of {datagram} is not sent as one packet"),
            format!("1 B to {}: datagrams are not fragmented", Bytes::new(most)),
        )
    })
}

#[cfg(test)]
#[path = "udp_tests.rs"]
mod tests;
