//! Shared-memory, output-queued switch.
//!
//! Models the admission rule of the Fulcrum FM4000 family (FocalPoint watermarks: receive and
//! transmit private, hog and global marks) and, in place of a fixed transmit hog mark, the dynamic
//! threshold of Choudhury and Hahne (IEEE/ACM ToN 6(2), 1998): a frame of `s` segments from port
//! `i` for port `j` is admitted if port `i` holds less than its private share, or port `j` does,
//! or the shared pool has room and both ports are below their hog marks.
//! Left out: traffic classes, pause marks; the soft-drop watermark, which the FM4000 does not have (its
//! successors do). Its own admission lets the frame pass that exceeds a mark; here none does.

use prefetch_index::prefetch_index;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Time};

use super::DropCause;
use crate::ring::{Blank, Ring};

/// Parameters of a shared packet memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedConfig {
    /// Memory that every port may use, beyond the private shares.
    pub shared: Bytes,
    /// Allocation unit: a frame takes whole segments.
    pub segment: Bytes,
    /// Guaranteed share of each ingress port.
    pub rx_private: Bytes,
    /// Guaranteed share of each egress port.
    pub tx_private: Bytes,
    /// Cap on what frames from one ingress port may hold; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_hog: Option<Bytes>,
    /// Cap on what one egress queue may hold.
    pub tx_limit: TxLimit,
}

impl SharedConfig {
    /// The most bytes one egress queue of a switch with `ports` ports can hold while all others are empty: its private
    /// share, and of the pool what its cap leaves it (of a dynamic threshold: where the queue meets it), and what those
    /// of all other ports leave it together.
    #[must_use]
    pub fn queue_capacity_bytes(&self, ports: u16) -> u64 {
        let most = self.tx_limit.capacity_bytes(self.shared.get(), 0);
        let others = u64::from(ports.saturating_sub(1));
        let received = self
            .rx_hog
            .map_or(u64::MAX, |hog| hog.get().saturating_mul(others));
        self.tx_private.get() + most.min(received)
    }

    /// What all ingress ports have to themselves; all of it may be for one queue, beyond that queue's cap.
    #[must_use]
    pub fn rx_private_bytes(&self, ports: u16) -> u64 {
        u64::from(ports) * self.rx_private.get()
    }

    /// The most bytes that frames from one port can hold while nothing else waits in the switch, in queues that hold
    /// up to `queue_bytes` each.
    #[must_use]
    pub fn ingress_capacity_bytes(&self, queue_bytes: u64, ports: u16) -> u64 {
        let others = u64::from(ports.saturating_sub(1));
        let pool = self
            .shared
            .get()
            .min(self.rx_hog.map_or(u64::MAX, Bytes::get));
        let memory = self.rx_private.get() + pool + others * self.tx_private.get();
        queue_bytes.saturating_mul(others).min(memory)
    }
}

/// Cap on one egress queue of a shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TxLimit {
    /// No cap but the memory itself.
    None {},
    /// A fixed number of bytes (the hog watermark).
    Hog {
        /// The cap.
        bytes: Bytes,
    },
    /// `alpha` times the memory that is free at the moment (Choudhury and Hahne).
    Dynamic {
        /// The factor; usually a power of two from 1/8 to 8.
        #[schemars(range(min = 0.001, max = 1024.0))]
        alpha: f64,
    },
}

impl TxLimit {
    /// The most bytes that a queue with this cap comes to while all others are empty: of `shared` that
    /// all may use, and of `own`, which count towards the cap where there are any but take nothing of what is free.
    #[must_use]
    pub fn capacity_bytes(&self, shared: u64, own: u64) -> u64 {
        match *self {
            TxLimit::None {} => shared + own,
            TxLimit::Hog { bytes } => bytes.get().min(shared + own),
            // Where the queue meets the threshold, within its own or beyond.
            TxLimit::Dynamic { alpha } => {
                let within = shared as f64 * alpha;
                within.min((shared + own) as f64 * alpha / (1.0 + alpha)) as u64
            }
        }
    }

    /// The cap, bytes, while so much of the shared memory is free.
    #[must_use]
    pub fn most_bytes(&self, free_bytes: u64) -> u64 {
        match *self {
            TxLimit::None {} => u64::MAX,
            TxLimit::Hog { bytes } => bytes.get(),
            TxLimit::Dynamic { alpha } => (free_bytes as f64 * alpha) as u64,
        }
    }
}

/// What holds an admitted frame's segments until it has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// The egress port's private share.
    TxPrivate,
    /// The ingress port's private share.
    RxPrivate,
    /// The memory all ports share.
    Shared,
}

