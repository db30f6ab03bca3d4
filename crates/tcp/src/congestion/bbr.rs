//! BBR: Cardwell, Cheng, Gunn, Hassas Yeganeh, Jacobson, "BBR: congestion-based congestion control"
//! (ACM Queue 14(5), 2016) as in Linux net/ipv4/tcp_bbr.c (7.2), with its fixed-point
//! arithmetic. The greatest delivery rate of ten round trips and the least round trip of ten
//! seconds are the model; the pacing rate and a window of twice their product follow it.
//! STARTUP paces at 2.885 times the bandwidth until that has not grown by a quarter for
//! three rounds, DRAIN at the inverse until the queue is gone, PROBE_BW by cycles of 1.25, 0.75 and
//! six of 1, PROBE_RTT holds four segments for 200 ms when the round trip has not been renewed. Token
//! buckets are found by two lossy intervals of like bandwidth (`bbr_policer`).
//! Left out: nothing; the sender does what belongs to it (samples, pacing, app-limited).

use super::max_filter::MaxFilter;
use super::rate_model::{CWND_MIN, INITIAL_CWND, UNIT};
use super::window::INFINITE_SSTHRESH;
use super::{CongestionControl, CwndEvent, Growth, RateSample, View, Window};
use super::{bbr_policer, rate_model};
use crate::clock::{Jiffies, jiffies_of_us};
use crate::connection::{CaState, scramble};
use crate::stack::Stack;

/// Rounds that a bandwidth sample counts for (bbr_bw_rtts: a cycle and two).
const BANDWIDTH_ROUNDS: u32 = CYCLE.len() as u32 + 2;
/// How long a round trip counts for, seconds (bbr_min_rtt_win_sec).
const RTT_WINDOW_S: u32 = 10;
/// How long PROBE_RTT holds the window down, microseconds (bbr_probe_rtt_mode_ms).
const PROBE_RTT_US: u32 = 200_000;
/// 2 / ln 2, the least gain that doubles the rate each round (bbr_high_gain), and its inverse.
const HIGH_GAIN: u32 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
/// Gain of the window (bbr_cwnd_gain).
const CWND_GAIN: u32 = UNIT * 2;
/// Gains of a cycle (bbr_pacing_gain); it begins at any phase but the second.
const CYCLE: [u32; 8] = [
    UNIT * 5 / 4,
    UNIT * 3 / 4,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
    UNIT,
];
const CYCLE_STARTS: u64 = 7;
/// Growth that shows that the pipe is not full, and rounds without it that show it is
/// (bbr_full_bw_thresh, bbr_full_bw_cnt).
const FULL_GROWTH: u64 = 5 * UNIT as u64 / 4;
const FULL_ROUNDS: u32 = 3;
/// Rounds that half of the aggregation's window holds, segments after which an epoch begins
/// anew, and time that what was held back is believed for (bbr_extra_acked_win_rtts,
/// bbr_ack_epoch_acked_reset_thresh, bbr_extra_acked_max_us).
const AGGREGATION_ROUNDS: u32 = 5;
const AGGREGATION_EPOCH_MAX: u32 = 1 << 20;
const AGGREGATION_US: u64 = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR.
#[derive(Clone, Debug)]
pub(crate) struct Bbr(Box<State>);

#[derive(Clone, Debug)]
pub(super) struct State {
    hz: u32,
    random: u64,
    pub(super) mode: Mode,
    rtt_min_us: u32,
    rtt_min_at: Jiffies,
    /// When PROBE_RTT may end, once the window is down; and whether a round has passed since.
    probe_rtt_until: Option<Jiffies>,
    probe_rtt_round: bool,
    bandwidth: MaxFilter,
    rounds: u32,
    /// The round ends when what was sent at this count of delivered segments is acknowledged.
    round_end: u32,
    pub(super) round_start: bool,
    /// Begin of the cycle's phase.
    phase_us: u64,
    phase: usize,
    pub(super) pacing_gain: u32,
    cwnd_gain: u32,
    /// What came before this acknowledgement.
    state_before: CaState,
    conserving: bool,
    idle_restart: bool,
    seen_rtt: bool,
    full: bool,
    full_rounds: u32,
    full_bandwidth: u32,
    /// The window before recovery or PROBE_RTT.
    saved_cwnd: u32,
    /// What was acknowledged beyond the bandwidth, in two windows; and the epoch measured.
    extra: [u32; 2],
    extra_index: usize,
    extra_rounds: u32,
    epoch_us: u64,
    epoch_acked: u32,
    pub(super) policer: bbr_policer::Policer,
}

impl State {
    /// The bandwidth that is believed (bbr_bw).
    fn bandwidth(&self) -> u32 {
        self.policer.bandwidth().unwrap_or(self.bandwidth.get())
    }

