//! What a host does: its set-up and its tasks, as the engine writes them for the agent.
//!
//! Times on the engine's clock are nanoseconds since its start; the host's wall clock less
//! [`GuestConfig::epoch_ns`] is that clock.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use tailback_net::sizes::Distribution;

/// A host's set-up and its tasks. The set-up is a guest kernel's or a network namespace's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestConfig {
    /// The host's name in the scenario.
    pub host: String,
    /// The run's seed: service latencies are drawn from the streams the simulator draws from.
    #[serde(default)]
    pub seed: u64,
    /// Wall-clock time (since 1970) at which the engine's clock is zero, ns.
    #[serde(default)]
    pub epoch_ns: u64,
    /// The one network interface.
    pub interface: Interface,
    /// Permanent neighbour entries: no ARP is seen on the wire for these.
    #[serde(default)]
    pub neighbours: Vec<Neighbour>,
    /// On a machine that others use too: its sockets have the interface's address and take what these
    /// send, and nobody else. Empty: the host is its own, and its sockets have all of its addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<Ipv4Addr>,
    /// Sysctls of a machine that others use too stay as they are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_sysctls: bool,
    /// How long anybody waits for this host at the most, ns; absent: for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ns: Option<u64>,
    /// Sysctls by their full names, such as `net.ipv4.tcp_sack`; the kernel must have them.
    #[serde(default)]
    pub sysctls: BTreeMap<String, String>,
    /// Sysctls that are set before these, where the kernel has them.
    #[serde(default)]
    pub profile_sysctls: BTreeMap<String, String>,
    /// Options of its TCP sockets by their Linux names, set before they connect or listen.
    #[serde(default)]
    pub socket_options: BTreeMap<String, OptionValue>,
    /// Programs run one after another before the tasks, such as `tc qdisc replace …`.
    #[serde(default)]
    pub commands: Vec<Vec<String>>,
    /// How often each task's connections are asked for TCP_INFO and bytes, ns; absent: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_interval_ns: Option<u64>,
    /// When every connection is looked at for a measurement, ns, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks_ns: Vec<u64>,
    /// At which of these times the kernel's counters are read too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters_ns: Vec<u64>,
    /// It is there until a file of the name [`OVER`] is in its folder: its programs never end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_over: bool,
    /// What it does, all at once, each from its own start.
    #[serde(default)]
    pub tasks: Vec<Task>,
}

/// The file that says to a host which is there for others that these have ended.
pub const OVER: &str = "over";

/// The value of a socket option, as setsockopt(2) takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// An int.
    Number(i32),
    /// A long, where an int is too short.
    Long(u64),
    /// A name.
    Text(String),
}

/// A network interface and its IPv4 address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// The kernel's name of it.
    pub name: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// Bits of the network's part.
    pub prefix_length: u8,
    /// Largest IP packet, bytes.
    pub mtu_bytes: u32,
    /// Offloads to switch; what is absent stays as the driver has it.
    #[serde(default)]
    pub offloads: Offloads,
    /// The card is handed all that its ring holds, and its driver's byte queue limits hold nothing back.
    #[serde(default)]
    pub whole_ring: bool,
}

/// Offloads of an interface, as `ethtool -K` names them; absent: as the driver has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offloads {
    /// TCP segmentation by the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tso: Option<bool>,
    /// Segmentation in the kernel's last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gso: Option<bool>,
    /// Merging of received segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gro: Option<bool>,
    /// Checksums written by the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_checksum: Option<bool>,
}

/// A permanent neighbour entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Neighbour {
    /// Its IPv4 address.
    pub address: Ipv4Addr,
    /// Its Ethernet address, `02:00:0a:00:00:01`.
    pub mac: String,
}

