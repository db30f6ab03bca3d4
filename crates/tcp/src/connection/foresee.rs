//! What can be said of a segment before it is taken in, for those who handle it ahead of others.

use super::{Connection, Life};
use crate::segment::{Flags, Header};

impl Connection {
    /// Most bytes that could be read once this segment is in.
    #[inline]
    #[must_use]
    pub fn readable_with(&self, segment: &Header) -> u64 {
        let receive = &self.receive;
        let mut end = segment.end_seq();
        if let Some(last) = receive.reassembly.last_end()
            && end.before(last)
        {
            end = last;
        }
        let beyond = if receive.rcv_nxt.before(end) {
            end - receive.rcv_nxt
        } else {
            0
        };
        self.readable() + u64::from(beyond)
    }

    /// Whether the connection is up: ESTABLISHED.
    #[inline]
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.life == Life::Established
    }

    /// Whether it is, and still is once this segment is in.
    #[inline]
    #[must_use]
    pub fn goes_on_with(&self, segment: &Header) -> bool {
        let ends = Flags::SYN.with(Flags::FIN).with(Flags::RST);
        self.is_up() && !segment.flags.intersects(ends)
    }
}
