//! A segment arrives.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_input.c: tcp_rcv_established (its slow path; the fast path has
//! the same results), tcp_data_queue, tcp_send_dupack, __tcp_ack_snd_check, and the receiver's
//! side of ECN: RFC 3168's latched echo (tcp_ecn.h) and DCTCP's echo of every change of state
//! (net/ipv4/tcp_dctcp.c, RFC 8257 section 3.2). tcp.c: tcp_cleanup_rbuf.

use std::borrow::Borrow;

use tailback_units::Time;

use super::accurate_ecn::EcnMode;
use super::predicted::Predicts;
use super::{Arrival, Connection, Event, Life, Told};
use crate::clock::{self, Jiffies};
use crate::receive::{Lying, Placed};
use crate::segment::{Ecn, Flags, Header, Segment};
use crate::seq::Seq;

/// Blocks that a peer surely gets to see (TCP_SACK_BLOCKS_EXPECTED, net/ipv4/tcp_input.c).
const BLOCKS_EXPECTED: usize = 2;

impl Connection {
    /// A segment has arrived.
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        let jiffies = self.clock.jiffies(now);
        self.take_segment(jiffies, segment);
    }

    /// A segment has arrived for an application that reads at once whatever is there, and it does. `whole` gives the
    /// segment of this header, where there is more to it than was foreseen.
    #[inline(always)]
    pub fn handle_segment_and_read(
        &mut self,
        now: Time,
        segment: &Header,
        whole: impl FnOnce() -> Segment,
    ) -> Told {
        let jiffies = self.clock.jiffies(now);
        self.stats.segments_received += 1;
        if segment.payload_bytes > 0 {
            if self.predicts == Predicts::Today && self.is_predicted_data(segment) {
                return self.take_predicted_data_and_read(jiffies, segment);
            }
            self.stats.data_segments_received += 1;
        }
        self.take_unless_predicted_data(jiffies, segment, whole);
        if self.events.is_empty() {
            return Told::Nothing;
        }
        self.tell_and_read(jiffies)
    }

    /// Data that was foreseen, for such an application. In a function of its own, which has all registers to itself.
    #[inline(never)]
    fn take_predicted_data_and_read(&mut self, jiffies: Jiffies, segment: &Header) -> Told {
        self.stats.data_segments_received += 1;
        self.take_predicted_data(jiffies, segment, true);
        self.told(jiffies)
    }

    /// Reads if there is something to read, and nothing else to tell.
    #[inline(always)]
    fn told(&mut self, jiffies: Jiffies) -> Told {
        if self.events.take_only(Event::Readable) {
            return Told::Read(self.read_up_to(self.receiver_now(jiffies), u64::MAX));
        }
        if self.events.is_empty() {
            Told::Nothing
        } else {
            Told::More
        }
    }

    /// The same in a function of its own.
    #[inline(never)]
    fn tell_and_read(&mut self, jiffies: Jiffies) -> Told {
        self.told(jiffies)
    }

    #[inline(always)]
    fn take_segment(&mut self, jiffies: Jiffies, segment: &Segment) {
        self.stats.segments_received += 1;
        if segment.payload_bytes > 0 {
            self.stats.data_segments_received += 1;
            if self.predicts == Predicts::Today && self.is_predicted_data(segment) {
                return self.take_predicted_data(jiffies, segment, true);
            }
        }
        self.take_unless_predicted_data(jiffies, segment, || segment);
    }

    /// A segment that is not the data that today's sender foresaw.
    #[inline(always)]
    fn take_unless_predicted_data<W: Borrow<Segment>>(
        &mut self,
        jiffies: Jiffies,
        header: &Header,
        whole: impl FnOnce() -> W,
    ) {
        if self.predicts != Predicts::Today {
            return self.take_segment_once(jiffies, header, whole);
        }
        if let Some(run) = self.predicted_ack(header) {
            return self.take_predicted_ack(jiffies, header, run);
        }
        self.take_any_segment(jiffies, whole().borrow());
    }

    /// A segment of which nothing was foreseen.
    #[inline(never)]
    pub(super) fn take_any_segment(&mut self, jiffies: Jiffies, segment: &Segment) {
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
        // Only tcp_rcv_established counts, and what makes a connection of a request.
        if self.ecn == EcnMode::Accurate && (opening || self.life == Life::Established) {
            self.count_received_marks(segment);
        }
        let acknowledges = segment.flags.contains(Flags::ACK);
        if acknowledges && !self.acknowledges_plausibly(jiffies, segment) {
            return;
        }
        let established = self.life == Life::Established && !opening;
        let lets_wait = self.receive.ack.scheduled && self.lets_acks_wait(segment);
        let reserved = segment.payload_bytes > 0 && self.is_modern() && self.fits_reserve(segment);
        let asks_sender = !reserved || segment.ack != self.snd_una;
        if segment.has_timestamps
            && !segment.seq.after(self.receive.rcv_wup)
            && !clock::before(segment.ts_val, self.ts_recent)
        {
            self.ts_recent = segment.ts_val;
        }
        if !asks_sender {
            self.take_without_ack(segment);
        } else {
            self.questions = 0;
        }
        if acknowledges && asks_sender {
            self.handle_ack(jiffies, segment);
            if self.life != Life::Established && self.own_fin_acknowledged(jiffies, segment) {
                return;
            }
        }
        let mut fin_waits = false;
        if segment.seq_len() > 0 {
            // Only tcp_rcv_established does so.
            if established {
                self.measure_receiver_rtt(segment);
            }
            if self.life != Life::Established && self.refuses_data(segment) {
                return;
            }
            fin_waits = self.fin_waits(segment);
            self.queue_data(jiffies, segment, reserved, fin_waits);
        } else if segment.has_timestamps && established {
            self.receive.hear_echo(segment.ts_ecr);
        }
        if asks_sender {
            self.push(jiffies);
            self.check_space(jiffies);
        }
        if self.receive.ack.scheduled && !lets_wait {
            self.check_ack(jiffies);
        }
        if fin_waits {
            self.receive.release(self.receive.frame_lying().memory);
        }
    }

    /// A segment has arrived that the host may have put together of several (GRO), or that costs something of its
    /// own.
    pub fn handle_aggregate(&mut self, now: Time, segment: &Segment, arrival: Arrival) {
        let mss = u32::from(arrival.mss);
        self.receive.set_frame(Some(arrival));
        self.handle_segment(now, segment);
        self.receive.set_frame(None);
        // The others of them count too (tcp_segs_in).
        let beyond_first = u32::from(segment.payload_bytes).saturating_sub(1);
        let others = u64::from(beyond_first.checked_div(mss).unwrap_or(0));
        self.stats.segments_received += others;
        self.stats.data_segments_received += others;
    }

    /// The application reads up to `most` bytes; answers how many it got.
    pub fn read(&mut self, now: Time, most: u64) -> u64 {
        let before_us = self.clock.now_us() as u32;
        let jiffies = self.clock.jiffies(now);
        let receiver_now = if self.receive.measures_by_last_event() {
            before_us
        } else {
            self.receiver_now(jiffies)
        };
        self.read_up_to(receiver_now, most)
    }

    /// The same, measured at `receiver_now`.
    #[inline(always)]
    fn read_up_to(&mut self, receiver_now: u32, most: u64) -> u64 {
        let bytes = u64::from(self.receive.readable()).min(most);
        if bytes == 0 {
            return 0;
        }
        self.receive.read(bytes as u32, receiver_now);
        self.clean_up_after_read();
        bytes
    }

    /// Now by the receiver's clock: microseconds where its tuning is of today, else jiffies.
    #[inline]
    pub(super) fn receiver_now(&self, jiffies: Jiffies) -> u32 {
        if self.receive.counts_us() {
            self.clock.now_us() as u32
        } else {
            jiffies
        }
    }

    /// The round trip as the receiver sees it, by the echo in a segment with data.
    #[inline]
    pub(super) fn measure_receiver_rtt(&mut self, segment: &Header) {
        if self.timestamps && segment.ts_ecr != 0 && self.receive.is_news(segment.ts_ecr) {
            let ticks = self.receiver_ticks_since(segment.ts_ecr);
            self.receive
                .measure_rtt_by_echo(ticks, u32::from(segment.payload_bytes));
        }
    }

    /// How long ago a timestamp was sent, by the receiver's clock.
    #[inline]
    fn receiver_ticks_since(&self, echo: u32) -> u32 {
        let ticks = self.ticks_since(echo);
        if self.receive.counts_us() {
            self.clock.micros(ticks)
        } else {
            ticks
        }
    }

    #[inline]
    pub(super) fn dsack(&self) -> bool {
        self.sack && self.stack.tcp_dsack
    }

    /// tcp_data_queue, and what tcp_rcv_state_process says of data after the peer's FIN; `reserved` if its frame's memory is,
    /// `fin_waits` if it is a FIN that waits in memory of its own.
    #[inline]
    fn queue_data(&mut self, jiffies: Jiffies, segment: &Segment, reserved: bool, fin_waits: bool) {
        if segment.flags.intersects(Flags::CWR) && self.ecn != EcnMode::Accurate {
            // A precise echo is set by each segment's own mark.
            self.demand_cwr &= self.congestion.wants_precise_echo();
            // The sender's window may be small: it should not wait.
            self.receive.ack.now |= self.ecn == EcnMode::Classic && self.receive.today();
        }
        let (seq, end) = (segment.seq, segment.end_seq());
        let next = self.receive.rcv_nxt;
        if self.life.peer_is_done() && !seq.before(next) {
            return;
        }
        self.receive.reassembly.forget_dsack();
        let today = self.receive.today();
        if seq == next {
            // A lone FIN takes no room.
            let lone_fin = today && segment.payload_bytes == 0;
            if self.receive.window_left() == 0 && !lone_fin {
                self.stats.zero_window_drops += 1;
                return self.acknowledge_quickly();
            }
        } else if !end.after(next) {
            self.suspect_option(segment);
            self.tell_duplicate(seq, end);
            return self.acknowledge_quickly();
        } else if !seq.before(next + self.receive.window_left()) {
            self.stats.beyond_window += 1;
            return self.acknowledge_quickly();
        } else {
            if !today {
                self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
            }
            if seq.after(next) {
                return self.queue_out_of_order(segment);
            }
            self.tell_duplicate(seq, next);
            if self.receive.window_left() == 0 {
                self.stats.zero_window_drops += 1;
                return self.acknowledge_quickly();
            }
        }
        if today || segment.payload_bytes > 0 {
            let taken = reserved || self.make_room(seq) || self.receive.out_of_memory();
            if !taken && segment.payload_bytes > 0 {
                self.stats.receive_queue_drops += 1;
                return self.drop_for_memory(segment);
            }
        }
        if segment.payload_bytes > 0 {
            let written = if self.is_modern() {
                self.queued_memory_today()
            } else {
                0
            };
            self.receive
                .charge_in_order(segment.payload_bytes, written, seq != next);
            self.echo_precisely(segment);
            self.feed_back_sce(segment);
        }
        self.receive.rcv_nxt = end;
        self.stats.bytes_received += u64::from((end - next).min(u32::from(segment.payload_bytes)));
        if segment.payload_bytes > 0 {
            self.data_received(jiffies, segment);
        }
        if segment.flags.intersects(Flags::FIN) {
            self.receive.fin_end = Some(end);
            if fin_waits {
                self.receive.charge();
            }
            self.peer_fin(jiffies);
        }
        self.take_reassembled(jiffies);
        if segment.payload_bytes > 0 && self.receive.is_enough() {
            self.tell_of_data_to_read();
        }
    }

    /// Whether a segment is a FIN by itself, expected next, that waits to be read as it is acknowledged, where what frames
    /// take is known. Behind others that wait it is in the last of them, and takes nothing (skb_try_coalesce).
    fn fin_waits(&self, segment: &Segment) -> bool {
        segment.payload_bytes == 0
            && self.receive.today()
            && segment.flags.intersects(Flags::FIN)
            && segment.seq == self.receive.rcv_nxt
            && !self.life.peer_is_done()
            && self.receive.readable() == 0
            && self.receive.frame_lying().head > 0
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

    /// Room for one more frame; false if there is none (tcp_try_rmem_schedule).
    #[inline]
    fn make_room(&mut self, seq: Seq) -> bool {
        self.receive.has_room() || self.receive.make_room(seq)
    }

    /// A frame is not taken for want of memory.
    #[cold]
    fn drop_for_memory(&mut self, segment: &Segment) {
        let shortage = self.receive.short();
        shortage.refused_frames += 1;
        shortage.refused_bytes += u64::from(segment.payload_bytes);
    }

    /// tcp_event_data_recv.
    #[inline(always)]
    pub(super) fn data_received(&mut self, jiffies: Jiffies, segment: &Header) {
        let payload_bytes = u32::from(segment.payload_bytes);
        let rcv_wnd = self.receive.rcv_wnd;
        let fixed_bytes = self.fixed_header_bytes();
        self.receive.measure_mss(segment, fixed_bytes);
        if !self.receive.awaits_window() {
            let receiver_now = self.receiver_now(jiffies);
            self.receive.measure_rtt_by_window(receiver_now);
        }
        let timeout = self.timeout();
        self.receive.ack.data_received(rcv_wnd, timeout, jiffies);
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
        let receive = &mut self.receive;
        let reached = receive.rcv_nxt;
        let mut reassembly = std::mem::take(&mut receive.reassembly);
        let (next, superfluous) =
            reassembly.advance(reached, dsack, |part| receive.queue_reassembled(part));
        receive.reassembly = reassembly;
        self.stats.bytes_received += u64::from(next - reached);
        self.receive.release(superfluous);
        if self.receive.reassembly.is_empty() {
            if self.stack.ack_filled_hole {
                self.receive.ack.now = true;
            } else {
                self.receive.ack.exit_pingpong();
            }
        }
        if let Some(end) = self.receive.fin_end.filter(|end| !next.before(*end)) {
            self.receive.rcv_nxt = end;
            self.peer_fin(jiffies);
        }
        self.receive.reassembly.forget_blocks(next);
    }

    fn queue_out_of_order(&mut self, segment: &Segment) {
        self.echo_precisely(segment);
        self.feed_back_sce(segment);
        self.latch_congestion(segment);
        if !self.make_room(segment.seq) {
            return self.drop_for_memory(segment);
        }
        let today = self.receive.today();
        if today {
            self.receive.measure_mss(segment, self.fixed_header_bytes());
        }
        self.receive.ack.scheduled = true;
        self.stats.out_of_order_received += 1;
        let (dsack, start, end) = (self.dsack(), segment.seq, segment.end_seq());
        let first = self.receive.reassembly.is_empty();
        let mut lying = self.receive.frame_lying();
        // A lone FIN takes no room in the packet that it follows.
        let follows = today && segment.payload_bytes == 0 && self.receive.reassembly.reaches(start);
        if follows {
            lying = Lying::default();
        }
        let placed = self.receive.reassembly.place(start, end, lying, dsack);
        let joined = placed == Placed::Joined || follows;
        if joined && !follows {
            self.receive.charge();
            self.receive.release(lying.head);
        } else if !today && placed == Placed::Kept {
            self.receive.charge();
        }
        let grows = today && self.sack && placed != Placed::Duplicate;
        let payload_bytes = u32::from(segment.payload_bytes);
        if grows && joined {
            // Before anything is said of it.
            self.receive.grow_window_for_disorder(payload_bytes, true);
        }
        let block = self.receive.reassembly.extend_block(start, end);
        let index = block.unwrap_or(self.receive.reassembly.block_count());
        if index >= BLOCKS_EXPECTED && !first && self.receive.ack.compression.is_holding() {
            // With that nothing is owed any more: of segments that lie apart every other one is acknowledged.
            self.send_ack();
        }
        self.receive.reassembly.promote_block(block, start, end);
        if today {
            if grows && !joined {
                self.receive.grow_window_for_disorder(payload_bytes, false);
            }
            if placed == Placed::Kept && !follows {
                self.receive.charge();
            }
            // Not for a socket without an application (sk->sk_socket, tcp_data_queue_ofo). The data that opened the connection
            // comes before anybody has accepted it.
            let just_opened = self.passive && self.events.holds(Event::Connected);
            if !self.unaccepted && !just_opened && !self.orphan {
                self.receive.grow_for_disorder();
            }
        }
        if segment.flags.intersects(Flags::FIN) {
            self.receive.fin_end.get_or_insert(end);
        }
    }

    /// The header of every segment, bytes.
    #[inline]
    fn fixed_header_bytes(&self) -> u32 {
        if self.timestamps { 32 } else { 20 }
    }

    /// RFC 3168's echo: from the first mark until the peer has reduced its window (tcp_ecn.h).
    #[inline]
    fn latch_congestion(&mut self, segment: &Header) {
        if self.ecn != EcnMode::Classic || self.congestion.wants_precise_echo() {
            return;
        }
        let today = self.receive.today();
        if segment.ecn == Ecn::NotEct {
            // A segment without ECT is a retransmission.
            if self.ecn_seen || !today {
                let rcv_wnd = self.receive.rcv_wnd;
                self.receive.ack.enter_quick_mode_for_ecn(rcv_wnd);
            }
            return;
        }
        self.ecn_seen = true;
        if segment.ecn == Ecn::Ce {
            // The sender's window may be small: it should not wait.
            if today && !self.demand_cwr {
                let rcv_wnd = self.receive.rcv_wnd;
                self.receive.ack.enter_quick_mode_for_ecn(rcv_wnd);
            }
            self.demand_cwr = true;
        }
    }

    /// DCTCP's echo: at every change of marks an acknowledgement, and before it one that tells
    /// the old state of what is still to be acknowledged (dctcp_ece_ack_update). Called before
    /// the data is taken over.
    #[inline]
    pub(super) fn echo_precisely(&mut self, segment: &Header) {
        if self.ecn == EcnMode::Off || !self.congestion.wants_precise_echo() {
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
        self.ecn_seen |= segment.ecn != Ecn::NotEct;
    }

    /// An acknowledgement is owed: now or later (__tcp_ack_snd_check).
    #[inline(always)]
    pub(super) fn check_ack(&mut self, jiffies: Jiffies) {
        let today = self.receive.today();
        let receive = &mut self.receive;
        let unacknowledged = receive.rcv_nxt - receive.rcv_wup;
        let starved = receive.rcv_nxt - receive.copied < receive.rcvlowat;
        let mut window = None;
        let at_once = (unacknowledged > receive.ack.rcv_mss
            && (starved || *window.insert(receive.selectable_window()) >= receive.rcv_wnd))
            || receive.ack.in_quick_mode()
            || receive.ack.now
            || (!today && !receive.reassembly.is_empty());
        if at_once {
            self.send_ack_of(window);
        } else if !self.receive.reassembly.is_empty() {
            self.acknowledge_disorder();
        } else {
            let srtt = if self.receive.ack.asks_for_srtt() {
                self.srtt_ticks()
            } else {
                0
            };
            if self.receive.ack.delay(srtt, jiffies) {
                self.send_ack();
            }
        }
    }

    /// Out-of-order data is acknowledged at once or, together with what follows, a little later.
    #[inline(never)]
    fn acknowledge_disorder(&mut self) {
        let (now, hole) = (self.clock.now(), self.receive.rcv_nxt);
        let rtt_us = self.receive.rtt_us_8().min(self.smoothed_rtt_us_8());
        self.receive.ack.notice_fired(self.clock.tick());
        if !self.sack || !self.receive.ack.compression.holds(now, hole, rtt_us) {
            self.send_ack();
        }
    }

    /// tcp_cleanup_rbuf: a read may make an acknowledgement or a window update due.
    #[inline(always)]
    pub(super) fn clean_up_after_read(&mut self) {
        let ack = &self.receive.ack;
        let due = ack.scheduled
            && (self.receive.rcv_nxt - self.receive.rcv_wup > ack.rcv_mss
                || ((ack.pushed_twice || (ack.pushed && !ack.in_pingpong()))
                    && self.receive.is_empty()));
        let tells =
            due || (!self.life.peer_is_done() && !self.no_reader && self.receive.window_opened());
        // What is over is read, but not answered (tcp_send_ack).
        if tells && !matches!(self.life, Life::Closed | Life::TimeWait) {
            self.send_ack();
        }
    }
}
