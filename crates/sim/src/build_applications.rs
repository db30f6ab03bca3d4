//! From a run of a scenario to its applications, with their endpoints.

use tailback_net::random::Stream;
use tailback_scenario::{Probe, Run, Workload as Spec};
use tailback_units::Time;

use crate::build::{Wiring, mtu};
use crate::ends;
use crate::workload::{
    BackgroundFlowsApp, BernoulliApp, CollectiveApp, ExchangeApp, FlowsApp, IncastApp, Latencies,
    MeasuredApp, PingApp, Program, RequestResponseApp, Server, UdpApp, Workload, udp_drain,
};
use crate::world::{DatagramFlow, Endpoint};

/// By host: what its programs take.
fn programs(run: &Run) -> Vec<Program> {
    let configs = run.network.hosts.iter().map(|host| &host.config);
    let programs = configs.map(|config| Program {
        latency: config.client_latency,
        call: config.send_call_cost,
        free_at: Time::ZERO,
    });
    programs.collect()
}

/// Pairs of endpoints and what runs on them.
pub(crate) fn applications(run: &Run, outside: &[bool]) -> (Vec<Endpoint>, Workload) {
    let is_outside = |host: usize| outside.get(host).copied().unwrap_or(false);
    match &run.workload {
        Spec::Incast(incast) => {
            let order = incast.order(&run.network);
            let client = order[0];
            let pairs = (0..incast.servers).flat_map(|index| {
                let server = order[index as usize + 1];
                [
                    Endpoint::new(2 * index, client, server),
                    Endpoint::new(2 * index + 1, server, client),
                ]
            });
            let endpoints = pairs.collect();
            let servers = (0..incast.servers).map(|index| {
                let server = order[index as usize + 1];
                let host = &run.network.hosts[server].config;
                Server {
                    answer_bytes: incast.answer_bytes(index),
                    service_latency: host.service_latency,
                    service_jitter: host.service_jitter,
                    stream: Stream::new(run.seed, "service", u64::from(index)),
                    request_left: incast.request.get(),
                    answer_left: 0,
                    outside: is_outside(server),
                }
            });
            let client = &run.network.hosts[client].config;
            let latencies = Latencies {
                send_call: client.send_call_cost,
                client: client.client_latency,
            };
            let iterations = u64::from(incast.iterations);
            let app = IncastApp::new(
                servers.collect(),
                incast.request.get(),
                iterations,
                latencies,
            );
            (endpoints, Workload::Incast(app))
        }
        Spec::Bulk(bulk) => {
            let flows = bulk.flows(run.seed, &run.network);
            let app = FlowsApp::new(flows, bulk.end(), outside, programs(run));
            (Vec::new(), Workload::Flows(app.counted_from(bulk.begin())))
        }
        Spec::Flows(spec) => {
            let flows = spec.flows(run.seed, &run.network);
            let app = FlowsApp::new(
                flows,
                Time::ZERO + spec.duration + spec.drain,
                outside,
                programs(run),
            );
            let app = app.with_queries(spec.queries.is_some());
            (Vec::new(), Workload::Flows(app))
        }
        Spec::FlowList(list) => {
            let flows = list.flows(&run.network);
            let app = FlowsApp::new(flows, list.end(), outside, programs(run));
            (Vec::new(), Workload::Flows(app))
        }
        Spec::Exchange(exchange) => {
            let ends = exchange.ends(&run.network);
            let [client, server] = ends;
            (
                vec![
                    Endpoint::new(0, client, server),
                    Endpoint::new(1, server, client),
                ],
                Workload::Exchange(ExchangeApp::new(exchange, ends.map(is_outside))),
            )
        }
        Spec::Iperf3(spec) => {
            let spec = spec.measurement(run.seed, &spec.order(&run.network));
            let app = MeasuredApp::new(spec, outside);
            (Vec::new(), Workload::Measured(app))
        }
        Spec::Flent(spec) => {
            let app = MeasuredApp::new(spec.measurement(&spec.order(&run.network)), outside);
            (Vec::new(), Workload::Measured(app))
        }
        Spec::Bernoulli(spec) => {
            let slots = spec.slots(&run.network);
            let app = BernoulliApp::new(spec, slots, run.seed);
            (Vec::new(), Workload::Bernoulli(app))
        }
        Spec::Udp(spec) => {
            let probes = spec.probes(run.seed, &run.network);
            let ends = probes.iter().enumerate().flat_map(|(flow, probe)| {
                let id = 2 * flow as u32;
                [
                    Endpoint::new(id, probe.source, probe.destination),
                    Endpoint::new(id + 1, probe.destination, probe.source),
                ]
            });
            let outside: Vec<bool> = probes.iter().map(|p| is_outside(p.source)).collect();
            let app = UdpApp::new(spec, &probes, &outside, udp_drain(&run.network));
            (ends.collect(), Workload::Udp(app))
        }
        Spec::RequestResponse(spec) => {
            let flows = spec.flows(run.seed, &run.network);
            let app = RequestResponseApp::new(spec, flows, run.seed, run.record.requests);
            (Vec::new(), Workload::RequestResponse(app))
        }
        Spec::Ping(spec) => {
            let pingers = spec.pingers(run.seed, &run.network);
            let app = PingApp::new(spec, pingers, outside);
            (Vec::new(), Workload::Ping(app))
        }
        Spec::Collective(spec) => {
            let connections = spec.connections(&run.network);
            let ends = connections
                .iter()
                .zip(0..)
                .flat_map(|(&(from, to), number)| {
                    let id = 2 * number;
                    [Endpoint::new(id, from, to), Endpoint::new(id + 1, to, from)]
                });
            let of_class = |mut end: Endpoint| {
                end.priority = spec.priority;
                end
            };
            let app = CollectiveApp::new(spec, &spec.ranks(&run.network), run.seed);
            (ends.map(of_class).collect(), Workload::Collective(app))
        }
        // Programs run on kernels: no host of the model sends anything by itself.
        Spec::Command(_) => (
            Vec::new(),
            Workload::Flows(FlowsApp::new(Vec::new(), Time::ZERO, &[], Vec::new())),
        ),
    }
}

