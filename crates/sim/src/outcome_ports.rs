//! The table `ports`: what each port of a network that queues and pushes back has seen.

use tailback_net::flow_control::Paused;
use tailback_units::{Duration, Time};

use crate::tables::Table;
use crate::world::{Card, SwitchBuffer, World};

/// One port of a switch, or one host's card.
#[derive(Default)]
struct Row {
    place: String,
    link: String,
    drops: u64,
    marks: u64,
    queue_bytes_max: u64,
    pauses_sent: u64,
    pauses_received: u64,
    paused: Duration,
    congestion_messages: u64,
}

/// The table, of runs in which any switch has queues of that kind or any card speaks DCQCN.
pub(crate) fn table(world: &World) -> Option<Table> {
    let mut rows = Vec::new();
    for switch in &world.switches {
        let SwitchBuffer::Queued(queues) = &switch.buffer else {
            continue;
        };
        for (number, (port, own)) in switch.ports.iter().zip(&queues.ports).enumerate() {
            let (pauses_received, paused) = counted(world, &own.paused);
            rows.push(Row {
                place: format!("{}:{number}", switch.name),
                link: world.links[port.out_link as usize].name().to_string(),
                drops: port.dropped(),
                marks: port.marked,
                queue_bytes_max: port.queued_bytes_max,
                pauses_sent: queues.watch.as_ref().map_or(0, |w| w.sent(number as u16)),
                pauses_received,
                paused,
                congestion_messages: own.notices,
            });
        }
    }
    let mut cards = world.pushback.iter().flat_map(|p| &p.cards);
    let speaks = |card: &Card| card.speaks_dcqcn() || card.qdisc.is_some();
    if rows.is_empty() && !cards.any(speaks) {
        return None;
    }
    let stops = world.pushback.as_ref().is_some_and(|p| p.stops);
    let cards = world.pushback.iter().flat_map(|p| &p.cards);
    for (host, card) in world.hosts.iter().zip(cards) {
        if !stops && card.qdisc.is_none() {
            continue;
        }
        let (pauses_received, paused) = counted(world, &card.port.paused);
        let mut row = Row {
            place: host.name.clone(),
            link: world.links[host.uplink as usize].name().to_string(),
            drops: host.queue.refused().frames,
            pauses_received,
            paused,
            congestion_messages: card.cnps(),
            ..Row::default()
        };
        if let Some(interface) = &card.qdisc {
            let lost = interface.qdisc.losses().map(|(_, lost)| lost.frames);
            row.drops += lost.sum::<u64>();
            row.marks = interface.qdisc.marked();
            row.queue_bytes_max = interface.qdisc.bytes_max();
        }
        rows.push(row);
    }
    let count = |value: fn(&Row) -> u64| rows.iter().map(value);
    // Of the whole run: a workload may be measured in a part of it.
    let whole_s = world.now.since(Time::ZERO).as_secs_f64().max(1e-12);
    let percent = |row: &Row| 100.0 * row.paused.as_secs_f64() / whole_s;
    Some(
        Table::new("ports")
            .names("place", rows.iter().map(|r| r.place.clone()))
            .names("link", rows.iter().map(|r| r.link.clone()))
            .counts("drops", count(|r| r.drops))
            .counts("marks", count(|r| r.marks))
            .counts("queue_bytes_max", count(|r| r.queue_bytes_max))
            .counts("pauses_sent", count(|r| r.pauses_sent))
            .counts("pauses_received", count(|r| r.pauses_received))
            .measures("paused_ms", rows.iter().map(|r| r.paused.as_ms_f64()))
            .measures("paused_percent", rows.iter().map(percent))
            .counts("congestion_messages", count(|r| r.congestion_messages)),
    )
}

fn counted(world: &World, paused: &Paused) -> (u64, Duration) {
    paused.counted(world.now)
}
