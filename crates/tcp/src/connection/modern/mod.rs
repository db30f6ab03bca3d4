//! The sender of today's Linux.
//!
//! Models the sending half of Linux 7.2's tcp_sock (net/ipv4/tcp_input.c, tcp_output.c,
//! tcp_recovery.c, tcp_timer.c, tcp.c), which replaces the files beside this folder where a stack
//! says so ([`Sender`]): `ack` (tcp_ack, tcp_clean_rtx_queue), `sack` (tagging), `alert`
//! (tcp_fastretrans_alert), `rack` and `tlp` (RFC 8985), `loss` (timeouts, F-RTO), `reduction`
//! (PRR), `undo`, `retransmit`, `output` (tcp_write_xmit), `tso`, `pacing`, `host_queue` (TSQ),
//! `validate` (RFC 2861), `write` (tcp_sendmsg), `timers`, `rate` (delivery-rate samples), `rtt`.
//! Left out: path-MTU probing, fast open, MPTCP, thin streams' fast retransmit, memory
//! pressure of the whole machine.

mod ack;
mod alert;
mod chrono;
mod host_queue;
mod info;
#[cfg(test)]
mod invariants;
mod loss;
mod opening;
mod output;
mod pacing;
mod predicted;
mod queue;
mod rack;
mod rate;
mod reduction;
mod retransmit;
mod rtt;
mod sack;
mod timers;
mod tlp;
mod tso;
mod undo;
mod validate;
mod write;

pub use host_queue::Pieces;

use std::mem::offset_of;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tailback_units::Duration;

use super::accurate_ecn::EcnMode;
use super::{CaState, Connection};
use crate::clock::{Jiffies, JiffyClock};
use crate::congestion::{CwndEvent, View};
use crate::segment::Header;
use crate::seq::Seq;
use crate::stack::Stack;

/// Which sender a stack has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Sender {
    /// Round trips in ticks, losses by FACK and head timeout: Linux up to 3.x.
    #[serde(rename = "linux-2.6")]
    Linux26,
    /// Round trips in microseconds, RACK, TLP, PRR, F-RTO, pacing: as in Linux 7.2.
    #[serde(rename = "linux-7.2")]
    Linux72,
}

/// Who keeps segments to the pacing rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pacing {
    /// Nobody, unless the congestion control asks for it.
    None,
    /// TCP's own timer (SK_PACING_NEEDED).
    Internal,
    /// The host's queue releases each packet at its time (sch_fq, SK_PACING_FQ).
    Fq,
}

/// What today's sender keeps beside the variables that all senders have.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Modern {
    // In the order of memory. What is needed rarely, …
    bytes_retrans: u64,
    /// When the SYN, or its answer, was sent.
    syn_ns: u64,
    /// Times reordering was seen.
    reord_seen: u32,
    /// Duplicate segments that the peer has told of, and segments retransmitted.
    dsack_dups: u32,
    total_retrans: u32,
    chrono: chrono::Chrono,
    // … by the sender for every acknowledgement, …
    rtt: rtt::Rtt,
    rto_min_us: u32,
    rto_max: Jiffies,
    /// Segments found lost so far.
    lost: u32,
    data_segments_out: u32,
    /// Behind the highest packet acknowledged selectively.
    highest_sack: Seq,
    max_packets_out: u32,
    /// Segments that the send buffer has been made large enough for.
    grown_for: u32,
    cwnd_usage_seq: Seq,
    prr_delivered: u32,
    prr_out: u32,
    rack: rack::Rack,
    /// From where on lost packets are looked for.
    retransmit_hint: Option<Seq>,
    rate: rate::Rate,
    /// When the packet last sent may leave (tcp_wstamp_ns).
    wstamp_ns: u64,
    sent: queue::SentQueue,
    unsent: queue::WriteQueue,
    host: host_queue::HostQueue,
    // … and by both ends.
    fq: pacing::FqQueue,
    /// Sending waits for this time (pacing_timer); the largest there is: it does not wait.
    pacing_ns: u64,
    /// Where sending stood when a loss probe was sent; the probe is outstanding.
    tlp_high_seq: Option<Seq>,
    /// Timestamps of the segment last received.
    ts_val: u32,
    ts_ecr: u32,
    /// Packets sent so far, again or not, modulo 2^16.
    turns: u16,
    tlp_retrans: bool,
    frto: bool,
    /// The receiver has thrown away what it had acknowledged selectively.
    sack_reneged: bool,
    cwnd_limited: bool,
    /// The stack probes for losses at the tail (tcp_early_retrans).
    probes_loss: bool,
    /// What there is to send is to be sent, however short (TCP_NAGLE_PUSH).
    nagle_push: bool,
}

