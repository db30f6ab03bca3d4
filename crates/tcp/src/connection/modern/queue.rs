//! What was sent and is not acknowledged.
//!
//! Models Linux 7.2's retransmission queue (tcp_rtx_queue, tcp_skb_cb, tcp_fragment,
//! tcp_trim_head, tcp_shift_skb_data's merging of what is selectively acknowledged). Where the
//! kernel keeps a second list in the order of sending, walks here go by sequence number and
//! look at the time, and within a microsecond at the turn. Left out: collapsing of packets when
//! memory is short.

use std::collections::VecDeque;

use prefetch_index::prefetch_index;

use super::rack::sent_after;
use crate::queue::{EVER_RETRANS, LOST, RETRANS, SACKED, TAGS, push_last, segments, take_front};
use crate::seq::Seq;

/// The packet pushes what was written.
pub(super) const PSH: u8 = 1;
/// The packet ends with the FIN.
pub(super) const FIN: u8 = 2;
/// The sender was short of data when it was sent.
pub(super) const APP_LIMITED: u8 = 4;
/// It has not been counted in a delivery-rate sample yet.
pub(super) const RATE_PENDING: u8 = 8;
/// A record ends here: nothing is joined to it (MSG_EOR).
pub(super) const EOR: u8 = 16;
/// It has been found lost by time and not been sent since: the kernel's list in the order of sending
/// (tsorted_sent_queue) does not have it, though a reduction that is undone takes the loss back.
pub(super) const UNLISTED: u8 = 32;

/// A packet that others are joined to has fewer bytes than this: 65 535 segments of the smallest size (tcp_skb_shift).
/// They lie in the 17 pages of 32 KiB that it may have parts of, if what was written fills page after page.
const JOINED_BYTES_MAX: u32 = 65_535 * 8;

/// A packet sent: one segment, or several for segmentation offload.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) seq: Seq,
    pub(super) end_seq: Seq,
    /// When it was last sent (skb_mstamp_ns).
    pub(super) sent_ns: u64,
    /// The sender's books when it was last sent, for rate samples (tcp_skb_cb.tx).
    pub(super) first_tx_us: u32,
    pub(super) delivered_us: u32,
    pub(super) delivered: u32,
    pub(super) delivered_ce: u32,
    pub(super) lost: u32,
    pub(super) in_flight: u32,
    /// Which of all that was sent it was when it was last sent, modulo 2^16.
    pub(super) turn: u16,
    pub(super) segments: u16,
    /// Payload of each segment but the last (gso_size).
    pub(super) mss: u16,
    pub(super) tags: u8,
    pub(super) marks: u8,
}

impl Sent {
    #[inline]
    pub(super) fn has(&self, tags: u8) -> bool {
        self.tags & tags != 0
    }

    #[inline]
    pub(super) fn marked(&self, marks: u8) -> bool {
        self.marks & marks != 0
    }

    /// Whether it was ever retransmitted (TCPCB_RETRANS).
    #[inline]
    pub(super) fn retransmitted(&self) -> bool {
        self.has(RETRANS | EVER_RETRANS)
    }

    /// Whether RACK may find it lost: it is taken to be in the network, not there yet, and not lost since it was
    /// last sent.
    #[inline]
    pub(super) fn is_listed(&self) -> bool {
        !self.has(SACKED) && !self.marked(UNLISTED) && (!self.has(LOST) || self.has(RETRANS))
    }

    /// Whether neither this packet nor any behind it was sent before the mark, a time and the end of a packet sent
    /// then: this one was sent later, and once. Those behind it were sent for the first time no earlier than it.
    #[inline]
    pub(super) fn ends_walk(&self, mark: (u64, Seq)) -> bool {
        !self.retransmitted() && !sent_after(mark, (self.sent_us(), self.end_seq))
    }

    #[inline]
    pub(super) fn payload_bytes(&self) -> u32 {
        self.end_seq - self.seq - u32::from(self.marked(FIN))
    }

    /// Payload of each segment but the last, or of the only one (tcp_skb_seglen).
    fn segment_bytes(&self) -> u32 {
        match self.segments {
            1 => self.payload_bytes(),
            _ => self.mss.into(),
        }
    }

    /// Cuts `bytes` bytes off its front.
    #[inline(always)]
    fn trim(&mut self, bytes: u32) {
        self.seq += bytes;
        if self.segments > 1 {
            self.segments = segments(self.payload_bytes(), u32::from(self.mss));
        }
    }

