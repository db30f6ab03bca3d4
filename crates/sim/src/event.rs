//! The calendar: which component has its next event when.
//!
//! A component (one direction of a link, a port that schedules, an endpoint's timers) has at most
//! one pending event, whatever it holds in its own queue. So the calendar is a 4-ary heap over
//! components, not over packets, and it stays small and in cache. Events order by time, then by
//! the component's rank, which is its fixed number.

use tailback_units::Time;

/// One component's next event; ordered as events are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry {
    at: Time,
    rank: u32,
}

/// A heap of components by the time of their next event.
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    heap: Vec<Entry>,
    /// Where each component's entry is in the heap, or `ABSENT`.
    position: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;
/// Children of a node: four keys of 16 bytes are one cache line.
const ARITY: usize = 4;

impl Calendar {
    /// A calendar for `components` components, none of which has an event.
    pub(crate) fn new(components: usize) -> Calendar {
        Calendar {
            heap: Vec::with_capacity(components),
            position: vec![ABSENT; components],
        }
    }

    /// The earliest event: its time and its component.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Time, u32)> {
        self.heap.first().map(|e| (e.at, e.rank))
    }

    /// Gives a component its next event, in place of the one it has if it has one.
    #[inline]
    pub(crate) fn schedule(&mut self, rank: u32, at: Time) {
        let entry = Entry { at, rank };
        match self.position[rank as usize] {
            ABSENT => {
                self.heap.push(entry);
                self.sift_up(self.heap.len() - 1, entry);
            }
            position => {
                let position = position as usize;
                if entry < self.heap[position] {
                    self.sift_up(position, entry);
                } else {
                    self.sift_down(position, entry);
                }
            }
        }
    }

    /// Takes a component's event off the calendar, if it has one.
    #[inline]
    pub(crate) fn cancel(&mut self, rank: u32) {
        let position = self.position[rank as usize];
        if position == ABSENT {
            return;
        }
        self.position[rank as usize] = ABSENT;
        let Some(last) = self.heap.pop() else { return };
        let position = position as usize;
        if position == self.heap.len() {
            return;
        }
        if last < self.heap[position] {
            self.sift_up(position, last);
        } else {
            self.sift_down(position, last);
        }
    }

    #[inline]
    fn put(&mut self, position: usize, entry: Entry) {
        self.heap[position] = entry;
        self.position[entry.rank as usize] = position as u32;
    }

    #[inline]
    fn sift_up(&mut self, mut position: usize, entry: Entry) {
        while position > 0 {
            let parent = (position - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(position, self.heap[parent]);
            position = parent;
        }
        self.put(position, entry);
    }

    #[inline]
    fn sift_down(&mut self, mut position: usize, entry: Entry) {
        loop {
            let first = position * ARITY + 1;
            let Some(children) = self.heap.get(first..self.heap.len().min(first + ARITY)) else {
                break;
            };
            let Some((offset, child)) = children.iter().enumerate().min_by_key(|(_, e)| **e) else {
                break;
            };
            if entry <= *child {
                break;
            }
            let child = *child;
            self.put(position, child);
            position = first + offset;
        }
        self.put(position, entry);
    }
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
