//! An acknowledgement arrives at the sender.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_input.c: tcp_ack, tcp_ack_update_window, tcp_clean_rtx_queue,
//! tcp_tso_acked, tcp_ack_update_rtt, tcp_ack_probe.

use super::accurate_ecn::EcnMode;
use super::{AckFlags, CaState, Connection, TimerKind, tell_with};
use crate::clock::{self, Jiffies};
use crate::congestion::{AckKind, AckSample, Growth, WindowCounting};
use crate::queue::{EVER_RETRANS, LOST, Packet, RETRANS, SACKED, segments};
use crate::segment::{Flags, Header, Segment};

/// Tells the congestion control of something, as [`tell_with`] does.
macro_rules! tell {
    ($connection:ident, $now:expr, $hook:ident($($argument:expr),*)) => {
        tell_with!([Bic], [Reno], $connection, view_once($now), $hook($($argument),*))
    };
}

impl Connection {
    /// tcp_ack.
    #[inline]
    pub(super) fn handle_ack(&mut self, now: Jiffies, segment: &Segment) {
        if self.is_modern() {
            self.handle_ack_today(now, segment);
            return;
        }
        let prior_una = self.snd_una;
        let prior_undelivered = self.packets_out.saturating_sub(self.sacked_out);
        let ack = segment.ack;
        if ack.after(self.snd_nxt) {
            return;
        }
        let has_sack = self.sack && segment.has_sack();
        if ack.before(prior_una) {
            if has_sack {
                self.tag_sacked(segment, prior_una, &mut AckFlags::default());
            }
            return;
        }
        let mut flags = AckFlags {
            data: segment.payload_bytes > 0,
            ..AckFlags::default()
        };
        // Without progress there is no fast path (CA_EVENT_FAST_ACK).
        let slow_path =
            self.congestion.hears_acks() && (ack == prior_una || self.is_slow_path(segment));
        self.update_window(segment, &mut flags);
        self.snd_una = ack;
        if has_sack {
            self.tag_sacked(segment, prior_una, &mut flags);
        }
        flags.ece = self.ecn == EcnMode::Classic && segment.flags.intersects(Flags::ECE);
        self.probes = 0;
        self.ack_received = now;
        self.stats.bytes_acked += u64::from(ack - prior_una);
        if self.packets_out == 0 {
            self.probe_answered(now);
            return;
        }
        let prior_packets = self.packets_out;
        let prior_in_flight = self.in_flight();
        self.clean_queue(now, segment, &mut flags);
        let delivered = self.note_delivered(prior_undelivered, flags.ece);
        let not_dup = flags.data || flags.window_update || flags.data_acked;
        let dubious = !not_dup || flags.data_sacked || flags.ece || self.state != CaState::Open;
        let esce = self.ecn == EcnMode::Classic && segment.flags.intersects(Flags::NS);
        let kind = AckKind {
            slow_path,
            ece: flags.ece,
            esce,
            marked_bytes: match ack - prior_una {
                0 if flags.window_update => 0,
                0 => self.mss,
                _ if !(esce || flags.ece) => 0,
                bytes => bytes,
            },
        };
        self.tell_ack_once(now, kind);
        if flags.data_acked && (!dubious || self.may_raise_cwnd(flags)) {
            self.grow_cwnd_once(now, delivered, prior_in_flight);
        }
        if dubious {
            self.fast_retransmit_alert(now, prior_una, prior_packets, flags, segment);
        }
    }

    /// Of so many segments not delivered before the acknowledgement at hand some are now: how many.
    #[inline(always)]
    pub(super) fn note_delivered(&mut self, prior_undelivered: u32, ece: bool) -> u32 {
        let undelivered = self.packets_out.saturating_sub(self.sacked_out);
        let delivered = prior_undelivered.saturating_sub(undelivered);
        self.prr.newly_delivered = delivered;
        self.delivered = self.delivered.wrapping_add(delivered);
        if ece {
            self.delivered_ce = self.delivered_ce.wrapping_add(delivered);
        }
        delivered
    }

