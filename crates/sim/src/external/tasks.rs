//! What agents are told to do for each workload: the same tasks on kernels in virtual time and on real
//! hosts.

use std::collections::BTreeSet;

use tailback_agent::config::{
    self, Answerer, Ask, Bulk, Command, IncastClient, IncastServer, Ping, Sink, Stay, Task,
    UdpSink, UdpSource,
};
use tailback_scenario::{
    Collective, Deed, End, Exchange, Flow, Gaps, Incast, Lane, Measurement, Ping as PingSpec,
    Pinger, Rank, RequestResponse, Run, TimedAction, Udp, Workload,
};
use tailback_units::{Duration, Time};

use super::START;
use super::addresses::Addresses;
use super::beside;
use crate::workload::udp_drain;

/// Whole nanoseconds.
pub(super) fn ns(span: Duration) -> u64 {
    span.as_ps() / 1000
}

/// A time of the world on the kernels' clock, in whole nanoseconds no earlier than it: what the world
/// does at that time is done before.
pub(super) fn kernel_ns(at: Time) -> u64 {
    ns(START) + at.as_ps().div_ceil(1000)
}

/// Every task of the workload and of flows beside it, with the host it runs on. Only those of hosts outside
/// are used. After the last look at its connections an application is over when so much time has gone by,
/// whoever is at the other end.
pub(super) fn tasks(run: &Run, after_look: Duration, at: &Addresses) -> Vec<(usize, Task)> {
    let mut tasks = workload_tasks(run, after_look, at);
    tasks.extend(beside::tasks(run, after_look, at));
    tasks
}

fn workload_tasks(run: &Run, after_look: Duration, at: &Addresses) -> Vec<(usize, Task)> {
    match &run.workload {
        Workload::Incast(incast) => incast_tasks(run, incast, at),
        Workload::Bulk(bulk) => {
            let window = bulk
                .pair_window
                .map(|w| w.get() / u64::from(bulk.connections));
            let window = window.map(|bytes| bytes.min(u64::from(u32::MAX)) as u32);
            flow_tasks(&bulk.flows(run.seed, &run.network), bulk.end(), window, at)
        }
        Workload::Flows(flows) => {
            let end = Time::ZERO + flows.duration + flows.drain;
            flow_tasks(&flows.flows(run.seed, &run.network), end, None, at)
        }
        Workload::FlowList(list) => flow_tasks(&list.flows(&run.network), list.end(), None, at),
        Workload::Exchange(exchange) => [End::Client, End::Server]
            .into_iter()
            .map(|end| exchange_task(run, exchange, end, at))
            .collect(),
        Workload::Iperf3(_) | Workload::Flent(_) => {
            let measurement = run.workload.measurement(run.seed, &run.network);
            measurement.map_or_else(Vec::new, |spec| measured_tasks(&spec, after_look, at))
        }
        Workload::Udp(udp) => udp_tasks(run, udp, at),
        Workload::RequestResponse(spec) => request_tasks(run, spec, at),
        Workload::Ping(spec) => ping_tasks(run, spec, at),
        Workload::Collective(spec) => collective_tasks(run, spec, at),
        // Refused before it comes here.
        Workload::Bernoulli(_) => Vec::new(),
        Workload::Command(commands) => {
            let hosts = &run.network.hosts;
            let number = |name: &str| hosts.iter().position(|host| host.name == name);
            let address =
                |name: &str| number(name).map_or_else(String::new, |host| at.of(host).to_string());
            let task = |command: &tailback_scenario::Command| {
                let task = Task::Command(Command {
                    argv: command.argv(address),
                    background: command.background,
                    start_ns: kernel_ns(Time::ZERO + command.start),
                });
                number(&command.host).map(|host| (host, task))
            };
            commands.command.iter().filter_map(task).collect()
        }
    }
}

/// Port on which the receiver of connection `number` listens: its endpoint's in the world.
fn port(number: usize, at: &Addresses) -> u16 {
    at.port(2 * number as u32 + 1)
}

