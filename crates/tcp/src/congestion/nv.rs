//! TCP-NV ("New Vegas"): Brakmo, "TCP-NV: an update to TCP-Vegas" (2010) as in Linux net/ipv4/tcp_nv.c
//! (7.2). Once a round trip the greatest rate seen and the least round trip give the window that
//! keeps no queue; a window more than `nv_pad` above it shrinks by 30 % of the excess, one
//! well below it may grow, once enough measurements have been made. A loss leaves 80 %.
//! Left out: base round trips from a BPF program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::window::INFINITE_SSTHRESH;
use super::{AckSample, CongestionControl, Growth, View, Window};
use crate::clock::Jiffies;
use crate::connection::{CaState, scramble};
use crate::seq::Seq;
use crate::stack::Stack;

/// Window that is never judged, segments (NV_MIN_CWND), and what it grows by while a round has
/// but one measurement, up to the bound (NV_MIN_CWND_GROW, NV_TSO_CWND_BOUND).
const LEAST_JUDGED: u32 = 4;
const LEAST_JUDGED_STEP: u32 = 2;
const LEAST_JUDGED_MAX: u32 = 80 + 1;
/// Distance from the greatest window within which it does not grow, segments (nv_pad_buffer).
const PAD_BUFFER: u32 = 2;
/// Part of the excess that goes, in 128ths (nv_cong_dec_mult).
const DECREASE: u32 = 30 * 128 / 100;
/// Weight of a new round trip, in 256ths (nv_rtt_factor).
const RTT_WEIGHT: u64 = 128;
/// Window left after a loss, in 1024ths (nv_loss_dec_factor).
const LOSS_FACTOR: u32 = 819;
/// Rounds without congestion until growth slowed by timeouts speeds up again
/// (nv_cwnd_growth_rate_neg).
const RECOVERY_ROUNDS: u32 = 8;
/// Measurements needed to shrink, to grow and to end slow start (nv_dec_eval_min_calls,
/// nv_inc_eval_min_calls, nv_ssthresh_eval_min_calls).
const CALLS_TO_SHRINK: u32 = 60;
const CALLS_TO_GROW: u32 = 20;
const CALLS_TO_END_SLOW_START: u32 = 30;
/// Round trips without judgement after which growth stops, and before congestion is believed
/// (nv_stop_rtt_cnt, nv_rtt_min_cnt).
const ROUNDS_TO_STOP: u32 = 10;
const ROUNDS_TO_BELIEVE: u32 = 2;

/// Parameters of TCP-NV, by their names in Linux net/ipv4/tcp_nv.c.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NvParameters {
    /// Segments that the window may keep queued.
    #[schemars(range(min = 2, max = 65535))]
    pub nv_pad: u32,
    /// The least round trip is forgotten after about this long, seconds.
    #[schemars(range(min = 1, max = 3600))]
    pub nv_reset_period: u32,
    /// The window does not shrink below this without a loss, segments.
    #[schemars(range(min = 2, max = 65535))]
    pub nv_min_cwnd: u32,
}

impl Default for NvParameters {
    fn default() -> NvParameters {
        NvParameters {
            nv_pad: 10,
            nv_reset_period: 5,
            nv_min_cwnd: 2,
        }
    }
}

/// TCP-NV's state.
#[derive(Clone, Debug)]
pub(crate) struct Nv(Box<State>);

#[derive(Clone, Debug)]
struct State {
    parameters: NvParameters,
    hz: u32,
    seed: u64,
    /// The least round trip, what it becomes at `reset_at`, and the average.
    rtt_min_us: u32,
    rtt_min_new_us: u32,
    reset_at: Jiffies,
    rtt_us: u32,
    /// Greatest rate since the last judgement, hundreds of bits a second.
    rate_max: u64,
    may_grow: bool,
    /// Begin anew once the state is Open.
    reset: bool,
    /// Growth is 2^-n of Reno's after n timeouts.
    slowness: u32,
    /// Rounds without congestion in a row.
    good_rounds: u32,
    /// Measurements and rounds since the last judgement.
    calls: u32,
    rounds: u32,
    /// Windows below this are not judged.
    least_judged: u32,
    round_end: Seq,
    last_una: Seq,
}

impl State {
    fn begin_anew(&mut self, view: &View) {
        self.reset = false;
        self.good_rounds = 0;
        self.rounds = 0;
        self.rtt_us = 0;
        self.rate_max = 0;
        self.round_end = view.snd_una;
        self.calls = 0;
        self.last_una = view.snd_una;
    }

    /// A measurement's rate and round trip.
    fn measure(&mut self, view: &View, rtt_us: u32, in_flight: u32) {
        let average = if self.rtt_us > 0 {
            ((u64::from(rtt_us) * RTT_WEIGHT + u64::from(self.rtt_us) * (256 - RTT_WEIGHT)) >> 8)
                as u32
        } else {
            self.rtt_min_us = rtt_us << 1;
            rtt_us
        };
        self.rtt_us = average;
        let bytes = u64::from(in_flight) * u64::from(view.mss);
        self.rate_max = self
            .rate_max
            .max(bytes * 80_000 / u64::from(average.max(1)));
        self.calls = (self.calls + 1).min(255);
        self.rtt_min_us = self.rtt_min_us.min(average);
        self.rtt_min_new_us = self.rtt_min_new_us.min(average);
        if view.now.wrapping_sub(self.reset_at) as i32 >= 0 {
            self.rtt_min_us = self.rtt_min_new_us;
            self.rtt_min_new_us = u32::MAX;
            self.seed = self.seed.wrapping_add(1);
            // Three to five quarters of the period.
            let random = 384 + u64::from(scramble(self.seed) as u8);
            let period = u64::from(self.parameters.nv_reset_period) * random * u64::from(self.hz);
            self.reset_at = view.now.wrapping_add((period >> 9) as Jiffies);
            self.least_judged = (self.least_judged / 2).max(LEAST_JUDGED);
        }
    }

