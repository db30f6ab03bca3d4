//! Selective acknowledgements tag the queue.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_input.c, tcp_sacktag_write_queue: D-SACK accounting, the fast
//! path that goes on where the last walk stopped if only the first block has grown, detection of
//! reordering and of lost retransmissions (by anything sent after them; needs FACK in this form).
//! Two properties of that kernel are kept because they decide when a lost retransmission is
//! noticed: the fast path does not look at packets before the hint, and when the three blocks of an
//! acknowledgement come in falling order the kernel's sort repeats one of them and loses another.

use super::{AckFlags, CaState, Connection};
use crate::queue::{Hint, LOST, Packet, RETRANS, SACKED};
use crate::segment::{SackBlock, Segment};
use crate::seq::Seq;

/// What the walk over all blocks gathers.
struct Walk {
    prior_fackets: u32,
    /// Least segment count at which reordering was seen.
    reorder: u32,
    dsack: bool,
    lost_retransmission: Option<Seq>,
}

impl Connection {
    /// tcp_sacktag_write_queue.
    pub(super) fn tag_sacked(&mut self, segment: &Segment, prior_una: Seq, flags: &mut AckFlags) {
        if self.sacked_out == 0 {
            self.fackets_out = 0;
        }
        let received = segment.sack_blocks();
        let mut blocks = [SackBlock::default(); 4];
        blocks[..received.len()].copy_from_slice(&received);
        let mut count = received.len();
        let mut walk = Walk {
            prior_fackets: self.fackets_out,
            reorder: self.packets_out,
            dsack: false,
            lost_retransmission: None,
        };
        let fast = self.remember_blocks(&received);
        walk.dsack = is_dsack(segment, &received);
        if walk.dsack {
            self.stats.dsacks_received += 1;
            let first = received[0];
            if !first.end.after(prior_una) && self.undo_marker.is_some_and(|m| first.end.after(m)) {
                self.undo_retrans -= 1;
            }
        }
        if segment.ack.before(prior_una - self.max_window) {
            return;
        }
        if fast {
            count = 1;
        } else {
            self.queue.sack_hint = None;
            sort_as_the_kernel_does(&mut blocks[..count], &self.queue.sack_cache);
        }
        for block in &blocks[..count] {
            flags.data_lost |= block.end.after(self.high_seq);
            if !self.queue.is_simple() || !self.tag_simple(*block, &mut walk, flags) {
                self.tag_block(*block, &mut walk, flags);
            }
        }
        if let Some(seq) = walk
            .lost_retransmission
            .filter(|_| self.state == CaState::Recovery)
        {
            self.mark_lost_retransmissions(seq, flags);
        }
        if walk.reorder < self.fackets_out && self.state != CaState::Loss {
            self.update_reordering(self.fackets_out + 1 - walk.reorder);
        }
    }

    /// Remembers the blocks; true if only the first has grown since the last time.
    fn remember_blocks(&mut self, received: &[SackBlock]) -> bool {
        let mut fast = true;
        for (index, (block, cached)) in received.iter().zip(&mut self.queue.sack_cache).enumerate()
        {
            fast &= cached.start == block.start && (index == 0 || cached.end == block.end);
            *cached = *block;
        }
        fast
    }

    fn tag_block(&mut self, block: SackBlock, walk: &mut Walk, flags: &mut AckFlags) {
        let Hint {
            mut index,
            mut count,
        } = self.queue.sack_hint.unwrap_or(Hint { index: 0, count: 0 });
        while let Some(packet) = self.queue.get(index).copied() {
            self.queue.sack_hint = Some(Hint { index, count });
            if !packet.seq.before(block.end) {
                break;
            }
            let mut inside = !block.start.after(packet.seq) && !block.end.before(packet.end_seq);
            if packet.segments > 1 && !inside && packet.end_seq.after(block.start) {
                inside = !block.start.after(packet.seq);
                let bytes = if inside {
                    block.end - packet.seq
                } else {
                    block.start - packet.seq
                };
                self.split_packet(index, bytes, u32::from(packet.mss));
                // Dividing a packet ends all hints.
            }
            let Some(packet) = self.queue.get(index).copied() else {
                break;
            };
            count += u32::from(packet.segments);
            self.tag_packet(index, inside, count, block, walk, flags);
            index += 1;
        }
    }

