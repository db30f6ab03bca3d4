//! From a run of a scenario to a world at time zero.

use std::sync::Arc;

use tailback_net::frame::{ETHERNET_BYTES, EndpointId, HostId, IP_HEADER_BYTES, TCP_HEADER_BYTES};
use tailback_net::host::{HostPort, HostQdisc, Machine, PageBuffers, ReceiveRing, TransmitQueue};
use tailback_net::impairment::script::Direction;
use tailback_net::link::Link;
use tailback_net::marking::Marker;
use tailback_net::multipath::Balancer;
use tailback_net::pool::FramePool;
use tailback_net::queue::QueueConfig;
use tailback_net::random::Stream;
use tailback_net::switch::shared::SharedBuffer;
use tailback_net::switch::voq::VoqBuffer;
use tailback_net::switch::{BufferConfig, Forwarding, SwitchConfig};
use tailback_net::trace::Trace;
use tailback_scenario::{Node, Run, Workload as Spec};
use tailback_tcp::{Config, MetricsCache, Shortage, SocketOptions};
use tailback_units::{Bytes, Duration, Rate, Time};

use crate::build_applications::{applications, beside, datagrams};
use crate::capture::Capture;
use crate::event::{CROWD, Calendar};
use crate::external::CONGESTION_CONTROL;
use crate::oscillators::Oscillators;
use crate::record::Recorder;
use crate::reroute::Reroute;
use crate::route::{Attachments, Graph, Lost, Router, Routes};
use crate::samples::Samples;
use crate::traces::Traces;
use crate::world::{
    Background, Card, HostState, Interfaces, Label, Lead, Ledger, LinkState, MachineState,
    PortState, PushBack, QueuedSwitch, Retired, Series, Sink, Spread, SwitchBuffer, SwitchState,
    Totals, Unsent, World,
};

/// The world of a run, before anything has happened.
/// `outside` says which hosts' machines are not modelled here, by their numbers; missing: they are.
pub(crate) fn world(run: &Run, outside: &[bool]) -> World {
    let wiring = Wiring::new(run);
    let links = links(run, &wiring, outside);
    let routes = wiring.router.routes(&Lost::default());
    let switches = switches(run, &wiring, routes, &links);
    let ports: usize = switches.iter().map(|s| s.ports.len()).sum();
    let first_card = (links.len() + ports) as u32;
    let pushback = pushback(run, (&wiring, &links), outside, first_card);
    let cards = pushback.as_ref().map_or(0, |p| p.ranks());
    let first_machine = first_card + cards as u32;
    let hosts = hosts(run, &wiring, outside, first_machine);
    let machine_hosts: Vec<u16> = (0..hosts.len() as u16)
        .filter(|host| hosts[usize::from(*host)].machine.is_some())
        .collect();
    let (mut endpoints, workload) = applications(run, outside);
    let begun_endpoints = endpoints.len() as u32;
    let beside = beside(run, &mut endpoints);
    let places = switches
        .iter()
        .flat_map(|s| (0..s.ports.len()).map(move |p| format!("{}:{p}", s.name)))
        .collect();
    let ledger = Ledger::new(run.record.pcap.as_ref().map(|config| {
        let ends = run.network.links.iter().flat_map(|link| {
            let [a, b] = [link.a, link.b].map(|node| run.network.name(node));
            [(a, b), (b, a)]
        });
        Box::new(Capture::new(config, ends))
    }));
    let series = run.record.series.as_ref().map(|config| {
        let host = config.host(&run.network);
        let [_, (node, port)] = wiring.directions[wiring.uplink(host) as usize];
        let switch = node.checked_sub(wiring.hosts);
        let port = switch.map(|switch| (switch as u16, port));
        Series::new(config.interval, HostId(host as u16), port)
    });
    let recorder = {
        let iteration = run
            .record
            .anatomy_iteration
            .map(|i| u64::from(i).min(run.workload.iterations().saturating_sub(1)));
        let samples = Samples::new(run.record.sample_interval);
        Recorder::new(iteration, samples, places, begun_endpoints as usize / 2)
    };
    let background = Background::new(run, first_machine + machine_hosts.len() as u32);
    let crowded = links.len() >= CROWD;
    let datagrams = datagrams(run, &wiring);
    let mut ledger = ledger;
    ledger.lost = vec![Vec::new(); datagrams.len()];
    let mut world = World {
        now: Time::ZERO,
        calendar: Calendar::new(links.len() + ports + cards),
        // One for background traffic, one for the workload's alarm.
        first_timer: first_machine + machine_hosts.len() as u32 + 2,
        first_card,
        first_machine,
        machine_hosts,
        peer_ports: Vec::new(),
        datagrams,
        background,
        recorder,
        series,
        interfaces: run.record.interfaces.map(Interfaces::new),
        traces: None,
        still: None,
        reroute: Reroute::new(run, wiring.router, |link| {
            let [a, b] = wiring.directions[2 * link];
            [a, b].map(|(node, port)| (node - wiring.hosts, port))
        }),
        attachments: wiring.attachments,
        frames: FramePool::default(),
        links,
        switches,
        pushback,
        page_buffers: hosts.iter().any(|host| host.buffers.is_some()),
        by_request: workload.request_response().is_some(),
        hosts,
        endpoints,
        begun_endpoints,
        retired: Retired::default(),
        window: Default::default(),
        flows: Vec::new(),
        sources: Vec::new(),
        seed: run.seed,
        workload,
        beside,
        ledger,
        iteration_start: Totals::default(),
        transactions: Vec::new(),
        arrivals: Vec::new(),
        actions: Default::default(),
        done: false,
        runs_alone: false,
        turns: None,
        lead: Lead::default(),
        in_order: false,
        crowded,
        hops: 0,
        events: 0,
        trajectory: 0,
    };
    world.traces = Traces::new(run, &world);
    world.recorder.watch(world.watches_at());
    // Others get theirs when they are opened.
    let beside = world.beside.first()..world.endpoints.len() as u32;
    for id in (0..world.begun_endpoints).chain(beside) {
        world.give_thread(EndpointId(id));
    }
    world
}

