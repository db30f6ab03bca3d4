//! Instants and spans of simulated time, in whole picoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use crate::parse::{self, Unit};

/// An instant of simulated time: picoseconds since the run began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A span of simulated time in picoseconds.
///
/// In files a string of a number and one of `ps`, `ns`, `us`, `ms`, `s`, `min`, `h`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than any instant of a run: "never".
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `ps` picoseconds after the start of the run.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// Picoseconds since the start of the run.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start of the run, for tables and plots (never for event times).
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// The span from `earlier` to `self`; zero if `earlier` is the later one.
    #[must_use]
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// The instant `span` before this one, not before the start of the run.
    #[must_use]
    pub const fn before(self, span: Duration) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);

    /// A span of `ps` picoseconds.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Duration {
        Duration(ps)
    }

    /// A span of `ns` nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Duration {
        Duration(ns * 1_000)
    }

    /// A span of `us` microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Duration {
        Duration(us * 1_000_000)
    }

    /// A span of `ms` milliseconds.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Duration {
        Duration(ms * 1_000_000_000)
    }

    /// A span of `s` seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Duration {
        Duration(s * 1_000_000_000_000)
    }

    /// This span in picoseconds.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// This span in whole microseconds, rounded down.
    #[must_use]
    pub const fn as_us(self) -> u64 {
        self.0 / 1_000_000
    }

    /// This span in milliseconds, for tables and plots (never for event times).
    #[must_use]
    pub fn as_ms_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This span in seconds, for tables and plots (never for event times).
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// True for a span of no time.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Duration> for Time {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Add for Duration {
    type Output = Duration;
    #[inline]
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Duration;
    #[inline]
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn mul(self, n: u64) -> Duration {
        Duration(self.0.saturating_mul(n))
    }
}

impl Div<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn div(self, n: u64) -> Duration {
        Duration(self.0 / n)
    }
}

const UNITS: &[Unit] = &[
    Unit::new("h", 3_600_000_000_000_000),
    Unit::new("min", 60_000_000_000_000),
    Unit::new("s", 1_000_000_000_000),
    Unit::new("ms", 1_000_000_000),
    Unit::new("us", 1_000_000),
    Unit::new("ns", 1_000),
    Unit::new("ps", 1),
];

impl fmt::Display for Duration {
    /// Writes the span in the largest unit that keeps it a whole number: `1500us`, `201ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::write_exact(f, self.0, &UNITS[2..], "s")
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER {
            return f.write_str("never");
        }
        fmt::Display::fmt(&Duration(self.0), f)
    }
}

parse::quantity! {
    Duration, UNITS, "Duration",
    "a span of time with its unit, such as \"500ns\", \"201ms\" or \"1.5s\" (ps, ns, us, ms, s, min, h)",
    ["500ns", "201ms", "1.5s"]
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
