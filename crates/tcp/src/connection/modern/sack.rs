//! Selective acknowledgements tag the queue.
//!
//! Models Linux 7.2 net/ipv4/tcp_input.c: tcp_sacktag_write_queue, tcp_sacktag_walk,
//! tcp_sacktag_one, tcp_match_skb_to_sack, tcp_is_sackblock_valid, tcp_check_dsack,
//! tcp_dsack_seen, tcp_check_sack_reordering. The kernel's cache of blocks seen before only saves
//! walking; here what is tagged lies joined together and is stepped over.

use super::super::{CaState, Connection};
use super::ack::AckNews;
use crate::queue::{LOST, RETRANS, SACKED};
use crate::segment::{SackBlock, Segment};
use crate::seq::Seq;

impl Connection {
    /// tcp_sacktag_write_queue.
    pub(super) fn tag_sacked_today(
        &mut self,
        segment: &Segment,
        prior_una: Seq,
        news: &mut AckNews,
    ) {
        let received = segment.sack_blocks();
        if self.sacked_out == 0 {
            self.modern.highest_sack = self.snd_una;
        }
        let dsack = self.check_dsack(segment.ack, &received, prior_una, news);
        if segment.ack.before(prior_una - self.max_window) || self.packets_out == 0 {
            return;
        }
        let mut blocks = [SackBlock::default(); 4];
        let (mut used, mut first) = (0, dsack.then_some(0));
        for (index, block) in received.iter().enumerate() {
            let duplicate = dsack && index == 0;
            let usable = self.is_block_valid(*block, duplicate) && block.end.after(prior_una);
            if usable {
                blocks[used] = *block;
                used += 1;
            } else if index == 0 {
                first = None;
            }
        }
        // In order of sequence numbers; `first` follows the block that came first.
        for end in (1..used).rev() {
            for at in 0..end {
                if blocks[at].start.after(blocks[at + 1].start) {
                    blocks.swap(at, at + 1);
                    if first == Some(at) {
                        first = Some(at + 1);
                    }
                }
            }
        }
        let mut position = None;
        for at in 0..used {
            let duplicate = first == Some(at);
            let next_duplicate = (first == Some(at + 1)).then(|| blocks[at + 1]);
            position = self.walk_block(position, blocks[at], duplicate, next_duplicate, news);
        }
        if self.state != CaState::Loss || self.undo_marker.is_some() {
            self.check_reordering(news.reordered);
        }
    }

    /// Whether the first block tells of a duplicate that this side may have caused (RFC 2883).
    fn check_dsack(
        &mut self,
        ack: Seq,
        blocks: &[SackBlock],
        prior_una: Seq,
        news: &mut AckNews,
    ) -> bool {
        let Some(&first) = blocks.first() else {
            return false;
        };
        let told = first.start.before(ack)
            || blocks.get(1).is_some_and(|second| {
                !first.end.after(second.end) && !first.start.before(second.start)
            });
        if !told {
            return false;
        }
        self.stats.dsacks_received += 1;
        let duplicates = self.dsack_seen(first, news);
        if duplicates == 0 {
            return false;
        }
        if self.undo_marker.is_some_and(|m| first.end.after(m))
            && self.undo_retrans > 0
            && !first.end.after(prior_una)
        {
            self.undo_retrans = (self.undo_retrans - duplicates as i32).max(0);
        }
        true
    }

    /// Counts the duplicates told of; none if they cannot be this side's doing.
    fn dsack_seen(&mut self, block: SackBlock, news: &mut AckNews) -> u32 {
        if !block.start.before(block.end) {
            return 0;
        }
        let bytes = block.end - block.start;
        if bytes > self.max_window {
            return 0;
        }
        let mut duplicates = 1;
        if bytes > self.mss {
            duplicates = bytes.div_ceil(self.mss);
        } else if self.modern.tlp_high_seq == Some(block.end) {
            news.dsack_of_probe = true;
        }
        self.modern.dsack_dups += duplicates;
        if self.modern.dsack_dups > self.modern.total_retrans {
            return 0;
        }
        if self.modern.reord_seen > 0 && !news.dsack_of_probe {
            self.modern.rack.dsack_seen = true;
        }
        news.dsacking = true;
        news.sack_delivered += duplicates;
        duplicates
    }

    /// Whether a block lies in what was sent: above what is acknowledged, or, telling of a
    /// duplicate, below it but not below what may be undone.
    fn is_block_valid(&self, block: SackBlock, duplicate: bool) -> bool {
        let SackBlock { start, end } = block;
        if end.after(self.snd_nxt) || !start.before(end) || !start.before(self.snd_nxt) {
            return false;
        }
        if start.after(self.snd_una) {
            return true;
        }
        let Some(marker) = self.undo_marker.filter(|_| duplicate) else {
            return false;
        };
        if end.after(self.snd_una) {
            return false;
        }
        if !start.before(marker) {
            return true;
        }
        end.after(marker) && !start.before(end - self.max_window)
    }