    fn set_pacing_rate(&mut self, window: &mut Window, view: &View, gain: u32) {
        let rate = rate_model::pacing_rate(self.bandwidth(), gain, view.mss);
        if !self.seen_rtt && view.srtt_us8 > 0 {
            self.first_pacing_rate(window, view);
        }
        let rate = rate.min(window.pacing_rate_max);
        if self.full || rate > window.pacing_rate {
            window.pacing_rate = rate;
        }
    }

    /// The window in a round trip, with the gain of STARTUP; a millisecond while none is known.
    fn first_pacing_rate(&mut self, window: &mut Window, view: &View) {
        let rtt_us = if view.srtt_us8 > 0 {
            self.seen_rtt = true;
            (view.srtt_us8 >> 3).max(1)
        } else {
            1000
        };
        let bandwidth = rate_model::bandwidth(window.cwnd, u64::from(rtt_us));
        let rate = rate_model::pacing_rate(bandwidth, HIGH_GAIN, view.mss);
        window.pacing_rate = rate.min(window.pacing_rate_max);
    }

    fn save_cwnd(&mut self, cwnd: u32) {
        let good = self.state_before < CaState::Recovery && self.mode != Mode::ProbeRtt;
        self.saved_cwnd = if good {
            cwnd
        } else {
            self.saved_cwnd.max(cwnd)
        };
    }

    /// Room for what hosts hold, an even number, and in the first phase two more
    /// (bbr_quantization_budget).
    fn with_budget(&self, cwnd: u32, window: &Window, view: &View) -> u32 {
        let cwnd = cwnd + 3 * rate_model::tso_segs(window.pacing_rate, view);
        let even = (cwnd + 1) & !1;
        if self.mode == Mode::ProbeBw && self.phase == 0 {
            even + 2
        } else {
            even
        }
    }

    fn inflight(&self, gain: u32, window: &Window, view: &View) -> u32 {
        let bdp = rate_model::bdp(self.bandwidth.get(), self.rtt_min_us, gain);
        self.with_budget(bdp, window, view)
    }

    /// What will be in the network when the next packet departs (bbr_packets_in_net_at_edt).
    fn in_network(&self, in_flight: u32, ahead_us: u32, window: &Window, view: &View) -> u32 {
        let delivered = rate_model::delivered_in(self.bandwidth(), u64::from(ahead_us));
        let departing = if self.pacing_gain > UNIT {
            rate_model::tso_segs(window.pacing_rate, view)
        } else {
            0
        };
        (in_flight + departing).saturating_sub(delivered)
    }

    fn update_bandwidth(&mut self, view: &View, sample: &RateSample) {
        self.round_start = false;
        if sample.delivered < 0 || sample.interval_us <= 0 {
            return;
        }
        if sample.prior_delivered.wrapping_sub(self.round_end) as i32 >= 0 {
            self.round_end = view.delivered;
            self.rounds = self.rounds.wrapping_add(1);
            self.round_start = true;
            self.conserving = false;
        }
        if self.watch_policer(view, sample.losses, sample.is_app_limited) {
            self.enter_probe_bw(view);
        }
        let bandwidth = rate_model::bandwidth(sample.delivered as u32, sample.interval_us as u64);
        if !sample.is_app_limited || bandwidth >= self.bandwidth.get() {
            self.bandwidth
                .update(BANDWIDTH_ROUNDS, self.rounds, bandwidth);
        }
    }

    /// Looks for a token bucket; true if the bandwidth found for one is believed no longer.
    fn watch_policer(&mut self, view: &View, losses: u32, app_limited: bool) -> bool {
        let probing = self.mode == Mode::ProbeBw;
        let was_found = self.policer.bandwidth().is_some();
        let given_up = self
            .policer
            .watch(view, losses, app_limited, self.round_start, probing);
        if !was_found && self.policer.bandwidth().is_some() {
            self.pacing_gain = UNIT;
        }
        given_up
    }

    /// bbr_update_ack_aggregation.
    fn update_aggregation(&mut self, cwnd: u32, view: &View, sample: &RateSample) {
        if sample.acked_sacked == 0 || sample.delivered < 0 || sample.interval_us <= 0 {
            return;
        }
        if self.round_start {
            self.extra_rounds = (self.extra_rounds + 1).min(31);
            if self.extra_rounds >= AGGREGATION_ROUNDS {
                self.extra_rounds = 0;
                self.extra_index ^= 1;
                self.extra[self.extra_index] = 0;
            }
        }
        let epoch_us = view.delivered_us.saturating_sub(self.epoch_us);
        let mut expected = rate_model::delivered_in(self.bandwidth(), epoch_us);
        if self.epoch_acked <= expected
            || self.epoch_acked + sample.acked_sacked >= AGGREGATION_EPOCH_MAX
        {
            self.epoch_acked = 0;
            self.epoch_us = view.delivered_us;
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + sample.acked_sacked).min(AGGREGATION_EPOCH_MAX - 1);
        let extra = (self.epoch_acked - expected).min(cwnd).min(0xffff);
        let greatest = &mut self.extra[self.extra_index];
        *greatest = (*greatest).max(extra);
    }

