//! What the hosts send: one file for each kind.
//!
//! A workload says what is asked of whom and how much; when it happens follows from the network.
//! Every backend replays the same workload. A new kind is a file here, a variant below and a
//! page in docs/models.

mod asked;
mod bernoulli;
mod bulk;
mod collective;
mod command;
mod exchange;
mod flent;
mod flow;
mod flow_list;
mod flow_table;
mod flows;
mod incast;
mod iperf3;
mod measured;
mod order;
mod pareto;
mod ping;
mod queries;
mod racks;
mod reporter;
mod request_response;
mod sizes;
mod udp;

pub(crate) use asked::Asked;
pub use bernoulli::Bernoulli;
pub use bulk::{Bulk, Pairs};
pub use collective::{Collective, Lane, Operation, Rank};
pub use command::{Command, Commands};
pub use exchange::{Deed, End, Exchange, TimedAction};
pub use flent::{Flent, FlentTest};
pub use flow::Flow;
pub(crate) use flow::turn;
pub use flow_list::FlowList;
pub use flow_table::FlowTable;
pub use flows::Flows;
pub use incast::Incast;
pub use iperf3::{Iperf3, Measured};
pub(crate) use measured::Look;
pub use measured::{MeasuredFlow, Measurement, PingLine};
pub use ping::{Ping, Pinger};
pub use queries::Queries;
pub use reporter::{Reporter, Rest};
pub use request_response::{Gaps, RequestResponse};
pub use sizes::{SizePoint, Sizes};
pub(crate) use udp::datagram_finding;
pub use udp::{Probe, Schedule, Udp};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Time};

use crate::problem::Finding;
use crate::topology::Topology;

/// What the hosts send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Workload {
    /// Synchronised reads: one client asks many servers at once.
    Incast(Incast),
    /// Long-running flows between fixed pairs of hosts.
    Bulk(Bulk),
    /// Flows between random hosts that arrive at random times.
    Flows(Flows),
    /// Flows from a list of one's own.
    FlowList(FlowList),
    /// One connection whose two ends do what a list says.
    Exchange(Exchange),
    /// Continuous senders to one receiver, some of them measured.
    Iperf3(Iperf3),
    /// A test of Flent's: TCP with pings under load.
    Flent(Flent),
    /// Messages from every host to all others at random.
    Bernoulli(Bernoulli),
    /// Datagrams at a constant rate between fixed pairs of hosts.
    Udp(Udp),
    /// Questions and answers between fixed pairs of hosts, one at a time on each connection.
    RequestResponse(RequestResponse),
    /// Echo requests between fixed pairs of hosts, in equal steps of time.
    Ping(Ping),
    /// All hosts exchange parts of what they hold: all-reduce, all-to-all.
    Collective(Collective),
    /// Programs of the user's, on hosts that are real kernels.
    Command(Commands),
}

impl Workload {
    /// What is wrong with it on a network of `hosts` hosts; paths are relative to the workload.
    #[must_use]
    pub fn findings(&self, hosts: usize) -> Vec<Finding> {
        match self {
            Workload::Incast(incast) => incast.findings(hosts),
            Workload::Bulk(bulk) => bulk.findings(),
            Workload::Flows(flows) => flows.findings(),
            Workload::FlowList(list) => list.findings(),
            Workload::Exchange(exchange) => exchange.findings(),
            Workload::Iperf3(iperf3) => iperf3.findings(hosts),
            Workload::Flent(flent) => flent.findings(hosts),
            Workload::Bernoulli(bernoulli) => bernoulli.findings(),
            Workload::Udp(udp) => udp.findings(),
            Workload::RequestResponse(asking) => asking.findings(),
            Workload::Ping(ping) => ping.findings(),
            Workload::Collective(collective) => collective.findings(),
            Workload::Command(_) => Vec::new(),
        }
    }

    /// What is wrong with the names in it; paths are relative to the workload.
    #[must_use]
    pub fn name_findings(&self, network: &Topology) -> Vec<Finding> {
        match self {
            Workload::Bernoulli(_) => Vec::new(),
            Workload::Flows(flows) => flows.name_findings(network),
            Workload::FlowList(list) => list.name_findings(network),
            Workload::Incast(incast) => order::findings(&incast.hosts, network),
            Workload::Exchange(exchange) => order::findings(&exchange.hosts, network),
            Workload::Iperf3(iperf3) => order::findings(&iperf3.hosts, network),
            Workload::Flent(flent) => order::findings(&flent.hosts, network),
            Workload::Bulk(bulk) => bulk.pairs.name_findings(network),
            Workload::Udp(udp) => udp.name_findings(network),
            Workload::RequestResponse(asking) => asking.pairs.name_findings(network),
            Workload::Ping(ping) => ping.name_findings(network),
            Workload::Collective(collective) => order::findings(&collective.hosts, network),
            Workload::Command(commands) => commands.findings(network),
        }
    }

    /// Hosts that exchange frames, where the workload names them; none: any two may.
    pub(crate) fn pairs(&self, network: &Topology) -> Option<Vec<(usize, usize)>> {
        let with_first = |order: Vec<usize>, others: u32| {
            let others = order.iter().skip(1).take(others as usize);
            Some(others.map(|other| (*other, order[0])).collect())
        };
        let pairs = match self {
            Workload::Incast(incast) => return with_first(incast.order(network), incast.servers),
            Workload::Iperf3(iperf3) => return with_first(iperf3.order(network), iperf3.senders),
            Workload::Flent(flent) => return with_first(flent.order(network), flent.clients),
            Workload::Exchange(exchange) => {
                let [client, server] = exchange.ends(network);
                return Some(vec![(client, server)]);
            }
            Workload::Collective(collective) => return Some(collective.connections(network)),
            Workload::FlowList(list) => return Some(list.pairs(network)),
            Workload::Bulk(bulk) => &bulk.pairs,
            Workload::Udp(udp) => &udp.pairs,
            Workload::RequestResponse(asking) => &asking.pairs,
            Workload::Ping(ping) => &ping.pairs,
            _ => return None,
        };
        let drawn = matches!(pairs, Pairs::Permutation {});
        (!drawn).then(|| pairs.of(0, 0, network))
    }

