//! A first-in, first-out ring for the per-packet path.
//!
//! Once empty it begins again at its first place: a ring that had many in it once, and has few now, would
//! else go through all of its places, of which none is in the processor's cache when its turn comes.

use prefetch_index::prefetch_index;
use tailback_units::Time;

/// A ring that grows by doubling. Its length is a power of two, so that an index wraps by a mask.
#[derive(Clone, Debug)]
pub struct Ring<T> {
    items: Vec<T>,
    head: u32,
    len: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring::EMPTY
    }
}

impl<T> Ring<T> {
    /// A ring that holds nothing, and has held nothing.
    pub const EMPTY: Ring<T> = Ring {
        items: Vec::new(),
        head: 0,
        len: 0,
    };
}

/// What a ring may hold: something stands in places that hold nothing. It is no item that is just put in,
/// for that would have to be written to memory first, in pieces, and be read again as a whole at once, for which the
/// processor waits.
pub trait Blank: Copy {
    /// What stands there.
    const BLANK: Self;
}

impl Blank for Time {
    const BLANK: Time = Time::NEVER;
}

/// Places of a ring that holds something for the first time.
const PLACES_MIN: usize = 4;

impl<T: Blank> Ring<T> {
    /// How many it holds.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// True if it holds nothing.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first in line.
    #[inline]
    #[must_use]
    pub fn front(&self) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        self.items.get(self.head as usize)
    }

    /// The last in line.
    #[inline]
    #[must_use]
    pub fn back(&self) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        self.items.get(self.place(self.len - 1))
    }

    /// The last in line but so many.
    #[inline]
    #[must_use]
    pub fn back_but(&self, others: usize) -> Option<&T> {
        let index = self.len().checked_sub(others + 1)?;
        self.items.get(self.place(index as u32))
    }

    /// The one that is `index`th from the front.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index >= self.len() {
            return None;
        }
        self.items.get(self.place(index as u32))
    }

    /// The same, to be changed; there is one.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> &mut T {
        let place = self.place(index as u32);
        &mut self.items[place]
    }

    /// Adds one at the end.
    #[inline]
    pub fn push_back(&mut self, item: T) {
        *self.end() = item;
        self.len += 1;
    }

    /// Adds one at the end that is like `item` but as `change` leaves it: it is put together where it stays.
    #[inline(always)]
    pub fn push_like(&mut self, item: &T, change: impl FnOnce(&mut T)) {
        let place = self.end();
        *place = *item;
        change(place);
        self.len += 1;
    }

    /// The place after the last.
    #[inline(always)]
    fn end(&mut self) -> &mut T {
        if self.len as usize == self.items.len() {
            self.grow();
        }
        let place = self.place(self.len);
        &mut self.items[place]
    }

    /// Adds as many at the end as there are `changes`, each like `item` but as changed by its own.
    #[inline(always)]
    pub fn push_run<C>(
        &mut self,
        item: &T,
        changes: impl ExactSizeIterator<Item = C>,
        mut change: impl FnMut(&mut T, C),
    ) {
        while self.items.len() - self.len() < changes.len() {
            self.grow();
        }
        let mut len = self.len;
        let (head, mask) = (self.head, self.items.len().wrapping_sub(1));
        for changed in changes {
            let place = &mut self.items[head.wrapping_add(len) as usize & mask];
            *place = *item;
            change(place, changed);
            len += 1;
        }
        self.len = len;
    }

    /// Adds one before the one that is `index`th from the front, or at the end.
    #[cold]
    pub fn insert(&mut self, index: usize, item: T) {
        self.push_back(item);
        for i in (index as u32 + 1..self.len).rev() {
            let (from, to) = (self.place(i - 1), self.place(i));
            self.items.swap(from, to);
        }
    }

    /// Takes the first if it is as wished.
    #[inline]
    pub fn pop_front_if(&mut self, wished: impl FnOnce(&T) -> bool) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let item = self.items[self.head as usize];
        if !wished(&item) {
            return None;
        }
        self.step();
        Some(item)
    }

    /// Takes the first.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        let item = self.items[self.head as usize];
        self.step();
        Some(item)
    }

    /// Takes the first, which there is, and says which is the first now.
    #[inline(always)]
    pub fn next_front(&mut self) -> (T, Option<&T>) {
        (self.items[self.head as usize], self.leave_front())
    }

    /// Leaves the first, which there is, behind, and says which is the first now.
    #[inline(always)]
    pub fn leave_front(&mut self) -> Option<&T> {
        debug_assert!(self.len > 0, "an empty ring");
        self.len -= 1;
        if self.len == 0 {
            self.head = 0;
            return None;
        }
        // As if one more were in.
        let next = self.place(1);
        self.head = next as u32;
        self.items.get(next)
    }

    /// Those from the `first` to before the `last` from the front, of which there are so many, in their order:
    /// two stretches, the second empty unless the first goes to the end of the places.
    #[inline(always)]
    #[must_use]
    pub fn stretches(&self, first: usize, last: usize) -> [&[T]; 2] {
        if first >= last || last > self.len() {
            return [&[]; 2];
        }
        let (from, to) = (self.place(first as u32), self.place(last as u32));
        if from < to {
            [self.items.get(from..to).unwrap_or_default(), &[]]
        } else {
            [
                &self.items[from..],
                self.items.get(..to).unwrap_or_default(),
            ]
        }
    }

    /// Leaves the first so many behind, which there are.
    #[inline]
    pub fn pop_many(&mut self, count: usize) {
        debug_assert!(count <= self.len(), "as many as there are");
        let next = self.place(count as u32) as u32;
        self.len -= count as u32;
        self.head = if self.len == 0 { 0 } else { next };
    }

    /// The first will be looked at soon: brings it into the processor's cache.
    #[inline]
    pub fn prefetch_front(&self) {
        prefetch_index(&self.items, self.head as usize);
    }

    /// The same of the one after it.
    #[inline]
    pub fn prefetch_second(&self) {
        prefetch_index(&self.items, self.place(1));
    }

    /// The one that is `index`th from the front, if there is one, will be looked at soon: brings it into the
    /// processor's cache.
    #[inline]
    pub fn prefetch(&self, index: usize) {
        prefetch_index(&self.items, self.place(index as u32));
    }

    /// One will be added soon: brings its place into the processor's cache.
    #[inline]
    pub fn prefetch_back(&self) {
        prefetch_index(&self.items, self.place(self.len));
    }

    /// All, the first first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|i| &self.items[self.place(i)])
    }

    /// Leaves the first, which there is, behind.
    #[inline(always)]
    fn step(&mut self) {
        let next = self.place(1) as u32;
        self.len -= 1;
        self.head = if self.len == 0 { 0 } else { next };
    }

    // Added up as the wide numbers that places are: of a sum of narrow ones the compiler would not see that the
    // mask leaves a place.
    #[inline(always)]
    fn place(&self, index: u32) -> usize {
        (self.head as usize).wrapping_add(index as usize) & self.items.len().wrapping_sub(1)
    }

    /// Doubles the places.
    #[cold]
    fn grow(&mut self) {
        self.items.rotate_left(self.head as usize);
        self.head = 0;
        let places = (2 * self.items.len()).max(PLACES_MIN);
        self.items.resize(places, T::BLANK);
    }
}

#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;