fn is_outside(outside: &[bool], host: usize) -> bool {
    outside.get(host).copied().unwrap_or(false)
}

/// Which link direction joins which ports.
pub(crate) struct Wiring {
    attachments: Attachments,
    router: Router,
    /// For each link direction: node and port it leaves from, node and port it leads to.
    directions: Vec<[(usize, u16); 2]>,
    /// For each port of each node: the direction that leaves from it.
    ports: Vec<Vec<u32>>,
    hosts: usize,
}

impl Wiring {
    fn new(run: &Run) -> Wiring {
        let topology = &run.network;
        let hosts = topology.hosts.len();
        let index = |node: Node| match node {
            Node::Host(host) => host,
            Node::Switch(switch) => hosts + switch,
        };
        let mut graph = Graph {
            neighbours: vec![Vec::new(); hosts + topology.switches.len()],
            vlans: vec![Vec::new(); hosts + topology.switches.len()],
        };
        let mut directions: Vec<[(usize, u16); 2]> = Vec::with_capacity(2 * topology.links.len());
        let mut ports: Vec<Vec<u32>> = vec![Vec::new(); graph.neighbours.len()];
        for link in &topology.links {
            let [a, b] = [index(link.a), index(link.b)];
            let number = directions.len() as u32;
            let at = [ports[a].len() as u16, ports[b].len() as u16];
            graph.neighbours[a].push(b);
            graph.neighbours[b].push(a);
            graph.vlans[a].push(link.vlans.clone());
            graph.vlans[b].push(link.vlans.clone());
            ports[a].push(number);
            ports[b].push(number + 1);
            directions.push([(a, at[0]), (b, at[1])]);
            directions.push([(b, at[1]), (a, at[0])]);
        }
        let (attachments, router) = Router::new(&graph, hosts, run.seed);
        let switches = topology.switches.iter();
        let resilient = switches.map(|switch| switch.config.multipath.is_resilient());
        let router = router.resilient(resilient.collect());
        Wiring {
            attachments,
            router,
            directions,
            ports,
            hosts,
        }
    }

    /// The link direction that leaves from a host; a host has one link, as the scenario's checks
    /// made sure.
    fn uplink(&self, host: usize) -> u32 {
        self.ports[host].first().copied().unwrap_or(u32::MAX)
    }
}

