//! BBR version 3: draft-ietf-ccwg-bbr (August 2026), volumes in segments. Like BBR it paces by a
//! model of bandwidth and round trip; beside these the model has the most that was in flight
//! without too much loss (long term) and what was delivered in rounds with loss (short term). It
//! probes for bandwidth every two to three seconds, or as often as Reno would: one round to refill
//! the pipe, then faster and faster until the rate grows no more or more than 2 % are lost.
//! Departures: losses are judged once per acknowledgement that finds some, by the sample of
//! what it acknowledges, where the draft judges every lost packet by its own sending; so in
//! STARTUP it is acknowledgements that find losses that are counted, as Linux's implementations do,
//! where the draft counts ranges. The window counts as fully used when less than a packet
//! of offload is missing. Left out: ECN (the draft leaves it open). The model's part is in
//! `bbr3_model`.

use super::bbr3_model::{INFINITE, Model, Phase};
use super::rate_model::{self, CWND_MIN, INITIAL_CWND, UNIT};
use super::window::INFINITE_SSTHRESH;
use super::{CongestionControl, CwndEvent, Growth, RateSample, View, Window};
use crate::connection::{CaState, scramble};
use crate::stack::Stack;

/// Least gain that doubles the rate each round, 4 ln 2 (StartupPacingGain).
const STARTUP_GAIN: u32 = UNIT * 277 / 100;
/// DrainPacingGain, and the gains of ProbeBW_DOWN and ProbeBW_UP.
const DRAIN_GAIN: u32 = UNIT / 2;
const DOWN_GAIN: u32 = UNIT * 90 / 100;
const UP_GAIN: u32 = UNIT * 125 / 100;
/// Gains of the window: DefaultCwndGain, in ProbeBW_UP, and ProbeRTTCwndGain.
const CWND_GAIN: u32 = 2 * UNIT;
const UP_CWND_GAIN: u32 = UNIT * 225 / 100;
const PROBE_RTT_CWND_GAIN: u32 = UNIT / 2;
/// Rounds that DRAIN lasts at most.
const DRAIN_ROUNDS: u32 = 3;
/// Growth that shows that the pipe is not full, in 256ths, and rounds without it.
const FULL_GROWTH: u64 = 5 * UNIT as u64 / 4;
const FULL_ROUNDS: u32 = 3;
/// Acknowledgements that find losses in a round which end STARTUP (BBRStartupFullLossCnt).
const STARTUP_LOSSES: u32 = 6;
/// MinRTTFilterLen, ProbeRTTInterval and ProbeRTTDuration, microseconds.
const RTT_WINDOW_US: u64 = 10_000_000;
const PROBE_RTT_INTERVAL_US: u64 = 5_000_000;
const PROBE_RTT_US: u64 = 200_000;
/// Least wait between probes for bandwidth, and its random part, microseconds.
const PROBE_WAIT_US: u64 = 2_000_000;
const PROBE_WAIT_RANDOM_US: u64 = 1_000_000;
/// Rounds after which Reno's coexistence asks for a probe at the latest.
const RENO_ROUNDS_MAX: u32 = 63;

/// What acknowledgements tell of probing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// BBR version 3.
#[derive(Clone, Debug)]
pub(crate) struct Bbr3(Box<State>);

#[derive(Clone, Debug)]
struct State {
    random: u64,
    phase: Phase,
    ack_phase: AckPhase,
    model: Model,
    pacing_gain: u32,
    cwnd_gain: u32,
    /// Full-pipe detection.
    full_reached: bool,
    full_now: bool,
    full_bandwidth: u32,
    full_rounds: u32,
    drain_round: u32,
    /// The cycle's begin and how long it waits.
    cycle_us: u64,
    wait_us: u64,
    rounds_since_probe: u32,
    /// Growth of the long-term bound.
    up_rounds: u32,
    up_acked: u32,
    up_acked_per_inc: u32,
    probing_sample: bool,
    probe_too_high: bool,
    probe_precautionary: bool,
    /// PROBE_RTT.
    rtt_min_at_us: u64,
    probe_rtt_delay_us: u32,
    probe_rtt_at_us: u64,
    probe_rtt_expired: bool,
    probe_rtt_until_us: Option<u64>,
    probe_rtt_round: bool,
    idle_restart: bool,
    seen_rtt: bool,
    state_before: CaState,
    recovery_round: u32,
    saved_cwnd: u32,
    undo_phase: Option<Phase>,
    undo: (u32, u32, u32),
}