/// One thing a host does. It waits until `start_ns` where there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Task {
    /// Asks its servers for their answers, again and again.
    IncastClient(IncastClient),
    /// Answers each request; ends when all its connections have closed.
    IncastServer(IncastServer),
    /// Asks one server again and again until an end.
    Ask(Ask),
    /// Sends parallel flows.
    Bulk(Bulk),
    /// Receives flows; ends when all have closed.
    Sink(Sink),
    /// Sends datagrams at a constant rate.
    UdpSource(UdpSource),
    /// Receives and counts them; ends when none has come for a while.
    UdpSink(UdpSink),
    /// Echo requests.
    Ping(Ping),
    /// Is there until a time, for what the kernel itself answers.
    Stay(Stay),
    /// One end of a connection that does what a list says.
    Exchange(Exchange),
    /// One host of a collective.
    Collective(Collective),
    /// A program of the user's.
    Command(Command),
}

impl Task {
    /// When it begins on the engine's clock, ns.
    #[must_use]
    pub fn start_ns(&self) -> u64 {
        match self {
            Task::IncastClient(t) => t.start_ns,
            Task::Ask(t) => t.start_ns,
            Task::Bulk(t) => t.start_ns,
            Task::UdpSource(t) => t.start_ns,
            Task::Ping(t) => t.start_ns,
            Task::Command(t) => t.start_ns,
            // The end that listens is there before.
            Task::Exchange(t) => t.server.map_or(0, |_| t.start_ns),
            // It listens before.
            Task::Collective(_) => 0,
            Task::IncastServer(_) | Task::Sink(_) | Task::UdpSink(_) | Task::Stay(_) => 0,
        }
    }

    /// Whether a host may end while this still goes on.
    #[must_use]
    pub fn is_background(&self) -> bool {
        matches!(
            self,
            Task::Command(Command {
                background: true,
                ..
            })
        )
    }
}

/// The client of synchronised reads: over connections that stay open it asks all servers back to
/// back, and begins the next iteration when the last byte of the last answer is in. With one
/// server it is request-response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IncastClient {
    /// Whom it asks.
    pub servers: Vec<Answerer>,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Iterations, one after another.
    pub iterations: u64,
    /// From one send call to the next, ns.
    #[serde(default)]
    pub send_call_ns: u64,
    /// From the last byte of an iteration until the application has seen it, ns.
    #[serde(default)]
    pub client_latency_ns: u64,
    /// When it begins, ns.
    #[serde(default)]
    pub start_ns: u64,
}

/// A server as the client sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answerer {
    /// Its address.
    pub address: Ipv4Addr,
    /// Its port.
    pub port: u16,
    /// Bytes of its answer.
    pub answer_bytes: u64,
}

/// The client of one connection that asks again as soon as it is answered (netperf's TCP_RR), or when it is
/// time to. Its server is an [`IncastServer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Whom it asks, and what it gets.
    pub server: Answerer,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Requests under way at a time; not with `every_ns`.
    #[serde(default = "one")]
    pub outstanding: u32,
    /// From an answer to the request that follows it, ns.
    #[serde(default)]
    pub think_ns: u64,
    /// It asks every so long, whatever has been answered, ns; absent: when it has been answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ns: Option<u64>,
    /// Gaps between such requests are drawn; absent: all alike.
    #[serde(default)]
    pub drawn_gaps: bool,
    /// Number of the connection: which of the run's streams its gaps and sizes come from.
    #[serde(default)]
    pub stream: u64,
    /// What sizes of requests are drawn from; absent: all are of `request_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_sizes: Option<Distribution>,
    /// What sizes of answers are drawn from; absent: all are of the server's `answer_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_sizes: Option<Distribution>,
    /// It tells of each request when it was due.
    #[serde(default)]
    pub tells_each: bool,
    /// Congestion control of the connection; absent: the host's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// Priority of what it sends, 0 to 7: the class selector in its IP headers.
    #[serde(default)]
    pub priority: u8,
    /// When it begins, ns.
    #[serde(default)]
    pub start_ns: u64,
    /// From when answers are counted, ns.
    #[serde(default)]
    pub begin_ns: u64,
    /// Then it is over, ns: an answer that has not come is not waited for.
    pub end_ns: u64,
}

