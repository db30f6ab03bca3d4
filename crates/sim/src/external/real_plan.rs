//! What real hosts are to do for a run, and the network between them: hosts are a machine's own network
//! namespaces, switches its bridges, links its pairs of virtual interfaces (ip-link(8), tc(8)).
//!
//! What such a network cannot do is refused, all of it at once; what would change little, or what
//! real hosts bring themselves, is not applied and said ([`RealHosts::not_applied`]).

use std::collections::BTreeMap;

use serde::Serialize;
use tailback_agent::GuestConfig;
use tailback_agent::config::{Offloads, OptionValue, Task};
use tailback_net::link::Framing;
use tailback_net::marking::MarkingConfig;
use tailback_net::queue::QueueConfig;
use tailback_net::switch::{BufferConfig, Forwarding};
use tailback_scenario::{Host, KernelHost, Link, Node, Run, Udp, Workload};
use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Duration, Time};

use super::addresses::Addresses;
use super::tasks::{self, ns};
use super::{CONGESTION_CONTROL, START, beside, configuration, datagram, possible};
use crate::SimError;

/// From the last look at its connections until an application is over: real hosts look late when
/// other programs run. [assumed]
const AFTER_LOOK: Duration = Duration::from_ms(100);

/// Delays of links below this are not made: a wake-up of a real host takes as long. [assumed]
const DELAY_MIN: Duration = Duration::from_us(50);

/// Bytes that tc does not count of a frame: FCS, preamble and gap (IEEE 802.3).
const UNCOUNTED_BYTES: u32 = 4 + 20;
/// What a VLAN's tag adds (IEEE 802.1Q).
const TAG_BYTES: u32 = 4;
/// The shortest frame with preamble and gap, bytes (IEEE 802.3).
const SHORTEST_BYTES: u32 = 64 + 20;
/// Bytes of an Ethernet header, which tc counts.
const HEADER_BYTES: u32 = 14;

/// A run as real hosts make it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RealHosts {
    /// The hosts that have something to do.
    pub hosts: Vec<RealHost>,
    /// The switches, in the order of the scenario.
    pub switches: Vec<String>,
    /// The links that lead to these hosts or join switches.
    pub links: Vec<RealLink>,
    /// What of the scenario real hosts do not have, a sentence each.
    pub not_applied: Vec<String>,
    /// How long the run takes at least, seconds.
    pub least_s: f64,
    /// When applications begin on the hosts' clock, ns.
    pub start_ns: u64,
    /// The last of the ports on which somebody's own hosts may listen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_port: Option<u16>,
}

/// A host and what its agent is told; the time of day of its clock's zero is still to be said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RealHost {
    /// Its number in the run.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its Ethernet address.
    pub mac: String,
    /// The beginning of the version that the scenario asks for.
    pub version: Option<String>,
    /// For the agent.
    pub config: GuestConfig,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RealLink {
    /// Its two ends; frames leave from each.
    pub ends: [RealEnd; 2],
    /// Largest IP packet, bytes.
    pub mtu_bytes: u64,
    /// Line rate, bits a second.
    pub rate_bps: u64,
    /// What a frame takes on the line beyond what tc counts, bytes.
    pub overhead_bytes: u32,
    /// What the shortest frame takes on the line, bytes.
    pub least_bytes: u32,
    /// Delay one way, ns.
    pub delay_ns: u64,
    /// Probability that a frame is lost, each way.
    pub loss: f64,
}

/// One end of a link, and what waits there to leave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RealEnd {
    /// `host` or `switch`.
    pub kind: &'static str,
    /// Its number among those.
    pub number: usize,
    /// The switch's port.
    pub port: Option<usize>,
    /// What may wait to leave here, bytes as tc counts them.
    pub queue_bytes: u64,
}

/// What real hosts are to do in this run.
///
/// # Errors
/// [`SimError::RealHosts`] with all that they cannot do.
pub fn real_hosts(run: &Run) -> Result<RealHosts, SimError> {
    let refused = refused(run);
    if !refused.is_empty() {
        return Err(SimError::RealHosts(refused.join("; ")));
    }
    let hosts: Vec<RealHost> = by_host(run, &Addresses::planned())
        .into_iter()
        .map(|(host, tasks)| in_namespace(run, host, tasks))
        .collect();
    let takes_part = |node: Node| match node {
        Node::Host(host) => hosts.iter().any(|one| one.number == host),
        Node::Switch(_) => true,
    };
    let links = run.network.links.iter().enumerate();
    let links = links
        .filter(|(_, link)| takes_part(link.a) && takes_part(link.b))
        .map(|(number, link)| real_link(run, number, link))
        .collect();
    Ok(RealHosts {
        hosts,
        switches: run
            .network
            .switches
            .iter()
            .map(|s| s.name.clone())
            .collect(),
        links,
        not_applied: not_applied(run),
        least_s: least(run).as_secs_f64(),
        start_ns: ns(START),
        last_port: None,
    })
}

