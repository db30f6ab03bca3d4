//! What an acknowledgement that is not plain progress does to the state.
//!
//! Models Linux 7.2 net/ipv4/tcp_input.c: tcp_fastretrans_alert and what it calls
//! (tcp_check_sack_reneging, tcp_identify_packet_loss, tcp_try_to_open, tcp_enter_recovery,
//! tcp_add_reno_sack and its like). It decides on the state and on what is lost; the window comes
//! later.

use super::super::{CaState, Connection, TimerKind};
use super::ack::{AckNews, Resend};
use crate::clock::{Jiffies, Stamp};
use crate::queue::EVER_RETRANS;
use crate::seq::Seq;

impl Connection {
    /// tcp_fastretrans_alert.
    pub(super) fn alert(
        &mut self,
        now: Jiffies,
        prior_una: Seq,
        duplicates: u32,
        news: &mut AckNews,
    ) -> Resend {
        if self.packets_out == 0 {
            self.sacked_out = 0;
        }
        if news.ece {
            self.prior_ssthresh = 0;
        }
        if self.reneged_today(now, news) {
            return Resend::Nothing;
        }
        if self.leave_finished_state_today(now) {
            return Resend::Nothing;
        }
        match self.state {
            CaState::Recovery => {
                if !news.una_advanced {
                    if !self.sack {
                        self.add_reno_sacks(duplicates, news.ece);
                    }
                } else if self.try_undo_partial_today(now, prior_una) {
                    return Resend::Nothing;
                }
                if self.try_undo_dsack_today(now) {
                    self.try_to_open_today(now, news.ece);
                }
                self.identify_loss(now, news);
                if self.state != CaState::Recovery {
                    if self.lost_out == 0 {
                        return Resend::Nothing;
                    }
                    self.enter_recovery(now, news.ece);
                }
                Resend::Lost
            }
            CaState::Loss => {
                let resend = self.process_loss(now, duplicates, news);
                self.identify_loss(now, news);
                if self.state != CaState::Open && !news.lost_retransmission {
                    return resend;
                }
                self.open_or_recover_today(now, duplicates, news)
                    .unwrap_or(resend)
            }
            _ => self
                .open_or_recover_today(now, duplicates, news)
                .unwrap_or(Resend::Nothing),
        }
    }

    /// A state ends when what was next to send at its beginning is acknowledged. True if that is
    /// all there is to do.
    pub(super) fn leave_finished_state_today(&mut self, now: Jiffies) -> bool {
        if self.state == CaState::Open {
            self.retrans_stamp = Stamp::NONE;
            return false;
        }
        if self.snd_una.before(self.high_seq) {
            return false;
        }
        match self.state {
            // Held until something beyond is acknowledged, so that CWR has reached the peer.
            CaState::Cwr if self.snd_una != self.high_seq => {
                self.end_reduction_today(now);
                self.set_state(now, CaState::Open);
            }
            CaState::Recovery => {
                if !self.sack {
                    self.sacked_out = 0;
                }
                if self.try_undo_recovery_today(now) {
                    return true;
                }
                self.end_reduction_today(now);
            }
            _ => {}
        }
        false
    }

    /// In Open, Disorder and CWR, or after a loss turned out otherwise: goes on (`None`), or
    /// enters fast recovery.
    fn open_or_recover_today(
        &mut self,
        now: Jiffies,
        duplicates: u32,
        news: &mut AckNews,
    ) -> Option<Resend> {
        if !self.sack {
            if news.una_advanced {
                self.sacked_out = 0;
            }
            self.add_reno_sacks(duplicates, news.ece);
        }
        if self.state <= CaState::Disorder {
            self.try_undo_dsack_today(now);
        }
        self.identify_loss(now, news);
        if self.lost_out == 0 {
            self.try_to_open_today(now, news.ece);
            return None;
        }
        self.enter_recovery(now, news.ece);
        Some(Resend::Lost)
    }

    /// tcp_identify_packet_loss.
    fn identify_loss(&mut self, now: Jiffies, news: &mut AckNews) {
        if self.modern.sent.is_empty() {
            return;
        }
        if !self.sack {
            self.newreno_mark_lost(news.una_advanced);
            return;
        }
        let prior = self.retrans_out;
        if self.rack_mark_lost(now) {
            news.set_timer = false;
        }
        news.lost_retransmission |= prior > self.retrans_out;
    }

