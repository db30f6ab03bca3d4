//! SACK compression: acknowledgements of out-of-order data held back to be sent as one.
//!
//! Models Linux 7.2 net/ipv4/tcp_input.c (the end of __tcp_ack_snd_check,
//! tcp_sack_compress_send_ack) and tcp_timer.c (tcp_compressed_ack_kick). The first three of a hole
//! go out at once, so that the sender finds the loss; later ones wait for a third of a round trip,
//! at most a millisecond, or until 44 have gathered. Timers fire as late as their slack allows, as
//! on a machine that is idle.

use tailback_units::{Duration, Time};

use crate::seq::Seq;
use crate::stack::Stack;

/// Acknowledgements of a hole that go out at once (TCP_FASTRETRANS_THRESH, include/net/tcp.h).
const AT_ONCE: u8 = 3;

/// What is held back.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Compression {
    slack: Duration,
    delay: Duration,
    rtt_percent: u16,
    most: u8,
    /// Acknowledgements sent of the hole at `hole`.
    at_once: u8,
    /// Acknowledgements held back (compressed_ack).
    held: u8,
    hole: Seq,
    due: Time,
}

impl Compression {
    pub(super) fn new(stack: &Stack) -> Compression {
        Compression {
            held: 0,
            at_once: 0,
            most: stack.tcp_comp_sack_nr.min(255) as u8,
            rtt_percent: stack.tcp_comp_sack_rtt_percent.min(1000) as u16,
            hole: Seq(0),
            due: Time::NEVER,
            delay: Duration::from_ns(stack.tcp_comp_sack_delay_ns),
            slack: Duration::from_ns(stack.tcp_comp_sack_slack_ns),
        }
    }

    /// Whether any are held back.
    #[inline]
    pub(crate) fn is_holding(&self) -> bool {
        self.held > 0
    }

    /// When what is held back is to be sent.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// Whether an acknowledgement can be held back; `hole` is what is expected next, `rtt_us` the
    /// round trip times 8 in microseconds.
    pub(crate) fn holds(&mut self, now: Time, hole: Seq, rtt_us: u32) -> bool {
        if self.held >= self.most {
            return false;
        }
        if self.hole != hole {
            self.hole = hole;
            self.at_once = 0;
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return false;
        }
        self.held += 1;
        if self.due == Time::NEVER {
            // The eighths of a microsecond of `rtt_us`, times 1000 / 8 / 100.
            let part_ns =
                (u64::from(rtt_us) + u64::from(rtt_us >> 2)) * u64::from(self.rtt_percent);
            self.due = now + Duration::from_ns(part_ns).min(self.delay) + self.slack;
        }
        true
    }

    /// The timer fired: true if something is held back.
    pub(crate) fn fired(&mut self) -> bool {
        self.due = Time::NEVER;
        std::mem::take(&mut self.held) > 0
    }

    /// An acknowledgement has left.
    #[inline]
    pub(crate) fn sent(&mut self) {
        if self.held > 0 {
            self.held = 0;
            self.due = Time::NEVER;
        }
    }
}
