//! Memory of received frames.
//!
//! Models what one received frame costs a socket's receive buffer (truesize), whatever it carries:
//! the card's buffer and the kernel's structures beside it. Buffers hold the largest frame, in whole
//! cache lines of 64 bytes (Linux net/core/skbuff.c: 16 bytes of headroom; the nes driver asks for
//! MTU + 18), or the next of the sizes the driver has. Drivers with pages: [`PageBuffers`].

use std::collections::VecDeque;

use super::HostConfig;
use crate::frame::{ETHERNET_BYTES, FCS_BYTES};

/// What stands before a frame in its first buffer (struct virtio_net_hdr_mrg_rxbuf), bytes.
const HEADER_BYTES: u32 = 12;
/// Payload that a buffer is made for at least (GOOD_PACKET_LEN): 1500, Ethernet's header and a VLAN's tag, bytes.
const LEAST_BYTES: u32 = 1518;
/// Cache lines, of which buffers are whole ones (L1_CACHE_BYTES of x86), bytes.
const LINE_BYTES: u32 = 64;
/// A new frame's weight in the mean length is one of so many, as a shift (DECLARE_EWMA(pkt_len, 0, 64)).
const MEAN_SHIFT: u32 = 6;
/// Frames that find room in the head are copied into it, and cost no page (page_to_skb): that is what is left of a
/// frame's overhead when sk_buff has 256, skb_shared_info 320, NET_SKB_PAD 64 and NET_IP_ALIGN 2, bytes.
const HEADLESS_BYTES: u32 = 642;
/// Buffers that the card is given (vring size of the card here).
const RING: usize = 256;
/// More buffers than these have to be missing before new ones are given: half a poll's budget (virtnet_receive).
const MISSING: usize = 32;

/// What a received frame lies in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameMemory {
    /// What it costs a socket's receive buffer, bytes.
    pub bytes: u32,
    /// Pieces of pages that it is in (nr_frags); 0: it was copied.
    pub fragments: u32,
    /// What more fits behind a frame that was copied (skb_tailroom), bytes; 255 if more.
    pub room: u8,
}

/// Buffers cut from pages, one after another.
///
/// Models virtio_net's mergeable buffers in Linux 7.2 (add_recvbuf_mergeable, receive_mergeable,
/// drivers/net/virtio_net.c) over a page pool (page_pool_alloc_netmem, include/net/page_pool/helpers.h): a
/// buffer is as long as frames are in the mean, no less than 1536 bytes and no more than a page; the last of
/// a page gets what is left of it; a longer frame takes several. The card has 256, and is given new ones
/// after a poll that leaves more than 32 places: what lengthened the mean comes later. Frames that find room in
/// their head (190 bytes) are copied, and leave their page.
/// Left out: a ring without buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageBuffers {
    overhead: u32,
    pages: Pages,
    /// Absent where every frame fits the least buffer: then all are alike.
    ring: Option<Box<Ring>>,
}

/// A buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Buffer {
    bytes: u32,
    /// It follows that before it in the same page: what is in both is one fragment.
    follows: bool,
}

/// The page that is being cut.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pages {
    page: u32,
    /// Up to where it has been cut.
    cut: u32,
    /// The last buffer is not of that page.
    away: bool,
}

/// Buffers that the card has.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ring {
    buffers: VecDeque<Buffer>,
    /// Mean length of frames, bytes; zero before the first.
    mean: u32,
}

impl Pages {
    fn cut(&mut self, bytes: u32) -> Buffer {
        if 2 * bytes > self.page {
            self.away = true;
            return Buffer {
                bytes: self.page,
                follows: false,
            };
        }
        let anew = self.cut + bytes > self.page;
        let from = if anew { 0 } else { self.cut };
        let follows = !anew && !self.away;
        self.away = false;
        self.cut = from + bytes;
        if self.cut + bytes <= self.page {
            return Buffer { bytes, follows };
        }
        self.cut = self.page;
        Buffer {
            bytes: self.page - from,
            follows,
        }
    }

    /// A buffer for frames of this mean length (get_mergeable_buf_len).
    fn buffer_for(&mut self, mean: u32) -> Buffer {
        let bytes = mean.max(LEAST_BYTES) + HEADER_BYTES;
        self.cut(bytes.next_multiple_of(LINE_BYTES).min(self.page))
    }
}

