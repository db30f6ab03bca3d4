//! TCP Prague: DCTCP for the Internet, the sender of L4S (RFC 9331).
//!
//! Models draft-briscoe-iccrg-prague-congestion-control-04 with the arithmetic of its Linux module
//! (L4STeam/linux, net/ipv4/tcp_prague.c, 0.7), which Linux itself does not have. The share of marked segments is
//! averaged into alpha, a window with marks is cut by alpha/2, and segments that were not marked let the window grow also
//! while it is cut. Some rounds after slow start it behaves as if the round trip were 25 ms at least, so that with marks of
//! probability p it has (1 − p)/p Mb/s of 1500 bytes at any shorter one. The window is a fraction, packets are paced,
//! packets for offload last a quarter of a millisecond at most. Up to four segments of window it is the rate that is kept, and
//! 3 % more of it in the first half of a round, 3 % less in the second. Without accurate ECN the connection is Reno's.
//! Left out: segments that get smaller below 1 Mb/s; `prague_alpha_mode`, `prague_cwnd_mode` other than 0 and 2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, CwndEvent, Growth, RateSample, View, Window};
use crate::connection::CaState;
use crate::seq::Seq;
use crate::stack::Stack;

/// Fraction of alpha, and the average's gain, as shifts (PRAGUE_ALPHA_BITS, PRAGUE_SHIFT_G).
const ALPHA_SHIFT: u32 = 24;
const ALPHA_MAX: u64 = 1 << ALPHA_SHIFT;
const GAIN_SHIFT: u32 = 4;
/// Fraction of the window (CWND_UNIT).
const CWND_SHIFT: u32 = 20;
/// Least rate, bytes a second (MINIMUM_RATE), and window, segments (MIN_CWND_RTT).
const RATE_MIN: u64 = 12_500;
const CWND_MIN: u64 = 2;
/// Longest round trip that growth is scaled for, microseconds (MAX_SCALED_RTT).
const SCALED_RTT_MAX_US: u32 = 100_000;
/// The packet that rates are meant for, bytes (MTU_SYS).
const MTU: u64 = 1500;
/// Windows of so many such packets are kept as a rate (prague_cwnd_transit).
const RATE_MODE_MTUS: u64 = 4;
/// What the rate is raised and lowered by, in 128ths (RATE_OFFSET, OFFSET_UNIT).
const RATE_OFFSET: u64 = 4;
const OFFSET_SHIFT: u32 = 7;
/// Gain of the long average of round trips, as a shift (HSRTT_SHIFT).
const LONG_SHIFT: u32 = 7;
/// Eighths of a microsecond are taken for 2^-23 of a second (RTT2SEC_SHIFT).
const SECOND_SHIFT: u32 = 23;
/// The same, exactly.
const SECOND_US8: u64 = 8_000_000;
/// Headers of a segment without options, and its timestamps, bytes (IP 20, TCP 20, 12).
const HEADERS: u64 = 40;
const TIMESTAMPS: u64 = 12;

/// Parameters of TCP Prague, by their names in its Linux module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PragueParameters {
    /// A packet for offload lasts 2^-n seconds at most.
    #[schemars(range(min = 0, max = 31))]
    pub prague_burst_shift: u32,
    /// Rounds after slow start from which on it is independent of the round trip.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub prague_rtt_transition: u32,
    /// The round trip that shorter ones are taken for, microseconds.
    #[schemars(range(min = 1, max = 100_000))]
    pub prague_rtt_target: u32,
}

impl Default for PragueParameters {
    fn default() -> PragueParameters {
        PragueParameters {
            prague_burst_shift: 12,
            prague_rtt_transition: 4,
            prague_rtt_target: 25_000,
        }
    }
}

/// Prague's state.
#[derive(Clone, Debug)]
pub(crate) struct Prague(Box<State>);

