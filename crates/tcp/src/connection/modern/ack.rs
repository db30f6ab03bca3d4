//! An acknowledgement arrives.
//!
//! Models Linux 7.2 net/ipv4/tcp_input.c: tcp_ack, tcp_ack_update_window, tcp_clean_rtx_queue,
//! tcp_ack_probe, tcp_cong_control, tcp_xmit_recovery.

use super::super::accurate_ecn::{Delivered, EcnMode};
use super::super::{CaState, Connection, TimerKind};
use super::chrono::Limiter;
use super::rtt::Measured;
use super::{tell, tell_here};
use crate::clock::{Jiffies, Stamp};
use crate::congestion::{AckKind, AckSample, Growth, RateSample};
use crate::queue::{LOST, RETRANS, SACKED};
use crate::segment::{Flags, Header, Segment};
use crate::seq::Seq;

/// What is sent again once the window is known (REXMIT_*).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resend {
    Nothing,
    Lost,
    /// New data first: F-RTO wants to see whether it arrives.
    New,
}

/// What is learnt from an acknowledgement as it is processed (FLAG_* and sacktag_state).
#[derive(Clone, Copy, Debug)]
pub(super) struct AckNews {
    pub(super) data: bool,
    /// tcp_rcv_established took the long way with it; known where the congestion control hears acknowledgements.
    slow_path: bool,
    pub(super) window_update: bool,
    pub(super) una_advanced: bool,
    pub(super) data_acked: bool,
    pub(super) retransmitted_acked: bool,
    pub(super) data_sacked: bool,
    /// A packet that was never retransmitted was acknowledged below high_seq.
    pub(super) orig_sack_acked: bool,
    pub(super) dsacking: bool,
    pub(super) dsack_of_probe: bool,
    pub(super) ece: bool,
    /// It carried ESCE (SCE's echo).
    esce: bool,
    /// Bytes newly acknowledged.
    acked_bytes: u32,
    pub(super) head_sacked: bool,
    pub(super) set_timer: bool,
    pub(super) lost_retransmission: bool,
    pub(super) maybe_delayed: bool,
    /// Lowest newly delivered sequence number that was overtaken.
    pub(super) reordered: Seq,
    /// Segments delivered by selective acknowledgements, duplicates told of included.
    pub(super) sack_delivered: u32,
    /// Bytes newly delivered, as accurate ECN has them.
    pub(super) delivered_bytes: u32,
    /// When the oldest and the newest packet newly acknowledged selectively were sent.
    pub(super) first_sacked_us: Option<u64>,
    pub(super) last_sacked_us: u64,
    pub(super) rate: super::rate::Sample,
}

impl AckNews {
    #[inline]
    pub(super) fn new(snd_nxt: Seq) -> AckNews {
        AckNews {
            data: false,
            slow_path: false,
            window_update: false,
            una_advanced: false,
            data_acked: false,
            retransmitted_acked: false,
            data_sacked: false,
            orig_sack_acked: false,
            dsacking: false,
            dsack_of_probe: false,
            ece: false,
            esce: false,
            acked_bytes: 0,
            head_sacked: false,
            set_timer: false,
            lost_retransmission: false,
            maybe_delayed: false,
            reordered: snd_nxt,
            sack_delivered: 0,
            delivered_bytes: 0,
            first_sacked_us: None,
            last_sacked_us: 0,
            rate: super::rate::Sample::default(),
        }
    }

    /// Not a duplicate (FLAG_NOT_DUP).
    #[inline]
    pub(super) fn not_dup(&self) -> bool {
        self.data || self.window_update || self.data_acked
    }
}

