//! Pacing.
//!
//! Models Linux 7.2 net/ipv4/tcp_input.c (tcp_update_pacing_rate, no more than SO_MAX_PACING_RATE: 200 % of the window a round
//! trip in slow start, 120 % after it) and tcp_output.c (tcp_update_skb_after_send,
//! tcp_pacing_check, tcp_pace_kick): each packet after the first ten segments pushes the time at
//! which the next may leave. Internal pacing waits for that time; with sch_fq at the host packets
//! leave TCP at once and carry it.

use std::collections::VecDeque;

use tailback_units::Time;

use super::super::Connection;
use super::Pacing;
use crate::clock::Jiffies;

/// Segments that leave unpaced at the beginning (sch_fq's initial quantum).
const UNPACED_SEGMENTS: u32 = 10;

/// How late the timer of sch_fq may be, and is where nothing else makes the queue look (timer_slack), nanoseconds.
const FQ_SLACK_NS: u64 = 10_000;

/// Packets that the host's queue holds back until their time (net/sched/sch_fq.c, one flow of it).
#[derive(Clone, Debug, Default)]
pub(super) struct FqQueue {
    /// When the packets with data that TCP has sent and the host has not taken may leave.
    // Apart: few hosts hold packets back so.
    departures: Option<Box<Departures>>,
}

/// Times in order, and whether the queue looks at them.
#[derive(Clone, Debug, Default)]
struct Departures {
    times_ns: VecDeque<u64>,
    /// Segments that waited when it last looked.
    waiting: usize,
    /// It is looking: what may leave leaves, until something may not.
    looks: bool,
}

impl Departures {
    /// Of so many segments that wait the first is taken, which has data or not, or none.
    fn lets_go(&mut self, now_ns: u64, waiting: usize, has_data: bool) -> bool {
        let next = self.times_ns.front().copied();
        let due = next.is_some_and(|ns| ns.saturating_add(FQ_SLACK_NS) <= now_ns);
        self.looks |= waiting > self.waiting || due;
        if has_data && next.is_some_and(|ns| ns > now_ns) {
            self.looks = false;
        }
        self.waiting = waiting - usize::from(self.looks);
        if self.looks && has_data {
            self.times_ns.pop_front();
        }
        self.looks
    }
}

impl FqQueue {
    /// A packet with data may leave at `ns`.
    pub(super) fn departs(&mut self, ns: u64) {
        self.departures
            .get_or_insert_default()
            .times_ns
            .push_back(ns);
    }

    /// It holds packets back, or has.
    #[inline]
    pub(super) fn is_in_use(&self) -> bool {
        self.departures.is_some()
    }

    /// When the queue's timer looks whether the next may leave. A segment that enters the queue makes it look
    /// too, and what may leave then leaves; an acknowledgement that lets TCP send nothing does not.
    pub(super) fn timer_ns(&self) -> Option<u64> {
        let departures = self.departures.as_ref()?;
        let next = departures.times_ns.front()?;
        Some(next.saturating_add(FQ_SLACK_NS))
    }
}

impl Connection {
    /// Whether the next segment, if there is one, may leave now: with sch_fq, data waits for its time,
    /// and what is behind it with it. It is taken then.
    #[inline(always)]
    pub(in crate::connection) fn lets_go(&mut self, now: Time) -> bool {
        if !self.is_modern() {
            return true;
        }
        let fq = self.stack.pacing == Pacing::Fq;
        if self.out.is_empty() || fq {
            self.resume_unqueued(now);
        }
        !fq || self.fq_lets_go(now)
    }

    #[inline(never)]
    fn fq_lets_go(&mut self, now: Time) -> bool {
        let Some(first) = self.out.front() else {
            return false;
        };
        let has_data = first.segment.payload_bytes > 0;
        self.clock.jiffies(now);
        let (now_ns, waiting) = (self.clock.ns(), self.out.len());
        let Some(departures) = &mut self.modern.fq.departures else {
            return true;
        };
        departures.lets_go(now_ns, waiting, has_data)
    }

    /// Whether packets are kept to the pacing rate at all.
    #[inline]
    pub(in crate::connection) fn is_paced(&self) -> bool {
        self.stack.pacing != Pacing::None
            || self.window.pacing_rate_max != u64::MAX
            || self.congestion.full_control()
    }

    /// Sending has to wait; the pacing timer is set (tcp_pacing_check).
    #[inline]
    pub(super) fn pacing_waits(&mut self) -> bool {
        // Nothing is ahead of the clock where nobody paces.
        let due = self.modern.wstamp_ns;
        if due <= self.clock.ns() || self.stack.pacing == Pacing::Fq || !self.is_paced() {
            return false;
        }
        if self.modern.pacing_ns == u64::MAX {
            self.modern.pacing_ns = due;
        }
        true
    }

    /// Ticks until the next packet may leave, rounded down.
    #[inline]
    pub(super) fn pacing_delay(&self) -> Jiffies {
        let ahead = self.modern.wstamp_ns.saturating_sub(self.clock.ns());
        if ahead == 0 {
            return 0;
        }
        (ahead / 1000 / u64::from(self.clock.micros(1))) as Jiffies
    }

    /// A packet with `bytes` of payload has left at `wstamp_ns`; `prior_ns` is when the one before
    /// pushed that to.
    #[inline]
    pub(super) fn pace(&mut self, bytes: u32, prior_ns: u64) {
        let rate = self.window.pacing_rate;
        if !self.is_paced()
            || rate == u64::MAX
            || rate == 0
            || self.modern.data_segments_out < UNPACED_SEGMENTS
        {
            return;
        }
        let mut ns = u64::from(bytes) * 1_000_000_000 / rate;
        let credit = self.modern.wstamp_ns - prior_ns;
        ns -= (ns / 2).min(credit);
        self.modern.wstamp_ns += ns;
    }

    /// tcp_update_pacing_rate.
    #[inline]
    pub(super) fn update_pacing_rate(&mut self) {
        let window = &mut self.window;
        let percent = if window.cwnd < window.ssthresh / 2 {
            self.stack.tcp_pacing_ss_ratio
        } else {
            self.stack.tcp_pacing_ca_ratio
        };
        // (1 s / 100) in microseconds, times 8 as the round trip is.
        let mut rate = u64::from(self.mss) * 80_000 * u64::from(percent);
        rate *= u64::from(window.cwnd.max(self.packets_out));
        let srtt_us8 = self.modern.rtt.srtt_us8;
        if srtt_us8 > 0 {
            rate /= u64::from(srtt_us8);
        }
        window.pacing_rate = rate.min(window.pacing_rate_max);
    }
}
