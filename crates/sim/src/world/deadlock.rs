//! Links that have stopped one another for good.
//!
//! A transmitter is stuck if a switch stops it on account of frames that only stuck transmitters
//! could take away: more of them than the low watermark. Those who are found so twice in a row,
//! half of a PAUSE frame's time apart, and have sent nothing in between, are a deadlock; the run
//! ends with the cycle's name. Frames held back by one of another class in the same band are taken
//! to be free to go: a deadlock by those alone is not found.

use std::collections::BTreeSet;

use tailback_net::flow_control::Watch;

use super::World;
use super::network::{Sink, SwitchBuffer};

/// A class at a port of a switch.
type Transmitter = (u16, u16, u8);

impl World {
    /// Looks whether PAUSE has stopped a cycle of links, and ends the run if so.
    pub(super) fn look_for_deadlock(&mut self) {
        let mut stuck: BTreeSet<Transmitter> = BTreeSet::new();
        for switch in 0..self.switches.len() as u16 {
            for port in 0..self.switches[usize::from(switch)].ports.len() as u16 {
                let classes = (0..8).map(|class| (switch, port, class));
                stuck.extend(classes.filter(|t| !self.stopped_by(*t, None).is_empty()));
            }
        }
        loop {
            let (kept, freed): (BTreeSet<_>, BTreeSet<_>) = stuck
                .iter()
                .partition(|t| !self.stopped_by(**t, Some(&stuck)).is_empty());
            stuck = kept;
            if freed.is_empty() {
                break;
            }
        }
        let suspects: Vec<(u16, u16, u64)> = stuck
            .iter()
            .map(|(switch, port, _)| (*switch, *port, self.sent_by(*switch, *port)))
            .collect();
        let Some(pushback) = &mut self.pushback else {
            return;
        };
        let before = std::mem::replace(&mut pushback.suspects, suspects);
        if !before.is_empty() && before == pushback.suspects {
            let cycle = self.cycle(&stuck);
            let classes = stuck.iter().any(|t| self.stops_classes(*t));
            if let Some(pushback) = &mut self.pushback {
                pushback.deadlock = Some((cycle, classes));
            }
            self.done = true;
        }
    }

    fn sent_by(&self, switch: u16, port: u16) -> u64 {
        match &self.switches[usize::from(switch)].buffer {
            SwitchBuffer::Queued(queues) => queues.ports[usize::from(port)].sent,
            _ => 0,
        }
    }

    /// Whether the switch that a transmitter sends to stops classes, not links.
    fn stops_classes(&self, (switch, port, _): Transmitter) -> bool {
        let link = self.switches[usize::from(switch)].ports[usize::from(port)].out_link;
        let Sink::Switch { switch, .. } = self.links[link as usize].sink else {
            return false;
        };
        match &self.switches[usize::from(switch)].buffer {
            SwitchBuffer::Queued(queues) => queues.watch.as_ref().is_some_and(Watch::by_class),
            _ => false,
        }
    }

    /// The transmitters of the next switch that would have to send before this one may; with `stuck`
    /// those only, and none if others suffice.
    fn stopped_by(
        &self,
        (switch, port, class): Transmitter,
        stuck: Option<&BTreeSet<Transmitter>>,
    ) -> Vec<Transmitter> {
        let link = self.switches[usize::from(switch)].ports[usize::from(port)].out_link;
        let Sink::Switch { switch, port } = self.links[link as usize].sink else {
            return Vec::new();
        };
        let SwitchBuffer::Queued(queues) = &self.switches[usize::from(switch)].buffer else {
            return Vec::new();
        };
        let Some(watch) = &queues.watch else {
            return Vec::new();
        };
        for reason in watch.reasons(port, class) {
            let mut bytes = 0;
            let mut held_by = BTreeSet::new();
            for (out_port, held) in queues.buffer.held() {
                let counts = watch.place_of(held.in_port, out_port, held.frame.class);
                let own = (switch, out_port, held.frame.class);
                if counts == Some(reason.place) && stuck.is_none_or(|s| s.contains(&own)) {
                    bytes += u64::from(held.frame.frame_bytes);
                    held_by.insert(own);
                }
            }
            if bytes > reason.low_bytes {
                return held_by.into_iter().collect();
            }
        }
        Vec::new()
    }

    /// The names of the links of a cycle among stuck transmitters.
    fn cycle(&self, stuck: &BTreeSet<Transmitter>) -> String {
        let Some(mut at) = stuck.first().copied() else {
            return String::new();
        };
        let mut way = vec![at];
        let from = loop {
            let Some(next) = self.stopped_by(at, Some(stuck)).first().copied() else {
                break 0;
            };
            if let Some(seen) = way.iter().position(|t| *t == next) {
                break seen;
            }
            way.push(next);
            at = next;
        };
        let name = |(switch, port, _): &Transmitter| {
            let port = &self.switches[usize::from(*switch)].ports[usize::from(*port)];
            self.links[port.out_link as usize].name().to_string()
        };
        let names: Vec<String> = way[from..].iter().map(name).collect();
        names.join(", ")
    }
}