fn incast_tasks(run: &Run, incast: &Incast, at: &Addresses) -> Vec<(usize, Task)> {
    let order = incast.order(&run.network);
    let client_host = order[0];
    let servers = 0..incast.servers;
    let answerers = servers.clone().map(|index| Answerer {
        address: at.of(order[index as usize + 1]),
        port: port(index as usize, at),
        answer_bytes: incast.answer_bytes(index),
    });
    let client = &run.network.hosts[client_host].config;
    let ask = Task::IncastClient(IncastClient {
        servers: answerers.collect(),
        request_bytes: incast.request.get(),
        iterations: u64::from(incast.iterations),
        send_call_ns: ns(client.send_call_cost),
        client_latency_ns: ns(client.client_latency),
        start_ns: kernel_ns(Time::ZERO),
    });
    // The client ends when it has done its iterations, and closes its connections then.
    let mut tasks = vec![(client_host, ask)];
    for index in servers {
        let host = order[index as usize + 1];
        let config = &run.network.hosts[host].config;
        let answer = Task::IncastServer(IncastServer {
            port: port(index as usize, at),
            connections: 1,
            request_bytes: incast.request.get(),
            answer_bytes: incast.answer_bytes(index),
            request_sizes: None,
            answer_sizes: None,
            service_latency_ns: ns(config.service_latency),
            service_jitter_ns: ns(config.service_jitter),
            stream: u64::from(index),
            congestion_control: None,
            priority: 0,
            end_ns: None,
        });
        tasks.push((host, answer));
    }
    tasks
}

/// Each end of an exchange is over by itself.
fn exchange_task(run: &Run, exchange: &Exchange, end: End, at: &Addresses) -> (usize, Task) {
    let [client, server] = exchange.ends(&run.network);
    let (host, server) = match end {
        End::Client => (client, Some(at.of(server))),
        End::Server => (server, None),
    };
    let own = exchange.in_order().into_iter().filter(|a| a.end == end);
    let action = |action: TimedAction| config::Action {
        at_ns: kernel_ns(Time::ZERO + action.at),
        does: match action.does {
            Deed::Write => config::Deed::Write,
            Deed::Hold => config::Deed::Hold,
            Deed::Read => config::Deed::Read,
            Deed::Shutdown => config::Deed::Shutdown,
            Deed::Close => config::Deed::Close,
            Deed::Abort => config::Deed::Abort,
        },
        bytes: action.size.get(),
    };
    let task = Task::Exchange(config::Exchange {
        server,
        port: port(0, at),
        start_ns: kernel_ns(Time::ZERO),
        duration_ns: kernel_ns(Time::ZERO + exchange.duration),
        actions: own.map(action).collect(),
    });
    (host, task)
}

/// Senders that stop before the run ends reset their connections, as the model's do.
fn measured_tasks(spec: &Measurement, after_look: Duration, at: &Addresses) -> Vec<(usize, Task)> {
    let end_ns = Some(kernel_ns(spec.end + after_look));
    let stops = spec.load.1 < spec.end;
    let mut tasks = Vec::new();
    for (number, flow) in spec.flows.iter().map(|one| one.flow).enumerate() {
        let send = Task::Bulk(Bulk {
            address: at.of(flow.destination),
            port: port(number, at),
            flows: 1,
            bytes: None,
            duration_ns: None,
            congestion_control: None,
            window_bytes: None,
            priority: flow.priority,
            end_ns: Some(kernel_ns(spec.load.1 + after_look)),
            abort: stops,
            start_ns: kernel_ns(flow.start),
            pace: None,
        });
        let receive = Task::Sink(Sink {
            port: port(number, at),
            connections: 1,
            window_bytes: None,
            priority: flow.priority,
            end_ns,
            endless: true,
            aborted: stops,
        });
        tasks.push((flow.source, send));
        tasks.push((flow.destination, receive));
    }
    if spec.ping_interval.is_zero() {
        return tasks;
    }
    let count = spec.end.since(spec.begin).as_ps();
    let count = count.div_ceil(spec.ping_interval.as_ps());
    for (number, line) in spec.pings.iter().enumerate() {
        let ping = Task::Ping(Ping {
            address: at.of(line.destination),
            count: count as u32,
            interval_ns: ns(spec.ping_interval),
            payload_bytes: PING_PAYLOAD_BYTES,
            priority: line.priority,
            start_ns: kernel_ns(spec.begin),
            wait_ns: ns(PING_WAIT),
            line: number as u32,
        });
        tasks.push((line.source, ping));
    }
    if stops {
        // Who answers may have nothing else to do by then.
        let answering: BTreeSet<usize> = spec.pings.iter().map(|line| line.destination).collect();
        let end_ns = kernel_ns(spec.end + after_look);
        let stay = |host: usize| (host, Task::Stay(Stay { end_ns }));
        tasks.extend(answering.into_iter().map(stay));
    }
    tasks
}