/// What a frame that is admitted will hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Where.
    pub pool: Pool,
    /// Segments of it.
    segments: u16,
}

/// A frame that is leaving: what it holds, until when.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: Time,
    frame_bytes: u16,
    segments: u16,
    in_port: u16,
    pool: Pool,
}

impl Blank for Departure {
    const BLANK: Departure = Departure {
        at: Time::NEVER,
        frame_bytes: 0,
        segments: 0,
        in_port: 0,
        pool: Pool::Shared,
    };
}

/// A port's queue: a line of the processor's cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Egress {
    leaving: Ring<Departure>,
    /// When the first of these leaves, never if there is none.
    first_at: Time,
    queued_bytes: u64,
    private_segments: u32,
    shared_segments: u32,
}

#[derive(Clone, Debug, Default)]
struct Ingress {
    private_segments: u32,
    shared_segments: u32,
}

impl Egress {
    const EMPTY: Egress = Egress {
        leaving: Ring::EMPTY,
        first_at: Time::NEVER,
        queued_bytes: 0,
        private_segments: 0,
        shared_segments: 0,
    };

    /// Takes what has left by `now` off the books where nothing but the shared memory has any; answers
    /// how many segments of that.
    // In place where every frame is queued: a call costs 29 instructions a hop (fat-tree, callgrind).
    #[inline(always)]
    fn settle_plain(&mut self, now: Time) -> u32 {
        if self.first_at > now {
            return 0;
        }
        let (mut bytes, mut segments) = (0, 0);
        let mut first_at = self.first_at;
        while first_at <= now {
            let (left, next) = self.leaving.next_front();
            bytes += u64::from(left.frame_bytes);
            segments += u32::from(left.segments);
            first_at = next.map_or(Time::NEVER, |next| next.at);
        }
        self.first_at = first_at;
        self.queued_bytes -= bytes;
        self.shared_segments -= segments;
        segments
    }

    /// [`Egress::take`] in a function of its own.
    #[inline(never)]
    fn take_apart(
        &mut self,
        ingress: &mut Ingress,
        used: &mut u32,
        frame_bytes: u16,
        segments: u32,
        pool: Pool,
    ) {
        self.take(ingress, used, frame_bytes, segments, pool);
    }

    /// A frame takes its segments from a pool, of which those that all share have `used` in use.
    #[inline(always)]
    fn take(
        &mut self,
        ingress: &mut Ingress,
        used: &mut u32,
        frame_bytes: u16,
        segments: u32,
        pool: Pool,
    ) {
        self.queued_bytes += u64::from(frame_bytes);
        match pool {
            Pool::TxPrivate => self.private_segments += segments,
            Pool::RxPrivate => ingress.private_segments += segments,
            Pool::Shared => {
                self.shared_segments += segments;
                ingress.shared_segments += segments;
                *used += segments;
            }
        }
    }

    /// A frame gives its segments back.
    #[inline(always)]
    fn give_back(
        &mut self,
        ingress: &mut Ingress,
        used: &mut u32,
        frame_bytes: u16,
        segments: u32,
        pool: Pool,
    ) {
        self.queued_bytes -= u64::from(frame_bytes);
        match pool {
            Pool::TxPrivate => self.private_segments -= segments,
            Pool::RxPrivate => ingress.private_segments -= segments,
            Pool::Shared => {
                self.shared_segments -= segments;
                ingress.shared_segments -= segments;
                *used -= segments;
            }
        }
    }
}

/// The most one egress queue may hold of the shared pool.
#[derive(Clone, Copy, Debug)]
enum Cap {
    Fixed(u32),
    /// Factor in 1/65536.
    Alpha(u64),
}

/// Fixed point of a segment's inverse.
const INVERSE_BITS: u32 = 40;

/// A shared packet memory at work.
///
/// When a frame leaves is known as soon as it is admitted (its queue is a FIFO), so departures
/// are taken off the books when somebody looks, not by events of their own. More on the books
/// never admits more: a frame admitted against books that are behind would be admitted by true
/// ones too, so only its own queue is brought up to date until a frame is about to be refused.
#[derive(Clone, Debug)]
pub struct SharedBuffer {
    segment_bytes: u32,
    /// 2^INVERSE_BITS over the segment, rounded up.
    segment_inverse: u64,
    shared_limit: u32,
    tx_private: u32,
    rx_private: u32,
    rx_hog: u32,
    cap: Cap,
    /// Nothing but the memory and the cap of its egress queue limits a frame: no port has a share of its
    /// own or a mark for what comes in, so that books of the ingress ports need not be kept.
    plain: bool,
    shared_used: u32,
    egress: Vec<Egress>,
    ingress: Vec<Ingress>,
}

