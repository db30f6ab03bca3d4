//! What an acknowledgement that is not plain progress does to the state.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_input.c: tcp_fastretrans_alert and what it calls
//! (tcp_time_to_recover, tcp_mark_head_lost, tcp_update_scoreboard, tcp_moderate_cwnd,
//! tcp_try_to_open, tcp_enter_cwr, tcp_check_sack_reneging); `reduction` has how the window comes
//! down, `undo` how that is taken back.
//! Without SACK duplicate acknowledgements stand for it (tcp_add_reno_sack).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accurate_ecn::EcnMode;
use super::{AckFlags, CaState, Connection};
use crate::clock::{Jiffies, Stamp};
use crate::queue::{Hint, LOST, Packet, SACKED, TAGS};
use crate::segment::Segment;
use crate::seq::Seq;

/// When fast recovery ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastRecovery {
    /// When all is acknowledged that was sent before it began (RFC 6582, RFC 6675), as in Linux.
    #[serde(rename = "newreno")]
    NewReno,
    /// With the first acknowledgement of new data (RFC 2581 section 3.2): each further loss of a window
    /// needs three duplicates of its own, or a timeout.
    Reno,
}

/// Segments that may be sent in a burst after a dubious acknowledgement (tcp_max_burst).
pub(super) const MAX_BURST: u32 = 3;

impl Connection {
    /// tcp_fastretrans_alert.
    pub(super) fn fast_retransmit_alert(
        &mut self,
        now: Jiffies,
        prior_una: Seq,
        prior_packets: u32,
        flags: AckFlags,
        segment: &Segment,
    ) {
        let not_dup = flags.data || flags.window_update || flags.data_acked;
        let mut is_dupack = self.snd_una == prior_una && !not_dup;
        if self.packets_out == 0 {
            self.sacked_out = 0;
        }
        if self.sacked_out == 0 {
            self.fackets_out = 0;
        }
        if flags.ece {
            self.prior_ssthresh = 0;
        }
        if self.sacked_out > 0 && self.reneged(now) {
            return;
        }
        if flags.data_lost
            && self.snd_una.before(self.high_seq)
            && self.state != CaState::Open
            && self.fackets_out > self.reordering
        {
            self.mark_head_lost(self.fackets_out - self.reordering);
        }
        if self.state == CaState::Recovery
            && self.stack.fast_recovery == FastRecovery::Reno
            && self.snd_una != prior_una
        {
            // The end lies behind: one at snd_una would wait for more without SACK.
            self.high_seq = self.snd_una - 1;
        }
        if self.leave_finished_state(now, segment) {
            return;
        }
        let mut entered = false;
        match self.state {
            CaState::Recovery => {
                if prior_una == self.snd_una {
                    if !self.sack && is_dupack {
                        self.add_reno_sack();
                    }
                } else {
                    let acked = prior_packets - self.packets_out;
                    if !self.sack {
                        self.remove_reno_sacks(acked);
                    }
                    is_dupack = self.try_undo_partial(now, acked, segment);
                }
            }
            CaState::Loss => {
                if flags.data_acked {
                    self.retransmits = 0;
                }
                if !self.try_undo_loss(now, segment) {
                    self.moderate_cwnd(now);
                    self.retransmit_queue(now);
                    return;
                }
                if self.state != CaState::Open
                    || !self.open_or_recover(now, prior_una, is_dupack, flags)
                {
                    return;
                }
                entered = true;
            }
            _ => {
                if !self.open_or_recover(now, prior_una, is_dupack, flags) {
                    return;
                }
                entered = true;
            }
        }
        if is_dupack || self.head_timed_out(now) {
            self.update_scoreboard(now);
        }
        self.reduce_cwnd(now, entered);
        self.retransmit_queue(now);
    }

    /// The receiver has thrown away what it had acknowledged selectively: all begins anew
    /// (tcp_check_sack_reneging).
    fn reneged(&mut self, now: Jiffies) -> bool {
        if !self.queue.front().is_some_and(|p| p.has(SACKED)) {
            return false;
        }
        self.enter_loss(now, true);
        self.retransmits += 1;
        self.retransmit(now, 0);
        self.arm_retransmit(now);
        true
    }