fn links(run: &Run, wiring: &Wiring, outside: &[bool]) -> Vec<LinkState> {
    let name = |node: usize| match node.checked_sub(wiring.hosts) {
        None => run.network.hosts[node].name.as_str(),
        Some(switch) => run.network.switches[switch].name.as_str(),
    };
    let oscillators = Oscillators::new(run);
    let mut onward = Vec::new();
    let count = wiring.directions.len();
    let state = |(number, direction): (usize, &[(usize, u16); 2])| {
        let [(from, _), (to, port)] = *direction;
        let config = &oscillators.sent_by(from, &run.network.links[number / 2].config);
        let mut sink = match to.checked_sub(wiring.hosts) {
            Some(switch) => Sink::Switch {
                switch: switch as u16,
                port,
            },
            None if is_outside(outside, to) => Sink::Outside {
                host: HostId(to as u16),
            },
            None if run.network.hosts[to].config.machine.is_some() => Sink::Machine {
                host: HostId(to as u16),
            },
            None if run.network.hosts[to].config.rx_queues > 1 => Sink::Spread {
                host: HostId(to as u16),
            },
            None if run.network.hosts[to].config.gro => Sink::Polled {
                host: HostId(to as u16),
            },
            None => Sink::Host {
                host: HostId(to as u16),
                at_once: is_at_once(&run.network.hosts[to]),
            },
        };
        let way = if number.is_multiple_of(2) {
            Direction::Forward
        } else {
            Direction::Backward
        };
        let latency = match to.checked_sub(wiring.hosts) {
            Some(switch) => latency_before_queue(&run.network.switches[switch].config),
            None => Duration::ZERO,
        };
        let link = Link::new(config, way, Stream::new(run.seed, "link", number as u64))
            .handled_after(latency);
        let name: Box<str> = format!("{}>{}", name(from), name(to)).into();
        let is_hosts = !matches!(sink, Sink::Switch { .. } | Sink::Outside { .. });
        // A card that answers marks looks at frames as they come, a card with moderation's at their end.
        let answers = is_hosts && run.network.hosts[to].config.dcqcn.is_some();
        if (link.is_impaired() && is_hosts) || answers {
            let link = (count + onward.len()) as u32;
            let end = std::mem::replace(&mut sink, Sink::Onward { link });
            onward.push(LinkState {
                number: link,
                link: Link::onward(config),
                sink: end,
                plain: false,
                plain_to_ring: false,
                plain_to_machine: false,
                label: Box::new(Label {
                    name: name.clone(),
                    unsent: None,
                }),
            });
        }
        let polled = run.record.interfaces;
        let lossless = link.is_lossless() && run.record.pcap.is_none() && polled.is_none();
        let to_ring = matches!(
            sink,
            Sink::Host { at_once: false, .. } | Sink::Polled { .. } | Sink::Spread { .. }
        );
        LinkState {
            number: number as u32,
            plain: lossless && !to_ring && !matches!(sink, Sink::Machine { .. }),
            plain_to_ring: lossless && to_ring,
            plain_to_machine: lossless && matches!(sink, Sink::Machine { .. }),
            link,
            sink,
            label: Box::new(Label {
                name,
                unsent: polled.map(|interval| Unsent::new(Time::ZERO + interval)),
            }),
        }
    };
    let mut states: Vec<LinkState> = wiring.directions.iter().enumerate().map(state).collect();
    states.append(&mut onward);
    states
}

/// What a switch takes until a frame that has come is in a queue. One that decides when a port is free has its latency
/// before that, so that it holds for every frame and keeps no port idle; with a shared memory it is in the departure.
fn latency_before_queue(switch: &SwitchConfig) -> Duration {
    match switch.buffer {
        BufferConfig::Shared(_) => Duration::ZERO,
        BufferConfig::Voq(_) | BufferConfig::Queued(_) => switch.latency,
    }
}

/// Whether a host's receive path hands over each frame as it arrives, and as it is.
fn is_at_once(host: &tailback_scenario::Host) -> bool {
    let state = ReceiveRing::new(&host.config);
    state.is_instant() && !host.config.ce_to_ect1
}

