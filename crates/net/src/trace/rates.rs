//! A link whose rate changes at given times: steps, outages, recorded rates.
//!
//! A frame takes its usual time on the link, and the port rests after it until as many bytes, preamble and gap
//! included, have had their time at the rate that then holds, over changes and times of no rate at all; the
//! next waits in its queue meanwhile. Whether the course is told by seconds (5G drives), by tens of milliseconds or
//! by hand is the same. Left out: rates above the link's, which is a limit besides.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Rate, Time};

use super::{BYTE, Bits, LONGEST, Passage, Trace};

/// Rates, each from a time on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// File with the steps, relative to the scenario: on each line a time in seconds and a rate in Mbit/s from then on, apart
    /// by spaces, tabs or a comma.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["drive.csv"]))]
    pub path: Option<String>,
    /// The steps, where there is no file; the first from 0 on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1_000_000))]
    pub steps: Vec<Step>,
    /// When the course begins anew; absent: never, and the last rate stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Duration>,
}

/// A rate from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// From when.
    pub from: Duration,
    /// What may go, preamble and gap included; `"0bit"`: nothing.
    pub rate: Rate,
}

/// Where the course of such a link is.
#[derive(Clone, Debug)]
pub struct Cursor {
    trace: Arc<Trace>,
    /// When the course has begun, the last time that it did.
    begun: Time,
    /// The step that holds, by its number.
    step: usize,
    /// What it lets go from one beginning to the next; nothing if there is no next.
    of_period: Bits,
}

impl Cursor {
    /// The course from its beginning.
    pub(super) fn new(trace: Arc<Trace>) -> Cursor {
        let mut cursor = Cursor {
            trace,
            begun: Time::ZERO,
            step: 0,
            of_period: 0,
        };
        if let (steps, Some(period)) = cursor.course() {
            let ends = steps.iter().skip(1).map(|step| step.from).chain([period]);
            let each = steps.iter().zip(ends);
            let each = each.map(|(step, end)| bits(end - step.from, step.rate.as_bps()));
            cursor.of_period = each.sum();
        }
        cursor
    }

    /// Whole periods that may be passed over: at the beginning of one, as many as are over by `now` and let go less than `most`.
    fn pass_over(&mut self, now: Time, most: Bits) -> Bits {
        let Some(period) = self.course().1 else {
            return 0;
        };
        if self.step > 0 || self.of_period == 0 {
            return 0;
        }
        let over = now.since(self.begun).as_ps() / period.as_ps().max(1);
        let over = u128::from(over).min(most.saturating_sub(1) / self.of_period);
        self.begun += period * over as u64;
        over * self.of_period
    }

    fn course(&self) -> (&[Step], Option<Duration>) {
        match &*self.trace {
            Trace::Rates(course) => (&course.steps, course.period),
            Trace::Opportunities(_) | Trace::Shaper(_) => (&[], None),
        }
    }

    fn bps(&self) -> u64 {
        let step = self.course().0.get(self.step);
        step.map_or(0, |step| step.rate.as_bps())
    }

    /// When the step that holds is over; never if it stays.
    fn end(&self) -> Time {
        let (steps, period) = self.course();
        let next = steps.get(self.step + 1).map(|next| next.from);
        next.or(period).map_or(Time::NEVER, |end| self.begun + end)
    }

    fn advance(&mut self) {
        let (steps, period) = self.course();
        let (steps, period) = (steps.len(), period.unwrap_or_default());
        self.step += 1;
        if self.step >= steps {
            self.step = 0;
            self.begun += period;
        }
    }

    /// When the step began that holds, or holds next.
    fn start(&self) -> Time {
        let step = self.course().0.get(self.step);
        self.begun + step.map_or(Duration::ZERO, |step| step.from)
    }

    fn seek(&mut self, now: Time) {
        if now < self.start() {
            return; // it has looked ahead over a time without a rate
        }
        if let Some(period) = self.course().1 {
            let turns = now.since(self.begun).as_ps() / period.as_ps();
            if turns > 0 {
                self.begun += period * turns;
                self.step = 0;
            }
        }
        while self.end() <= now {
            self.advance();
        }
    }

    /// When a frame that waits at `now` is taken.
    pub(super) fn ready_at(&mut self, now: Time) -> Time {
        self.seek(now);
        while self.bps() == 0 && self.end() != Time::NEVER {
            self.advance();
        }
        self.start().max(now)
    }

    /// What it lets go from `from`, where it is, to `now`, which it goes on to.
    pub(super) fn offered(&mut self, from: Time, now: Time) -> Bits {
        let (mut at, mut offered) = (from, 0);
        loop {
            let until = self.end().min(now);
            offered += bits(until.since(at), self.bps());
            if self.end() > now {
                return offered;
            }
            self.advance();
            offered += self.pass_over(now, Bits::MAX);
            at = self.start();
        }
    }

    /// A frame that takes so many bytes of line is taken at `now`.
    pub(super) fn take(&mut self, now: Time, wire_bytes: u64) -> Passage {
        let mut needed = u128::from(wire_bytes) * BYTE;
        let mut at = now;
        let horizon = now + LONGEST;
        while at < horizon {
            let (bps, end) = (u128::from(self.bps()), self.end());
            if end == Time::NEVER && bps == 0 {
                break; // refused where scenarios are checked
            }
            let offered = bits(end.since(at), self.bps());
            if end == Time::NEVER || offered >= needed {
                at += Duration::from_ps(needed.div_ceil(bps.max(1)) as u64);
                break;
            }
            needed -= offered;
            self.advance();
            needed -= self.pass_over(horizon, needed);
            at = self.start();
        }
        Passage {
            leaves: now,
            rests_until: at.min(horizon),
        }
    }
}

fn bits(span: Duration, bps: u64) -> Bits {
    u128::from(span.as_ps()) * u128::from(bps)
}

#[cfg(test)]
#[path = "rates_tests.rs"]
mod tests;