    /// Tags what a block covers as [`Connection::tag_block`] does, where each packet is a segment, and passes over
    /// packets that this cannot change; false if it must not.
    fn tag_simple(&mut self, block: SackBlock, walk: &mut Walk, flags: &mut AckFlags) -> bool {
        /// Numbers further apart may be in no order.
        const FAR: u32 = 1 << 29;
        let (len, from) = (
            self.queue.len(),
            self.queue.sack_hint.map_or(0, |h| h.index),
        );
        let Some(front) = self.queue.front() else {
            return false;
        };
        let near = |seq: Seq| (seq - front.seq).wrapping_add(FAR) <= 2 * FAR;
        if from >= len || !near(block.start) || !near(block.end) || self.snd_nxt - front.seq > FAR {
            return false;
        }
        let stop = self.queue.first_from(block.end);
        let hint = stop.max(from).min(len - 1);
        self.queue.sack_hint = Some(Hint {
            index: hint,
            count: hint as u32,
        });
        let mut index = from;
        // Acknowledged by the same segment.
        while index < stop
            && let Some(packet) = self.queue.get(index)
            && !packet.end_seq.after(self.snd_una)
        {
            let inside = !block.start.after(packet.seq) && !block.end.before(packet.end_seq);
            index += 1;
            self.tag_packet(index - 1, inside, index as u32, block, walk, flags);
        }
        if self.state == CaState::Recovery
            && self.retrans_out > 0
            && (walk.lost_retransmission).is_none_or(|seq| block.end.after(seq))
            && stop > from
            && (self.queue).is_beyond_retransmission(block.end, from, self.snd_una)
        {
            walk.lost_retransmission = Some(block.end);
        }
        let beyond = |p: &Packet| p.end_seq.after(block.end);
        let last = stop.checked_sub(1).and_then(|last| self.queue.get(last));
        let stop = stop - usize::from(last.is_some_and(beyond));
        let first = self.queue.first_from(block.start).max(index);
        if first < stop {
            self.tag_inside(first, stop, block, walk, flags);
        }
        true
    }

    /// Tags the packets from `first` to before `stop`, each a segment, which a block covers and no cumulative
    /// acknowledgement does.
    fn tag_inside(
        &mut self,
        first: usize,
        stop: usize,
        block: SackBlock,
        walk: &mut Walk,
        flags: &mut AckFlags,
    ) {
        let mut index = first;
        // If a duplicate is told of, what was ever sent again is of interest too.
        let mut unsent_from = first;
        while index < stop
            && let Some(packet) = self.queue.get(index)
        {
            if packet.has(SACKED) && !walk.dsack {
                index += (packet.run as usize).max(1);
                continue;
            }
            if packet.has(SACKED) && !packet.retransmitted() {
                index += (packet.once as usize).max(1);
                continue;
            }
            if walk.dsack && packet.retransmitted() {
                self.queue.note_once(unsent_from, index);
                unsent_from = index + 1;
            }
            index += 1;
            self.tag_packet(index - 1, true, index as u32, block, walk, flags);
        }
        if walk.dsack {
            self.queue.note_once(unsent_from, stop);
        }
        if let Some(packet) = self.queue.get_mut(first) {
            packet.run = packet.run.max((stop - first) as u32);
        }
    }

    fn tag_packet(
        &mut self,
        index: usize,
        inside: bool,
        count: u32,
        block: SackBlock,
        walk: &mut Walk,
        flags: &mut AckFlags,
    ) {
        let Some(packet) = self.queue.get_mut(index) else {
            return;
        };
        let segments = u32::from(packet.segments);
        let duplicate = walk.dsack && inside;
        if duplicate
            && packet.retransmitted()
            && self.undo_marker.is_some_and(|m| packet.end_seq.after(m))
        {
            self.undo_retrans -= 1;
        }
        if !packet.end_seq.after(self.snd_una) {
            // Acknowledged by the same segment.
            let reordered = if packet.retransmitted() {
                duplicate && packet.has(SACKED)
            } else {
                count < walk.prior_fackets && !packet.has(SACKED)
            };
            if reordered {
                walk.reorder = walk.reorder.min(count);
            }
            return;
        }
        if packet.has(RETRANS)
            && block.end.after(packet.sent_before)
            && walk
                .lost_retransmission
                .is_none_or(|seq| block.end.after(seq))
        {
            walk.lost_retransmission = Some(block.end);
        }
        if !inside {
            return;
        }
        if packet.has(SACKED) {
            if walk.dsack && packet.retransmitted() {
                walk.reorder = walk.reorder.min(count);
            }
        } else {
            if packet.has(RETRANS) {
                if packet.has(LOST) {
                    packet.tags &= !(LOST | RETRANS);
                    self.lost_out -= segments.min(self.lost_out);
                    self.retrans_out -= segments.min(self.retrans_out);
                    self.queue.retransmit_hint = None;
                }
            } else {
                if !packet.retransmitted() && count < walk.prior_fackets {
                    walk.reorder = walk.reorder.min(count);
                }
                if packet.has(LOST) {
                    packet.tags &= !LOST;
                    self.lost_out -= segments.min(self.lost_out);
                    self.queue.retransmit_hint = None;
                }
            }
            if let Some(packet) = self.queue.get_mut(index) {
                packet.tags |= SACKED;
            }
            flags.data_sacked = true;
            self.sacked_out += segments;
            self.fackets_out = self.fackets_out.max(count);
        }
        if let Some(packet) = self
            .queue
            .get_mut(index)
            .filter(|p| walk.dsack && p.has(RETRANS))
        {
            packet.tags &= !RETRANS;
            self.retrans_out -= segments.min(self.retrans_out);
            self.queue.retransmit_hint = None;
        }
    }

