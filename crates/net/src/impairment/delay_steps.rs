//! A delay that changes at given times: a satellite that hands over to another, a route that is longer for a while.
//!
//! A frame that comes to the other end within a step is handed on so much later; where a step is shorter than the
//! one before, frames come close together, and none overtakes another. Left out: a delay that changes all the
//! time (steps may be as many as are wanted).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Time};

/// The course of a delay beyond the link's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelaySteps {
    /// Delays, each from a time on; before the first there is none.
    #[schemars(length(min = 1, max = 100_000))]
    pub steps: Vec<DelayStep>,
    /// When the course begins anew; absent: never, and the last stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Duration>,
}

/// A delay from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayStep {
    /// From when, since the run or the course began.
    pub from: Duration,
    /// So much longer than the link's delay.
    pub by: Duration,
}

impl DelaySteps {
    /// How much longer it takes for what comes to the other end at `now`.
    #[must_use]
    pub fn at(&self, now: Time) -> Duration {
        let mut since = now.since(Time::ZERO);
        if let Some(period) = self.period {
            since = Duration::from_ps(since.as_ps() % period.as_ps().max(1));
        }
        let begun = self.steps.partition_point(|step| step.from <= since);
        let step = begun.checked_sub(1).map(|last| self.steps[last]);
        step.map_or(Duration::ZERO, |step| step.by)
    }

    /// The most.
    #[must_use]
    pub fn most(&self) -> Duration {
        let delays = self.steps.iter().map(|step| step.by);
        delays.max().unwrap_or_default()
    }
}