impl SharedBuffer {
    /// An empty memory of a switch with `ports` ports.
    #[must_use]
    pub fn new(config: &SharedConfig, ports: u16) -> SharedBuffer {
        let segment_bytes = config.segment.get().max(1);
        let unit = segment_bytes.min(1 << 16);
        let segments = |bytes: Bytes| (bytes.get() / segment_bytes).min(u64::from(u32::MAX)) as u32;
        let cap = match config.tx_limit {
            TxLimit::None {} => Cap::Fixed(u32::MAX),
            TxLimit::Hog { bytes } => Cap::Fixed(segments(bytes)),
            TxLimit::Dynamic { alpha } => Cap::Alpha((alpha * 65_536.0) as u64),
        };
        let unshared = segments(config.tx_private) == 0
            && segments(config.rx_private) == 0
            && config.rx_hog.is_none();
        SharedBuffer {
            // Any segment no frame fills is as good as this one.
            segment_bytes: unit as u32,
            segment_inverse: (1_u64 << INVERSE_BITS).div_ceil(unit),
            shared_limit: segments(config.shared),
            tx_private: segments(config.tx_private),
            rx_private: segments(config.rx_private),
            rx_hog: config.rx_hog.map_or(u32::MAX, segments),
            plain: unshared,
            cap,
            shared_used: 0,
            egress: vec![Egress::EMPTY; usize::from(ports)],
            ingress: vec![Ingress::default(); usize::from(ports)],
        }
    }

    /// A frame of `frame_bytes` has arrived at `in_port` for `out_port`: where it is held, or why
    /// it is dropped. One that is admitted must be followed by [`SharedBuffer::leaves`].
    #[inline(always)]
    pub fn offer(
        &mut self,
        now: Time,
        in_port: u16,
        out_port: u16,
        frame_bytes: u16,
    ) -> Result<Admitted, DropCause> {
        if self.plain {
            let segments = self.segments(frame_bytes);
            let egress = &mut self.egress[usize::from(out_port)];
            self.shared_used -= egress.settle_plain(now);
            let held = egress.shared_segments;
            if self.shared_used + segments <= self.shared_limit && held < self.most_segments() {
                return Ok(Admitted {
                    pool: Pool::Shared,
                    segments: segments as u16,
                });
            }
            return self.offer_anew(now, in_port, out_port, frame_bytes);
        }
        self.offer_by_shares(now, in_port, out_port, frame_bytes)
    }

    /// The same where ports have shares of their own.
    #[inline(never)]
    fn offer_by_shares(
        &mut self,
        now: Time,
        in_port: u16,
        out_port: u16,
        frame_bytes: u16,
    ) -> Result<Admitted, DropCause> {
        self.settle_shares(now, out_port);
        if self.rx_private == 0
            && let Ok(admitted) = self.place(in_port, out_port, frame_bytes)
        {
            return Ok(admitted);
        }
        self.offer_anew(now, in_port, out_port, frame_bytes)
    }

    /// The same with the books of all ports up to date.
    #[inline(never)]
    fn offer_anew(
        &mut self,
        now: Time,
        in_port: u16,
        out_port: u16,
        frame_bytes: u16,
    ) -> Result<Admitted, DropCause> {
        self.settle_all(now);
        self.place(in_port, out_port, frame_bytes)
    }

    /// The frame just admitted will have left at `at`, no earlier than those before it. Answers the bytes
    /// that wait for its port now, as far as they have been settled.
    #[inline(always)]
    pub fn leaves(
        &mut self,
        in_port: u16,
        out_port: u16,
        frame_bytes: u16,
        admitted: Admitted,
        at: Time,
    ) -> u64 {
        let Admitted { pool, segments, .. } = admitted;
        let egress = &mut self.egress[usize::from(out_port)];
        egress.first_at = egress.first_at.min(at);
        egress.leaving.push_back(Departure {
            at,
            frame_bytes,
            segments,
            in_port,
            pool,
        });
        let segments = u32::from(segments);
        if self.plain {
            egress.queued_bytes += u64::from(frame_bytes);
            egress.shared_segments += segments;
            self.shared_used += segments;
        } else {
            let ingress = &mut self.ingress[usize::from(in_port)];
            egress.take_apart(ingress, &mut self.shared_used, frame_bytes, segments, pool);
        }
        egress.queued_bytes
    }

