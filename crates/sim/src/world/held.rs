//! Connections that threads of a modelled machine read and write: frames in, segments out.
//!
//! What [`World::receive`] and [`World::drive`] do, in the form that such a host needs: nothing is read until a
//! thread does so, and what is sent is charged to the core that caused it. What is rare goes the general way.

use tailback_net::frame::{EndpointId, Frame};
use tailback_net::pool::Flight;
use tailback_units::Time;

use super::World;
use super::cut::{Whole, send};
use super::machines::NO_TASK;
use super::turns::schedule_launch;

impl World {
    /// TCP gets a frame at the cost of whoever is at work; `direct`: its reader copies it as it comes, and had
    /// so many bytes waiting.
    pub(super) fn handle_frame(&mut self, frame: Flight, direct: Option<u64>) {
        let now = self.now;
        let id = frame.to;
        let bytes = u64::from(frame.payload_bytes);
        let host = &mut self.hosts[usize::from(frame.destination.0)];
        if let Some(state) = &mut host.machine {
            let config = state.machine.config();
            let mut cost = config.protocol_cost();
            if let Some(buffered) = direct {
                cost += config.costs.copying(bytes, buffered);
            }
            state.machine.charge(cost);
            if state.crosses()
                && let Some(endpoint) = self.endpoints.get(id.0 as usize)
            {
                let header = self.frames.header(frame.frame);
                state.charge_handling(endpoint.task, header);
            }
        }
        let endpoint = self.endpoints.get_mut(id.0 as usize);
        let endpoint = endpoint.filter(|end| end.holds && !self.page_buffers);
        let Some(connection) = endpoint.and_then(|end| end.connection.as_mut()) else {
            self.receive_frame(frame);
            if direct.is_some() {
                self.read_some(id, bytes);
                self.drive(id);
            }
            return;
        };
        host.rewrite(&frame, &mut self.frames);
        let before = connection.collapsed_bytes();
        let segment = self.frames.segment(frame.frame);
        connection.handle_segment(now, &segment);
        let collapsed = connection.collapsed_bytes() - before;
        // What it answers may wait for what the read says, unless that costs or is told otherwise then.
        let apart = direct.is_none() || collapsed > 0 || !connection.tells_readiness_only();
        self.note_delivery(&frame);
        self.frames.release(frame.frame);
        if apart {
            self.drive_held(id);
            if collapsed > 0 {
                self.charge_copying(id, collapsed);
            }
        }
        if direct.is_some() {
            self.read_some(id, bytes);
            self.drive_held(id);
        }
    }

    /// [`World::drive`] of an endpoint that a thread uses.
    pub(super) fn drive_held(&mut self, id: EndpointId) {
        let now = self.now;
        let endpoint = &mut self.endpoints[id.0 as usize];
        let held = endpoint.holds && endpoint.task != NO_TASK && self.pushback.is_none();
        let Some(connection) = endpoint.connection.as_mut().filter(|_| held) else {
            return self.drive(id);
        };
        let Some(woken) = connection.take_readiness() else {
            return self.drive(id);
        };
        let host = usize::from(endpoint.host.0);
        let cuts = connection.cuts_packets();
        while let Some(transmit) = connection.peek_transmit(now) {
            let payload_bytes = transmit.segment.payload_bytes.into();
            let sender = &mut self.hosts[host];
            let Some(state) = &mut sender.machine else {
                break;
            };
            let cost = state.sending_cost(endpoint.task, payload_bytes);
            let at = now + state.machine.charged() + cost;
            let waiting = state.waiting(now, at, sender.queue.limit());
            if !sender
                .queue
                .admits_beside(waiting, payload_bytes, transmit.mss)
            {
                connection.handed_over(now, None, None);
                continue;
            }
            let uplink = sender.uplink;
            let link = &mut self.links[uplink as usize];
            let books = (&mut self.frames, &mut self.ledger);
            let to = (endpoint.peer, endpoint.peer_host);
            let whole = Whole {
                transmit,
                priority: endpoint.priority,
                to,
            };
            let pieces = cuts.then(|| whole.pieces(&link.link, at)).flatten();
            let (first, last) = send::<true>(link, &mut self.hosts, books, at, whole);
            if let Some(state) = &mut self.hosts[host].machine {
                state.send(now, at, last);
                state.machine.charge(cost);
            }
            connection.handed_over(now, Some(last), pieces);
            if let Some(first) = first {
                schedule_launch(&mut self.calendar, &mut self.turns, uplink, first);
            }
        }
        endpoint.arm(self.first_timer + id.0, &mut self.calendar, &mut self.lead);
        if woken {
            self.wake_thread(id);
        }
    }

    /// A thread sends a datagram, if the host's queue has room; gives when it will have left. What
    /// [`World::send_frame`] does.
    #[inline(always)]
    pub(super) fn send_held(
        &mut self,
        host: usize,
        payload_bytes: u16,
        frame: &Frame,
    ) -> Option<Time> {
        let now = self.now;
        let sender = &mut self.hosts[host];
        let Some(state) = sender.machine.as_mut().filter(|_| self.pushback.is_none()) else {
            return self.send_frame(host, *frame);
        };
        let cost = state.machine.config().costs.send(payload_bytes.into());
        let at = now + state.machine.charged() + cost;
        let waiting = state.waiting(now, at, sender.queue.limit());
        if !sender
            .queue
            .admits_beside(waiting, payload_bytes.into(), payload_bytes)
        {
            return None;
        }
        let uplink = sender.uplink;
        let link = &mut self.links[uplink as usize];
        let flight = self.frames.put(now, frame);
        self.ledger.sent.count(&flight);
        let left = link.link.transmit(at, &flight);
        let (frames, ledger) = (&mut self.frames, &mut self.ledger);
        let first = link.launch_from_machine(left, flight, frames, &mut self.hosts, ledger);
        if let Some(state) = &mut self.hosts[host].machine {
            state.send(now, at, left);
            state.machine.charge(cost);
        }
        if let Some(first) = first {
            schedule_launch(&mut self.calendar, &mut self.turns, uplink, first);
        }
        self.arm_machine(host);
        Some(left)
    }

    /// There is something for the thread of an endpoint: if it is in a call it looks again before it waits.
    #[inline(always)]
    fn wake_thread(&mut self, id: EndpointId) {
        let Some((endpoint, state)) = self.socket(id) else {
            return self.begin_call(id);
        };
        if !state.thread_mut(endpoint.task).looks_again() {
            self.begin_locked_call(id);
        }
    }
}
