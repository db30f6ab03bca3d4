//! RACK: losses by time (RFC 8985).
//!
//! Models Linux 7.2 net/ipv4/tcp_recovery.c (tcp_rack_reo_wnd, tcp_rack_detect_loss,
//! tcp_rack_mark_lost, tcp_rack_reo_timeout) and tcp_input.c (tcp_rack_advance,
//! tcp_rack_update_reo_wnd, tcp_mark_skb_lost). A packet is lost when one sent later has arrived
//! and a round trip and the reordering window have passed; that holds for retransmissions too.
//! The window is none once three segments have arrived out of order on a path that does not
//! reorder, else a quarter of the least round trip, and a step more for every round trip with a
//! duplicate told of. Without SACK three duplicate acknowledgements stand for it (NewReno,
//! RFC 6582).

use super::super::{CaState, Connection, TimerKind};
use super::queue::{Sent, UNLISTED};
use crate::clock::Jiffies;
use crate::queue::{LOST, RETRANS, SACKED};
use crate::seq::Seq;

/// Bits of tcp_recovery (include/net/tcp.h).
const STATIC_REO_WND: u8 = 2;
const NO_DUPTHRESH: u8 = 4;
/// Recoveries that a widened window outlasts (TCP_RACK_RECOVERY_THRESH, include/linux/tcp.h).
pub(super) const RECOVERY_THRESH: u8 = 16;
/// Added to the reordering timer (TCP_TIMEOUT_MIN_US, include/net/tcp.h).
pub(super) const TIMEOUT_MIN_US: u32 = 2000;

/// RACK's state (tcp_sock.rack).
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// When the packet that was sent last of those delivered was sent, and where it ends.
    sent_us: u64,
    end_seq: Seq,
    /// Its round trip.
    rtt_us: u32,
    pub(super) advanced: bool,
    pub(super) dsack_seen: bool,
    reo_wnd_steps: u8,
    pub(super) reo_wnd_persist: u8,
    last_delivered: u32,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            sent_us: 0,
            end_seq: Seq(0),
            rtt_us: 0,
            advanced: false,
            dsack_seen: false,
            reo_wnd_steps: 1,
            reo_wnd_persist: 0,
            last_delivered: 0,
        }
    }
}

impl Rack {
    /// When the packet that was sent last of those delivered was sent, and where it ends.
    #[inline]
    pub(super) fn mark(&self) -> (u64, Seq) {
        (self.sent_us, self.end_seq)
    }
}

/// Whether one packet was sent after another, given when each was sent and where it ends.
#[inline]
pub(super) fn sent_after(a: (u64, Seq), b: (u64, Seq)) -> bool {
    a.0 > b.0 || (a.0 == b.0 && a.1.after(b.1))
}

impl Connection {
    /// A packet was delivered that had been sent at `sent_us`.
    #[inline]
    pub(super) fn rack_advance(&mut self, retransmitted: bool, end_seq: Seq, sent_us: u64) {
        let rtt_us = self.now_us().saturating_sub(sent_us) as u32;
        // Sooner than any round trip: it was the original that arrived.
        if retransmitted && rtt_us < self.modern.rtt.min.get() {
            return;
        }
        let rack = &mut self.modern.rack;
        rack.advanced = true;
        rack.rtt_us = rtt_us;
        if sent_after((sent_us, end_seq), (rack.sent_us, rack.end_seq)) {
            rack.sent_us = sent_us;
            rack.end_seq = end_seq;
        }
    }

    fn reordering_window_us(&self) -> u32 {
        let rack = &self.modern.rack;
        if self.modern.reord_seen == 0 {
            let by_count =
                self.sacked_out >= self.reordering && self.stack.tcp_recovery & NO_DUPTHRESH == 0;
            if self.state >= CaState::Recovery || by_count {
                return 0;
            }
        }
        let steps = u64::from(self.modern.rtt.min.get() >> 2) * u64::from(rack.reo_wnd_steps);
        (steps as u32).min(self.modern.rtt.srtt_us8 >> 3)
    }

    /// Microseconds until a packet counts as lost; zero or less if it does
    /// (tcp_rack_skb_timeout).
    pub(super) fn rack_remaining_us(&self, packet: &Sent, window_us: u32) -> i64 {
        i64::from(self.modern.rack.rtt_us) + i64::from(window_us)
            - (self.now_us() as i64 - packet.sent_us() as i64)
    }

    /// Marks what is lost; answers how long to wait for the rest, if for any.
    fn detect_loss(&mut self) -> Option<u32> {
        let window_us = self.reordering_window_us();
        let mark = self.modern.rack.mark();
        let mut last_turn = None;
        let mut wait = 0;
        for index in 0..self.modern.sent.len() {
            let Some(packet) = self.modern.sent.get(index) else {
                break;
            };
            let sent_us = packet.sent_us();
            if packet.ends_walk(mark) {
                debug_assert!(self.none_sent_before(mark, index));
                break;
            }
            if !packet.is_listed() || !sent_after(mark, (sent_us, packet.end_seq)) {
                continue;
            }
            if sent_us == mark.0 {
                let last = *last_turn.get_or_insert_with(|| self.last_turn(mark));
                if last.is_some_and(|last| (last.wrapping_sub(packet.turn) as i16) < 0) {
                    continue;
                }
            }
            let remaining = self.rack_remaining_us(packet, window_us);
            if remaining <= 0 {
                self.mark_lost(index);
                if let Some(packet) = self.modern.sent.get_mut(index) {
                    packet.marks |= UNLISTED;
                }
            } else {
                wait = wait.max(remaining as u32);
            }
        }
        (wait > 0).then_some(wait)
    }