    #[inline]
    pub(super) fn sent_us(&self) -> u64 {
        self.sent_ns / 1000
    }
}

/// Packets at the front of the queue that an acknowledgement covers: how many, and whether the last
/// of them whole.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::connection) struct Run {
    pub(super) packets: usize,
    pub(super) whole: bool,
}

/// The queue, in order of sequence numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct SentQueue {
    packets: VecDeque<Sent>,
}

impl SentQueue {
    /// The first packets and the place after the last will be used soon: brings them into the processor's
    /// cache.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        if let (Some(first), Some(last)) = (self.packets.front(), self.packets.back()) {
            let first = std::slice::from_ref(first);
            prefetch_index(first, 0);
            prefetch_index(first, 1);
            prefetch_index(std::slice::from_ref(last), 1);
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&Sent> {
        self.packets.get(index)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Sent> {
        self.packets.get_mut(index)
    }

    #[inline]
    pub(super) fn front(&self) -> Option<&Sent> {
        self.packets.front()
    }

    #[inline]
    pub(super) fn push(&mut self, packet: Sent) {
        push_last(&mut self.packets, packet);
    }

    #[inline]
    pub(super) fn pop(&mut self) {
        self.packets.pop_front();
    }

    /// The packets that lie between `from`, where the first begins, and `to`, if nothing has happened to
    /// any of them: the last perhaps in part, but a segment of it at least.
    #[inline(always)]
    pub(super) fn plain_run(&self, from: Seq, to: Seq) -> Option<Run> {
        let mut run = Run::default();
        let mut next = from;
        loop {
            let packet = self.packets.get(run.packets)?;
            if packet.seq != next || packet.tags != 0 || !packet.marked(RATE_PENDING) {
                return None;
            }
            run.packets += 1;
            next = packet.end_seq;
            if !next.before(to) {
                let part = packet.segments > 1 && to - packet.seq >= u32::from(packet.mss);
                run.whole = next == to;
                return (run.whole || part).then_some(run);
            }
        }
    }

    /// Takes such a run off; answers when its first packet was sent if it has more than one, its last
    /// one as it was, and how many segments it stands for.
    #[inline(always)]
    pub(super) fn take_run(&mut self, run: Run, to: Seq) -> Option<(Option<u64>, Sent, u32)> {
        let mut first_ns = None;
        let mut count = 0;
        for _ in 1..run.packets {
            let packet = self.packets.pop_front()?;
            first_ns.get_or_insert(packet.sent_ns);
            count += u32::from(packet.segments);
        }
        let front = self.packets.front_mut()?;
        let last = *front;
        count += u32::from(last.segments);
        if run.whole {
            self.packets.pop_front();
        } else {
            front.trim(to - last.seq);
            count -= u32::from(front.segments);
        }
        Some((first_ns, last, count))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.packets.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Sent> {
        self.packets.iter_mut()
    }

    /// The packet that `seq` lies in, or the first after it.
    pub(super) fn find(&self, seq: Seq) -> usize {
        self.packets.partition_point(|p| !p.end_seq.after(seq))
    }

    /// Cuts `bytes` bytes off the first packet, which stands for more than one segment.
    #[inline(always)]
    pub(super) fn trim_front(&mut self, bytes: u32) {
        if let Some(front) = self.packets.front_mut() {
            front.trim(bytes);
        }
    }

    /// Divides a packet after its first `bytes` bytes. Answers how many segments fewer the two
    /// stand for than the one did.
    pub(super) fn split(&mut self, index: usize, bytes: u32, mss: u32) -> i32 {
        let Some(packet) = self.packets.get_mut(index) else {
            return 0;
        };
        let before = i32::from(packet.segments);
        let mut rest = *packet;
        packet.end_seq = packet.seq + bytes;
        packet.marks &= !(PSH | FIN | EOR);
        packet.segments = segments(bytes, mss);
        packet.mss = mss as u16;
        rest.seq = packet.end_seq;
        rest.segments = segments(rest.payload_bytes(), mss);
        rest.mss = mss as u16;
        let after = i32::from(packet.segments) + i32::from(rest.segments);
        self.packets.insert(index + 1, rest);
        before - after
    }

    /// Joins a packet acknowledged selectively to the one before it, if that is too, with segments of the same
    /// length (tcp_shift_skb_data). True if it was joined.
    pub(super) fn join_sacked(&mut self, index: usize) -> bool {
        let Some(&packet) = self.packets.get(index) else {
            return false;
        };
        let Some(previous) = index.checked_sub(1).and_then(|i| self.packets.get_mut(i)) else {
            return false;
        };
        let length = packet.segment_bytes();
        let (bytes, more) = (previous.payload_bytes(), packet.payload_bytes());
        let Some(count) = previous.segments.checked_add(packet.segments) else {
            return false;
        };
        let joins = previous.tags & TAGS == SACKED
            && packet.tags & TAGS == SACKED
            && previous.segment_bytes() == length
            && !previous.marked(FIN | EOR)
            && more > 0
            && bytes + more < JOINED_BYTES_MAX;
        if !joins {
            return false;
        }
        if previous.segments == 1 {
            previous.mss = length as u16;
        }
        previous.end_seq = packet.end_seq;
        previous.segments = count;
        previous.tags |= packet.tags & EVER_RETRANS;
        previous.marks |= packet.marks & (PSH | FIN | EOR);
        self.packets.remove(index);
        true
    }

    /// Joins the packet after `index` to it, for a retransmission: both are one segment, neither
    /// is acknowledged.
    pub(super) fn join_next(&mut self, index: usize) {
        if let Some(next) = self.packets.remove(index + 1)
            && let Some(packet) = self.packets.get_mut(index)
        {
            packet.end_seq = next.end_seq;
            packet.marks |= next.marks & (PSH | FIN | EOR);
            packet.tags |= next.tags & EVER_RETRANS;
        }
    }
}

/// A stretch of what is written and not sent (a packet of sk_write_queue).
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) bytes: u32,
    /// [`PSH`] and [`EOR`].
    pub(super) marks: u8,
}

