//! How the receive buffer and the offered window grow.
//!
//! Models Linux net/ipv4/tcp_input.c: tcp_grow_window, tcp_rcv_rtt_*, tcp_rcv_space_adjust and
//! tcp_rcvbuf_grow of 2.4 (tcp_grow_window alone), of 2.6.18, of 4.14 to 6.15, of 6.12.117, and of 7.2 (dynamic right-sizing, Feng and Fisk);
//! [`RcvbufTuning`] says which. Times are by the receiver's clock: jiffies in 2.6.18, microseconds
//! later. 2.6.18's measures a read as a whole here, the kernel after each packet of it.
//! Left out: with `slow-start` kernels took an echo of the same tick for a round trip of a tick, and what was measured
//! while something waited to be read counted; here neither does, as in 7.2.

use super::Receive;
use super::rules::{RcvbufTuning, Receiver};
use crate::rtt::SAMPLE_MAX;

impl Receive {
    /// Receive-buffer auto-tuning (tcp_rcv_space_adjust), when all has been read; all but `others` bytes of it
    /// were in the first packet.
    #[inline(always)]
    pub(super) fn adjust_space(&mut self, now: u32, others: u32) {
        if self.tuning != RcvbufTuning::TwiceRead {
            return self.adjust_space_today(now, others);
        }
        self.adjust_space_once(now);
    }