/// As ping(8) sends, and the model.
const PING_PAYLOAD_BYTES: u32 = 56;
/// How long after the last ping beside flows that are measured answers are waited for. [assumed]
const PING_WAIT: Duration = Duration::from_secs(1);

fn ping_tasks(run: &Run, spec: &PingSpec, at: &Addresses) -> Vec<(usize, Task)> {
    let task = |(line, one): (usize, &Pinger)| {
        let ping = Task::Ping(Ping {
            address: at.of(one.destination),
            count: one.count,
            interval_ns: ns(spec.interval),
            payload_bytes: spec.size.get() as u32,
            priority: 0,
            wait_ns: ns(spec.wait),
            line: line as u32,
            start_ns: kernel_ns(one.start),
        });
        (one.source, ping)
    };
    let pingers = spec.pingers(run.seed, &run.network);
    let requests = pingers.iter().enumerate().map(task);
    // A kernel answers as long as its host has not ended.
    let end = ping_end(run, spec);
    let stay = |host: usize| {
        let end_ns = kernel_ns(end);
        (host, Task::Stay(Stay { end_ns }))
    };
    let answering: BTreeSet<usize> = pingers.iter().map(|one| one.destination).collect();
    requests.chain(answering.into_iter().map(stay)).collect()
}

/// When nobody waits for an answer to a ping any more.
pub(super) fn ping_end(run: &Run, spec: &PingSpec) -> Time {
    let pingers = spec.pingers(run.seed, &run.network);
    let last = |one: &Pinger| one.start + spec.interval * u64::from(one.count);
    pingers.iter().map(last).max().unwrap_or(Time::ZERO) + spec.wait
}

fn request_tasks(run: &Run, spec: &RequestResponse, at: &Addresses) -> Vec<(usize, Task)> {
    let end = spec.end();
    let flows = spec.flows(run.seed, &run.network);
    let mut tasks = Vec::new();
    for (number, flow) in flows.iter().enumerate().filter(|(_, f)| f.start < end) {
        let ask = Task::Ask(Ask {
            server: Answerer {
                address: at.of(flow.destination),
                port: port(number, at),
                answer_bytes: spec.response.get(),
            },
            request_bytes: spec.request.get(),
            outstanding: spec.outstanding,
            think_ns: ns(spec.think),
            every_ns: spec.every.map(ns),
            drawn_gaps: spec.gaps == Gaps::Exponential,
            stream: number as u64,
            request_sizes: spec.request_distribution(),
            answer_sizes: spec.response_distribution(),
            tells_each: run.record.requests,
            congestion_control: flow.congestion.map(|kind| kind.linux_name().to_owned()),
            priority: flow.priority,
            start_ns: kernel_ns(flow.start),
            begin_ns: kernel_ns(spec.begin()),
            end_ns: kernel_ns(end),
        });
        let answer = Task::IncastServer(IncastServer {
            port: port(number, at),
            connections: 1,
            request_bytes: spec.request.get(),
            answer_bytes: spec.response.get(),
            request_sizes: spec.request_distribution(),
            answer_sizes: spec.response_distribution(),
            service_latency_ns: 0,
            service_jitter_ns: 0,
            stream: number as u64,
            congestion_control: flow.congestion.map(|kind| kind.linux_name().to_owned()),
            priority: flow.priority,
            end_ns: Some(kernel_ns(end)),
        });
        tasks.push((flow.source, ask));
        tasks.push((flow.destination, answer));
    }
    tasks
}

