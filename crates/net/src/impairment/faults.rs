//! What happens to frames by chance, each for itself: bit errors, doubling, reordering.
//!
//! Bit errors are independent at a fixed rate, as link budgets state them; a frame with one or more fails
//! its FCS and is lost at the receiving end. Doubling and reordering come to each frame with a
//! fixed probability; a frame that is chosen is late, where `tc netem reorder` sends the chosen first and delays the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Duration;

use super::{Fate, ImpairmentConfig};
use crate::random::{self, Stream};

/// Frames that arrive late by chance; those behind overtake them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderConfig {
    /// Probability that a frame is late; 0 to 1. 0: none is.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// How much later it arrives.
    pub delay: Duration,
}

/// Those of one direction of a link, at work.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    bit_error_rate: f64,
    double_below: u64,
    late_below: u64,
    late_by: Duration,
}

impl Faults {
    /// The faults of a link, if it has any.
    pub(super) fn new(config: &ImpairmentConfig) -> Option<Faults> {
        let late = config.reorder.as_ref();
        let any = config.bit_error_rate > 0.0 || config.duplicate > 0.0 || late.is_some();
        any.then(|| Faults {
            bit_error_rate: config.bit_error_rate,
            double_below: random::threshold(config.duplicate),
            late_below: random::threshold(late.map_or(0.0, |late| late.probability)),
            late_by: late.map_or(Duration::ZERO, |late| late.delay),
        })
    }

    /// What becomes of a frame of so many bytes; draws a number for each fault the link has.
    pub(super) fn fate(&self, frame_bytes: u16, stream: &mut Stream) -> Fate {
        let mut fate = Fate::Pass;
        if self.late_below > 0 && stream.next_u64() < self.late_below {
            fate = Fate::Late(self.late_by);
        }
        if self.double_below > 0 && stream.next_u64() < self.double_below {
            fate = Fate::Doubled;
        }
        if self.bit_error_rate > 0.0 {
            let whole = power(1.0 - self.bit_error_rate, 8 * u32::from(frame_bytes));
            if stream.next_u64() < random::threshold(1.0 - whole) {
                fate = Fate::Lost;
            }
        }
        fate
    }
}

/// By squaring: multiplications alone are the same on every machine.
fn power(mut base: f64, mut exponent: u32) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}