impl Ring {
    /// The card is given all the buffers that it may have (try_fill_recv).
    fn fill(&mut self, pages: &mut Pages) {
        while self.buffers.len() < RING {
            self.buffers.push_back(pages.buffer_for(self.mean));
        }
    }
}

impl PageBuffers {
    /// The buffers of a host whose card cuts them from pages.
    #[must_use]
    pub fn new(config: &HostConfig, mtu: u32) -> Option<PageBuffers> {
        let least = (LEAST_BYTES + HEADER_BYTES).next_multiple_of(LINE_BYTES);
        let page = config.rx_page?.get().clamp(least.into(), 1 << 20) as u32;
        let mut pages = Pages {
            page,
            cut: page,
            away: false,
        };
        let long = mtu + ETHERNET_BYTES - FCS_BYTES > LEAST_BYTES;
        let ring = long.then(|| {
            let mut ring = Ring {
                buffers: VecDeque::with_capacity(RING),
                mean: 0,
            };
            ring.fill(&mut pages);
            Box::new(ring)
        });
        Some(PageBuffers {
            overhead: overhead(config),
            pages,
            ring,
        })
    }

    /// What the next frame lies in; `frame_bytes` is its length with the check sequence.
    #[inline]
    pub fn take(&mut self, frame_bytes: u16) -> FrameMemory {
        let memory = match self.ring {
            Some(_) => self.take_several(frame_bytes),
            None => FrameMemory {
                bytes: self.pages.buffer_for(0).bytes + self.overhead,
                fragments: 1,
                room: 0,
            },
        };
        let head = self.overhead.saturating_sub(HEADLESS_BYTES);
        if length(frame_bytes) <= head {
            return FrameMemory {
                bytes: self.overhead,
                fragments: 0,
                room: (head - length(frame_bytes)).min(u8::MAX.into()) as u8,
            };
        }
        memory
    }

    #[inline(never)]
    fn take_several(&mut self, frame_bytes: u16) -> FrameMemory {
        let mut memory = FrameMemory {
            bytes: self.overhead,
            fragments: 0,
            room: 0,
        };
        let Some(ring) = &mut self.ring else {
            return memory;
        };
        let length = length(frame_bytes);
        let mut room = 0;
        while room < length + HEADER_BYTES {
            let next = ring.buffers.pop_front();
            let buffer = next.unwrap_or_else(|| self.pages.buffer_for(ring.mean));
            memory.fragments += u32::from(room == 0 || !buffer.follows);
            memory.bytes += buffer.bytes;
            room += buffer.bytes;
        }
        ring.mean = match ring.mean {
            0 => length,
            mean => ((mean << MEAN_SHIFT) - mean + length) >> MEAN_SHIFT,
        };
        memory
    }

    /// A poll is over: the card is given new buffers if many are missing.
    #[inline]
    pub fn polled(&mut self) {
        if let Some(ring) = &mut self.ring
            && ring.buffers.len() + MISSING < RING
        {
            ring.fill(&mut self.pages);
        }
    }
}

/// A frame's length as its buffer has it, bytes.
#[inline]
fn length(frame_bytes: u16) -> u32 {
    u32::from(frame_bytes).saturating_sub(FCS_BYTES)
}

fn buffer_bytes(mtu: u32) -> u32 {
    (mtu + ETHERNET_BYTES + 16).next_multiple_of(LINE_BYTES)
}

fn overhead(config: &HostConfig) -> u32 {
    config.skb_overhead.get().min(1 << 20) as u32
}

impl HostConfig {
    /// What a received frame costs a socket's receive buffer where every frame costs the same, bytes.
    #[must_use]
    pub fn rx_truesize_bytes(&self, mtu: u32) -> u32 {
        let sizes = self.rx_buffer_sizes.iter();
        let sizes = sizes.map(|size| size.get().min(1 << 20) as u32);
        let chosen = sizes.into_iter().find(|size| *size >= mtu + ETHERNET_BYTES);
        chosen.unwrap_or(buffer_bytes(mtu)) + overhead(self)
    }

    /// The part of it that is given up when a frame's data joins that of the frame before, bytes:
    /// everything but the buffer, where buffers are parts of pages.
    #[must_use]
    pub fn rx_head_bytes(&self) -> u32 {
        self.rx_page.map_or(0, |_| overhead(self))
    }
}

#[cfg(test)]
#[path = "buffers_tests.rs"]
mod tests;
