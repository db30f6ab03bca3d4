//! Request and response: questions and their answers over connections that stay open.
//!
//! Models netperf's TCP_RR: a client sends a request, the server answers when it has read all of it,
//! and the client sends the next when it has read the answer. How long that takes is the latency
//! that an application sees, handshake left out. With `outstanding` there are several requests under way, as with netperf's
//! `--enable-burst`; with `every` a client asks when it is time to, whatever has been answered, as wrk2 does: a slow answer
//! holds up no question, and so hides none of the wait of those that come after it (coordinated omission).
//! Sizes may be drawn: each connection has a stream of them for its requests and one for its answers.
//! Left out: answers in another order than their requests', answers whose sizes depend on their requests'.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_net::arrivals::Arrivals;
use tailback_net::random::Stream;
use tailback_net::sizes::{Distribution, Lengths};
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Bytes, Duration, Time};

use super::bulk::{Pairs, is_nothing, one};
use super::flow::{self, Flow};
use super::sizes::Sizes;
use crate::problem::Finding;
use crate::topology::Topology;

/// Questions and answers between fixed pairs of hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponse {
    /// Who asks whom.
    pub pairs: Pairs,
    /// Payload of a request.
    #[serde(default = "one_byte")]
    #[schemars(default = "one_byte")]
    pub request: Bytes,
    /// Payload of its answer.
    #[serde(default = "one_byte")]
    #[schemars(default = "one_byte")]
    pub response: Bytes,
    /// Payload of each request, drawn. In place of `request`; absent: all are of so many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_sizes: Option<Sizes>,
    /// Payload of each answer, drawn. In place of `response`; absent: all are of so many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_sizes: Option<Sizes>,
    /// When the run ends; with `omit`, so long after that.
    pub duration: Duration,
    /// Time before `duration` of which nothing is counted: connections open and find their windows meanwhile.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub omit: Duration,
    /// A client asks every so long, from when its connection is up, whatever has been answered; how long an answer
    /// takes counts from when its request was due. Absent: when it has been answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// How far the requests of `every` are apart.
    #[serde(default, skip_serializing_if = "Gaps::is_even")]
    pub gaps: Gaps,
    /// Requests of a connection that are under way at a time. Not with `every`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 10_000), default = "one")]
    pub outstanding: u32,
    /// From an answer to the request that follows it. Not with `every`.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub think: Duration,
    /// Connections of each pair.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000), default = "one")]
    pub connections: u32,
    /// Each connection is opened at a random time from 0 to this.
    #[serde(default = "start_within")]
    #[schemars(default = "start_within")]
    pub start_within: Duration,
    /// Congestion controls that both ends ask for by TCP_CONGESTION: a pair's connections take turns. Absent: the
    /// host's `stack.tcp_congestion_control`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [["cubic", "bbr"]]))]
    pub congestion: Vec<CongestionKind>,
    /// Priorities of its packets both ways, 0 to 7 (SO_PRIORITY): a switch's traffic classes. A pair's connections take
    /// turns. Absent: 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = 0, max = 7)), extend("examples" = [[3]]))]
    pub priority: Vec<u8>,
}

/// How far requests are apart that do not wait for answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gaps {
    /// All alike.
    #[default]
    Even,
    /// Drawn, with that mean: requests come as of very many users who know nothing of each other.
    Exponential,
}

impl Gaps {
    fn is_even(&self) -> bool {
        *self == Gaps::Even
    }
}

/// Requests of one connection in a run at most: each has its latency.
const REQUESTS_MAX: u64 = 10_000_000;

/// netperf's default (TCP_RR -r 1,1).
fn one_byte() -> Bytes {
    Bytes::new(1)
}

fn is_one(outstanding: &u32) -> bool {
    *outstanding == 1
}

/// As `bulk`'s. [assumed]
fn start_within() -> Duration {
    Duration::from_us(100)
}

impl RequestResponse {
    /// The connections that `seed` gives on `network`, in the order of their starts.
    #[must_use]
    pub fn flows(&self, seed: u64, network: &Topology) -> Vec<Flow> {
        let mut starts = Stream::new(seed, "request-response-start", 0);
        let mut flows = Vec::new();
        for (source, destination) in self.pairs.of(seed, 0, network) {
            for number in 0..self.connections as usize {
                let start = starts.below(self.start_within.as_ps().saturating_add(1));
                flows.push(Flow {
                    start: Time::from_ps(start),
                    source,
                    destination,
                    bytes: None,
                    congestion: flow::turn(&self.congestion, number),
                    priority: flow::turn(&self.priority, number).unwrap_or(0),
                    query: None,
                });
            }
        }
        flows.sort_by_key(|flow| flow.start);
        flows
    }

