//! Collapsing: data that waits is copied together, so that less memory holds it.
//!
//! Models tcp_collapse and tcp_collapse_ofo_queue of Linux net/ipv4/tcp_input.c, as 2.6.18 and as 7.2
//! have them: packets whose memory would be a larger window than they have data (bloated) are copied,
//! from the first such one to the end of what is contiguous, into packets of a page.
//! Runs out of order are looked at as a whole: one is bloated if it is so on average. Left out: the packets that a FIN keeps
//! apart, and that a first packet is copied if part of it was read. The time that copying takes is the host's matter.

use super::rules::Receiver;

/// sizeof(struct skb_shared_info) with 17 fragments, aligned, bytes (include/linux/skbuff.h, 7.2).
const SHARED_INFO: u32 = 320;
/// sizeof(struct sk_buff), aligned, bytes (the same).
const SK_BUFF: u32 = 256;
/// Allocations that a small packet's head is made of: the cache for small heads (net/core/skbuff.c,
/// SKB_SMALL_HEAD_CACHE_SIZE) and kmalloc's, bytes.
const ALLOCATIONS: [u32; 4] = [704, 1024, 2048, 4096];

/// What a page's packet holds in 2.6.18: 4096 less 84 of headers' room and 312 of skb_shared_info,
/// in whole cache lines (SKB_MAX_ORDER, x86_64), bytes.
const ONCE_PAYLOAD: u32 = 3648;
/// Room for headers that is kept there: NET_SKB_PAD, Ethernet, IPv4, TCP with timestamps, aligned.
const ONCE_HEADROOM: u32 = 84;
/// sizeof(struct sk_buff) there, bytes.
const ONCE_SK_BUFF: u32 = 240;
/// A cache line, bytes.
const LINE: u32 = 64;

/// The packets into which a kernel collapses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pages(pub(super) Receiver);

impl Pages {
    /// Payload that one holds at most, bytes.
    pub(super) fn payload(self) -> u32 {
        match self.0 {
            Receiver::Linux24 | Receiver::Linux26 => ONCE_PAYLOAD,
            Receiver::Linux72 => 4096 - SHARED_INFO,
        }
    }

    /// Memory that one with so much payload takes (truesize).
    fn one(self, payload_bytes: u32) -> u32 {
        match self.0 {
            Receiver::Linux24 | Receiver::Linux26 => {
                (payload_bytes + ONCE_HEADROOM).next_multiple_of(LINE) + ONCE_SK_BUFF
            }
            Receiver::Linux72 => {
                let head = payload_bytes + SHARED_INFO;
                let fits = ALLOCATIONS.into_iter().find(|size| head <= *size);
                fits.unwrap_or(4096) + SK_BUFF
            }
        }
    }

    /// Memory that so much data takes once it is collapsed.
    pub(super) fn memory(self, bytes: u32) -> u32 {
        let (whole, rest) = (bytes / self.payload(), bytes % self.payload());
        let last = if rest > 0 { self.one(rest) } else { 0 };
        whole * self.one(self.payload()) + last
    }

    /// Whether a lone packet of so much data is left alone (tcp_collapse_ofo_queue, since 4.17).
    pub(super) fn leaves(self, packets: u32, bytes: u32) -> bool {
        self.0 == Receiver::Linux72 && packets <= 1 && bytes < self.payload()
    }
}

#[cfg(test)]
#[path = "collapse_tests.rs"]
mod tests;
