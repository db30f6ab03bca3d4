//! Reductions that turn out to be needless are taken back.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_input.c: tcp_may_undo, tcp_packet_delayed (Eifel, RFC 3522),
//! tcp_undo_cwr, tcp_try_undo_recovery, _dsack (RFC 3708), _partial and _loss.

use super::{CaState, Connection};
use crate::clock::{self, Jiffies, Stamp};
use crate::queue::LOST;
use crate::segment::Segment;

impl Connection {
    /// Nothing was retransmitted, or what came answers the original (tcp_packet_delayed: Eifel).
    fn packet_delayed(&self, segment: &Segment) -> bool {
        let answers_original = |stamp| {
            segment.has_timestamps && segment.ts_ecr != 0 && clock::before(segment.ts_ecr, stamp)
        };
        self.retrans_stamp.get().is_none_or(answers_original)
    }

    fn may_undo(&self, segment: &Segment) -> bool {
        self.undo_marker.is_some() && (self.undo_retrans == 0 || self.packet_delayed(segment))
    }

    /// tcp_undo_cwr.
    fn undo_cwr(&mut self, now: Jiffies, with_ssthresh: bool) {
        self.stats.undos += 1;
        if self.prior_ssthresh > 0 {
            let view = self.view(now);
            self.window.cwnd = self.congestion.undo_cwnd(&self.window, &view);
            if with_ssthresh && self.prior_ssthresh > self.window.ssthresh {
                self.window.ssthresh = self.prior_ssthresh;
                if !self.congestion.wants_precise_echo() {
                    // TCP_ECN_withdraw_cwr withdraws the receiver's demand in this kernel.
                    self.demand_cwr = false;
                }
            }
        } else {
            self.window.cwnd = self.window.cwnd.max(self.window.ssthresh);
        }
        self.moderate_cwnd(now);
        self.queue.clear_hints();
    }

    /// tcp_try_undo_recovery.
    pub(super) fn try_undo_recovery(&mut self, now: Jiffies, segment: &Segment) -> bool {
        if self.may_undo(segment) {
            self.undo_cwr(now, true);
            self.undo_marker = None;
        }
        if self.snd_una == self.high_seq && !self.sack {
            self.moderate_cwnd(now);
            return true;
        }
        self.set_state(now, CaState::Open);
        false
    }

    /// tcp_try_undo_dsack.
    pub(super) fn try_undo_dsack(&mut self, now: Jiffies) {
        if self.undo_marker.is_some() && self.undo_retrans == 0 {
            self.undo_cwr(now, true);
            self.undo_marker = None;
        }
    }

    /// A partial acknowledgement in fast recovery: whether more of the head is to be marked
    /// (tcp_try_undo_partial).
    pub(super) fn try_undo_partial(&mut self, now: Jiffies, acked: u32, segment: &Segment) -> bool {
        if !self.may_undo(segment) {
            return !self.sack || self.fackets_out > self.reordering;
        }
        if self.retrans_out == 0 {
            self.retrans_stamp = Stamp::NONE;
        }
        let fackets = if self.sack {
            self.fackets_out
        } else {
            self.sacked_out + 1
        };
        self.update_reordering(fackets + acked);
        self.undo_cwr(now, false);
        false
    }

    /// tcp_try_undo_loss.
    pub(super) fn try_undo_loss(&mut self, now: Jiffies, segment: &Segment) -> bool {
        if !self.may_undo(segment) {
            return false;
        }
        for packet in self.queue.iter_mut() {
            packet.tags &= !LOST;
        }
        self.queue.places.none_lost();
        self.queue.clear_hints();
        self.lost_out = 0;
        self.undo_cwr(now, true);
        self.retransmits = 0;
        self.undo_marker = None;
        if self.sack {
            self.set_state(now, CaState::Open);
        }
        true
    }
}
