//! Header prediction: data in order to an end that sends nothing, and progress that is nothing else.
//!
//! Models what Linux net/ipv4/tcp_input.c (tcp_rcv_established, of 2.6.18 and of 7.2) says of its fast path: a
//! segment that is what was expected, while nothing is amiss on either side, needs few of the questions
//! that others are asked. Here acknowledgements have a short way too, those of today's sender in
//! `modern/predicted`. The results are those of the long way, which tests compare; this one only costs less.

use std::borrow::Borrow;

use super::accurate_ecn::EcnMode;
use super::modern::Sender;
use super::{AckFlags, CaState, Connection, Life};
use crate::clock::{self, Jiffies};
use crate::congestion::AckKind;
use crate::segment::{Flags, Header, Segment};

/// Whose short way a connection takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Predicts {
    /// None: all segments are asked everything. So are those of accurate ECN, whose flags count.
    Nothing,
    /// That of 2.6.18's sender.
    Once,
    /// That of today's.
    Today,
}

impl Predicts {
    pub(super) fn of(sender: Sender) -> Predicts {
        match sender {
            Sender::Linux26 => Predicts::Once,
            Sender::Linux72 => Predicts::Today,
        }
    }
}

impl Connection {
    /// Whether a segment is the data that was expected next, and says nothing else.
    #[inline(always)]
    pub(super) fn is_predicted_data(&self, segment: &Header) -> bool {
        let (receive, modern) = (&self.receive, &self.modern);
        segment.payload_bytes > 0
            && self.life == Life::Established
            && segment.flags.without(Flags::PSH) == Flags::ACK
            && segment.seq == receive.rcv_nxt
            && segment.ack == self.snd_una
            && self.packets_out == 0
            && self.unsent == 0
            && !self.no_space
            && modern.awaits_no_probe()
            && segment.has_timestamps == self.timestamps
            && !(self.timestamps && clock::before(segment.ts_val, self.ts_recent))
            && !segment.has_sack()
            && self.window_of(segment) == self.snd_wnd
            && receive.takes_at_once(segment.end_seq())
    }

    /// Takes such data in; `today` if the sender is of today.
    #[inline(always)]
    pub(super) fn take_predicted_data(&mut self, now: Jiffies, segment: &Header, today: bool) {
        if segment.has_timestamps {
            if !segment.seq.after(self.receive.rcv_wup) {
                self.ts_recent = segment.ts_val;
            }
            if today {
                self.modern.stamped(segment);
            }
        }
        // Where nothing waits to be read nothing is reserved.
        let asks_sender = !today || self.receive.is_empty() || !self.receive.has_reserve(0);
        if asks_sender {
            self.questions = 0;
            self.probes = 0;
            self.ack_received = now;
        }
        if asks_sender && today && self.congestion.hears_acks() && self.hears_plain_acks() {
            self.tell_of_data(now, segment);
        } else if segment.seq.after(self.snd_wl1) {
            self.snd_wl1 = segment.seq;
        }
        self.queue_shrunk &= today;
        self.measure_receiver_rtt(segment);
        self.receive
            .charge_in_order(segment.payload_bytes, 0, false);
        self.echo_precisely(segment);
        self.feed_back_sce(segment);
        self.receive.rcv_nxt = segment.end_seq();
        self.stats.bytes_received += u64::from(segment.payload_bytes);
        self.data_received(now, segment);
        if self.receive.is_enough() {
            self.tell_of_data_to_read();
        }
        if self.receive.ack.scheduled {
            self.check_ack(now);
        }
    }

    /// Whether a segment leaves an acknowledgement that is owed to its timer: one without data whose header was
    /// predicted. tcp_rcv_established sends what there is then, and does not ask whether the acknowledgement is due
    /// (no tcp_ack_snd_check); after others one goes at once whose timer fires soon. Asked before anything of the
    /// segment is taken in.
    #[inline(never)]
    pub(super) fn lets_acks_wait(&self, segment: &Header) -> bool {
        segment.payload_bytes == 0
            && self.has_predicted_header(segment)
            && self.receive.takes_at_once(segment.seq)
    }

    /// Whether data whose header was predicted fits into memory that is reserved already: tcp_rcv_established looks
    /// neither at the buffer's size then, nor, if nothing new is acknowledged, at anything of its sender's (no tcp_ack, no
    /// tcp_data_snd_check).
    #[inline(never)]
    pub(super) fn fits_reserve(&self, segment: &Header) -> bool {
        let receive = &self.receive;
        self.has_predicted_header(segment)
            && !segment.ack.before(self.snd_una)
            && receive.reassembly.is_idle()
            && receive.fin_end.is_none()
            && u32::from(segment.payload_bytes) <= receive.window_left()
            && receive.has_reserve(self.queued_memory_today())
    }