    /// The same of 2.6.18.
    #[inline(never)]
    fn adjust_space_once(&mut self, now: u32) {
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

    /// The same of kernels that foresee a sender in slow start. They ask after each packet that is read, so that
    /// the first one is measured, and the others no time later.
    #[inline(always)]
    fn adjust_space_today(&mut self, now: u32, others: u32) {
        if self.rtt == 0 || now.wrapping_sub(self.space_time) < self.rtt >> 3 {
            return;
        }
        let copied = self.copied - others;
        let mut read = copied - self.space_seq;
        if self.tuning != RcvbufTuning::SlowStart {
            // What waits to be read already is no sign of a need for more.
            read = read.saturating_sub(self.rcv_nxt - copied);
        }
        if read > self.space {
            self.grow_for(read);
        }
        self.space_seq = copied;
        self.space_time = now;
    }

    /// When what is read was last measured.
    #[cfg(test)]
    pub(crate) fn measured_at(&self) -> u32 {
        self.space_time
    }

    /// Makes the buffer large enough for `read` bytes a round trip and more (tcp_rcvbuf_grow).
    #[inline(never)]
    pub(crate) fn grow_for(&mut self, read: u32) {
        let before = u64::from(self.space.max(1));
        let news = u64::from(read).saturating_sub(before);
        self.space = read;
        if !self.moderate || self.locked {
            return;
        }
        let mut window = u64::from(read) * 2;
        if self.tuning != RcvbufTuning::LowRtt {
            window += 16 * u64::from(self.advmss);
            window += 2 * (window * news / before);
        } else {
            let rtt_us = self.rtt >> 3;
            window += if rtt_us < self.low_rtt_us {
                window * u64::from(rtt_us) / u64::from(self.low_rtt_us)
            } else {
                2 * window * news / before
            };
            if let Some(end) = self.reassembly.last_end() {
                window += u64::from(end - self.rcv_nxt);
            }
        }
        let buffer = self.space_of(window).min(u64::from(self.rmem_max)) as u32;
        if buffer > self.rcvbuf {
            self.rcvbuf = buffer;
            self.window_clamp = self.window_of(buffer);
        }
    }

    /// Out-of-order data was kept: today's kernels make room for it.
    pub(crate) fn grow_for_disorder(&mut self) {
        if self.tuning == RcvbufTuning::LowRtt {
            self.grow_for(self.space);
        }
    }

    fn grow_buffer(&mut self, clamp: u32) {
        let room = self.segment_room();
        let wanted = u64::from((clamp / self.advmss).max(1)) * u64::from(room);
        let space = wanted.min(u64::from(self.rmem_max)) as u32;
        if space > self.rcvbuf {
            self.rcvbuf = space;
            self.window_clamp = clamp;
        }
    }

    /// Round-trip sample of `ticks`; without timestamps (`window_bound`) only a minimum is kept
    /// (tcp_rcv_rtt_update).
    fn sample_rtt(&mut self, ticks: u32, window_bound: bool) {
        let ticks = ticks.clamp(1, SAMPLE_MAX);
        if self.tuning != RcvbufTuning::TwiceRead {
            let unread = self.tuning != RcvbufTuning::QueueAware && self.rcv_nxt != self.copied;
            if self.rtt == 0 || ticks << 3 < self.rtt {
                self.rtt = ticks << 3;
            } else if !window_bound && !unread {
                self.rtt = self.rtt - (self.rtt >> 3) + ticks;
            }
            return;
        }
        if self.rtt == 0 {
            self.rtt = ticks << 3;
        } else if !window_bound {
            self.rtt = (i64::from(self.rtt) + i64::from(ticks) - i64::from(self.rtt >> 3)) as u32;
        } else if ticks < self.rtt {
            self.rtt = ticks << 3;
        }
    }

    /// Whether an echo counts: each does once, but in the oldest kernels.
    #[inline]
    pub(crate) fn is_news(&mut self, echo: u32) -> bool {
        std::mem::replace(&mut self.last_echo, echo) != echo
            || self.tuning == RcvbufTuning::TwiceRead
    }

    /// The echo in a segment without data: data that echoes the same is no sample any more
    /// (tcp_rcv_established of 6.1 and later).
    #[inline]
    pub(crate) fn hear_echo(&mut self, echo: u32) {
        if matches!(self.tuning, RcvbufTuning::QueueAware | RcvbufTuning::LowRtt) {
            self.last_echo = echo;
        }
    }

    /// The echo of a timestamp in a data segment (tcp_rcv_rtt_measure_ts).
    #[inline]
    pub(crate) fn measure_rtt_by_echo(&mut self, ticks: u32, payload_bytes: u32) {
        // One from the same tick tells nothing.
        if self.tuning != RcvbufTuning::TwiceRead && ticks == 0 {
            return;
        }
        if payload_bytes >= self.ack.rcv_mss {
            self.sample_rtt(ticks, false);
        }
    }

    /// Less than a window's worth of data has come since the last look.
    #[inline]
    pub(crate) fn awaits_window(&self) -> bool {
        self.rtt_time != 0 && self.rcv_nxt.before(self.rtt_seq)
    }

    /// A window's worth of data is in (tcp_rcv_rtt_measure).
    #[inline]
    pub(crate) fn measure_rtt_by_window(&mut self, now: u32) {
        if self.rtt_time != 0 {
            self.sample_rtt(now.wrapping_sub(self.rtt_time), true);
        }
        self.rtt_seq = self.rcv_nxt + self.rcv_wnd;
        self.rtt_time = now;
    }

    /// Lets the offered window grow as a data segment of `payload_bytes` allows
    /// (tcp_grow_window).
    #[inline(always)]
    pub(crate) fn grow_window(&mut self, payload_bytes: u32) {
        if payload_bytes < 128 {
            return;
        }
        if self.tuning != RcvbufTuning::TwiceRead {
            return self.grow_window_today(payload_bytes);
        }
        self.grow_window_once(payload_bytes);
    }

    /// The same of 2.6.18.
    #[inline(never)]
    fn grow_window_once(&mut self, payload_bytes: u32) {
        if self.rcv_ssthresh >= self.window_clamp || self.rcv_ssthresh >= self.free_space() {
            return;
        }
        let increase = if self.window_of(self.frame.memory_bytes) <= payload_bytes {
            2 * self.advmss
        } else {
            self.growth_of_wasteful(self.frame.memory_bytes, payload_bytes)
        };
        if increase > 0 {
            self.rcv_ssthresh = (self.rcv_ssthresh + increase).min(self.window_clamp);
            self.ack.quick |= 1;
        }
    }

    /// The same of kernels that never let it grow beyond the room there is.
    #[inline(always)]
    fn grow_window_today(&mut self, payload_bytes: u32) {
        // What joining would give up does not count (truesize_adjust).
        let given_up = if self.frame.fragments > 0 {
            self.head
        } else {
            0
        };
        self.grow_window_by(payload_bytes, self.frame.memory_bytes - given_up);
    }

    /// The same for data out of order, that joins the packet before or does not.
    pub(crate) fn grow_window_for_disorder(&mut self, payload_bytes: u32, joined: bool) {
        let given_up = if joined { self.head } else { 0 };
        self.grow_window_by(payload_bytes, self.frame.memory_bytes - given_up);
    }

    #[inline(always)]
    fn grow_window_by(&mut self, payload_bytes: u32, memory: u32) {
        if self.rcv_ssthresh >= self.window_clamp {
            return;
        }
        let most = self.window_clamp.min(self.free_space());
        let Some(room) = most.checked_sub(self.rcv_ssthresh).filter(|r| *r > 0) else {
            return;
        };
        let memory = memory.max(payload_bytes);
        let increase = if self.window_of(memory) <= payload_bytes {
            2 * self.advmss
        } else {
            self.growth_of_wasteful(memory, payload_bytes)
        };
        if increase > 0 {
            self.rcv_ssthresh += room.min(increase.max(2 * payload_bytes));
            self.ack.quick |= 1;
        }
    }

    /// Growth for a frame whose overhead exceeds the window's allowance (__tcp_grow_window).
    #[inline(never)]
    fn growth_of_wasteful(&self, memory: u32, payload_bytes: u32) -> u32 {
        let mut truesize = self.window_of(memory) / 2;
        let mut window = match self.receiver {
            Receiver::Linux24 => self.full_space() / 2,
            Receiver::Linux26 | Receiver::Linux72 => self.window_of(self.rmem_max) / 2,
        };
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
