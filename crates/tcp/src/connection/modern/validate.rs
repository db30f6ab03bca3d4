//! A window that is not in use.
//!
//! Models RFC 2861 as Linux 7.2 has it: net/ipv4/tcp_output.c (tcp_cwnd_validate,
//! tcp_cwnd_application_limited, tcp_cwnd_restart) and include/net/tcp.h (tcp_is_cwnd_limited,
//! tcp_slow_start_after_idle_check).

use super::super::{CaState, Connection};
use super::chrono::Limiter;
use crate::clock::{self, Jiffies};
use crate::congestion::CwndEvent;

impl Connection {
    /// Whether the window is what limits sending. In slow start it may grow to twice what was in
    /// flight.
    #[inline]
    pub(super) fn is_cwnd_limited_today(&self) -> bool {
        self.modern.cwnd_limited
            || (self.window.cwnd < self.window.ssthresh
                && self.window.cwnd < 2 * self.modern.max_packets_out)
    }

    /// After sending: remembers whether the window was in use; one that was not for a timeout's
    /// length shrinks.
    #[inline(always)]
    pub(super) fn validate_cwnd_today(&mut self, now: Jiffies, limited: bool) {
        let modern = &mut self.modern;
        if !self.snd_una.before(modern.cwnd_usage_seq)
            || limited
            || (!modern.cwnd_limited && self.packets_out > modern.max_packets_out)
        {
            modern.cwnd_limited = limited;
            modern.max_packets_out = self.packets_out;
            modern.cwnd_usage_seq = self.snd_nxt;
        }
        if self.is_cwnd_limited_today() {
            self.cwnd_used = 0;
            self.cwnd_stamp = now;
            return;
        }
        self.cwnd_used = self.cwnd_used.max(self.packets_out);
        let unused = !clock::before(now, self.cwnd_stamp.wrapping_add(self.rtt.rto));
        if self.stack.tcp_slow_start_after_idle && unused && !self.congestion.full_control() {
            self.shrink_unused_cwnd(now);
        }
        if self.no_space && self.unsent == 0 {
            self.modern.chrono.start(now, Limiter::SendBuffer);
        }
    }

    fn shrink_unused_cwnd(&mut self, now: Jiffies) {
        if self.state == CaState::Open && !self.no_space {
            let used = self.cwnd_used.max(self.initial_cwnd());
            if used < self.window.cwnd {
                self.window.ssthresh = self.current_ssthresh();
                self.window.cwnd = (self.window.cwnd + used) >> 1;
            }
            self.cwnd_used = 0;
        }
        self.cwnd_stamp = now;
    }

    /// Data is about to be sent after idleness: the window is halved for every timeout's length
    /// that it lasted, down to the initial window.
    pub(super) fn check_idle_restart(&mut self, now: Jiffies) {
        if !self.stack.tcp_slow_start_after_idle
            || self.packets_out > 0
            || self.congestion.full_control()
        {
            return;
        }
        let idle = now.wrapping_sub(self.last_sent) as i32;
        let rto = self.rtt.rto as i32;
        if idle <= rto {
            return;
        }
        self.tell(now, CwndEvent::CwndRestart);
        self.window.ssthresh = self.current_ssthresh();
        let restart = self.initial_cwnd().min(self.window.cwnd);
        let mut cwnd = self.window.cwnd;
        let mut left = i64::from(idle) - i64::from(rto);
        while left > 0 && cwnd > restart {
            cwnd >>= 1;
            left -= i64::from(rto);
        }
        self.window.cwnd = cwnd.max(restart);
        self.cwnd_stamp = now;
        self.cwnd_used = 0;
    }
}