impl State {
    fn random_below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        ((scramble(self.random) >> 32) * bound) >> 32
    }

    fn in_probe_bw(&self) -> bool {
        use Phase::{Cruise, Down, Refill, Up};
        matches!(self.phase, Down | Cruise | Refill | Up)
    }

    fn probing_bandwidth(&self) -> bool {
        matches!(self.phase, Phase::Startup | Phase::Refill | Phase::Up)
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        (self.pacing_gain, self.cwnd_gain) = match phase {
            Phase::Startup => (STARTUP_GAIN, CWND_GAIN),
            Phase::Drain => (DRAIN_GAIN, CWND_GAIN),
            Phase::Down => (DOWN_GAIN, CWND_GAIN),
            Phase::Cruise | Phase::Refill => (UNIT, CWND_GAIN),
            Phase::Up => (UP_GAIN, UP_CWND_GAIN),
            Phase::ProbeRtt => (UNIT, PROBE_RTT_CWND_GAIN),
        };
    }

    fn reset_full(&mut self) {
        self.full_bandwidth = 0;
        self.full_rounds = 0;
        self.full_now = false;
    }

    fn start_down(&mut self, view: &View) {
        self.model.reset_congestion_signals();
        self.up_acked_per_inc = INFINITE;
        self.rounds_since_probe = self.random_below(2) as u32;
        self.wait_us = PROBE_WAIT_US + self.random_below(PROBE_WAIT_RANDOM_US);
        self.cycle_us = view.now_us;
        self.ack_phase = AckPhase::Stopping;
        self.model.start_round(view);
        self.enter(Phase::Down);
    }

    fn start_refill(&mut self, view: &View) {
        self.model.reset_short_term();
        self.up_rounds = 0;
        self.up_acked = 0;
        self.probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.model.start_round(view);
        self.enter(Phase::Refill);
    }

    fn start_up(&mut self, window: &Window, view: &View) {
        self.ack_phase = AckPhase::Starting;
        self.model.start_round(view);
        self.reset_full();
        self.full_bandwidth = self.model.sample_bandwidth;
        self.enter(Phase::Up);
        self.steepen(window);
    }

    /// The long-term bound grows twice as fast each round (RaiseInflightLongtermSlope).
    fn steepen(&mut self, window: &Window) {
        let growth = 1_u32 << self.up_rounds;
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_acked_per_inc = (window.cwnd / growth).max(1);
    }

    /// The window in full use, but for a packet of offload that may be waiting.
    fn cwnd_limited(window: &Window, view: &View, sample: &RateSample) -> bool {
        let quantum = rate_model::tso_segs(window.pacing_rate, view);
        sample.prior_in_flight + quantum >= window.cwnd
    }

    /// With the offload's budget, the least for pipelining and what UP adds.
    fn with_budget(&self, inflight: u32, window: &Window, view: &View) -> u32 {
        let budget = 3 * rate_model::tso_segs(window.pacing_rate, view);
        let up = if self.phase == Phase::Up { 2 } else { 0 };
        inflight.max(budget).max(CWND_MIN) + up
    }

    fn inflight(&self, bandwidth: u32, gain: u32, window: &Window, view: &View) -> u32 {
        let bdp = rate_model::bdp(bandwidth, self.model.rtt_min_us, gain);
        self.with_budget(bdp, window, view)
    }

    fn probe_rtt_cwnd(&self) -> u32 {
        let rtt_us = self.model.rtt_min_us;
        rate_model::bdp(self.model.bandwidth, rtt_us, PROBE_RTT_CWND_GAIN).max(CWND_MIN)
    }

    fn target_inflight(&self, window: &Window) -> u32 {
        rate_model::bdp(self.model.bandwidth, self.model.rtt_min_us, UNIT).min(window.cwnd)
    }

    fn check_full(&mut self, sample: &RateSample) {
        if self.full_now || !self.model.round_start || sample.is_app_limited {
            return;
        }
        let bandwidth = self.model.sample_bandwidth;
        if u64::from(bandwidth) >= (u64::from(self.full_bandwidth) * FULL_GROWTH) >> 8 {
            self.reset_full();
            self.full_bandwidth = bandwidth;
            return;
        }
        self.full_rounds += 1;
        self.full_now = self.full_rounds >= FULL_ROUNDS;
        self.full_reached |= self.full_now;
    }

    fn check_startup(&mut self, view: &View, sample: &RateSample) {
        if self.phase != Phase::Startup {
            return;
        }
        let recovering = view.state == CaState::Recovery
            && self.model.rounds.wrapping_sub(self.recovery_round) >= 1;
        let lossy = self.model.losses_in_round >= STARTUP_LOSSES && Model::is_too_high(sample);
        if recovering && lossy && !self.full_reached {
            self.undo_phase = Some(Phase::Startup);
            self.full_reached = true;
            let bdp = rate_model::bdp(self.model.max_bandwidth(), self.model.rtt_min_us, UNIT);
            self.model.inflight_long = bdp.max(self.model.inflight_latest);
        }
        if self.full_reached {
            self.enter(Phase::Drain);
            self.drain_round = self.model.rounds;
        }
    }

    fn check_drain(&mut self, window: &Window, view: &View) {
        if self.phase != Phase::Drain {
            return;
        }
        let bandwidth = self.model.bandwidth;
        let drained = view.in_flight <= self.inflight(bandwidth, UNIT, window, view);
        let rounds = self.model.rounds.wrapping_sub(self.drain_round);
        if drained || rounds > DRAIN_ROUNDS {
            self.start_down(view);
        }
    }

    fn too_high(&mut self, window: &Window, view: &View, sample: &RateSample) {
        self.probe_too_high = true;
        self.probing_sample = false;
        if !sample.is_app_limited {
            let least = self.model.reduced(self.target_inflight(window));
            self.model.inflight_long = sample.tx_in_flight.max(least);
        }
        if self.phase == Phase::Up {
            self.undo_phase = Some(Phase::Up);
            self.start_down(view);
        }
    }

    /// AdaptLongTermModel; true if it has changed the phase.
    fn adapt_long_term(&mut self, window: &Window, view: &View, sample: &RateSample) -> bool {
        if self.model.round_start {
            match self.ack_phase {
                AckPhase::Starting => self.ack_phase = AckPhase::Feedback,
                AckPhase::Stopping => {
                    self.probing_sample = false;
                    self.ack_phase = AckPhase::Init;
                    if self.in_probe_bw() {
                        if !sample.is_app_limited {
                            self.model.advance_max_filter();
                        }
                        if self.probe_precautionary && !self.probe_too_high {
                            self.start_refill(view);
                            return true;
                        }
                    }
                }
                AckPhase::Init | AckPhase::Refilling | AckPhase::Feedback => {}
            }
        }
        if Model::is_too_high(sample) || self.model.inflight_long == INFINITE {
            return false;
        }
        self.model.inflight_long = self.model.inflight_long.max(sample.tx_in_flight);
        if self.phase == Phase::Up {
            self.grow_long_term(window, view, sample);
        }
        false
    }

    /// ProbeInflightLongtermUpward.
    fn grow_long_term(&mut self, window: &Window, view: &View, sample: &RateSample) {
        if !Self::cwnd_limited(window, view, sample) || window.cwnd < self.model.inflight_long {
            return;
        }
        self.up_acked += sample.acked_sacked;
        let more = self.up_acked / self.up_acked_per_inc;
        self.up_acked %= self.up_acked_per_inc;
        self.model.inflight_long = self.model.inflight_long.saturating_add(more);
        if self.model.round_start {
            self.steepen(window);
        }
    }

    fn update_cycle(&mut self, window: &Window, view: &View, sample: &RateSample) {
        if !self.full_reached || self.adapt_long_term(window, view, sample) {
            return;
        }
        let phase = self.phase;
        match phase {
            Phase::Down | Phase::Cruise => {
                if self.is_time_to_probe(window, view) {
                    self.start_refill(view);
                } else if self.phase == Phase::Down && self.is_time_to_cruise(window, view) {
                    self.enter(Phase::Cruise);
                }
            }
            Phase::Refill if self.model.round_start => {
                self.probing_sample = true;
                self.start_up(window, view);
            }
            Phase::Up if self.is_time_to_go_down(window, view, sample) => {
                self.probe_too_high = false;
                self.start_down(view);
            }
            _ => {}
        }
    }

    fn is_time_to_probe(&self, window: &Window, view: &View) -> bool {
        let reno_rounds = self.target_inflight(window).min(RENO_ROUNDS_MAX);
        view.now_us > self.cycle_us + self.wait_us || self.rounds_since_probe >= reno_rounds
    }

    fn is_time_to_cruise(&self, window: &Window, view: &View) -> bool {
        let bandwidth = self.model.max_bandwidth();
        view.in_flight <= self.model.with_headroom()
            && view.in_flight <= self.inflight(bandwidth, UNIT, window, view)
    }

    fn is_time_to_go_down(&mut self, window: &Window, view: &View, sample: &RateSample) -> bool {
        if self.probe_too_high && view.in_flight >= self.model.inflight_long {
            self.probe_precautionary = true;
            return true;
        }
        let limited = Self::cwnd_limited(window, view, sample);
        if limited && window.cwnd >= self.model.inflight_long {
            self.reset_full();
            self.full_bandwidth = self.model.sample_bandwidth;
            return false;
        }
        self.full_now
    }

    fn update_rtt_min(&mut self, view: &View, sample: &RateSample) {
        self.probe_rtt_expired = view.now_us > self.probe_rtt_at_us + PROBE_RTT_INTERVAL_US;
        if let Some(rtt_us) = sample.rtt_us
            && (rtt_us < self.probe_rtt_delay_us || self.probe_rtt_expired)
        {
            self.probe_rtt_delay_us = rtt_us;
            self.probe_rtt_at_us = view.now_us;
        }
        let expired = view.now_us > self.rtt_min_at_us + RTT_WINDOW_US;
        if self.probe_rtt_delay_us < self.model.rtt_min_us || expired {
            self.model.rtt_min_us = self.probe_rtt_delay_us;
            self.rtt_min_at_us = self.probe_rtt_at_us;
        }
    }

    fn check_probe_rtt(&mut self, window: &mut Window, view: &View, sample: &RateSample) {
        if self.phase != Phase::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd(window.cwnd);
            self.enter(Phase::ProbeRtt);
            self.probe_rtt_until_us = None;
            self.ack_phase = AckPhase::Stopping;
            self.model.start_round(view);
        }
        if self.phase == Phase::ProbeRtt {
            window.mark_app_limited = true;
            if self.probe_rtt_until_us.is_none() {
                if view.in_flight <= self.probe_rtt_cwnd() {
                    self.probe_rtt_until_us = Some(view.now_us + PROBE_RTT_US);
                    self.probe_rtt_round = false;
                    self.model.start_round(view);
                }
            } else {
                self.probe_rtt_round |= self.model.round_start;
                if self.probe_rtt_round {
                    self.check_probe_rtt_done(window, view);
                }
            }
        }
        if sample.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, window: &mut Window, view: &View) {
        if self.probe_rtt_until_us.is_none_or(|at| view.now_us <= at) {
            return;
        }
        self.probe_rtt_at_us = view.now_us;
        window.cwnd = window.cwnd.max(self.saved_cwnd);
        self.model.reset_short_term();
        if self.full_reached {
            self.start_down(view);
            self.enter(Phase::Cruise);
        } else {
            self.enter(Phase::Startup);
        }
    }

    fn save_cwnd(&mut self, cwnd: u32) {
        let good = self.state_before < CaState::Recovery && self.phase != Phase::ProbeRtt;
        self.saved_cwnd = if good {
            cwnd
        } else {
            self.saved_cwnd.max(cwnd)
        };
    }

    /// SaveStateUponLoss.
    fn save_for_undo(&mut self, cwnd: u32) {
        self.save_cwnd(cwnd);
        self.undo_phase = None;
        self.undo = self.model.bounds();
    }

    fn set_pacing_rate(&mut self, window: &mut Window, view: &View, gain: u32) {
        if !self.seen_rtt && view.srtt_us8 > 0 {
            self.first_pacing_rate(window, view);
        }
        let rate = rate_model::pacing_rate(self.model.bandwidth, gain, view.mss);
        let rate = rate.min(window.pacing_rate_max);
        if self.full_reached || rate > window.pacing_rate {
            window.pacing_rate = rate;
        }
    }

    fn first_pacing_rate(&mut self, window: &mut Window, view: &View) {
        self.seen_rtt = view.srtt_us8 > 0;
        let rtt_us = if self.seen_rtt {
            (view.srtt_us8 >> 3).max(1)
        } else {
            1000
        };
        let bandwidth = rate_model::bandwidth(window.cwnd, u64::from(rtt_us));
        let rate = rate_model::pacing_rate(bandwidth, STARTUP_GAIN, view.mss);
        window.pacing_rate = rate.min(window.pacing_rate_max);
    }

    fn set_cwnd(&mut self, window: &mut Window, view: &View, sample: &RateSample) {
        let recovered = self.state_before >= CaState::Recovery && view.state < CaState::Recovery;
        if recovered {
            window.cwnd = window.cwnd.max(self.saved_cwnd);
        }
        self.state_before = view.state;
        let bdp = rate_model::bdp(self.model.bandwidth, self.model.rtt_min_us, self.cwnd_gain);
        let most = self.with_budget(bdp + self.model.extra_acked.get(), window, view);
        let acked = sample.acked_sacked;
        if self.full_reached {
            window.cwnd = (window.cwnd + acked).min(most);
        } else if window.cwnd < most || view.delivered < INITIAL_CWND {
            window.cwnd += acked;
        }
        window.cwnd = window.cwnd.max(CWND_MIN);
        if self.phase == Phase::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_cwnd());
        }
        let bound = match self.phase {
            Phase::Down | Phase::Refill | Phase::Up => self.model.inflight_long,
            Phase::ProbeRtt | Phase::Cruise => self.model.with_headroom(),
            Phase::Startup | Phase::Drain => INFINITE,
        };
        let bound = bound.min(self.model.inflight_short).max(CWND_MIN);
        window.cwnd = window.cwnd.min(bound).min(window.cwnd_clamp);
    }
}

