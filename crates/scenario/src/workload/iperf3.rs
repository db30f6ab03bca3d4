//! iperf3: continuous senders to one receiver, some of them measured.
//!
//! Models `iperf3 -c` from hosts to the first one as the ECN-switch study runs it (HPE 2019): either
//! the first sender is measured for `duration` while the others, begun `lead` before, send on, or
//! all start within `start_skew` and are measured from the first start. Beside them a ping (ICMP
//! echo of 56 bytes) goes from the first sender to the receiver, as Flent's tests have it.
//! Left out: iperf3's control connection, its own interval reports, closing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::random::Stream;
use tailback_units::{Duration, Time};

use super::flow::Flow;
use super::measured::{Look, MeasuredFlow, Measurement, PingLine};
use super::order;
use crate::period;
use crate::problem::Finding;
use crate::topology::Topology;

/// Continuous senders to one receiver, some of them measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Iperf3 {
    /// Hosts that send to the first: so many that come after it.
    #[schemars(range(min = 1, max = 65_535))]
    pub senders: u32,
    /// Whose throughput is measured.
    pub measured: Measured,
    /// Time that is measured (iperf3's -t).
    pub duration: Duration,
    /// With `measured = "first"`: how long before it the others have started.
    #[serde(default = "lead")]
    #[schemars(default = "lead")]
    pub lead: Duration,
    /// Senders that start together do so within this, at random.
    #[serde(default)]
    pub start_skew: Duration,
    /// Connections of each sender (iperf3's -P).
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000), default = "one")]
    pub parallel: u32,
    /// The other way round: the first host sends to the others (iperf3's -R).
    #[serde(default)]
    pub reverse: bool,
    /// Time between pings; zero: none.
    #[serde(default = "ping_interval")]
    #[schemars(default = "ping_interval")]
    pub ping_interval: Duration,
    /// Time between rows of the table `intervals`; where it is longer than `duration`, that.
    #[serde(default = "interval")]
    #[schemars(default = "interval")]
    pub interval: Duration,
    /// Names of the hosts that take part, in the order of their parts: first the receiver, then the senders.
    /// Absent: all, in the topology's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 2), extend("examples" = [["host3", "host0"]]))]
    pub hosts: Vec<String>,
}

/// Whose throughput is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// The first sender's; the others send before and throughout.
    First,
    /// Everybody's; all start together.
    All,
}

/// Long enough for the others to have taken the link. [assumed]
fn lead() -> Duration {
    Duration::from_secs(2)
}

fn one() -> u32 {
    1
}

/// Flent's default step size, 0.2 s, finer by ten for a mean over short runs.
fn ping_interval() -> Duration {
    Duration::from_ms(20)
}

/// Flent's default step size.
fn interval() -> Duration {
    Duration::from_ms(200)
}

impl Iperf3 {
    /// Hosts of `network` in the order of their parts.
    #[must_use]
    pub fn order(&self, network: &Topology) -> Vec<usize> {
        order::hosts(&self.hosts, network)
    }

    /// When the measurement begins.
    #[must_use]
    pub fn begin(&self) -> Time {
        match self.measured {
            Measured::First if self.senders > 1 => Time::ZERO + self.lead,
            _ => Time::ZERO,
        }
    }

    /// When it ends, and the run with it.
    #[must_use]
    pub fn end(&self) -> Time {
        self.begin() + self.duration
    }

    /// What it comes down to between hosts in this `order` of their parts, with the starts of a seed.
    #[must_use]
    pub fn measurement(&self, seed: u64, order: &[usize]) -> Measurement {
        let ping = PingLine {
            source: order[1],
            destination: order[0],
            priority: 0,
            sender: 1,
            series: "ping".to_owned(),
        };
        Measurement {
            receiver: order[0],
            begin: self.begin(),
            load: (self.begin(), self.end()),
            end: self.end(),
            flows: self.flows(seed, order),
            pings: vec![ping],
            ping_interval: self.ping_interval,
            interval: self.interval.min(self.duration),
        }
    }

    /// The flows between hosts in this `order` of their parts, as they start.
    fn flows(&self, seed: u64, order: &[usize]) -> Vec<MeasuredFlow> {
        let mut flows = Vec::new();
        for sender in 1..=self.senders {
            let mut stream = Stream::new(seed, "iperf3-start", u64::from(sender));
            let late = sender == 1 && self.measured == Measured::First;
            let from = if late { self.begin() } else { Time::ZERO };
            for _ in 0..self.parallel {
                let skew = if late {
                    Duration::ZERO
                } else {
                    Duration::from_ps(stream.below(self.start_skew.as_ps().saturating_add(1)))
                };
                let (receiver, host) = (order[0], order[sender as usize]);
                let (source, destination) = if self.reverse {
                    (receiver, host)
                } else {
                    (host, receiver)
                };
                flows.push(MeasuredFlow {
                    sender,
                    measured: self.measured == Measured::All || sender == 1,
                    series: format!("sender {sender}"),
                    flow: Flow {
                        start: from + skew,
                        source,
                        destination,
                        bytes: None,
                        congestion: None,
                        priority: 0,
                        query: None,
                    },
                });
            }
        }
        flows.sort_by_key(|one| (one.flow.start, one.sender));
        flows
    }

    /// What is looked at in equal steps: connections, then pings.
    pub(super) fn looks(&self) -> [Look; 2] {
        [
            Look {
                key: "interval",
                interval: self.interval.min(self.duration),
                count: u64::from(self.senders) * u64::from(self.parallel),
            },
            Look {
                key: "ping_interval",
                interval: self.ping_interval,
                count: 1,
            },
        ]
    }

    /// What one 25 Gb/s link carries meanwhile.
    pub(super) fn expected_bytes(&self) -> u64 {
        self.duration.as_us().saturating_mul(3125)
    }

    pub(super) fn findings(&self, hosts: usize) -> Vec<Finding> {
        let mut found = Vec::new();
        let (hosts, whose) = order::count(&self.hosts, hosts);
        let senders = self.senders as usize;
        if senders >= hosts {
            found.push(Finding::new(
                "senders",
                format!(
                    "{senders} senders and the receiver need {} hosts, and {whose} {hosts}",
                    senders + 1
                ),
                format!("at most {} senders, or more hosts", hosts.saturating_sub(1)),
            ));
        }
        found.extend(super::no_time(self.duration, "20s"));
        // A single sender that is measured first begins with the measurement.
        if self.measured == Measured::All || senders > 1 {
            let end = self.end().since(Time::ZERO);
            found.extend(super::never_begin("start_skew", self.start_skew, end));
        }
        found.extend(period::too_short("interval", self.interval));
        if !self.ping_interval.is_zero() && self.ping_interval < Duration::from_us(100) {
            found.push(Finding::new(
                "ping_interval",
                format!("pings every {} are a load of their own", self.ping_interval),
                "at least 100us, or 0s for none",
            ));
        }
        found
    }
}

#[cfg(test)]
#[path = "iperf3_tests.rs"]
mod tests;
