//! BIC: binary increase congestion control (Xu, Harfoush, Rhee, INFOCOM 2004) as in Linux
//! (net/ipv4/tcp_bic.c of 2.6.18 and 7.2), with its integer arithmetic. In 2.6.18 the ratio of
//! packets to acknowledgements counts packets as they were handed to segmentation offload, and a
//! reduction is undone to the last maximum; today segments are counted, acknowledgements of nothing new
//! count in the ratio too (the first duplicate is heard before the state changes), and the window before
//! the reduction is remembered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckSample, CongestionControl, Growth, View, Window};
use crate::clock::Jiffies;
use crate::connection::{CaState, Sender};
use crate::stack::Stack;

/// The search goes to the point (max + min) / 4 (BICTCP_B).
const B: u32 = 4;
/// Scale of `beta` (BICTCP_BETA_SCALE).
const BETA_SCALE: u32 = 1024;
/// Scale of `delayed_ack`, as a shift (ACK_RATIO_SHIFT).
const ACK_RATIO_SHIFT: u32 = 4;
/// Acknowledgements per segment at most before the first loss: 5 % a round trip.
const COUNT_BEFORE_LOSS_MAX: u32 = 20;

/// Parameters of BIC, by their names in Linux net/ipv4/tcp_bic.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BicParameters {
    /// Remember a lower maximum when losses come at falling windows.
    pub fast_convergence: bool,
    /// Most that the search jumps, segments a round trip.
    #[schemars(range(min = 1, max = 1024))]
    pub max_increment: u32,
    /// Window up to which it is Reno, segments.
    #[schemars(range(min = 0, max = 65535))]
    pub low_window: u32,
    /// Window left after a loss, in 1024ths.
    #[schemars(range(min = 1, max = 1024))]
    pub beta: u32,
    /// ssthresh of a new connection, segments; 0 for none.
    pub initial_ssthresh: u32,
    /// Round trips from just below to the old maximum.
    #[schemars(range(min = 1, max = 1024))]
    pub smooth_part: u32,
}

impl Default for BicParameters {
    fn default() -> BicParameters {
        BicParameters {
            fast_convergence: true,
            max_increment: 16,
            low_window: 14,
            beta: 819,
            initial_ssthresh: 100,
            smooth_part: 20,
        }
    }
}

/// BIC's state.
#[derive(Clone, Debug)]
pub(crate) struct Bic {
    parameters: BicParameters,
    /// The increase is computed anew after this long, HZ/32.
    refresh: Jiffies,
    /// Acknowledgements of nothing new count in the ratio, as none (bictcp_acked of today).
    counts_all: bool,
    /// Acknowledgements per segment of increase.
    count: u32,
    last_max_cwnd: u32,
    /// Window at the last loss; zero before any.
    loss_cwnd: u32,
    last_cwnd: u32,
    last_time: Jiffies,
    /// Packets per acknowledgement, times 16.
    delayed_ack: u32,
}

impl Bic {
    /// bictcp_reset.
    fn reset(&mut self) {
        self.count = 0;
        self.last_max_cwnd = 0;
        self.loss_cwnd = 0;
        self.last_cwnd = 0;
        self.last_time = 0;
        self.delayed_ack = 2 << ACK_RATIO_SHIFT;
    }

    fn update(&mut self, cwnd: u32, now: Jiffies) {
        if self.last_cwnd == cwnd && now.wrapping_sub(self.last_time) as i32 <= self.refresh as i32
        {
            return;
        }
        self.last_cwnd = cwnd;
        self.last_time = now;
        if cwnd <= self.parameters.low_window {
            self.count = cwnd;
            return;
        }
        let mut count = self.search(cwnd);
        if self.loss_cwnd == 0 {
            count = count.min(COUNT_BEFORE_LOSS_MAX);
        }
        self.count = ((count << ACK_RATIO_SHIFT) / self.delayed_ack).max(1);
    }

    /// Acknowledgements per segment where the search stands.
    fn search(&self, cwnd: u32) -> u32 {
        let BicParameters {
            max_increment,
            smooth_part,
            ..
        } = self.parameters;
        if cwnd < self.last_max_cwnd {
            let distance = (self.last_max_cwnd - cwnd) / B;
            return match distance {
                d if d > max_increment => cwnd / max_increment,
                d if d <= 1 => cwnd * smooth_part / B,
                d => cwnd / d,
            };
        }
        if cwnd < self.last_max_cwnd + B {
            cwnd * smooth_part / B
        } else if cwnd < self.last_max_cwnd + max_increment * (B - 1) {
            cwnd * (B - 1) / (cwnd - self.last_max_cwnd)
        } else {
            cwnd / max_increment
        }
    }
}

impl CongestionControl for Bic {
    fn new(stack: &Stack, _seed: u64) -> Bic {
        Bic {
            parameters: stack.bic.clone(),
            refresh: stack.hz / 32,
            counts_all: stack.sender == Sender::Linux72,
            count: 0,
            last_max_cwnd: 0,
            loss_cwnd: 0,
            last_cwnd: 0,
            last_time: 0,
            delayed_ack: 2 << ACK_RATIO_SHIFT,
        }
    }

    fn init(&mut self, window: &mut Window, _view: &View) {
        self.reset();
        if self.parameters.initial_ssthresh > 0 {
            window.ssthresh = self.parameters.initial_ssthresh;
        }
    }

    #[inline]
    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        if !growth.cwnd_limited {
            return;
        }
        let left = window.slow_start_first(growth.acked);
        if left > 0 {
            self.update(window.cwnd, view.now);
            window.additive_increase(self.count, left);
        }
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        let BicParameters {
            beta,
            low_window,
            fast_convergence,
            ..
        } = self.parameters;
        self.last_max_cwnd = if window.cwnd < self.last_max_cwnd && fast_convergence {
            window.cwnd * (BETA_SCALE + beta) / (2 * BETA_SCALE)
        } else {
            window.cwnd
        };
        self.loss_cwnd = window.cwnd;
        if window.cwnd <= low_window {
            window.reno_ssthresh()
        } else {
            (window.cwnd * beta / BETA_SCALE).max(2)
        }
    }

    fn undo_cwnd(&mut self, window: &Window, _view: &View) -> u32 {
        if window.prior_cwnd > 0 {
            window.reno_undo()
        } else {
            window.cwnd.max(self.last_max_cwnd)
        }
    }

    fn set_state(&mut self, _window: &mut Window, _view: &View, state: CaState) {
        if state == CaState::Loss {
            self.reset();
        }
    }

    #[inline]
    fn pkts_acked(&mut self, _window: &mut Window, view: &View, sample: AckSample) {
        if view.state == CaState::Open && (self.counts_all || sample.packets > 0) {
            self.delayed_ack =
                self.delayed_ack + sample.packets - (self.delayed_ack >> ACK_RATIO_SHIFT);
        }
    }
}