impl Connection {
    /// tcp_ack.
    #[inline(never)]
    pub(in crate::connection) fn handle_ack_today(&mut self, now: Jiffies, segment: &Segment) {
        let (prior_una, ack) = (self.snd_una, segment.ack);
        let mut news = AckNews::new(self.snd_nxt);
        let prior_delivered = self.delivered;
        if segment.has_timestamps {
            self.modern.stamped(segment);
        }
        let has_sack = self.sack && !segment.sack_blocks().is_empty();
        if ack.before(prior_una) {
            let most = u64::from(self.max_window).min(self.bytes_acked()) as u32;
            if ack.before(prior_una - most) {
                return;
            }
            if has_sack {
                self.tag_sacked_today(segment, prior_una, &mut news);
                let resend = self.alert(now, prior_una, 0, &mut news);
                self.send_recovery(now, resend);
            }
            return;
        }
        if ack.after(self.snd_nxt) {
            return;
        }
        if ack.after(prior_una) {
            news.una_advanced = true;
            self.retransmits = 0;
        }
        let prior_packets = self.packets_out;
        let prior_lost = self.modern.lost;
        let reneging = self.modern.sack_reneged;
        let prior_fack = if self.sack {
            self.highest_sack_seq()
        } else {
            self.snd_una
        };
        news.rate.prior_in_flight = self.in_flight();
        news.data = segment.seq_len() > 0;
        news.slow_path = self.congestion.hears_acks() && self.is_slow_path(segment);
        self.update_window_today(now, segment, &mut news);
        self.stats.bytes_acked += u64::from(ack - prior_una);
        self.snd_una = ack;
        if has_sack {
            self.tag_sacked_today(segment, prior_una, &mut news);
        }
        if self.ecn == EcnMode::Classic {
            news.ece = segment.flags.intersects(Flags::ECE);
            news.esce = segment.flags.intersects(Flags::NS);
        }
        news.acked_bytes = ack - prior_una;
        if news.sack_delivered > 0 {
            self.count_delivered(news.sack_delivered, news.ece);
        }
        self.probes = 0;
        self.ack_received = now;
        if prior_packets == 0 {
            self.hear_marks(segment, prior_delivered, &mut news);
            self.ack_without_data(now, prior_una, &mut news);
            return;
        }
        self.clean_sent(now, prior_fack, prior_una, &mut news);
        self.update_reordering_window(news.rate.prior_delivered);
        self.hear_marks(segment, prior_delivered, &mut news);
        self.tell_ack(now, &news);
        if self.modern.tlp_high_seq.is_some() {
            self.process_tlp_ack(now, ack, &news);
        }
        let mut resend = Resend::Nothing;
        let alarming = news.data_sacked || news.ece || news.dsacking;
        if !news.not_dup() || alarming || self.state != CaState::Open {
            let dup = !news.una_advanced && !news.not_dup() && !news.dsacking;
            resend = self.alert(now, prior_una, u32::from(dup), &mut news);
        }
        if news.set_timer {
            self.set_transmit_timer(now);
        }
        let delivered = self.delivered.wrapping_sub(prior_delivered);
        let lost = self.modern.lost.wrapping_sub(prior_lost);
        let sample = self.rate_sample(&news, delivered, lost, reneging);
        self.control_congestion(now, delivered, lost, &news, &sample);
        self.send_recovery(now, resend);
    }

    /// Marks that accurate ECN tells of.
    #[inline(always)]
    fn hear_marks(&mut self, segment: &Segment, prior_delivered: u32, news: &mut AckNews) {
        if self.ecn == EcnMode::Accurate {
            let delivered = Delivered {
                segments: self.delivered.wrapping_sub(prior_delivered),
                bytes: news.delivered_bytes,
                progress: news.data_acked || news.data_sacked,
            };
            news.ece = self.hear_count(segment, delivered) > 0;
        }
    }

    /// Nothing was in flight.
    fn ack_without_data(&mut self, now: Jiffies, prior_una: Seq, news: &mut AckNews) {
        self.tell_ack(now, news);
        if news.dsacking {
            self.alert(now, prior_una, 0, news);
        }
        self.probe_answered_today(now);
        if self.modern.tlp_high_seq.is_some() {
            let ack = self.snd_una;
            self.process_tlp_ack(now, ack, news);
        }
    }

    /// Data has come that says nothing new of what was sent.
    #[inline(never)]
    pub(in crate::connection) fn tell_of_data(&mut self, now: Jiffies, segment: &Header) {
        let mut news = AckNews::new(self.snd_nxt);
        news.data = true;
        news.slow_path = true;
        self.update_window_today(now, segment, &mut news);
        self.tell_ack(now, &news);
    }

    #[inline(always)]
    pub(super) fn tell_ack(&mut self, now: Jiffies, news: &AckNews) {
        if !self.congestion.hears_acks() {
            return;
        }
        let kind = AckKind {
            slow_path: news.slow_path,
            ece: news.ece,
            esce: news.esce,
            marked_bytes: match news.acked_bytes {
                _ if !(news.ece || news.esce) => 0,
                0 if !news.window_update => self.mss,
                bytes => bytes,
            },
        };
        tell!(self, now, in_ack_event(kind));
    }

