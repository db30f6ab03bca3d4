//! The books: what hosts sent, what reached them, what was lost and where.
//!
//! At the end of every run frames and payload bytes sent must equal those delivered, dropped and
//! on their way, and what applications read must be what was written.

use tailback_net::frame::{EndpointId, HostId};
use tailback_net::loss::Losses;
use tailback_net::pool::{Flight, FramePool};
use tailback_net::switch::DropCause;
use tailback_tcp::Shortage;

use super::World;
use super::hosts::HostState;
use super::network::SwitchBuffer;
use crate::SimError;
use crate::capture::Capture;
use crate::parts::Outbox;

/// Frames and the payload in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Tally {
    pub(crate) frames: u64,
    /// Keeps them apart: two counters side by side would be moved to wide registers and back at every frame.
    apart: u64,
    pub(crate) payload_bytes: u64,
}

impl Tally {
    /// So many frames, with so much payload in all of them.
    pub(crate) const fn of(frames: u64, payload_bytes: u64) -> Tally {
        Tally {
            frames,
            apart: 0,
            payload_bytes,
        }
    }

    #[inline]
    pub(crate) fn count(&mut self, frame: &Flight) {
        self.frames += 1;
        self.payload_bytes += u64::from(frame.payload_bytes);
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, more: Tally) {
        self.frames += more.frames;
        self.payload_bytes += more.payload_bytes;
    }
}

/// What has been sent, delivered and dropped outside of switches and links.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) sent: Tally,
    pub(crate) delivered: Tally,
    /// Frames that links have made a second time, which are sent too.
    pub(crate) doubled: Tally,
    /// By flow of datagrams, if the workload is those: runs of them lost at one place.
    pub(crate) lost: Vec<Vec<LostRun>>,
    /// The frames themselves, if they are wanted.
    pub(crate) capture: Option<Box<Capture>>,
    /// What leaves this part of the network for others, if it is one of several.
    pub(crate) outbox: Option<Box<Outbox>>,
}

/// Datagrams in a row that were lost at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LostRun {
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) place: &'static str,
}

/// A place where frames were lost, why, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DropRow {
    pub(crate) place: String,
    pub(crate) cause: &'static str,
    pub(crate) lost: Losses,
}

impl Ledger {
    /// Empty books, and a capture if one is wanted.
    pub(crate) fn new(capture: Option<Box<Capture>>) -> Ledger {
        Ledger {
            capture,
            ..Ledger::default()
        }
    }

    /// A frame is lost; if it is a datagram, it is remembered where.
    #[cold]
    pub(crate) fn lose_frame(&mut self, frame: &Flight, frames: &FramePool, place: &'static str) {
        if !self.lost.is_empty() {
            self.lose(frame.to, frames.header(frame.frame).seq.0, place);
        }
    }

    /// A datagram of the flow of `end` is lost.
    #[cold]
    pub(crate) fn lose(&mut self, end: EndpointId, number: u32, place: &'static str) {
        let Some(runs) = self.lost.get_mut((end.0 / 2) as usize) else {
            return;
        };
        match runs.last_mut() {
            Some(run) if run.place == place && run.first + run.count == number => run.count += 1,
            _ => runs.push(LostRun {
                first: number,
                count: 1,
                place,
            }),
        }
    }

    /// Datagrams of a flow that were lost at a place.
    pub(crate) fn lost_at(&self, flow: usize, place: &str) -> u64 {
        let runs = self.lost.get(flow).map_or(&[][..], Vec::as_slice);
        let here = runs.iter().filter(|run| run.place == place);
        here.map(|run| u64::from(run.count)).sum()
    }
}

impl World {
    /// Checks that nothing was made or lost unseen; the error says what does not add up.
    pub(crate) fn check_conservation(&self) -> Result<(), SimError> {
        let mut accounted = self.ledger.delivered;
        let mut underway = 0;
        let mut add = |frames: u64, payload_bytes: u64| {
            accounted.frames += frames;
            accounted.payload_bytes += payload_bytes;
        };
        for (_, lost) in self.hosts.iter().flat_map(HostState::received_in_vain) {
            add(lost.frames, lost.payload_bytes);
        }
        for state in self.hosts.iter().filter_map(|h| h.machine.as_ref()) {
            for frame in state.waiting_frames() {
                underway += 1;
                add(1, u64::from(frame.payload_bytes));
            }
        }
        for state in &self.links {
            let lost = state.link.lost();
            add(lost.frames, lost.payload_bytes);
            for frame in state.link.flying() {
                underway += 1;
                add(1, u64::from(frame.payload_bytes));
            }
        }
        let spread = self.hosts.iter().filter_map(|host| host.spread.as_ref());
        for frame in spread.flat_map(|spread| spread.flying()) {
            underway += 1;
            add(1, u64::from(frame.payload_bytes));
        }
        for switch in &self.switches {
            for lost in switch.ports.iter().flat_map(|port| *port.drops) {
                add(lost.frames, lost.payload_bytes);
            }
            let mut add_waiting = |frame: &Flight| {
                underway += 1;
                add(1, u64::from(frame.payload_bytes));
            };
            match &switch.buffer {
                SwitchBuffer::Shared(_) => {}
                SwitchBuffer::Voq(buffer) => buffer.waiting().for_each(&mut add_waiting),
                SwitchBuffer::Queued(queues) => queues.buffer.waiting().for_each(&mut add_waiting),
            }
        }
        let cards = self.pushback.iter().flat_map(|p| &p.cards);
        for frame in cards.flat_map(|card| card.port.waiting()) {
            underway += 1;
            add(1, u64::from(frame.payload_bytes));
        }
        // What waits under a host's own discipline has not been sent yet.
        let interfaces = self.interfaces_with_qdisc();
        underway += interfaces
            .map(|one| one.qdisc.waiting().count())
            .sum::<usize>();
        if underway != self.frames.len() {
            return Err(SimError::Conservation(format!(
                "{} frames are held, but {underway} are on their way",
                self.frames.len()
            )));
        }
        if accounted != self.ledger.sent {
            return Err(SimError::Conservation(format!(
                "hosts sent {:?}, but delivered, dropped and on their way are {accounted:?}",
                self.ledger.sent
            )));
        }
        self.check_streams()
    }

