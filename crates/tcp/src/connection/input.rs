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
        self.stats.segments_received += 1;
        self.stats.data_segments_received += u64::from(segment.payload_bytes > 0);
        match self.life {
            Life::Closed => return self.refuse(segment),
            Life::TimeWait => return self.handle_in_time_wait(jiffies, segment),
            _ => {}
        }
        let opening = matches!(self.life, Life::SynSent | Life::SynReceived);
        if opening && !self.handshake_segment(jiffies, segment) {
            return;
        }
        if !self.acceptable(jiffies, segment) {
            return;
        }
        let acknowledges = segment.flags.contains(Flags::ACK);
        if acknowledges && !self.acknowledges_plausibly(jiffies, segment) {
            return;
        }
        if segment.has_timestamps
            && !segment.seq.after(self.receive.rcv_wup)
            && !clock::before(segment.ts_val, self.ts_recent)
        {
            self.ts_recent = segment.ts_val;
        }
        self.questions = 0;
        if acknowledges {
            self.handle_ack(jiffies, segment);
            if self.life != Life::Established && self.own_fin_acknowledged(jiffies, segment) {
                return;
            }
        }
        if segment.seq_len() > 0 {
            if self.timestamps && segment.ts_ecr != 0 {
                let ticks = self.ticks_since(segment.ts_ecr);
                self.receive
                    .measure_rtt_by_echo(ticks, u32::from(segment.payload_bytes));
            }
            if self.life != Life::Established && self.refuses_data(segment) {
                return;
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
        self.clean_up_after_read();
        bytes
    }

    #[inline]
    pub(super) fn dsack(&self) -> bool {
        self.sack && self.stack.tcp_dsack
    }

    /// tcp_data_queue, and what tcp_rcv_state_process says of data after the peer's FIN.
    #[inline]
    fn queue_data(&mut self, jiffies: Jiffies, segment: &Segment) {
        if segment.flags.intersects(Flags::CWR) && !self.congestion.wants_precise_echo() {
            self.demand_cwr = false;
        }
        let (seq, end) = (segment.seq, segment.end_seq());
        let next = self.receive.rcv_nxt;
        if self.life.peer_is_done() && !seq.before(next) {
            return;
        }
        self.receive.reassembly.forget_dsack();
        if seq == next {
            if self.receive.window_left() == 0 {
                return self.acknowledge_quickly();
            }
        } else if !end.after(next) {
            self.tell_duplicate(seq, end);
            return self.acknowledge_quickly();
        } else if !seq.before(next + self.receive.window_left()) {
            return self.acknowledge_quickly();
        } else {
            self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
            if seq.after(next) {
                return self.queue_out_of_order(segment);
            }
            self.tell_duplicate(seq, next);
            if self.receive.window_left() == 0 {
                return self.acknowledge_quickly();
            }
        }
        if segment.payload_bytes > 0 {
            if !self.make_room() {
                return;
            }
            self.receive.charge();
            self.echo_precisely(segment);
            self.feed_back_sce(segment);
        }
        self.receive.rcv_nxt = end;
        if segment.payload_bytes > 0 {
            self.data_received(jiffies, segment);
        }
        if segment.flags.intersects(Flags::FIN) {
            self.receive.fin_end = Some(end);
            self.peer_fin(jiffies);
        }
        self.take_reassembled(jiffies);
        if segment.payload_bytes > 0 {
            self.events.push(Event::Readable);
        }
    }

    fn acknowledge_quickly(&mut self) {
        self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
        self.receive.ack.scheduled = true;
    }

    fn tell_duplicate(&mut self, start: Seq, end: Seq) {
        if self.dsack() {
            self.receive.reassembly.set_dsack(start, end);
        }
    }

    /// Room for one more frame; false if it must be dropped (tcp_prune_queue).
    #[inline]
    fn make_room(&mut self) -> bool {
        let room = self.receive.make_room();
        self.stats.pruned = self.receive.pruned;
        room
    }

    /// tcp_event_data_recv.
    #[inline]
    fn data_received(&mut self, jiffies: Jiffies, segment: &Segment) {
        let payload_bytes = u32::from(segment.payload_bytes);
        let rcv_wnd = self.receive.rcv_wnd;
        let fixed_bytes = if self.timestamps { 32 } else { 20 };
        let ends = segment.flags.intersects(Flags::PSH.with(Flags::FIN));
        self.receive
            .ack
            .measure_mss(payload_bytes, segment.header_bytes(), fixed_bytes, ends);
        self.receive.measure_rtt_by_window(jiffies);
        self.receive
            .ack
            .data_received(rcv_wnd, self.rtt.rto, jiffies);
        self.latch_congestion(segment);
        self.receive.grow_window(payload_bytes);
    }

    /// tcp_ofo_queue: what was out of order may be in order now.
    #[inline]
    fn take_reassembled(&mut self, jiffies: Jiffies) {
        if self.receive.reassembly.is_empty() {
            return;
        }
        let dsack = self.dsack();
        let (next, superfluous) = self.receive.reassembly.advance(self.receive.rcv_nxt, dsack);
        self.receive.rcv_nxt = next;
        self.receive.release(superfluous);
        if self.receive.reassembly.is_empty() {
            self.receive.ack.exit_pingpong();
        }
        if let Some(end) = self.receive.fin_end.filter(|end| !next.before(*end)) {
            self.receive.rcv_nxt = end;
            self.peer_fin(jiffies);
        }
    }

    fn queue_out_of_order(&mut self, segment: &Segment) {
        self.echo_precisely(segment);
        self.feed_back_sce(segment);
        self.latch_congestion(segment);
        if !self.make_room() {
            return;
        }
        self.receive.ack.scheduled = true;
        let (dsack, end) = (self.dsack(), segment.end_seq());
        if self.receive.reassembly.insert(segment.seq, end, dsack) == Placed::Kept {
            self.receive.charge();
        }
        if segment.flags.intersects(Flags::FIN) {
            self.receive.fin_end.get_or_insert(end);
        }
    }

    /// RFC 3168's echo: from the first mark until the peer has reduced its window (tcp_ecn.h).
    #[inline]
    fn latch_congestion(&mut self, segment: &Segment) {
        if !self.ecn || self.congestion.wants_precise_echo() {
            return;
        }
        if segment.ecn == Ecn::Ce {
            self.demand_cwr = true;
        } else if segment.ecn == Ecn::NotEct {
            // A segment without ECT is a retransmission.
            self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
        }
    }

    /// DCTCP's echo: at every change of marks an acknowledgement, and before it one that tells
    /// the old state of what is still to be acknowledged (dctcp_ece_ack_update). Called before
    /// the data is taken over.
    #[inline]
    fn echo_precisely(&mut self, segment: &Segment) {
        if !self.ecn || !self.congestion.wants_precise_echo() {
            return;
        }
        let marked = segment.ecn == Ecn::Ce;
        if marked != self.ce_state {
            if self.receive.ack.timer.is_some() {
                self.send_ack();
            }
            self.receive.ack.now = true;
        }
        self.ce_state = marked;
        self.demand_cwr = marked;
    }

    /// An acknowledgement is owed: now or later (__tcp_ack_snd_check).
    #[inline]
    fn check_ack(&mut self, jiffies: Jiffies) {
        let unacknowledged = self.receive.rcv_nxt - self.receive.rcv_wup;
        let at_once = (unacknowledged > self.receive.ack.rcv_mss
            && self.receive.selectable_window() >= self.receive.rcv_wnd)
            || self.receive.ack.in_quick_mode()
            || self.receive.ack.now
            || !self.receive.reassembly.is_empty();
        if at_once || self.receive.ack.delay(self.srtt_ticks(), jiffies) {
            self.send_ack();
        }
    }

    /// tcp_cleanup_rbuf: a read may make an acknowledgement or a window update due.
    pub(super) fn clean_up_after_read(&mut self) {
        let ack = &self.receive.ack;
        let due = ack.scheduled
            && (self.receive.rcv_nxt - self.receive.rcv_wup > ack.rcv_mss
                || ((ack.pushed_twice || (ack.pushed && !ack.in_pingpong()))
                    && self.receive.is_empty()));
        if due || (!self.life.peer_is_done() && !self.no_reader && self.receive.window_opened()) {
            self.send_ack();
        }
    }
}