    /// Something sent after retransmissions has arrived, they have not: they are lost.
    fn mark_lost_retransmissions(&mut self, seq: Seq, flags: &mut AckFlags) {
        let slack = self.reordering * self.mss;
        if self.queue.is_simple() {
            let (una, fack) = (self.snd_una, self.fack);
            let old = |before: Seq| seq.after(before) && (fack || !seq.before(before + slack));
            while let Some(index) = self.queue.take_retransmission(una, old) {
                self.mark_lost_retransmission(index, flags);
            }
            return;
        }
        let mut index = 0;
        while let Some(packet) = self.queue.get_mut(index) {
            index += 1;
            if packet.seq.after(seq) {
                break;
            }
            let proven = packet.has(RETRANS)
                && packet.end_seq.after(self.snd_una)
                && seq.after(packet.sent_before)
                && (self.fack || !seq.before(packet.sent_before + slack));
            if proven {
                self.mark_lost_retransmission(index - 1, flags);
            }
        }
    }

    fn mark_lost_retransmission(&mut self, index: usize, flags: &mut AckFlags) {
        let Some(packet) = self.queue.get_mut(index) else {
            return;
        };
        let segments = u32::from(packet.segments);
        packet.tags &= !RETRANS;
        self.retrans_out -= segments.min(self.retrans_out);
        if !packet.has(LOST | SACKED) {
            packet.tags |= LOST;
            self.lost_out += segments;
            flags.data_sacked = true;
            self.stats.lost_retransmissions += 1;
        }
        if !packet.has(SACKED) {
            self.queue.places.lost(index);
        }
        self.queue.retransmit_hint = None;
    }

    /// Reordering reached further than assumed; FACK's rule does not hold then
    /// (tcp_update_reordering).
    pub(super) fn update_reordering(&mut self, segments: u32) {
        /// TCP_MAX_REORDERING, include/net/tcp.h.
        const MAX_REORDERING: u32 = 127;
        if segments > self.reordering {
            self.reordering = segments.min(MAX_REORDERING);
            self.fack = false;
        }
    }

    /// Divides a packet and adjusts what is counted in segments (tcp_fragment).
    pub(super) fn split_packet(&mut self, index: usize, bytes: u32, mss: u32) {
        let tags = self.queue.get(index).map_or(0, |p| p.tags);
        let fewer = self.queue.split(index, bytes, mss);
        let adjust = |count: &mut u32| *count = count.saturating_add_signed(-fewer);
        adjust(&mut self.packets_out);
        if tags & SACKED != 0 {
            adjust(&mut self.sacked_out);
        }
        if tags & RETRANS != 0 {
            adjust(&mut self.retrans_out);
        }
        if tags & LOST != 0 {
            adjust(&mut self.lost_out);
        }
        if fewer > 0 {
            if !self.sack {
                adjust(&mut self.sacked_out);
            }
            adjust(&mut self.fackets_out);
        }
    }
}

/// The first block tells of a duplicate (RFC 2883).
fn is_dsack(segment: &Segment, blocks: &[SackBlock]) -> bool {
    let Some(first) = blocks.first() else {
        return false;
    };
    first.start.before(segment.ack)
        || blocks
            .get(1)
            .is_some_and(|second| !first.end.after(second.end) && !first.start.before(second.start))
}

/// The kernel's exchange sort takes the exchanged blocks from the order in which they came: after
/// more than one exchange that repeats a block and loses another.
pub(super) fn sort_as_the_kernel_does(blocks: &mut [SackBlock], received: &[SackBlock]) {
    for last in (1..blocks.len()).rev() {
        for at in 0..last {
            if blocks[at].start.after(blocks[at + 1].start) {
                blocks[at] = received[at + 1];
                blocks[at + 1] = received[at];
            }
        }
    }
}