/// The tasks of each host that has any.
pub(super) fn by_host(run: &Run, at: &Addresses) -> BTreeMap<usize, Vec<Task>> {
    let mut by_host: BTreeMap<usize, Vec<Task>> = BTreeMap::new();
    for (host, task) in tasks::tasks(run, AFTER_LOOK, at) {
        by_host.entry(host).or_default().push(task);
    }
    by_host
}

fn in_namespace(run: &Run, number: usize, tasks: Vec<Task>) -> RealHost {
    let mut host = real_host(run, number, tasks, &Addresses::planned());
    let wanted = run.network.hosts[number].kernel.offloads;
    // Links carry frames, of which queues hold and drop one at a time.
    host.config.interface.offloads = Offloads {
        tso: Some(false),
        gso: Some(false),
        gro: wanted.gro,
        tx_checksum: wanted.tx_checksum,
    };
    host
}

/// A host with its tasks; its card is as it is.
pub(super) fn real_host(run: &Run, number: usize, tasks: Vec<Task>, at: &Addresses) -> RealHost {
    let host = &run.network.hosts[number];
    let mut config = configuration::of(run, number, 0, tasks, at);
    // Not everybody may take any as a default (crates/agent/src/guest), sockets may.
    let sysctls = config.sysctls.get(CONGESTION_CONTROL);
    if let Some(control) = sysctls.or(config.profile_sysctls.get(CONGESTION_CONTROL)) {
        let option = config.socket_options.entry("TCP_CONGESTION".to_owned());
        option.or_insert_with(|| OptionValue::Text(control.clone()));
    }
    RealHost {
        number,
        name: host.name.clone(),
        mac: configuration::mac(number),
        version: host.kernel.version.clone(),
        config,
    }
}

fn real_link(run: &Run, number: usize, link: &Link) -> RealLink {
    let config = &link.config;
    let tag = match config.framing {
        Framing::Vlan => TAG_BYTES,
        Framing::Ethernet | Framing::Pos => 0,
    };
    let delay = if config.delay < DELAY_MIN {
        Duration::ZERO
    } else {
        config.delay
    };
    RealLink {
        ends: [link.a, link.b].map(|node| real_end(run, number, node)),
        mtu_bytes: config.mtu.get(),
        rate_bps: config.rate.as_bps(),
        overhead_bytes: UNCOUNTED_BYTES + tag,
        least_bytes: SHORTEST_BYTES + tag,
        delay_ns: ns(delay),
        loss: config.loss,
    }
}

fn real_end(run: &Run, link: usize, node: Node) -> RealEnd {
    let frame_bytes = run.network.links[link].config.mtu.get() + u64::from(HEADER_BYTES);
    match node {
        Node::Host(number) => {
            let host = &run.network.hosts[number].config;
            let packets = host.tx_queue_packets + host.tx_ring_descriptors;
            RealEnd {
                kind: "host",
                number,
                port: None,
                queue_bytes: u64::from(packets) * frame_bytes,
            }
        }
        Node::Switch(number) => RealEnd {
            kind: "switch",
            number,
            port: run.network.links_of(node).position(|one| one == link),
            queue_bytes: switch_queue_bytes(run, number).max(frame_bytes),
        },
    }
}

/// The most bytes that one queue of a switch can hold.
fn switch_queue_bytes(run: &Run, switch: usize) -> u64 {
    let ports = run.network.links_of(Node::Switch(switch)).count() as u16;
    let buffer = &run.network.switches[switch].config.buffer;
    buffer.queue_capacity_bytes(ports)
}