fn switches(
    run: &Run,
    wiring: &Wiring,
    routes: Vec<Routes>,
    links: &[LinkState],
) -> Vec<SwitchState> {
    let mut first_rank = links.len() as u32;
    let mut states = Vec::new();
    let all = run.network.switches.iter().zip(routes).enumerate();
    for (number, (switch, routes)) in all {
        let config = &switch.config;
        let node = wiring.hosts + number;
        let ports: Vec<PortState> = wiring.ports[node].iter().copied().map(port).collect();
        let count = ports.len() as u16;
        states.push(SwitchState {
            name: switch.name.clone(),
            buffer: match &config.buffer {
                BufferConfig::Shared(config) => {
                    SwitchBuffer::Shared(SharedBuffer::new(config, count))
                }
                BufferConfig::Voq(config) => {
                    let stream = Stream::new(run.seed, "crossbar", number as u64);
                    SwitchBuffer::Voq(VoqBuffer::new(config, count, stream))
                }
                BufferConfig::Queued(queues) => {
                    let rates = ports.iter().map(|p| links[p.out_link as usize].link.rate());
                    let rates: Vec<Rate> = rates.collect();
                    let own = wiring.ports[node]
                        .iter()
                        .map(|link| (frame_bytes_max(run, *link), qdisc(run, *link)));
                    let own: Vec<(u32, Option<&QueueConfig>)> = own.collect();
                    let place = (run.seed, number);
                    let traces = ports.iter().map(|p| trace(run, p.out_link));
                    let traces: Vec<_> = traces.collect();
                    let sent = (rates.as_slice(), traces.as_slice());
                    let queues = QueuedSwitch::new(config, queues, sent, &own, place);
                    SwitchBuffer::Queued(Box::new(queues))
                }
            },
            marker: Marker::new(
                &config.marking,
                count,
                &config.buffer.band_capacities_bytes(count),
                Stream::new(run.seed, "marking", number as u64),
            ),
            cut_through: config.forwarding == Forwarding::CutThrough,
            latency: config.latency,
            balancer: Balancer::new(
                &config.multipath,
                routes.sets(),
                Stream::new(run.seed, "multipath", number as u64),
            )
            .map(Box::new),
            routes,
            ports,
            first_rank,
        });
        first_rank += u32::from(count);
    }
    states
}

/// Cards for all hosts, if any switch pushes back.
fn pushback(
    run: &Run,
    (wiring, links): (&Wiring, &[LinkState]),
    outside: &[bool],
    first_card: u32,
) -> Option<Box<PushBack>> {
    let hosts = &run.network.hosts;
    let mut switches = run.network.switches.iter();
    let stops = switches.any(|switch| switch.config.pushes_back())
        || hosts.iter().any(|host| host.config.dcqcn.is_some());
    let own = |host: usize| match is_outside(outside, host) {
        true => None,
        false => host_qdisc(run, wiring, host),
    };
    if !stops && (0..hosts.len()).all(|host| own(host).is_none()) {
        return None;
    }
    let line = |host| links[wiring.uplink(host) as usize].link.rate();
    let cards = (0..hosts.len())
        .map(|host| {
            let port = HostPort::new(line(host), run.seed, host as u64);
            Card::new(port, hosts[host].config.dcqcn.as_deref()).behind(own(host))
        })
        .collect();
    // The scenario's checks see to it that all have the same.
    let mut switches = run.network.switches.iter();
    let config =
        switches.find_map(|switch| switch.config.congestion_management.as_deref().cloned());
    Some(Box::new(PushBack::new(cards, first_card, config, stops)))
}

/// What packets of a host wait under, if its end of its link has a discipline of its own.
fn host_qdisc(run: &Run, wiring: &Wiring, host: usize) -> Option<HostQdisc> {
    let uplink = wiring.uplink(host);
    let config = run.network.host_qdisc(host)?;
    let packets = run.network.hosts[host].config.tx_queue_packets;
    let stream = Stream::new(run.seed, "host-qdisc", host as u64);
    Some(HostQdisc::new(
        config,
        frame_bytes_max(run, uplink),
        packets,
        stream,
    ))
}

fn port(out_link: u32) -> PortState {
    PortState {
        out_link,
        queued_bytes_max: 0,
        drops: Box::default(),
        marked: 0,
    }
}

fn hosts(run: &Run, wiring: &Wiring, outside: &[bool], first_machine: u32) -> Vec<HostState> {
    let stamps = match &run.workload {
        Spec::Udp(udp) => udp.record_arrivals as usize,
        _ => 0,
    };
    let mut rank = first_machine;
    let mut machine = |number: usize, host: &tailback_scenario::Host| {
        let config = host.config.machine.as_ref()?;
        if is_outside(outside, number) {
            return None;
        }
        let descriptors = host.config.rx_ring_descriptors;
        let mut machine = Machine::new(config, descriptors, rss_key(run, number));
        machine.stamp_first(stamps);
        rank += 1;
        Some(Box::new(MachineState::new(machine, rank - 1)))
    };
    let mut shared = None;
    let state = |(number, host): (usize, &tailback_scenario::Host)| HostState {
        machine: machine(number, host),
        careful: host.config.machine.is_some() || host.config.rx_queues > 1,
        counts_sent: ReceiveRing::new(&host.config).counts_sent(),
        spread: Spread::new(host, rss_key(run, number)),
        name: host.name.clone(),
        kernel_control: is_outside(outside, number)
            .then(|| host.kernel.sysctls.get(CONGESTION_CONTROL).cloned())
            .flatten(),
        uplink: wiring.uplink(number),
        outside: is_outside(outside, number),
        queue: TransmitQueue::new(&host.config),
        ring: ReceiveRing::new(&host.config),
        gro: host.config.gro.then(Box::default),
        shortage: Shortage::default(),
        ce_to_ect1: host.config.ce_to_ect1,
        buffers: PageBuffers::new(&host.config, mtu(run, wiring, number)),
        config: config(run, wiring, number, &mut shared),
        beside_options: beside_options(run, number),
        metrics: MetricsCache::default(),
        stream: Stream::new(run.seed, "interrupt", number as u64),
    };
    run.network.hosts.iter().enumerate().map(state).collect()
}