    /// Whether tcp_rcv_established takes the long way with a segment (FLAG_SLOWPATH): its header is not the one that was
    /// predicted, nothing is predicted while data is out of order or the window is closed, or its data does not fit into
    /// memory that is reserved.
    #[inline(never)]
    pub(super) fn is_slow_path(&self, segment: &Header) -> bool {
        if segment.payload_bytes > 0 {
            return !self.fits_reserve(segment);
        }
        let receive = &self.receive;
        let as_predicted = match self.ecn {
            EcnMode::Accurate => {
                self.life == Life::Established
                    && segment.seq == receive.rcv_nxt
                    && !segment.has_sack()
                    && !segment.has_ecn_counters()
                    && self.tells_no_mark(segment)
                    && self.window_of(segment) == self.snd_wnd
            }
            _ => self.has_predicted_header(segment),
        };
        !(as_predicted && receive.reassembly.is_idle() && receive.rcv_wnd > 0)
    }

    /// All that its acknowledgement leaves behind (tcp_update_wl).
    pub(super) fn take_without_ack(&mut self, segment: &Header) {
        if segment.has_timestamps {
            self.modern.stamped(segment);
        }
        if segment.seq.after(self.snd_wl1) {
            self.snd_wl1 = segment.seq;
        }
    }

    /// Whether a header is the one that was predicted. Options beside timestamps make it another, and accurate ECN has
    /// one of its own.
    fn has_predicted_header(&self, segment: &Header) -> bool {
        self.life == Life::Established
            && self.ecn != EcnMode::Accurate
            && segment.flags.without(Flags::PSH) == Flags::ACK
            && segment.seq == self.receive.rcv_nxt
            && !segment.ack.after(self.snd_nxt)
            && segment.has_timestamps == self.timestamps
            && !(self.timestamps && clock::before(segment.ts_val, self.ts_recent))
            && !segment.has_sack()
            && self.window_of(segment) == self.snd_wnd
    }

    /// A segment has arrived at 2.6.18's sender.
    #[inline(never)]
    pub(super) fn take_segment_once<W: Borrow<Segment>>(
        &mut self,
        now: Jiffies,
        header: &Header,
        whole: impl FnOnce() -> W,
    ) {
        if self.predicts == Predicts::Once {
            if self.is_predicted_data(header) {
                return self.take_predicted_data(now, header, false);
            }
            if self.is_predicted_ack_once(header) {
                return self.take_predicted_ack_once(now, header);
            }
        }
        self.take_any_segment(now, whole().borrow());
    }

    /// Whether a segment acknowledges what was sent by 2.6.18's sender and says nothing else, while
    /// nothing is amiss.
    #[inline(always)]
    pub(super) fn is_predicted_ack_once(&self, segment: &Header) -> bool {
        self.life == Life::Established
            && segment.flags == Flags::ACK
            && segment.payload_bytes == 0
            && segment.seq == self.receive.rcv_nxt
            && segment.ack.after(self.snd_una)
            && !segment.ack.after(self.snd_nxt)
            && self.state == CaState::Open
            && self.packets_out > 0
            && segment.has_timestamps == self.timestamps
            && !(self.timestamps && clock::before(segment.ts_val, self.ts_recent))
            && !segment.has_sack()
    }

    /// Takes such an acknowledgement in.
    #[inline(always)]
    pub(super) fn take_predicted_ack_once(&mut self, now: Jiffies, segment: &Header) {
        let lets_wait = self.receive.ack.scheduled && self.lets_acks_wait(segment);
        if segment.has_timestamps {
            if !segment.seq.after(self.receive.rcv_wup) {
                self.ts_recent = segment.ts_val;
            }
            self.receive.hear_echo(segment.ts_ecr);
        }
        self.questions = 0;
        self.probes = 0;
        self.ack_received = now;
        self.adopt_window(segment);
        self.stats.bytes_acked += u64::from(segment.ack - self.snd_una);
        self.snd_una = segment.ack;
        let prior_undelivered = self.packets_out.saturating_sub(self.sacked_out);
        let prior_in_flight = self.in_flight();
        let mut flags = AckFlags::default();
        self.clean_queue(now, segment, &mut flags);
        let delivered = self.note_delivered(prior_undelivered, false);
        self.tell_ack_once(now, AckKind::default());
        if flags.data_acked {
            self.grow_cwnd_once(now, delivered, prior_in_flight);
        }
        self.push_once(now);
        self.check_space_once(now);
        if self.receive.ack.scheduled && !lets_wait {
            self.check_ack(now);
        }
    }
}
