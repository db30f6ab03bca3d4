//! Sequence numbers, modulo 2^32 (RFC 9293 section 3.4).

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A TCP sequence number. Ordering is by distance, so it holds across the wrap: there is no
/// `Ord`, use [`Seq::before`] and [`Seq::after`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seq(pub u32);

impl Seq {
    /// True if `self` comes before `other`.
    #[inline]
    #[must_use]
    pub const fn before(self, other: Seq) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    /// True if `self` comes after `other`.
    #[inline]
    #[must_use]
    pub const fn after(self, other: Seq) -> bool {
        other.before(self)
    }

    /// The later of the two.
    #[inline]
    #[must_use]
    pub const fn max(self, other: Seq) -> Seq {
        if self.before(other) { other } else { self }
    }

    /// The earlier of the two.
    #[inline]
    #[must_use]
    pub const fn min(self, other: Seq) -> Seq {
        if self.after(other) { other } else { self }
    }
}

impl Add<u32> for Seq {
    type Output = Seq;
    #[inline]
    fn add(self, n: u32) -> Seq {
        Seq(self.0.wrapping_add(n))
    }
}

impl AddAssign<u32> for Seq {
    #[inline]
    fn add_assign(&mut self, n: u32) {
        *self = *self + n;
    }
}

impl Sub<u32> for Seq {
    type Output = Seq;
    #[inline]
    fn sub(self, n: u32) -> Seq {
        Seq(self.0.wrapping_sub(n))
    }
}

/// Bytes from the right-hand number up to the left-hand one, modulo 2^32.
impl Sub for Seq {
    type Output = u32;
    #[inline]
    fn sub(self, other: Seq) -> u32 {
        self.0.wrapping_sub(other.0)
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