    /// The head has been acknowledged selectively: the receiver may have thrown data away, or
    /// acknowledgements came out of order. The timeout decides, soon (tcp_check_sack_reneging).
    fn reneged_today(&mut self, now: Jiffies, news: &mut AckNews) -> bool {
        if !(news.head_sacked && news.una_advanced) {
            return false;
        }
        let half_rtt = self
            .clock
            .us_to_ticks(u64::from(self.modern.rtt.srtt_us8 >> 4));
        let least = self.clock.us_to_ticks(10_000);
        self.arm(now, TimerKind::Retransmit, half_rtt.max(least));
        news.set_timer = false;
        true
    }

    /// tcp_enter_recovery.
    pub(super) fn enter_recovery(&mut self, now: Jiffies, ece: bool) {
        if !self.any_retransmission_out() {
            self.retrans_stamp = Stamp::NONE;
        }
        self.stats.fast_recoveries += 1;
        self.prior_ssthresh = 0;
        self.begin_undo();
        if !self.in_reduction() {
            if !ece {
                self.prior_ssthresh = self.current_ssthresh();
            }
            self.begin_reduction_today(now);
        }
        self.set_state(now, CaState::Recovery);
    }

    /// Reduces the window without a loss; there is nothing to undo (tcp_enter_cwr).
    pub(in crate::connection) fn enter_cwr_today(&mut self, now: Jiffies) {
        self.prior_ssthresh = 0;
        if self.state < CaState::Cwr {
            self.undo_marker = None;
            self.begin_reduction_today(now);
            self.set_state(now, CaState::Cwr);
        }
    }

    /// tcp_try_keep_open.
    pub(super) fn try_keep_open(&mut self, now: Jiffies) {
        let amiss = self.sacked_out + self.lost_out > 0 || self.any_retransmission_out();
        let state = if amiss {
            CaState::Disorder
        } else {
            CaState::Open
        };
        if self.state != state {
            self.set_state(now, state);
            self.high_seq = self.snd_nxt;
        }
    }

    pub(super) fn try_to_open_today(&mut self, now: Jiffies, ece: bool) {
        if !self.any_retransmission_out() {
            self.retrans_stamp = Stamp::NONE;
        }
        if ece {
            self.enter_cwr_today(now);
        }
        if self.state != CaState::Cwr {
            self.try_keep_open(now);
        }
    }

    /// Whether what is outstanding was ever retransmitted, as far as the head tells
    /// (tcp_any_retrans_done).
    pub(super) fn any_retransmission_out(&self) -> bool {
        self.retrans_out > 0
            || self
                .modern
                .sent
                .front()
                .is_some_and(|p| p.has(EVER_RETRANS))
    }

    /// Without SACK a duplicate acknowledgement says that a segment arrived
    /// (tcp_add_reno_sack).
    pub(super) fn add_reno_sacks(&mut self, duplicates: u32, ece: bool) {
        if duplicates == 0 {
            return;
        }
        let prior = self.sacked_out;
        self.sacked_out += duplicates;
        self.check_reno_reordering_today(0);
        let delivered = self.sacked_out.saturating_sub(prior);
        if delivered > 0 {
            self.count_delivered(delivered, ece);
        }
    }

    /// Without SACK `acked` segments are acknowledged: one of them filled the hole
    /// (tcp_remove_reno_sacks).
    pub(super) fn remove_reno_sacks_today(&mut self, acked: u32, ece: bool) {
        if acked > 0 {
            let delivered = acked.saturating_sub(self.sacked_out).max(1);
            self.count_delivered(delivered, ece);
            self.sacked_out = self.sacked_out.saturating_sub(acked - 1);
        }
        self.check_reno_reordering_today(acked);
    }

    fn check_reno_reordering_today(&mut self, more: u32) {
        let holes = self.lost_out.max(1).min(self.packets_out);
        if self.sacked_out + holes > self.packets_out {
            self.sacked_out = self.packets_out - holes;
            self.reordering = (self.packets_out + more).min(self.stack.tcp_max_reordering);
            self.modern.reord_seen += 1;
        }
    }
}