    /// The window's part for what is acknowledged in clumps.
    fn aggregation_cwnd(&self) -> u32 {
        if !self.full {
            return 0;
        }
        let most = rate_model::delivered_in(self.bandwidth(), AGGREGATION_US);
        self.extra[0].max(self.extra[1]).min(most)
    }

    /// bbr_is_next_cycle_phase.
    fn phase_is_over(&self, window: &Window, view: &View, sample: &RateSample) -> bool {
        let full_length =
            view.delivered_us.saturating_sub(self.phase_us) > u64::from(self.rtt_min_us);
        if self.pacing_gain == UNIT {
            return full_length;
        }
        let in_flight = sample.prior_in_flight;
        let in_network = self.in_network(in_flight, sample.departure_ahead_us, window, view);
        if self.pacing_gain > UNIT {
            let enough = in_network >= self.inflight(self.pacing_gain, window, view);
            full_length && (sample.losses > 0 || enough)
        } else {
            full_length || in_network <= self.inflight(UNIT, window, view)
        }
    }

    fn next_phase(&mut self, view: &View) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_us = view.delivered_us;
    }

    fn enter_probe_bw(&mut self, view: &View) {
        self.mode = Mode::ProbeBw;
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let start = ((scramble(self.random) >> 32) * CYCLE_STARTS) >> 32;
        self.phase = CYCLE.len() - 1 - start as usize;
        self.next_phase(view);
    }

    fn check_full(&mut self, sample: &RateSample) {
        if self.full || !self.round_start || sample.is_app_limited {
            return;
        }
        let threshold = (u64::from(self.full_bandwidth) * FULL_GROWTH) >> 8;
        if u64::from(self.bandwidth.get()) >= threshold {
            self.full_bandwidth = self.bandwidth.get();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    fn check_drain(&mut self, window: &mut Window, view: &View, sample: &RateSample) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight(UNIT, window, view);
        }
        if self.mode == Mode::Drain {
            let ahead = sample.departure_ahead_us;
            let in_network = self.in_network(view.in_flight, ahead, window, view);
            if in_network <= self.inflight(UNIT, window, view) {
                self.enter_probe_bw(view);
            }
        }
    }

    fn check_probe_rtt_done(&mut self, window: &mut Window, view: &View) {
        let over = |until: Jiffies| view.now.wrapping_sub(until) as i32 > 0;
        if !self.probe_rtt_until.is_some_and(over) {
            return;
        }
        self.rtt_min_at = view.now;
        window.cwnd = window.cwnd.max(self.saved_cwnd);
        if self.full {
            self.enter_probe_bw(view);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn update_rtt_min(&mut self, window: &mut Window, view: &View, sample: &RateSample) {
        let age = view.now.wrapping_sub(self.rtt_min_at) as i32;
        let expired = age > (RTT_WINDOW_S * self.hz) as i32;
        if let Some(rtt_us) = sample.rtt_us
            && (rtt_us < self.rtt_min_us || (expired && !sample.is_ack_delayed))
        {
            self.rtt_min_us = rtt_us;
            self.rtt_min_at = view.now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window.cwnd);
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            window.mark_app_limited = true;
            if self.probe_rtt_until.is_none() {
                if view.in_flight <= CWND_MIN {
                    let length = jiffies_of_us(PROBE_RTT_US, self.hz);
                    self.probe_rtt_until = Some(view.now.wrapping_add(length));
                    self.probe_rtt_round = false;
                    self.round_end = view.delivered;
                }
            } else {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round {
                    self.check_probe_rtt_done(window, view);
                }
            }
        }
        if sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.bandwidth().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    /// What recovery leaves of the window, and whether that is all: in its first round as many
    /// segments leave as are delivered (bbr_set_cwnd_to_recover_or_restore).
    fn recover(&mut self, window: &Window, view: &View, sample: &RateSample) -> (u32, bool) {
        let mut cwnd = window.cwnd;
        let acked = sample.acked_sacked;
        if sample.losses > 0 {
            cwnd = cwnd.saturating_sub(sample.losses).max(1);
        }
        if view.state == CaState::Recovery && self.state_before != CaState::Recovery {
            self.conserving = true;
            self.round_end = view.delivered;
            cwnd = view.in_flight + acked;
        } else if self.state_before >= CaState::Recovery && view.state < CaState::Recovery {
            cwnd = cwnd.max(self.saved_cwnd);
            self.conserving = false;
        }
        self.state_before = view.state;
        if self.conserving {
            (cwnd.max(view.in_flight + acked), true)
        } else {
            (cwnd, false)
        }
    }

    fn set_cwnd(&mut self, window: &mut Window, view: &View, sample: &RateSample) {
        let acked = sample.acked_sacked;
        let mut cwnd = window.cwnd;
        if acked > 0 {
            let (recovering, settled) = self.recover(window, view, sample);
            cwnd = recovering;
            if !settled {
                let bdp = rate_model::bdp(self.bandwidth(), self.rtt_min_us, self.cwnd_gain);
                let target = self.with_budget(bdp + self.aggregation_cwnd(), window, view);
                if self.full {
                    cwnd = (cwnd + acked).min(target);
                } else if cwnd < target || view.delivered < INITIAL_CWND {
                    cwnd += acked;
                }
                cwnd = cwnd.max(CWND_MIN);
            }
        }
        window.cwnd = cwnd.min(window.cwnd_clamp);
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(CWND_MIN);
        }
    }
}

