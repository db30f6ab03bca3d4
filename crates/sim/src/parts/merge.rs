//! Parts put together into one world, which goes on where they stopped.
//!
//! All have handled every event before one time, and none after it.

use tailback_net::frame::EndpointId;

use super::cut::Cut;
use super::mail::take_flying;
use crate::workload::Workload;
use crate::world::{Sink, World};

/// One world of all parts.
pub(super) fn merge(mut parts: Vec<World>, cut: &Cut) -> World {
    join_links(&mut parts, cut);
    // One that has had nothing to do has not looked.
    let now = parts.iter().map(|part| part.now).max();
    for part in &mut parts {
        part.reroute_until(now.unwrap_or_default());
    }
    let mut others = parts.drain(..);
    // There are at least two.
    let Some(mut whole) = others.next() else {
        unreachable!("a cut has parts")
    };
    for (number, mut part) in (1..).zip(others) {
        take_components(&mut whole, &mut part, (cut, number));
        take_counts(&mut whole, part, (cut, number));
    }
    whole.ledger.outbox = None;
    debug_assert!(!whole.hosts.iter().any(|host| host.outside));
    whole
}

/// Links become one: what sends into them is with the part they leave, what flies on them with the one they
/// lead to. All end up in the first part.
fn join_links(parts: &mut [World], cut: &Cut) {
    for link in 0..parts[0].links.len() {
        let [from, to] = cut.of_link(link);
        if from == 0 && to == 0 {
            continue;
        }
        let flying = take_flying(&mut parts[to], link);
        if let ([whole, ..], [part, ..]) = parts.split_at_mut(from.max(1))
            && from > 0
        {
            std::mem::swap(&mut whole.links[link], &mut part.links[link]);
        }
        let whole = &mut parts[0];
        let state = &mut whole.links[link];
        state.plain |= from != to;
        let polled = matches!(state.sink, Sink::Polled { .. });
        for (at, frame) in flying {
            let flight = whole.frames.put(at, &frame);
            // Its event is among those that the calendars hold: its own, or that of the host which polls.
            if polled {
                state.link.launch_for_poll(flight);
            } else {
                state.link.launch(flight);
            }
        }
    }
}

/// Hosts, switches and endpoints of a part, and the events of all its components.
fn take_components(whole: &mut World, part: &mut World, (cut, number): (&Cut, usize)) {
    for host in (0..whole.hosts.len()).filter(|host| cut.of_host(*host) == number) {
        std::mem::swap(&mut whole.hosts[host], &mut part.hosts[host]);
        if let Some(spread) = &mut whole.hosts[host].spread {
            spread.move_frames(&mut part.frames, &mut whole.frames);
        }
        whole.lead.take(&mut part.lead, host);
    }
    for switch in (0..whole.switches.len()).filter(|switch| cut.of_switch(*switch) == number) {
        std::mem::swap(&mut whole.switches[switch], &mut part.switches[switch]);
    }
    let ends = whole.endpoints.iter_mut().zip(&mut part.endpoints);
    for (end, own) in ends.filter(|(end, _)| cut.of_host(usize::from(end.host.0)) == number) {
        std::mem::swap(end, own);
    }
    while let Some(event) = part.calendar.pop() {
        let rank = event.rank;
        let owner = if (rank as usize) < whole.links.len() {
            cut.of_link(rank as usize)[1]
        } else if rank >= whole.first_timer {
            let EndpointId(id) = EndpointId(rank - whole.first_timer);
            cut.of_host(usize::from(whole.endpoints[id as usize].host.0))
        } else {
            // The workload's alarm, which every part has: the first one's stays.
            continue;
        };
        if owner == number {
            whole.calendar.schedule(rank, event.at);
        }
    }
}

/// What a part has counted.
fn take_counts(whole: &mut World, part: World, (cut, number): (&Cut, usize)) {
    whole.now = whole.now.max(part.now);
    whole.hops += part.hops;
    whole.events += part.events;
    whole.trajectory = whole.trajectory.wrapping_add(part.trajectory);
    whole.ledger.sent += part.ledger.sent;
    whole.ledger.delivered += part.ledger.delivered;
    whole.retired += part.retired;
    whole.lead.join(&part.lead);
    whole.flows.extend(part.flows);
    whole.sources.extend(part.sources);
    if let (Workload::Flows(app), Workload::Flows(other)) = (&mut whole.workload, &part.workload) {
        app.join(other, |host| cut.of_host(host) == number);
    }
}
