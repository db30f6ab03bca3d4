//! How the receive buffer and the offered window grow.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_input.c: tcp_grow_window, tcp_rcv_rtt_*, tcp_rcv_space_adjust.
//! A read counts once here; the kernel measures after each frame of it.

use super::{Receive, SEGMENT_ROOM};
use crate::clock::Jiffies;
use crate::rtt::SAMPLE_MAX;

impl Receive {
    /// Receive-buffer auto-tuning (tcp_rcv_space_adjust).
    pub(super) fn adjust_space(&mut self, now: Jiffies) {
        if self.space_time != 0 {
            if self.rtt == 0 || now.wrapping_sub(self.space_time) < self.rtt >> 3 {
                return;
            }
            let read = self.copied - self.space_seq;
            let space = self.space.max(read.saturating_mul(2));
            if space != self.space {
                self.space = space;
                if self.moderate && !self.locked {
                    self.grow_buffer(space);
                }
            }
        }
        self.space_seq = self.copied;
        self.space_time = now;
    }

    fn grow_buffer(&mut self, clamp: u32) {
        let mut room = self.advmss + SEGMENT_ROOM;
        while self.window_of(room) < self.advmss {
            room += 128;
        }
        let wanted = u64::from((clamp / self.advmss).max(1)) * u64::from(room);
        let space = wanted.min(u64::from(self.rmem_max)) as u32;
        if space > self.rcvbuf {
            self.rcvbuf = space;
            self.window_clamp = clamp;
        }
    }

    /// Round-trip sample of `ticks`; without timestamps (`window_bound`) only a minimum is kept
    /// (tcp_rcv_rtt_update).
    fn sample_rtt(&mut self, ticks: Jiffies, window_bound: bool) {
        let ticks = ticks.clamp(1, SAMPLE_MAX);
        if self.rtt == 0 {
            self.rtt = ticks << 3;
        } else if !window_bound {
            self.rtt = (i64::from(self.rtt) + i64::from(ticks) - i64::from(self.rtt >> 3)) as u32;
        } else if ticks < self.rtt {
            self.rtt = ticks << 3;
        }
    }

    /// The echo of a timestamp in a data segment (tcp_rcv_rtt_measure_ts).
    #[inline]
    pub(crate) fn measure_rtt_by_echo(&mut self, ticks: Jiffies, payload_bytes: u32) {
        if payload_bytes >= self.ack.rcv_mss {
            self.sample_rtt(ticks, false);
        }
    }

    /// A window's worth of data is in (tcp_rcv_rtt_measure).
    #[inline]
    pub(crate) fn measure_rtt_by_window(&mut self, now: Jiffies) {
        if self.rtt_time != 0 {
            if self.rcv_nxt.before(self.rtt_seq) {
                return;
            }
            self.sample_rtt(now.wrapping_sub(self.rtt_time), true);
        }
        self.rtt_seq = self.rcv_nxt + self.rcv_wnd;
        self.rtt_time = now;
    }

    /// Lets the offered window grow as a data segment of `payload_bytes` allows
    /// (tcp_grow_window).
    #[inline]
    pub(crate) fn grow_window(&mut self, payload_bytes: u32) {
        if payload_bytes < 128
            || self.rcv_ssthresh >= self.window_clamp
            || self.rcv_ssthresh >= self.free_space()
        {
            return;
        }
        let increase = if self.window_of(self.truesize) <= payload_bytes {
            2 * self.advmss
        } else {
            self.growth_of_wasteful(payload_bytes)
        };
        if increase > 0 {
            self.rcv_ssthresh = (self.rcv_ssthresh + increase).min(self.window_clamp);
            self.ack.quick |= 1;
        }
    }

    /// Growth for a frame whose overhead exceeds the window's allowance (__tcp_grow_window).
    fn growth_of_wasteful(&self, payload_bytes: u32) -> u32 {
        let mut truesize = self.window_of(self.truesize) / 2;
        let mut window = self.window_of(self.rmem_max) / 2;
        while self.rcv_ssthresh <= window {
            if truesize <= payload_bytes {
                return 2 * self.ack.rcv_mss;
            }
            truesize >>= 1;
            window >>= 1;
        }
        0
    }
}
