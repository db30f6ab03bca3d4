//! Sending again.
//!
//! Models Linux 7.2 net/ipv4/tcp_output.c: tcp_xmit_retransmit_queue, tcp_retransmit_skb,
//! tcp_retrans_try_collapse. Lost packets are sent as the window has room, in as many segments as
//! a packet for segmentation offload may have; short ones are joined. What is still in the host's
//! own queue is not sent again.

use super::super::{Connection, TimerKind};
use crate::clock::{Jiffies, Stamp};
use crate::queue::{EVER_RETRANS, LOST, RETRANS, SACKED, segments};

impl Connection {
    /// tcp_xmit_retransmit_queue.
    pub(super) fn retransmit_lost_packets(&mut self, now: Jiffies) {
        if self.packets_out == 0 {
            return;
        }
        let max_segments = self.tso_segments(self.current_mss());
        let mut index = match self.modern.retransmit_hint {
            Some(seq) => self.modern.sent.find(seq),
            None => 0,
        };
        let mut hole = false;
        let mut rearm = false;
        while let Some(&packet) = self.modern.sent.get(index) {
            if self.pacing_waits() {
                break;
            }
            if !hole {
                self.modern.retransmit_hint = Some(packet.seq);
            }
            let room = self.window.cwnd.saturating_sub(self.in_flight());
            if room == 0 || self.retrans_out >= self.lost_out {
                break;
            }
            if !packet.has(LOST) {
                hole |= !packet.has(RETRANS | SACKED);
                index += 1;
                continue;
            }
            if packet.has(RETRANS | SACKED) {
                index += 1;
                continue;
            }
            if self.small_queue_waits(packet.payload_bytes(), 1)
                || !self.retransmit_today(now, index, room.min(max_segments))
            {
                break;
            }
            if self.in_reduction() {
                let sent = self.modern.sent.get(index);
                self.modern.prr_out += sent.map_or(0, |p| u32::from(p.segments));
            }
            rearm |= index == 0 && !matches!(self.timer, Some((TimerKind::Reordering, _)));
            index += 1;
        }
        if rearm {
            let ticks = self.rtt.rto;
            self.arm_paced(now, TimerKind::Retransmit, ticks);
        }
    }

    /// Retransmits up to `most` segments of a packet and counts it as outstanding again
    /// (tcp_retransmit_skb); false if it could not be sent.
    pub(super) fn retransmit_today(&mut self, now: Jiffies, index: usize, most: u32) -> bool {
        let sent = self.send_again(now, index, most);
        let Some(packet) = self.modern.sent.get_mut(index) else {
            return sent;
        };
        let (count, sent_ns) = (u32::from(packet.segments), packet.sent_ns);
        if sent {
            // Once, though a timeout after an undone one finds it retransmitted already: there the kernel's
            // count leaks, as its own debugging says.
            let again = packet.tags & RETRANS != 0;
            packet.tags |= RETRANS | EVER_RETRANS;
            self.retrans_out += if again { 0 } else { count };
        }
        if self.retrans_stamp.get().is_none() {
            self.retrans_stamp = Stamp::at(self.stamp_of(sent_ns));
        }
        self.undo_retrans = self.undo_retrans.max(0) + count as i32;
        sent
    }

    /// Sends up to `most` segments of a packet again (__tcp_retransmit_skb); false if the window
    /// or the host forbids it.
    pub(super) fn send_again(&mut self, now: Jiffies, index: usize, most: u32) -> bool {
        let Some(&packet) = self.modern.sent.get(index) else {
            return false;
        };
        if self.still_in_host(packet.seq) {
            return false;
        }
        if packet.seq.before(self.snd_una) {
            self.modern.sent.trim_front(self.snd_una - packet.seq);
        }
        let Some(&packet) = self.modern.sent.get(index) else {
            return false;
        };
        let mss = self.current_mss();
        let mut room = self.window_end() - packet.seq;
        if room as i32 <= 0 {
            if packet.seq != self.snd_una {
                return false;
            }
            room = mss;
        }
        let mut length = mss.saturating_mul(most);
        if length > room {
            length = match room / mss * mss {
                0 => room,
                whole => whole,
            };
        }
        if packet.payload_bytes() > length {
            self.split_sent(index, length, mss);
        } else {
            self.recount(index, mss);
            let room = room.min(mss);
            if self.stack.tcp_retrans_collapse && packet.payload_bytes() < room {
                self.collapse(index, room);
            }
        }
        let Some(&packet) = self.modern.sent.get(index) else {
            return false;
        };
        let count = u32::from(packet.segments);
        self.stats.retransmissions += u64::from(count);
        self.modern.total_retrans += count;
        self.modern.bytes_retrans += u64::from(packet.payload_bytes());
        self.fin_data_last = false;
        let sent = self.transmit_today(now, packet, true);
        if let Some(slot) = self.modern.sent.get_mut(index) {
            *slot = sent.unwrap_or(packet);
            if sent.is_some() {
                slot.marks &= !super::queue::UNLISTED;
            }
            // Even if it was refused: its round trip is not to be taken.
            slot.tags |= EVER_RETRANS;
        }
        sent.is_some()
    }

    /// The packet's segments are of today's size (tcp_set_skb_tso_segs).
    fn recount(&mut self, index: usize, mss: u32) {
        let Some(packet) = self.modern.sent.get_mut(index) else {
            return;
        };
        let before = i32::from(packet.segments);
        packet.segments = segments(packet.payload_bytes(), mss);
        packet.mss = mss as u16;
        let (tags, fewer) = (packet.tags, before - i32::from(packet.segments));
        self.adjust_counts(tags, fewer);
    }

    /// Joins short packets that follow, as far as one segment has room.
    fn collapse(&mut self, index: usize, room: u32) {
        loop {
            let (Some(&packet), Some(&next)) =
                (self.modern.sent.get(index), self.modern.sent.get(index + 1))
            else {
                return;
            };
            let fits = packet.payload_bytes() + next.payload_bytes() <= room;
            let plain = packet.segments == 1
                && next.segments == 1
                && !packet.has(SACKED)
                && !next.has(SACKED)
                && !packet.marked(super::queue::EOR | super::queue::FIN);
            if !fits
                || !plain
                || next.end_seq.after(self.window_end())
                || self.still_in_host(next.seq)
            {
                return;
            }
            if self.modern.retransmit_hint == Some(next.seq) {
                self.modern.retransmit_hint = Some(packet.seq);
            }
            self.modern.sent.join_next(index);
            self.adjust_counts(next.tags, 1);
        }
    }
}
