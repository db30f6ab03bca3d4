//! BIC: binary increase congestion control (Xu, Harfoush, Rhee, INFOCOM 2004) as in Linux 2.6.18
//! (net/ipv4/tcp_bic.c), with its integer arithmetic. The ratio of packets to acknowledgements
//! counts packets as they were handed to segmentation offload, as that kernel does.

use super::{CongestionControl, Growth, Window};
use crate::clock::Jiffies;
use crate::stack::BicParameters;

/// The search goes to the point (max + min) / 4 (BICTCP_B).
const B: u32 = 4;
/// Scale of `beta` (BICTCP_BETA_SCALE).
const BETA_SCALE: u32 = 1024;
/// Scale of `delayed_ack`, as a shift (ACK_RATIO_SHIFT).
const ACK_RATIO_SHIFT: u32 = 4;
/// Acknowledgements per segment at most before the first loss: 5 % a round trip.
const COUNT_BEFORE_LOSS_MAX: u32 = 20;

/// BIC's state.
#[derive(Clone, Debug)]
pub(crate) struct Bic {
    parameters: BicParameters,
    /// The increase is computed anew after this long, HZ/32.
    refresh: Jiffies,
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
    pub(crate) fn new(parameters: &BicParameters, hz: u32) -> Bic {
        Bic {
            parameters: parameters.clone(),
            refresh: hz / 32,
            count: 0,
            last_max_cwnd: 0,
            loss_cwnd: 0,
            last_cwnd: 0,
            last_time: 0,
            delayed_ack: 2 << ACK_RATIO_SHIFT,
        }
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
    #[inline]
    fn grow(&mut self, window: &mut Window, growth: Growth) {
        if !growth.cwnd_limited {
            return;
        }
        if window.cwnd <= window.ssthresh {
            window.slow_start();
        } else {
            self.update(window.cwnd, growth.now);
            window.additive_increase(self.count);
        }
    }

    fn ssthresh(&mut self, window: &Window) -> u32 {
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
            (window.cwnd >> 1).max(2)
        } else {
            (window.cwnd * beta / BETA_SCALE).max(2)
        }
    }

    fn undo_cwnd(&self, window: &Window) -> u32 {
        window.cwnd.max(self.last_max_cwnd)
    }

    fn enter_loss(&mut self) {
        self.count = 0;
        self.last_max_cwnd = 0;
        self.loss_cwnd = 0;
        self.last_cwnd = 0;
        self.last_time = 0;
        self.delayed_ack = 2 << ACK_RATIO_SHIFT;
    }

    #[inline]
    fn packets_acked(&mut self, packets: u32) {
        self.delayed_ack = self.delayed_ack + packets - (self.delayed_ack >> ACK_RATIO_SHIFT);
    }
}
