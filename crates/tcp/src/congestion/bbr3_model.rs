//! BBR version 3's model of the path (draft-ietf-ccwg-bbr, sections on updating network path model
//! parameters): bandwidth by delivery rates of two cycles, bounds from losses, aggregation.

use super::max_filter::MaxFilter;
use super::rate_model::{self, CWND_MIN};
use super::{RateSample, View};

/// No bound.
pub(super) const INFINITE: u32 = u32::MAX;
/// Part of what is in flight that may be lost in a round: 2 % (LossThresh).
const LOSS_PART_PERCENT: u64 = 2;
/// What a round with loss leaves, and what is left free below the long-term bound, per cent
/// (Beta, Headroom).
const BETA_PERCENT: u64 = 70;
const HEADROOM_PERCENT: u64 = 15;
/// Rounds that aggregation counts for; one in STARTUP (ExtraAckedFilterLen).
const AGGREGATION_ROUNDS: u32 = 10;

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// The model.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Greatest bandwidth of the last cycle and of this one.
    cycles: [u32; 2],
    /// The bandwidth that is believed, and that of the last sample.
    pub(super) bandwidth: u32,
    pub(super) sample_bandwidth: u32,
    pub(super) rtt_min_us: u32,
    pub(super) rounds: u32,
    round_end: u32,
    pub(super) round_start: bool,
    /// Bounds, segments; infinite until losses set them.
    pub(super) inflight_long: u32,
    pub(super) inflight_short: u32,
    bandwidth_short: u32,
    /// Greatest of this round.
    bandwidth_latest: u32,
    pub(super) inflight_latest: u32,
    loss_round_end: u32,
    loss_round_start: bool,
    loss_in_round: bool,
    /// Acknowledgements of this round that found losses.
    pub(super) losses_in_round: u32,
    pub(super) extra_acked: MaxFilter,
    epoch_us: u64,
    epoch_acked: u32,
}

impl Model {
    pub(super) fn new() -> Model {
        Model {
            cycles: [0; 2],
            bandwidth: 0,
            sample_bandwidth: 0,
            rtt_min_us: INFINITE,
            rounds: 0,
            round_end: 0,
            round_start: false,
            inflight_long: INFINITE,
            inflight_short: INFINITE,
            bandwidth_short: INFINITE,
            bandwidth_latest: 0,
            inflight_latest: 0,
            loss_round_end: 0,
            loss_round_start: false,
            loss_in_round: false,
            losses_in_round: 0,
            extra_acked: MaxFilter::default(),
            epoch_us: 0,
            epoch_acked: 0,
        }
    }

    pub(super) fn begin(&mut self, view: &View) {
        self.round_end = view.delivered;
        self.loss_round_end = view.delivered;
        self.restart_aggregation(view);
    }

    pub(super) fn restart_aggregation(&mut self, view: &View) {
        self.epoch_us = view.now_us;
        self.epoch_acked = 0;
    }

    pub(super) fn start_round(&mut self, view: &View) {
        self.round_end = view.delivered;
    }

    pub(super) fn max_bandwidth(&self) -> u32 {
        self.cycles[0].max(self.cycles[1])
    }

    /// This cycle is over.
    pub(super) fn advance_max_filter(&mut self) {
        if self.cycles[1] > 0 {
            self.cycles = [self.cycles[1], 0];
        }
    }

    /// More than the tolerated part was lost since what is acknowledged was sent.
    pub(super) fn is_too_high(sample: &RateSample) -> bool {
        u64::from(sample.lost) * 100 > u64::from(sample.tx_in_flight) * LOSS_PART_PERCENT
    }

    /// What a loss leaves of a volume or bandwidth at least.
    pub(super) fn reduced(&self, value: u32) -> u32 {
        (u64::from(value) * BETA_PERCENT / 100) as u32
    }

    /// The long-term bound less what others may use (InflightWithHeadroom).
    pub(super) fn with_headroom(&self) -> u32 {
        if self.inflight_long == INFINITE {
            return INFINITE;
        }
        let headroom = (u64::from(self.inflight_long) * HEADROOM_PERCENT / 100).max(1) as u32;
        self.inflight_long.saturating_sub(headroom).max(CWND_MIN)
    }