impl Modern {
    /// Brings what its queues point to into the processor's cache.
    #[inline(always)]
    pub(super) fn prefetch_queues(&self) {
        self.sent.prefetch();
        self.unsent.prefetch();
        self.host.prefetch();
    }

    /// From here on is what every acknowledgement needs, …
    pub(super) const OFTEN: usize = offset_of!(Modern, rtt);
    /// … and what data needs too.
    pub(super) const BOTH: usize = offset_of!(Modern, host);

    /// A writer waits in its call for room.
    pub(super) fn writer_waits(&self) -> bool {
        self.rate.write_waits
    }

    /// How large the send buffer has to be is to be reckoned anew.
    pub(super) fn forget_growth(&mut self) {
        self.grown_for = 0;
    }

    /// No loss probe is outstanding.
    #[inline(always)]
    pub(super) fn awaits_no_probe(&self) -> bool {
        self.tlp_high_seq.is_none()
    }

    /// A segment without payload is sent.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, now_ns: u64) {
        self.wstamp_ns = self.wstamp_ns.max(now_ns);
    }

    /// A segment with timestamps has come.
    #[inline(always)]
    pub(super) fn stamped(&mut self, segment: &Header) {
        self.ts_val = segment.ts_val;
        self.ts_ecr = segment.ts_ecr;
    }

    pub(super) fn new(stack: &Stack, clock: &JiffyClock, initial: Seq) -> Modern {
        let initial_us = clock.micros(clock.ticks(stack.rto_initial));
        Modern {
            rtt: rtt::Rtt::new(initial_us),
            rto_min_us: clock.micros(clock.ticks(stack.rto_min)),
            rto_max: clock.ticks(stack.rto_max),
            rack: rack::Rack::default(),
            reord_seen: 0,
            tlp_high_seq: None,
            tlp_retrans: false,
            frto: false,
            sack_reneged: false,
            lost: 0,
            dsack_dups: 0,
            total_retrans: 0,
            bytes_retrans: 0,
            rate: rate::Rate::default(),
            wstamp_ns: 0,
            pacing_ns: u64::MAX,
            data_segments_out: 0,
            fq: pacing::FqQueue::default(),
            highest_sack: initial,
            retransmit_hint: None,
            cwnd_limited: false,
            probes_loss: matches!(stack.tcp_early_retrans, 3 | 4),
            grown_for: 0,
            max_packets_out: 0,
            cwnd_usage_seq: initial,
            prr_delivered: 0,
            prr_out: 0,
            sent: queue::SentQueue::default(),
            unsent: queue::WriteQueue::default(),
            host: host_queue::HostQueue::new(stack),
            chrono: chrono::Chrono::default(),
            nagle_push: false,
            syn_ns: 0,
            ts_val: 0,
            ts_ecr: 0,
            turns: 0,
        }
    }
}

/// Tells the congestion control of something, as [`tell_with`] does.
macro_rules! tell {
    ($connection:ident, $now:expr, $hook:ident($($argument:expr),*)) => {
        $crate::connection::tell_with!(
            [Cubic, Dctcp], [Reno, RenoSce, DctcpSce],
            $connection, view_today($now), $hook($($argument),*)
        )
    };
}
pub(super) use tell;