    #[inline(always)]
    pub(super) fn tell_ack_once(&mut self, now: Jiffies, kind: AckKind) {
        tell!(self, now, in_ack_event(kind));
    }

    /// Segments were delivered in a state that lets the window grow.
    #[inline(always)]
    pub(super) fn grow_cwnd_once(&mut self, now: Jiffies, delivered: u32, prior_in_flight: u32) {
        let growth = Growth {
            acked: match self.window.counting {
                WindowCounting::Acks => 1,
                WindowCounting::Segments => delivered,
            },
            cwnd_limited: self.is_cwnd_limited(prior_in_flight),
        };
        tell!(self, now, grow(growth));
        self.cwnd_stamp = now;
        if std::mem::take(&mut self.window.enter_cwr) {
            self.enter_cwr(now);
        }
    }

    /// tcp_may_raise_cwnd.
    fn may_raise_cwnd(&self, flags: AckFlags) -> bool {
        (!flags.ece || self.window.cwnd < self.window.ssthresh)
            && !matches!(self.state, CaState::Recovery | CaState::Cwr)
    }

    /// Whether the window was in full use, allowing for offload's deferral (tcp_is_cwnd_limited).
    #[inline]
    fn is_cwnd_limited(&self, in_flight: u32) -> bool {
        let cwnd = self.window.cwnd;
        if in_flight >= cwnd {
            return true;
        }
        let left = cwnd - in_flight;
        match (self.stack.tso, self.stack.tcp_tso_win_divisor) {
            (false, _) => false,
            (true, 0) => left <= super::recovery::MAX_BURST,
            (true, divisor) => left * divisor < cwnd,
        }
    }

    /// tcp_ack_update_window.
    #[inline]
    fn update_window(&mut self, segment: &Header, flags: &mut AckFlags) {
        if self.updates_window(segment) {
            flags.window_update = true;
            self.adopt_window(segment);
        }
    }

    /// The window that a segment offers counts from now on.
    #[inline(always)]
    pub(super) fn adopt_window(&mut self, segment: &Header) {
        let window = self.window_of(segment);
        self.snd_wl1 = segment.seq;
        self.snd_wnd = window;
        if window > self.max_window {
            self.max_window = window;
            self.bound_mss();
        }
    }

    /// The window a segment offers; a SYN's is not scaled.
    #[inline]
    pub(super) fn window_of(&self, segment: &Header) -> u32 {
        if segment.flags.intersects(Flags::SYN) {
            u32::from(segment.window)
        } else {
            u32::from(segment.window) << self.send_shift
        }
    }

    /// tcp_may_update_window.
    #[inline]
    pub(super) fn updates_window(&self, segment: &Header) -> bool {
        segment.ack.after(self.snd_una)
            || segment.seq.after(self.snd_wl1)
            || (segment.seq == self.snd_wl1 && self.window_of(segment) > self.snd_wnd)
    }

    /// Takes what is acknowledged off the queue (tcp_clean_rtx_queue).
    #[inline(always)]
    pub(super) fn clean_queue(&mut self, now: Jiffies, segment: &Header, flags: &mut AckFlags) {
        let mut rtt = None;
        let mut packets_acked = 0;
        while let Some(packet) = self.queue.front().copied() {
            if packet.end_seq.after(self.snd_una) {
                if packet.segments > 1 && self.snd_una.after(packet.seq) {
                    self.trim_head(now, packet, flags, &mut rtt);
                }
                break;
            }
            flags.data_acked = true;
            packets_acked += 1;
            self.uncount(packet, u32::from(packet.segments), now, flags, &mut rtt);
            self.queue.pop();
            self.queue_shrunk = true;
        }
        if !flags.data_acked {
            return;
        }
        if segment.has_timestamps && segment.ts_ecr != 0 {
            rtt = Some(self.ticks_since(segment.ts_ecr));
        } else if flags.retransmitted_acked {
            rtt = None;
        }
        if let Some(ticks) = rtt {
            self.rtt.sample(ticks, self.snd_una, self.snd_nxt);
            self.backoff = 0;
        }
        if self.packets_out == 0 {
            self.timer = None;
        } else {
            self.arm_retransmit(now);
        }
        let sample = AckSample {
            packets: packets_acked,
            rtt_us: rtt.map(|ticks| self.clock.micros(ticks)),
            in_flight: self.in_flight(),
        };
        tell!(self, now, pkts_acked(sample));
    }

