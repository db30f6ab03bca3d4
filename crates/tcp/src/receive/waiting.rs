//! Packets that wait to be read.
//!
//! Models sk_receive_queue of Linux as far as memory goes: net/ipv4/tcp.c (tcp_recvmsg_locked, tcp_eat_recv_skb) gives a
//! packet's memory back when all of it has been read, and __tcp_close that of all of them. The first packet is not
//! kept, for most readers read it before there is another: its memory is what is left of all.

use std::collections::VecDeque;

use super::Receive;
use super::collapse::Collapsed;
use crate::seq::Seq;

/// Packets behind the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Behind {
    /// Where each begins, and its memory.
    packets: VecDeque<(Seq, u32)>,
    memory: u32,
}

impl Behind {
    pub(super) fn begin(&mut self, at: Seq, memory: u32) {
        self.packets.push_back((at, memory));
        self.memory += memory;
    }

    /// More has joined the last packet, whichever that is.
    #[inline]
    pub(super) fn join(&mut self, memory: u32) {
        if let Some((_, last)) = self.packets.back_mut() {
            *last += memory;
            self.memory += memory;
        }
    }

    /// Where the first of them begins.
    #[inline]
    pub(super) fn next(&self) -> Option<Seq> {
        self.packets.front().map(|(begins, _)| *begins)
    }

    pub(super) fn clear(&mut self) {
        self.packets.clear();
        self.memory = 0;
    }
}

impl Receive {
    /// All that waited has been read.
    #[inline]
    pub(super) fn forget_packets(&mut self) {
        if self.packets > 1
            && let Some(behind) = &mut self.behind
        {
            behind.clear();
        }
        self.packets = 0;
    }

    /// More has joined the last packet.
    #[inline]
    pub(super) fn join_last(&mut self, memory: u32) {
        if self.packets > 1
            && let Some(behind) = &mut self.behind
        {
            behind.join(memory);
        }
    }

    /// Part of what waits is read, up to `bytes` from here on: so much of `in_order` is free.
    pub(super) fn read_packets(&mut self, bytes: u32, in_order: u32) -> u32 {
        let Some(behind) = &mut self.behind else {
            return 0;
        };
        let reached = self.copied + bytes;
        let mut freed = 0;
        while let Some((begins, memory)) = behind.packets.front().copied()
            && !begins.after(reached)
        {
            // What is left of all is the first one's.
            freed = in_order.saturating_sub(behind.memory);
            behind.packets.pop_front();
            behind.memory -= memory;
            self.packets -= 1;
        }
        freed
    }

    /// Throws away what waits to be read, for good.
    pub(crate) fn drop_unread(&mut self) {
        let memory = self.in_order_memory();
        self.release(memory);
        self.forget_packets();
        self.collapsed = Collapsed::default();
        self.last_collapsed = 0;
    }
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
