//! What runs with kernels cannot do, told before any is made.

use tailback_scenario::{PingLine, Run, Workload};
use tailback_wire::plan;

use super::{beside, datagram, tc};
use crate::{SimError, ends};

/// The first port that a kernel chooses by itself (net.ipv4.ip_local_port_range).
const FIRST_OWN_PORT: u16 = 32_768;
/// Connections whose ports are all below; each end has one (crates/wire/src/plan.rs).
const CONNECTIONS_MAX: usize = (FIRST_OWN_PORT - plan::FIRST_PORT) as usize / 2;

/// Whether a run can be made in which hosts are kernels where `outside` says so, by the hosts' numbers.
///
/// # Errors
/// [`SimError::Kernel`] with all that it cannot do, and what would.
pub fn kernels_can(run: &Run, outside: &[bool]) -> Result<(), SimError> {
    let is_outside = |host: usize| outside.get(host).copied().unwrap_or(false);
    let mut refused = if outside.contains(&true) {
        refused(run, outside)
    } else {
        without_kernels(run)
    };
    refused.extend(without_model(run, is_outside));
    if refused.is_empty() {
        return Ok(());
    }
    Err(SimError::Kernel(refused.join("; ")))
}

/// What modelled hosts alone cannot do.
fn without_kernels(run: &Run) -> Vec<String> {
    match &run.workload {
        Workload::Command(_) => vec![
            "the workload \"command\" runs programs, which modelled hosts cannot: it needs real ones \
             (--backend kernel, namespaces or hosts)"
                .to_owned(),
        ],
        _ => Vec::new(),
    }
}

/// A congestion control that a modelled host cannot have.
pub(crate) fn without_model(run: &Run, is_outside: impl Fn(usize) -> bool) -> Option<String> {
    let (host, kind) = run.unmodelled_control(|host| !is_outside(host))?;
    let linux = kind.linux_name();
    Some(format!(
        "there is no model of congestion control {linux:?} ({}), and host {host} is modelled: give it to real hosts alone \
         (by their own stack, or kernel.sysctl), or let all hosts be real (--backend kernel, namespaces or hosts)",
        kind.name()
    ))
}

/// A congestion control of somebody's own without anybody who makes it: a run that was not handed to
/// [`Run::with_own_controls`].
pub(crate) fn without_maker(run: &Run, is_outside: impl Fn(usize) -> bool) -> Option<String> {
    let hosts = &run.network.hosts;
    let is_left = |host: usize| !is_outside(host) && hosts[host].stack.own.0.is_none();
    let (host, kind) = run.own_control_outside(is_left)?;
    let name = kind.name();
    Some(format!(
        "nobody makes congestion control {name} for host {host}"
    ))
}

/// A congestion control that real hosts cannot have.
pub(super) fn own_control(run: &Run, is_outside: impl Fn(usize) -> bool) -> Option<String> {
    let (host, kind) = run.own_control_outside(is_outside)?;
    Some(format!(
        "congestion control {} is a program for modelled hosts, and host {host} is a real one: give it to modelled \
         hosts alone, or real ones one of theirs (kernel:NAME)",
        kind.name()
    ))
}

fn refused(run: &Run, outside: &[bool]) -> Vec<String> {
    let mut refused = of_workload(run, outside);
    let mut refuse = |what: String| refused.push(what);
    let is_outside = |host: usize| outside.get(host).copied().unwrap_or(false);
    let mut background = run.background.iter().map(|b| b.ends(&run.network));
    if background.any(|(source, destination)| is_outside(source) || is_outside(destination)) {
        refuse(
            "background traffic goes between modelled hosts only: one of its ends is a kernel; give it \
             hosts of its own, or make it background_flows"
                .to_owned(),
        );
    }
    if let Some(what) = own_control(run, is_outside) {
        refuse(what);
    }
    if let Some(what) = beside::refused(run, is_outside) {
        refuse(what);
    }
    for (number, host) in run.network.hosts.iter().enumerate() {
        if is_outside(number)
            && let Some(Err(why)) = tc::of_host(run, number)
        {
            refuse(format!(
                "host {}, a kernel, cannot have the qdisc that its link gives it: {why}",
                host.name
            ));
        }
    }
    let ends = ends::all(run);
    let mut beyond = ends.chunks(2).skip(CONNECTIONS_MAX);
    if beyond.any(|pair| pair.iter().any(|host| is_outside(*host))) {
        refuse(format!(
            "{} connections, each on a port of its own, and kernels choose theirs from {FIRST_OWN_PORT} on, so that \
             {CONNECTIONS_MAX} find room: take fewer, or modelled hosts",
            ends.len() / 2
        ));
    }
    let mut switches = run.network.switches.iter();
    if let Some(switch) = switches.find(|switch| switch.config.pushes_back()) {
        refuse(format!(
            "switch {:?} pushes back (flow_control or congestion_management), which kernels' cards \
             do not obey: use modelled hosts",
            switch.name
        ));
    }
    let mut hosts = run.network.hosts.iter();
    if hosts.any(|host| host.config.dcqcn.is_some()) {
        refuse(
            "cards that speak DCQCN (host.dcqcn) are modelled: use modelled hosts, or leave it out"
                .to_owned(),
        );
    }
    refused
}