#[derive(Clone, Debug)]
struct State {
    parameters: PragueParameters,
    /// Alpha over the gain, so that what is left of a division counts next time.
    upscaled_alpha: u64,
    /// The window, in 2^-20 segments.
    frac_cwnd: u64,
    /// The rate, bytes a second.
    rate: u64,
    /// What a window of acknowledgements adds, in 2^-20 segments.
    increase: u64,
    /// The round trip averaged over 128 updates of alpha, times 128 (hsrtt_us).
    long_rtt_us8: u64,
    /// When the window was last cut, and alpha last updated.
    cut_us: u64,
    alpha_us: u64,
    loss_cwnd: u32,
    loss_rate: u64,
    /// Segments of a packet for offload.
    burst: u32,
    /// Segments delivered, and marked, when the round began, which ends here.
    old_delivered: u32,
    old_delivered_ce: u32,
    next_seq: Seq,
    /// Rounds since slow start.
    round: u32,
    /// Segments marked when last looked.
    known_ce: u32,
    /// A mark has been seen: there is somebody on the way who marks.
    saw_ce: bool,
    /// The rate is kept, and the window follows it.
    keeps_rate: bool,
    in_loss: bool,
}

/// A packet's bytes on the network layer.
fn mtu(view: &View) -> u64 {
    let timestamps = if view.ts_val > 0 || view.ts_ecr > 0 {
        TIMESTAMPS
    } else {
        0
    };
    u64::from(view.mss) + HEADERS + timestamps
}

/// A quotient to the nearest.
fn nearest(dividend: u64, divisor: u64) -> u64 {
    (dividend + divisor / 2) / divisor.max(1)
}

/// A product, shifted to the right.
fn product(a: u64, b: u64, shift: u32) -> u64 {
    ((u128::from(a) * u128::from(b)) >> shift) as u64
}

impl State {
    fn target_us8(&self) -> u64 {
        u64::from(self.parameters.prague_rtt_target) << 3
    }

    /// No less than the target (prague_virtual_rtt).
    fn virtual_rtt_us8(&self, view: &View) -> u64 {
        self.target_us8().max(u64::from(view.srtt_us8))
    }

    fn is_independent(&self, window: &Window) -> bool {
        !window.in_slow_start() && self.round >= self.parameters.prague_rtt_transition
    }

    fn rate_rules(&self, window: &Window) -> bool {
        self.keeps_rate && self.is_independent(window)
    }

    fn window_of_rate(&self, view: &View) -> u64 {
        let rtt = match self.long_rtt_us8 >> LONG_SHIFT {
            0 => u64::from(view.srtt_us8),
            long => long,
        };
        product(self.rate, rtt, SECOND_SHIFT - CWND_SHIFT).div_ceil(mtu(view))
    }

    fn rate_of_window(&self, view: &View) -> u64 {
        let mut one = SECOND_US8 * mtu(view);
        if view.srtt_us8 > 0 {
            one /= u64::from(view.srtt_us8);
        }
        product(one, self.frac_cwnd, CWND_SHIFT).max(RATE_MIN)
    }

    /// prague_ai_ack_increase.
    fn scale_increase(&mut self, view: &View) {
        let (rtt, target) = (u64::from(view.srtt_us8), self.target_us8());
        let plain = self.round < self.parameters.prague_rtt_transition
            || rtt == 0
            || view.srtt_us8 > SCALED_RTT_MAX_US << 3
            || rtt >= target;
        self.increase = if plain {
            1 << CWND_SHIFT
        } else {
            nearest((rtt << CWND_SHIFT) * rtt, target * target)
        };
    }

    /// prague_new_round.
    fn begin_round(&mut self, window: &Window, view: &View) {
        self.next_seq = view.snd_nxt;
        self.old_delivered = view.delivered;
        self.old_delivered_ce = view.delivered_ce;
        if !window.in_slow_start() {
            self.round = self.round.saturating_add(1);
        }
        self.scale_increase(view);
    }

