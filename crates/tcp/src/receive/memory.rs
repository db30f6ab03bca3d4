//! What received frames cost, and what is thrown away when there is no room.
//!
//! Models Linux net/ipv4/tcp_input.c of 2.4, of 2.6.18 and of 7.2: tcp_prune_queue, tcp_prune_ofo_queue,
//! tcp_try_rmem_schedule, tcp_clamp_window, tcp_try_coalesce as far as memory goes.

use super::Receive;
use super::collapse::Pages;
use super::reassembly::{Lying, Part};
use super::rules::Receiver;
use crate::connection::{Arrival, Shortage};
use crate::seq::Seq;

/// Fragments that one packet holds at most (MAX_SKB_FRAGS, include/linux/skbuff.h).
pub(super) const MAX_FRAGS: u32 = 17;

impl Receive {
    /// Whether one more frame is taken without further ado (tcp_can_ingest).
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.queued_memory <= self.rcvbuf
    }

    /// What has been done for want of memory.
    #[must_use]
    pub(crate) fn shortage(&self) -> Shortage {
        self.shortage.as_deref().copied().unwrap_or_default()
    }

    #[inline(always)]
    pub(crate) fn collapsed_bytes(&self) -> u64 {
        let short = self.shortage.as_ref();
        short.map_or(0, |short| short.collapsed_bytes)
    }

    /// Where to count what is done for want of memory.
    pub(crate) fn short(&mut self) -> &mut Shortage {
        self.shortage.get_or_insert_default()
    }

    /// What both queues hold (sk_rmem_alloc), bytes.
    pub(crate) fn queued_memory(&self) -> u32 {
        self.queued_memory
    }

    /// Makes room for one more frame; false if there is none and it must be dropped
    /// (tcp_prune_queue).
    #[cold]
    pub(crate) fn make_room(&mut self, seq: Seq) -> bool {
        self.short().prune_called += 1;
        self.ack.quick = 0;
        let disorder = self.reassembly.bytes();
        let grows = self.receiver != Receiver::Linux24 || disorder > 0;
        if grows && self.rcvbuf < self.rmem_max && !self.locked {
            self.rcvbuf = self.queued_memory.min(self.rmem_max);
        }
        if !self.has_room() {
            if self.receiver == Receiver::Linux24 && disorder == 0 {
                self.clamp_for_good();
            }
            self.rcv_ssthresh = self.window_clamp.min(2 * self.advmss);
        } else if self.today() {
            return true;
        }
        self.collapse();
        if self.has_room() {
            return true;
        }
        let held = self.reassembly.bytes();
        if self.today() {
            self.prune(seq);
        } else {
            self.short().ofo_pruned += u64::from(!self.reassembly.is_empty());
            self.purge();
        }
        let gone = held - self.reassembly.bytes();
        self.short().pruned_bytes += u64::from(gone);
        self.short().pruned_frames += u64::from(gone.div_ceil(self.ack.rcv_mss.max(1)));
        self.short().rcv_pruned += u64::from(!self.has_room());
        self.has_room()
    }

    /// A window too large for the memory of what it let in stays small: a segment below what waits to be
    /// read, or below half of it (tcp_clamp_window of 2.4).
    fn clamp_for_good(&mut self) {
        let mut window = self.rcv_nxt - self.copied;
        if self.queued_memory >= 2 * self.rcvbuf {
            window /= 2;
        }
        if window > self.ack.rcv_mss {
            window -= self.ack.rcv_mss;
        }
        self.window_clamp = self.window_clamp.min(window.max(2 * self.advmss));
    }

    /// Copies what waits into less memory, where that pays (tcp_collapse_ofo_queue, tcp_collapse).
    fn collapse(&mut self) {
        let pages = self.pages();
        let mut reassembly = std::mem::take(&mut self.reassembly);
        let (freed, packets, copied) =
            reassembly.collapse(pages, self.rcvbuf, |memory| self.window_of(memory));
        self.reassembly = reassembly;
        self.release(freed);
        self.short().rcv_collapsed += u64::from(packets);
        self.short().collapsed_bytes += u64::from(copied);
        self.collapse_waiting(pages);
    }

    /// Into what this kernel collapses.
    fn pages(&self) -> Pages {
        Pages(self.receiver)
    }

    /// Memory of what waits to be read.
    pub(super) fn in_order_memory(&self) -> u32 {
        self.queued_memory - self.reassembly.memory().min(self.queued_memory)
    }

    /// Throws away what is furthest out of order, an eighth of the buffer at a time, but nothing
    /// before `seq` (tcp_prune_ofo_queue).
    pub(super) fn prune(&mut self, seq: Seq) {
        let goal = (self.rcvbuf >> 3).max(1);
        let mut any = false;
        while self.queued_memory > self.rcvbuf {
            let memory = self.reassembly.prune(seq, goal, self.ack.rcv_mss);
            if memory == 0 {
                break;
            }
            any = true;
            self.release(memory);
        }
        self.short().ofo_pruned += u64::from(any);
    }

    /// There is no room for what comes in order: the peer is told so at once. True if it is taken
    /// nevertheless, since nothing waits to be read.
    pub(crate) fn out_of_memory(&mut self) -> bool {
        if !self.today() {
            return false;
        }
        self.no_memory = true;
        self.ack.now = true;
        self.ack.scheduled = true;
        self.readable() == 0
    }

    /// Throws out-of-order data away.
    pub(crate) fn purge(&mut self) {
        let memory = self.reassembly.purge();
        self.release(memory);
    }

    /// How the segment at hand came; none: as one frame, that costs what frames do.
    pub(crate) fn set_frame(&mut self, arrival: Option<Arrival>) {
        self.frame = arrival.unwrap_or(Arrival {
            mss: 0,
            memory_bytes: self.truesize,
            fragments: 1,
            room: 0,
        });
    }

    /// Payload of the frames that the segment at hand was put together of, bytes; 0: it is one frame.
    pub(crate) fn frame_mss(&self) -> u32 {
        self.frame.mss.into()
    }

    /// What the segment at hand lies in.
    #[inline]
    pub(crate) fn frame_lying(&self) -> Lying {
        Lying {
            memory: self.frame.memory_bytes,
            head: self.head,
            fragments: self.frame.fragments.into(),
        }
    }

    /// The part of a frame's memory that is given up when its data joins the frame before.
    pub(crate) fn set_head(&mut self, bytes: u32) {
        self.head = bytes;
    }

    /// The data of the segment at hand is kept, out of order.
    #[inline]
    pub(crate) fn charge(&mut self) {
        self.queued_memory += self.frame.memory_bytes;
    }

    /// Its `payload` in order: it is copied behind the frame before, or its pages join that, if it was not read
    /// (tcp_try_coalesce, skb_try_coalesce). What was kept out of order stays in the packets it was kept in. What was
    /// written takes `written` bytes. One that `overlaps` what has come begins a packet of its own.
    #[inline]
    pub(crate) fn charge_in_order(&mut self, payload: u16, written: u64, overlaps: bool) {
        let fragments = u32::from(self.frame.fragments);
        let follows = self.readable() > 0 && !overlaps;
        if follows && payload <= u16::from(self.room) {
            self.room -= payload as u8;
        } else if follows && self.joins(fragments) {
            self.note_spare_page(written);
            self.charge();
            self.joined += fragments.min(MAX_FRAGS) as u8;
            self.room = 0;
            self.release(self.head);
            self.join_last(self.frame.memory_bytes - self.head);
        } else {
            self.charge();
            self.spare_page = false;
            self.begin_packet(self.frame.memory_bytes);
            self.joined = fragments.min(MAX_FRAGS) as u8;
            self.room = self.frame.room;
        }
    }

    /// Whether a packet of so many fragments joins the one before. One without any has its data in its head, which is not
    /// given up (skb_try_coalesce).
    #[inline]
    fn joins(&self, fragments: u32) -> bool {
        self.head > 0 && fragments > 0 && u32::from(self.joined) + fragments <= MAX_FRAGS
    }

    /// What comes next in order is not in the packet before.
    #[inline]
    fn begin_packet(&mut self, memory: u32) {
        if self.packets > 0 {
            let behind = self.behind.get_or_insert_default();
            behind.begin(self.rcv_nxt, memory);
        }
        self.packets += 1;
    }

    /// A packet that was out of order follows what waits to be read: in the packet before, if that has room for its
    /// fragments (tcp_ofo_queue).
    pub(crate) fn queue_reassembled(&mut self, part: Part) {
        if part.fragments == 0 && self.fin_end == Some(part.end) && part.end - self.rcv_nxt == 1 {
            // A lone FIN: what it lay in is not kept.
            self.release(part.memory);
        } else if part.start == self.rcv_nxt
            && self.readable() > 0
            && part.end - part.start <= u32::from(self.room)
        {
            self.room -= (part.end - part.start) as u8;
            self.release(part.memory);
        } else if part.start == self.rcv_nxt && !part.in_head && self.joins(part.fragments) {
            self.joined += part.fragments.min(MAX_FRAGS) as u8;
            self.room = 0;
            self.release(self.head);
            self.join_last(part.memory - self.head.min(part.memory));
        } else {
            self.begin_packet(part.memory);
            self.joined = part.fragments.min(MAX_FRAGS) as u8;
            self.room = 0;
        }
        self.rcv_nxt = part.end;
    }

    /// Of `bytes` about to be read, those in the first packet.
    #[inline]
    pub(super) fn first_of(&self, bytes: u32) -> u32 {
        match self.behind.as_ref().and_then(|behind| behind.next()) {
            Some(begins) => (begins - self.copied).min(bytes),
            None => bytes,
        }
    }

    /// What was kept turned out to be superfluous.
    pub(crate) fn release(&mut self, memory: u32) {
        self.queued_memory -= memory.min(self.queued_memory);
    }

    /// True if neither queue holds anything.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queued_memory == 0
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