    /// Payload bytes that an iteration brings to their receivers; where the network decides that,
    /// a guess.
    #[must_use]
    pub fn iteration_bytes(&self) -> u64 {
        match self {
            Workload::Incast(incast) => incast.iteration_bytes(),
            Workload::Bulk(bulk) => bulk.expected_bytes(),
            Workload::Flows(flows) => flows.expected_bytes(),
            Workload::FlowList(list) => list.expected_bytes(),
            Workload::Exchange(exchange) => {
                exchange.written_bytes(End::Client) + exchange.written_bytes(End::Server)
            }
            Workload::Iperf3(iperf3) => iperf3.expected_bytes(),
            Workload::Flent(flent) => flent.expected_bytes(),
            Workload::Bernoulli(bernoulli) => bernoulli.expected_bytes(),
            Workload::Udp(udp) => udp.expected_bytes(),
            Workload::RequestResponse(asking) => asking.expected_bytes(),
            Workload::Ping(ping) => ping.expected_bytes(),
            Workload::Collective(collective) => collective.expected_bytes(),
            Workload::Command(commands) => commands.expected_bytes(),
        }
    }

    /// When the run is over at the latest, where that is known beforehand; what waits in queues is not.
    pub(crate) fn latest_end(&self) -> Option<Duration> {
        match self {
            Workload::Bulk(bulk) => Some(bulk.end().since(Time::ZERO)),
            Workload::Flows(flows) => Some(flows.duration + flows.drain),
            Workload::FlowList(list) => Some(list.end().since(Time::ZERO)),
            Workload::Exchange(exchange) => Some(exchange.duration),
            Workload::Iperf3(iperf3) => Some(iperf3.end().since(Time::ZERO)),
            Workload::Flent(flent) => Some(flent.end().since(Time::ZERO)),
            Workload::Bernoulli(bernoulli) => Some(bernoulli.duration),
            Workload::RequestResponse(asking) => Some(asking.end().since(Time::ZERO)),
            Workload::Ping(ping) => ping.latest_end(),
            // A datagram on its way is waited for.
            Workload::Udp(_)
            | Workload::Incast(_)
            | Workload::Collective(_)
            | Workload::Command(_) => None,
        }
    }

    /// What a workload that measures by itself comes down to, with the starts of a seed.
    #[must_use]
    pub fn measurement(&self, seed: u64, network: &Topology) -> Option<Measurement> {
        match self {
            Workload::Iperf3(spec) => Some(spec.measurement(seed, &spec.order(network))),
            Workload::Flent(spec) => Some(spec.measurement(&spec.order(network))),
            _ => None,
        }
    }

    /// What a workload that measures by itself looks at.
    pub(crate) fn looks(&self) -> Vec<Look> {
        match self {
            Workload::Iperf3(spec) => spec.looks().to_vec(),
            Workload::Flent(spec) => spec.looks().to_vec(),
            _ => Vec::new(),
        }
    }

    /// How many iterations it has: the steps in which a run reports its progress.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        match self {
            Workload::Incast(incast) => u64::from(incast.iterations),
            Workload::Collective(collective) => u64::from(collective.iterations),
            Workload::Bulk(_)
            | Workload::Flows(_)
            | Workload::FlowList(_)
            | Workload::Exchange(_)
            | Workload::Iperf3(_)
            | Workload::Flent(_)
            | Workload::Bernoulli(_)
            | Workload::Udp(_)
            | Workload::RequestResponse(_)
            | Workload::Ping(_)
            | Workload::Command(_) => 1,
        }
    }
}

/// A run that lasts no time; `example` is one that does.
fn no_time(duration: Duration, example: &str) -> Option<Finding> {
    duration.is_zero().then(|| {
        Finding::new(
            "duration",
            "the run would end before it begins",
            format!("a time above zero, such as \"{example}\""),
        )
    })
}

/// Connections that begin at random times from zero to `within`, the value of `key`, some of them when the run is
/// over, at `end`.
fn never_begin(key: &str, within: Duration, end: Duration) -> Option<Finding> {
    (within >= end && !end.is_zero()).then(|| {
        Finding::new(
            key,
            format!(
                "connections begin up to {within} after the start, and the run ends at {end} at the latest: \
                 some never would"
            ),
            format!("less than {end}, or a longer run"),
        )
    })
}

/// The network of a scenario whose `[network]` holds these values beside a switch and a link of
/// 10 Gb/s, which `LINK` stands for.
#[cfg(test)]
pub(crate) fn test_network(values: &str) -> Topology {
    let link = r#"{ rate = "10Gbit", delay = "1us", mtu = "1500B" }"#;
    let text = format!(
        r#"
        name = "test"
        network = {{ {values} switch = "arista-7124s", link = LINK }}
        host = "rhel-5.4-x5540-ne020"
        stack = "linux-2.6.18"
        workload = {{ kind = "bulk", pairs = {{ kind = "to-first" }}, duration = "1ms" }}
        "#
    );
    let text = text.replace("LINK", link);
    let plan = crate::Plan::from_toml(&text, "test", &[], None).expect("a good scenario");
    Topology::clone(&plan.runs[0].network)
}
