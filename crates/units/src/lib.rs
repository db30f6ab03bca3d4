//! Quantities with units: instants, spans of time, rates and byte counts.
//!
//! Everything in Tailback that has a unit has one of these types, so that a rate is never added
//! to a size. Time is an integer count of picoseconds: one byte at 10 Gb/s is exactly 800 ps, and
//! a `u64` of them lasts 213 days. No floating point is used for any instant of an event.
//!
//! In files quantities are strings with their unit (`"10Gbit"`, `"500ns"`, `"8MB"`): see
//! [`parse`] for the units each type knows.

mod bytes;
mod parse;
mod rate;
mod time;

pub use bytes::Bytes;
pub use parse::ParseError;
pub use rate::{ByteTime, Rate};
pub use time::{Duration, Time};