    /// prague_update_cwnd.
    fn update_cwnd(&mut self, window: &mut Window, view: &View, sample: &RateSample) {
        let marked = view.delivered_ce.wrapping_sub(self.known_ce);
        self.known_ce = view.delivered_ce;
        if marked > 0 && !self.saw_ce {
            self.frac_cwnd = (self.frac_cwnd + 1) >> 1;
            self.saw_ce = true;
        }
        let mut acked = sample.acked_sacked.saturating_sub(marked);
        if acked > 0 && !self.in_loss && sample.cwnd_limited {
            if window.in_slow_start() {
                acked = window.slow_start(acked);
                self.frac_cwnd = u64::from(window.cwnd) << CWND_SHIFT;
                if acked == 0 {
                    self.scale_increase(view);
                    return;
                }
            }
            self.grow_by(window, view, u64::from(acked));
        }
        // A segment at a time.
        let most = u64::from(window.cwnd_clamp);
        let due = self.frac_cwnd.div_ceil(1 << CWND_SHIFT);
        let due = due.max(CWND_MIN).min(most) as u32;
        match window.cwnd.cmp(&due) {
            std::cmp::Ordering::Greater => {
                window.cwnd -= 1;
                window.ssthresh = window.cwnd;
                self.scale_increase(view);
            }
            std::cmp::Ordering::Less => {
                window.cwnd += 1;
                self.scale_increase(view);
            }
            std::cmp::Ordering::Equal => {}
        }
    }

    fn grow_by(&mut self, window: &Window, view: &View, acked: u64) {
        if self.rate_rules(window) {
            let rtt = self.virtual_rtt_us8(view);
            let more = ((acked * MTU) << SECOND_SHIFT) / rtt;
            let segments = (self.rate * rtt).div_ceil(mtu(view) << SECOND_SHIFT);
            self.rate += nearest(more, segments.max(1));
            self.frac_cwnd = (self.frac_cwnd + acked).max(self.window_of_rate(view));
            return;
        }
        let mut more = acked * self.increase;
        if self.frac_cwnd > 0 {
            more = nearest(more << CWND_SHIFT, self.frac_cwnd);
        }
        self.frac_cwnd += (more * MTU / mtu(view)).max(acked);
        self.rate = (self.rate + acked).max(self.rate_of_window(view));
    }

    /// Once a round, and not more often than the round trip it goes by (prague_should_update_ewma, prague_update_alpha).
    fn update_alpha(&mut self, window: &Window, view: &View) {
        let since_us = view.now_us.saturating_sub(self.alpha_us);
        let soon = self.is_independent(window) && since_us < self.target_us8() >> 3;
        if view.snd_una.before(self.next_seq) || soon {
            return;
        }
        if self.saw_ce {
            let marked = view.delivered_ce.wrapping_sub(self.old_delivered_ce);
            let all = view.delivered.wrapping_sub(self.old_delivered).max(1);
            let share = (u64::from(marked) << ALPHA_SHIFT) / u64::from(all);
            let alpha = self.upscaled_alpha - (self.upscaled_alpha >> GAIN_SHIFT) + share;
            self.upscaled_alpha = alpha.min(ALPHA_MAX << GAIN_SHIFT);
            self.alpha_us = view.now_us;
        }
        let decay = self.long_rtt_us8 >> LONG_SHIFT;
        self.long_rtt_us8 = self.long_rtt_us8 + u64::from(view.srtt_us8) - decay;
        self.begin_round(window, view);
    }

    /// prague_update_pacing_rate.
    fn update_rate(&mut self, window: &mut Window, view: &View) {
        let mut rate = if self.rate_rules(window) {
            let offset = product(RATE_OFFSET, self.rate, OFFSET_SHIFT);
            let since_us = view.now_us.saturating_sub(self.alpha_us);
            if since_us >= self.virtual_rtt_us8(view) >> 4 {
                self.rate - offset
            } else {
                self.rate + offset
            }
        } else {
            let segments = (self.frac_cwnd >> CWND_SHIFT).max(u64::from(view.in_flight));
            let mut one = SECOND_US8 * mtu(view);
            if view.srtt_us8 > 0 {
                one /= u64::from(view.srtt_us8);
            }
            self.rate = (one * segments).max(RATE_MIN);
            self.rate
        };
        if window.cwnd < window.ssthresh / 2 {
            rate <<= 1;
        }
        rate = rate.min(window.pacing_rate_max);
        let burst = (rate / mtu(view)) >> self.parameters.prague_burst_shift;
        self.burst = burst.clamp(1, u64::from(u32::MAX)) as u32;
        window.pacing_rate = rate;
    }