/// A server of synchronised reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IncastServer {
    /// Where it listens.
    pub port: u16,
    /// Connections that it serves, all at once; it ends when they have closed.
    #[serde(default = "one")]
    pub connections: u32,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Bytes of an answer.
    pub answer_bytes: u64,
    /// What sizes of requests are drawn from; absent: all are of `request_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_sizes: Option<Distribution>,
    /// What sizes of answers are drawn from; absent: all are of `answer_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_sizes: Option<Distribution>,
    /// From a request's arrival to the first write of its answer: mean, ns.
    #[serde(default)]
    pub service_latency_ns: u64,
    /// Mean of an exponential wait beyond that, ns.
    #[serde(default)]
    pub service_jitter_ns: u64,
    /// Number of the server, of its first connection: which of the run's streams waits and sizes come from.
    #[serde(default)]
    pub stream: u64,
    /// Congestion control of its connections; absent: the host's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// Priority of what it sends, 0 to 7: the class selector in its IP headers.
    #[serde(default)]
    pub priority: u8,
    /// When its clients are over, ns; absent, it ends when they have closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<u64>,
}

fn one() -> u32 {
    1
}

/// One host of a collective, whose parts all go through it: it sends on some connections what has come on others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collective {
    /// Its ways in and out.
    pub lanes: Vec<Lane>,
    /// Iterations, one after another.
    pub iterations: u64,
    /// From its end of an iteration to its beginning of the next, ns.
    #[serde(default)]
    pub compute_ns: u64,
    /// Mean of an exponential wait beyond that, ns.
    #[serde(default)]
    pub compute_jitter_ns: u64,
    /// Number of the host: which of the run's `compute` streams its waits come from.
    #[serde(default)]
    pub stream: u64,
    /// Priority of what it sends, 0 to 7: the class selector in its IP headers.
    #[serde(default)]
    pub priority: u8,
    /// When it opens its connections, ns.
    #[serde(default)]
    pub start_ns: u64,
}

/// A connection that it opens and sends on, and one that it accepts and reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    /// Whom it sends to.
    pub address: Ipv4Addr,
    /// Where that listens.
    pub port: u16,
    /// Where it listens itself.
    pub own_port: u16,
    /// Bytes of an iteration, on both.
    pub bytes: u64,
    /// Bytes that it sends before anything has come.
    pub first_bytes: u64,
    /// What has come is passed on by so much, bytes; above zero.
    pub slice_bytes: u64,
}

/// Parallel flows to one sink, each until `bytes` are written or `duration_ns` is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// The sink's address.
    pub address: Ipv4Addr,
    /// The sink's port.
    pub port: u16,
    /// Parallel flows (iperf3 -P).
    #[serde(default = "one")]
    pub flows: u32,
    /// Bytes of each flow; absent: until the duration is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How long it writes, ns (iperf3 -t); absent: until the bytes are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ns: Option<u64>,
    /// Congestion control of these flows; absent: the host's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<String>,
    /// Send buffer asked for with SO_SNDBUF, bytes (iperf3 -w); absent: the kernel tunes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<u32>,
    /// Priority of what it sends, 0 to 7: the class selector in its IP headers.
    #[serde(default)]
    pub priority: u8,
    /// It is over then, ns, whatever is on its way; absent: when the sink has read all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<u64>,
    /// Its connections are reset then, with what they have not sent: as a program that is killed leaves them.
    #[serde(default)]
    pub abort: bool,
    /// When it begins, ns.
    #[serde(default)]
    pub start_ns: u64,
    /// How each writes, if not as much as its connection takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pace: Option<Pace>,
}

/// A program that writes so much every so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// Bytes at a time.
    pub block_bytes: u64,
    /// From one to the next, ns.
    pub gap_ns: u64,
}

