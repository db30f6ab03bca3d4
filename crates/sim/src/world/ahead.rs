//! Looking ahead: what the next events need is fetched from memory before they come.
//!
//! Changes nothing but the time a run takes. In a large world every event would wait for memory
//! several times over: its link, the frame in front there, then the switch's port or the connection. The
//! events of a day are known in order, so each of these is asked for some events ahead, once what
//! leads to it is there.

use prefetch_index::prefetch_index;
use tailback_net::pool::Flight;

use super::World;
use super::network::{Sink, SwitchBuffer, SwitchState};

/// From so many links on what a frame leads to is out of the cache too, and it pays to look at it thrice.
const VAST: usize = 8192;
/// So many events ahead the way of the frame in front is fetched, …
const WAY: usize = 10;
/// … then the books of the port that leads to, or the connection it is for, …
const PORT: usize = 7;
/// … then the link there, or the host's own and the queues of the connection.
const GOAL: usize = 4;

impl World {
    /// Fetches what the events to come need: links a day ahead, their frames as the day begins, the rest
    /// some events before.
    #[inline(never)]
    pub(super) fn fetch_ahead(&mut self) {
        if self.calendar.take_turned() {
            self.fetch_day();
        }
        if let Some(rank) = self.calendar.upcoming(WAY) {
            self.fetch_way(rank);
        }
        // A look costs some twenty instructions and a branch that cannot be foreseen.
        if self.links.len() < VAST {
            return;
        }
        if let Some(rank) = self.calendar.upcoming(PORT) {
            self.fetch_port(rank);
        }
        if let Some(rank) = self.calendar.upcoming(GOAL) {
            self.fetch_goal(rank);
        }
    }

    fn fetch_day(&self) {
        for rank in self.calendar.next_day() {
            if let Some(state) = self.links.get(rank as usize) {
                state.prefetch();
            }
        }
        for rank in self.calendar.today() {
            if let Some(state) = self.links.get(rank as usize) {
                state.link.prefetch_next();
            }
        }
        // For the first few there is no time before.
        for rank in self.calendar.today().take(WAY) {
            self.fetch_way(rank);
        }
        if self.links.len() >= VAST {
            for rank in self.calendar.today().take(PORT) {
                self.fetch_port(rank);
            }
        }
    }

    /// The frame in front of a link, and where that leads.
    #[inline]
    fn front(&self, rank: u32) -> Option<(&Flight, Sink)> {
        let state = self.links.get(rank as usize)?;
        Some((state.link.next()?, state.sink))
    }

    #[inline]
    fn fetch_way(&self, rank: u32) {
        match self.front(rank) {
            Some((flight, Sink::Switch { switch, .. })) => {
                let routes = &self.switches[usize::from(switch)].routes;
                routes.prefetch(&self.attachments, flight.destination.0);
            }
            Some((flight, Sink::Host { .. })) => {
                prefetch_index(&self.endpoints, flight.to.0 as usize);
                self.frames.prefetch(flight.frame);
                prefetch_index(&self.hosts, usize::from(flight.destination.0));
            }
            _ => {}
        }
    }

    /// The switch that a frame goes to, and the port it leaves by.
    #[inline]
    fn port_of(&self, flight: &Flight, switch: u16) -> (&SwitchState, u16) {
        let state = &self.switches[usize::from(switch)];
        let port = state
            .routes
            .port(&self.attachments, flight.destination.0, flight.to.0);
        (state, port)
    }

    #[inline]
    fn fetch_port(&self, rank: u32) {
        match self.front(rank) {
            Some((flight, Sink::Switch { switch, .. })) => {
                let (state, port) = self.port_of(flight, switch);
                prefetch_index(&state.ports, usize::from(port));
                if let SwitchBuffer::Shared(buffer) = &state.buffer {
                    buffer.prefetch(port);
                }
            }
            Some((flight, Sink::Host { .. })) => {
                let endpoint = self.endpoints.get(flight.to.0 as usize);
                if let Some(connection) = endpoint.and_then(|e| e.connection.as_ref()) {
                    connection.prefetch(flight.payload_bytes > 0);
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn fetch_goal(&self, rank: u32) {
        match self.front(rank) {
            Some((flight, Sink::Switch { switch, .. })) => {
                let (state, port) = self.port_of(flight, switch);
                if let SwitchBuffer::Shared(buffer) = &state.buffer {
                    buffer.prefetch_departures(port);
                }
                let out_link = state.ports[usize::from(port)].out_link;
                self.links[out_link as usize].prefetch();
            }
            // What comes may be answered.
            Some((flight, Sink::Host { host, .. })) => {
                let uplink = self.hosts[usize::from(host.0)].uplink;
                self.links[uplink as usize].prefetch();
                let endpoint = self.endpoints.get(flight.to.0 as usize);
                if let Some(connection) = endpoint.and_then(|e| e.connection.as_ref())
                    && flight.payload_bytes == 0
                {
                    connection.prefetch_queues();
                }
            }
            _ => {}
        }
    }
}
