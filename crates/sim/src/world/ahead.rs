//! Looking ahead: what the next events need is fetched from memory before they come.
//!
//! Changes nothing but the time a run takes. In a large world every event would wait for memory
//! several times over: its link, the frame in front there, then the switch's port or the connection. The
//! events of a day are known in order, so each of these is asked for some events ahead, once what
//! leads to it is there.

use prefetch_index::prefetch_index;
use tailback_net::pool::Flight;
use tailback_tcp::Connection;

use super::World;
use super::network::{Sink, SwitchBuffer, SwitchState};

/// So many connections are in the processor's cache, and need not be fetched ahead.
const CACHED: usize = 256;
/// From so many links on what a frame leads to is out of the cache too, and it pays to look at it thrice.
const VAST: usize = 8192;
/// So many events ahead the way of the frame in front is fetched, …
const WAY: usize = 10;
/// … then the books of the port that leads to, or the connection it is for, …
const PORT: usize = 7;
/// … then the link there, or the host's own and the queues of the connection.
const GOAL: usize = 4;
/// So many frames behind the next of those that are handled one after the other the end is fetched that one is for, …
const END: usize = 4;
/// … and the connection there.
const CONNECTION: usize = 1;

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
                if self.lead.is_on() && routes.is_last(&self.attachments, flight.destination.0) {
                    self.fetch_end(flight);
                }
            }
            Some((flight, Sink::Host { .. })) => self.fetch_end(flight),
            _ => {}
        }
    }

    /// What hosts need may not be in the processor's cache.
    #[inline(always)]
    pub(super) fn is_large(&self) -> bool {
        self.frames.is_large() || self.endpoints.len() > CACHED
    }

    /// Fetches what the next frame of a link to a host needs.
    #[inline(never)]
    pub(super) fn fetch_next(&self, rank: u32) {
        let Some(next) = self.links[rank as usize].link.next() else {
            return;
        };
        if self.frames.is_large() {
            self.frames.prefetch(next.frame);
        }
        self.fetch_connection(next);
    }

    /// Fetches the connection that a frame is for, if it has one, which a ping has not.
    #[inline(always)]
    fn fetch_connection(&self, flight: &Flight) {
        if self.endpoints.len() > CACHED
            && let Some(connection) = self.connection_of(flight)
        {
            connection.prefetch(flight.payload_bytes > 0);
        }
    }

    /// Frames on a link will be handled one after the other: fetches the first few, and whom they are for.
    #[inline(never)]
    pub(super) fn fetch_first(&self, rank: u32) {
        for behind in 0..END {
            self.fetch_behind(rank, behind);
        }
    }

    /// One of them is handled: fetches one behind it, and whom one nearer is for.
    #[inline(never)]
    pub(super) fn fetch_more(&self, rank: u32) {
        self.fetch_behind(rank, END);
        if let Some(flight) = self.links[rank as usize].link.flying_behind(CONNECTION) {
            self.fetch_connection(flight);
        }
    }

    #[inline(always)]
    fn fetch_behind(&self, rank: u32, others: usize) {
        if let Some(flight) = self.links[rank as usize].link.flying_behind(others) {
            self.frames.prefetch(flight.frame);
            if self.endpoints.len() > CACHED {
                prefetch_index(&self.endpoints, flight.to.0 as usize);
            }
        }
    }

    /// The connection that a frame is for.
    #[inline(always)]
    fn connection_of(&self, flight: &Flight) -> Option<&Connection> {
        self.endpoints
            .get(flight.to.0 as usize)?
            .connection
            .as_deref()
    }

    /// Fetches the frame and the end that it is for.
    #[inline(always)]
    fn fetch_end(&self, flight: &Flight) {
        prefetch_index(&self.endpoints, flight.to.0 as usize);
        self.frames.prefetch(flight.frame);
        prefetch_index(&self.hosts, usize::from(flight.destination.0));
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
                if self.is_answer(flight, state) {
                    self.fetch_connection(flight);
                }
            }
            Some((flight, Sink::Host { .. })) => self.fetch_connection(flight),
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
                if self.is_answer(flight, state) {
                    self.fetch_reply(flight);
                }
            }
            Some((flight, Sink::Host { .. })) => self.fetch_reply(flight),
            _ => {}
        }
    }

    /// Whether a frame at a switch is an acknowledgement for a host there: it mostly finds its port idle, and is
    /// handled at once.
    #[inline(always)]
    fn is_answer(&self, flight: &Flight, state: &SwitchState) -> bool {
        self.lead.is_on()
            && flight.payload_bytes == 0
            && state
                .routes
                .is_last(&self.attachments, flight.destination.0)
    }

    /// What comes to a host may be replied to: fetches its link, and what the connection may send.
    #[inline(always)]
    fn fetch_reply(&self, flight: &Flight) {
        let uplink = self.hosts[usize::from(flight.destination.0)].uplink;
        self.links[uplink as usize].prefetch();
        if flight.payload_bytes == 0
            && let Some(connection) = self.connection_of(flight)
        {
            connection.prefetch_queues();
        }
    }
}
