//! All frames in a network, and what is handed around in their place.
//!
//! A frame stays where it was written until it is delivered or dropped. Links and switches queue
//! [`Flight`]s: all they need to know of a frame, a third of its size. A place that falls free is the
//! next to be used, while it is in the processor's cache.

use prefetch_index::prefetch_index;
use tailback_tcp::Segment;
use tailback_units::Time;

use crate::frame::{EndpointId, Frame, GAP_BYTES, HostId};
use crate::ring::Blank;

/// A frame in a [`FramePool`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FrameId(u32);

impl FrameId {
    /// No place.
    pub const NONE: FrameId = FrameId(u32::MAX);
}

/// A frame on its way, as links and switches see it: 24 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// When it is to be handled next.
    pub at: Time,
    /// The frame.
    pub frame: FrameId,
    /// The endpoint it is for.
    pub to: EndpointId,
    /// The host it is for.
    pub destination: HostId,
    /// Its length from destination address to FCS, bytes.
    pub frame_bytes: u16,
    /// TCP payload in it, bytes.
    pub payload_bytes: u16,
    /// The traffic class it is in, 0 to 7.
    pub class: u8,
}

impl Blank for Flight {
    const BLANK: Flight = Flight {
        at: Time::NEVER,
        frame: FrameId::NONE,
        to: EndpointId(u32::MAX),
        destination: HostId(u16::MAX),
        frame_bytes: 0,
        payload_bytes: 0,
        class: 0,
    };
}

impl Flight {
    /// What links and switches see of a frame in this place of the pool.
    #[inline(always)]
    #[must_use]
    pub fn of(frame: &Frame, id: FrameId, at: Time) -> Flight {
        Flight {
            at,
            frame: id,
            to: frame.to,
            destination: frame.destination,
            frame_bytes: frame.frame_bytes,
            payload_bytes: frame.segment.payload_bytes,
            class: frame.class(),
        }
    }

    /// The same, but that it is to be handled next at `at`.
    #[inline(always)]
    #[must_use]
    pub fn due(&self, at: Time) -> Flight {
        Flight { at, ..*self }
    }

    /// Bytes of line time the frame takes, preamble and gap included.
    #[inline]
    #[must_use]
    pub fn wire_bytes(&self) -> u64 {
        u64::from(u32::from(self.frame_bytes) + GAP_BYTES)
    }
}

/// So many frames the nearer caches of a processor hold: a quarter of a MiB.
const CACHED: usize = 4096;

/// All frames in a network.
#[derive(Clone, Debug, Default)]
pub struct FramePool {
    frames: Vec<Frame>,
    free: Vec<u32>,
}

impl FramePool {
    /// Takes a frame in, to be handled first at `at`.
    #[inline]
    pub fn put(&mut self, at: Time, frame: &Frame) -> Flight {
        self.write(at, |place| *place = *frame)
    }

    /// The same of a frame that is written where it stays: `write` sets all of it, whatever was there.
    #[inline(always)]
    pub fn write(&mut self, at: Time, write: impl FnOnce(&mut Frame)) -> Flight {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        let frame = &mut self.frames[id as usize];
        write(frame);
        Flight::of(frame, FrameId(id), at)
    }

    /// Takes in so many copies of a frame, each as `change` leaves it; answers their places.
    #[inline(always)]
    pub fn write_run(
        &mut self,
        frame: &Frame,
        copies: usize,
        mut change: impl FnMut(&mut Frame),
    ) -> impl ExactSizeIterator<Item = FrameId> + '_ {
        if self.free.len() < copies {
            self.grow_by(copies);
        }
        let left = self.free.len() - copies;
        for &id in self.free[left..].iter().rev() {
            let place = &mut self.frames[id as usize];
            *place = *frame;
            change(place);
        }
        self.free.drain(left..).rev().map(FrameId)
    }

    /// Makes so many places, behind those that are free.
    #[cold]
    #[inline(never)]
    fn grow_by(&mut self, places: usize) {
        let ids: Vec<u32> = (0..places).map(|_| self.grow()).rev().collect();
        self.free.splice(..0, ids);
    }

    /// What is handed around for a frame, once more.
    #[inline]
    #[must_use]
    pub fn flight(&self, at: Time, id: FrameId) -> Flight {
        Flight::of(self.get(id), id, at)
    }

    /// All places are taken: makes another.
    #[cold]
    fn grow(&mut self) -> u32 {
        let empty = Frame::new(Segment::EMPTY, EndpointId(0), HostId(0));
        self.frames.push(empty);
        self.frames.len() as u32 - 1
    }

    /// A frame.
    #[inline]
    #[must_use]
    pub fn get(&self, id: FrameId) -> &Frame {
        &self.frames[id.0 as usize]
    }

    /// There are or were so many frames in that the processor's cache does not hold them.
    #[inline]
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.frames.len() > CACHED
    }

    /// A frame will be looked at soon: brings it into the processor's cache.
    #[inline]
    pub fn prefetch(&self, id: FrameId) {
        prefetch_index(&self.frames, id.0 as usize);
    }

    /// A frame, to be changed. What its [`Flight`] repeats must stay.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, id: FrameId) -> &mut Frame {
        &mut self.frames[id.0 as usize]
    }

    /// A frame is delivered or dropped: its place is free.
    #[inline]
    pub fn release(&mut self, id: FrameId) {
        self.free.push(id.0);
    }

    /// What lies in the pool's places: all frames that are in, and what is left of some that are
    /// gone.
    pub fn places(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter()
    }

    /// How many frames are in.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frames.len() - self.free.len()
    }

    /// True if none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
