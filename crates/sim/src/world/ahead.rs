//! Looking ahead: what the next events need is fetched from memory before they come.
//!
//! Changes nothing but the time a run takes. In a large world every event would wait for memory
//! several times over: its link, the frame in front there, then the switch's port or the connection. The
//! events of a day are known in order, so each of these is asked for some events ahead, once what
//! leads to it is there.

use prefetch_index::prefetch_index;

use super::World;
use super::network::{Sink, SwitchBuffer};

/// So many events ahead a link is fetched, …
const LINK: usize = 6;
/// … then the frames in front of it, …
const FRONT: usize = 4;
/// … then where the first of them goes.
const GOAL: usize = 2;

impl World {
    /// Fetches what the events to come need.
    #[inline]
    pub(super) fn fetch_ahead(&self) {
        if let Some(rank) = self.calendar.upcoming(LINK) {
            prefetch_index(&self.links, rank as usize);
        }
        if let Some(rank) = self.calendar.upcoming(FRONT) {
            self.fetch_front(rank);
        }
        if let Some(rank) = self.calendar.upcoming(GOAL) {
            self.fetch_goal(rank);
        }
    }

    fn fetch_front(&self, rank: u32) {
        if let Some(state) = self.links.get(rank as usize) {
            state.link.prefetch_next();
        }
    }

    fn fetch_goal(&self, rank: u32) {
        let Some(state) = self.links.get(rank as usize) else {
            return;
        };
        let Some(flight) = state.link.next() else {
            return;
        };
        match state.sink {
            Sink::Switch { switch, .. } => {
                let state = &self.switches[usize::from(switch)];
                let routes = &state.routes;
                let port = routes.port(&self.attachments, flight.destination.0, flight.to.0);
                prefetch_index(&state.ports, usize::from(port));
                if let SwitchBuffer::Shared(buffer) = &state.buffer {
                    buffer.prefetch(port);
                }
                let out_link = state.ports[usize::from(port)].out_link;
                prefetch_index(&self.links, out_link as usize);
            }
            Sink::Host { .. } => {
                self.frames.prefetch(flight.frame);
                let endpoint = &self.endpoints[flight.to.0 as usize];
                if let Some(connection) = &endpoint.connection {
                    connection.prefetch();
                }
            }
            Sink::Onward { .. } | Sink::Outside { .. } => {}
        }
    }
}
