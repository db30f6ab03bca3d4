//! What received frames cost, and what is thrown away when there is no room.
//!
//! Models Linux net/ipv4/tcp_input.c of 2.6.18 and of 7.2: tcp_prune_queue, tcp_prune_ofo_queue,
//! tcp_try_rmem_schedule, tcp_try_coalesce as far as memory goes.

use super::Receive;
use crate::seq::Seq;

/// Pages that one packet holds at most (MAX_SKB_FRAGS, include/linux/skbuff.h).
pub(super) const MAX_FRAGS: u32 = 17;

impl Receive {
    /// Makes room for one more frame; false if there is none and it must be dropped
    /// (tcp_prune_queue).
    pub(crate) fn make_room(&mut self, seq: Seq) -> bool {
        if self.queued_memory <= self.rcvbuf {
            return true;
        }
        self.ack.quick = 0;
        if self.rcvbuf < self.rmem_max && !self.locked {
            self.rcvbuf = self.queued_memory.min(self.rmem_max);
        }
        if self.queued_memory <= self.rcvbuf {
            return true;
        }
        self.rcv_ssthresh = self.window_clamp.min(2 * self.advmss);
        if self.today {
            return self.prune(seq);
        }
        self.pruned += u64::from(!self.reassembly.is_empty());
        self.purge();
        self.queued_memory <= self.rcvbuf
    }

    /// Throws away what is furthest out of order, an eighth of the buffer at a time, but nothing
    /// before `seq` (tcp_prune_ofo_queue).
    pub(super) fn prune(&mut self, seq: Seq) -> bool {
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
        self.pruned += u64::from(any);
        self.queued_memory <= self.rcvbuf
    }

    /// There is no room for what comes in order: the peer is told so at once. True if it is taken
    /// nevertheless, since nothing waits to be read.
    pub(crate) fn out_of_memory(&mut self) -> bool {
        if !self.today {
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

    /// The segment at hand is `mss` bytes of payload each, put together by the host, and takes
    /// `memory` bytes; zeros: one frame as usual.
    pub(crate) fn set_frame(&mut self, memory: u32, mss: u32) {
        let memory = if memory > 0 { memory } else { self.truesize };
        self.frame = (memory, mss);
    }

    /// Memory that the segment at hand takes, and what of it is given up when it joins another.
    #[inline]
    pub(crate) fn frame_memory(&self) -> (u32, u32) {
        (self.frame.0, self.head)
    }

    /// The part of a frame's memory that is given up when its data joins the frame before.
    pub(crate) fn set_head(&mut self, bytes: u32) {
        self.head = bytes;
    }

    /// The data of the segment at hand is kept, out of order.
    #[inline]
    pub(crate) fn charge(&mut self) {
        self.queued_memory += self.frame.0;
    }

    /// The same in order: its pages join the frame before if that was not read (tcp_try_coalesce,
    /// skb_try_coalesce). What was kept out of order stays in the packets it was kept in.
    #[inline]
    pub(crate) fn charge_in_order(&mut self) {
        self.charge();
        if self.head == 0 {
            return;
        }
        if self.readable() > 0 && self.joined < MAX_FRAGS {
            self.joined += 1;
            self.release(self.head);
        } else {
            self.joined = 1;
        }
    }

    /// What was kept turned out to be superfluous.
    pub(crate) fn release(&mut self, memory: u32) {
        self.queued_memory -= memory.min(self.queued_memory);
    }

    /// True if neither queue holds anything.
    pub(crate) fn is_empty(&self) -> bool {
        self.queued_memory == 0
    }
}