    /// Once a round trip: shrink, grow or leave.
    fn judge(&mut self, window: &mut Window, view: &View) {
        let unit = 80_000 * u64::from(view.mss.max(1));
        let without_queue = (self.rate_max * u64::from(self.rtt_min_us) / unit) as u32;
        let most = without_queue + self.parameters.nv_pad;
        if window.cwnd > most {
            if self.rounds < ROUNDS_TO_BELIEVE {
                return;
            }
            let needed = if window.ssthresh == INFINITE_SSTHRESH {
                CALLS_TO_END_SLOW_START
            } else {
                CALLS_TO_SHRINK
            };
            if self.calls < needed {
                if needed == CALLS_TO_SHRINK && self.rounds > ROUNDS_TO_STOP {
                    self.may_grow = false;
                }
                return;
            }
            self.may_grow = false;
            window.ssthresh = most;
            let excess = window.cwnd - most;
            window.cwnd = if excess > 2 {
                window.cwnd - ((excess * DECREASE) >> 7).max(2)
            } else {
                most
            };
            self.good_rounds = 0;
        } else if window.cwnd + PAD_BUFFER <= most {
            if self.calls < CALLS_TO_GROW {
                return;
            }
            self.may_grow = true;
            self.good_rounds += 1;
            if self.slowness > 0 && self.good_rounds > RECOVERY_ROUNDS {
                self.slowness -= 1;
                self.good_rounds = 0;
            }
        } else {
            return;
        }
        self.calls = 0;
        self.rounds = 0;
        self.rate_max = 0;
        window.cwnd = window.cwnd.max(self.parameters.nv_min_cwnd);
    }
}

impl CongestionControl for Nv {
    fn new(stack: &Stack, seed: u64) -> Nv {
        Nv(Box::new(State {
            parameters: stack.nv.clone(),
            hz: stack.hz,
            seed,
            rtt_min_us: u32::MAX,
            rtt_min_new_us: u32::MAX,
            reset_at: 0,
            rtt_us: 0,
            rate_max: 0,
            may_grow: true,
            reset: false,
            slowness: 0,
            good_rounds: 0,
            calls: 0,
            rounds: 0,
            least_judged: LEAST_JUDGED,
            round_end: Seq(0),
            last_una: Seq(0),
        }))
    }

    fn init(&mut self, _window: &mut Window, view: &View) {
        self.0.begin_anew(view);
        self.0.reset_at = view.now.wrapping_add(2 * self.0.hz);
    }

    fn grow(&mut self, window: &mut Window, _view: &View, growth: Growth) {
        if !growth.cwnd_limited || !self.0.may_grow {
            return;
        }
        let left = window.slow_start_first(growth.acked);
        if left == 0 {
            return;
        }
        let per = if self.0.slowness > 0 {
            window.cwnd << self.0.slowness
        } else {
            window.cwnd.max(4)
        };
        window.additive_increase(per, left);
    }

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        (((u64::from(window.cwnd) * u64::from(LOSS_FACTOR)) >> 10) as u32).max(2)
    }

    fn set_state(&mut self, _window: &mut Window, view: &View, state: CaState) {
        let own = &mut *self.0;
        match state {
            CaState::Open if own.reset => own.begin_anew(view),
            CaState::Cwr | CaState::Recovery | CaState::Loss => {
                own.reset = true;
                own.may_grow = false;
                if state == CaState::Loss {
                    own.slowness = (own.slowness + 1).min(8);
                }
            }
            CaState::Open | CaState::Disorder => {}
        }
    }

    fn pkts_acked(&mut self, window: &mut Window, view: &View, sample: AckSample) {
        let own = &mut *self.0;
        let Some(rtt_us) = sample.rtt_us else { return };
        if view.state > CaState::Disorder {
            return;
        }
        let progress = view.snd_una - own.last_una;
        own.last_una = view.snd_una;
        if sample.in_flight == 0 {
            return;
        }
        own.measure(view, rtt_us, sample.in_flight);
        if !own.round_end.before(view.snd_una) {
            return;
        }
        own.round_end = view.snd_nxt;
        own.rounds = (own.rounds + 1).min(255);
        // One acknowledgement a round trip: offload or the interrupt's delay needs more in flight.
        if own.calls == 1
            && progress >= (own.least_judged - 1) * view.mss
            && own.least_judged < LEAST_JUDGED_MAX
        {
            own.least_judged = (own.least_judged + LEAST_JUDGED_STEP).min(LEAST_JUDGED_MAX);
            own.round_end = view.snd_nxt + own.least_judged * view.mss;
            own.calls = 0;
            own.may_grow = true;
            return;
        }
        own.judge(window, view);
    }
}
