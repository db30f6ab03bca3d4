//! TCP flows beside the workload between hosts outside: what agents are told to do, and what they told.
//!
//! The same tasks as workload `bulk`'s. An agent must know when its task is over: with the workload, where it is
//! known beforehand when that is, else at the flow's own `until`, or when its bytes have been read.

use std::collections::BTreeMap;

use tailback_agent::Record;
use tailback_agent::config::{Bulk, Pace, Sink, Task};
use tailback_agent::record::Flow;
use tailback_scenario::{Run, Workload};
use tailback_units::{Duration, Time};

use super::addresses::Addresses;
use super::results::{Records, at, flows, is_sender, is_sending, listening, number};
use super::tasks::{kernel_ns, ns, ping_end, udp_end};
use crate::ends;
use crate::world::{ToldBySender, World};

/// When the workload is over, where that is known before it begins; `after_look` as for its own tasks.
fn end(run: &Run, after_look: Duration) -> Option<Time> {
    match &run.workload {
        Workload::Bulk(bulk) => bulk.size.is_none().then_some(bulk.end()),
        Workload::RequestResponse(spec) => Some(spec.end()),
        Workload::Exchange(spec) => Some(Time::ZERO + spec.duration),
        Workload::Iperf3(spec) => Some(spec.end() + after_look),
        Workload::Flent(spec) => Some(spec.end() + after_look),
        Workload::Ping(spec) => Some(ping_end(run, spec)),
        Workload::Udp(spec) => Some(udp_end(run, spec)),
        Workload::Incast(_)
        | Workload::Collective(_)
        | Workload::Flows(_)
        | Workload::FlowList(_)
        | Workload::Command(_)
        | Workload::Bernoulli(_) => None,
    }
}

/// What hosts outside cannot do of it.
pub(super) fn refused(run: &Run, outside: impl Fn(usize) -> bool) -> Option<String> {
    let flows = run.flows_beside();
    let mut theirs = flows
        .iter()
        .filter(|one| outside(one.flow.source) || outside(one.flow.destination));
    let endless = theirs.find(|one| one.until.is_none() && one.flow.bytes.is_none())?;
    if end(run, Duration::ZERO).is_some() {
        return None;
    }
    let name = |host: usize| run.network.hosts[host].name.as_str();
    Some(format!(
        "background_flows: nobody knows beforehand when this workload is over, and the flow from {} to {} \
         would last as long (say until when it lasts: until = \"1s\")",
        name(endless.flow.source),
        name(endless.flow.destination)
    ))
}

/// Their tasks, with the hosts they run on.
pub(super) fn tasks(run: &Run, after_look: Duration, at: &Addresses) -> Vec<(usize, Task)> {
    let end = end(run, after_look);
    let first = ends::of_workload(run).len() as u32;
    let ports = (first + 1..).step_by(2).map(|endpoint| at.port(endpoint));
    let mut tasks = Vec::new();
    for (one, port) in run.flows_beside().into_iter().zip(ports) {
        let flow = one.flow;
        let over = [one.until, end].into_iter().flatten().min();
        if over.is_some_and(|over| over <= flow.start) {
            continue;
        }
        let end_ns = end.map(kernel_ns);
        let send = Task::Bulk(Bulk {
            address: at.of(flow.destination),
            port,
            flows: 1,
            bytes: flow.bytes,
            duration_ns: one.until.map(|until| ns(until.since(flow.start))),
            congestion_control: flow.congestion.map(|kind| kind.linux_name().to_owned()),
            window_bytes: None,
            priority: flow.priority,
            end_ns,
            abort: false,
            start_ns: kernel_ns(flow.start),
            pace: one.pace.map(|pace| Pace {
                block_bytes: pace.block_bytes,
                gap_ns: pace.gap_ns,
            }),
        });
        let receive = Task::Sink(Sink {
            port,
            connections: 1,
            window_bytes: None,
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

/// Puts into the world what their agents told.
pub(super) fn fill(world: &mut World, run: &Run, records: &Records) {
    if let Some(end) = end(run, Duration::ZERO) {
        world.beside.ends_at(end);
    }
    let first = world.beside.first();
    let endpoint = |flow: &Flow| 2 * number(flow) as u32;
    let theirs = || flows(records).filter(|flow| endpoint(flow) >= first);
    for flow in theirs().filter(|flow| !is_sender(flow, 0)) {
        if let Some(end) = world.endpoints.get_mut(endpoint(flow) as usize + 1) {
            end.read_bytes = flow.read_bytes;
            let number = (endpoint(flow) - first) / 2;
            world.beside.read_at(number as usize, at(flow.last_byte_ns));
        }
    }
    for flow in theirs().filter(|flow| is_sender(flow, 0)) {
        world.told_by_sender(endpoint(flow), &ToldBySender::of(&flow.tcp_info));
    }
}

/// Whether the sender of any of them is a host outside.
pub(super) fn is_outside(world: &World) -> bool {
    let mut flows = world.beside.flows().iter();
    flows.any(|one| world.hosts[one.flow.source].outside)
}

/// What their senders' kernels counted of them: in its TCP's counters it is together with the workload's. From when
/// that is counted, if hosts looked then.
pub(super) fn counted(world: &World, records: &Records, name: &str) -> f64 {
    let first = u64::from(world.beside.first());
    let theirs = |local, peer| is_sending(local, peer, 0) && 2 * listening(local, peer) >= first;
    let (mut before, mut all) = (BTreeMap::new(), 0);
    for record in records.values().flatten() {
        match record {
            Record::Look {
                local,
                peer,
                tcp_info,
                ..
            } if theirs(*local, *peer) => {
                let count = tcp_info.get(name).copied().unwrap_or(0);
                before.entry((*local, *peer)).or_insert(count);
            }
            Record::Flow(flow) if theirs(flow.local, flow.peer) => {
                all += flow.tcp_info.get(name).unwrap_or(&0);
            }
            _ => {}
        }
    }
    u64::saturating_sub(all, before.values().sum()) as f64
}