    /// From when answers are counted.
    #[must_use]
    pub fn begin(&self) -> Time {
        Time::ZERO + self.omit
    }

    /// When the run ends.
    #[must_use]
    pub fn end(&self) -> Time {
        self.begin() + self.duration
    }

    /// When the requests of the connection of this number are due, ns from when it is up; none: when it has been
    /// answered.
    #[must_use]
    pub fn arrivals(&self, seed: u64, number: usize) -> Option<Arrivals> {
        let every_ns = self.every?.as_ps() / 1000;
        Some(match self.gaps {
            Gaps::Even => Arrivals::even(every_ns),
            Gaps::Exponential => Arrivals::poisson(every_ns, seed, number as u64),
        })
    }

    /// The distribution that sizes of requests are drawn from.
    #[must_use]
    pub fn request_distribution(&self) -> Option<Distribution> {
        self.request_sizes.as_ref().map(Sizes::distribution)
    }

    /// That of answers.
    #[must_use]
    pub fn response_distribution(&self) -> Option<Distribution> {
        self.response_sizes.as_ref().map(Sizes::distribution)
    }

    /// Sizes of the requests of the connection of this number, and of their answers.
    #[must_use]
    pub fn lengths(&self, seed: u64, number: usize) -> (Lengths, Lengths) {
        let (requests, responses) = (self.request_distribution(), self.response_distribution());
        let (request, response) = (self.request.get(), self.response.get());
        (
            Lengths::of_requests(request, requests, seed, number as u64),
            Lengths::of_responses(response, responses, seed, number as u64),
        )
    }

    /// Whether any size is drawn.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        self.request_sizes.is_some() || self.response_sizes.is_some()
    }

    /// Mean payload of requests and of answers, bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> (u64, u64) {
        let mean = |bytes: Bytes, sizes: Option<Distribution>| {
            sizes.map_or(bytes.get(), |sizes| sizes.mean_bytes())
        };
        (
            mean(self.request, self.request_distribution()),
            mean(self.response, self.response_distribution()),
        )
    }

    /// A guess: a round trip of 20 us.
    pub(super) fn expected_bytes(&self) -> u64 {
        let (request, response) = self.mean_bytes();
        let each = request + response;
        let under_way = u64::from(self.connections) * u64::from(self.outstanding);
        let requests = match self.every {
            None => self.duration.as_us() / 20 * under_way,
            Some(every) => {
                self.duration.as_ps() / every.as_ps().max(1) * u64::from(self.connections)
            }
        };
        requests.saturating_mul(each)
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        if self.duration.is_zero() {
            found.push(Finding::new(
                "duration",
                "the run would end before it begins",
                "a time above zero, such as \"1s\"",
            ));
        }
        found.extend(super::never_begin(
            "start_within",
            self.start_within,
            self.end().since(Time::ZERO),
        ));
        found.extend(self.pace_findings());
        let (request, response) = (&self.request_sizes, &self.response_sizes);
        for (name, bytes, sizes) in [
            ("request", self.request, request),
            ("response", self.response, response),
        ] {
            let at = format!("{name}_sizes");
            if let Some(sizes) = sizes {
                found.extend(sizes.findings(&at));
                if bytes != one_byte() {
                    found.push(Finding::new(
                        name,
                        format!("{at} says how large they are"),
                        format!("{name} or {at}, not both"),
                    ));
                }
            }
            if bytes.get() == 0 {
                found.push(Finding::new(
                    name,
                    "nothing would tell that it has come",
                    "at least \"1B\"",
                ));
            }
        }
        found
    }

    /// What does not fit together of when it asks.
    fn pace_findings(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        let Some(every) = self.every else {
            if !self.gaps.is_even() {
                found.push(Finding::new(
                    "gaps",
                    "a client asks when it has been answered: there are no gaps to draw",
                    "every, the mean time between two requests of a connection, or no gaps",
                ));
            }
            return found;
        };
        let both = [
            ("outstanding", self.outstanding > 1),
            ("think", !self.think.is_zero()),
        ];
        for (name, _) in both.into_iter().filter(|(_, given)| *given) {
            found.push(Finding::new(
                name,
                "with every, requests do not wait for answers",
                format!("every or {name}, not both"),
            ));
        }
        let whole = self.end().since(Time::ZERO).as_ps();
        if every < Duration::from_ns(1) {
            found.push(Finding::new(
                "every",
                "requests come in nanoseconds at the least",
                "a time such as \"100us\"",
            ));
        } else if whole / every.as_ps() > REQUESTS_MAX {
            found.push(Finding::new(
                "every",
                format!("each connection would have more than {REQUESTS_MAX} requests, all kept with their latencies"),
                "a longer time, or a shorter run",
            ));
        }
        found
    }
}

#[cfg(test)]
#[path = "request_response_tests.rs"]
mod tests;
