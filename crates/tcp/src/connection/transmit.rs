//! Segments onto the wire.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_output.c: tcp_transmit_skb, tcp_build_and_update_options,
//! tcp_send_ack, tcp_write_wakeup, tcp_xmit_probe_skb; include/net/tcp_ecn.h: TCP_ECN_send.

use super::accurate_ecn::EcnMode;
use super::{Connection, Transmit};
use crate::clock::Jiffies;
use crate::queue::Packet;
use crate::segment::{Ecn, Flags, Segment};
use crate::seq::Seq;

impl Connection {
    /// Puts a packet on the wire (tcp_transmit_skb).
    #[inline]
    pub(super) fn transmit(&mut self, now: Jiffies, packet: &Packet, mss: u32, again: bool) {
        let mut segment = self.header_of(None);
        segment.seq = packet.seq;
        segment.payload_bytes = packet.payload_bytes() as u16;
        if packet.psh {
            segment.flags = segment.flags.with(Flags::PSH);
        }
        if packet.fin {
            segment.flags = segment.flags.with(Flags::FIN);
        }
        if self.ecn == EcnMode::Classic && !again && segment.payload_bytes > 0 {
            segment.ecn = Ecn::Ect0;
            if self.queue_cwr {
                self.queue_cwr = false;
                segment.flags = segment.flags.with(Flags::CWR);
            }
        }
        self.receive.ack.sent(u32::from(packet.segments));
        if segment.payload_bytes > 0 {
            self.stats.segments_sent += u64::from(packet.segments);
            self.prr.sent = self.prr.sent.wrapping_add(u32::from(packet.segments));
            self.stats.bytes_sent += u64::from(segment.payload_bytes);
            self.data_sent(now);
        }
        self.out.push_back(Transmit {
            segment,
            first_only: Flags::CWR,
            mss: mss as u16,
        });
    }

    /// A header that acknowledges all that has come.
    pub(super) fn header(&mut self) -> Segment {
        self.header_of(None)
    }

    /// The same where the window that can be selected now is known already.
    #[inline(always)]
    fn header_of(&mut self, selectable: Option<u32>) -> Segment {
        let window = self.receive.advertise(selectable);
        self.header_with(window)
    }

    /// The same of data, whose header is made where it is used.
    #[inline(always)]
    pub(super) fn header_of_data(&mut self) -> Segment {
        let window = self.receive.advertise_here();
        self.header_with(window)
    }

    #[inline(always)]
    fn header_with(&mut self, window: u16) -> Segment {
        let mut segment = Segment::EMPTY;
        segment.seq = self.acceptable_seq();
        segment.ack = self.receive.rcv_nxt;
        segment.window = window;
        segment.flags = if self.demand_cwr {
            Flags::ACK.with(Flags::ECE)
        } else {
            Flags::ACK
        }
        .with(self.esce_flag());
        match self.ecn {
            EcnMode::Off => {}
            EcnMode::Classic => {
                if self.congestion.wants_precise_echo() {
                    // Linux lets DCTCP's acknowledgements and retransmissions be marked too.
                    segment.ecn = Ecn::Ect0;
                }
            }
            EcnMode::Accurate => {
                self.stamp(&mut segment);
                self.put_count(&mut segment);
                self.put_option(&mut segment);
                return segment;
            }
        }
        self.stamp(&mut segment);
        if self.sack && !self.receive.reassembly.tells_nothing() {
            segment.adopt_sack(&self.tell_selectively(usize::MAX));
        }
        segment
    }

    /// Puts the timestamps into a header, if they have been agreed on.
    #[inline(always)]
    fn stamp(&self, segment: &mut Segment) {
        if self.timestamps {
            segment.has_timestamps = true;
            segment.ts_val = self.clock.timestamp();
            segment.ts_ecr = self.ts_recent;
        }
    }

    /// After what was sent, but within a window that has shrunk (tcp_acceptable_seq); today not if that is
    /// less than what scaling rounds off.
    #[inline(always)]
    fn acceptable_seq(&self) -> Seq {
        let end = self.snd_una + self.snd_wnd;
        if !end.before(self.snd_nxt) {
            return self.snd_nxt;
        }
        let rounded = 1 << self.receive.window_shift;
        let excused = self.is_modern() && self.receive.scaling && self.snd_nxt - end < rounded;
        if excused { self.snd_nxt } else { end }
    }

    /// The blocks that are to be told, so many at most, in a segment of their own: else every header would be made in
    /// memory first.
    #[inline(never)]
    pub(super) fn tell_selectively(&mut self, most: usize) -> Segment {
        let mut segment = Segment::EMPTY;
        segment.has_timestamps = self.timestamps;
        for block in self.receive.reassembly.sack_blocks().take(most) {
            segment.push_sack(block);
        }
        self.receive.reassembly.dsack_sent();
        segment
    }

    /// Sends an acknowledgement (tcp_send_ack).
    pub(super) fn send_ack(&mut self) {
        self.send_ack_of(None);
    }

    /// The same where the window that can be selected now is known already.
    #[inline(always)]
    pub(super) fn send_ack_of(&mut self, selectable: Option<u32>) {
        let segment = self.header_of(selectable);
        self.receive.ack.sent(1);
        self.stats.acks_sent += 1;
        self.emit(segment);
    }

    /// Hands a segment without payload to the host. To today's senders that was sent too: whether a packet is
    /// deferred goes by when anything was (tcp_wstamp_ns, __tcp_transmit_skb).
    #[inline]
    pub(super) fn emit(&mut self, segment: Segment) {
        if self.is_modern() {
            self.modern.note_sent(self.clock.ns());
            self.fin_data_last = false;
        }
        self.out.push_back(Transmit {
            segment,
            first_only: Flags::CWR,
            mss: self.mss as u16,
        });
    }

    /// The peer's window stays closed, or too small for what waits: sends what it has room for,
    /// or a segment outside it that has to be answered (tcp_write_wakeup, tcp_xmit_probe_skb).
    pub(super) fn wake_peer(&mut self, now: Jiffies) {
        let room = (self.snd_una + self.snd_wnd) - self.snd_nxt;
        if room as i32 > 0 && self.has_unsent() {
            let mss = self.current_mss();
            self.head_left = self.head_bytes();
            let bytes = self.head_left.min(room).min(mss);
            self.pushed_seq = self.pushed_seq.max(self.snd_nxt + bytes);
            self.send_new(now, bytes, mss);
            return;
        }
        self.send_window_probe();
    }

    /// A segment outside the window, which has to be answered (tcp_xmit_probe_skb).
    pub(super) fn send_window_probe(&mut self) {
        let mut segment = self.header();
        segment.seq = self.snd_una - 1;
        self.receive.ack.sent(1);
        self.stats.acks_sent += 1;
        self.emit(segment);
    }
}
