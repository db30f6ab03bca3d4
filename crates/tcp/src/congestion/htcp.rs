//! H-TCP: Leith, Shorten, "H-TCP: TCP for high-speed and long-distance networks" (PFLDnet 2004)
//! as in Linux net/ipv4/tcp_htcp.c (7.2), with its fixed-point arithmetic in jiffies. The window
//! grows by alpha a round trip, alpha rising with the time since the last congestion; it is cut to
//! beta = least / greatest round trip, within 0.5 and 0.8, or to 0.5 if the throughput has
//! changed by more than a fifth. Segments are counted as the last acknowledgement told, as there, and words of 32 bits
//! wrap as there: 131 s after congestion, at 1000 ticks a second, growth falls to a third and begins to rise anew.
//! Left out: nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AckSample, CongestionControl, Growth, View, Window};
use crate::clock::{Jiffies, jiffies_of_us};
use crate::connection::CaState;
use crate::stack::Stack;

/// One, in alpha and beta (ALPHA_BASE).
const ONE: u32 = 128;
/// A half (BETA_MIN).
const BETA_MIN: u32 = 64;
/// 0.8 (BETA_MAX).
const BETA_MAX: u32 = 102;

/// Parameters of H-TCP, by their names in Linux net/ipv4/tcp_htcp.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HtcpParameters {
    /// Growth is scaled by the round trip, so that it does not depend on it.
    pub use_rtt_scaling: bool,
    /// The window is halved when the throughput has changed.
    pub use_bandwidth_switch: bool,
}

impl Default for HtcpParameters {
    fn default() -> HtcpParameters {
        HtcpParameters {
            use_rtt_scaling: true,
            use_bandwidth_switch: true,
        }
    }
}

/// What a reduction changes, and its undoing restores.
#[derive(Clone, Copy, Debug)]
struct Before {
    last_congestion: Jiffies,
    rtt_max: Jiffies,
    old_rate_max: u32,
}

/// H-TCP's state.
#[derive(Clone, Debug)]
pub(crate) struct Htcp(Box<State>);

#[derive(Clone, Debug)]
struct State {
    parameters: HtcpParameters,
    hz: u32,
    /// In 128ths.
    alpha: u32,
    beta: u32,
    /// A congestion has been seen: beta may follow the round trips.
    adaptive: bool,
    /// Segments of the last acknowledgement.
    acked: u32,
    rtt_min: Jiffies,
    rtt_max: Jiffies,
    last_congestion: Jiffies,
    before: Option<Before>,
    /// Segments acknowledged since `rate_since`.
    packets: u32,
    rate_since: Jiffies,
    /// Throughput, segments a second: smoothed, greatest since the congestion and before it.
    rate: u32,
    rate_max: u32,
    old_rate_max: u32,
}

impl State {
    fn measure_rtt(&mut self, rtt: Jiffies, state: CaState) {
        if self.rtt_min == 0 || rtt < self.rtt_min {
            self.rtt_min = rtt;
        }
        if state == CaState::Open {
            self.rtt_max = self.rtt_max.max(self.rtt_min);
            // 20 ms (msecs_to_jiffies).
            let believed = self.rtt_max + jiffies_of_us(20_000, self.hz);
            if rtt > self.rtt_max && rtt <= believed {
                self.rtt_max = rtt;
            }
        }
    }

    fn measure_rate(&mut self, window: &Window, view: &View, packets: u32) {
        if view.state > CaState::Disorder {
            self.packets = 0;
            self.rate_since = view.now;
            return;
        }
        self.packets += packets;
        let span = view.now.wrapping_sub(self.rate_since);
        let round = window.cwnd.saturating_sub((self.alpha >> 7).max(1));
        if self.rtt_min == 0 || span < self.rtt_min || self.packets < round {
            return;
        }
        let rate = (u64::from(self.packets) * u64::from(self.hz) / u64::from(span)) as u32;
        let rounds = view.now.wrapping_sub(self.last_congestion) / self.rtt_min;
        if rounds <= 3 {
            self.rate = rate;
            self.rate_max = rate;
        } else {
            self.rate = (3 * self.rate + rate) / 4;
            self.rate_max = self.rate_max.max(self.rate);
        }
        self.packets = 0;
        self.rate_since = view.now;
    }

