//! What switches know of links between them that are down, as time goes by.
//!
//! Models the two steps in which a network gets around a dead link. The switches at its ends lose the signal and take
//! the port out of their groups of equal ones (`local`); then a routing protocol tells all others, and every switch has
//! paths without the link (`everywhere`). Either time counts from when the link goes down, or comes back, and starts
//! anew if that changes again meanwhile: what is shorter, nobody hears of. A link that is down in one direction is down
//! for both of its ends, as a remote fault of IEEE 802.3 sees to. Left out: messages of a routing protocol and what
//! they take on the wire, switches that learn at different times (and so loops while they do), damping of links that flap.

use std::sync::Arc;

use tailback_scenario::{Run, Topology};
use tailback_units::{Duration, Time};

use crate::route::{Lost, Port, Router, Routes};

/// Who knows: the switches at a link's ends, or all.
const KNOWERS: usize = 2;

/// A link that is down at times.
#[derive(Clone, Debug)]
struct Watched {
    /// Its number in the topology.
    link: usize,
    /// Its switches, and its ports there.
    ends: [(usize, Port); 2],
    is_down: bool,
    since: Time,
    /// When an outage begins or ends next.
    changes_at: Time,
    /// Whether who knows takes it to be down.
    known: [bool; KNOWERS],
}

/// What switches know, up to some time.
#[derive(Clone, Debug)]
pub(crate) struct Reroute {
    network: Arc<Topology>,
    watched: Vec<Watched>,
    delays: [Option<Duration>; KNOWERS],
    router: Router,
    next: Time,
}

impl Reroute {
    /// Of a run whose routes are `router`'s; none if they stay as they are. `ends` gives a link's switches and its ports
    /// there.
    pub(crate) fn new(
        run: &Run,
        router: Router,
        ends: impl Fn(usize) -> [(usize, Port); 2],
    ) -> Option<Box<Reroute>> {
        let network = &run.network;
        let times = network.reroute?;
        let watched: Vec<Watched> = (0..)
            .zip(&network.links)
            .filter(|(_, link)| link.may_be_avoided())
            .map(|(number, _)| Watched {
                link: number,
                ends: ends(number),
                is_down: false,
                since: Time::ZERO,
                changes_at: Time::ZERO,
                known: [false; KNOWERS],
            })
            .collect();
        (!watched.is_empty()).then(|| {
            Box::new(Reroute {
                network: Arc::clone(network),
                watched,
                delays: [times.local, times.everywhere],
                router,
                next: Time::ZERO,
            })
        })
    }

    /// When there may be news.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Goes on to [`Reroute::next`]; says whether somebody has learnt something then.
    pub(crate) fn advance(&mut self) -> bool {
        let now = self.next;
        let mut has_learnt = false;
        let mut next = Time::NEVER;
        for watched in &mut self.watched {
            let link = &self.network.links[watched.link];
            if watched.changes_at <= now {
                let is_down = link.is_down(now);
                if is_down != watched.is_down {
                    watched.is_down = is_down;
                    watched.since = now;
                }
                watched.changes_at = link.changes_after(now);
            }
            next = next.min(watched.changes_at);
            for (known, delay) in watched.known.iter_mut().zip(self.delays) {
                let Some(delay) = delay.filter(|_| *known != watched.is_down) else {
                    continue;
                };
                let at = watched.since + delay;
                if at <= now {
                    *known = watched.is_down;
                    has_learnt = true;
                } else {
                    next = next.min(at);
                }
            }
        }
        self.next = next;
        has_learnt
    }

    /// The routes that follow from what is known.
    pub(crate) fn routes(&self) -> Vec<Routes> {
        let lost_to = |knower: usize| {
            let lost = self.watched.iter().filter(move |w| w.known[knower]);
            lost.flat_map(|watched| watched.ends).collect()
        };
        self.router.routes(&Lost {
            local: lost_to(0),
            everywhere: lost_to(1),
        })
    }
}

#[cfg(test)]
#[path = "reroute_tests.rs"]
mod tests;
