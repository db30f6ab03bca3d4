//! Packets that wait to be read.
//!
//! Models sk_receive_queue of Linux as far as memory goes: net/ipv4/tcp.c (tcp_recvmsg_locked, tcp_eat_recv_skb) gives a
//! packet's memory back when all of it has been read, and __tcp_close that of all of them. The first packet is not
//! kept, for most readers read it before there is another: its memory is what is left of all.

use std::collections::VecDeque;

use super::Receive;
use super::collapse::Pages;
use super::memory::MAX_FRAGS;
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

    /// Copies what waits from `copied` to `end` into packets of a page, from the first packet on that is bloated; the
    /// first of all has `first_memory`.
    fn copy_together(
        &mut self,
        (copied, end): (Seq, Seq),
        first_memory: u32,
        pages: Pages,
        is_bloated: impl Fn(u32, u32) -> bool,
    ) -> Option<Copied> {
        let count = self.packets.len() + 1;
        let packet = |index: usize| match index {
            0 => (copied, first_memory),
            _ => self.packets[index - 1],
        };
        let begins = |index| if index < count { packet(index).0 } else { end };
        let from = (0..count).find(|&index| {
            let (begin, memory) = packet(index);
            is_bloated(memory, begins(index + 1) - begin)
        })?;
        let before = (from..count).map(|index| packet(index).1).sum();
        let mut at = begins(from);
        let bytes = end - at;
        self.packets.truncate(from.saturating_sub(1));
        let mut is_first = from == 0;
        while at != end {
            let piece = pages.payload().min(end - at);
            if !is_first {
                self.packets.push_back((at, pages.memory(piece)));
            }
            is_first = false;
            at += piece;
        }
        self.memory = self.packets.iter().map(|(_, memory)| memory).sum();
        Some(Copied {
            packets: (count - from) as u32,
            bytes,
            before,
            after: pages.memory(bytes),
        })
    }

    pub(super) fn clear(&mut self) {
        self.packets.clear();
        self.memory = 0;
    }
}

/// What was copied together: so many packets, their payload, their memory before and after.
struct Copied {
    packets: u32,
    bytes: u32,
    before: u32,
    after: u32,
}

impl Receive {
    /// Copies what waits to be read into less memory where that pays (tcp_collapse): from the first packet on whose memory
    /// would be a larger window than it has data.
    pub(super) fn collapse_waiting(&mut self, pages: Pages) {
        let waits = (self.copied, self.copied + self.readable());
        if waits.0 == waits.1 {
            return;
        }
        let in_order = self.in_order_memory();
        let mut behind = self.behind.take().unwrap_or_default();
        let first_memory = in_order.saturating_sub(behind.memory);
        let copied = behind.copy_together(waits, first_memory, pages, |memory, bytes| {
            self.window_of(memory) > bytes
        });
        self.packets = behind.packets.len() as u32 + 1;
        self.behind = Some(behind);
        let Some(copied) = copied else { return };
        self.queued_memory = self.queued_memory.saturating_sub(copied.before) + copied.after;
        self.short().rcv_collapsed += u64::from(copied.packets);
        self.short().collapsed_bytes += u64::from(copied.bytes);
        // The next frame does not join what was copied: that has no pages of a card.
        self.joined = MAX_FRAGS as u8;
        self.room = 0;
    }

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
    }
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
