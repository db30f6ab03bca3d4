//! A segment arrives.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_input.c: tcp_rcv_established (its slow path; the fast path has
//! the same results), tcp_data_queue, tcp_send_dupack, __tcp_ack_snd_check, and the receiver's
//! side of ECN: RFC 3168's latched echo (tcp_ecn.h) and DCTCP's echo of every change of state
//! (net/ipv4/tcp_dctcp.c, RFC 8257 section 3.2). tcp.c: tcp_cleanup_rbuf.

use tailback_units::Time;

use super::{Connection, Event, Life};
use crate::clock::{self, Jiffies};
use crate::receive::Placed;
use crate::segment::{Ecn, Flags, Segment};
use crate::seq::Seq;

impl Connection {
    /// A segment has arrived.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        let jiffies = self.clock.jiffies(now);
        match self.life {
            Life::Established => {}
            Life::SynSent | Life::SynReceived => {
                if !self.handshake_segment(now, segment) {
                    return;
                }
            }
            Life::Closed => {
                if segment.seq_len() > 0 && !segment.flags.intersects(Flags::RST) {
                    self.send_ack(now);
                }
                return;
            }
        }
        if !self.acceptable(now, segment) {
            return;
        }
        if segment.has_timestamps && !segment.seq.after(self.receive.rcv_wup) {
            self.ts_recent = segment.ts_val;
        }
        if segment.flags.contains(Flags::ACK) {
            self.handle_ack(jiffies, segment);
        }
        if segment.payload_bytes > 0 || segment.flags.intersects(Flags::FIN) {
            if self.timestamps && segment.ts_ecr != 0 {
                let ticks = jiffies.wrapping_sub(segment.ts_ecr);
                self.receive
                    .measure_rtt_by_echo(ticks, u32::from(segment.payload_bytes));
            }
            self.queue_data(jiffies, segment);
        }
        self.push(jiffies);
        self.check_space(jiffies);
        if self.receive.ack.scheduled {
            self.check_ack(jiffies);
        }
    }

    /// The application reads up to `most` bytes; answers how many it got.
    pub fn read(&mut self, now: Time, most: u64) -> u64 {
        let bytes = u64::from(self.receive.readable()).min(most);
        if bytes == 0 {
            return 0;
        }
        let jiffies = self.clock.jiffies(now);
        self.receive.read(bytes as u32, jiffies);
        self.clean_up_after_read(jiffies);
        bytes
    }

    /// RFC 7323's PAWS, RFC 9293's window check, resets, stray SYNs. False if that was all.
    #[inline]
    fn acceptable(&mut self, now: Time, segment: &Segment) -> bool {
        let reset = segment.flags.intersects(Flags::RST);
        let stale = segment.has_timestamps
            && self.timestamps
            && clock::before(segment.ts_val, self.ts_recent)
            && !self.is_disordered_ack(segment);
        let right = self.receive.rcv_nxt + self.receive.window_left();
        let outside = segment.end_seq().before(self.receive.rcv_wup) || segment.seq.after(right);
        if (stale && !reset) || outside {
            if !reset {
                self.send_duplicate_ack(now, segment);
            }
            return false;
        }
        if reset {
            self.give_up(Event::Reset);
            return false;
        }
        if segment.flags.intersects(Flags::SYN) {
            // A SYN sent again: its acknowledgement was lost.
            self.send_ack(now);
            return false;
        }
        true
    }

    /// An acknowledgement without data that was overtaken (tcp_disordered_ack).
    fn is_disordered_ack(&self, segment: &Segment) -> bool {
        segment.seq_len() == 0
            && segment.seq == self.receive.rcv_nxt
            && segment.ack == self.snd_una
            && self.ts_recent.wrapping_sub(segment.ts_val) <= self.rtt.rto
    }

    /// What cannot be accepted is acknowledged at once (tcp_send_dupack).
    fn send_duplicate_ack(&mut self, now: Time, segment: &Segment) {
        if segment.seq_len() > 0 && segment.seq.before(self.receive.rcv_nxt) {
            self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
            if self.dsack() {
                let end = segment.end_seq().min(self.receive.rcv_nxt);
                self.receive.reassembly.set_dsack(segment.seq, end);
            }
        }
        self.send_ack(now);
    }

    #[inline]
    fn dsack(&self) -> bool {
        self.sack && self.stack.tcp_dsack
    }

    /// tcp_data_queue.
    #[inline]
    fn queue_data(&mut self, jiffies: Jiffies, segment: &Segment) {
        if segment.flags.intersects(Flags::CWR) && !self.congestion.wants_precise_echo() {
            self.demand_cwr = false;
        }
        self.receive.reassembly.clear_dsack();
        let end = segment.seq + u32::from(segment.payload_bytes);
        let end_with_fin = segment.end_seq();
        let next = self.receive.rcv_nxt;
        if !end_with_fin.after(next) {
            self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
            if self.dsack() {
                self.receive.reassembly.set_dsack(segment.seq, end_with_fin);
            }
            self.receive.ack.scheduled = true;
            return;
        }
        if !segment.seq.before(next + self.receive.window_left())
            && (segment.seq != next || segment.payload_bytes > 0)
        {
            self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
            self.receive.ack.scheduled = true;
            return;
        }
        if segment.seq.after(next) {
            self.queue_out_of_order(jiffies, segment, end);
            return;
        }
        if segment.seq.before(next) {
            self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
            if self.dsack() {
                self.receive.reassembly.set_dsack(segment.seq, next);
            }
        }
        if segment.payload_bytes > 0 {
            if !self.receive.make_room() {
                return;
            }
            self.receive.charge();
            self.note_congestion(jiffies, segment);
            self.receive.rcv_nxt = end;
            self.data_received(jiffies, segment);
        }
        if segment.flags.intersects(Flags::FIN) {
            self.peer_fin();
        }
        self.take_reassembled();
        if segment.payload_bytes > 0 {
            self.events.push_back(Event::Readable);
        }
    }

    /// tcp_event_data_recv.
    #[inline]
    fn data_received(&mut self, jiffies: Jiffies, segment: &Segment) {
        let payload_bytes = u32::from(segment.payload_bytes);
        let push = segment.flags.intersects(Flags::PSH);
        let rcv_wnd = self.receive.rcv_wnd;
        self.receive
            .ack
            .data_received(payload_bytes, push, rcv_wnd, self.rtt.rto, jiffies);
        self.receive.measure_rtt_by_window(jiffies);
        self.receive.grow_window(payload_bytes);
    }

    /// tcp_ofo_queue: what was out of order may be in order now.
    #[inline]
    fn take_reassembled(&mut self) {
        if self.receive.reassembly.is_empty() {
            return;
        }
        let dsack = self.dsack();
        let (next, superfluous) = self.receive.reassembly.advance(self.receive.rcv_nxt, dsack);
        self.receive.rcv_nxt = next;
        self.receive.release(superfluous);
        if self.receive.reassembly.is_empty() {
            self.receive.ack.pingpong = false;
        }
    }

    fn queue_out_of_order(&mut self, jiffies: Jiffies, segment: &Segment, end: Seq) {
        self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
        self.note_congestion(jiffies, segment);
        if segment.payload_bytes == 0 || !self.receive.make_room() {
            return;
        }
        self.receive.ack.scheduled = true;
        let dsack = self.dsack();
        if self.receive.reassembly.insert(segment.seq, end, dsack) == Placed::Kept {
            self.receive.charge();
        }
    }

    /// The receiver's side of ECN, before the data is taken over.
    #[inline]
    fn note_congestion(&mut self, jiffies: Jiffies, segment: &Segment) {
        if !self.ecn {
            return;
        }
        if self.congestion.wants_precise_echo() {
            let marked = segment.ecn == Ecn::Ce;
            if marked != self.ce_state {
                // What came before is acknowledged with the old state.
                if self.receive.ack.scheduled {
                    self.send_ack_at(jiffies);
                }
                self.ce_state = marked;
                self.demand_cwr = marked;
            }
        } else if segment.ecn == Ecn::Ce {
            self.demand_cwr = true;
        } else if segment.ecn == Ecn::NotEct {
            // A segment without ECT is a retransmission (tcp_ecn.h).
            self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
        }
    }

    /// An acknowledgement is owed: now or later (__tcp_ack_snd_check).
    #[inline]
    fn check_ack(&mut self, jiffies: Jiffies) {
        let unacknowledged = self.receive.rcv_nxt - self.receive.rcv_wup;
        let at_once = (unacknowledged > self.receive.ack.rcv_mss
            && self.receive.selectable_window() >= self.receive.rcv_wnd)
            || self.receive.ack.in_quick_mode()
            || !self.receive.reassembly.is_empty();
        if at_once || self.receive.ack.delay(self.rtt.srtt >> 3, jiffies) {
            self.send_ack_at(jiffies);
        }
    }

    /// tcp_cleanup_rbuf: a read may make an acknowledgement or a window update due.
    fn clean_up_after_read(&mut self, jiffies: Jiffies) {
        let ack = &self.receive.ack;
        let due = ack.scheduled
            && (self.receive.rcv_nxt - self.receive.rcv_wup > ack.rcv_mss
                || ((ack.pushed_twice || (ack.pushed && !ack.pingpong))
                    && self.receive.is_empty()));
        if due || (!self.peer_closed && self.receive.window_opened()) {
            self.send_ack_at(jiffies);
        }
    }
}