fn collective_tasks(run: &Run, spec: &Collective, at: &Addresses) -> Vec<(usize, Task)> {
    let connections = spec.connections(&run.network);
    let lane = |lane: &Lane| config::Lane {
        address: at.of(connections[lane.sends].1),
        port: port(lane.sends, at),
        own_port: port(lane.reads, at),
        bytes: lane.bytes,
        first_bytes: lane.first_bytes,
        slice_bytes: lane.slice_bytes,
    };
    let task = |(number, rank): (usize, &Rank)| {
        let task = Task::Collective(config::Collective {
            lanes: rank.lanes.iter().map(lane).collect(),
            iterations: u64::from(spec.iterations),
            compute_ns: ns(spec.compute),
            compute_jitter_ns: ns(spec.compute_jitter),
            stream: number as u64,
            priority: spec.priority,
            start_ns: kernel_ns(Time::ZERO),
        });
        (rank.host, task)
    };
    let ranks = spec.ranks(&run.network);
    ranks.iter().enumerate().map(task).collect()
}

/// When the last sender of datagrams is over, and what was under way has come.
pub(super) fn udp_end(run: &Run, udp: &Udp) -> Time {
    let probes = udp.probes(run.seed, &run.network);
    let last = probes.iter().map(|probe| probe.end).max();
    last.unwrap_or(Time::ZERO) + udp_drain(&run.network)
}

fn udp_tasks(run: &Run, udp: &Udp, at: &Addresses) -> Vec<(usize, Task)> {
    let mut tasks = Vec::new();
    let drain = udp_drain(&run.network);
    for (number, probe) in udp.probes(run.seed, &run.network).iter().enumerate() {
        let send = Task::UdpSource(UdpSource {
            address: at.of(probe.destination),
            port: port(number, at),
            rate_bps: udp.rate.as_bps(),
            payload_bytes: udp.datagram.get() as u32,
            duration_ns: ns(probe.end.since(probe.start)),
            start_ns: kernel_ns(probe.start),
        });
        let receive = Task::UdpSink(UdpSink {
            port: port(number, at),
            idle_ns: ns(drain),
            end_ns: Some(kernel_ns(probe.end + drain)),
            // One more than are due before the end, and one for what was rounded.
            numbers: Some(probe.end.since(probe.start).as_ps() / udp.gap().as_ps().max(1) + 2),
            gap_ns: ns(udp.gap()),
            window_bytes: Some(udp.socket_buffer.get() as u32),
        });
        tasks.push((probe.source, send));
        tasks.push((probe.destination, receive));
    }
    tasks
}

fn flow_tasks(
    flows: &[Flow],
    end: Time,
    window_bytes: Option<u32>,
    at: &Addresses,
) -> Vec<(usize, Task)> {
    // The run ends then, whatever is left.
    let end_ns = Some(kernel_ns(end));
    let mut tasks = Vec::new();
    for (number, flow) in flows.iter().enumerate() {
        let send = Task::Bulk(Bulk {
            address: at.of(flow.destination),
            port: port(number, at),
            flows: 1,
            bytes: flow.bytes,
            duration_ns: None,
            congestion_control: flow.congestion.map(|kind| kind.linux_name().to_owned()),
            window_bytes,
            priority: flow.priority,
            end_ns,
            abort: false,
            start_ns: kernel_ns(flow.start),
            pace: None,
        });
        let receive = Task::Sink(Sink {
            port: port(number, at),
            connections: 1,
            window_bytes,
            priority: flow.priority,
            end_ns,
            endless: flow.bytes.is_none(),
            aborted: false,
        });
        tasks.push((flow.source, send));
        tasks.push((flow.destination, receive));
    }
    tasks
}
