//! Packets for segmentation offload: how large, and when it pays to wait.
//!
//! Models Linux 7.2 net/ipv4/tcp_output.c: tcp_tso_autosize (a millisecond's worth of the pacing
//! rate, and more for near peers), tcp_tso_segs, tcp_mss_split_point, tcp_tso_should_defer; and
//! tcp.c: tcp_xmit_size_goal. With or without segmentation by the card: if it has none the kernel cuts the packet as the
//! last thing it does (`host_queue`). `gso_max_segs` of 1 makes every packet one segment.

use super::super::{CaState, Connection};
use super::output::{Head, Nagle};

/// A millisecond's worth, as a shift of bytes a second (sk_pacing_shift, net/core/sock.c).
pub(super) const PACING_SHIFT: u32 = 10;
/// What a deferral waits for at most, nanoseconds.
const DEFER_MAX_NS: u64 = 1_000_000;

impl Connection {
    /// Segments that a packet sent now may have (tcp_tso_segs).
    #[inline(always)]
    pub(super) fn tso_segments(&self, mss: u32) -> u32 {
        self.wanted_segments(mss).min(self.stack.gso_max_segs)
    }

    /// The same, whatever the card takes at once (tcp_tso_autosize).
    #[inline(always)]
    fn wanted_segments(&self, mss: u32) -> u32 {
        if let Some(segments) = self.congestion.tso_segs() {
            return segments
                .min(u32::from(self.stack.tso_max_bytes()) / mss.max(1))
                .max(1);
        }
        let least = self
            .congestion
            .min_tso_segs(&self.window)
            .unwrap_or(self.stack.tcp_min_tso_segs);
        let most = u32::from(self.stack.tso_max_bytes());
        let mut bytes = self.window.pacing_rate >> PACING_SHIFT;
        let shift = self
            .modern
            .rtt
            .min
            .get()
            .checked_shr(self.stack.tcp_tso_rtt_log)
            .unwrap_or(0);
        if shift < 32 {
            bytes = bytes.saturating_add(u64::from(most >> shift));
        }
        let bytes = bytes.min(u64::from(most)) as u32;
        let segments = bytes / mss;
        if segments >= least && segments > 0 {
            // No more than 65 535 bytes, as those are.
            return segments;
        }
        least.min(u32::from(u16::MAX) / mss.max(1)).max(1)
    }

    /// Bytes that sendmsg fills a packet with (tcp_xmit_size_goal).
    pub(super) fn size_goal_today(&self, mss: u32) -> u32 {
        let most = self.bound_to_half_window(self.stack.tso_max_bytes().into());
        ((most / mss).min(self.stack.gso_max_segs) * mss).max(mss)
    }

    /// No more than half of the largest window seen, or all of a tiny one
    /// (tcp_bound_to_half_wnd).
    fn bound_to_half_window(&self, bytes: u32) -> u32 {
        /// TCP_MSS_DEFAULT.
        const TINY: u32 = 536;
        let window = self.max_window;
        let cutoff = if window > TINY { window >> 1 } else { window };
        if cutoff > 0 && bytes > cutoff {
            cutoff.max(68 - 40)
        } else {
            bytes
        }
    }

    /// Bytes of the head that are sent now, of `segments` segments at most
    /// (tcp_mss_split_point).
    pub(super) fn split_point(&self, head: Head, mss: u32, segments: u32, nagle: Nagle) -> u32 {
        let window = self.window_end() - self.snd_nxt;
        let most = mss.saturating_mul(segments);
        if most <= window && !head.last {
            return most;
        }
        let needed = head.bytes.min(window);
        if most <= needed {
            return most;
        }
        let partial = needed % mss;
        if self.nagle_holds_today(partial != 0, nagle) {
            needed - partial
        } else {
            needed
        }
    }

    /// Whether to wait for a larger packet: only if an acknowledgement is near, and then it is
    /// noted if the window is what limits (tcp_tso_should_defer).
    pub(super) fn defers(
        &self,
        head: Head,
        max_segments: u32,
        cwnd_limited: &mut bool,
        window_limited: &mut bool,
    ) -> bool {
        if self.state >= CaState::Recovery {
            return false;
        }
        let now_ns = self.clock.ns();
        // The last packet left more than a millisecond ago.
        if now_ns > self.modern.wstamp_ns + DEFER_MAX_NS {
            return false;
        }
        let send_window = self.window_end() - self.snd_nxt;
        let room = self.window.cwnd.saturating_sub(self.in_flight());
        let cwnd_window = room.saturating_mul(self.mss);
        let limit = send_window.min(cwnd_window);
        if limit >= max_segments.saturating_mul(self.mss) || (!head.last && limit >= head.bytes) {
            return false;
        }
        let enough = match self.stack.tcp_tso_win_divisor {
            0 => limit > 3 * self.mss,
            divisor => {
                let window = self.snd_wnd.min(self.window.cwnd.saturating_mul(self.mss));
                // That is limit >= window / divisor.
                u64::from(window) < (u64::from(limit) + 1) * u64::from(divisor)
            }
        };
        if enough {
            return false;
        }
        let Some(oldest) = self.modern.sent.front() else {
            return false;
        };
        let srtt_ns = u64::from(self.modern.rtt.srtt_us8) * 125;
        let expected = oldest.sent_ns + srtt_ns;
        let threshold = (srtt_ns >> 1).min(DEFER_MAX_NS);
        if expected as i64 - now_ns as i64 - threshold as i64 > 0 {
            return false;
        }
        if cwnd_window < send_window {
            if cwnd_window <= head.bytes {
                *cwnd_limited = true;
                return true;
            }
        } else if send_window <= head.bytes {
            *window_limited = true;
            return true;
        }
        !(head.fin || head.ends_record)
    }
}