impl CongestionControl for Bbr3 {
    fn new(_stack: &Stack, seed: u64) -> Bbr3 {
        Bbr3(Box::new(State {
            random: seed,
            phase: Phase::Startup,
            ack_phase: AckPhase::Init,
            model: Model::new(),
            pacing_gain: STARTUP_GAIN,
            cwnd_gain: CWND_GAIN,
            full_reached: false,
            full_now: false,
            full_bandwidth: 0,
            full_rounds: 0,
            drain_round: 0,
            cycle_us: 0,
            wait_us: 0,
            rounds_since_probe: 0,
            up_rounds: 0,
            up_acked: 0,
            up_acked_per_inc: INFINITE,
            probing_sample: false,
            probe_too_high: false,
            probe_precautionary: false,
            rtt_min_at_us: 0,
            probe_rtt_delay_us: INFINITE,
            probe_rtt_at_us: 0,
            probe_rtt_expired: false,
            probe_rtt_until_us: None,
            probe_rtt_round: false,
            idle_restart: false,
            seen_rtt: false,
            state_before: CaState::Open,
            recovery_round: 0,
            saved_cwnd: 0,
            undo_phase: None,
            undo: (0, 0, 0),
        }))
    }

    fn init(&mut self, window: &mut Window, view: &View) {
        let own = &mut *self.0;
        window.ssthresh = INFINITE_SSTHRESH;
        if view.srtt_us8 > 0 {
            own.model.rtt_min_us = view.srtt_us8 >> 3;
        }
        own.rtt_min_at_us = view.now_us;
        own.probe_rtt_at_us = view.now_us;
        own.model.begin(view);
        own.first_pacing_rate(window, view);
    }

