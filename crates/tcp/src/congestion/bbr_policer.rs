//! BBR's search for token buckets (Linux net/ipv4/tcp_bbr.c, 7.2: bbr_lt_bw_sampling and what it
//! calls): two intervals in a row between losses, each of at least four rounds and a fifth lost, of
//! like bandwidth, are a policer; their mean is the bandwidth for 48 rounds.

use super::View;
use super::rate_model;

/// Rounds of an interval at least, and at most (bbr_lt_intvl_min_rtts, four times that).
const INTERVAL_ROUNDS_MIN: u32 = 4;
const INTERVAL_ROUNDS_MAX: u32 = 4 * INTERVAL_ROUNDS_MIN;
/// Part lost that makes an interval lossy, in 256ths (bbr_lt_loss_thresh).
const LOSS_PART: u64 = 50;
/// Bandwidths are alike within an eighth, or 4 kbit/s (bbr_lt_bw_ratio, bbr_lt_bw_diff).
const LIKE_PART: u32 = 8;
const LIKE_BYTES_PER_S: u64 = 4000 / 8;
/// Rounds that the bandwidth is believed for (bbr_lt_bw_max_rtts).
const BELIEVED_ROUNDS: u32 = 48;

/// The search.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    /// A policer was found: `estimate` is its bandwidth.
    found: bool,
    /// Of the interval before, or zero.
    estimate: u32,
    rounds: u32,
    /// The interval's begin.
    delivered: u32,
    lost: u32,
    since_ms: u64,
}

impl Policer {
    /// The bandwidth of a policer, if one was found.
    pub(super) fn bandwidth(&self) -> Option<u32> {
        self.found.then_some(self.estimate)
    }

    /// From scratch.
    pub(super) fn reset(&mut self, view: &View) {
        self.estimate = 0;
        self.found = false;
        self.sampling = false;
        self.begin_interval(view);
    }

    fn begin_interval(&mut self, view: &View) {
        self.since_ms = view.delivered_us / 1000;
        self.delivered = view.delivered;
        self.lost = view.lost;
        self.rounds = 0;
    }

    /// An acknowledgement; true if the bandwidth found is believed no longer.
    pub(super) fn watch(
        &mut self,
        view: &View,
        losses: u32,
        app_limited: bool,
        round_start: bool,
        probing_bandwidth: bool,
    ) -> bool {
        if self.found {
            if probing_bandwidth && round_start {
                self.rounds += 1;
                if self.rounds >= BELIEVED_ROUNDS {
                    self.reset(view);
                    return true;
                }
            }
            return false;
        }
        if !self.sampling {
            // From the first loss on: before it the bucket's tokens were used up.
            if losses == 0 {
                return false;
            }
            self.begin_interval(view);
            self.sampling = true;
        }
        if app_limited {
            self.reset(view);
            return false;
        }
        self.rounds += u32::from(round_start);
        if self.rounds > INTERVAL_ROUNDS_MAX {
            self.reset(view);
        } else if self.rounds >= INTERVAL_ROUNDS_MIN && losses > 0 {
            self.end_interval(view);
        }
        false
    }

    fn end_interval(&mut self, view: &View) {
        let lost = view.lost.wrapping_sub(self.lost);
        let delivered = view.delivered.wrapping_sub(self.delivered);
        if delivered == 0 || u64::from(lost) << 8 < LOSS_PART * u64::from(delivered) {
            return;
        }
        let ms = (view.delivered_us / 1000).saturating_sub(self.since_ms);
        if ms < 1 {
            return;
        }
        if ms >= u64::from(u32::MAX / 1000) {
            return self.reset(view);
        }
        let bandwidth = rate_model::bandwidth(delivered, ms * 1000);
        if self.estimate > 0 {
            let difference = bandwidth.abs_diff(self.estimate);
            let rate = rate_model::pacing_rate(difference, rate_model::UNIT, view.mss);
            if difference <= self.estimate / LIKE_PART || rate <= LIKE_BYTES_PER_S {
                self.estimate = self.estimate.midpoint(bandwidth);
                self.found = true;
                self.rounds = 0;
                return;
            }
        }
        self.estimate = bandwidth;
        self.begin_interval(view);
    }
}
