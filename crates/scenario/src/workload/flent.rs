//! Flent's tests: TCP both ways, with pings under load and before and after it.
//!
//! Models the tests `tcp_upload`, `tcp_download` and `rrul` of Flent (flent.org, tests/*.conf) between clients and
//! the first host, which runs netserver: from `delay` on each client's connections send as fast as
//! TCP lets them for `length`; pings go every `step_size` from the beginning until `delay` after their end.
//! `rrul` has four connections each way, marked CS0 (BE), CS1 (BK), CS5 and EF, and beside the ICMP ping one
//! of each of EF, BK and BE. Priorities are the class selectors' (EF has CS5's).
//! Left out: netperf's control connections; that a UDP round trip is answered by a process; what sockets
//! still hold when the load ends is thrown away there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Time};

use super::flow::Flow;
use super::measured::{Look, MeasuredFlow, Measurement, PingLine};
use super::order;
use crate::period;
use crate::problem::Finding;
use crate::topology::Topology;

/// A test of Flent's between clients and the first host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flent {
    /// The test.
    pub test: FlentTest,
    /// Hosts that run it against the first, all at once: so many that come after it.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65_535), default = "one")]
    pub clients: u32,
    /// How long connections send (Flent's -l).
    #[serde(default = "length")]
    #[schemars(default = "length")]
    pub length: Duration,
    /// Time before and after that, with pings alone.
    #[serde(default = "delay")]
    #[schemars(default = "delay")]
    pub delay: Duration,
    /// Time between two values of a series (Flent's -s); where it is longer than `length`, that.
    #[serde(default = "step_size")]
    #[schemars(default = "step_size")]
    pub step_size: Duration,
    /// Names of the hosts that take part, in the order of their parts: first the server, then the clients.
    /// Absent: all, in the topology's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 2), extend("examples" = [["host3", "host0"]]))]
    pub hosts: Vec<String>,
}

/// The tests there are, by Flent's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlentTest {
    /// One connection from each client.
    TcpUpload,
    /// One connection to each client.
    TcpDownload,
    /// Realtime response under load: four connections each way.
    Rrul,
}

fn one() -> u32 {
    1
}

/// Flent's default (flent/settings.py: LENGTH).
fn length() -> Duration {
    Duration::from_secs(60)
}

/// Flent's default (tests/netperf_definitions.inc: DELAY).
fn delay() -> Duration {
    Duration::from_secs(5)
}

/// Flent's default (flent/settings.py: STEP_SIZE).
fn step_size() -> Duration {
    Duration::from_ms(200)
}

/// Names of rrul's markings, and their priorities.
const MARKINGS: [(&str, u8); 4] = [("BE", 0), ("BK", 1), ("CS5", 5), ("EF", 5)];
/// Those of its UDP pings.
const UDP_PINGS: [(&str, u8); 3] = [("EF", 5), ("BK", 1), ("BE", 0)];

impl FlentTest {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FlentTest::TcpUpload => "tcp_upload",
            FlentTest::TcpDownload => "tcp_download",
            FlentTest::Rrul => "rrul",
        }
    }

    /// Its connections: upload or not, priority, and the name of the series.
    fn connections(self) -> Vec<(bool, u8, String)> {
        match self {
            FlentTest::TcpUpload => vec![(true, 0, "TCP upload".to_owned())],
            FlentTest::TcpDownload => vec![(false, 0, "TCP download".to_owned())],
            FlentTest::Rrul => [(true, "TCP upload"), (false, "TCP download")]
                .into_iter()
                .flat_map(|(upload, name)| {
                    MARKINGS.map(|(mark, priority)| (upload, priority, format!("{name} {mark}")))
                })
                .collect(),
        }
    }

    /// Its pings: priority, and the name of the series.
    fn pings(self) -> Vec<(u8, String)> {
        let mut pings = vec![(0, "Ping (ms) ICMP".to_owned())];
        if self == FlentTest::Rrul {
            let udp = |(mark, priority)| (priority, format!("Ping (ms) UDP {mark}"));
            pings.extend(UDP_PINGS.map(udp));
        }
        pings
    }
}

impl Flent {
    /// Hosts of `network` in the order of their parts.
    #[must_use]
    pub fn order(&self, network: &Topology) -> Vec<usize> {
        order::hosts(&self.hosts, network)
    }

    /// What it comes down to between hosts in this `order` of their parts.
    #[must_use]
    pub fn measurement(&self, order: &[usize]) -> Measurement {
        let server = order[0];
        let start = Time::ZERO + self.delay;
        let mut flows = Vec::new();
        let mut pings = Vec::new();
        for sender in 1..=self.clients {
            let client = order[sender as usize];
            for (upload, priority, series) in self.test.connections() {
                let (source, destination) = if upload {
                    (client, server)
                } else {
                    (server, client)
                };
                flows.push(MeasuredFlow {
                    sender,
                    measured: true,
                    series,
                    flow: Flow {
                        start,
                        source,
                        destination,
                        bytes: None,
                        congestion: None,
                        priority,
                        query: None,
                    },
                });
            }
            for (priority, series) in self.test.pings() {
                pings.push(PingLine {
                    source: client,
                    destination: server,
                    priority,
                    sender,
                    series,
                });
            }
        }
        Measurement {
            receiver: server,
            begin: Time::ZERO,
            load: (start, start + self.length),
            end: self.end(),
            flows,
            pings,
            ping_interval: self.step_size,
            interval: self.step_size.min(self.length),
        }
    }

    /// When it ends, and the run with it.
    #[must_use]
    pub fn end(&self) -> Time {
        Time::ZERO + self.delay + self.length + self.delay
    }

    /// What is looked at in equal steps: connections, then pings.
    pub(super) fn looks(&self) -> [Look; 2] {
        // Where that is shorter than its step, the length is the interval.
        let (key, interval) = if self.length < self.step_size {
            ("length", self.length)
        } else {
            ("step_size", self.step_size)
        };
        let clients = u64::from(self.clients);
        [
            Look {
                key,
                interval,
                count: clients * self.test.connections().len() as u64,
            },
            Look {
                key: "step_size",
                interval: self.step_size,
                count: clients * self.test.pings().len() as u64,
            },
        ]
    }

    /// What one 25 Gb/s link carries meanwhile.
    pub(super) fn expected_bytes(&self) -> u64 {
        self.length.as_us().saturating_mul(3125)
    }

    pub(super) fn findings(&self, hosts: usize) -> Vec<Finding> {
        let mut found = Vec::new();
        let (hosts, whose) = order::count(&self.hosts, hosts);
        let clients = self.clients as usize;
        if clients >= hosts {
            found.push(Finding::new(
                "clients",
                format!(
                    "{clients} clients and the server need {} hosts, and {whose} {hosts}",
                    clients + 1
                ),
                format!("at most {} clients, or more hosts", hosts.saturating_sub(1)),
            ));
        }
        for (path, time) in [("length", self.length), ("step_size", self.step_size)] {
            if time.is_zero() {
                found.push(Finding::new(
                    path,
                    "no time at all",
                    "a time above zero, such as \"30s\"",
                ));
            }
        }
        if !self.step_size.is_zero() && self.step_size < Duration::from_us(100) {
            found.push(Finding::new(
                "step_size",
                format!("pings every {} are a load of their own", self.step_size),
                "at least 100us",
            ));
        }
        if !self.length.is_zero() {
            // The time of a row, where it is less than `step_size`.
            found.extend(period::too_short("length", self.length));
        }
        found
    }
}

#[cfg(test)]
#[path = "flent_tests.rs"]
mod tests;