    /// States end when what was next to send at their beginning is acknowledged. True if that is
    /// all there is to do.
    fn leave_finished_state(&mut self, now: Jiffies, segment: &Segment) -> bool {
        if self.state == CaState::Open {
            self.retrans_stamp = Stamp::NONE;
            return false;
        }
        if self.snd_una.before(self.high_seq) {
            return false;
        }
        match self.state {
            CaState::Loss => {
                self.retransmits = 0;
                return self.try_undo_recovery(now, segment);
            }
            CaState::Cwr => {
                if self.snd_una != self.high_seq {
                    self.end_reduction(now);
                    self.set_state(now, CaState::Open);
                }
            }
            CaState::Disorder => {
                self.try_undo_dsack(now);
                if self.undo_marker.is_none() || !self.sack || self.snd_una != self.high_seq {
                    self.undo_marker = None;
                    self.set_state(now, CaState::Open);
                }
            }
            CaState::Recovery => {
                if !self.sack {
                    self.sacked_out = 0;
                }
                if self.try_undo_recovery(now, segment) {
                    return true;
                }
                self.end_reduction(now);
            }
            CaState::Open => {}
        }
        false
    }

    /// In Open, Disorder and CWR: goes on, or enters fast recovery (true).
    fn open_or_recover(
        &mut self,
        now: Jiffies,
        prior_una: Seq,
        is_dupack: bool,
        flags: AckFlags,
    ) -> bool {
        if !self.sack {
            if self.snd_una != prior_una {
                self.sacked_out = 0;
            }
            if is_dupack {
                self.add_reno_sack();
            }
        }
        if self.state == CaState::Disorder {
            self.try_undo_dsack(now);
        }
        if !self.time_to_recover(now) {
            self.try_to_open(now, flags.ece);
            return false;
        }
        self.stats.fast_recoveries += 1;
        self.high_seq = self.snd_nxt;
        self.prior_ssthresh = 0;
        self.undo_marker = Some(self.snd_una);
        self.undo_retrans = self.retrans_out as i32;
        if self.state < CaState::Cwr {
            if !flags.ece {
                self.prior_ssthresh = self.current_ssthresh();
            }
            let view = self.view(now);
            self.window.ssthresh = self.congestion.ssthresh(&self.window, &view);
            self.queue_cwr = self.ecn == EcnMode::Classic;
            self.begin_reduction(false);
        }
        self.window.cwnd_count = 0;
        self.set_state(now, CaState::Recovery);
        true
    }

    /// Whether a loss is proven or likely (tcp_time_to_recover).
    fn time_to_recover(&self, now: Jiffies) -> bool {
        let fackets = if self.sack {
            self.fackets_out
        } else {
            self.sacked_out + 1
        };
        self.lost_out > 0
            || fackets > self.reordering
            || self.head_timed_out(now)
            || (self.packets_out <= self.reordering
                && self.sacked_out >= (self.packets_out / 2).max(self.stack.tcp_reordering)
                && !self.may_send_now())
    }

    /// tcp_try_to_open.
    fn try_to_open(&mut self, now: Jiffies, ece: bool) {
        if self.retrans_out == 0 {
            self.retrans_stamp = Stamp::NONE;
        }
        if ece {
            self.enter_cwr(now);
        }
        if self.state == CaState::Cwr {
            self.reduce_cwnd(now, false);
            return;
        }
        let amiss = self.sacked_out + self.lost_out > 0
            || self.retrans_out > 0
            || self.undo_marker.is_some();
        let state = if amiss {
            CaState::Disorder
        } else {
            CaState::Open
        };
        if self.state != state {
            self.set_state(now, state);
            self.high_seq = self.snd_nxt;
        }
        self.moderate_cwnd(now);
    }

