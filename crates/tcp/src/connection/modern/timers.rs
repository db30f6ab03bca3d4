//! Timers of the sender.
//!
//! Models Linux 7.2 net/ipv4/tcp_timer.c (tcp_write_timer_handler, tcp_retransmit_timer,
//! tcp_write_timeout, tcp_probe_timer), tcp_input.c (tcp_rearm_rto, tcp_set_xmit_timer),
//! tcp_output.c (tcp_send_probe0, tcp_write_wakeup) and kernel/time/timer.c: a timer fires no
//! sooner than asked for, and the later the coarser, since the wheel it waits in has buckets of
//! 1, 8, 64, … ticks. `patience` beside this folder says when it is enough. Left out: the
//! doubt about the route after tcp_retries1.

use tailback_units::Time;

use super::super::{Connection, Life, TimerKind};
use super::Modern;
use super::queue::PSH;
use crate::clock::{self, Jiffies, Stamp};
use crate::congestion::INFINITE_SSTHRESH;

/// The least wait of a zero-window probe, milliseconds (TCP_RTO_MIN, include/net/tcp.h).
const PROBE_MIN_MS: u64 = 200;
/// When what the host refused is tried again, microseconds (TCP_RESOURCE_PROBE_INTERVAL).
const RESOURCE_PROBE_US: u64 = 500_000;
/// The longest timeout that back-off is reckoned with, in times the least (TCP_RTO_MAX_SEC).
const RTO_MAX_PER_MIN: u32 = 600;
/// Timeouts of a thin stream that do not double (TCP_THIN_LINEAR_RETRIES, include/net/tcp.h).
const THIN_LINEAR_RETRIES: u32 = 6;
/// Packets in flight below which a stream is thin (tcp_stream_is_thin).
const THIN_PACKETS: u32 = 4;

impl Modern {
    /// Something of the sender's waits for a time that is no tick.
    #[inline]
    pub(in crate::connection) fn has_deadline(&self) -> bool {
        self.pacing_ns != u64::MAX || self.fq.is_in_use() || self.waits_for_host()
    }
}

impl Connection {
    /// When the sender wants to be called for pacing, or because the host's queue has room.
    #[inline(never)]
    pub(in crate::connection) fn sender_deadline(&self) -> Time {
        let pacing = Time::from_ps(self.modern.pacing_ns.saturating_mul(1000));
        let queued = self
            .modern
            .fq
            .timer_ns()
            .map_or(Time::NEVER, |ns| Time::from_ps(ns.saturating_mul(1000)));
        pacing.min(queued).min(self.modern.host.deadline())
    }

    /// Time has come for something of the sender's.
    pub(in crate::connection) fn sender_timeout(&mut self, now: Time, jiffies: Jiffies) {
        let host = self.modern.host.settle(now);
        let pacing = self.modern.pacing_ns <= self.clock.ns();
        if pacing {
            self.modern.pacing_ns = u64::MAX;
        }
        if host || pacing {
            self.resume(jiffies);
        }
        let Some((kind, at)) = self.timer else { return };
        if clock::before(jiffies, at) {
            return;
        }
        match kind {
            TimerKind::Reordering => self.reordering_timed_out(jiffies),
            TimerKind::LossProbe => self.send_loss_probe(jiffies),
            TimerKind::Retransmit => {
                self.timer = None;
                self.retransmission_timed_out_today(jiffies);
            }
            TimerKind::ZeroWindowProbe => {
                self.timer = None;
                self.probe_window_today(jiffies);
            }
        }
    }

    /// Sets the transmission timer.
    #[inline]
    pub(super) fn arm(&mut self, now: Jiffies, kind: TimerKind, ticks: Jiffies) {
        let expires = now.wrapping_add(ticks.min(self.modern.rto_max));
        self.timer = Some((kind, self.clock.wheel(expires, now)));
    }

    /// The same, later by as much as pacing holds back what is next to send.
    #[inline]
    pub(super) fn arm_paced(&mut self, now: Jiffies, kind: TimerKind, ticks: Jiffies) {
        let delay = self.pacing_delay();
        self.arm(now, kind, ticks.saturating_add(delay));
    }

    /// Microseconds until the head's timeout, less than zero if it is over.
    pub(super) fn rto_remaining_us(&self) -> i64 {
        let rto_us = i64::from(self.clock.micros(self.rtt.rto));
        let sent = self.modern.sent.front().map(|p| p.sent_us());
        sent.map_or(rto_us, |us| us as i64 + rto_us - self.now_us() as i64)
    }

    /// The timeout starts anew; what other timers have waited already counts (tcp_rearm_rto).
    pub(super) fn rearm_rto(&mut self, now: Jiffies) {
        if self.packets_out == 0 {
            self.timer = None;
            return;
        }
        let mut ticks = self.rtt.rto;
        if let Some((TimerKind::Reordering | TimerKind::LossProbe, _)) = self.timer {
            ticks = self
                .clock
                .us_to_ticks(self.rto_remaining_us().max(1) as u64);
        }
        self.arm_paced(now, TimerKind::Retransmit, ticks);
    }

    /// A loss probe if one is due, else the timeout.
    #[inline(always)]
    pub(super) fn set_transmit_timer(&mut self, now: Jiffies) {
        if self.packets_out == 0 || !self.schedule_loss_probe(now, true) {
            self.rearm_rto(now);
        }
    }

