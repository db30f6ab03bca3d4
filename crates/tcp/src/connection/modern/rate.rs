//! Delivery-rate samples.
//!
//! Models draft-cheng-iccrg-delivery-rate-estimation as Linux 7.2 has it: net/ipv4/tcp_output.c
//! (tcp_rate_skb_sent), tcp_input.c (tcp_rate_skb_delivered, tcp_rate_gen), tcp.c
//! (tcp_rate_check_app_limited). Each packet remembers what had been delivered when it was sent;
//! its acknowledgement gives a sample over the longer of the time of sending and of delivering.

use super::super::Connection;
use super::ack::AckNews;
use super::queue::{APP_LIMITED, RATE_PENDING, Sent};
use super::rack::sent_after;
use crate::congestion::RateSample;
use crate::queue::SACKED;
use crate::seq::Seq;

/// The connection's part (tcp_sock).
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// When the packet last acknowledged was sent; start of the sending phase.
    first_tx_us: u64,
    /// When something was last delivered.
    delivered_us: u64,
    /// Samples up to this count of segments delivered are limited by the application; zero: none.
    app_limited: u32,
    /// The last sample that counts: segments, and the interval.
    delivered: u32,
    interval_us: u32,
    sample_app_limited: bool,
    /// A write waits for room: what is written next belongs to the same call.
    pub(super) write_waits: bool,
}

impl Default for Rate {
    fn default() -> Rate {
        Rate {
            first_tx_us: 0,
            delivered_us: 0,
            app_limited: u32::MAX,
            delivered: 0,
            interval_us: 0,
            sample_app_limited: true,
            write_waits: false,
        }
    }
}

impl Rate {
    pub(super) fn delivered_us(&self) -> u64 {
        self.delivered_us
    }

    /// The last sample that counts, bytes a second; zero before the first.
    pub(super) fn bytes_per_second(&self, mss: u32) -> u64 {
        let bytes = u64::from(self.delivered) * u64::from(mss);
        (bytes * 1_000_000)
            .checked_div(u64::from(self.interval_us))
            .unwrap_or(0)
    }

    /// Whether that was limited by the application.
    pub(super) fn is_sample_app_limited(&self) -> bool {
        self.sample_app_limited
    }

    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }
}

/// What one acknowledgement gathers (rate_sample).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub(super) prior_delivered: u32,
    pub(super) prior_delivered_ce: u32,
    pub(super) prior_lost: u32,
    pub(super) tx_in_flight: u32,
    pub(super) prior_us: Option<u32>,
    pub(super) send_us: u32,
    pub(super) app_limited: bool,
    pub(super) last_end_seq: Seq,
    pub(super) prior_in_flight: u32,
    pub(super) rtt_us: Option<u32>,
}

impl Connection {
    /// A packet is about to leave: it takes down the books (tcp_rate_skb_sent).
    #[inline(always)]
    pub(super) fn rate_sent(&mut self, packet: &mut Sent) {
        let modern = &mut self.modern;
        if self.packets_out == 0 {
            modern.rate.first_tx_us = packet.sent_us();
            modern.rate.delivered_us = packet.sent_us();
        }
        packet.first_tx_us = modern.rate.first_tx_us as u32;
        packet.delivered_us = modern.rate.delivered_us as u32;
        packet.delivered = self.delivered;
        packet.delivered_ce = self.delivered_ce;
        packet.lost = modern.lost;
        packet.marks = packet.marks & !APP_LIMITED | RATE_PENDING;
        if modern.rate.app_limited > 0 {
            packet.marks |= APP_LIMITED;
        }
        packet.in_flight = self.in_flight() + u32::from(packet.segments);
    }

    /// A packet was acknowledged, selectively or not (tcp_rate_skb_delivered).
    #[inline]
    pub(super) fn rate_delivered(&mut self, packet: &Sent, sample: &mut Sample) {
        if !packet.marked(RATE_PENDING) {
            return;
        }
        let sent_us = packet.sent_us();
        let rate = &mut self.modern.rate;
        let newer = sent_after(
            (sent_us, packet.end_seq),
            (rate.first_tx_us, sample.last_end_seq),
        );
        if sample.prior_delivered == 0 || newer {
            sample.prior_delivered = packet.delivered;
            sample.prior_delivered_ce = packet.delivered_ce;
            sample.prior_lost = packet.lost;
            sample.tx_in_flight = packet.in_flight;
            sample.prior_us = Some(packet.delivered_us);
            sample.app_limited = packet.marked(APP_LIMITED);
            sample.last_end_seq = packet.end_seq;
            rate.first_tx_us = sent_us;
            sample.send_us = (sent_us as u32).wrapping_sub(packet.first_tx_us);
        }
    }

