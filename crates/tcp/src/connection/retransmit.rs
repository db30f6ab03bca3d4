//! Sending again.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_output.c: tcp_xmit_retransmit_queue (first what is lost; then,
//! in recovery and with nothing new to send, what lies before the highest selectively acknowledged
//! segment) and tcp_retransmit_skb.

use super::{CaState, Connection};
use crate::clock::{Jiffies, Stamp};
use crate::queue::{EVER_RETRANS, Hint, LOST, RETRANS, SACKED, TAGS};

impl Connection {
    /// tcp_xmit_retransmit_queue.
    pub(super) fn retransmit_queue(&mut self, now: Jiffies) {
        if self.lost_out > 0 {
            let all = if self.queue.is_simple() {
                self.retransmit_waiting(now)
            } else {
                self.retransmit_lost(now)
            };
            if !all {
                return;
            }
        }
        if self.state == CaState::Recovery && self.sack && !self.may_send_now() {
            self.retransmit_forward(now);
        }
    }

    /// Retransmits what is lost; false if the window is full.
    fn retransmit_lost(&mut self, now: Jiffies) -> bool {
        let Hint {
            mut index,
            mut count,
        } = self
            .queue
            .retransmit_hint
            .unwrap_or(Hint { index: 0, count: 0 });
        while let Some(tags) = self.queue.get(index).map(|p| p.tags) {
            self.queue.retransmit_hint = Some(Hint { index, count });
            if self.in_flight() >= self.window.cwnd {
                return false;
            }
            if tags & LOST != 0 {
                if tags & (SACKED | RETRANS) == 0 {
                    if !self.retransmit(now, index) {
                        self.queue.retransmit_hint = None;
                        return false;
                    }
                    if index == 0 {
                        self.arm_retransmit(now);
                    }
                }
                count += self.queue.get(index).map_or(0, |p| u32::from(p.segments));
                if count >= self.lost_out {
                    break;
                }
            }
            index += 1;
        }
        true
    }

    /// The same where each packet is a segment: those that need not be looked at are passed over.
    fn retransmit_waiting(&mut self, now: Jiffies) -> bool {
        while self.in_flight() < self.window.cwnd {
            let Some(index) = self.queue.next_lost() else {
                return true;
            };
            if !self.retransmit(now, index) {
                return false;
            }
            if index == 0 {
                self.arm_retransmit(now);
            }
        }
        false
    }

    /// Retransmits ahead what may be lost.
    fn retransmit_forward(&mut self, now: Jiffies) {
        let Hint {
            mut index,
            mut count,
        } = self
            .queue
            .forward_hint
            .unwrap_or(Hint { index: 0, count: 0 });
        let tagged = self.queue.tagged(self.fackets_out);
        if tagged > index {
            (index, count) = (tagged, tagged as u32);
        }
        while let Some(tags) = self.queue.get(index).map(|p| p.tags) {
            self.queue.forward_hint = Some(Hint { index, count });
            count += 1;
            if count > self.fackets_out || self.in_flight() >= self.window.cwnd {
                break;
            }
            if tags & TAGS == 0 {
                if !self.retransmit(now, index) {
                    self.queue.forward_hint = None;
                    break;
                }
                if index == 0 {
                    self.arm_retransmit(now);
                }
            }
            self.queue.places.is_tagged(index);
            index += 1;
        }
    }

    /// Sends the first segment of a packet again (tcp_retransmit_skb); false if it may not be.
    pub(super) fn retransmit(&mut self, now: Jiffies, index: usize) -> bool {
        let Some(packet) = self.queue.get_mut(index) else {
            return false;
        };
        if packet.seq.before(self.snd_una) {
            packet.seq = self.snd_una;
        }
        let packet = *packet;
        let outside = !packet.seq.before(self.snd_una + self.snd_wnd) && packet.seq != self.snd_una;
        if outside {
            return false;
        }
        let mss = self.current_mss();
        if packet.payload_bytes() > mss {
            self.split_packet(index, mss, mss);
        }
        let before = self.snd_nxt;
        let Some(packet) = self.queue.get_mut(index) else {
            return false;
        };
        packet.when = now;
        packet.tags |= RETRANS | EVER_RETRANS;
        packet.sent_before = before;
        let packet = *packet;
        let only = self.retrans_out == 0;
        self.queue.places.sent_again(&packet, self.snd_una, only);
        self.transmit(now, &packet, mss, true);
        self.stats.retransmissions += u64::from(packet.segments);
        self.retrans_out += u32::from(packet.segments);
        if self.retrans_stamp.get().is_none() {
            self.retrans_stamp = Stamp::at(now);
        }
        self.undo_retrans += 1;
        true
    }
}
