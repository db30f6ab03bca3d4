//! Whether a segment may be taken in at all.
//!
//! Models Linux net/ipv4/tcp_input.c: tcp_validate_incoming, tcp_sequence, tcp_paws_discard,
//! tcp_disordered_ack, tcp_send_dupack, tcp_reset_check and the first lines of tcp_ack, as 7.2 has
//! them with `rfc5961` (RFC 9293 section 3.10.7.4, RFC 7323 section 5, RFC 5961), as 2.6.18 has
//! them without.
//! Left out: PAWS ends for a connection idle for 24 days.

use super::{Connection, Life};
use crate::clock::Jiffies;
use crate::segment::{Flags, Segment};

/// Timestamps may go back by this much (TCP_PAWS_WINDOW, include/net/tcp.h), ticks.
const PAWS_WINDOW: i32 = 1;
/// Fastest timestamp clock that a peer is believed to have, ticks a second (tcp_tsval_replay).
const PEER_TIMESTAMP_HZ: u64 = 1200;

impl Connection {
    /// PAWS, the window, resets and stray SYNs. False if that was all of the segment.
    #[inline]
    pub(super) fn acceptable(&mut self, now: Jiffies, segment: &Segment) -> bool {
        let stale = self.timestamps && self.is_stale(segment, PAWS_WINDOW);
        let unusual = Flags::RST.with(Flags::SYN);
        if stale || segment.flags.intersects(unusual) || !self.is_within(segment) {
            return self.take_unusual(now, segment, stale);
        }
        self.stack.rfc5961 == segment.flags.contains(Flags::ACK) || !self.stack.rfc5961
    }

    /// Whether a segment's timestamp is older than the last by more than `window` ticks
    /// (tcp_paws_check).
    #[inline]
    pub(super) fn is_stale(&self, segment: &Segment, window: i32) -> bool {
        segment.has_timestamps
            && self.ts_recent != 0
            && self.ts_recent.wrapping_sub(segment.ts_val) as i32 > window
    }

    /// Whether a segment lies in the window, at least in part (tcp_sequence).
    #[inline]
    fn is_within(&self, segment: &Segment) -> bool {
        if segment.end_seq().before(self.receive.rcv_wup) {
            return false;
        }
        if !self.stack.checks_end_of_window {
            let right = self.receive.rcv_nxt + self.receive.window_left();
            return !segment.seq.after(right);
        }
        let right = self.receive.rightmost();
        let fin = u32::from(segment.flags.intersects(Flags::FIN));
        !(segment.end_seq() - fin).after(right)
            || (!segment.seq.after(right) && self.receive.readable() == 0)
    }

    /// Anything but a plain segment inside the window.
    fn take_unusual(&mut self, now: Jiffies, segment: &Segment, stale: bool) -> bool {
        let strict = self.stack.rfc5961;
        let reset = segment.flags.intersects(Flags::RST);
        let syn = segment.flags.intersects(Flags::SYN);
        if stale && !reset && !self.is_disordered_ack(segment) {
            if syn && strict {
                self.challenge(now);
            } else if !(self.stack.checks_end_of_window && self.is_old_ack(segment)) {
                self.answer_invalid(now, segment);
            }
            return false;
        }
        if !self.is_within(segment) {
            if reset {
                if strict && self.is_reset_after_fin(segment) {
                    self.reset_received();
                }
            } else if syn && strict {
                self.challenge(now);
            } else {
                let old = segment.end_seq().before(self.receive.rcv_wup);
                self.stats.beyond_window += u32::from(!old);
                self.answer_invalid(now, segment);
            }
            return false;
        }
        if reset {
            let exact = segment.seq == self.receive.rcv_nxt
                || self.is_reset_after_fin(segment)
                || (self.sack && self.receive.reassembly.ends_at(segment.seq));
            if !strict || exact {
                self.reset_received();
            } else {
                self.challenge(now);
            }
            return false;
        }
        if syn && strict {
            // The answer to a SYN that crossed ours is the one SYN that may come now.
            let crossed = self.life == Life::SynReceived
                && segment.flags.contains(Flags::ACK)
                && segment.seq_len() == 1
                && segment.end_seq() == self.receive.rcv_nxt
                && segment.ack == self.snd_nxt;
            self.note_syn(segment);
            if !crossed {
                self.reflect_answer();
                self.challenge(now);
                self.reflect_no_more();
            }
            return crossed;
        }
        if syn && !segment.seq.before(self.receive.rcv_nxt) {
            self.reset_received();
            self.refuse(segment);
            return false;
        }
        !strict || segment.flags.contains(Flags::ACK)
    }

    /// A reset just before what is expected, from a peer that has sent its FIN and then reset.
    fn is_reset_after_fin(&self, segment: &Segment) -> bool {
        segment.seq == self.receive.rcv_nxt - 1
            && matches!(self.life, Life::CloseWait | Life::LastAck | Life::Closing)
    }

    /// An acknowledgement without data that was overtaken (tcp_disordered_ack).
    fn is_disordered_ack(&self, segment: &Segment) -> bool {
        let hz = u64::from(self.stack.hz.max(1));
        let rate = if self.stack.rfc5961 {
            PEER_TIMESTAMP_HZ
        } else {
            1024
        };
        segment.seq_len() == 0
            && segment.seq == self.receive.rcv_nxt
            && segment.ack == self.snd_una
            && !self.updates_window(segment)
            && u64::from(self.ts_recent.wrapping_sub(segment.ts_val))
                <= u64::from(self.timeout()) * rate / hz
    }

    /// An acknowledgement without data from before what has come since.
    fn is_old_ack(&self, segment: &Segment) -> bool {
        segment.flags.contains(Flags::ACK)
            && segment.seq_len() == 0
            && segment.seq.before(self.receive.rcv_nxt)
    }

    /// What cannot be accepted is acknowledged at once (tcp_send_dupack), but segments without
    /// data not too often.
    fn answer_invalid(&mut self, now: Jiffies, segment: &Segment) {
        let data = segment.seq_len() > 0 && !segment.flags.intersects(Flags::SYN);
        let interval = self.clock.ticks(self.stack.tcp_invalid_ratelimit);
        if !data && !self.answers.allows(now, interval) {
            return;
        }
        if segment.seq_len() > 0 && segment.seq.before(self.receive.rcv_nxt) {
            self.receive.ack.enter_quick_mode(self.receive.rcv_wnd);
            if self.dsack() {
                self.suspect_option(segment);
                let end = segment.end_seq().min(self.receive.rcv_nxt);
                self.receive.reassembly.set_dsack(segment.seq, end);
            }
        }
        self.send_ack();
    }

    /// A challenge: the peer is to prove that it knows where the connection stands (RFC 5961).
    pub(super) fn challenge(&mut self, now: Jiffies) {
        let interval = self.clock.ticks(self.stack.tcp_invalid_ratelimit);
        let (hz, limit) = (self.stack.hz, self.stack.tcp_challenge_ack_limit);
        if self.answers.allows(now, interval) && self.answers.allows_challenge(now, hz, limit) {
            self.send_ack();
        }
    }

    /// Whether an acknowledgement number can be right (RFC 5961 section 5.2): neither of what was
    /// not sent nor older than any window.
    #[inline]
    pub(super) fn acknowledges_plausibly(&mut self, now: Jiffies, segment: &Segment) -> bool {
        if !self.stack.rfc5961 {
            return true;
        }
        let oldest = u64::from(self.max_window).min(self.bytes_acked()) as u32;
        if segment.ack.after(self.snd_nxt) || segment.ack.before(self.snd_una - oldest) {
            self.challenge(now);
            return false;
        }
        true
    }
}
