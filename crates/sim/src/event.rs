//! The calendar: which component has its next event when.
//!
//! A component (one direction of a link, a port that schedules, an endpoint's timers) has at most
//! one pending event, whatever it holds in its own queue. So the calendar is a tournament over
//! components, not a heap of packets: a complete binary tree whose leaves are the components'
//! times and whose inner nodes repeat the earlier of their children. A change is played again up to
//! the root, or as far as it makes a difference. Events order by time, then by the component's
//! rank, which is its fixed number: at equal times the left child wins.

use tailback_units::Time;

/// One component's next event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    at: Time,
    rank: u32,
}

/// A tournament of components by the time of their next event.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    /// Node 1 is the root, nodes 2i and 2i + 1 the children of node i; the leaves come last.
    nodes: Vec<Entry>,
    /// Index of the first leaf: a power of two.
    leaves: usize,
}

impl Calendar {
    /// A calendar for `components` components, none of which has an event.
    pub(crate) fn new(components: usize) -> Calendar {
        let leaves = components.max(1).next_power_of_two();
        let mut nodes = vec![
            Entry {
                at: Time::NEVER,
                rank: 0
            };
            2 * leaves
        ];
        for (rank, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.rank = rank as u32;
        }
        for node in (1..leaves).rev() {
            nodes[node].rank = nodes[2 * node].rank;
        }
        Calendar { nodes, leaves }
    }

    /// The earliest event: its time and its component.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Time, u32)> {
        let root = self.nodes[1.min(self.nodes.len() - 1)];
        (root.at != Time::NEVER).then_some((root.at, root.rank))
    }

    /// Gives a component its next event, in place of the one it has if it has one.
    #[inline]
    pub(crate) fn schedule(&mut self, rank: u32, at: Time) {
        let mut node = self.leaves + rank as usize;
        let mut winner = Entry { at, rank };
        self.nodes[node] = winner;
        while node > 1 {
            let sibling = self.nodes[node ^ 1];
            // At equal times the left one wins, and left children have even numbers.
            let sibling_wins = sibling.at < winner.at || (sibling.at == winner.at && node & 1 == 1);
            if sibling_wins {
                winner = sibling;
            }
            node >>= 1;
            if self.nodes[node] == winner {
                return;
            }
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
