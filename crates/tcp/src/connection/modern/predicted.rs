//! Header prediction: progress that is nothing else, and perhaps a mark, ECN's or SCE's.
//!
//! `predicted` beside this folder has data, and says what prediction is.

use super::super::accurate_ecn::EcnMode;
use super::super::{CaState, Connection, Life};
use super::ack::{AckNews, Resend};
use super::chrono::Limiter;
use super::queue::Run;
use super::rate::Sample;
use super::rtt::Measured;
use super::{tell, tell_here};
use crate::clock::{self, Jiffies};
use crate::congestion::{AckKind, AckSample};
use crate::segment::{Flags, Header};

impl Connection {
    /// The packets that a segment acknowledges, if it is an acknowledgement of what was sent last round
    /// and says nothing else but of marks: nothing is lost, was sent twice or is selectively acknowledged.
    #[inline(always)]
    pub(in crate::connection) fn predicted_ack(&self, segment: &Header) -> Option<Run> {
        let modern = &self.modern;
        let plain = self.life == Life::Established
            && segment.flags.without(Flags::NS).without(Flags::ECE) == Flags::ACK
            && segment.payload_bytes == 0
            && segment.seq == self.receive.rcv_nxt
            && segment.ack.after(self.snd_una)
            && !segment.ack.after(self.snd_nxt)
            && matches!(self.state, CaState::Open | CaState::Cwr)
            && self.sacked_out + self.lost_out + self.retrans_out == 0
            && self.sack
            && modern.tlp_high_seq.is_none()
            && modern.retransmit_hint.is_none()
            && !modern.sack_reneged
            && segment.has_timestamps == self.timestamps
            && !(self.timestamps && clock::before(segment.ts_val, self.ts_recent))
            && !segment.has_sack();
        if !plain {
            return None;
        }
        modern.sent.plain_run(self.snd_una, segment.ack)
    }

    /// Takes such an acknowledgement in: tcp_ack of what is left to do.
    #[inline(always)]
    pub(in crate::connection) fn take_predicted_ack(
        &mut self,
        now: Jiffies,
        segment: &Header,
        run: Run,
    ) {
        if self.state == CaState::Open && !segment.flags.intersects(Flags::ECE) {
            self.take_run::<false>(now, segment, run);
        } else {
            self.take_run::<true>(now, segment, run);
        }
    }

