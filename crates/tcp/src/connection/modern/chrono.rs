//! What limits sending, and for how long (tcp_info's busy_time, rwnd_limited, sndbuf_limited).
//!
//! Models Linux 7.2 include/net/tcp.h (tcp_chrono_set, tcp_chrono_start), net/ipv4/tcp_output.c
//! (tcp_chrono_stop) and tcp.c (tcp_get_info_chrono_stats), in ticks. One thing at a time: of
//! several the last in the list below counts.

use super::super::{Connection, TcpInfo};
use crate::clock::Jiffies;

/// What limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limiter {
    /// Nothing to send.
    #[default]
    Nothing,
    /// There is data, and nothing in particular holds it back.
    Busy,
    /// The peer's window.
    PeerWindow,
    /// The send buffer.
    SendBuffer,
}

/// The watch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chrono {
    now: Limiter,
    since: Jiffies,
    spent: [Jiffies; 4],
}

impl Chrono {
    fn set(&mut self, now: Jiffies, limiter: Limiter) {
        self.spent[self.now as usize] += now.wrapping_sub(self.since);
        self.since = now;
        self.now = limiter;
    }

    /// Something limits from now on.
    #[inline]
    pub(super) fn start(&mut self, now: Jiffies, limiter: Limiter) {
        if limiter > self.now {
            self.set(now, limiter);
        }
    }
}

impl Connection {
    /// Something does not limit any more.
    #[inline]
    pub(super) fn stop_chrono(&mut self, now: Jiffies, limiter: Limiter) {
        if self.modern.sent.is_empty() && !self.has_unsent() {
            if self.modern.chrono.now != Limiter::Nothing {
                self.modern.chrono.set(now, Limiter::Nothing);
            }
        } else if self.modern.chrono.now == limiter {
            self.modern.chrono.set(now, Limiter::Busy);
        }
    }

    pub(super) fn tell_limits(&self, now: Jiffies, info: &mut TcpInfo) {
        let mut chrono = self.modern.chrono;
        chrono.set(now, chrono.now);
        let us = |limiter: Limiter| u64::from(self.clock.micros(chrono.spent[limiter as usize]));
        info.rwnd_limited = us(Limiter::PeerWindow);
        info.sndbuf_limited = us(Limiter::SendBuffer);
        info.busy_time = us(Limiter::Busy) + info.rwnd_limited + info.sndbuf_limited;
    }
}