    /// tcp_cong_control.
    #[inline(never)]
    pub(super) fn control_congestion(
        &mut self,
        now: Jiffies,
        delivered: u32,
        lost: u32,
        news: &AckNews,
        sample: &RateSample,
    ) {
        if self.congestion.full_control() {
            let sample = &RateSample {
                cwnd_limited: self.is_cwnd_limited_today(),
                ..*sample
            };
            tell!(self, now, on_rate_sample(sample));
            if std::mem::take(&mut self.window.mark_app_limited) {
                self.mark_app_limited();
            }
            return;
        }
        if self.in_reduction() {
            self.reduce_cwnd_today(delivered, lost, news.una_advanced);
        } else if self.may_raise_cwnd_today(news) {
            self.grow_cwnd_today(now, delivered);
        }
        self.update_pacing_rate();
    }

    /// Segments were delivered in a state that lets the window grow.
    #[inline(always)]
    pub(super) fn grow_cwnd_today(&mut self, now: Jiffies, delivered: u32) {
        let growth = Growth {
            acked: delivered,
            cwnd_limited: self.is_cwnd_limited_today(),
        };
        tell_here!(self, now, grow(growth));
        self.cwnd_stamp = now;
        if std::mem::take(&mut self.window.enter_cwr) {
            self.enter_cwr_today(now);
        }
    }

    /// On a path that reorders much, data delivered in any order lets the window grow.
    fn may_raise_cwnd_today(&self, news: &AckNews) -> bool {
        if self.reordering > self.stack.tcp_reordering {
            news.data_acked || news.data_sacked
        } else {
            news.data_acked
        }
    }

    /// The window is known: retransmissions, or new data for F-RTO (tcp_xmit_recovery).
    pub(super) fn send_recovery(&mut self, now: Jiffies, resend: Resend) {
        match resend {
            Resend::Nothing => return,
            Resend::New => {
                self.push_today(now, super::output::Nagle::Off);
                if self.snd_nxt.after(self.high_seq) {
                    return;
                }
                self.modern.frto = false;
            }
            Resend::Lost => {}
        }
        self.retransmit_lost_packets(now);
    }

    /// tcp_ack_update_window.
    #[inline]
    pub(super) fn update_window_today(
        &mut self,
        now: Jiffies,
        segment: &Header,
        news: &mut AckNews,
    ) {
        let window = self.window_of(segment);
        let newer = segment.ack.after(self.snd_una)
            || segment.seq.after(self.snd_wl1)
            || (segment.seq == self.snd_wl1 && (window > self.snd_wnd || window == 0));
        if !newer {
            return;
        }
        news.window_update = true;
        self.snd_wl1 = segment.seq;
        if self.snd_wnd != window {
            self.window_changed(now, window);
        }
    }

    /// The peer's window has changed.
    #[inline(never)]
    pub(super) fn window_changed(&mut self, now: Jiffies, window: u32) {
        self.snd_wnd = window;
        if self.has_unsent() {
            self.check_idle_restart(now);
        }
        if window > self.max_window {
            self.max_window = window;
            self.bound_mss();
        }
    }

