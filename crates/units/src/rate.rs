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
    ///
    /// # Panics
    ///
    /// At zero and from 2^46 bit/s on (70 Tb/s), which no scenario has.
    #[must_use]
    pub const fn byte_time(self) -> ByteTime {
        assert!(self.0 > 0 && self.0 < ByteTime::BPS_BELOW);
        let rate = self.0 as u128;
        let rest = 8 * PS_PER_SECOND % rate;
        ByteTime {
            whole_ps: (8 * PS_PER_SECOND / rate) as u64,
            part: ((rest << 64) / rate) as u64,
        }
    }
}

/// The cost of a byte at a fixed [`Rate`]: one multiplication where a byte takes a whole number
/// of picoseconds (1, 8, 10, 25, 40, 100 Gb/s and their like), two elsewhere, rounding up exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteTime {
    /// Whole picoseconds a byte.
    whole_ps: u64,
    /// What is left of a picosecond, in parts of 2^64, rounded down; zero only if nothing is.
    part: u64,
}

impl ByteTime {
    const BPS_BELOW: u64 = 1 << 46;
    const BYTES_BELOW: u64 = 1 << 18;

    /// How long `bytes` bytes take, rounded up to a whole picosecond; for less than 256 KiB, more than any
    /// frame has.
    #[inline]
    #[must_use]
    pub const fn time_for(self, bytes: u64) -> Duration {
        debug_assert!(bytes < ByteTime::BYTES_BELOW);
        let whole_ps = bytes * self.whole_ps;
        if self.part == 0 {
            return Duration::from_ps(whole_ps);
        }
        // Of n bytes the parts are less than n / 2^64 short of what they stand for. That is a whole number, or at
        // least 1 / rate above one, which is more, as n times the rate is below 2^64: so they round up to the same.
        let parts = bytes as u128 * self.part as u128;
        Duration::from_ps(whole_ps + (parts >> 64) as u64 + (parts as u64 != 0) as u64)
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
