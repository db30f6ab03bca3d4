//! A shaper: a port that sends no faster than a token bucket allows, and has the rest wait.
//!
//! As `net/sched/sch_tbf.c` (Linux 7.1) without `peakrate`: the next frame is taken out of the queue as soon as the one
//! before has left, and leaves when the bucket has tokens for it, at the link's own rate. So up to `burst` bytes
//! go back to back after a pause. The queue, its limit and its discipline are the switch's.

use tailback_units::Time;

use super::{BYTE, Bits, LONGEST, Passage};
use crate::token_bucket::{TokenBucket, TokenBucketConfig};

/// A shaper at work.
#[derive(Clone, Debug)]
pub struct Cursor {
    config: TokenBucketConfig,
    bucket: TokenBucket,
    /// Whether the bucket's first filling has been told of.
    told: bool,
}

impl Cursor {
    pub(super) fn new(config: &TokenBucketConfig) -> Cursor {
        Cursor {
            config: *config,
            bucket: TokenBucket::new(config),
            told: false,
        }
    }

    /// A frame of so many bytes is taken at `now`: the bytes it counts for, and when it goes.
    pub(super) fn take(&mut self, now: Time, frame_bytes: u64) -> (u64, Passage) {
        let leaves = now + self.bucket.wait(now, frame_bytes, LONGEST);
        let passage = Passage {
            leaves,
            rests_until: leaves,
        };
        (self.config.counted_bytes(frame_bytes), passage)
    }

    /// What it lets go from `from`, where it is, to `now`: from the beginning also what was in the bucket.
    pub(super) fn offered(&mut self, from: Time, now: Time) -> Bits {
        let at_first = if self.told {
            0
        } else {
            Bits::from(self.config.burst.get()) * BYTE
        };
        self.told = true;
        let span = Bits::from(now.since(from).as_ps());
        at_first.saturating_add(span * Bits::from(self.config.rate.as_bps()))
    }
}

#[cfg(test)]
#[path = "shaper_tests.rs"]
mod tests;
