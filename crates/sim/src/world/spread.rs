//! Hosts whose card has several receive queues, each with a ring, interrupts and a CPU of its own.
//!
//! [`Scaling`] picks the queue of a frame; from there on it is what the only one of another host is: when its frames are
//! handled is known once they are on their way, so a queue has an event when its poll is over, or at each frame if the
//! host does not join them. Events of all queues have the rank of the host's link. What a connection has sent is told to
//! the interrupt of the queue that its frames come to, as on cards whose queues are pairs.
//! Left out: CPUs that several queues share; receive buffers (`rx_page`) are cut from one page for all.

use std::mem::swap;

use tailback_net::frame::{EndpointId, HostId};
use tailback_net::host::{ReceiveRing, Scaling};
use tailback_net::loss::Losses;
use tailback_net::pool::{Flight, FramePool};
use tailback_net::ring::Ring;
use tailback_scenario::Host;
use tailback_units::Time;

use super::{Gro, HostState, World};

/// The receive queues of a card that has several.
#[derive(Debug)]
pub(crate) struct Spread {
    scaling: Scaling,
    queues: Vec<Queue>,
    /// Those to which frames are on their way, a bit each.
    busy: u64,
}

/// One of them.
#[derive(Debug)]
struct Queue {
    ring: ReceiveRing,
    /// Frames on their way to it, the first first; each at the time when it is handled.
    flying: Ring<Flight>,
    gro: Option<Box<Gro>>,
    /// When it is to be looked at, if frames are on their way.
    due: Time,
}

impl Spread {
    /// The queues of a host's card, if it has several; another `key` spreads flows otherwise.
    pub(crate) fn new(host: &Host, key: u64) -> Option<Box<Spread>> {
        let config = &host.config;
        let scaling = Scaling::new(key, config.rx_queues);
        let queue = || Queue {
            ring: ReceiveRing::new(config),
            flying: Ring::default(),
            gro: config.gro.then(Box::default),
            due: Time::NEVER,
        };
        (scaling.queues() > 1).then(|| {
            Box::new(Spread {
                scaling,
                queues: (0..scaling.queues()).map(|_| queue()).collect(),
                busy: 0,
            })
        })
    }

    /// The ring that frames for an endpoint come to.
    pub(super) fn ring_of(&mut self, to: EndpointId) -> &mut ReceiveRing {
        &mut self.queues[self.scaling.queue_of(to)].ring
    }

    /// Frames on their way to the queues.
    pub(super) fn flying(&self) -> impl Iterator<Item = &Flight> {
        self.queues.iter().flat_map(|queue| queue.flying.iter())
    }

    /// Frames on their way to the queues go from one pool to another.
    pub(crate) fn move_frames(&mut self, from: &mut FramePool, to: &mut FramePool) {
        for queue in &mut self.queues {
            for index in 0..queue.flying.len() {
                let flight = queue.flying.get_mut(index);
                let moved = to.put(flight.at, &from.frame(flight));
                from.release(flight.frame);
                *flight = moved;
            }
        }
    }

    /// What was lost because rings were full.
    pub(super) fn dropped(&self) -> Losses {
        let mut dropped = Losses::default();
        for queue in &self.queues {
            dropped += queue.ring.dropped();
        }
        dropped
    }
}

impl HostState {
    /// A frame is on its way to the card and comes at its `at`: false if it finds the ring of its queue full. When the
    /// queue is to be looked at, if that is new.
    pub(super) fn come(&mut self, frame: &Flight, frames: &mut FramePool) -> (bool, Option<Time>) {
        self.rewrite(frame, frames);
        let Some(spread) = &mut self.spread else {
            return (false, None);
        };
        let number = spread.scaling.queue_of(frame.to);
        let Queue {
            ring, flying, due, ..
        } = &mut spread.queues[number];
        let first = flying.back_but(ring.all_but_one()).map(|frame| frame.at);
        let Some(at) = ring.arrive(frame.at, frame.payload_bytes, first, &mut self.stream) else {
            return (false, None);
        };
        flying.push_back(Flight { at, ..*frame });
        let wakes = flying.len() == 1;
        if wakes {
            *due = at;
            spread.busy |= 1 << number;
        }
        (true, wakes.then_some(at))
    }
}

impl World {
    /// The link of a host with several receive queues has an event: those that are due are looked at.
    pub(super) fn serve_queues(&mut self, rank: u32, host: HostId) {
        let host = usize::from(host.0);
        let mut left = self.hosts[host].spread.as_ref().map_or(0, |s| s.busy);
        while left != 0 {
            let number = left.trailing_zeros() as usize;
            left &= left - 1;
            self.serve_queue(rank, host, number);
        }
    }

    fn serve_queue(&mut self, rank: u32, host: usize, number: usize) {
        let now = self.now;
        if self.queue(host, number).is_none_or(|q| q.due > now) {
            return;
        }
        if self.hosts[host].gro.is_some() {
            // A poll is of what the host's link and the host have at hand.
            self.change_places(rank, host, number);
            self.handle_poll(rank, HostId(host as u16));
            self.change_places(rank, host, number);
        } else {
            while let Some(frame) = self
                .queue(host, number)
                .and_then(|q| q.flying.pop_front_if(|frame| frame.at <= now))
            {
                self.hops += 1;
                self.receive_alone(frame);
            }
            if let Some(next) = self.queue(host, number).and_then(|q| q.flying.front()) {
                let at = next.at;
                self.calendar.schedule(rank, at);
            }
        }
        let Some(spread) = &mut self.hosts[host].spread else {
            return;
        };
        let queue = &mut spread.queues[number];
        let Some(next) = queue.flying.front() else {
            spread.busy &= !(1 << number);
            return;
        };
        let polled = queue.gro.as_ref().and_then(|gro| gro.goes_on(now));
        queue.due = polled.unwrap_or(next.at);
    }

    fn queue(&mut self, host: usize, number: usize) -> Option<&mut Queue> {
        let spread = self.hosts[host].spread.as_mut()?;
        spread.queues.get_mut(number)
    }

    /// What is on its way to a queue, and what its poll has in hand, change places with what the host has of that.
    fn change_places(&mut self, rank: u32, host: usize, number: usize) {
        let state = &mut self.hosts[host];
        if let Some(spread) = &mut state.spread {
            let queue = &mut spread.queues[number];
            swap(&mut state.gro, &mut queue.gro);
            self.links[rank as usize]
                .link
                .swap_flying(&mut queue.flying);
        }
    }
}