/// The receiver of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sink {
    /// Where it listens.
    pub port: u16,
    /// Flows that it takes; it ends when all have closed.
    #[serde(default = "one")]
    pub connections: u32,
    /// Receive buffer asked for with SO_RCVBUF, bytes; absent: the kernel tunes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<u32>,
    /// Priority of what it sends, acknowledgements that is: as the source's.
    #[serde(default)]
    pub priority: u8,
    /// It is over then, ns, whatever is on its way; absent: when all flows have closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<u64>,
    /// Flows have no end of their own: nobody waits for what is on its way when it is over.
    #[serde(default)]
    pub endless: bool,
    /// The sources reset their connections when they have done ([`Bulk::abort`]).
    #[serde(default)]
    pub aborted: bool,
}

/// Datagrams at a constant rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpSource {
    /// The receiver's address.
    pub address: Ipv4Addr,
    /// The receiver's port.
    pub port: u16,
    /// Payload bits a second.
    pub rate_bps: u64,
    /// Payload of a datagram, bytes; at least 8, for its number.
    pub payload_bytes: u32,
    /// How long it sends, ns.
    pub duration_ns: u64,
    /// When it begins, ns.
    #[serde(default)]
    pub start_ns: u64,
}

/// The receiver of datagrams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UdpSink {
    /// Where it listens.
    pub port: u16,
    /// It ends when, after the first datagram, none has come for so long, ns; not before its end, if it has one.
    #[serde(default = "second_ns")]
    pub idle_ns: u64,
    /// It ends when none comes any more then, ns; absent: it waits for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<u64>,
    /// Numbers that the source can have, from 0 on; absent: any. Others are not its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<u64>,
    /// From one datagram of the source to its next, ns: what jitter is measured against.
    #[serde(default)]
    pub gap_ns: u64,
    /// Receive buffer asked for with SO_RCVBUF, bytes; absent: net.core.rmem_default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<u32>,
}

fn second_ns() -> u64 {
    1_000_000_000
}

/// Echo requests, in equal steps of time whether or not those before are answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ping {
    /// Whom it asks.
    pub address: Ipv4Addr,
    /// Requests.
    pub count: u32,
    /// From one to the next, ns.
    #[serde(default = "second_ns")]
    pub interval_ns: u64,
    /// Payload beyond the ICMP header, bytes.
    #[serde(default = "ping_payload")]
    pub payload_bytes: u32,
    /// Priority of requests, 0 to 7: the class selector in their IP headers, which answers have too.
    #[serde(default)]
    pub priority: u8,
    /// How long after the last request answers are waited for, ns.
    #[serde(default = "second_ns")]
    pub wait_ns: u64,
    /// Which of the run's pairs of hosts these requests are of; their records have it.
    #[serde(default)]
    pub line: u32,
    /// When it begins, ns.
    #[serde(default)]
    pub start_ns: u64,
}

/// A host that stays on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stay {
    /// Until when, ns.
    pub end_ns: u64,
}

/// What ping(8) sends.
fn ping_payload() -> u32 {
    56
}

/// One end of a connection that does what a list says, when it says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// The end that listens, if this one connects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Ipv4Addr>,
    /// The port of the end that listens.
    pub port: u16,
    /// When the connecting end connects, ns.
    #[serde(default)]
    pub start_ns: u64,
    /// When it is over, ns.
    pub duration_ns: u64,
    /// What it does, in the order of time.
    pub actions: Vec<Action>,
}

/// One thing it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// When, ns.
    pub at_ns: u64,
    /// What.
    pub does: Deed,
    /// Bytes it writes, if it writes; bytes it reads at most, if it reads, and 0 if all.
    #[serde(default)]
    pub bytes: u64,
}

/// What an end can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// Writes bytes.
    Write,
    /// Stops reading.
    Hold,
    /// Reads what has come, and goes on reading; with a number of bytes it holds after them.
    Read,
    /// Closes its direction.
    Shutdown,
    /// Closes the socket.
    Close,
    /// Resets the connection.
    Abort,
}

/// A program of the user's; its output goes to a file beside the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The host may end while it runs, as for a server that never ends.
    #[serde(default)]
    pub background: bool,
    /// When it begins, ns.
    #[serde(default)]
    pub start_ns: u64,
}