/// All that real hosts cannot do, by its name in the scenario.
pub(super) fn refused_of_hosts(run: &Run) -> Vec<String> {
    let mut refused = Vec::new();
    let mut refuse = |what: String| refused.push(what);
    match &run.workload {
        Workload::Bernoulli(_) => refuse(
            "the workload bernoulli runs on modelled hosts only (use incast, bulk, flows, \
             request-response, collective, exchange, iperf3, flent, udp, ping or command)"
                .to_owned(),
        ),
        Workload::Udp(udp) if udp.ecn => {
            refuse("workload.ecn: the agent's datagrams are not ECN-capable".to_owned());
        }
        Workload::Udp(udp) if udp.datagram.get() < datagram::BYTES_MIN => refuse(format!(
            "workload.datagram: the agent's datagrams carry their number, so {}B at least",
            datagram::BYTES_MIN
        )),
        _ => {}
    }
    if !run.background.is_empty() {
        refuse("background: the traffic goes between modelled hosts only".to_owned());
    }
    if let Some(what) = possible::own_control(run, |_| true) {
        refuse(what);
    }
    if let Some(what) = beside::refused(run, |_| true) {
        refuse(what);
    }
    if run.record.pcap.is_some() {
        refuse("record.pcap: frames are not captured (tcpdump does, in the hosts)".to_owned());
    }
    for host in &run.network.hosts {
        let name = &host.name;
        if host.config.dcqcn.is_some() {
            refuse(format!("host {name}: dcqcn is of modelled cards"));
        }
        if host.config.ce_to_ect1 {
            refuse(format!("host {name}: ce_to_ect1 is of modelled hosts"));
        }
        if host.kernel.hz.is_some() {
            refuse(format!("host {name}: kernel.hz is as the machine has it"));
        }
        let global = host.kernel.sysctls.keys();
        for sysctl in global.filter(|name| !name.starts_with("net.")) {
            refuse(format!(
                "host {name}: kernel.sysctl.{sysctl} is of the whole machine, which stays as it is"
            ));
        }
    }
    refused
}

/// All that namespaces and bridges cannot do, by its name in the scenario.
fn refused(run: &Run) -> Vec<String> {
    let mut refused = refused_of_hosts(run);
    let mut refuse = |what: String| refused.push(what);
    for host in &run.network.hosts {
        if !host.kernel.tc.is_empty() {
            refuse(format!(
                "host {}: kernel.tc, for tc makes the link's rate there",
                host.name
            ));
        }
    }
    for switch in &run.network.switches {
        let (name, config) = (&switch.name, &switch.config);
        let mut refuse = |what: &str| refuse(format!("switch {name}: {what}"));
        if config.flow_control.is_some() {
            refuse("flow_control, for bridges do not stop anyone");
        }
        if config.congestion_management.is_some() {
            refuse("congestion_management, for bridges do not tell sources");
        }
        if !matches!(config.marking, MarkingConfig::Off(_)) {
            refuse("marking, for the FIFO at a bridge's port does not mark");
        }
        if let BufferConfig::Queued(queued) = &config.buffer {
            if !matches!(queued.queue, QueueConfig::Fifo {}) {
                refuse("buffer.queue other than fifo");
            }
            if queued.scheduler != Default::default() || !queued.band_limits.is_empty() {
                refuse("buffer.scheduler and buffer.band_limits, for a port has one queue");
            }
            if !queued.service.is_empty() {
                refuse("buffer.service, for a port's rate is the link's");
            }
        }
    }
    for link in &run.network.links {
        let (a, b) = (run.network.name(link.a), run.network.name(link.b));
        let mut refuse = |what: &str| refuse(format!("link {a} – {b}: {what}"));
        let mut qdiscs = link.config.qdisc.iter().flat_map(|qdiscs| qdiscs.iter());
        if qdiscs.any(|queue| !matches!(queue, QueueConfig::Fifo {})) {
            refuse("a qdisc other than fifo");
        }
        if link.config.impairment.is_some() {
            refuse("impairment (loss and delay are made)");
        }
        if link.config.trace.is_some() {
            refuse("trace, for its rate is the link's");
        }
        if link.config.framing == Framing::Pos {
            refuse("framing = \"pos\", for tc cannot count less than an Ethernet frame");
        }
        if !link.vlans.is_empty() {
            refuse("vlans, for the bridges know none");
        }
    }
    if has_cycle(run) {
        refuse(
            "network: several paths between two hosts, of which bridges would use one (use a star or a \
             tree of switches)"
                .to_owned(),
        );
    }
    refused
}

/// Whether links join some two nodes in two ways.
fn has_cycle(run: &Run) -> bool {
    let network = &run.network;
    // All are connected: a tree has a link fewer than nodes.
    network.links.len() >= network.hosts.len() + network.switches.len()
}

/// What real hosts do not have, where the run says something all the same.
fn not_applied(run: &Run) -> Vec<String> {
    let mut said = vec![
        "host: costs, rings and interrupts of the modelled machine; the hosts are this machine's kernel"
            .to_owned(),
        "kernel.offloads: tso and gso; links carry frames".to_owned(),
    ];
    for (number, switch) in run.network.switches.iter().enumerate() {
        let (name, config) = (&switch.name, &switch.config);
        let memory = match &config.buffer {
            BufferConfig::Shared(_) | BufferConfig::Queued(_) => "a memory that the ports share",
            BufferConfig::Voq(_) => "virtual output queues",
        };
        let most = switch_queue_bytes(run, number);
        said.push(format!(
            "switch {name}: {memory}; each port has a FIFO of its own of {most} bytes, the most that one \
             queue can hold"
        ));
        if !config.latency.is_zero() {
            said.push(format!("switch {name}: latency {}", config.latency));
        }
        if config.forwarding == Forwarding::CutThrough {
            said.push(format!(
                "switch {name}: cut-through; it stores and forwards"
            ));
        }
    }
    let delays = run.network.links.iter().map(|link| link.config.delay);
    let short = delays.filter(|delay| !delay.is_zero() && *delay < DELAY_MIN);
    if let Some(longest) = short.max() {
        said.push(format!(
            "link: delays below {DELAY_MIN} (up to {longest}); waking a process takes as long"
        ));
    }
    if run.network.clock_ppm > 0 {
        said.push("network.clock_ppm: all clocks are this machine's".to_owned());
    }
    said.extend(not_applied_of_hosts(run));
    said
}

