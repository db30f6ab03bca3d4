//! How often answers to invalid segments may be sent.
//!
//! Models Linux 7.2 net/ipv4/tcp_input.c: __tcp_oow_rate_limited, tcp_challenge_ack_allowed
//! (RFC 5961 section 7). A host's limit on challenges is each connection's here, and is not
//! randomised.

use crate::clock::Jiffies;

/// When the last answer was sent, and how many challenges this second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateLimit {
    last: Option<Jiffies>,
    second: u32,
    challenges: u32,
}

impl RateLimit {
    /// Whether another answer may be sent, `interval` ticks after the one before at least.
    pub(super) fn allows(&mut self, now: Jiffies, interval: Jiffies) -> bool {
        if self.last.is_some_and(|at| now.wrapping_sub(at) < interval) {
            return false;
        }
        self.last = Some(now);
        true
    }

    /// The request's answers are not the connection's (tcp_request_sock, tcp_sock: last_oow_ack_time).
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    /// Whether another challenge may be sent, of `limit` a second.
    pub(super) fn allows_challenge(&mut self, now: Jiffies, hz: u32, limit: u32) -> bool {
        let second = now / hz.max(1);
        if second != self.second {
            self.second = second;
            self.challenges = 0;
        }
        self.challenges += 1;
        limit == i32::MAX as u32 || self.challenges <= limit
    }
}
