//! What crosses from one part to another: frames on links that were cut, and word between the two ends
//! of a flow.

use tailback_net::frame::{EndpointId, Frame};
use tailback_net::pool::{Flight, FramePool};
use tailback_units::Time;

use crate::world::World;

/// What one part has for another.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    /// Frames, with their links and when they land, in the order of each link.
    frames: Vec<(Time, u32, Frame)>,
    /// Applications to be woken, and when.
    wakes: Vec<(Time, EndpointId)>,
}

impl Mail {
    /// When the earliest of it is to be handled; never if there is none.
    pub(super) fn next(&self) -> Time {
        let frames = self.frames.iter().map(|(at, ..)| *at);
        let wakes = self.wakes.iter().map(|(at, _)| *at);
        frames.chain(wakes).min().unwrap_or(Time::NEVER)
    }

    /// Hands it to the part it is for; empty afterwards.
    pub(super) fn deliver(&mut self, world: &mut World) {
        for (at, link, frame) in self.frames.drain(..) {
            let flight = world.frames.put(at, &frame);
            if world.links[link as usize].link.launch(flight) {
                world.calendar.schedule(link, at);
            }
        }
        for (at, endpoint) in self.wakes.drain(..) {
            world.wake_app_at(endpoint, at);
        }
    }
}

/// What a part has for the others, since they last met.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    /// By link: the part it leads to, if that is another.
    pub(super) links: Vec<Option<u8>>,
    /// By host: the part it is in.
    pub(super) hosts: Vec<u8>,
    pub(super) own: u8,
    /// By part.
    pub(super) mail: Vec<Mail>,
}

impl Outbox {
    /// Takes a frame that lands at `at`, if its link leads to another part.
    pub(crate) fn take(
        &mut self,
        link: u32,
        at: Time,
        flight: &Flight,
        frames: &FramePool,
    ) -> bool {
        let Some(part) = self.links[link as usize] else {
            return false;
        };
        self.mail[usize::from(part)]
            .frames
            .push((at, link, frames.frame(flight)));
        true
    }

    /// Takes word for an endpoint of a host, if that is in another part.
    pub(crate) fn tell(&mut self, host: u16, endpoint: EndpointId, at: Time) -> bool {
        let part = self.hosts[usize::from(host)];
        if part != self.own {
            self.mail[usize::from(part)].wakes.push((at, endpoint));
        }
        part != self.own
    }
}

/// A link's frames, taken out of a part.
pub(super) fn take_flying(world: &mut World, link: usize) -> Vec<(Time, Frame)> {
    let mut taken = Vec::new();
    let pool: &mut FramePool = &mut world.frames;
    while let Some(flight) = world.links[link].link.take_next() {
        taken.push((flight.at, pool.frame(&flight)));
        pool.release(flight.frame);
    }
    taken
}