    fn update_beta(&mut self) {
        if self.parameters.use_bandwidth_switch {
            let old = std::mem::replace(&mut self.old_rate_max, self.rate_max);
            if !(4 * old..=6 * old).contains(&(5 * self.rate_max)) {
                self.beta = BETA_MIN;
                self.adaptive = false;
                return;
            }
        }
        if self.adaptive && self.rtt_min > jiffies_of_us(10_000, self.hz) && self.rtt_max > 0 {
            self.beta = ((self.rtt_min << 7) / self.rtt_max).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.beta = BETA_MIN;
            self.adaptive = true;
        }
    }

    fn update_alpha(&mut self, now: Jiffies) {
        let hz = self.hz;
        let since = now.wrapping_sub(self.last_congestion);
        // In 32 bits that wrap, as there: where congestion was more than 2^17 ticks ago, the square begins anew.
        let mut factor = 1_u32;
        if since > hz {
            let beyond = since - hz;
            let square = (beyond / 2).wrapping_mul(beyond / 2) / hz;
            factor = 1 + beyond.wrapping_mul(10).wrapping_add(square) / hz;
        }
        if self.parameters.use_rtt_scaling && self.rtt_min > 0 {
            // 100 ms over the round trip, in eighths.
            let scale = ((hz << 3) / (10 * self.rtt_min)).clamp(4, 80);
            factor = ((factor << 3) / scale).max(1);
        }
        self.alpha = (2 * (ONE - self.beta)).wrapping_mul(factor);
        if self.alpha == 0 {
            self.alpha = ONE;
        }
    }
}

impl CongestionControl for Htcp {
    fn new(stack: &Stack, _seed: u64) -> Htcp {
        Htcp(Box::new(State {
            parameters: stack.htcp.clone(),
            hz: stack.hz,
            alpha: ONE,
            beta: BETA_MIN,
            adaptive: false,
            acked: 1,
            rtt_min: 0,
            rtt_max: 0,
            last_congestion: 0,
            before: None,
            packets: 0,
            rate_since: 0,
            rate: 0,
            rate_max: 0,
            old_rate_max: 0,
        }))
    }

    fn init(&mut self, _window: &mut Window, view: &View) {
        self.0.last_congestion = view.now;
    }

    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        if !growth.cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            let _ = window.slow_start(growth.acked);
            return;
        }
        let state = &mut *self.0;
        if window.cwnd_count.wrapping_mul(state.alpha) >> 7 >= window.cwnd {
            window.cwnd = (window.cwnd + 1).min(window.cwnd_clamp);
            window.cwnd_count = 0;
            state.update_alpha(view.now);
        } else {
            window.cwnd_count += state.acked;
        }
        state.acked = 1;
    }

    fn ssthresh(&mut self, window: &Window, view: &View) -> u32 {
        let state = &mut *self.0;
        state.update_beta();
        state.update_alpha(view.now);
        // The greatest round trip fades, so that changes of route are followed.
        if state.rtt_min > 0 && state.rtt_max > state.rtt_min {
            state.rtt_max = state.rtt_min + (state.rtt_max - state.rtt_min) * 95 / 100;
        }
        ((window.cwnd * state.beta) >> 7).max(2)
    }

    fn undo_cwnd(&mut self, window: &Window, _view: &View) -> u32 {
        if let Some(before) = self.0.before.take() {
            self.0.last_congestion = before.last_congestion;
            self.0.rtt_max = before.rtt_max;
            self.0.old_rate_max = before.old_rate_max;
        }
        window.reno_undo()
    }

    fn set_state(&mut self, _window: &mut Window, view: &View, state: CaState) {
        let own = &mut *self.0;
        match state {
            CaState::Open => {
                if own.before.take().is_some() {
                    own.last_congestion = view.now;
                }
            }
            CaState::Disorder => {}
            CaState::Cwr | CaState::Recovery | CaState::Loss => {
                own.before = Some(Before {
                    last_congestion: own.last_congestion,
                    rtt_max: own.rtt_max,
                    old_rate_max: own.old_rate_max,
                });
                own.last_congestion = view.now;
            }
        }
    }

    fn pkts_acked(&mut self, window: &mut Window, view: &View, sample: AckSample) {
        let state = &mut *self.0;
        if view.state == CaState::Open {
            state.acked = sample.packets;
        }
        if let Some(us) = sample.rtt_us.filter(|&us| us > 0) {
            state.measure_rtt(jiffies_of_us(us, state.hz), view.state);
        }
        if state.parameters.use_bandwidth_switch {
            state.measure_rate(window, view, sample.packets);
        }
    }
}