fn of_workload(run: &Run, outside: &[bool]) -> Vec<String> {
    let modelled_only = |name: &str| {
        format!(
            "the workload {name:?} runs on modelled hosts only: kernels have no agent for it; use \
             incast, bulk, flows, request-response, collective, exchange, iperf3, flent, udp, ping or command"
        )
    };
    let name = |host: usize| run.network.hosts[host].name.as_str();
    let said = match &run.workload {
        Workload::Bernoulli(_) => Some(modelled_only("bernoulli")),
        Workload::Iperf3(_) | Workload::Flent(_) => {
            let measurement = run.workload.measurement(run.seed, &run.network);
            let measurement = measurement.filter(|spec| !spec.ping_interval.is_zero());
            let pings = measurement.into_iter().flat_map(|spec| spec.pings);
            let apart = |line: &PingLine| outside[line.source] != outside[line.destination];
            let without = match &run.workload {
                Workload::Iperf3(_) => ", or set workload.ping_interval to \"0s\"",
                _ => "",
            };
            pings.into_iter().find(apart).map(|line| {
                format!(
                    "pings go from {} to {}, of which one is a kernel and one is modelled: make both \
                     alike{without}",
                    name(line.source),
                    name(line.destination)
                )
            })
        }
        Workload::Udp(udp) if udp.ecn => Some(
            "datagrams of kernels are not ECN-capable: use modelled hosts, or leave workload.ecn out"
                .to_owned(),
        ),
        Workload::Udp(udp) if udp.datagram.get() < datagram::BYTES_MIN => Some(format!(
            "datagrams of kernels carry their number, and one of {} has no room for it: at least {}B, \
             or modelled hosts",
            udp.datagram,
            datagram::BYTES_MIN
        )),
        Workload::Udp(udp) if udp.reporter.is_some() => Some(
            "kernels have an agent, which reports as it does: use modelled hosts, or leave workload.reporter out"
                .to_owned(),
        ),
        Workload::Command(commands) => {
            let is_modelled = |name: &str| {
                let host = run.network.hosts.iter().position(|host| host.name == name);
                host.is_some_and(|host| !outside[host])
            };
            let mut hosts = commands.command.iter().map(|one| one.host.as_str());
            hosts.find(|name| is_modelled(name)).map(|name| {
                format!(
                    "a program is to run on {name}, which is modelled: make it a kernel (its kind, or \
                     network.kernels), or run all hosts as kernels (--backend kernel)"
                )
            })
        }
        Workload::Collective(spec) => {
            let order = spec.order(&run.network);
            let first = outside[order[0]];
            let other = order.iter().find(|host| outside[**host] != first);
            other.map(|other| {
                format!(
                    "of the hosts of a collective {} and {} are not alike, a kernel and a modelled one: make all \
                     alike (hosts' kind), or name others in workload.hosts",
                    name(order[0]),
                    name(*other)
                )
            })
        }
        Workload::Ping(spec) => {
            let mut pingers = spec.pingers(run.seed, &run.network).into_iter();
            let pair = pingers.find(|one| outside[one.source] != outside[one.destination]);
            pair.map(|pair| {
                format!(
                    "{} pings {}, of which one is a kernel and one is modelled: make both alike \
                     (hosts' kind), or choose other workload.pairs",
                    name(pair.source),
                    name(pair.destination)
                )
            })
        }
        _ => None,
    };
    said.into_iter().collect()
}
