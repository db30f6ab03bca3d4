//! The sender's window and the two ways of counting towards its growth.
//!
//! Linux before 4.0 (tcp_cong.c of 2.6.18: tcp_slow_start, tcp_reno_cong_avoid) counts
//! acknowledgements, whatever they acknowledge, and stays in slow start while cwnd equals
//! ssthresh; from 4.0 on (tcp_slow_start, tcp_cong_avoid_ai) it counts the segments acknowledged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::connection::CaState;

/// What the window grows by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WindowCounting {
    /// Acknowledgements, as in Linux before 4.0.
    Acks,
    /// Segments acknowledged, as in Linux from 4.0 on.
    Segments,
}

/// The sender's window, in segments, and its pacing rate: what a congestion control sets.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Segments that may be in flight (snd_cwnd).
    pub cwnd: u32,
    /// Below it the window is in slow start (snd_ssthresh).
    pub ssthresh: u32,
    /// Acknowledgements or segments counted towards the next increase or decrease (snd_cwnd_cnt).
    pub cwnd_count: u32,
    /// The window before the reduction that is or was under way (prior_cwnd); zero in stacks
    /// that do not remember it.
    pub prior_cwnd: u32,
    /// The window never grows beyond (snd_cwnd_clamp).
    pub cwnd_clamp: u32,
    /// What growth counts.
    pub counting: WindowCounting,
    /// Bytes a second (sk_pacing_rate), headers included; set by an algorithm in full control
    /// or else by the sender. `u64::MAX` for no limit.
    pub pacing_rate: u64,
    /// It is no more than this, bytes a second (sk_max_pacing_rate); `u64::MAX` for no limit.
    pub pacing_rate_max: u64,
    /// The algorithm asks for a reduction as after a congestion signal (tcp_enter_cwr); the sender
    /// takes the wish and clears it after [`super::CongestionControl::grow`].
    pub enter_cwr: bool,
    /// The algorithm asks that what is in flight count as limited by the application; the sender
    /// takes the wish and clears it after [`super::CongestionControl::on_rate_sample`].
    pub mark_app_limited: bool,
}

/// No threshold (TCP_INFINITE_SSTHRESH).
pub(crate) const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

impl Window {
    /// SO_MAX_PACING_RATE (sk_setsockopt, net/core/sock.c), bytes a second.
    pub(crate) fn limit_pacing_rate(&mut self, rate: u64) {
        self.pacing_rate_max = rate;
        self.pacing_rate = self.pacing_rate.min(rate);
    }

    /// A new connection's window.
    pub(crate) fn new(cwnd: u32, counting: WindowCounting) -> Window {
        Window {
            cwnd,
            ssthresh: INFINITE_SSTHRESH,
            cwnd_count: 0,
            prior_cwnd: 0,
            cwnd_clamp: u32::MAX,
            counting,
            pacing_rate: u64::MAX,
            pacing_rate_max: u64::MAX,
            enter_cwr: false,
            mark_app_limited: false,
        }
    }

    /// Whether the window is still in slow start.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        match self.counting {
            WindowCounting::Acks => self.cwnd <= self.ssthresh,
            WindowCounting::Segments => self.cwnd < self.ssthresh,
        }
    }

    /// Slow start: one segment for each counted, up to the threshold; answers what is left over
    /// for congestion avoidance.
    #[inline]
    #[must_use]
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = match self.counting {
            WindowCounting::Acks => self.cwnd + acked,
            WindowCounting::Segments => (self.cwnd + acked).min(self.ssthresh),
        };
        let left = acked - cwnd.saturating_sub(self.cwnd).min(acked);
        self.cwnd = cwnd.min(self.cwnd_clamp);
        left
    }

    /// One segment more for every `per` counted (tcp_cong_avoid_ai).
    #[inline]
    pub fn additive_increase(&mut self, per: u32, acked: u32) {
        let per = per.max(1);
        match self.counting {
            WindowCounting::Acks if self.cwnd_count >= per => {
                self.cwnd += 1;
                self.cwnd_count = 0;
            }
            WindowCounting::Acks => self.cwnd_count += acked,
            WindowCounting::Segments => {
                if self.cwnd_count >= per {
                    self.cwnd_count = 0;
                    self.cwnd += 1;
                }
                self.cwnd_count += acked;
                if self.cwnd_count >= per {
                    let more = self.cwnd_count / per;
                    self.cwnd_count -= more * per;
                    self.cwnd += more;
                }
            }
        }
        self.cwnd = self.cwnd.min(self.cwnd_clamp);
    }

    /// Slow start while it lasts; answers what is left for congestion avoidance.
    #[inline]
    #[must_use]
    pub fn slow_start_first(&mut self, acked: u32) -> u32 {
        if self.in_slow_start() {
            self.slow_start(acked)
        } else {
            acked
        }
    }

    /// Reno's growth (tcp_reno_cong_avoid), which many algorithms fall back on.
    #[inline]
    pub fn reno_growth(&mut self, acked: u32) {
        let left = self.slow_start_first(acked);
        if left > 0 {
            self.additive_increase(self.cwnd, left);
        }
    }

    /// Half, but at least two (tcp_reno_ssthresh).
    #[inline]
    pub fn reno_ssthresh(&self) -> u32 {
        (self.cwnd >> 1).max(2)
    }

    /// The threshold as it would be without the reduction under way (tcp_current_ssthresh).
    #[inline]
    pub fn current_ssthresh(&self, state: CaState) -> u32 {
        if matches!(state, CaState::Cwr | CaState::Recovery) {
            self.ssthresh
        } else {
            self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2))
        }
    }

    /// The window as it was (tcp_reno_undo_cwnd): remembered, or twice the threshold in stacks
    /// that do not remember it.
    #[inline]
    pub fn reno_undo(&self) -> u32 {
        if self.prior_cwnd > 0 {
            self.cwnd.max(self.prior_cwnd)
        } else {
            self.cwnd.max(self.ssthresh << 1)
        }
    }
}
