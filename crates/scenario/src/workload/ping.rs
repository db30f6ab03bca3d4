//! Ping: echo requests between fixed pairs of hosts, in equal steps of time.
//!
//! Models ping(8) of iputils: a request every `interval` (-i), whether or not those before are answered, `count` of
//! them (-c) or for `duration` (-w), with `size` bytes of data (-s); what is not answered `wait` (-W) after the last
//! request is lost. Sources are not in step: each pair's first request is a part of `interval` after the pair's before.
//! Left out: priorities, the record of the route, floods (-f), answers that the network doubles (DUP!).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Time};

use super::bulk::Pairs;
use crate::period;
use crate::problem::Finding;
use crate::topology::Topology;

/// Echo requests between fixed pairs of hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    /// Who pings whom.
    pub pairs: Pairs,
    /// Time from one request of a pair to the next (ping's -i).
    #[serde(default = "second")]
    #[schemars(default = "second")]
    pub interval: Duration,
    /// Requests of each pair (ping's -c); this or `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000_000))]
    pub count: Option<u32>,
    /// How long requests are sent (ping's -w); this or `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// Data of a request, beside 8 bytes of ICMP header (ping's -s).
    #[serde(default = "size")]
    #[schemars(default = "size")]
    pub size: Bytes,
    /// How long after the last request answers are waited for (ping's -W); the run ends when all are in.
    #[serde(default = "second")]
    #[schemars(default = "second")]
    pub wait: Duration,
}

/// Requests from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pinger {
    /// When the first is sent.
    pub start: Time,
    /// The host that asks.
    pub source: usize,
    /// The host that answers.
    pub destination: usize,
    /// Requests.
    pub count: u32,
}

/// ping(8)'s interval, and about what it waits for answers.
fn second() -> Duration {
    Duration::from_secs(1)
}

/// ping(8)'s.
fn size() -> Bytes {
    Bytes::new(56)
}

/// IPv4 header without options and ICMP header.
const HEADERS_BYTES: u64 = 28;
/// ping(8) writes the time of sending into the data, and measures nothing where it has no room for it.
const STAMP_BYTES: u64 = 16;
/// Longest run: a hundred days; the simulator's clock ends after 213.
const SPAN_MAX: Duration = Duration::from_secs(100 * 86_400);
/// Most requests of a run: each is a row of a table.
const REQUESTS_MAX: u64 = 10_000_000;

impl Ping {
    /// Requests of each pair; none if the scenario does not say.
    fn requests(&self) -> u64 {
        let during = |time: Duration| time.as_ps().div_ceil(self.interval.as_ps().max(1));
        match (self.count, self.duration) {
            (Some(count), _) => u64::from(count),
            (None, Some(duration)) => during(duration),
            (None, None) => 0,
        }
    }

    /// When the last answer is waited for no more, if the scenario says how many requests there are.
    pub(super) fn latest_end(&self) -> Option<Duration> {
        let span = self.interval.as_ps().checked_mul(self.requests())?;
        span.checked_add(self.wait.as_ps()).map(Duration::from_ps)
    }

    /// Everybody's requests, in the order of the pairs.
    #[must_use]
    pub fn pingers(&self, seed: u64, network: &Topology) -> Vec<Pinger> {
        let pairs = self.pairs.of(seed, 0, network);
        let phase = |pair: usize| self.interval * pair as u64 / pairs.len().max(1) as u64;
        let pinger = |(pair, (source, destination)): (usize, &(usize, usize))| Pinger {
            start: Time::ZERO + phase(pair),
            source: *source,
            destination: *destination,
            count: self.requests() as u32,
        };
        pairs.iter().enumerate().map(pinger).collect()
    }

    /// Bytes of data that one pair's answers bring.
    pub(super) fn expected_bytes(&self) -> u64 {
        self.requests().saturating_mul(self.size.get())
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        match (self.count, self.duration) {
            (Some(_), Some(_)) => found.push(Finding::new(
                "duration",
                "with count it says twice when requests end",
                "count or duration, and not both",
            )),
            (None, None) => found.push(Finding::new(
                "count",
                "requests would have no end",
                "how many, such as 10, or duration = \"10s\"",
            )),
            (None, Some(duration)) => found.extend(super::no_time(duration, "10s")),
            (Some(_), None) => {}
        }
        found.extend(period::too_short("interval", self.interval));
        let span = u128::from(self.interval.as_ps()) * u128::from(self.requests());
        if span > SPAN_MAX.as_ps().into() {
            found.push(Finding::new(
                "interval",
                format!("{} requests so far apart take too long", self.requests()),
                format!("fewer, or more often: {SPAN_MAX} in all at most"),
            ));
        }
        if self.wait.is_zero() {
            found.push(Finding::new(
                "wait",
                "the answer to the last request would always be lost",
                "a time above every round trip, such as \"1s\"",
            ));
        }
        found
    }

    /// Pairs that do not fit `network`, requests that do not fit its links, and more than a run has room for.
    pub(super) fn name_findings(&self, network: &Topology) -> Vec<Finding> {
        let mut found = self.pairs.name_findings(network);
        let mtu = network.links.iter().map(|l| l.config.mtu.get()).min();
        let most = mtu.unwrap_or(u64::MAX).saturating_sub(HEADERS_BYTES);
        if !(STAMP_BYTES..=most).contains(&self.size.get()) {
            found.push(Finding::new(
                "size",
                format!(
                    "a request with {} of data is not one packet that holds the time it was sent at",
                    self.size
                ),
                format!("{STAMP_BYTES}B to {most}B: requests are not fragmented"),
            ));
        }
        let pairs = self.pairs.of(0, 0, network).len() as u64;
        let all = self.requests().saturating_mul(pairs);
        if found.is_empty() && all > REQUESTS_MAX && self.interval >= period::SHORTEST {
            found.push(Finding::new(
                if self.count.is_some() {
                    "count"
                } else {
                    "duration"
                },
                format!("{all} requests in all, each a row of the results"),
                format!("{REQUESTS_MAX} at most: fewer, or further apart"),
            ));
        }
        found
    }
}

#[cfg(test)]
#[path = "ping_tests.rs"]
mod tests;
