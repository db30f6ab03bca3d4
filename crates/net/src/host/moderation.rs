//! Adaptive interrupt moderation of the NetEffect/Intel NE020.
//!
//! Models what Linux 2.6.18's nes driver does with the card's periodic timer
//! (drivers/infiniband/hw/nes/nes_hw.c: nes_nic_tune_timer, nes_nic_init_timer, nes_napi_isr,
//! nes_dpc): at rest the card interrupts at once. A run that handled more than a few completions
//! turns the periodic timer on; from then on completions wait for its next tick. Its period is
//! steered by how many completions a run finds: few let it grow, many let it shrink, between bounds
//! that are the same numbers as the depth thresholds. Ten ticks in a row without a completion turn
//! it off again. Transmit completions count as received frames do.
//! Left out: that a run is cut into polls of 128; timers of the card's other functions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Time};

/// Parameters of the nes driver's adaptive interrupt moderation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModerationConfig {
    /// Period of the timer when it is first turned on.
    pub timer_initial: Duration,
    /// A run of at most this many completions lets the period grow; also its lower bound, in us.
    pub threshold_low: u32,
    /// A run of at most this many leaves it alone.
    pub threshold_target: u32,
    /// A run of at most this many lets it shrink slowly, of more at once; also its upper bound, in
    /// us.
    pub threshold_high: u32,
    /// Completions in a run beyond which the timer is turned on.
    pub enable_above: u32,
    /// Ticks in a row without a completion after which it is turned off.
    pub idle_ticks: u32,
}

/// Moderation at work.
#[derive(Clone, Debug)]
pub(super) struct Moderation {
    config: ModerationConfig,
    /// The timer's period in us, as steered.
    timer_us: i64,
    threshold_low: u32,
    upward: u32,
    downward: u32,
    /// Runs in a row that found fewer completions than the one before.
    falling: u32,
    last_completions: u32,
    /// Ticks are this far and whole periods from here, if the timer is on.
    ticks_from: Option<Time>,
    period: Duration,
}

/// Runs of few completions in a row before the period grows, by how much (nes_nic_tune_timer).
const UPWARD_RUNS: u32 = 3;
const UPWARD_US: i64 = 3;
/// Runs of many completions in a row before the period shrinks, by how much (same).
const DOWNWARD_RUNS: u32 = 5;
const DOWNWARD_US: i64 = 4;
/// Falling runs in a row before the lower threshold is halved, and its floor
/// (NES_NIC_CQ_DOWNWARD_TREND; same function).
const FALLING_RUNS: u32 = 16;
const THRESHOLD_LOW_MIN: u32 = 4;

impl Moderation {
    pub(super) fn new(config: &ModerationConfig) -> Moderation {
        Moderation {
            timer_us: config.timer_initial.as_us() as i64,
            threshold_low: config.threshold_low,
            upward: 0,
            downward: 0,
            falling: 0,
            last_completions: 0,
            ticks_from: None,
            period: config.timer_initial,
            config: config.clone(),
        }
    }

    /// A frame arrives at `at` and finds the CPU idle, after a run that handled `completions`:
    /// when the interrupt comes, if it waits for the timer.
    pub(super) fn interrupt(&mut self, at: Time, completions: u32) -> Option<Time> {
        let tick = self.tick_after(at);
        self.tune(completions);
        let interrupt = tick.unwrap_or(at);
        if self.ticks_from.is_some() || completions > self.config.enable_above {
            self.period = Duration::from_us(self.timer_us.unsigned_abs());
            self.ticks_from = Some(interrupt);
        }
        tick
    }

    /// The first tick at or after `at`, or none if the timer is off; turns it off if it has
    /// ticked in vain for long enough.
    fn tick_after(&mut self, at: Time) -> Option<Time> {
        let from = self.ticks_from?;
        let period_ps = self.period.as_ps().max(1);
        let ticks = at.since(from).as_ps().div_ceil(period_ps).max(1);
        if ticks > u64::from(self.config.idle_ticks) {
            self.ticks_from = None;
            return None;
        }
        Some(from + self.period * ticks)
    }

    /// Steers the period by the completions that a run found.
    fn tune(&mut self, completions: u32) {
        self.falling = if completions >= self.last_completions {
            0
        } else {
            self.falling + 1
        };
        self.last_completions = completions;
        let few = completions <= self.threshold_low;
        if self.falling > FALLING_RUNS && few && self.threshold_low > THRESHOLD_LOW_MIN {
            self.threshold_low /= 2;
            self.falling = 0;
            return;
        }
        if completions > 1 {
            self.steer(completions, few);
        }
        let bounds = i64::from(self.threshold_low)..=i64::from(self.config.threshold_high);
        self.timer_us = self
            .timer_us
            .clamp(*bounds.start(), (*bounds.end()).max(*bounds.start()));
    }

    fn steer(&mut self, completions: u32, few: bool) {
        let high = self.config.threshold_high;
        if few {
            self.upward += 1;
            self.downward = 0;
        } else if completions <= self.config.threshold_target {
            self.upward = 0;
            self.downward = 0;
        } else {
            self.downward += 1;
            self.upward = 0;
            if completions > 2 * high {
                self.timer_us -= 4;
            } else if completions > high {
                self.timer_us -= 2;
            }
        }
        if self.upward > UPWARD_RUNS {
            self.timer_us += UPWARD_US;
            self.upward = 0;
            self.downward = 0;
        }
        if self.downward > DOWNWARD_RUNS {
            self.timer_us -= DOWNWARD_US;
            self.upward = 0;
            self.downward = 0;
        }
    }
}

#[cfg(test)]
#[path = "moderation_tests.rs"]
mod tests;
