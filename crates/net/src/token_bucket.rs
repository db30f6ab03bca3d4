//! A token bucket: so many bytes a second, and so many at once.
//!
//! As `net/sched/act_police.c` and `sch_tbf.c` have it, and MEF 10.3 for a bandwidth profile of one rate: the
//! bucket is full at first, tokens for a byte come at the rate and none once it is full again, and a frame may go if there are
//! tokens for all of its bytes, which it takes. What becomes of a frame for which there are not enough is for its users:
//! a policer (`crates/net/src/impairment/policer.rs`) drops it, [`crate::trace::shaper`] has it wait. Times are whole picoseconds here, Linux'
//! nanoseconds of a frame's time at the rate, rounded down. Left out: a second rate (`peakrate`, an excess rate with its
//! burst), colours that a bucket before has given.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Rate, Time};

/// A token bucket's rate and depth, by the names of `tc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenBucketConfig {
    /// What may go in the long run.
    #[schemars(extend("examples" = ["1Gbit"]))]
    pub rate: Rate,
    /// What the bucket holds, and so may go at once.
    #[schemars(extend("examples" = ["125KB"]))]
    pub burst: Bytes,
    /// Bytes that are counted with each frame beyond its Ethernet header, packet and FCS, which MEF counts: 20 for what
    /// it takes on the line, -4 for what Linux counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = -18, max = 256))]
    pub overhead_bytes: i16,
}

fn is_zero(bytes: &i16) -> bool {
    *bytes == 0
}

impl TokenBucketConfig {
    /// Tokens for a frame of so many bytes, header and FCS included.
    #[must_use]
    pub fn counted_bytes(&self, frame_bytes: u64) -> u64 {
        frame_bytes.saturating_add_signed(self.overhead_bytes.into())
    }
}

/// Bits times 10^12, so that a rate times picoseconds is not rounded.
pub(crate) type Bits = u128;

pub(crate) const BYTE: Bits = 8 * 1_000_000_000_000;

/// A bucket at work.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    config: TokenBucketConfig,
    tokens: Bits,
    /// When there were so many.
    at: Time,
}

impl TokenBucket {
    /// A full bucket.
    #[must_use]
    pub fn new(config: &TokenBucketConfig) -> TokenBucket {
        TokenBucket {
            config: *config,
            tokens: Bits::from(config.burst.get()) * BYTE,
            at: Time::ZERO,
        }
    }

    fn fill(&mut self, now: Time) {
        let since = now.since(self.at).as_ps();
        let more = Bits::from(since) * Bits::from(self.config.rate.as_bps());
        let burst = Bits::from(self.config.burst.get()) * BYTE;
        self.tokens = self.tokens.saturating_add(more).min(burst);
        self.at = self.at.max(now);
    }

    /// Takes the tokens for a frame that comes at `now`, if there are enough.
    #[must_use]
    pub fn conforms(&mut self, now: Time, frame_bytes: u64) -> bool {
        self.fill(now);
        let needed = Bits::from(self.config.counted_bytes(frame_bytes)) * BYTE;
        let enough = self.tokens >= needed;
        if enough {
            self.tokens -= needed;
        }
        enough
    }

    /// Takes the tokens for a frame that waits from `now` on, as soon as there are enough, and says how long that is; no frame
    /// may come sooner then. Not longer than `longest`, for a bucket that is never full enough.
    pub fn wait(&mut self, now: Time, frame_bytes: u64, longest: Duration) -> Duration {
        self.fill(now);
        let needed = Bits::from(self.config.counted_bytes(frame_bytes)) * BYTE;
        let Some(missing) = needed.checked_sub(self.tokens).filter(|none| *none > 0) else {
            self.tokens -= needed;
            return Duration::ZERO;
        };
        let bps = Bits::from(self.config.rate.as_bps()).max(1);
        let wait = missing.div_ceil(bps);
        if wait > longest.as_ps().into() {
            return longest;
        }
        let wait = Duration::from_ps(wait as u64);
        self.tokens = Bits::from(wait.as_ps()) * bps - missing;
        self.at = self.at.max(now) + wait;
        wait
    }
}

#[cfg(test)]
#[path = "token_bucket_tests.rs"]
mod tests;
