//! Timers fire.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_timer.c (tcp_retransmit_timer, tcp_delack_timer,
//! tcp_probe_timer, tcp_output.c's tcp_send_probe0) and tcp_input.c's tcp_enter_loss. `patience` says when
//! it is enough.

use tailback_units::Time;

use super::accurate_ecn::EcnMode;
use super::{CaState, Connection, Life, TimerKind};
use crate::clock::{self, Jiffies, Stamp};
use crate::congestion::CwndEvent;
use crate::queue::{LOST, RETRANS, SACKED};

impl Connection {
    /// Time has come to [`Connection::poll_timeout`]. A call too early does nothing.
    pub fn handle_timeout(&mut self, now: Time) {
        let jiffies = self.clock.jiffies(now);
        if self
            .receive
            .ack
            .deadline()
            .is_some_and(|at| !clock::before(jiffies, at))
            && self.receive.ack.fired(self.timeout())
        {
            self.send_ack();
        }
        if self.receive.ack.compression.due() <= now && self.receive.ack.compression.fired() {
            self.send_ack();
        }
        if self.life_timer.is_some() {
            self.life_timed_out(jiffies);
        }
        if self.is_modern() && self.life.is_synchronised() {
            return self.sender_timeout(now, jiffies);
        }
        let Some((kind, at)) = self.timer else { return };
        if clock::before(jiffies, at) {
            return;
        }
        self.timer = None;
        match (self.life, kind) {
            (Life::Closed | Life::TimeWait, _) => {}
            (Life::SynSent | Life::SynReceived, _) => self.syn_timed_out(jiffies),
            (_, TimerKind::Retransmit) => self.retransmission_timed_out(jiffies),
            (_, TimerKind::ZeroWindowProbe) => self.probe_window(jiffies),
            (_, TimerKind::Reordering | TimerKind::LossProbe) => {}
        }
    }

    /// Sets the transmission timer to fire `ticks` from now, or as near as the kernel's timers do.
    pub(super) fn set_timer(&mut self, now: Jiffies, kind: TimerKind, ticks: Jiffies) {
        let expires = now.wrapping_add(ticks);
        let fires = if self.is_modern() {
            self.clock.wheel(expires, now)
        } else {
            expires
        };
        self.timer = Some((kind, fires));
    }

    /// The smoothed round trip times 8, microseconds; all ones before the first sample.
    pub(super) fn smoothed_rtt_us_8(&self) -> u32 {
        let us = if self.is_modern() {
            self.srtt_us8()
        } else {
            self.clock.micros(self.rtt.srtt)
        };
        if us == 0 { u32::MAX } else { us }
    }

    /// The retransmission timeout, ticks.
    #[inline]
    pub(super) fn timeout(&self) -> Jiffies {
        self.rtt.rto
    }

    /// A SYN or its answer was lost. The first few wait no longer than the one before, if the
    /// stack says so.
    fn syn_timed_out(&mut self, now: Jiffies) {
        if self.is_syn_given_up(now, self.retrans_stamp.get(), self.retransmits) {
            return self.give_up();
        }
        self.retransmits += 1;
        self.stats.timeouts += 1;
        // tcp_enter_loss, of one who has asked for RFC 3168's echo: the first data says that the window is less.
        self.queue_cwr = self.life == Life::SynSent && self.ecn == EcnMode::Classic;
        if self.life == Life::SynReceived || self.retransmits > self.stack.tcp_syn_linear_timeouts {
            self.rtt.back_off();
        }
        self.send_syn(now, self.retransmits);
    }

    /// tcp_retransmit_timer.
    fn retransmission_timed_out(&mut self, now: Jiffies) {
        if self.packets_out == 0 {
            return;
        }
        // A window shrunk to nothing: retransmissions are probes, and go on while it answers.
        let window_closed = self.snd_wnd == 0;
        let hopeless = if window_closed && !self.orphan {
            now.wrapping_sub(self.ack_received) > self.clock.ticks(self.stack.rto_max)
        } else {
            self.is_given_up(now, self.retrans_stamp.get(), self.retransmits)
        };
        if hopeless {
            return self.give_up();
        }
        self.stats.timeouts += 1;
        self.enter_loss(now, false);
        self.retransmit(now, 0);
        if !window_closed {
            self.backoff += 1;
            self.retransmits += 1;
        }
        self.rtt.back_off();
        self.arm_retransmit(now);
    }

    /// All that is not selectively acknowledged, or `all`, is lost; slow start begins
    /// (tcp_enter_loss).
    pub(super) fn enter_loss(&mut self, now: Jiffies, all: bool) {
        let first = self.state <= CaState::Disorder
            || self.snd_una == self.high_seq
            || (self.state == CaState::Loss && self.retransmits == 0);
        if first {
            self.prior_ssthresh = self.current_ssthresh();
            let view = self.view(now);
            self.window.ssthresh = self.congestion.ssthresh(&self.window, &view);
            self.congestion
                .cwnd_event(&mut self.window, &view, CwndEvent::Loss);
        }
        self.window.cwnd = 1;
        self.window.cwnd_count = 0;
        self.cwnd_stamp = now;
        self.retrans_out = 0;
        self.sacked_out = 0;
        self.lost_out = 0;
        self.fackets_out = 0;
        self.undo_retrans = 0;
        self.undo_marker = (!all).then_some(self.snd_una);
        let mut count = 0;
        for packet in self.queue.iter_mut() {
            let segments = u32::from(packet.segments);
            count += segments;
            if packet.retransmitted() {
                self.undo_marker = None;
            }
            packet.tags &= !(LOST | RETRANS);
            if all {
                packet.tags &= !SACKED;
                (packet.run, packet.once) = (0, 0);
            }
            if packet.has(SACKED) {
                self.sacked_out += segments;
                self.fackets_out = count;
            } else {
                packet.tags |= LOST;
                self.lost_out += segments;
            }
        }
        self.reordering = self.reordering.min(self.stack.tcp_reordering);
        self.set_state(now, CaState::Loss);
        self.high_seq = self.snd_nxt;
        self.queue_cwr = self.ecn == EcnMode::Classic;
        self.queue.clear_hints();
        let len = self.queue.len();
        self.queue.places.all_lost(len);
    }

    /// tcp_probe_timer, tcp_send_probe0.
    fn probe_window(&mut self, now: Jiffies) {
        if self.packets_out > 0 || !self.has_unsent() {
            self.probes = 0;
            self.probes_since = Stamp::NONE;
            return;
        }
        let next = self.rtt.rto << self.backoff.min(16);
        if self.are_probes_given_up(now, next) {
            return self.give_up();
        }
        self.wake_peer(now);
        if self.packets_out > 0 {
            self.probes = 0;
            self.backoff = 0;
            return;
        }
        self.probes += 1;
        self.backoff = (self.backoff + 1).min(self.stack.tcp_retries2);
        self.arm_probe(now, self.backoff);
    }
}