    /// prague_enter_loss.
    fn lose(&mut self, window: &Window, view: &View) {
        self.loss_cwnd = window.cwnd;
        self.loss_rate = self.rate;
        if self.rate_rules(window) {
            self.rate -= self.rate >> 1;
            self.frac_cwnd = self.window_of_rate(view);
        } else {
            self.frac_cwnd -= self.frac_cwnd >> 1;
            self.rate = self.rate_of_window(view);
        }
        self.in_loss = true;
    }

    /// prague_enter_cwr.
    fn cut(&mut self, window: &Window, view: &View) {
        let since_us = view.now_us.saturating_sub(self.cut_us);
        if self.is_independent(window) && since_us < self.target_us8() >> 3 {
            return;
        }
        self.cut_us = view.now_us;
        let alpha = self.upscaled_alpha >> GAIN_SHIFT;
        if self.rate_rules(window) {
            let less = product(self.rate, alpha, ALPHA_SHIFT + 1);
            self.rate = (self.rate - less).max(RATE_MIN);
            self.frac_cwnd = self.window_of_rate(view);
        } else {
            let less = (u128::from(alpha) * u128::from(self.frac_cwnd) + u128::from(ALPHA_MAX))
                >> (ALPHA_SHIFT + 1);
            self.frac_cwnd -= less as u64;
            self.rate = self.rate_of_window(view);
        }
    }
}

impl Prague {
    /// Segments of a packet for offload.
    pub(super) fn tso_segs(&self) -> u32 {
        self.0.burst
    }
}

impl CongestionControl for Prague {
    fn new(stack: &Stack, _seed: u64) -> Prague {
        Prague(Box::new(State {
            parameters: stack.prague.clone(),
            upscaled_alpha: 0,
            frac_cwnd: 0,
            rate: RATE_MIN,
            increase: 1 << CWND_SHIFT,
            long_rtt_us8: 0,
            cut_us: 0,
            alpha_us: 0,
            loss_cwnd: 0,
            loss_rate: 0,
            burst: 1,
            old_delivered: 0,
            old_delivered_ce: 0,
            next_seq: Seq(0),
            round: 0,
            known_ce: 0,
            saw_ce: false,
            keeps_rate: false,
            in_loss: false,
        }))
    }

    fn init(&mut self, window: &mut Window, view: &View) {
        let state = &mut *self.0;
        state.alpha_us = view.now_us;
        state.frac_cwnd = u64::from(window.cwnd) << CWND_SHIFT;
        state.long_rtt_us8 = u64::from(view.srtt_us8.max(8)) << LONG_SHIFT;
        state.known_ce = view.delivered_ce;
        state.saw_ce = view.delivered_ce > 0;
        state.update_rate(window, view);
        state.begin_round(window, view);
    }

    fn grow(&mut self, _window: &mut Window, _view: &View, _growth: Growth) {}

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        window.ssthresh
    }

    fn undo_cwnd(&mut self, window: &Window, view: &View) -> u32 {
        let state = &mut *self.0;
        state.in_loss = false;
        state.rate = state.rate.max(state.loss_rate);
        state.frac_cwnd = state.window_of_rate(view);
        window.cwnd.max(state.loss_cwnd)
    }

    fn set_state(&mut self, window: &mut Window, view: &View, state: CaState) {
        if state == view.state {
            return;
        }
        match state {
            CaState::Recovery => self.0.lose(window, view),
            CaState::Cwr => self.0.cut(window, view),
            CaState::Open => self.0.in_loss = false,
            _ => {}
        }
    }

    fn cwnd_event(&mut self, window: &mut Window, view: &View, event: CwndEvent) {
        if event == CwndEvent::Loss {
            self.0.lose(window, view);
        }
    }

    fn on_rate_sample(&mut self, window: &mut Window, view: &View, sample: &RateSample) {
        let state = &mut *self.0;
        state.update_cwnd(window, view, sample);
        state.update_alpha(window, view);
        state.update_rate(window, view);
        let small = u64::from(window.cwnd) * mtu(view) <= RATE_MODE_MTUS * MTU;
        state.keeps_rate = state.saw_ce && small;
        if state.keeps_rate {
            state.frac_cwnd = state.window_of_rate(view);
        } else {
            state.rate = state.rate_of_window(view);
        }
    }
}

#[cfg(test)]
#[path = "prague_tests.rs"]
mod tests;
