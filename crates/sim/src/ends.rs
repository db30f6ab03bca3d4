//! Which host has which endpoint.

use tailback_scenario::{Flow, Run, Workload};

/// The host of each of the workload's endpoints, those of flows to come with them.
pub(crate) fn of_workload(run: &Run) -> Vec<usize> {
    let network = &run.network;
    let of = |flows: Vec<Flow>| {
        flows
            .iter()
            .flat_map(|f| [f.source, f.destination])
            .collect()
    };
    match &run.workload {
        Workload::Incast(incast) => {
            let order = incast.order(network);
            let servers = order.iter().skip(1).take(incast.servers as usize);
            servers.flat_map(|server| [order[0], *server]).collect()
        }
        Workload::Bulk(bulk) => of(bulk.flows(run.seed, network)),
        Workload::Flows(flows) => of(flows.flows(run.seed, network)),
        Workload::FlowList(list) => of(list.flows(network)),
        Workload::RequestResponse(spec) => of(spec.flows(run.seed, network)),
        Workload::Exchange(exchange) => exchange.ends(network).to_vec(),
        Workload::Iperf3(_) | Workload::Flent(_) => {
            let measurement = run.workload.measurement(run.seed, network);
            let flows = measurement.into_iter().flat_map(|one| one.flows);
            of(flows.map(|one| one.flow).collect())
        }
        Workload::Bernoulli(_) => {
            let hosts = network.hosts.len();
            let others = |source| (0..hosts).filter(move |d| *d != source);
            (0..hosts)
                .flat_map(|source| others(source).flat_map(move |d| [source, d]))
                .collect()
        }
        Workload::Udp(udp) => udp
            .probes(run.seed, network)
            .into_iter()
            .flat_map(|probe| [probe.source, probe.destination])
            .collect(),
        Workload::Collective(spec) => {
            let connections = spec.connections(network);
            connections
                .iter()
                .flat_map(|&(from, to)| [from, to])
                .collect()
        }
        Workload::Ping(_) | Workload::Command(_) => Vec::new(),
    }
}

/// The host of every endpoint: the workload's, then those of the flows beside it.
pub(crate) fn all(run: &Run) -> Vec<usize> {
    let mut ends = of_workload(run);
    let beside = run.flows_beside();
    ends.extend(
        beside
            .iter()
            .flat_map(|one| [one.flow.source, one.flow.destination]),
    );
    ends
}