impl CongestionControl for Bbr {
    fn new(stack: &Stack, seed: u64) -> Bbr {
        Bbr(Box::new(State {
            hz: stack.hz,
            random: seed,
            mode: Mode::Startup,
            rtt_min_us: u32::MAX,
            rtt_min_at: 0,
            probe_rtt_until: None,
            probe_rtt_round: false,
            bandwidth: MaxFilter::default(),
            rounds: 0,
            round_end: 0,
            round_start: false,
            phase_us: 0,
            phase: 0,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            state_before: CaState::Open,
            conserving: false,
            idle_restart: false,
            seen_rtt: false,
            full: false,
            full_rounds: 0,
            full_bandwidth: 0,
            saved_cwnd: 0,
            extra: [0; 2],
            extra_index: 0,
            extra_rounds: 0,
            epoch_us: 0,
            epoch_acked: 0,
            policer: bbr_policer::Policer::default(),
        }))
    }

    fn init(&mut self, window: &mut Window, view: &View) {
        let own = &mut *self.0;
        window.ssthresh = INFINITE_SSTHRESH;
        own.round_end = view.delivered;
        own.rtt_min_us = view.min_rtt_us;
        own.rtt_min_at = view.now;
        own.epoch_us = view.now_us;
        own.policer.reset(view);
        own.first_pacing_rate(window, view);
    }

    fn grow(&mut self, _window: &mut Window, _view: &View, _growth: Growth) {}

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        self.0.save_cwnd(window.cwnd);
        window.ssthresh
    }

    fn undo_cwnd(&mut self, window: &Window, view: &View) -> u32 {
        self.0.full_bandwidth = 0;
        self.0.full_rounds = 0;
        self.0.policer.reset(view);
        window.cwnd
    }

    fn set_state(&mut self, _window: &mut Window, view: &View, state: CaState) {
        let own = &mut *self.0;
        if state == CaState::Loss {
            own.state_before = CaState::Loss;
            own.full_bandwidth = 0;
            own.round_start = true;
            if own.watch_policer(view, 1, false) {
                own.enter_probe_bw(view);
            }
        }
    }

    fn cwnd_event(&mut self, window: &mut Window, view: &View, event: CwndEvent) {
        if event != CwndEvent::TxStart || !view.app_limited {
            return;
        }
        let own = &mut *self.0;
        own.idle_restart = true;
        own.epoch_us = view.now_us;
        own.epoch_acked = 0;
        match own.mode {
            Mode::ProbeBw => own.set_pacing_rate(window, view, UNIT),
            Mode::ProbeRtt => own.check_probe_rtt_done(window, view),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_rate_sample(&mut self, window: &mut Window, view: &View, sample: &RateSample) {
        let own = &mut *self.0;
        own.update_bandwidth(view, sample);
        own.update_aggregation(window.cwnd, view, sample);
        if own.mode == Mode::ProbeBw && own.phase_is_over(window, view, sample) {
            own.next_phase(view);
        }
        own.check_full(sample);
        own.check_drain(window, view, sample);
        own.update_rtt_min(window, view, sample);
        own.update_gains();
        own.set_pacing_rate(window, view, own.pacing_gain);
        own.set_cwnd(window, view, sample);
    }

    fn min_tso_segs(&self, window: &Window) -> Option<u32> {
        Some(rate_model::min_tso_segs(window.pacing_rate))
    }

    fn sndbuf_expand(&self) -> u32 {
        3
    }
}

#[cfg(test)]
#[path = "bbr_tests.rs"]
mod tests;