    /// Tags what lies in a block. `position` is where the walk over the last block ended, `None`
    /// at the end of the queue; answers the same for this one.
    fn walk_block(
        &mut self,
        position: Option<Seq>,
        block: SackBlock,
        duplicate: bool,
        next_duplicate: Option<SackBlock>,
        news: &mut AckNews,
    ) -> Option<Seq> {
        let from = position.map_or(block.start, |p| p.max(block.start));
        let mut index = self.modern.sent.find(from);
        loop {
            let packet = self.modern.sent.get(index)?;
            let seq = packet.seq;
            if !seq.before(block.end) {
                return Some(seq);
            }
            let mut twice = duplicate;
            let mut inside = false;
            if let Some(next) = next_duplicate.filter(|next| seq.before(next.end)) {
                inside = self.match_to_block(index, next) == Some(true);
                twice |= inside;
            }
            if !inside {
                match self.match_to_block(index, block) {
                    Some(matched) => inside = matched,
                    None => return Some(seq),
                }
            }
            if inside {
                self.tag_packet_today(index, twice, news);
                if self.modern.sent.join_sacked(index) {
                    // What fills a hole joins what is behind it, too.
                    self.modern.sent.join_sacked(index);
                    continue;
                }
            }
            index += 1;
        }
    }

    /// Whether the packet lies in the block, dividing it at whole segments where it does in part.
    /// `None` if a block ends within the first segment.
    fn match_to_block(&mut self, index: usize, block: SackBlock) -> Option<bool> {
        let packet = *self.modern.sent.get(index)?;
        let starts_inside = !block.start.after(packet.seq);
        let inside = starts_inside && !block.end.before(packet.end_seq);
        if packet.segments <= 1 || inside || !packet.end_seq.after(block.start) {
            return Some(inside);
        }
        let mss = u32::from(packet.mss);
        let mut bytes = if starts_inside {
            let bytes = block.end - packet.seq;
            if bytes < mss {
                return None;
            }
            bytes
        } else {
            (block.start - packet.seq).max(mss)
        };
        if bytes > mss {
            let whole = bytes / mss * mss;
            bytes = if !starts_inside && whole < bytes {
                whole + mss
            } else {
                whole
            };
        }
        if bytes >= packet.payload_bytes() {
            return Some(starts_inside);
        }
        self.split_sent(index, bytes, mss);
        Some(starts_inside)
    }

    /// tcp_sacktag_one.
    fn tag_packet_today(&mut self, index: usize, duplicate: bool, news: &mut AckNews) {
        let Some(&packet) = self.modern.sent.get(index) else {
            return;
        };
        let segments = u32::from(packet.segments);
        if duplicate && packet.retransmitted() {
            if self.undo_retrans > 0 && self.undo_marker.is_some_and(|m| packet.end_seq.after(m)) {
                self.undo_retrans = (self.undo_retrans - segments as i32).max(0);
            }
            if packet.has(SACKED) {
                news.reordered = news.reordered.min(packet.seq);
            }
        }
        if !packet.end_seq.after(self.snd_una) {
            return;
        }
        let mut tags = packet.tags;
        if !packet.has(SACKED) {
            self.rack_advance(packet.retransmitted(), packet.end_seq, packet.sent_us());
            if packet.has(RETRANS) {
                if packet.has(LOST) {
                    tags &= !(LOST | RETRANS);
                    self.lost_out -= segments.min(self.lost_out);
                    self.retrans_out -= segments.min(self.retrans_out);
                }
            } else {
                if !packet.retransmitted() {
                    if packet.seq.before(self.highest_sack_seq()) {
                        news.reordered = news.reordered.min(packet.seq);
                    }
                    news.orig_sack_acked |= !packet.end_seq.after(self.high_seq);
                    news.first_sacked_us.get_or_insert(packet.sent_us());
                    news.last_sacked_us = packet.sent_us();
                }
                if packet.has(LOST) {
                    tags &= !LOST;
                    self.lost_out -= segments.min(self.lost_out);
                }
            }
            tags |= SACKED;
            news.data_sacked = true;
            self.sacked_out += segments;
            news.sack_delivered += segments;
            news.delivered_bytes += packet.payload_bytes();
        }
        if duplicate && tags & RETRANS != 0 {
            tags &= !RETRANS;
            self.retrans_out -= segments.min(self.retrans_out);
        }
        if let Some(packet) = self.modern.sent.get_mut(index) {
            packet.tags = tags;
        }
        self.rate_delivered_at(index, &mut news.rate);
        self.modern.highest_sack = self.modern.highest_sack.max(packet.end_seq);
    }

    /// Data was delivered later than data sent after it: how far reordering reaches
    /// (tcp_check_sack_reordering).
    pub(super) fn check_reordering(&mut self, lowest: Seq) {
        let highest = self.highest_sack_seq();
        if !lowest.before(highest) {
            return;
        }
        let metric = highest - lowest;
        let mss = self.mss.max(1);
        if metric > self.reordering.saturating_mul(mss) {
            self.reordering = metric.div_ceil(mss).min(self.stack.tcp_max_reordering);
        }
        self.modern.reord_seen += 1;
    }

    /// Divides a packet and adjusts what is counted in segments (tcp_fragment).
    pub(super) fn split_sent(&mut self, index: usize, bytes: u32, mss: u32) {
        let tags = self.modern.sent.get(index).map_or(0, |p| p.tags);
        let fewer = self.modern.sent.split(index, bytes, mss);
        self.adjust_counts(tags, fewer);
    }

    /// A packet stands for `fewer` segments less than before (tcp_adjust_pcount).
    pub(super) fn adjust_counts(&mut self, tags: u8, fewer: i32) {
        if fewer == 0 {
            return;
        }
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
        if !self.sack && self.sacked_out > 0 && fewer > 0 {
            self.sacked_out -= (fewer as u32).min(self.sacked_out);
        }
    }
}
