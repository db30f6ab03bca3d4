//! Byte counts.

use std::fmt;

use crate::parse::{self, Unit};

/// A number of bytes.
///
/// In files a string of a number and one of `B`, `KB`, `MB`, `GB`, `TB` (powers of 1000) or
/// `KiB`, `MiB`, `GiB` (powers of 1024).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// `n` bytes.
    #[must_use]
    pub const fn new(n: u64) -> Bytes {
        Bytes(n)
    }

    /// The count as a plain number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

const UNITS: &[Unit] = &[
    Unit::new("TB", 1_000_000_000_000),
    Unit::new("GB", 1_000_000_000),
    Unit::new("MB", 1_000_000),
    Unit::new("KB", 1_000),
    Unit::new("B", 1),
    Unit::new("kB", 1_000),
    Unit::new("GiB", 1 << 30),
    Unit::new("MiB", 1 << 20),
    Unit::new("KiB", 1 << 10),
];

impl fmt::Display for Bytes {
    /// Writes the count in the largest decimal unit that keeps it whole: `8MB`, `9018B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::write_exact(f, self.0, &UNITS[..5], "B")
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

parse::quantity! {
    Bytes, UNITS, "Bytes",
    "a number of bytes with its unit, such as \"8MB\", \"512KiB\" or \"9000B\" (B, KB, MB, GB, TB are powers of 1000; KiB, MiB, GiB powers of 1024)",
    ["8MB", "512KiB", "9000B"]
}

#[cfg(test)]
#[path = "bytes_tests.rs"]
mod tests;