/// What no real host has, wherever it is, where the run says something all the same.
pub(super) fn not_applied_of_hosts(run: &Run) -> Vec<String> {
    let mut said = vec![
        "stack: what Linux has no sysctl for (initial_cwnd, pacing, delack_min, rto_initial, gso_max_segs, \
         controls' parameters, …) is as the kernel has it"
            .to_owned(),
    ];
    let hosts = &run.network.hosts;
    let older = CongestionKind::Cubic21;
    if hosts
        .iter()
        .any(|host| host.stack.tcp_congestion_control == older)
    {
        said.push(format!(
            "stack.tcp_congestion_control: {}; it is the kernel's own cubic",
            older.name()
        ));
    }
    let virtual_machine = |asks: fn(&KernelHost, &KernelHost) -> bool| {
        let asks = |host: &Host| asks(&host.kernel, &KernelHost::new(None, None, &host.stack));
        hosts.iter().any(asks)
    };
    if virtual_machine(|host, unasked| host.memory != unasked.memory) {
        said.push("kernel.memory: the machine's is as it is".to_owned());
    }
    if virtual_machine(|host, unasked| host.interrupt_moderation != unasked.interrupt_moderation) {
        said.push("kernel.interrupt_moderation: the card's is as it is".to_owned());
    }
    if let Workload::Udp(Udp {
        record_arrivals: 1..,
        ..
    }) = &run.workload
    {
        said.push("workload.record_arrivals: interrupts and polls are the kernel's own".to_owned());
    }
    said.extend(not_recorded(run));
    said
}

/// What a scenario asks for that nobody sees of a network that is real.
fn not_recorded(run: &Run) -> Vec<String> {
    let record = &run.record;
    [
        ("anatomy_iteration", record.anatomy_iteration.is_some()),
        ("series", record.series.is_some()),
        ("interfaces", record.interfaces.is_some()),
    ]
    .into_iter()
    .filter(|(_, is)| *is)
    .map(|(what, _)| format!("record.{what}: nobody looks into the network while it runs"))
    .collect()
}

/// How long a run takes at least: durations are real.
pub(super) fn least(run: &Run) -> Duration {
    let until = |at: Time| at.since(Time::ZERO);
    let network = &run.network;
    let workload = match &run.workload {
        Workload::Incast(incast) => {
            let client = incast.order(network)[0];
            let link = network.links_of(Node::Host(client)).next();
            let bytes = incast.iteration_bytes();
            let one = link.map(|link| network.links[link].config.rate.time_for(bytes));
            one.unwrap_or_default() * u64::from(incast.iterations)
        }
        Workload::Collective(spec) => {
            let order = spec.order(network);
            let link = network.links_of(Node::Host(order[0])).next();
            let bytes = spec.host_bytes(order.len());
            let one = link.map(|link| network.links[link].config.rate.time_for(bytes));
            (one.unwrap_or_default() + spec.compute) * u64::from(spec.iterations)
        }
        Workload::Bulk(bulk) if bulk.size.is_none() => until(bulk.end()),
        Workload::Flows(flows) => flows.duration,
        Workload::FlowList(list) => until(list.last_start()),
        Workload::RequestResponse(spec) => until(spec.end()),
        Workload::Exchange(exchange) => exchange.duration,
        Workload::Iperf3(spec) => until(spec.end()),
        Workload::Flent(spec) => until(spec.end()),
        Workload::Udp(udp) => until(tasks::udp_end(run, udp)),
        Workload::Ping(spec) => {
            let pingers = spec.pingers(run.seed, network);
            let last = |one: &tailback_scenario::Pinger| {
                one.start + spec.interval * u64::from(one.count.saturating_sub(1))
            };
            until(pingers.iter().map(last).max().unwrap_or(Time::ZERO))
        }
        Workload::Command(commands) => {
            let starts = commands.command.iter().map(|command| command.start);
            starts.max().unwrap_or_default()
        }
        Workload::Bulk(_) | Workload::Bernoulli(_) => Duration::ZERO,
    };
    START + workload
}
