//! What guests told of workloads `iperf3`, `ping` and `udp`, put into the world as if its own hosts had seen
//! it: what is counted in a window of time, and every datagram.

use std::collections::{BTreeMap, BTreeSet};

use tailback_agent::Record;
use tailback_net::frame::EndpointId;
use tailback_scenario::{Flow, Measurement, Run, Workload};
use tailback_units::{Duration, Time};
use tailback_wire::plan;

use super::results::{self, Records, at, is_sender, listening};
use super::tasks::kernel_ns;
use super::to_world;
use crate::workload::Request;
use crate::world::{Told, ToldBySender, World};

/// Times at which guests look at their connections, on the world's clock: the window's ends and
/// those of the intervals.
fn looks(spec: &Measurement) -> BTreeSet<Time> {
    let step = spec.interval.as_ps().max(1) as usize;
    let steps = (spec.begin.as_ps()..spec.end.as_ps()).step_by(step);
    let steps = steps.map(Time::from_ps);
    steps.chain([spec.load.0, spec.load.1, spec.end]).collect()
}

/// When guests look at their connections, and when at what their kernels count too, on the kernels' clock.
pub(super) fn looks_ns(run: &Run) -> (Vec<u64>, Vec<u64>) {
    let once = |at: Time| (vec![kernel_ns(at)], vec![kernel_ns(at)]);
    match &run.workload {
        Workload::Bulk(bulk) if !bulk.omit.is_zero() => once(bulk.begin()),
        Workload::RequestResponse(spec) if !spec.omit.is_zero() => once(spec.begin()),
        other => other
            .measurement(run.seed, &run.network)
            .map(|spec| {
                let all = looks(&spec).into_iter().map(kernel_ns).collect();
                (all, [spec.load.0, spec.load.1].map(kernel_ns).to_vec())
            })
            .unwrap_or_default(),
    }
}

/// What guests saw of each of these flows at the times at which they looked; `sends` is the end that sends.
fn looked(flows: &[Flow], sends: u32, records: &Records) -> BTreeMap<usize, BTreeMap<Time, Told>> {
    let mut told: BTreeMap<usize, BTreeMap<Time, Told>> = BTreeMap::new();
    for (host, records) in records {
        for record in records {
            let Record::Look {
                local,
                peer,
                time_ns,
                read_bytes,
                tcp_info,
            } = record
            else {
                continue;
            };
            let number = listening(*local, *peer) as usize;
            let Some(flow) = flows.get(number) else {
                continue;
            };
            let looks = told.entry(number).or_default();
            let look = looks.entry(look_time(*time_ns)).or_default();
            if [flow.source, flow.destination][sends as usize] == *host {
                look.sender = Some(ToldBySender::of(tcp_info));
            } else {
                look.read_bytes = Some(*read_bytes);
            }
        }
    }
    told
}

/// Puts into the world what guests had counted of their flows when it began to count.
pub(super) fn fill_omitted(world: &mut World, flows: &[Flow], records: &Records) {
    for (flow, looks) in looked(flows, world.workload.sender(), records) {
        // They looked once.
        for told in looks.into_values() {
            world.told_at_begin(flow, &told);
            world.workload.omitted_outside(told.read_bytes.unwrap_or(0));
        }
    }
}