    /// The first `segments` segments that are not tagged are lost (tcp_mark_head_lost).
    fn mark_head_lost(&mut self, segments: u32) {
        let Hint {
            mut index,
            mut count,
        } = self.queue.lost_hint.unwrap_or(Hint { index: 0, count: 0 });
        let tagged = self.tagged_to_mark(segments);
        if tagged > index {
            (index, count) = (tagged, tagged as u32);
        }
        while let Some(packet) = self.queue.get_mut(index) {
            let (seq, in_packet) = (packet.seq, u32::from(packet.segments));
            let beyond = count + in_packet > segments || packet.end_seq.after(self.high_seq);
            let tagged = packet.has(TAGS);
            if !beyond && !tagged {
                packet.tags |= LOST;
            }
            self.queue.lost_hint = Some(Hint { index, count });
            if beyond {
                break;
            }
            if !tagged {
                self.lost_out += in_packet;
                self.queue.retransmit_from(seq);
                self.queue.places.lost(index);
            }
            self.queue.places.is_tagged(index);
            count += in_packet;
            index += 1;
        }
    }

    /// Packets at the head that [`Connection::mark_head_lost`] would pass over, at least: places of packets that
    /// it would reach, where each is a segment.
    fn tagged_to_mark(&self, segments: u32) -> usize {
        let within = |p: &Packet| !p.end_seq.after(self.high_seq);
        let is_within = |tagged: usize| {
            let last = tagged.checked_sub(1).and_then(|last| self.queue.get(last));
            last.is_some_and(within)
        };
        if !self.queue.is_simple() {
            return 0;
        }
        let mut tagged = self.queue.tagged(segments);
        if !is_within(tagged) {
            tagged = tagged.min(self.queue.first_from(self.high_seq));
        }
        if is_within(tagged) { tagged } else { 0 }
    }

    /// Marks what is now known to be lost, by FACK and by time (tcp_update_scoreboard).
    fn update_scoreboard(&mut self, now: Jiffies) {
        let segments = if self.fack {
            self.fackets_out.saturating_sub(self.reordering).max(1)
        } else {
            1
        };
        self.mark_head_lost(segments);
        if !self.sack || !self.head_timed_out(now) {
            return;
        }
        let mut index = self.queue.timed_out_hint.unwrap_or(0);
        while let Some(packet) = self.queue.get(index).copied() {
            if !self.timed_out(&packet, now) {
                break;
            }
            if !packet.has(TAGS) {
                if let Some(packet) = self.queue.get_mut(index) {
                    packet.tags |= LOST;
                }
                self.lost_out += u32::from(packet.segments);
                self.queue.retransmit_from(packet.seq);
                self.queue.places.lost(index);
            }
            index += 1;
        }
        self.queue.timed_out_hint = Some(index);
    }

    /// tcp_moderate_cwnd.
    pub(super) fn moderate_cwnd(&mut self, now: Jiffies) {
        self.window.cwnd = self.window.cwnd.min(self.in_flight() + MAX_BURST);
        self.cwnd_stamp = now;
    }

    /// Reduces the window without a loss (tcp_enter_cwr).
    pub(super) fn enter_cwr(&mut self, now: Jiffies) {
        self.prior_ssthresh = 0;
        if self.state >= CaState::Cwr {
            return;
        }
        self.undo_marker = None;
        let view = self.view(now);
        self.window.ssthresh = self.congestion.ssthresh(&self.window, &view);
        self.begin_reduction(true);
        self.high_seq = self.snd_nxt;
        self.cwnd_stamp = now;
        self.queue_cwr = self.ecn == EcnMode::Classic;
        self.set_state(now, CaState::Cwr);
    }

    /// Goes to another state; the congestion control is told first (tcp_set_ca_state).
    pub(super) fn set_state(&mut self, now: Jiffies, state: CaState) {
        let view = self.view(now);
        self.congestion.set_state(&mut self.window, &view, state);
        self.state = state;
    }

    /// The threshold as it would be without the current reduction.
    pub(super) fn current_ssthresh(&self) -> u32 {
        self.window.current_ssthresh(self.state)
    }

    fn add_reno_sack(&mut self) {
        self.sacked_out += 1;
        self.check_reno_reordering(0);
    }

    fn remove_reno_sacks(&mut self, acked: u32) {
        if acked > 0 {
            self.sacked_out = self.sacked_out.saturating_sub(acked - 1);
        }
        self.check_reno_reordering(acked);
    }

    fn check_reno_reordering(&mut self, more: u32) {
        let holes = self.lost_out.max(1).min(self.packets_out);
        if self.sacked_out + holes > self.packets_out {
            self.sacked_out = self.packets_out - holes;
            self.update_reordering(self.packets_out + more);
        }
    }
}
