//! TCP-LP: Kuzmanovic, Knightly, "TCP-LP: low-priority service via end-point congestion control"
//! (ToN 14(4), 2006) as in Linux net/ipv4/tcp_lp.c (7.2). The one-way delay by the peer's
//! timestamps, smoothed by an eighth, beyond 15 % of its range is early congestion: the window is
//! halved, and goes to one if that comes again within three round trips; meanwhile it
//! does not grow. Else Reno. The peer's tick is estimated from its timestamps.
//! Left out: nothing; without timestamps it is Reno, as there. The delay's scale is an integer
//! division by the estimate of the peer's tick, as there, so an estimate a little above the
//! own tick makes the delay useless for that acknowledgement.

use super::{AckSample, CongestionControl, Growth, View, Window};
use crate::stack::Stack;

/// TCP-LP's state; delays in the own timestamp clock's ticks.
#[derive(Clone, Debug)]
pub(crate) struct Lp {
    /// Smoothed one-way delay, times 8; zero before the first.
    delay8: u32,
    delay_min: u32,
    delay_max: u32,
    /// The greatest of all; `delay_max` is the one below it.
    delay_max_reserve: u32,
    /// The peer's ticks a second, as estimated; zero while it is not.
    peer_hz: u32,
    /// Timestamps of the last estimate: the peer's and the own.
    peer_reference: u32,
    own_reference: u32,
    /// When the window was last cut, zero for never; and how long that holds.
    last_cut: u32,
    inference: u32,
    within_inference: bool,
}

impl Lp {
    /// Keeps the estimate of the peer's tick (tcp_lp_remote_hz_estimator).
    fn estimate_peer_hz(&mut self, view: &View) {
        let (peer, own) = (
            view.ts_val.wrapping_sub(self.peer_reference),
            view.ts_ecr.wrapping_sub(self.own_reference),
        );
        if self.peer_reference != 0 && self.own_reference != 0 && peer != 0 && own != 0 {
            let measured = i64::from(view.ts_hz.wrapping_mul(peer) / own);
            let scaled = i64::from(self.peer_hz) << 6;
            let estimate = if scaled > 0 {
                (scaled + measured - (scaled >> 6)) >> 6
            } else {
                measured
            };
            self.peer_hz = estimate.max(0) as u32;
        }
        self.peer_reference = view.ts_val;
        self.own_reference = view.ts_ecr;
    }

    /// A sample of the one-way delay, relative to the clocks' difference (tcp_lp_rtt_sample).
    fn sample(&mut self, view: &View) {
        self.estimate_peer_hz(view);
        if self.peer_hz == 0 {
            return;
        }
        let delay = view
            .ts_val
            .wrapping_mul(view.ts_hz / self.peer_hz)
            .wrapping_sub(view.ts_ecr);
        if delay == 0 {
            return;
        }
        self.delay_min = self.delay_min.min(delay);
        if delay > self.delay_max {
            self.delay_max = delay;
            if delay > self.delay_max_reserve {
                if self.delay_max_reserve != 0 {
                    self.delay_max = self.delay_max_reserve;
                }
                self.delay_max_reserve = delay;
            }
        }
        self.delay8 = if self.delay8 == 0 {
            delay << 3
        } else {
            self.delay8
                .wrapping_add(delay)
                .wrapping_sub(self.delay8 >> 3)
        };
    }
}

impl CongestionControl for Lp {
    fn new(_stack: &Stack, _seed: u64) -> Lp {
        Lp {
            delay8: 0,
            delay_min: u32::MAX,
            delay_max: 0,
            delay_max_reserve: 0,
            peer_hz: 0,
            peer_reference: 0,
            own_reference: 0,
            last_cut: 0,
            inference: 0,
            within_inference: false,
        }
    }

    fn grow(&mut self, window: &mut Window, _view: &View, growth: Growth) {
        if growth.cwnd_limited && !self.within_inference {
            window.reno_growth(growth.acked);
        }
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        window.reno_ssthresh()
    }

    fn pkts_acked(&mut self, window: &mut Window, view: &View, sample: AckSample) {
        if sample.rtt_us.is_some_and(|us| us > 0) {
            self.sample(view);
        }
        let elapsed = view.ts_now.wrapping_sub(view.ts_ecr) as i32;
        if elapsed > 0 {
            // In words that wrap, as the kernel's: without timestamps the echo is zero, and this any time.
            self.inference = (elapsed as u32).wrapping_mul(3);
        }
        self.within_inference =
            self.last_cut != 0 && view.ts_now.wrapping_sub(self.last_cut) < self.inference;
        let range = self.delay_max.wrapping_sub(self.delay_min);
        let threshold = self.delay_min.wrapping_add(range.wrapping_mul(15) / 100);
        if self.delay8 >> 3 < threshold {
            return;
        }
        // The range begins anew about the delay as it is.
        self.delay_min = self.delay8 >> 3;
        self.delay_max = self.delay8 >> 2;
        self.delay_max_reserve = self.delay_max;
        window.cwnd = if self.within_inference {
            1
        } else {
            (window.cwnd >> 1).max(1)
        };
        self.last_cut = view.ts_now;
    }
}