/// The flows beside the workload, with their endpoints: behind the workload's, for which places are kept.
pub(crate) fn beside(run: &Run, endpoints: &mut Vec<Endpoint>) -> BackgroundFlowsApp {
    let flows = run.flows_beside();
    if flows.is_empty() {
        return BackgroundFlowsApp::new(endpoints.len() as u32, flows);
    }
    let first = ends::of_workload(run).len();
    let hosts = ends::all(run);
    for id in endpoints.len()..hosts.len() {
        let mut end = Endpoint::new(id as u32, hosts[id], hosts[id ^ 1]);
        end.listens = id >= first;
        endpoints.push(end);
    }
    let own = flows.iter().flat_map(|one| [one, one]);
    for (end, one) in endpoints.iter_mut().skip(first).zip(own) {
        end.priority = one.flow.priority;
    }
    BackgroundFlowsApp::new(first as u32, flows)
}

/// Flows of datagrams, and the sockets they come to.
pub(crate) fn datagrams(run: &Run, wiring: &Wiring) -> Vec<DatagramFlow> {
    let Spec::Udp(spec) = &run.workload else {
        return Vec::new();
    };
    let flow = |probe: Probe| {
        let host = &run.network.hosts[probe.destination];
        // sock_setsockopt, SO_RCVBUF (Linux net/core/sock.c).
        let rcvbuf = 2 * spec.socket_buffer.min(host.stack.rmem_max).get();
        let truesize = host
            .config
            .rx_truesize_bytes(mtu(run, wiring, probe.destination));
        let datagram = (spec.datagram.get() as u16, spec.ecn);
        let sender = run.network.hosts[probe.source].stack.sender;
        DatagramFlow::new(&probe, datagram, sender, rcvbuf, truesize.into())
            .reported_by(spec.reporter)
    };
    let probes = spec.probes(run.seed, &run.network);
    probes.into_iter().map(flow).collect()
}
