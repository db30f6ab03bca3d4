//! Bringing a connection into the processor's cache before it is used.
//!
//! Its fields lie in the order of use, so that one kind of segment asks for some stretches of it and not for
//! the whole.

use std::mem::offset_of;

use prefetch_index::prefetch_index;

use super::{Connection, Stats, modern};
use crate::receive::Receive;
use crate::seq::Seq;

impl Connection {
    /// The connection will be used soon: brings what taking in data needs of it, or else an acknowledgement,
    /// into the processor's cache.
    #[inline(never)]
    pub fn prefetch(&self, data: bool) {
        let counted = offset_of!(Connection, stats) + Stats::OFTEN;
        let modern = offset_of!(Connection, modern);
        let receive = offset_of!(Connection, receive);
        if data {
            self.fetch(counted, modern);
            self.fetch(
                modern + modern::Modern::BOTH,
                offset_of!(Connection, congestion) + 1,
            );
            self.fetch(offset_of!(Connection, timer), receive + Receive::RARE);
        } else {
            self.fetch(counted, modern);
            self.fetch(modern + modern::Modern::OFTEN, receive + Receive::RECEIVING);
        }
    }

    /// An acknowledgement will come soon: once the connection is in the processor's cache, brings the packets
    /// that it may cover, and what is to be sent next.
    #[inline(always)]
    pub fn prefetch_queues(&self) {
        self.modern.prefetch_queues();
    }

    /// Fetches the lines that these bytes of the struct lie in.
    #[inline(always)]
    fn fetch(&self, from: usize, to: usize) {
        // From a field's place, in steps of its own size.
        let field = std::slice::from_ref(&self.snd_una);
        let offset = offset_of!(Connection, snd_una) as isize;
        let fetch = |byte: usize| {
            let step = (byte as isize - offset) / size_of::<Seq>() as isize;
            prefetch_index(field, step as usize);
        };
        for byte in (from..to).step_by(64) {
            fetch(byte);
        }
        fetch(to - 1);
    }
}
