//! How the window comes down: proportional rate reduction.
//!
//! Models RFC 6937 (and its successor's rule for acknowledgements that make progress without new
//! losses) as Linux 7.2 net/ipv4/tcp_input.c has it: tcp_init_cwnd_reduction,
//! tcp_cwnd_reduction, tcp_end_cwnd_reduction. With more in flight than the threshold, segments
//! are sent in proportion to those delivered; with less, as many as were delivered, and one more
//! if the acknowledgement made progress and showed no loss.

use super::super::accurate_ecn::EcnMode;
use super::super::{CaState, Connection};
use crate::clock::Jiffies;
use crate::congestion::{CwndEvent, INFINITE_SSTHRESH};

impl Connection {
    pub(super) fn begin_reduction_today(&mut self, now: Jiffies) {
        self.high_seq = self.snd_nxt;
        self.modern.tlp_high_seq = None;
        self.window.cwnd_count = 0;
        self.window.prior_cwnd = self.window.cwnd;
        self.modern.prr_delivered = 0;
        self.modern.prr_out = 0;
        let view = self.view(now);
        self.window.ssthresh = self.congestion.ssthresh(&self.window, &view);
        self.queue_cwr = self.ecn == EcnMode::Classic;
    }

    /// `delivered` segments were delivered, `lost` found lost; `progress` if data was
    /// acknowledged cumulatively.
    pub(super) fn reduce_cwnd_today(&mut self, delivered: u32, lost: u32, progress: bool) {
        if delivered == 0 || self.window.prior_cwnd == 0 {
            return;
        }
        let in_flight = i64::from(self.in_flight());
        let ssthresh = i64::from(self.window.ssthresh);
        let modern = &mut self.modern;
        modern.prr_delivered += delivered;
        let (total, out) = (i64::from(modern.prr_delivered), i64::from(modern.prr_out));
        let room = ssthresh - in_flight;
        let send = if room < 0 {
            let prior = u64::from(self.window.prior_cwnd);
            let due = (ssthresh as u64 * total as u64).div_ceil(prior);
            due as i64 - out
        } else {
            let safe = i64::from(progress && lost == 0);
            ((total - out).max(i64::from(delivered)) + safe).min(room)
        };
        // The first retransmission is always sent.
        let least = i64::from(modern.prr_out == 0);
        self.window.cwnd = (in_flight + send.max(least)).max(1) as u32;
    }

    pub(super) fn end_reduction_today(&mut self, now: Jiffies) {
        if self.congestion.full_control() {
            return;
        }
        if self.window.ssthresh < INFINITE_SSTHRESH
            && (self.state == CaState::Cwr || self.undo_marker.is_some())
        {
            self.window.cwnd = self.window.ssthresh;
            self.cwnd_stamp = now;
        }
        self.tell(now, CwndEvent::CompleteCwr);
    }
}