    /// A loss was found; true if it is the first of its round.
    pub(super) fn note_loss(&mut self, view: &View) -> bool {
        let first = !self.loss_in_round;
        if first {
            self.loss_round_end = view.delivered;
        }
        self.loss_in_round = true;
        self.losses_in_round += 1;
        first
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        self.losses_in_round = 0;
        self.bandwidth_latest = 0;
        self.inflight_latest = 0;
    }

    pub(super) fn reset_short_term(&mut self) {
        self.bandwidth_short = INFINITE;
        self.inflight_short = INFINITE;
    }

    /// An acknowledgement (UpdateLatestDeliverySignals, UpdateCongestionSignals); true if a round
    /// begins.
    pub(super) fn update(
        &mut self,
        cwnd: u32,
        view: &View,
        sample: &RateSample,
        probing_bandwidth: bool,
    ) -> bool {
        self.loss_round_start = false;
        self.round_start = false;
        if sample.delivered < 0 || sample.interval_us <= 0 {
            return false;
        }
        let delivered = sample.delivered as u32;
        self.sample_bandwidth = rate_model::bandwidth(delivered, sample.interval_us as u64);
        self.bandwidth_latest = self.bandwidth_latest.max(self.sample_bandwidth);
        self.inflight_latest = self.inflight_latest.max(delivered);
        let reached = |end: u32| sample.prior_delivered.wrapping_sub(end) as i32 >= 0;
        if reached(self.loss_round_end) {
            self.loss_round_end = view.delivered;
            self.loss_round_start = true;
        }
        if reached(self.round_end) {
            self.start_round(view);
            self.rounds = self.rounds.wrapping_add(1);
            self.round_start = true;
        }
        if !sample.is_app_limited || self.sample_bandwidth >= self.max_bandwidth() {
            self.cycles[1] = self.cycles[1].max(self.sample_bandwidth);
        }
        if self.loss_round_start {
            if self.loss_in_round && !probing_bandwidth {
                self.bound_short_term(cwnd);
            }
            self.loss_in_round = false;
        }
        self.round_start
    }

    /// A round with loss: towards what was delivered in it (InitLowerBounds, LossLowerBounds).
    fn bound_short_term(&mut self, cwnd: u32) {
        if self.bandwidth_short == INFINITE {
            self.bandwidth_short = self.max_bandwidth();
        }
        if self.inflight_short == INFINITE {
            self.inflight_short = cwnd;
        }
        self.bandwidth_short = self
            .bandwidth_latest
            .max(self.reduced(self.bandwidth_short));
        self.inflight_short = self.inflight_latest.max(self.reduced(self.inflight_short));
    }

    /// The round's signals begin anew with its last sample, and the bandwidth is bounded.
    pub(super) fn end_of_acknowledgement(&mut self, sample: &RateSample) {
        if self.loss_round_start {
            self.bandwidth_latest = self.sample_bandwidth;
            self.inflight_latest = sample.delivered.max(0) as u32;
            if !self.loss_in_round {
                self.losses_in_round = 0;
            }
        }
        self.bandwidth = self.max_bandwidth().min(self.bandwidth_short);
    }

    /// UpdateACKAggregation.
    pub(super) fn update_aggregation(
        &mut self,
        cwnd: u32,
        view: &View,
        sample: &RateSample,
        full: bool,
    ) {
        let interval_us = view.now_us.saturating_sub(self.epoch_us);
        let mut expected = rate_model::delivered_in(self.bandwidth, interval_us);
        if self.epoch_acked <= expected {
            self.restart_aggregation(view);
            expected = 0;
        }
        self.epoch_acked = self.epoch_acked.saturating_add(sample.acked_sacked);
        let extra = (self.epoch_acked - expected).min(cwnd);
        let window = if full { AGGREGATION_ROUNDS } else { 1 };
        self.extra_acked.update(window, self.rounds, extra);
    }

    /// The bounds, to be restored if a loss was none.
    pub(super) fn bounds(&self) -> (u32, u32, u32) {
        (
            self.bandwidth_short,
            self.inflight_short,
            self.inflight_long,
        )
    }

    pub(super) fn restore(&mut self, bounds: (u32, u32, u32)) {
        self.loss_in_round = false;
        self.bandwidth_short = self.bandwidth_short.max(bounds.0);
        self.inflight_short = self.inflight_short.max(bounds.1);
        self.inflight_long = self.inflight_long.max(bounds.2);
    }
}