    /// Every byte an application read was written at the other end, and none is missing between
    /// what was acknowledged and what was received.
    fn check_streams(&self) -> Result<(), SimError> {
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            let peer = &self.endpoints[endpoint.peer.0 as usize];
            let is_outside = |host: HostId| self.hosts[usize::from(host.0)].outside;
            if is_outside(endpoint.host) || is_outside(peer.host) {
                continue;
            }
            // TCP reads nothing twice; of datagrams both copies are read.
            let again = match self.is_of_datagrams(EndpointId(index as u32)) {
                true => self.ledger.doubled.payload_bytes,
                false => 0,
            };
            if endpoint.read_bytes > peer.written_bytes + again {
                return Err(SimError::Conservation(format!(
                    "endpoint {index} read {} bytes of the {} its peer wrote",
                    endpoint.read_bytes, peer.written_bytes
                )));
            }
            let acknowledged = peer.connection.as_ref().map_or(0, |c| {
                let fin = u64::from(!c.life().may_write());
                c.stats().bytes_acked.saturating_sub(fin)
            });
            let received =
                endpoint.read_bytes + endpoint.connection.as_ref().map_or(0, |c| c.readable());
            if acknowledged > received {
                return Err(SimError::Conservation(format!(
                    "endpoint {index} acknowledged {acknowledged} bytes but received {received}"
                )));
            }
        }
        Ok(())
    }

    /// What the receive queues of each host's connections did for want of memory.
    pub(crate) fn shortages(&self) -> Vec<Shortage> {
        let mut all: Vec<Shortage> = self.hosts.iter().map(|host| host.shortage).collect();
        for endpoint in &self.endpoints {
            if let Some(connection) = &endpoint.connection {
                all[usize::from(endpoint.host.0)].add(&connection.shortage());
            }
        }
        all
    }

    /// Every place that lost frames. What a socket or TCP's receive queue threw away had been
    /// delivered to it; all other rows are what conservation finds missing.
    pub(crate) fn drop_rows(&self) -> Vec<DropRow> {
        let mut rows = Vec::new();
        let mut row = |place: String, cause, lost: Losses| {
            if lost.frames > 0 {
                rows.push(DropRow { place, cause, lost });
            }
        };
        for switch in &self.switches {
            for (number, port) in switch.ports.iter().enumerate() {
                for cause in DropCause::ALL {
                    row(
                        format!("{}:{number}", switch.name),
                        cause.name(),
                        port.drops[cause as usize],
                    );
                }
            }
        }
        for state in &self.links {
            for (cause, lost) in state.link.losses() {
                row(state.name().to_string(), cause, lost);
            }
        }
        for host in &self.hosts {
            for (cause, lost) in host.received_in_vain() {
                row(host.name.clone(), cause, lost);
            }
            row(host.name.clone(), "tx-queue-full", host.queue.refused());
        }
        for (host, card) in self
            .hosts
            .iter()
            .zip(self.pushback.iter().flat_map(|p| &p.cards))
        {
            for (cause, lost) in card.qdisc.iter().flat_map(|one| one.qdisc.losses()) {
                row(host.name.clone(), cause.name(), lost);
            }
        }
        let lost = |frames, payload_bytes| Losses {
            frames,
            data_frames: frames,
            payload_bytes,
        };
        for (host, shortage) in self.hosts.iter().zip(self.shortages()) {
            let pruned = lost(shortage.pruned_frames, shortage.pruned_bytes);
            row(host.name.clone(), "tcp-prune", pruned);
            let refused = lost(shortage.refused_frames, shortage.refused_bytes);
            row(host.name.clone(), "tcp-queue-full", refused);
        }
        let mut sockets = vec![Losses::default(); self.hosts.len()];
        for (number, flow) in self.datagrams.iter().enumerate() {
            let frames = self.ledger.lost_at(number, "socket");
            let host = self.endpoints[2 * number + 1].host;
            sockets[usize::from(host.0)] += lost(frames, frames * u64::from(flow.payload_bytes));
        }
        for (host, lost) in self.hosts.iter().zip(sockets) {
            row(host.name.clone(), "socket-full", lost);
        }
        rows
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