    /// Takes what is acknowledged off the queue, measures the round trip, looks for reordering
    /// (tcp_clean_rtx_queue).
    fn clean_sent(&mut self, now: Jiffies, prior_fack: Seq, prior_una: Seq, news: &mut AckNews) {
        let prior_sacked = self.sacked_out;
        let una = self.snd_una;
        let now_us = self.now_us();
        let mut lowest = self.snd_nxt;
        let (mut first_us, mut last_us) = (None, 0);
        let mut acked = 0;
        let mut whole = true;
        while let Some(packet) = self.modern.sent.front().copied() {
            let mut count = u32::from(packet.segments);
            if packet.end_seq.after(una) {
                if packet.segments == 1 || !una.after(packet.seq) {
                    break;
                }
                self.modern.sent.trim_front(una - packet.seq);
                let left = self
                    .modern
                    .sent
                    .front()
                    .map_or(0, |p| u32::from(p.segments));
                count -= left.min(count);
                if count == 0 {
                    break;
                }
                whole = false;
            }
            if packet.retransmitted() {
                if packet.has(RETRANS) {
                    self.retrans_out -= count.min(self.retrans_out);
                }
                news.retransmitted_acked = true;
            } else if !packet.has(SACKED) {
                last_us = packet.sent_us();
                first_us.get_or_insert(last_us);
                lowest = lowest.min(packet.seq);
                news.orig_sack_acked |= !packet.end_seq.after(self.high_seq);
            }
            if packet.has(SACKED) {
                self.sacked_out -= count.min(self.sacked_out);
            } else if self.sack {
                self.count_delivered(count, news.ece);
                let retransmitted = packet.retransmitted();
                if !(retransmitted && self.echo_before(self.stamp_of(packet.sent_ns))) {
                    self.rack_advance(retransmitted, packet.end_seq, packet.sent_us());
                }
            }
            if packet.has(LOST) {
                self.lost_out -= count.min(self.lost_out);
            }
            self.packets_out -= count.min(self.packets_out);
            acked += count;
            self.rate_delivered(&packet, &mut news.rate);
            news.data_acked = true;
            if !whole {
                break;
            }
            if self.modern.retransmit_hint == Some(packet.seq) {
                self.modern.retransmit_hint = None;
            }
            self.modern.sent.pop();
            self.queue_shrunk = true;
        }
        let head = self.modern.sent.front().copied();
        if head.is_none() {
            self.stop_chrono(now, Limiter::Busy);
        }
        news.head_sacked = head.is_some_and(|p| p.has(SACKED));
        let mut measured = Measured {
            acked: news.data_acked,
            ..Measured::default()
        };
        if let Some(first_us) = first_us.filter(|_| !news.retransmitted_acked) {
            measured.seq_us = Some(now_us.saturating_sub(first_us) as u32);
            measured.ca_us = Some(now_us.saturating_sub(last_us) as u32);
            let alarming = news.data_sacked || news.ece || news.dsacking;
            // A lone short packet over the round trip: its acknowledgement was likely delayed.
            news.maybe_delayed = acked == 1
                && whole
                && prior_sacked == 0
                && una - prior_una < self.mss
                && news.rate.prior_delivered.wrapping_add(1) == self.delivered
                && !alarming;
        }
        measured.maybe_delayed = news.maybe_delayed;
        if let Some(first) = news.first_sacked_us {
            measured.sack_us = Some(now_us.saturating_sub(first) as u32);
            measured.ca_us = Some(now_us.saturating_sub(news.last_sacked_us) as u32);
        }
        let (ca_us, updated) = self.update_rtt(now, measured, Connection::echo_rtt_us);
        news.rate.rtt_us = ca_us;
        if news.data_acked {
            news.delivered_bytes = head.map_or(una, |packet| packet.seq) - prior_una;
            news.set_timer = true;
            if self.sack {
                if lowest.before(prior_fack) {
                    self.check_reordering(lowest);
                }
            } else {
                self.remove_reno_sacks_today(acked, news.ece);
                if news.retransmitted_acked {
                    news.orig_sack_acked = false;
                }
            }
        } else if let (Some(head), true, Some(sack_us)) = (head, updated, measured.sack_us) {
            // Selective acknowledgements of what was sent before the head was last sent do not
            // put off its timeout. A paced head may be stamped with when it may leave, which is yet to come.
            news.set_timer |= u64::from(sack_us) > now_us.saturating_sub(head.sent_us());
        }
        let sample = AckSample {
            packets: acked,
            rtt_us: ca_us,
            in_flight: self.delivered.wrapping_sub(news.rate.prior_delivered),
        };
        if self.congestion.hears_samples() {
            tell!(self, now, pkts_acked(sample));
        }
    }

    /// The round trip by the timestamp's echo (tcp_rtt_tsopt_us).
    pub(super) fn echo_rtt_us(&self) -> Option<u32> {
        let hz = self.clock.timestamp_hz();
        if !self.timestamps || self.modern.ts_ecr == 0 {
            return None;
        }
        let ticks = self
            .stamp_of(self.clock.ns())
            .wrapping_sub(self.modern.ts_ecr);
        let us_per_tick = 1_000_000 / hz;
        (ticks < (i32::MAX as u32) / us_per_tick).then(|| ticks.max(1) * us_per_tick)
    }

    /// Whether the segment at hand echoes a timestamp from before `stamp`
    /// (tcp_tsopt_ecr_before).
    pub(super) fn echo_before(&self, stamp: u32) -> bool {
        let echo = self.modern.ts_ecr;
        self.timestamps && echo != 0 && (echo.wrapping_sub(stamp) as i32) < 0
    }

    /// The acknowledgement answers a zero-window probe, or opens the window (tcp_ack_probe).
    fn probe_answered_today(&mut self, now: Jiffies) {
        if !self.has_unsent() {
            return;
        }
        if self.head_end().after(self.window_end()) {
            let ticks = self.within_user_timeout(now, self.probes_since.get(), self.probe_ticks());
            self.arm_paced(now, TimerKind::ZeroWindowProbe, ticks);
        } else {
            self.backoff = 0;
            self.probes_since = Stamp::NONE;
            if matches!(self.timer, Some((TimerKind::ZeroWindowProbe, _))) {
                self.timer = None;
            }
        }
    }
}