    /// The same of packets in order, none of which has been counted, by the last of them: what an
    /// acknowledgement of these alone gathers.
    #[inline(always)]
    pub(super) fn rate_run(&mut self, last: &Sent) -> Sample {
        let sent_us = last.sent_us();
        self.modern.rate.first_tx_us = sent_us;
        Sample {
            prior_delivered: last.delivered,
            prior_delivered_ce: last.delivered_ce,
            prior_lost: last.lost,
            tx_in_flight: last.in_flight,
            prior_us: Some(last.delivered_us),
            app_limited: last.marked(APP_LIMITED),
            last_end_seq: last.end_seq,
            send_us: (sent_us as u32).wrapping_sub(last.first_tx_us),
            prior_in_flight: 0,
            rtt_us: None,
        }
    }

    /// The same for a packet in the queue, which is not to count twice.
    pub(super) fn rate_delivered_at(&mut self, index: usize, sample: &mut Sample) {
        let Some(packet) = self.modern.sent.get(index).copied() else {
            return;
        };
        self.rate_delivered(&packet, sample);
        if packet.has(SACKED)
            && let Some(packet) = self.modern.sent.get_mut(index)
        {
            packet.marks &= !RATE_PENDING;
        }
    }

    /// The sample that an acknowledgement gives (tcp_rate_gen).
    #[inline(always)]
    pub(super) fn rate_sample(
        &mut self,
        news: &AckNews,
        delivered: u32,
        lost: u32,
        reneging: bool,
    ) -> RateSample {
        let gathered = news.rate;
        let ahead_ns = self.modern.wstamp_ns.saturating_sub(self.clock.ns());
        let interval_us = self.keep_rate(&gathered, delivered, reneging);
        let mut sample = RateSample {
            prior_delivered: gathered.prior_delivered,
            delivered: -1,
            delivered_ce: -1,
            interval_us: -1,
            rtt_us: gathered.rtt_us,
            losses: lost,
            acked_sacked: delivered,
            prior_in_flight: gathered.prior_in_flight,
            lost: self.modern.lost.wrapping_sub(gathered.prior_lost),
            tx_in_flight: gathered.tx_in_flight,
            is_app_limited: gathered.app_limited,
            is_ack_delayed: news.maybe_delayed,
            cwnd_limited: false,
            departure_ahead_us: (ahead_ns / 1000) as u32,
        };
        if gathered.prior_us.is_some() && !reneging {
            sample.delivered = self.delivered.wrapping_sub(gathered.prior_delivered) as i32;
            sample.delivered_ce =
                self.delivered_ce.wrapping_sub(gathered.prior_delivered_ce) as i32;
            sample.interval_us = interval_us.map_or(-1, i64::from);
        }
        sample
    }

    /// The connection's books of it, and the interval, if the sample is valid.
    #[inline(always)]
    pub(super) fn keep_rate(
        &mut self,
        gathered: &Sample,
        delivered: u32,
        reneging: bool,
    ) -> Option<u32> {
        let now_us = self.now_us();
        let modern = &mut self.modern;
        let rate = &mut modern.rate;
        let bubble_gone = self.delivered.wrapping_sub(rate.app_limited) as i32 > 0;
        if rate.app_limited > 0 && bubble_gone {
            rate.app_limited = 0;
        }
        if delivered > 0 {
            rate.delivered_us = now_us;
        }
        let prior_us = gathered.prior_us.filter(|_| !reneging)?;
        let segments = self.delivered.wrapping_sub(gathered.prior_delivered);
        let interval_us = gathered.send_us.max((now_us as u32).wrapping_sub(prior_us));
        // Faster than any round trip: spurious retransmissions.
        if interval_us < modern.rtt.min.get() {
            return None;
        }
        let faster = || {
            u64::from(segments) * u64::from(rate.interval_us)
                >= u64::from(rate.delivered) * u64::from(interval_us)
        };
        if !gathered.app_limited || faster() {
            rate.delivered = segments;
            rate.interval_us = interval_us;
            rate.sample_app_limited = gathered.app_limited;
        }
        Some(interval_us)
    }

    /// The application writes: if there was nothing to send, what follows is limited by it
    /// (tcp_rate_check_app_limited).
    pub(super) fn check_app_limited(&mut self) {
        let idle = self.unsent < u64::from(self.mss)
            && self.host_is_empty()
            && self.in_flight() < self.window.cwnd
            && self.lost_out <= self.retrans_out;
        if idle {
            self.mark_app_limited();
        }
    }

    /// What is in flight is limited by the application, or counts as if it were.
    pub(super) fn mark_app_limited(&mut self) {
        let until = self.delivered.wrapping_add(self.in_flight());
        self.modern.rate.app_limited = until.max(1);
    }
}