/// What is written and not sent, as sendmsg made it into packets.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteQueue {
    chunks: VecDeque<Chunk>,
}

impl WriteQueue {
    /// The first will be looked at soon.
    #[inline(always)]
    pub(super) fn prefetch(&self) {
        if let Some(first) = self.chunks.front() {
            prefetch_index(std::slice::from_ref(first), 0);
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    #[inline]
    pub(super) fn front(&self) -> Option<&Chunk> {
        self.chunks.front()
    }

    #[inline]
    pub(super) fn back(&self) -> Option<&Chunk> {
        self.chunks.back()
    }

    #[inline]
    pub(super) fn back_mut(&mut self) -> Option<&mut Chunk> {
        self.chunks.back_mut()
    }

    #[inline]
    pub(super) fn push(&mut self, bytes: u32) {
        push_last(&mut self.chunks, Chunk { bytes, marks: 0 });
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.iter()
    }

    /// Takes the first chunk off.
    #[inline]
    pub(super) fn pop(&mut self) {
        take_front(&mut self.chunks);
    }

    /// Fills the first chunk up to `wanted` bytes from the second (tcp_grow_skb).
    #[inline]
    pub(super) fn fill_front(&mut self, wanted: u32) {
        if self.chunks.len() < 2 {
            return;
        }
        if let [Some(&first), Some(&second)] = [self.chunks.front(), self.chunks.get(1)]
            && first.bytes < wanted
            && first.marks & EOR == 0
        {
            self.grow_front((wanted - first.bytes).min(second.bytes), second);
        }
    }

    /// Moves `moved` bytes of the second chunk to the first.
    #[inline]
    fn grow_front(&mut self, moved: u32, second: Chunk) {
        let eaten = moved == second.bytes;
        if eaten {
            self.chunks.remove(1);
        } else if let Some(second) = self.chunks.get_mut(1) {
            second.bytes -= moved;
        }
        if let Some(first) = self.chunks.front_mut() {
            first.bytes += moved;
            if eaten {
                first.marks |= second.marks;
            }
        }
    }

    /// Marks the first chunk.
    pub(super) fn mark_front(&mut self, marks: u8) {
        if let Some(first) = self.chunks.front_mut() {
            first.marks |= marks;
        }
    }

    /// Divides the first chunk after `bytes` bytes; marks stay with the rest.
    pub(super) fn split_front(&mut self, bytes: u32) {
        if let Some(first) = self.chunks.front_mut() {
            let rest = Chunk {
                bytes: first.bytes - bytes,
                marks: first.marks,
            };
            *first = Chunk { bytes, marks: 0 };
            self.chunks.insert(1, rest);
        }
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
