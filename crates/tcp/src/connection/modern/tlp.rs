//! Tail loss probes (RFC 8985 section 7).
//!
//! Models Linux 7.2 net/ipv4/tcp_output.c (tcp_schedule_loss_probe, tcp_send_loss_probe) and
//! tcp_input.c (tcp_process_tlp_ack). Two round trips after the last transmission one segment is
//! sent, new if there is one, else the last again; its acknowledgement says whether the tail was
//! lost.

use super::super::{CaState, Connection, TimerKind};
use super::ack::AckNews;
use super::output::{Limit, Nagle};
use super::rack::TIMEOUT_MIN_US;
use crate::clock::Jiffies;
use crate::seq::Seq;

impl Connection {
    /// Whether losses at the tail are probed for.
    #[inline]
    pub(super) fn may_probe_loss(&self) -> bool {
        self.modern.probes_loss && self.sack && matches!(self.state, CaState::Open | CaState::Cwr)
    }

    /// Sets the probe's timer; false if no probe is due. `advancing` if the retransmission
    /// timeout starts anew.
    #[inline(always)]
    pub(super) fn schedule_loss_probe(&mut self, now: Jiffies, advancing: bool) -> bool {
        if !self.may_probe_loss() {
            return false;
        }
        let srtt_us8 = self.modern.rtt.srtt_us8;
        // A lone segment's acknowledgement may be delayed.
        let allowance = if self.packets_out == 1 {
            self.modern.rto_min_us
        } else {
            TIMEOUT_MIN_US
        };
        let us = u64::from((srtt_us8 >> 2) + allowance);
        let ticks = if advancing && srtt_us8 > 0 && self.clock.is_within(us, self.rtt.rto) {
            self.clock.us_to_ticks(us)
        } else {
            let most_us = self.probe_us_most(advancing);
            if srtt_us8 > 0 {
                self.clock.us_to_ticks(us.min(most_us))
            } else {
                self.first_probe_ticks(most_us)
            }
        };
        self.arm_paced(now, TimerKind::LossProbe, ticks);
        true
    }

    /// The longest that a probe waits.
    #[inline]
    fn probe_us_most(&self, advancing: bool) -> u64 {
        let rto_us = if advancing {
            i64::from(self.clock.micros(self.rtt.rto))
        } else {
            self.rto_remaining_us()
        };
        if rto_us > 0 { rto_us as u64 } else { u64::MAX }
    }

    /// The same before the first round trip is known.
    #[cold]
    fn first_probe_ticks(&self, most_us: u64) -> Jiffies {
        let ticks = self.clock.ticks(self.stack.rto_initial);
        if most_us == u64::MAX {
            return ticks;
        }
        ticks.min(self.clock.us_to_ticks(most_us))
    }

    /// The probe's timer fired.
    pub(super) fn send_loss_probe(&mut self, now: Jiffies) {
        if self.modern.tlp_high_seq.is_none() && self.probe_tail(now) {
            self.modern.tlp_high_seq = Some(self.snd_nxt);
            self.timer = None;
        }
        self.rearm_rto(now);
    }

    /// Sends the probe; false if it could not be sent.
    fn probe_tail(&mut self, now: Jiffies) -> bool {
        self.modern.tlp_retrans = false;
        let mss = self.current_mss();
        if self.has_unsent() && self.head_fits(mss) {
            let before = self.packets_out;
            self.write_out(now, mss, Nagle::Off, Limit::Probe);
            return self.packets_out > before;
        }
        let Some(mut last) = self.modern.sent.len().checked_sub(1) else {
            self.timer = None;
            return false;
        };
        let Some(&packet) = self.modern.sent.get(last) else {
            return false;
        };
        if self.still_in_host(packet.seq) {
            return false;
        }
        let segments = u32::from(packet.segments);
        if segments > 1 && packet.payload_bytes() > (segments - 1) * mss {
            self.split_sent(last, (segments - 1) * mss, mss);
            last += 1;
        }
        if !self.send_again(now, last, 1) {
            return false;
        }
        self.modern.tlp_retrans = true;
        true
    }

    /// An acknowledgement while a probe is outstanding.
    pub(super) fn process_tlp_ack(&mut self, now: Jiffies, ack: Seq, news: &AckNews) {
        let Some(high) = self.modern.tlp_high_seq else {
            return;
        };
        if ack.before(high) {
            return;
        }
        if !self.modern.tlp_retrans || news.dsack_of_probe {
            self.modern.tlp_high_seq = None;
        } else if ack.after(high) {
            // The probe repaired a loss, which is no less a loss.
            self.begin_reduction_today(now);
            self.set_state(now, CaState::Cwr);
            self.end_reduction_today(now);
            self.try_keep_open(now);
        } else if !(news.una_advanced || news.not_dup() || news.data_sacked) {
            self.modern.tlp_high_seq = None;
        }
    }
}
