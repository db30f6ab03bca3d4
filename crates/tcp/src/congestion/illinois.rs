//! Illinois: Liu, Basar, Srikant, "TCP-Illinois: a loss- and delay-based congestion control
//! algorithm for high-speed networks" (Performance Evaluation 65, 2008) as in Linux
//! net/ipv4/tcp_illinois.c (7.2), with its fixed-point arithmetic. Once a round trip the average
//! queueing delay sets the growth, from 10 segments a round trip without delay to 0.3 at the
//! greatest delay seen, and the cut, from an eighth to a half. Reno below 15 segments.
//! Left out: nothing; the greatest delay never ages, as there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckSample, CongestionControl, Growth, View, Window};
use crate::connection::CaState;
use crate::seq::Seq;
use crate::stack::Stack;

/// alpha is in 128ths: one, 0.3 and 10.
const ALPHA_SHIFT: u32 = 7;
const ALPHA_BASE: u32 = 1 << ALPHA_SHIFT;
const ALPHA_MIN: u32 = 3 * ALPHA_BASE / 10;
const ALPHA_MAX: u32 = 10 * ALPHA_BASE;
/// beta is in 64ths: a half and an eighth.
const BETA_SHIFT: u32 = 6;
const BETA_MAX: u32 = 32;
const BETA_MIN: u32 = 8;
/// Longer round trips count as this, microseconds (RTT_MAX).
const RTT_MAX_US: u32 = u32::MAX / ALPHA_MAX;

/// Parameters of Illinois, by their names in Linux net/ipv4/tcp_illinois.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IllinoisParameters {
    /// Window below which it is Reno, segments.
    #[schemars(range(min = 0, max = 65535))]
    pub win_thresh: u32,
    /// Good round trips in a row before the greatest growth comes back.
    #[schemars(range(min = 0, max = 255))]
    pub theta: u32,
}

impl Default for IllinoisParameters {
    fn default() -> IllinoisParameters {
        IllinoisParameters {
            win_thresh: 15,
            theta: 5,
        }
    }
}

/// Illinois's state.
#[derive(Clone, Debug)]
pub(crate) struct Illinois {
    parameters: IllinoisParameters,
    /// Sum and number of this round's samples.
    rtt_sum_us: u64,
    samples: u32,
    base_us: u32,
    rtt_max_us: u32,
    end: Seq,
    alpha: u32,
    beta: u32,
    /// Segments of the last acknowledgement.
    acked: u32,
    /// The delay has been above the low mark; and rounds below it since.
    above: bool,
    low_rounds: u32,
}

impl Illinois {
    fn next_round(&mut self, view: &View) {
        self.end = view.snd_nxt;
        self.rtt_sum_us = 0;
        self.samples = 0;
    }

    /// Segments a round trip for a queueing delay of `delay` of at most `most`.
    fn alpha_at(&mut self, delay: u32, most: u32) -> u32 {
        let low = most / 100;
        if delay <= low {
            if !self.above {
                return ALPHA_MAX;
            }
            self.low_rounds += 1;
            if self.low_rounds < self.parameters.theta {
                return self.alpha;
            }
            self.low_rounds = 0;
            self.above = false;
            return ALPHA_MAX;
        }
        self.above = true;
        // The hyperbola through alpha_max at the low mark and alpha_min at the greatest delay.
        let (most, delay) = (u64::from(most - low), u64::from(delay - low));
        let slope = delay * u64::from(ALPHA_MAX - ALPHA_MIN) / u64::from(ALPHA_MIN);
        (most * u64::from(ALPHA_MAX) / (most + slope)) as u32
    }

    /// The cut in 64ths.
    fn beta_at(delay: u32, most: u32) -> u32 {
        let (low, high) = (u64::from(most / 10), u64::from(most) * 8 / 10);
        let delay = u64::from(delay);
        if delay <= low {
            return BETA_MIN;
        }
        if delay >= high || high <= low {
            return BETA_MAX;
        }
        let (min, max) = (u64::from(BETA_MIN), u64::from(BETA_MAX));
        ((min * high + (max - min) * delay - max * low) / (high - low)) as u32
    }

    /// Once a round trip (update_params).
    fn update(&mut self, cwnd: u32, view: &View) {
        if cwnd < self.parameters.win_thresh {
            self.alpha = ALPHA_BASE;
            self.beta = BETA_MAX;
        } else if self.samples > 0 {
            let most = self.rtt_max_us - self.base_us;
            let average = (self.rtt_sum_us / u64::from(self.samples)) as u32 - self.base_us;
            self.alpha = self.alpha_at(average, most);
            self.beta = Self::beta_at(average, most);
        }
        self.next_round(view);
    }
}

impl CongestionControl for Illinois {
    fn new(stack: &Stack, _seed: u64) -> Illinois {
        Illinois {
            parameters: stack.illinois.clone(),
            rtt_sum_us: 0,
            samples: 0,
            base_us: 0x7fff_ffff,
            rtt_max_us: 0,
            end: Seq(0),
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            acked: 0,
            above: false,
            low_rounds: 0,
        }
    }

    fn init(&mut self, _window: &mut Window, view: &View) {
        self.next_round(view);
    }

    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        if view.snd_una.after(self.end) {
            self.update(window.cwnd, view);
        }
        if !growth.cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            let _ = window.slow_start(growth.acked);
            return;
        }
        window.cwnd_count += std::mem::replace(&mut self.acked, 1);
        let product = u64::from(window.cwnd_count) * u64::from(self.alpha);
        let more = (product >> ALPHA_SHIFT) as u32 / window.cwnd;
        if more > 0 {
            window.cwnd = (window.cwnd + more).min(window.cwnd_clamp);
            window.cwnd_count = 0;
        }
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        let cut = (u64::from(window.cwnd) * u64::from(self.beta)) >> BETA_SHIFT;
        (window.cwnd - cut as u32).max(2)
    }

    fn set_state(&mut self, _window: &mut Window, view: &View, state: CaState) {
        if state == CaState::Loss {
            self.alpha = ALPHA_BASE;
            self.beta = BETA_MAX;
            self.low_rounds = 0;
            self.above = false;
            self.next_round(view);
        }
    }

    fn pkts_acked(&mut self, _window: &mut Window, _view: &View, sample: AckSample) {
        self.acked = sample.packets;
        if let Some(us) = sample.rtt_us {
            let us = us.min(RTT_MAX_US);
            self.base_us = self.base_us.min(us);
            self.rtt_max_us = self.rtt_max_us.max(us);
            self.samples += 1;
            self.rtt_sum_us += u64::from(us);
        }
    }
}
