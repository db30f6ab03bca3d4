//! All frames in a network, and what is handed around in their place.
//!
//! A frame stays where it was written until it is delivered or dropped. Links and switches queue
//! [`Flight`]s: all they need to know of it. Its place in the pool has its TCP header; what few have beside that lies
//! aside. A place that falls free is the next to be used, while it is in the processor's cache.

use prefetch_index::prefetch_index;
use tailback_tcp::{Blocks, Header, Segment};
use tailback_units::Time;

use crate::frame::{EndpointId, Frame, GAP_BYTES, HostId, PayloadHandle};
use crate::ring::Blank;

/// A frame in a [`FramePool`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FrameId(u32);

impl FrameId {
    /// No place.
    pub const NONE: FrameId = FrameId(u32::MAX);

    /// Its place: those of frames that are gone are used anew.
    #[must_use]
    pub fn place(self) -> usize {
        self.0 as usize
    }
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
    #[inline]
    fn of(frame: &Frame, id: FrameId, at: Time) -> Flight {
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
const CACHED: usize = 8192;

/// What the pool keeps of each frame: half a line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Place {
    header: Header,
    /// What else belongs to it, if anything does, until something else is written here.
    aside: u32,
}

const _: () = assert!(size_of::<Place>() == 32, "two places in a line");

/// Nothing lies aside.
const NO_ASIDE: u32 = u32::MAX;

/// What few frames have.
#[derive(Clone, Copy, Debug, Default)]
struct Aside {
    blocks: Blocks,
    payload: PayloadHandle,
}

/// What some frames have beside their header.
#[derive(Clone, Debug, Default)]
struct Asides {
    all: Vec<Aside>,
    free: Vec<u32>,
}

impl Asides {
    /// What lay aside for a place is forgotten; puts what does now. Answers where that is.
    #[cold]
    #[inline(never)]
    fn replace(&mut self, before: u32, now: Option<Aside>) -> u32 {
        if let Some(aside) = self.all.get_mut(before as usize) {
            *aside = now.unwrap_or_default();
            if now.is_none() {
                self.free.push(before);
            }
            return now.map_or(NO_ASIDE, |_| before);
        }
        let Some(now) = now else { return NO_ASIDE };
        match self.free.pop() {
            Some(free) => {
                self.all[free as usize] = now;
                free
            }
            None => {
                self.all.push(now);
                self.all.len() as u32 - 1
            }
        }
    }
}

/// All frames in a network.
#[derive(Clone, Debug, Default)]
pub struct FramePool {
    places: Vec<Place>,
    free: Vec<u32>,
    asides: Asides,
}

impl FramePool {
    /// Takes a frame in, to be handled first at `at`.
    pub fn put(&mut self, at: Time, frame: &Frame) -> Flight {
        let id = self.write(&frame.segment, |_| ());
        if frame.payload != PayloadHandle::default() {
            let place = &mut self.places[id.0 as usize];
            let aside = Aside {
                blocks: frame.segment.blocks(),
                payload: frame.payload,
            };
            place.aside = self.asides.replace(place.aside, Some(aside));
        }
        Flight::of(frame, id, at)
    }

    /// Takes in the frame of a segment that is written where it stays, with what `change` makes of its
    /// header; answers its place.
    #[inline(always)]
    pub fn write(&mut self, segment: &Segment, change: impl FnOnce(&mut Header)) -> FrameId {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        let place = &mut self.places[id as usize];
        place.write(segment, &mut self.asides, change);
        FrameId(id)
    }

    /// Takes in so many copies of a segment, each with what `change` makes of its header; answers their places.
    #[inline(always)]
    pub fn write_run(
        &mut self,
        segment: &Segment,
        copies: usize,
        mut change: impl FnMut(&mut Header),
    ) -> impl ExactSizeIterator<Item = FrameId> + '_ {
        if self.free.len() < copies {
            self.grow_by(copies);
        }
        let left = self.free.len() - copies;
        for &id in self.free[left..].iter().rev() {
            self.places[id as usize].write(segment, &mut self.asides, &mut change);
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

    /// All places are taken: makes another.
    #[cold]
    fn grow(&mut self) -> u32 {
        self.places.push(Place {
            header: Header::EMPTY,
            aside: NO_ASIDE,
        });
        self.places.len() as u32 - 1
    }

    /// The TCP header of a frame.
    #[inline]
    #[must_use]
    pub fn header(&self, id: FrameId) -> &Header {
        &self.places[id.0 as usize].header
    }

    /// The same, to be changed. What its [`Flight`] repeats must stay.
    #[inline]
    #[must_use]
    pub fn header_mut(&mut self, id: FrameId) -> &mut Header {
        &mut self.places[id.0 as usize].header
    }

    /// What TCP put into a frame.
    #[inline]
    #[must_use]
    pub fn segment(&self, id: FrameId) -> Segment {
        let place = &self.places[id.0 as usize];
        match self.asides.all.get(place.aside as usize) {
            None => Segment::plain(place.header),
            Some(aside) => Segment::with_blocks(place.header, aside.blocks),
        }
    }

    /// A frame as it was taken in, and has been changed since.
    #[must_use]
    pub fn frame(&self, flight: &Flight) -> Frame {
        let place = &self.places[flight.frame.0 as usize];
        let aside = self.asides.all.get(place.aside as usize);
        Frame {
            segment: self.segment(flight.frame),
            to: flight.to,
            destination: flight.destination,
            frame_bytes: flight.frame_bytes,
            payload: aside.map(|aside| aside.payload).unwrap_or_default(),
        }
    }

    /// There are or were so many frames in that the processor's cache does not hold them.
    #[inline]
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.places.len() > CACHED
    }

    /// A frame will be looked at soon: brings it into the processor's cache.
    #[inline]
    pub fn prefetch(&self, id: FrameId) {
        prefetch_index(&self.places, id.0 as usize);
    }

    /// A frame is delivered or dropped: its place is free.
    #[inline]
    pub fn release(&mut self, id: FrameId) {
        self.free.push(id.0);
    }

    /// The real bytes that all frames carry that are in, and some that are gone.
    pub fn payloads(&self) -> impl Iterator<Item = PayloadHandle> {
        self.asides.all.iter().map(|aside| aside.payload)
    }

    /// How many frames are in.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// True if none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Place {
    #[inline(always)]
    fn write(&mut self, segment: &Segment, asides: &mut Asides, change: impl FnOnce(&mut Header)) {
        self.header = **segment;
        change(&mut self.header);
        let has_blocks = segment.has_blocks();
        if has_blocks || self.aside != NO_ASIDE {
            let aside = has_blocks.then(|| Aside {
                blocks: segment.blocks(),
                ..Aside::default()
            });
            self.aside = asides.replace(self.aside, aside);
        }
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