/// The same of what an acknowledgement that was foreseen tells: more controls are called where it happens.
macro_rules! tell_here {
    ($connection:ident, $now:expr, $hook:ident($($argument:expr),*)) => {
        $crate::connection::tell_with!(
            [Cubic, Dctcp, Reno, RenoSce, DctcpSce], [],
            $connection, view_today($now), $hook($($argument),*)
        )
    };
}
pub(super) use tell_here;

impl Connection {
    /// Whether today's sender is at work.
    #[inline]
    pub(super) fn is_modern(&self) -> bool {
        self.sender == Sender::Linux72
    }

    /// Microseconds, now (tcp_mstamp).
    #[inline]
    pub(super) fn now_us(&self) -> u64 {
        self.clock.ns() / 1000
    }

    /// The smoothed round trip, microseconds.
    pub(super) fn srtt_us(&self) -> u32 {
        self.modern.rtt.srtt_us8 >> 3
    }

    /// What the congestion control sees.
    #[inline(always)]
    pub(super) fn view_today(&self, now: Jiffies) -> View {
        let modern = &self.modern;
        View {
            now,
            now_us: self.now_us(),
            state: self.state,
            mss: self.mss,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            in_flight: self.in_flight(),
            srtt_us8: modern.rtt.srtt_us8,
            min_rtt_us: modern.rtt.min.get(),
            delivered: self.delivered,
            delivered_ce: self.delivered_ce,
            lost: modern.lost,
            delivered_us: modern.rate.delivered_us(),
            app_limited: modern.rate.is_app_limited(),
            sacked: self.sacked_out > 0,
            ts_now: self.stamp_of(self.clock.ns()),
            ts_hz: self.clock.timestamp_hz(),
            ts_val: modern.ts_val,
            ts_ecr: modern.ts_ecr,
            last_sent: self.last_sent,
            ecn: self.ecn != EcnMode::Off,
            paced: self.is_paced(),
        }
    }

    /// The smoothed round trip in ticks, rounded up.
    pub(super) fn srtt_ticks_today(&self) -> Jiffies {
        let srtt_us = self.modern.rtt.srtt_us8 >> 3;
        self.clock.us_to_ticks(u64::from(srtt_us))
    }

    /// The smoothed round trip times 8, microseconds.
    pub(super) fn srtt_us8(&self) -> u32 {
        self.modern.rtt.srtt_us8
    }

    /// The smoothed round trip.
    pub(super) fn smoothed_rtt_today(&self) -> Duration {
        Duration::from_us(u64::from(self.modern.rtt.srtt_us8 >> 3))
    }

    fn tell(&mut self, now: Jiffies, event: CwndEvent) {
        tell!(self, now, cwnd_event(event));
    }

    /// The window is being reduced (tcp_in_cwnd_reduction).
    #[inline]
    fn in_reduction(&self) -> bool {
        matches!(self.state, CaState::Cwr | CaState::Recovery)
    }

    /// The right edge of the peer's window (tcp_wnd_end).
    #[inline]
    fn window_end(&self) -> Seq {
        self.snd_una + self.snd_wnd
    }

    /// Where what was acknowledged selectively ends (tcp_highest_sack_seq).
    #[inline]
    fn highest_sack_seq(&self) -> Seq {
        if self.sacked_out == 0 {
            self.snd_una
        } else {
            self.modern.highest_sack.max(self.snd_una)
        }
    }

    /// Segments were delivered (tcp_count_delivered).
    #[inline]
    fn count_delivered(&mut self, segments: u32, ece: bool) {
        self.delivered = self.delivered.wrapping_add(segments);
        if ece {
            self.delivered_ce = self.delivered_ce.wrapping_add(segments);
        }
    }

    /// The timestamp of a packet sent at `ns`, and that of the first retransmission.
    #[inline]
    fn stamp_of(&self, ns: u64) -> u32 {
        self.clock.timestamp_at(ns)
    }
}

#[cfg(test)]
mod tests;
