//! What guests told of workloads `iperf3`, `ping` and `udp`, put into the world as if its own hosts had seen
//! it: what is counted in a window of time, and every datagram.

use std::collections::BTreeMap;

use tailback_agent::Record;
use tailback_net::frame::EndpointId;
use tailback_scenario::{Flow, Iperf3, Run};
use tailback_units::{Duration, Time};
use tailback_wire::plan;

use super::results::{Records, at, listening};
use super::to_world;
use crate::workload::Request;
use crate::world::{Told, ToldBySender, World};

/// Times at which guests look at their connections, on the world's clock: the window's ends and
/// those of its intervals.
pub(super) fn looks(spec: &Iperf3) -> Vec<Time> {
    let (begin, end) = (spec.begin(), spec.end());
    let step = spec.interval.as_ps().max(1) as usize;
    let steps = (begin.as_ps()..end.as_ps()).step_by(step);
    steps.map(Time::from_ps).chain([end]).collect()
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
pub(super) fn fill_window(world: &mut World, run: &Run, spec: &Iperf3, records: &Records) {
    let ends = [spec.begin(), spec.end()];
    let flows = spec.measurement(run.seed, &spec.order(&run.network)).flows;
    let flows: Vec<Flow> = flows.iter().map(|one| one.flow).collect();
    let mut pings = Vec::new();
    for records in records.values() {
        let mut counters = Vec::new();
        for record in records {
            match record {
                Record::LookedCounters { counters: read, .. } => counters.push(read),
                Record::Ping {
                    sent_ns, rtt_ns, ..
                } => pings.push((at(*sent_ns), rtt_ns.map(|ns| Duration::from_ps(ns * 1000)))),
                _ => {}
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
    for (flow, looks) in looked(&flows, world.workload.sender(), records) {
        if flow < world.begun_flows() {
            world.told_of_flow(flow, &looks, ends);
        }
    }
    world.workload.pinged_outside(&pings);
}

/// The time on the world's clock, to the nanosecond, for which a guest was told to look.
fn look_time(ns: u64) -> Time {
    to_world(Time::from_ps(ns * 1000))
}

/// Puts into the world what guests told of pings.
pub(super) fn fill_pings(world: &mut World, records: &Records) {
    let requests = records
        .values()
        .flatten()
        .filter_map(|record| match record {
            Record::Ping {
                line,
                sequence,
                sent_ns,
                rtt_ns,
            } => Some(Request {
                sent: at(*sent_ns),
                pair: *line as usize,
                sequence: *sequence,
                rtt: rtt_ns.map(|ns| Duration::from_ps(ns * 1000)),
            }),
            _ => None,
        });
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
