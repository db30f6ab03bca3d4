//! Recovery after a timeout, and timeouts that were spurious.
//!
//! Models Linux 7.2 net/ipv4/tcp_input.c: tcp_enter_loss, tcp_timeout_mark_lost, and
//! tcp_process_loss with F-RTO (RFC 5682, SACK-enhanced). What was sent less than a round trip
//! ago is not taken for lost. With F-RTO an acknowledgement of part of the window is followed by
//! new data; if data that was never retransmitted is acknowledged, the timeout was spurious.

use super::super::accurate_ecn::EcnMode;
use super::super::{CaState, Connection};
use super::ack::{AckNews, Resend};
use crate::clock::Jiffies;
use crate::congestion::CwndEvent;
use crate::queue::SACKED;

impl Connection {
    /// tcp_enter_loss.
    pub(super) fn enter_loss_today(&mut self, now: Jiffies) {
        let new_recovery = self.state < CaState::Recovery;
        self.mark_timed_out();
        let first = self.state <= CaState::Disorder
            || !self.high_seq.after(self.snd_una)
            || (self.state == CaState::Loss && self.retransmits == 0);
        if first {
            self.prior_ssthresh = self.current_ssthresh();
            self.window.prior_cwnd = self.window.cwnd;
            let view = self.view(now);
            self.window.ssthresh = self.congestion.ssthresh(&self.window, &view);
            self.tell(now, CwndEvent::Loss);
            self.begin_undo();
        }
        self.window.cwnd = self.in_flight() + 1;
        self.window.cwnd_count = 0;
        self.cwnd_stamp = now;
        // Many out of order and yet a timeout: reordering was overestimated.
        let usual = self.stack.tcp_reordering;
        if self.state <= CaState::Disorder && self.sacked_out >= usual {
            self.reordering = self.reordering.min(usual);
        }
        self.set_state(now, CaState::Loss);
        self.high_seq = self.snd_nxt;
        self.modern.tlp_high_seq = None;
        self.queue_cwr = self.ecn == EcnMode::Classic;
        self.modern.frto = self.stack.tcp_frto > 0 && (new_recovery || self.retransmits > 0);
    }

    /// tcp_timeout_mark_lost.
    fn mark_timed_out(&mut self) {
        let reneged = self.modern.sent.front().is_some_and(|p| p.has(SACKED));
        if reneged {
            self.sacked_out = 0;
            self.modern.sack_reneged = true;
            for packet in self.modern.sent.iter_mut() {
                packet.tags &= !SACKED;
            }
        } else if !self.sack {
            self.sacked_out = 0;
        }
        for index in 0..self.modern.sent.len() {
            let recent = !reneged
                && index > 0
                && self
                    .modern
                    .sent
                    .get(index)
                    .is_some_and(|p| self.rack_remaining_us(p, 0) > 0);
            if !recent {
                self.mark_lost(index);
            }
        }
        self.modern.retransmit_hint = None;
    }

    /// tcp_process_loss.
    pub(super) fn process_loss(&mut self, now: Jiffies, duplicates: u32, news: &AckNews) -> Resend {
        let recovered = !self.snd_una.before(self.high_seq);
        if news.una_advanced && self.try_undo_loss_today(now, false) {
            return Resend::Nothing;
        }
        if self.modern.frto {
            if news.orig_sack_acked && self.try_undo_loss_today(now, true) {
                return Resend::Nothing;
            }
            if self.snd_nxt.after(self.high_seq) {
                if news.data_sacked || duplicates > 0 {
                    self.modern.frto = false;
                }
            } else if news.una_advanced && !recovered {
                self.high_seq = self.snd_nxt;
                if self.has_unsent() && self.window_end().after(self.snd_nxt) {
                    return Resend::New;
                }
                self.modern.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery_today(now);
            return Resend::Nothing;
        }
        if !self.sack {
            if self.snd_nxt.after(self.high_seq) && duplicates > 0 {
                self.add_reno_sacks(duplicates, news.ece);
            } else if news.una_advanced {
                self.sacked_out = 0;
            }
        }
        Resend::Lost
    }
}
