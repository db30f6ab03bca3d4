//! What the application has not been told yet.

use super::Connection;

/// Something the application is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// The handshake is done.
    Connected,
    /// There are bytes to read.
    Readable,
    /// A write that found the send buffer full can go on.
    Writable,
    /// The peer sends no more.
    PeerClosed,
    /// Both sides are done.
    Closed,
    /// The peer reset the connection, or it was given up after too many timeouts.
    Reset,
}

/// What an application that reads at once whatever comes has to be told after a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing.
    Nothing,
    /// It has read so many bytes, and nothing else.
    Read(u64),
    /// [`Connection::poll_event`](super::Connection::poll_event) says what.
    More,
}

/// In the order in which they are told.
const ALL: [Event; 6] = [
    Event::Connected,
    Event::Readable,
    Event::Writable,
    Event::PeerClosed,
    Event::Closed,
    Event::Reset,
];

/// That it can be read, and written.
const READINESS: u8 = 1 << Event::Readable as u8 | 1 << Event::Writable as u8;

/// Events to tell, each at most once: a bit for each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pending(u8);

impl Pending {
    #[inline]
    pub(super) fn push(&mut self, event: Event) {
        self.0 |= 1 << event as u8;
    }

    /// An event is not to be told after all.
    #[inline]
    pub(super) fn take_back(&mut self, event: Event) {
        self.0 &= !(1 << event as u8);
    }

    /// Nothing is to be told.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The application has yet to be told of an event.
    #[inline]
    pub(super) fn holds(self, event: Event) -> bool {
        self.0 & (1 << event as u8) != 0
    }

    /// Takes this event, if it is the only one.
    #[inline]
    pub(super) fn take_only(&mut self, event: Event) -> bool {
        let only = self.0 == 1 << event as u8;
        if only {
            self.0 = 0;
        }
        only
    }

    /// Takes [`Event::Readable`] and [`Event::Writable`], and says whether there was either; nothing is taken if
    /// there is anything else.
    #[inline(always)]
    pub(super) fn take_readiness(&mut self) -> Option<bool> {
        if self.0 & !READINESS != 0 {
            return None;
        }
        Some(std::mem::take(&mut self.0) != 0)
    }

    /// There is nothing else to tell than that it can be read or written.
    #[inline(always)]
    pub(super) fn is_readiness(self) -> bool {
        self.0 & !READINESS == 0
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Event> {
        if self.0 == 0 {
            return None;
        }
        let event = ALL[self.0.trailing_zeros() as usize];
        self.0 &= self.0 - 1;
        Some(event)
    }
}

impl Connection {
    /// The next thing to tell the application, if there is one.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// Says nothing of what there is to read until [`Connection::tell_readable`]; whether it would have said so.
    pub fn postpone_readable(&mut self) -> bool {
        let holds = self.events.holds(Event::Readable);
        self.events.take_back(Event::Readable);
        holds
    }

    /// Says that there is something to read, if there is and the application has not closed meanwhile.
    pub fn tell_readable(&mut self) {
        if self.readable() > 0 && !self.orphan {
            self.events.push(Event::Readable);
        }
    }

    /// For an application that only wants to know whether it is to look again: takes [`Event::Readable`] and
    /// [`Event::Writable`], and says whether there was either. `None`, and nothing taken, if there is anything
    /// else to tell.
    #[inline(always)]
    pub fn take_readiness(&mut self) -> Option<bool> {
        self.events.take_readiness()
    }

    /// There is nothing to tell but that it can be read or written.
    #[inline(always)]
    #[must_use]
    pub fn tells_readiness_only(&self) -> bool {
        self.events.is_readiness()
    }
}
