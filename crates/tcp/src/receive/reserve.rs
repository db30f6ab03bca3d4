//! Memory that a socket has reserved and not used.
//!
//! Models sk_forward_alloc of Linux 7.2 as far as header prediction asks for it: memory is reserved in pages
//! (include/net/sock.h: sk_rmem_schedule, sk_mem_pages), for both queues, and whole pages go back when anything is freed
//! (sk_mem_uncharge, sk_mem_reclaim). So what is left is what lacks to a full page; a page more after a frame's memory was
//! reserved and its head then given up. tcp_rcv_established takes a frame that fits into that without a look at the buffer's
//! size, and without tcp_ack if it acknowledges nothing new. Left out: that acknowledged packets give that page back too,
//! and limits of the whole machine.

use super::Receive;
use super::rules::Receiver;

/// A page (PAGE_SIZE), bytes.
const PAGE: u32 = 4096;

impl Receive {
    /// What is reserved and not used, where `written` bytes are taken by what is to be sent or acknowledged.
    #[inline]
    fn reserve(&self, written: u64) -> u32 {
        let used = (u64::from(self.queued_memory) + written) % u64::from(PAGE);
        (PAGE - used as u32) % PAGE + if self.spare_page { PAGE } else { 0 }
    }

    /// Whether the frame at hand fits into what is reserved.
    #[inline]
    pub(crate) fn has_reserve(&self, written: u64) -> bool {
        self.receiver == Receiver::Linux72
            && (1..=self.reserve(written)).contains(&self.frame.memory_bytes)
    }

    /// The frame at hand has been given room, and gives up its head: is there a page more than needed?
    pub(super) fn note_spare_page(&mut self, written: u64) {
        let (frame, before) = (self.frame.memory_bytes, self.reserve(written));
        let fetched = frame.saturating_sub(before).div_ceil(PAGE) * PAGE;
        self.spare_page = (before + fetched).saturating_sub(frame - self.head.min(frame)) >= PAGE;
    }
}

#[cfg(test)]
#[path = "reserve_tests.rs"]
mod tests;