    /// The frame just admitted is held until [`SharedBuffer::release`]: for queues of which it is
    /// not known on arrival when a frame leaves.
    #[inline]
    pub fn hold(&mut self, in_port: u16, out_port: u16, frame_bytes: u16, pool: Pool) {
        let segments = self.segments(frame_bytes);
        let egress = &mut self.egress[usize::from(out_port)];
        let ingress = &mut self.ingress[usize::from(in_port)];
        egress.take(ingress, &mut self.shared_used, frame_bytes, segments, pool);
    }

    /// A frame that was held has left.
    #[inline]
    pub fn release(&mut self, in_port: u16, out_port: u16, frame_bytes: u16, pool: Pool) {
        let segments = self.segments(frame_bytes);
        let egress = &mut self.egress[usize::from(out_port)];
        let ingress = &mut self.ingress[usize::from(in_port)];
        egress.give_back(ingress, &mut self.shared_used, frame_bytes, segments, pool);
    }

    /// Bytes of the shared memory that nothing holds, by the books.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        u64::from(self.shared_limit.saturating_sub(self.shared_used))
            * u64::from(self.segment_bytes)
    }

    /// Bytes of frames queued for a port, as of the last time it was settled.
    #[inline]
    #[must_use]
    pub fn queued_bytes(&self, out_port: u16) -> u64 {
        self.egress[usize::from(out_port)].queued_bytes
    }

    /// A port will be used soon: brings its books into the processor's cache.
    #[inline]
    pub fn prefetch(&self, out_port: u16) {
        prefetch_index(&self.egress, usize::from(out_port));
    }

    /// The same of what leaves there, once the port's books are in the cache.
    #[inline]
    pub fn prefetch_departures(&self, out_port: u16) {
        let leaving = &self.egress[usize::from(out_port)].leaving;
        leaving.prefetch_front();
        leaving.prefetch_back();
    }

    /// Takes what has left one port by `now` off the books.
    pub fn settle(&mut self, now: Time, out_port: u16) {
        if self.plain {
            let egress = &mut self.egress[usize::from(out_port)];
            self.shared_used -= egress.settle_plain(now);
        } else {
            self.settle_shares(now, out_port);
        }
    }

    /// The same where ports have shares of their own.
    #[inline(always)]
    fn settle_shares(&mut self, now: Time, out_port: u16) {
        let egress = &mut self.egress[usize::from(out_port)];
        while egress.first_at <= now {
            let (left, next) = egress.leaving.next_front();
            egress.first_at = next.map_or(Time::NEVER, |next| next.at);
            egress.give_back(
                &mut self.ingress[usize::from(left.in_port)],
                &mut self.shared_used,
                left.frame_bytes,
                left.segments.into(),
                left.pool,
            );
        }
    }

    fn settle_all(&mut self, now: Time) {
        for port in 0..self.egress.len() as u16 {
            self.settle(now, port);
        }
    }

    #[inline]
    fn segments(&self, frame_bytes: u16) -> u32 {
        // A product for the quotient, exact for any frame and segment of up to 2^16 bytes.
        let bytes = u64::from(u32::from(frame_bytes) + self.segment_bytes - 1);
        ((bytes * self.segment_inverse) >> INVERSE_BITS) as u32
    }

    /// The most that one egress queue may hold of the shared memory now.
    #[inline(always)]
    fn most_segments(&self) -> u32 {
        match self.cap {
            Cap::Fixed(cap) => cap,
            Cap::Alpha(alpha) => {
                let free = u64::from(self.shared_limit - self.shared_used);
                (free.saturating_mul(alpha) >> 16).min(u64::from(u32::MAX)) as u32
            }
        }
    }

    #[inline(always)]
    fn place(&self, in_port: u16, out_port: u16, frame_bytes: u16) -> Result<Admitted, DropCause> {
        let segments = self.segments(frame_bytes);
        let egress = &self.egress[usize::from(out_port)];
        let ingress = &self.ingress[usize::from(in_port)];
        let admitted = |pool| {
            Ok(Admitted {
                pool,
                segments: segments as u16,
            })
        };
        if egress.private_segments + segments <= self.tx_private {
            return admitted(Pool::TxPrivate);
        }
        if ingress.private_segments + segments <= self.rx_private {
            return admitted(Pool::RxPrivate);
        }
        if self.shared_used + segments > self.shared_limit {
            return Err(DropCause::BufferFull);
        }
        // Choudhury and Hahne admit while the queue is below the threshold; so does a hog mark.
        if egress.shared_segments >= self.most_segments() {
            return Err(DropCause::QueueLimit);
        }
        if ingress.shared_segments >= self.rx_hog {
            return Err(DropCause::IngressLimit);
        }
        admitted(Pool::Shared)
    }
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