    /// The first packet is acknowledged in part (tcp_tso_acked).
    fn trim_head(
        &mut self,
        now: Jiffies,
        packet: Packet,
        flags: &mut AckFlags,
        rtt: &mut Option<Jiffies>,
    ) {
        let una = self.snd_una;
        let mss = self.current_mss();
        let Some(front) = self.queue.front_mut() else {
            return;
        };
        front.seq = una;
        self.queue_shrunk = true;
        front.segments = segments(front.payload_bytes(), mss);
        front.mss = mss as u16;
        let acked = u32::from(packet.segments - front.segments.min(packet.segments));
        if acked > 0 {
            flags.data_acked = true;
            self.uncount(packet, acked, now, flags, rtt);
        }
    }

    /// `count` segments of a packet are acknowledged: they count no longer.
    #[inline]
    fn uncount(
        &mut self,
        packet: Packet,
        count: u32,
        now: Jiffies,
        flags: &mut AckFlags,
        rtt: &mut Option<Jiffies>,
    ) {
        if packet.has(RETRANS | EVER_RETRANS) {
            if packet.has(RETRANS) {
                self.retrans_out -= count.min(self.retrans_out);
            }
            flags.retransmitted_acked = true;
            *rtt = None;
        } else if rtt.is_none() {
            *rtt = Some(now.wrapping_sub(packet.when));
        }
        if packet.has(SACKED) {
            self.sacked_out -= count.min(self.sacked_out);
        }
        if packet.has(LOST) {
            self.lost_out -= count.min(self.lost_out);
        }
        self.fackets_out -= count.min(self.fackets_out);
        self.packets_out -= count.min(self.packets_out);
    }

    /// Nothing was in flight: the acknowledgement answers a zero-window probe, or opens the
    /// window (tcp_ack_probe).
    fn probe_answered(&mut self, now: Jiffies) {
        if !self.has_unsent() {
            return;
        }
        if !(self.snd_nxt + self.head_seq_len()).after(self.snd_una + self.snd_wnd) {
            self.backoff = 0;
            if matches!(self.timer, Some((TimerKind::ZeroWindowProbe, _))) {
                self.timer = None;
            }
        } else {
            self.arm_probe(now, self.backoff);
        }
    }

    /// Arms the retransmission timer anew.
    #[inline]
    pub(super) fn arm_retransmit(&mut self, now: Jiffies) {
        let mut ticks = self.rtt.rto;
        if self.stack.rto_jitter > 0.0 {
            let most = (f64::from(ticks) * self.stack.rto_jitter) as u64;
            ticks += ((most * u64::from(self.random())) >> 32) as Jiffies;
        }
        self.timer = Some((TimerKind::Retransmit, now.wrapping_add(ticks)));
    }

    /// Arms the zero-window probe's timer: the timeout, doubled `backoff` times.
    pub(super) fn arm_probe(&mut self, now: Jiffies, backoff: u32) {
        let most = u64::from(self.clock.ticks(self.stack.rto_max));
        let ticks = (u64::from(self.rtt.rto) << backoff.min(31)).min(most) as Jiffies;
        self.timer = Some((TimerKind::ZeroWindowProbe, now.wrapping_add(ticks)));
    }

    /// Whether the oldest packet has been out longer than the timeout (tcp_head_timedout).
    #[inline]
    pub(super) fn head_timed_out(&self, now: Jiffies) -> bool {
        self.packets_out > 0 && self.queue.front().is_some_and(|p| self.timed_out(p, now))
    }

    /// tcp_skb_timedout.
    #[inline]
    pub(super) fn timed_out(&self, packet: &Packet, now: Jiffies) -> bool {
        clock::before(packet.when.wrapping_add(self.rtt.rto), now)
    }
}