/// What a host's card spreads flows over its receive queues by.
fn rss_key(run: &Run, host: usize) -> u64 {
    Stream::new(run.seed, "rss", host as u64).next_u64()
}

/// The largest IP packet of a host's link, bytes.
pub(crate) fn mtu(run: &Run, wiring: &Wiring, host: usize) -> u32 {
    mtu_of(run, wiring.uplink(host))
}

/// The same of a link direction.
fn mtu_of(run: &Run, link: u32) -> u32 {
    run.network.links[link as usize / 2].config.mtu.get() as u32
}

/// How the capacity of a link direction changes.
fn trace(run: &Run, link: u32) -> Option<Arc<Trace>> {
    let of_link = &run.network.links[link as usize / 2].traces;
    of_link[link as usize % 2].clone()
}

/// The discipline that frames wait under for a link direction, if it has its own.
fn qdisc(run: &Run, link: u32) -> Option<&QueueConfig> {
    let both = run.network.links[link as usize / 2].config.qdisc.as_ref()?;
    match link % 2 {
        0 => both.forward.as_ref(),
        _ => both.backward.as_ref(),
    }
}

/// The longest frame of a link direction, bytes.
fn frame_bytes_max(run: &Run, link: u32) -> u32 {
    mtu_of(run, link) + ETHERNET_BYTES
}

/// Hosts have been up for so many ticks at most when a run begins. Which bucket of its kernel's wheel a timer waits in
/// hangs on that: up to a wait of four minutes a bucket has 4096 ticks or less (level 4).
const UPTIME_TICKS: u64 = 8 * 4096;

/// What a connection's end at `host` is made with; each gets a seed of its own. Hosts whose sockets are
/// alike have their options in `shared`: one place in the processor's cache for all.
fn config(
    run: &Run,
    wiring: &Wiring,
    host: usize,
    shared: &mut Option<Arc<SocketOptions>>,
) -> Config {
    let node = &run.network.hosts[host];
    let mtu = mtu(run, wiring, host);
    let tick = Duration::from_secs(1) / u64::from(node.stack.hz.max(1));
    let options = options(run, host);
    let options = match shared {
        Some(known) if **known == options => Arc::clone(known),
        _ => Arc::clone(shared.insert(options.into())),
    };
    Config {
        stack: Arc::clone(&node.stack),
        mss: (mtu - IP_HEADER_BYTES - TCP_HEADER_BYTES) as u16,
        clock_phase: node.config.clock_phase.unwrap_or_else(|| {
            let mut stream = Stream::new(run.seed, "clock", host as u64);
            let mut booted = Stream::new(run.seed, "uptime", host as u64);
            Duration::from_ps(stream.below(tick.as_ps())) + tick * booted.below(UPTIME_TICKS)
        }),
        options,
        rx_truesize_bytes: node.config.rx_truesize_bytes(mtu),
        rx_head_bytes: node.config.rx_head_bytes(),
        seed: 0,
    }
}

/// What programs beside the workload ask of their sockets, if the workload's ask for something else.
fn beside_options(run: &Run, host: usize) -> Option<Arc<SocketOptions>> {
    let own = run.network.hosts[host].socket.options();
    (!run.background_flows.is_empty() && own != options(run, host)).then(|| own.into())
}

/// What applications ask of their sockets.
fn options(run: &Run, host: usize) -> SocketOptions {
    let mut options = run.network.hosts[host].socket.options();
    if let Spec::Bulk(bulk) = &run.workload
        && let Some(window) = bulk.pair_window
    {
        let share = Bytes::new(window.get() / u64::from(bulk.connections));
        options.sndbuf = Some(share);
        options.rcvbuf = Some(share);
    }
    options
}
