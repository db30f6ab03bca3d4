//! TCP without a clock, a socket, an event loop or a simulator inside.
//!
//! A [`Segment`] is what one TCP says to another; calls, segments and the time go in as
//! arguments, segments to send and the next deadline are polled.

mod segment;
mod seq;

pub use segment::{Ecn, Flags, SackBlock, Segment, SynOptions};
pub use seq::Seq;