/// Puts into the world what guests told of a measured window.
pub(super) fn fill_window(world: &mut World, spec: &Measurement, records: &Records) {
    let ends = [spec.load.0, spec.load.1];
    let flows: Vec<Flow> = spec.flows.iter().map(|one| one.flow).collect();
    let mut pings = Vec::new();
    for records in records.values() {
        let mut counters = Vec::new();
        for record in records {
            match record {
                Record::LookedCounters { counters: read, .. } => counters.push(read),
                _ => pings.extend(request(record)),
            }
        }
        if let ([first, .., last], Some(whole)) =
            (counters.as_slice(), world.transactions.first_mut())
        {
            let count = |name: &str| {
                let of =
                    |counters: &BTreeMap<String, u64>| counters.get(name).copied().unwrap_or(0);
                of(last).saturating_sub(of(first))
            };
            whole.counted.retransmissions += count("Tcp.RetransSegs");
            whole.counted.timeouts += count("TcpExt.TCPTimeouts");
            whole.counted.fast_recoveries +=
                count("TcpExt.TCPSackRecovery") + count("TcpExt.TCPRenoRecovery");
        }
    }
    let mut told = looked(&flows, world.workload.sender(), records);
    // What came after the last look at a connection that was reset.
    for end in results::flows(records).filter(|end| !is_sender(end, world.workload.sender())) {
        let number = results::number(end) as usize;
        if number >= flows.len() {
            continue;
        }
        let looks = told.entry(number).or_default();
        looks.entry(at(end.last_byte_ns)).or_default().read_bytes = Some(end.read_bytes);
    }
    for (flow, looks) in told {
        if flow < world.begun_flows() {
            world.told_of_flow(flow, &looks, ends);
        }
    }
    world.workload.pinged_outside(pings);
}

/// The time on the world's clock, to the nanosecond, for which a guest was told to look.
fn look_time(ns: u64) -> Time {
    to_world(Time::from_ps(ns * 1000))
}

/// A ping, as a guest told of it.
fn request(record: &Record) -> Option<Request> {
    let Record::Ping {
        line,
        sequence,
        sent_ns,
        rtt_ns,
    } = record
    else {
        return None;
    };
    Some(Request {
        sent: at(*sent_ns),
        pair: *line as usize,
        sequence: *sequence,
        rtt: rtt_ns.map(|ns| Duration::from_ps(ns * 1000)),
    })
}

/// Puts into the world what guests told of pings.
pub(super) fn fill_pings(world: &mut World, records: &Records) {
    let requests = records.values().flatten().filter_map(request);
    world.workload.requested_outside(requests);
}

/// Puts into the world what guests told of datagrams. One that never came and was not seen to be lost
/// on its way to the host's memory was lost at the socket.
pub(super) fn fill_datagrams(world: &mut World, records: &Records) {
    let number = |port: u16| usize::from(port.saturating_sub(plan::FIRST_PORT)) / 2;
    let told = || records.values().flatten();
    for record in told() {
        if let Record::UdpSent {
            peer,
            datagrams,
            refused,
            ..
        } = record
            && let Some(flow) = world.datagrams.get_mut(number(peer.port()))
        {
            flow.sent = (datagrams + refused) as u32;
        }
    }
    for record in told() {
        let Record::UdpReceived {
            port,
            datagrams,
            lost,
            duplicates,
            missing,
            late,
            jitter_ns,
            delays,
            ended_ns,
            ..
        } = record
        else {
            continue;
        };
        let number = number(*port);
        let Some(flow) = world.datagrams.get_mut(number) else {
            continue;
        };
        let different = datagrams - duplicates;
        flow.received = *datagrams as u32;
        flow.reordered = late.iter().map(|number| *number as u32).collect();
        flow.jitter_ps = jitter_ns * 1000;
        flow.delays.join(delays);
        flow.last_read = at(*ended_ns);
        let end = different + lost;
        let rest = (end, u64::from(flow.sent).saturating_sub(end));
        let runs = std::mem::take(&mut world.ledger.lost[number]);
        let mut places = BTreeMap::new();
        for run in runs {
            places.extend((run.first..run.first + run.count).map(|number| (number, run.place)));
        }
        let to = EndpointId(2 * number as u32 + 1);
        for (first, count) in missing.iter().copied().chain([rest]) {
            for number in first as u32..(first + count) as u32 {
                let place = places.get(&number).copied().unwrap_or("socket");
                world.ledger.lose(to, number, place);
            }
        }
    }
}