    fn grow(&mut self, _window: &mut Window, _view: &View, _growth: Growth) {}

    fn ssthresh(&mut self, window: &Window, _view: &View) -> u32 {
        self.0.save_for_undo(window.cwnd);
        window.ssthresh
    }

    fn set_state(&mut self, _window: &mut Window, view: &View, state: CaState) {
        if state == CaState::Recovery && view.state != CaState::Recovery {
            self.0.recovery_round = self.0.model.rounds;
        }
    }

    /// The recovery was needless: what it took is given back.
    fn undo_cwnd(&mut self, window: &Window, view: &View) -> u32 {
        let own = &mut *self.0;
        own.reset_full();
        own.model.restore(own.undo);
        let undo = own.undo_phase.take();
        if own.phase != Phase::ProbeRtt {
            match undo {
                Some(Phase::Startup) if own.phase != Phase::Startup => {
                    own.full_reached = false;
                    own.enter(Phase::Startup);
                }
                Some(Phase::Up) if own.phase != Phase::Up => own.start_refill(view),
                _ => {}
            }
        } else if undo == Some(Phase::Startup) {
            own.full_reached = false;
        }
        window.cwnd.max(own.saved_cwnd)
    }

    fn cwnd_event(&mut self, window: &mut Window, view: &View, event: CwndEvent) {
        if event != CwndEvent::TxStart || !view.app_limited {
            return;
        }
        let own = &mut *self.0;
        own.idle_restart = true;
        own.model.restart_aggregation(view);
        if own.in_probe_bw() {
            own.set_pacing_rate(window, view, UNIT);
        } else if own.phase == Phase::ProbeRtt {
            own.check_probe_rtt_done(window, view);
        }
    }

    fn on_rate_sample(&mut self, window: &mut Window, view: &View, sample: &RateSample) {
        let own = &mut *self.0;
        if sample.losses > 0 && own.model.note_loss(view) {
            own.save_for_undo(window.cwnd);
        }
        let probing = own.probing_bandwidth();
        if own.model.update(window.cwnd, view, sample, probing) {
            own.rounds_since_probe += 1;
        }
        own.model
            .update_aggregation(window.cwnd, view, sample, own.full_reached);
        if sample.losses > 0 && own.probing_sample && Model::is_too_high(sample) {
            own.too_high(window, view, sample);
        }
        own.check_full(sample);
        own.check_startup(view, sample);
        own.check_drain(window, view);
        own.update_cycle(window, view, sample);
        own.update_rtt_min(view, sample);
        own.check_probe_rtt(window, view, sample);
        own.model.end_of_acknowledgement(sample);
        own.set_pacing_rate(window, view, own.pacing_gain);
        own.set_cwnd(window, view, sample);
    }

    fn min_tso_segs(&self, _window: &Window) -> Option<u32> {
        Some(2)
    }

    fn sndbuf_expand(&self) -> u32 {
        3
    }
}