    /// tcp_retransmit_timer.
    fn retransmission_timed_out_today(&mut self, now: Jiffies) {
        let Some(head) = self.modern.sent.front().copied() else {
            return;
        };
        if self.snd_wnd == 0 && !self.orphan {
            // A window shrunk to nothing: retransmissions are probes.
            let elapsed_us = self.now_us() - head.sent_us();
            let first = self
                .first_retransmission(now)
                .unwrap_or(now.wrapping_sub(self.clock.us_to_ticks(elapsed_us)));
            if self.are_shrunk_probes_given_up(now, first) {
                return self.give_up();
            }
            self.enter_loss_today(now);
            self.retransmit_today(now, 0, 1);
        } else {
            let since = self.first_retransmission(now);
            if self.is_given_up(now, since, self.retransmits) {
                return self.give_up();
            }
            self.stats.timeouts += 1;
            self.enter_loss_today(now);
            self.retransmits += 1;
            self.retransmit_today(now, 0, 1);
            if self.modern.host.refuses() {
                let ticks = self.clock.us_to_ticks(RESOURCE_PROBE_US);
                return self.arm(now, TimerKind::Retransmit, ticks);
            }
        }
        if self.is_thin() && self.retransmits <= THIN_LINEAR_RETRIES {
            self.backoff = 0;
            let least = self.clock.ticks(self.stack.rto_min);
            self.rtt.rto = self.base_rto().max(least);
        } else {
            self.backoff += 1;
            self.rtt.rto = self.rtt.rto.saturating_mul(2).min(self.modern.rto_max);
        }
        let since = self.first_retransmission(now);
        let ticks = self.within_user_timeout(now, since, self.rtt.rto);
        self.arm(now, TimerKind::Retransmit, ticks);
    }

    /// Few packets are in flight, and not because it has just begun (tcp_stream_is_thin), and the stack
    /// makes a difference.
    fn is_thin(&self) -> bool {
        self.stack.tcp_thin_linear_timeouts
            && self.life == Life::Established
            && self.packets_out < THIN_PACKETS
            && self.window.ssthresh < INFINITE_SSTHRESH
    }

    /// Whether retransmissions into a window shrunk to nothing have gone on for long enough
    /// without any answer (tcp_rtx_probe0_timed_out).
    fn are_shrunk_probes_given_up(&self, now: Jiffies, since: Jiffies) -> bool {
        let mut patience = self.modern.rto_max.saturating_mul(2);
        let user = self.clock.ticks(self.options.user_timeout);
        let lasted = now.wrapping_sub(since);
        if user > 0 {
            if lasted > user {
                return true;
            }
            patience = patience.min(user);
        }
        let silent = now.wrapping_sub(self.ack_received) as i32;
        silent > patience as i32 && lasted > patience
    }

    /// When the first retransmission of this loss was sent, by its timestamp.
    fn first_retransmission(&self, now: Jiffies) -> Option<Jiffies> {
        let first = self.retrans_stamp.get()?;
        let since = self.stamp_of(self.clock.ns()).wrapping_sub(first);
        Some(now.wrapping_sub(self.clock.ticks_of_timestamp(since)))
    }

    /// How long to wait before the next zero-window probe (tcp_probe0_when).
    pub(super) fn probe_ticks(&self) -> Jiffies {
        let most = RTO_MAX_PER_MIN.ilog2() + 1;
        let base = u64::from(self.probe_base());
        let ticks = base << self.backoff.min(most);
        ticks.min(u64::from(self.modern.rto_max)) as Jiffies
    }

    pub(super) fn probe_base(&self) -> Jiffies {
        self.rtt
            .rto
            .max(self.clock.us_to_ticks(PROBE_MIN_MS * 1000))
    }

    /// tcp_probe_timer, tcp_send_probe0.
    fn probe_window_today(&mut self, now: Jiffies) {
        if self.packets_out > 0 || !self.has_unsent() {
            self.probes = 0;
            self.probes_since = Stamp::NONE;
            return;
        }
        let next = self.rtt.rto << self.backoff.min(16);
        if self.are_probes_given_up(now, next) {
            return self.give_up();
        }
        self.wake_peer_today(now);
        if self.packets_out > 0 || !self.has_unsent() {
            self.probes = 0;
            self.backoff = 0;
            self.probes_since = Stamp::NONE;
            return;
        }
        self.probes += 1;
        let ticks = if self.modern.host.refuses() {
            self.clock.us_to_ticks(RESOURCE_PROBE_US)
        } else {
            if self.backoff < self.stack.tcp_retries2 {
                self.backoff += 1;
            }
            self.probe_ticks()
        };
        let ticks = self.within_user_timeout(now, self.probes_since.get(), ticks);
        self.arm_paced(now, TimerKind::ZeroWindowProbe, ticks);
    }

    /// Sends what the window has room for, or a segment outside it that has to be answered
    /// (tcp_write_wakeup).
    fn wake_peer_today(&mut self, now: Jiffies) {
        let room = self.window_end() - self.snd_nxt;
        if room as i32 <= 0 || !self.has_unsent() {
            return self.send_window_probe();
        }
        let mss = self.current_mss();
        let bytes = self.head_bytes_today();
        self.pushed_seq = self.pushed_seq.max(self.head_end());
        if room < self.head_end() - self.snd_nxt || bytes > mss {
            self.modern.unsent.split_front(room.min(mss));
        }
        self.modern.unsent.mark_front(PSH);
        self.send_head(now, mss, true);
    }
}