    /// The kernel walks in the order of sending and goes no further than the first packet that was not
    /// sent before the mark. Of those sent in the mark's own microsecond, by turn, which is that?
    fn last_turn(&self, mark: (u64, Seq)) -> Option<u16> {
        let sent = self.modern.sent.iter();
        let sent = sent.take_while(|p| p.retransmitted() || p.sent_us() <= mark.0);
        let tied = sent.filter(|p| p.sent_us() == mark.0 && p.is_listed());
        let turns = tied.filter(|p| !mark.1.after(p.end_seq)).map(|p| p.turn);
        turns.reduce(|a, b| if (a.wrapping_sub(b) as i16) < 0 { a } else { b })
    }

    /// Whether no packet from this one on was sent before the mark.
    fn none_sent_before(&self, mark: (u64, Seq), index: usize) -> bool {
        let mut rest = self.modern.sent.iter().skip(index);
        rest.all(|packet| !sent_after(mark, (packet.sent_us(), packet.end_seq)))
    }

    /// After an acknowledgement. True if the reordering timer was set.
    pub(super) fn rack_mark_lost(&mut self, now: Jiffies) -> bool {
        if !std::mem::take(&mut self.modern.rack.advanced) {
            return false;
        }
        let Some(wait_us) = self.detect_loss() else {
            return false;
        };
        let ticks = self.clock.us_to_ticks(u64::from(wait_us + TIMEOUT_MIN_US));
        let most = self.rtt.rto;
        self.arm(now, TimerKind::Reordering, ticks.min(most));
        true
    }

    /// The reordering timer fired.
    pub(super) fn reordering_timed_out(&mut self, now: Jiffies) {
        let prior_in_flight = self.in_flight();
        let prior_lost = self.modern.lost;
        self.detect_loss();
        if prior_in_flight != self.in_flight() {
            if self.state != CaState::Recovery {
                self.enter_recovery(now, false);
                if !self.congestion.full_control() {
                    let lost = self.modern.lost.wrapping_sub(prior_lost);
                    self.reduce_cwnd_today(1, lost, false);
                }
            }
            self.retransmit_lost_packets(now);
        }
        if self
            .timer
            .is_none_or(|(kind, _)| kind != TimerKind::Retransmit)
        {
            self.rearm_rto(now);
        }
    }

    /// tcp_mark_skb_lost.
    pub(super) fn mark_lost(&mut self, index: usize) {
        let Some(packet) = self.modern.sent.get(index).copied() else {
            return;
        };
        if packet.has(SACKED) {
            return;
        }
        let segments = u32::from(packet.segments);
        let hint = &mut self.modern.retransmit_hint;
        let first = match *hint {
            None => self.retrans_out >= self.lost_out,
            Some(seq) => packet.seq.before(seq),
        };
        if first {
            *hint = Some(packet.seq);
        }
        let mut tags = packet.tags;
        if packet.has(LOST) {
            if !packet.has(RETRANS) {
                return;
            }
            // The retransmission is lost too.
            tags &= !RETRANS;
            self.retrans_out -= segments.min(self.retrans_out);
            self.stats.lost_retransmissions += segments;
        } else {
            tags |= LOST;
            self.lost_out += segments;
        }
        self.modern.lost = self.modern.lost.wrapping_add(segments);
        if let Some(packet) = self.modern.sent.get_mut(index) {
            packet.tags = tags;
        }
    }

    /// Without SACK: the head is lost after three duplicates, or after a partial acknowledgement
    /// in recovery (tcp_newreno_mark_lost).
    pub(super) fn newreno_mark_lost(&mut self, una_advanced: bool) {
        let lost = (self.state < CaState::Recovery && self.sacked_out >= self.reordering)
            || (self.state == CaState::Recovery && una_advanced);
        let Some(head) = self.modern.sent.front().copied() else {
            return;
        };
        if !lost || head.has(LOST) {
            return;
        }
        let mss = u32::from(head.mss);
        if head.segments > 1 && head.payload_bytes() > mss {
            self.split_sent(0, mss, mss);
        }
        self.mark_lost(0);
    }

    /// Duplicates told of on a path that reorders widen the window, once a round trip
    /// (tcp_rack_update_reo_wnd).
    #[inline(always)]
    pub(super) fn update_reordering_window(&mut self, prior_delivered: u32) {
        if self.stack.tcp_recovery & STATIC_REO_WND != 0 || prior_delivered == 0 {
            return;
        }
        let delivered = self.delivered;
        let rack = &mut self.modern.rack;
        if (prior_delivered.wrapping_sub(rack.last_delivered) as i32) < 0 {
            rack.dsack_seen = false;
        }
        if std::mem::take(&mut rack.dsack_seen) {
            rack.reo_wnd_steps = rack.reo_wnd_steps.saturating_add(1);
            rack.last_delivered = delivered;
            rack.reo_wnd_persist = RECOVERY_THRESH;
        } else if rack.reo_wnd_persist == 0 {
            rack.reo_wnd_steps = 1;
        }
    }
}
