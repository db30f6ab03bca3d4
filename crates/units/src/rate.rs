//! Rates in decimal bits per second, and what a byte costs at them.

use std::fmt;

use crate::parse::{self, Unit};
use crate::time::Duration;

/// A rate in bits per second.
///
/// In files a string of a number and one of `bit`, `Kbit`, `Mbit`, `Gbit`, `Tbit` (a trailing
/// `/s` is allowed); prefixes are decimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

const PS_PER_SECOND: u128 = 1_000_000_000_000;

impl Rate {
    /// A rate of `bps` bits per second.
    #[must_use]
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }

    /// A rate of `gbps` times 10^9 bits per second.
    #[must_use]
    pub const fn from_gbps(gbps: u64) -> Rate {
        Rate(gbps * 1_000_000_000)
    }

    /// This rate in bits per second.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// How long `bytes` bytes take at this rate, rounded up to a whole picosecond.
    ///
    /// A rate of zero never finishes: the longest span there is.
    #[must_use]
    pub const fn time_for(self, bytes: u64) -> Duration {
        if self.0 == 0 {
            return Duration::from_ps(u64::MAX);
        }
        let ps = (bytes as u128 * 8 * PS_PER_SECOND).div_ceil(self.0 as u128);
        Duration::from_ps(if ps > u64::MAX as u128 {
            u64::MAX
        } else {
            ps as u64
        })
    }

    /// The same as [`Rate::time_for`], prepared for use on every packet.
    #[must_use]
    pub const fn byte_time(self) -> ByteTime {
        let one = if self.0 == 0 {
            1
        } else {
            8 * PS_PER_SECOND % self.0 as u128
        };
        let exact_ps = if one == 0 {
            (8 * PS_PER_SECOND / self.0 as u128) as u64
        } else {
            0
        };
        ByteTime {
            exact_ps,
            rate: self,
        }
    }
}

/// The cost of a byte at a fixed [`Rate`]: one multiplication where a byte takes a whole number
/// of picoseconds (1, 8, 10, 25, 40, 100 Gb/s and their like), exact rounding up elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteTime {
    /// Picoseconds a byte, or zero where that is not a whole number.
    exact_ps: u64,
    rate: Rate,
}

impl ByteTime {
    /// The rate.
    #[must_use]
    pub const fn rate(self) -> Rate {
        self.rate
    }

    /// How long `bytes` bytes take, rounded up to a whole picosecond.
    #[inline]
    #[must_use]
    pub const fn time_for(self, bytes: u64) -> Duration {
        if self.exact_ps != 0 {
            Duration::from_ps(bytes * self.exact_ps)
        } else {
            self.time_for_inexact(bytes)
        }
    }

    /// The same where a byte does not take a whole number of picoseconds.
    #[inline(never)]
    const fn time_for_inexact(self, bytes: u64) -> Duration {
        // What is sent at once takes no number of more than 64 bits, so one division does.
        match bytes.checked_mul(8 * PS_PER_SECOND as u64) {
            Some(bits_ps) if self.rate.0 != 0 => Duration::from_ps(bits_ps.div_ceil(self.rate.0)),
            _ => self.rate.time_for(bytes),
        }
    }
}

const UNITS: &[Unit] = &[
    Unit::new("Tbit", 1_000_000_000_000),
    Unit::new("Gbit", 1_000_000_000),
    Unit::new("Mbit", 1_000_000),
    Unit::new("Kbit", 1_000),
    Unit::new("bit", 1),
    Unit::new("Tbit/s", 1_000_000_000_000),
    Unit::new("Gbit/s", 1_000_000_000),
    Unit::new("Mbit/s", 1_000_000),
    Unit::new("Kbit/s", 1_000),
    Unit::new("bit/s", 1),
];

impl fmt::Display for Rate {
    /// Writes the rate in the largest unit that keeps it a whole number: `10Gbit`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::write_exact(f, self.0, &UNITS[..5], "bit")
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

parse::quantity! {
    Rate, UNITS, "Rate",
    "a rate in decimal bits per second with its unit, such as \"10Gbit\" or \"2.5Gbit\" (bit, Kbit, Mbit, Gbit, Tbit)",
    ["10Gbit", "2.5Gbit", "100Mbit"]
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
