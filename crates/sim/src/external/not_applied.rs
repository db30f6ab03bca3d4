//! What of a scenario kernels in virtual time do not do, said before they run.

use tailback_scenario::{Run, Workload};

/// What of a run is not done on the hosts that are kernels by `outside`, by the hosts' numbers, a sentence each.
#[must_use]
pub fn not_applied_by_kernels(run: &Run, outside: &[bool]) -> Vec<String> {
    let mut said = run.network.unheeded_by_kernels(outside);
    if !outside.contains(&true) {
        return said;
    }
    let hosts = run.network.hosts.iter();
    if let Workload::Command(_) = run.workload
        && hosts.clone().any(|host| !host.socket.linux().is_empty())
    {
        said.push(
            "socket: programs of yours set the options of their sockets themselves".to_owned(),
        );
    }
    let begins = match &run.workload {
        Workload::Incast(incast) => incast.order(&run.network).first().copied(),
        Workload::Collective(spec) => spec.order(&run.network).first().copied(),
        _ => None,
    };
    if begins.is_some_and(|host| outside[host]) && run.record.anatomy_iteration.is_some() {
        said.push(
            "record.anatomy_iteration: nobody sees when an iteration of kernels begins \
             (record.sample_interval shows connections and queues over the whole run)"
                .to_owned(),
        );
    }
    if run.record.series.is_some() {
        said.push(
            "record.series: goodput, timeouts and retransmissions, of which kernels tell in the end \
             (record.sample_interval has them by connection)"
                .to_owned(),
        );
    }
    said
}
