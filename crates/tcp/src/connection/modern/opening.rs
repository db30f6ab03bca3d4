//! The handshake is done.
//!
//! Models Linux 7.2 net/ipv4/tcp_input.c (tcp_init_transfer, tcp_synack_rtt_meas), tcp_metrics.c
//! (tcp_init_metrics without metrics of the route: no sample gives a timeout of three seconds,
//! RFC 6298 section 5.7) and the initial window (RFC 6928; one segment after more than one lost
//! SYN, unless the echo is the first one's: tcp_try_undo_spurious_syn).

use super::super::Connection;
use super::rtt::Measured;
use crate::clock::Jiffies;
use crate::segment::Segment;

/// The timeout without a round trip measured, microseconds (TCP_TIMEOUT_FALLBACK).
const FALLBACK_US: u32 = 3_000_000;

impl Connection {
    /// This side's SYN is about to leave.
    pub(in crate::connection) fn syn_sent(&mut self) {
        self.modern.syn_ns = self.clock.ns();
    }

    /// `segment` acknowledged this side's SYN, which had timed out `timeouts` times and been sent `before` times
    /// before, also for a repeated SYN of the peer's.
    pub(in crate::connection) fn establish_today(
        &mut self,
        now: Jiffies,
        segment: &Segment,
        timeouts: u32,
        before: u32,
    ) {
        let una = self.snd_una;
        self.modern.highest_sack = una;
        self.modern.cwnd_usage_seq = una;
        self.count_delivered(1, false);
        if segment.has_timestamps {
            self.modern.ts_val = segment.ts_val;
            self.modern.ts_ecr = segment.ts_ecr;
        }
        let elapsed_us = (self.clock.ns() - self.modern.syn_ns) / 1000;
        let sample = (before == 0).then_some(elapsed_us as u32);
        let measured = Measured {
            seq_us: sample,
            ca_us: sample,
            acked: true,
            ..Measured::default()
        };
        let (ca_us, updated) = self.update_rtt(now, measured, Connection::echo_rtt_us);
        if let Some(rtt_us) = ca_us.filter(|_| !self.passive) {
            self.congestion.syn_acked(rtt_us);
        }
        if !updated {
            self.modern.rtt.forget(FALLBACK_US);
            self.rtt.rto = self.clock.us_to_ticks(u64::from(FALLBACK_US));
        }
        let echo = if segment.has_timestamps {
            segment.ts_ecr
        } else {
            0
        };
        let spurious = echo != 0 && echo == self.syn_stamp;
        let cwnd = if timeouts > 0 && before > 1 && !spurious {
            1
        } else {
            self.initial_cwnd()
        };
        // Who opens reckons with the window before (tcp_ack): of one, where a SYN was given up for lost.
        self.window.cwnd = match timeouts > 0 && !self.passive {
            true => 1,
            false => cwnd,
        };
        if !self.congestion.full_control() {
            self.update_pacing_rate();
        }
        self.window.cwnd = cwnd;
    }
}
