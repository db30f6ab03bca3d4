//! What the host's transmit queue drops.
//!
//! Models Linux 2.6.18 and 2.6.24 net/ipv4/tcp_output.c: tcp_transmit_skb takes a drop for congestion (net_xmit_eval,
//! tcp_enter_cwr), and tcp_write_xmit and tcp_push_one end there. New data that was dropped has not been sent: the
//! send head stays, and an acknowledgement, a write or, with nothing under way, the probe timer
//! (tcp_check_probe_timer) tries again. Segments that were polled together would not have been tried.
//! Left out: a retransmission that is dropped counts as sent and lost, and so does what today's sender sends.

use tailback_units::Time;

use super::Connection;
use crate::segment::{Flags, Segment};

impl Connection {
    /// The host's transmit queue has refused a segment just polled.
    #[cold]
    pub fn refused(&mut self, now: Time, segment: &Segment) {
        let jiffies = self.clock.jiffies(now);
        if self.is_modern() {
            return self.enter_cwr_today(jiffies);
        }
        let taken_back = self.take_back(segment);
        self.enter_cwr(jiffies);
        if taken_back && self.packets_out == 0 {
            self.timer = None;
            self.arm_probe(jiffies, 0);
        }
    }

    /// New data from `segment` on is unsent again; false if that was sent before, or carries nothing.
    fn take_back(&mut self, segment: &Segment) -> bool {
        let from = segment.seq;
        let carries = |s: &Segment| s.payload_bytes > 0 || s.flags.contains(Flags::FIN);
        let first = self.queue.first_where(|packet| packet.seq.before(from));
        let head = self.queue.get(first);
        let Some(head) = head.filter(|p| p.seq == from && p.tags == 0 && carries(segment)) else {
            return false;
        };
        self.head_left = head.payload_bytes();
        while self.queue.len() > first
            && let Some(packet) = self.queue.pop_last()
        {
            let bytes = u64::from(packet.payload_bytes());
            self.packets_out -= u32::from(packet.segments);
            self.unsent += bytes;
            self.fin_sent &= !packet.fin;
            if bytes > 0 {
                self.stats.segments_sent -= u64::from(packet.segments);
                self.stats.bytes_sent -= bytes;
            }
        }
        self.snd_nxt = from;
        if self.small_end.after(from) {
            self.small_end = self.snd_una;
        }
        self.out
            .retain(|t| t.segment.seq.before(from) || !carries(&t.segment));
        for transmit in &mut self.out {
            // An acknowledgement made after the data.
            transmit.segment.seq = transmit.segment.seq.min(from);
        }
        true
    }
}
