//! Sending: what, how much, when.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_output.c (tcp_current_mss, tcp_write_xmit,
//! tcp_tso_should_defer, tcp_nagle_check with Minshall's variant, tcp_cwnd_validate,
//! tcp_push_one, tcp_event_data_sent, tcp_cwnd_restart). Packets wait to be sent as a count of bytes;
//! they are divided as tcp_sendmsg would have. What the host's queue drops: [`refused`](super::refused).

use super::accurate_ecn::EcnMode;
use super::{CaState, Connection};
use crate::clock::{self, Jiffies};
use crate::congestion::CwndEvent;
use crate::queue::{Packet, segments};

/// Bytes of IP and TCP headers that segmentation offload counts in (tcp_current_mss).
const HEADER_BYTES: u32 = 40;

impl Connection {
    /// Payload of a full segment with the options it would carry now (tcp_current_mss).
    #[inline]
    pub(super) fn current_mss(&self) -> u32 {
        if self.ecn == EcnMode::Accurate {
            return self.mss.saturating_sub(self.option_bytes()).max(1);
        }
        let blocks = self.receive.reassembly.sack_count();
        if blocks == 0 || !self.sack {
            self.mss
        } else {
            (self.mss).saturating_sub(4 + 8 * blocks as u32).max(1)
        }
    }

    /// Bytes that a packet is filled with (xmit_size_goal).
    #[inline]
    pub(super) fn size_goal(&self) -> u32 {
        let mss = self.current_mss();
        if !self.stack.tso {
            return mss;
        }
        let options = if self.timestamps { 12 } else { 0 };
        let most = (self.stack.tso_max.get() as u32).saturating_sub(HEADER_BYTES + options);
        let most = most
            .min((self.max_window >> 1).max(mss))
            .min(u32::from(u16::MAX));
        (most / mss * mss).max(mss)
    }

