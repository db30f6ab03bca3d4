//! Reductions that turn out to be needless are taken back.
//!
//! Models Linux 7.2 net/ipv4/tcp_input.c: tcp_init_undo, tcp_packet_delayed (Eifel, RFC 3522),
//! tcp_undo_cwnd_reduction, tcp_try_undo_recovery, _dsack (RFC 3708), _partial and _loss.

use super::super::{CaState, Connection};
use super::rack::RECOVERY_THRESH;
use crate::clock::{Jiffies, Stamp};
use crate::queue::LOST;
use crate::seq::Seq;

impl Connection {
    /// From here on a reduction may be undone. Probes and retransmissions that are out may be told
    /// of as duplicates; -1 says that there are none (tcp_init_undo).
    pub(super) fn begin_undo(&mut self) {
        self.undo_marker = Some(self.snd_una);
        self.undo_retrans = self.retrans_out as i32;
        if self.modern.tlp_high_seq.is_some() && self.modern.tlp_retrans {
            self.undo_retrans += 1;
        }
        if self.undo_retrans == 0 {
            self.undo_retrans = -1;
        }
    }

    /// Nothing was retransmitted, or what came answers the original.
    fn packet_delayed_today(&self) -> bool {
        match self.retrans_stamp.get() {
            Some(stamp) => self.echo_before(stamp),
            // Without SACK the stamp is cleared at the end of the window.
            None => self.sack || self.snd_una.before(self.high_seq),
        }
    }

    fn may_undo_today(&self) -> bool {
        self.undo_marker.is_some() && (self.undo_retrans == 0 || self.packet_delayed_today())
    }

    /// tcp_undo_cwnd_reduction.
    fn undo_reduction(&mut self, now: Jiffies, unmark: bool) {
        if unmark {
            for packet in self.modern.sent.iter_mut() {
                packet.tags &= !LOST;
            }
            self.lost_out = 0;
            self.modern.retransmit_hint = None;
        }
        if self.prior_ssthresh > 0 {
            let view = self.view(now);
            self.window.cwnd = self.congestion.undo_cwnd(&self.window, &view);
            if self.prior_ssthresh > self.window.ssthresh {
                self.window.ssthresh = self.prior_ssthresh;
                self.queue_cwr = false;
            }
        }
        self.stats.undos += 1;
        self.cwnd_stamp = now;
        self.undo_marker = None;
        self.modern.rack.advanced = true;
    }

    /// Without SACK the state is held until something beyond the window is acknowledged, lest
    /// duplicates of this window start another recovery (RFC 6582).
    fn holds_state(&mut self) -> bool {
        let holds = self.snd_una == self.high_seq && !self.sack;
        if holds && !self.any_retransmission_out() {
            self.retrans_stamp = Stamp::NONE;
        }
        holds
    }

    /// The window is acknowledged: the state ends, unless it is held (true).
    pub(super) fn try_undo_recovery_today(&mut self, now: Jiffies) -> bool {
        if self.may_undo_today() {
            self.undo_reduction(now, false);
        } else {
            let persist = &mut self.modern.rack.reo_wnd_persist;
            *persist = persist.saturating_sub(1);
        }
        if self.holds_state() {
            return true;
        }
        self.set_state(now, CaState::Open);
        self.modern.sack_reneged = false;
        false
    }

    /// All that was retransmitted has been told of as duplicates.
    pub(super) fn try_undo_dsack_today(&mut self, now: Jiffies) -> bool {
        if self.undo_marker.is_none() || self.undo_retrans != 0 {
            return false;
        }
        let rack = &mut self.modern.rack;
        rack.reo_wnd_persist = (rack.reo_wnd_persist + 1).min(RECOVERY_THRESH);
        self.undo_reduction(now, false);
        true
    }

    /// A partial acknowledgement in fast recovery. True if the original came late and
    /// retransmissions are still out: nothing more is marked.
    pub(super) fn try_undo_partial_today(&mut self, now: Jiffies, prior_una: Seq) -> bool {
        if self.undo_marker.is_none() || !self.packet_delayed_today() {
            return false;
        }
        self.check_reordering(prior_una);
        if self.retrans_out > 0 {
            return true;
        }
        if !self.any_retransmission_out() {
            self.retrans_stamp = Stamp::NONE;
        }
        self.undo_reduction(now, true);
        self.try_keep_open(now);
        false
    }

    /// After a timeout: the original came late, or F-RTO has found so.
    pub(super) fn try_undo_loss_today(&mut self, now: Jiffies, frto: bool) -> bool {
        if !frto && !self.may_undo_today() {
            return false;
        }
        self.undo_reduction(now, true);
        self.retransmits = 0;
        if self.holds_state() {
            return true;
        }
        if frto || self.sack {
            self.set_state(now, CaState::Open);
            self.modern.sack_reneged = false;
        }
        true
    }
}