    /// The same; `ALARMING` if it may have ECN's mark, or the window comes down for one. What has none is not to pay for it.
    #[inline(never)]
    fn take_run<const ALARMING: bool>(&mut self, now: Jiffies, segment: &Header, run: Run) {
        let lets_wait = self.receive.ack.scheduled && self.lets_acks_wait(segment);
        if segment.has_timestamps {
            if !segment.seq.after(self.receive.rcv_wup) {
                self.ts_recent = segment.ts_val;
            }
            self.modern.stamped(segment);
            self.receive.hear_echo(segment.ts_ecr);
        }
        let (prior_una, una) = (self.snd_una, segment.ack);
        let prior_in_flight = self.packets_out;
        let ece = ALARMING && self.ecn == EcnMode::Classic && segment.flags.intersects(Flags::ECE);
        self.questions = 0;
        self.retransmits = 0;
        self.probes = 0;
        self.ack_received = now;
        self.snd_wl1 = segment.seq;
        let window = self.window_of(segment);
        if window != self.snd_wnd {
            self.window_changed(now, window);
        }
        self.stats.bytes_acked += u64::from(una - prior_una);
        self.snd_una = una;
        let Some((first_ns, last, acked)) = self.modern.sent.take_run(run, una) else {
            return;
        };
        // Of packets sent in order the last is what the books of rates and of RACK are left with.
        self.queue_shrunk |= run.packets > 1 || run.whole;
        let last_us = last.sent_us();
        self.rack_advance(false, last.end_seq, last_us);
        let mut rate = self.rate_run(&last);
        self.count_delivered(acked, ece);
        self.packets_out -= acked.min(self.packets_out);
        if self.modern.sent.is_empty() {
            self.stop_chrono(now, Limiter::Busy);
        }
        let now_us = self.now_us();
        let maybe_delayed = acked == 1
            && run.whole
            && una - prior_una < self.mss
            && rate.prior_delivered.wrapping_add(1) == self.delivered
            && !ece;
        let measured = Measured {
            seq_us: Some((now_us - first_ns.map_or(last_us, |ns| ns / 1000)) as u32),
            ca_us: Some((now_us - last_us) as u32),
            sack_us: None,
            acked: true,
            maybe_delayed,
        };
        let (ca_us, _) = self.update_rtt(now, measured, Connection::echo_rtt_us);
        rate.rtt_us = ca_us;
        let sample = AckSample {
            packets: acked,
            rtt_us: ca_us,
            in_flight: self.delivered.wrapping_sub(rate.prior_delivered),
        };
        if self.congestion.hears_samples() {
            tell!(self, now, pkts_acked(sample));
        }
        self.update_reordering_window(rate.prior_delivered);
        if self.congestion.hears_acks() {
            let esce = self.ecn == EcnMode::Classic && segment.flags.intersects(Flags::NS);
            let marked = esce || ece;
            let kind = AckKind {
                slow_path: ece,
                ece,
                esce,
                marked_bytes: if marked { una - prior_una } else { 0 },
            };
            if marked || self.hears_plain_acks() {
                tell_here!(self, now, in_ack_event(kind));
            }
        }
        let (mut lost, mut set_timer, mut resend) = (0, true, Resend::Nothing);
        if ALARMING && (ece || self.state != CaState::Open) {
            let prior_lost = self.modern.lost;
            (set_timer, resend) = self.alert_of_run(now, ece);
            lost = self.modern.lost.wrapping_sub(prior_lost);
        }
        // Sending sets the timer anew.
        let first = resend != Resend::Nothing || self.packets_out == 0 || !self.may_probe_loss();
        if first && set_timer {
            self.set_transmit_timer(now);
        }
        if self.congestion.full_control() {
            let rate = Sample {
                prior_in_flight,
                ..rate
            };
            self.tell_rate(now, maybe_delayed, rate, [acked, lost]);
        } else {
            self.keep_rate(&rate, acked, false);
            if ALARMING && self.in_reduction() {
                self.reduce_cwnd_today(acked, lost, true);
            } else {
                self.grow_cwnd_today(now, acked);
            }
            self.update_pacing_rate();
        }
        self.send_recovery(now, resend);
        let nagle = self.nagle();
        let sent = self.push_today(now, nagle);
        if !first && set_timer && !sent {
            self.set_transmit_timer(now);
        }
        self.check_space_today(now);
        if self.receive.ack.scheduled && !lets_wait {
            self.check_ack(now);
        }
    }

    /// tcp_fastretrans_alert of such a run: whether the timer is to be set, and what is to be sent again.
    #[inline(always)]
    fn alert_of_run(&mut self, now: Jiffies, ece: bool) -> (bool, Resend) {
        let mark = self.modern.rack.mark();
        let head = self.modern.sent.front();
        if head.is_none_or(|head| !head.ends_walk(mark)) {
            let mut news = AckNews::new(self.snd_nxt);
            news.una_advanced = true;
            news.data_acked = true;
            news.set_timer = true;
            news.ece = ece;
            // Where it was unacknowledged from before matters in fast recovery alone.
            let resend = self.alert(now, self.snd_una, 0, &mut news);
            return (news.set_timer, resend);
        }
        // Nothing is lost: nothing that is out was sent before what has been delivered.
        self.modern.rack.advanced = false;
        if ece {
            self.prior_ssthresh = 0;
        }
        self.leave_finished_state_today(now);
        if self.state == CaState::Open {
            self.try_undo_dsack_today(now);
        }
        self.try_to_open_today(now, ece);
        (true, Resend::Nothing)
    }

    /// Whether the congestion control makes something of an acknowledgement without a mark.
    #[inline(always)]
    pub(in crate::connection) fn hears_plain_acks(&self) -> bool {
        let delivered = (self.delivered, self.delivered_ce);
        self.congestion.hears_plain_acks(self.snd_nxt, delivered)
    }

    /// The congestion control does all by itself, and is told of the rate.
    #[inline(never)]
    fn tell_rate(
        &mut self,
        now: Jiffies,
        maybe_delayed: bool,
        rate: Sample,
        [acked, lost]: [u32; 2],
    ) {
        let mut news = AckNews::new(self.snd_nxt);
        news.una_advanced = true;
        news.data_acked = true;
        news.maybe_delayed = maybe_delayed;
        news.rate = rate;
        let sample = self.rate_sample(&news, acked, lost, false);
        self.control_congestion(now, acked, lost, &news, &sample);
    }
}