    /// Whether something waits to be sent: data, or a FIN (sk_send_head).
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        self.unsent > 0 || (self.fin_queued && !self.fin_sent)
    }

    /// Whether the packet at the head ends with the FIN.
    #[inline]
    fn head_has_fin(&self) -> bool {
        self.fin_queued && !self.fin_sent && u64::from(self.head_bytes()) == self.unsent
    }

    /// Sequence space of the packet at the head.
    #[inline]
    pub(super) fn head_seq_len(&self) -> u32 {
        self.head_bytes() + u32::from(self.head_has_fin())
    }

    /// Bytes of the packet at the head of what is unsent.
    #[inline]
    pub(super) fn head_bytes(&self) -> u32 {
        if self.head_left > 0 {
            self.head_left
        } else {
            self.unsent.min(u64::from(self.size_goal())) as u32
        }
    }

    /// Sends what may be sent (tcp_push_pending_frames, tcp_write_xmit).
    #[inline]
    pub(super) fn push(&mut self, now: Jiffies) {
        if self.is_modern() {
            let nagle = self.nagle();
            self.push_today(now, nagle);
            return;
        }
        self.push_once(now);
    }

    /// The same of 2.6.18's sender.
    #[inline]
    pub(super) fn push_once(&mut self, now: Jiffies) {
        if !self.life.is_synchronised() {
            return;
        }
        let mut sent = false;
        let mss = self.current_mss();
        while self.unsent > 0 {
            let Some(bytes) = self.sendable(mss, true) else {
                break;
            };
            self.send_new(now, bytes, mss);
            sent = true;
        }
        if self.fin_queued && !self.fin_sent && self.unsent == 0 {
            // The windows are not asked, but for room for the FIN itself.
            if !(self.snd_nxt + 1).after(self.snd_una + self.snd_wnd) {
                self.send_new(now, 0, mss);
                sent = true;
            }
        }
        if sent {
            self.validate_cwnd(now);
        } else if self.has_unsent() && self.packets_out == 0 && self.timer.is_none() {
            self.arm_probe(now, 0);
        }
    }

    /// Sends the packet at the head, as far as the windows allow and without waiting for more
    /// (tcp_push_one).
    #[inline]
    pub(super) fn push_one(&mut self, now: Jiffies, mss: u32) {
        if !self.life.is_synchronised() {
            return;
        }
        if let Some(bytes) = self.sendable(mss, false) {
            self.send_new(now, bytes, mss);
            self.validate_cwnd(now);
        }
    }

    /// Bytes of the head packet that may be sent now, if any may (the tests of tcp_write_xmit);
    /// `may_wait` if it may be held back to be sent together with more.
    #[inline]
    fn sendable(&mut self, mss: u32, may_wait: bool) -> Option<u32> {
        self.head_left = self.head_bytes();
        let length = self.head_left;
        let quota = self.cwnd_quota()?;
        if !self.first_fits(mss, length) {
            return None;
        }
        let right = self.snd_una + self.snd_wnd;
        if length <= mss {
            let last = u64::from(length) == self.unsent && !self.fin_queued;
            let held = may_wait && last && self.nagle_holds(length, mss);
            return (!held).then_some(length);
        }
        let window = right - self.snd_nxt;
        let allowed = window.min(mss.saturating_mul(quota));
        if may_wait && self.should_defer(window.min(self.mss.saturating_mul(quota))) {
            return None;
        }
        let limit = if length < allowed {
            length - length % mss
        } else {
            allowed
        };
        Some(if length > limit { limit } else { length })
    }

    /// Segments that the window has room for, if any; one always for the packet with the FIN
    /// (tcp_cwnd_test).
    #[inline]
    fn cwnd_quota(&self) -> Option<u32> {
        if self.head_has_fin() {
            return Some(1);
        }
        let quota = self.window.cwnd.saturating_sub(self.in_flight());
        (quota > 0).then_some(quota)
    }

    /// Whether the peer's window has room for the head's first segment (tcp_snd_wnd_test).
    #[inline]
    fn first_fits(&self, mss: u32, head_bytes: u32) -> bool {
        let length = if head_bytes > mss {
            mss
        } else {
            head_bytes + u32::from(self.head_has_fin())
        };
        !(self.snd_nxt + length).after(self.snd_una + self.snd_wnd)
    }

    /// Nagle's rule as Minshall varied it: a short segment waits for an earlier short one.
    fn nagle_holds(&self, length: u32, mss: u32) -> bool {
        if length >= mss {
            return false;
        }
        let short_ones_wait = !self.options.nodelay
            && self.packets_out > 0
            && self.small_end.after(self.snd_una)
            && !self.small_end.after(self.snd_nxt);
        short_ones_wait || self.options.cork
    }

    /// Whether to wait until a larger packet may be sent (tcp_tso_should_defer); without a time
    /// limit in this kernel.
    #[inline]
    fn should_defer(&self, allowed: u32) -> bool {
        if self.head_has_fin() || self.state != CaState::Open {
            return false;
        }
        if allowed >= 65_536 {
            return false;
        }
        match self.stack.tcp_tso_win_divisor {
            0 => allowed <= super::recovery::MAX_BURST * self.mss,
            divisor => {
                let window = self.snd_wnd.min(self.window.cwnd.saturating_mul(self.mss));
                allowed < window / divisor
            }
        }
    }

    /// Whether anything new may be sent (tcp_may_send_now).
    pub(super) fn may_send_now(&self) -> bool {
        if !self.has_unsent() {
            return false;
        }
        let mss = self.current_mss();
        let last = u64::from(self.head_bytes()) == self.unsent;
        (last || !self.nagle_holds(self.head_bytes(), mss))
            && self.cwnd_quota().is_some()
            && self.first_fits(mss, self.head_bytes())
    }

    /// Sends the first `bytes` bytes of what is unsent, with the FIN if that is all.
    #[inline]
    pub(super) fn send_new(&mut self, now: Jiffies, bytes: u32, mss: u32) {
        let last = u64::from(bytes) == self.unsent;
        let room = (self.snd_una + self.snd_wnd) - self.snd_nxt;
        let fin = last && self.fin_queued && room > bytes;
        self.fin_sent |= fin;
        let end_seq = self.snd_nxt + bytes + u32::from(fin);
        let psh = bytes > 0 && (last || end_seq == self.pushed_seq);
        let count = segments(bytes, mss);
        let packet = Packet {
            seq: self.snd_nxt,
            end_seq,
            when: now,
            sent_before: self.snd_nxt,
            segments: count,
            mss: mss as u16,
            run: 0,
            once: 0,
            tags: 0,
            many: count > 1,
            psh,
            fin,
        };
        self.unsent -= u64::from(bytes);
        self.head_left = self.head_left.saturating_sub(bytes);
        if bytes < mss {
            self.small_end = packet.end_seq;
        }
        self.transmit(now, &packet, mss, false);
        self.snd_nxt = packet.end_seq;
        if self.packets_out == 0 {
            self.arm_retransmit(now);
        }
        self.packets_out += u32::from(packet.segments);
        self.queue.push(packet);
    }

    /// Data leaves, for the first time or again (tcp_event_data_sent).
    #[inline]
    pub(super) fn data_sent(&mut self, now: Jiffies) {
        let idle = now.wrapping_sub(self.last_sent);
        if self.stack.tcp_slow_start_after_idle
            && self.packets_out == 0
            && idle as i32 > self.rtt.rto as i32
        {
            self.restart_cwnd(now, idle);
        }
        if self.packets_out == 0 {
            let view = self.view(now);
            self.congestion
                .cwnd_event(&mut self.window, &view, CwndEvent::TxStart);
        }
        self.last_sent = now;
        self.receive.ack.data_sent(now);
    }

    /// The window shrinks after idleness: half for every timeout's length (tcp_cwnd_restart).
    fn restart_cwnd(&mut self, now: Jiffies, idle: Jiffies) {
        let view = self.view(now);
        self.congestion
            .cwnd_event(&mut self.window, &view, CwndEvent::CwndRestart);
        let restart = self.initial_cwnd().min(self.window.cwnd);
        self.window.ssthresh = self.current_ssthresh();
        let mut left = i64::from(idle) - i64::from(self.rtt.rto);
        let mut cwnd = self.window.cwnd;
        while left > 0 && cwnd > restart {
            cwnd >>= 1;
            left -= i64::from(self.rtt.rto);
        }
        self.window.cwnd = cwnd.max(restart);
        self.cwnd_stamp = now;
        self.cwnd_used = 0;
    }

    /// RFC 2861: a window not in use for a timeout's length shrinks (tcp_cwnd_validate,
    /// tcp_cwnd_application_limited).
    #[inline]
    fn validate_cwnd(&mut self, now: Jiffies) {
        if self.packets_out >= self.window.cwnd {
            self.cwnd_used = 0;
            self.cwnd_stamp = now;
            return;
        }
        self.cwnd_used = self.cwnd_used.max(self.packets_out);
        let unused = !clock::before(now, self.cwnd_stamp.wrapping_add(self.rtt.rto));
        if !self.stack.tcp_slow_start_after_idle || !unused {
            return;
        }
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

    /// The minimum the window shrinks to while it is halved (tcp_cwnd_min).
    #[inline]
    pub(super) fn cwnd_min(&self) -> u32 {
        self.congestion.cwnd_min(&self.window)
    }
}
