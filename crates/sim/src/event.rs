//! The calendar: which component has its next event when.
//!
//! A component (one direction of a link, a port that schedules, an endpoint's timers) has at most
//! one pending event, whatever it holds in its own queue. So the calendar is a tournament over
//! components, not a heap of packets: a complete binary tree whose leaves are the components'
//! times and whose inner nodes repeat the earlier of their children. A change is played again up to
//! the root. Events order by time, then by the component's rank, which is its fixed number.

use tailback_units::Time;

/// One component's next event as one number that orders as events do: the time in picoseconds
/// above 32 bits of rank. The lesser of two is found without a branch, which no processor could
/// predict.
type Key = u128;

const RANK_BITS: u32 = 32;

#[inline]
fn key(at: Time, rank: u32) -> Key {
    (Key::from(at.as_ps()) << RANK_BITS) | Key::from(rank)
}

/// A tournament of components by the time of their next event.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    /// Node 1 is the root, nodes 2i and 2i + 1 the children of node i; the leaves come last.
    nodes: Vec<Key>,
    /// Index of the first leaf: a power of two.
    leaves: usize,
}

impl Calendar {
    /// A calendar for `components` components, none of which has an event.
    pub(crate) fn new(components: usize) -> Calendar {
        let leaves = components.next_power_of_two().max(2);
        Calendar {
            nodes: vec![key(Time::NEVER, u32::MAX); 2 * leaves],
            leaves,
        }
    }

    /// The earliest event: its time and its component.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Time, u32)> {
        let root = self.nodes[1];
        let at = Time::from_ps((root >> RANK_BITS) as u64);
        (at != Time::NEVER).then_some((at, root as u32))
    }

    /// Gives a component its next event, in place of the one it has if it has one.
    #[inline]
    pub(crate) fn schedule(&mut self, rank: u32, at: Time) {
        let mut node = self.leaves + rank as usize;
        let mut winner = key(at, rank);
        self.nodes[node] = winner;
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
            node >>= 1;
            self.nodes[node] = winner;
        }
    }

    /// Takes a component's event off the calendar, if it has one.
    #[inline]
    pub(crate) fn cancel(&mut self, rank: u32) {
        self.schedule(rank, Time::NEVER);
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
