//! CAKE's shaper: when the next frame may leave, by what those before it count for.
//!
//! As sch_cake.c of Linux 7.2 has it (cake_set_rate, cake_advance_shaper): no bucket, but a time that moves on by each
//! frame's. After a time without frames it begins anew, so nothing leaves in a burst. What is dropped may
//! count as well (`ingress`); a second time, which what is dropped does not move and what leaves moves half as far again,
//! sees to it that two thirds of the rate leave whatever is dropped.

use tailback_units::{Duration, Time};

/// The least rate, bytes a second (MIN_RATE).
const RATE_BYTES_MIN: u64 = 64;
/// Bits of the time for a byte (cake_set_rate).
const SHIFT: u32 = 34;

/// How long bytes take at a rate, in Linux's arithmetic: whole nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    byte_ns: u64,
    shift: u32,
}

impl Pace {
    /// Of so many bytes a second.
    pub(super) fn new(rate_bytes: u64) -> Pace {
        let mut pace = Pace {
            byte_ns: (1_000_000_000 << SHIFT) / rate_bytes.max(RATE_BYTES_MIN),
            shift: SHIFT,
        };
        while pace.byte_ns >> SHIFT != 0 {
            pace.byte_ns >>= 1;
            pace.shift -= 1;
        }
        pace
    }

    pub(super) fn time_for(self, bytes: u64) -> Duration {
        Duration::from_ns(bytes.saturating_mul(self.byte_ns) >> self.shift)
    }
}

/// The shaper of all tins together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper {
    pace: Option<Pace>,
    next: Time,
    failsafe: Time,
}

impl Shaper {
    /// One that lets frames go at this pace, or one that lets all go.
    pub(super) fn new(pace: Option<Pace>) -> Shaper {
        Shaper {
            pace,
            next: Time::ZERO,
            failsafe: Time::ZERO,
        }
    }

    /// Whether it holds anything back.
    pub(super) fn is_on(&self) -> bool {
        self.pace.is_some()
    }

    /// When the next frame may leave.
    pub(super) fn held_until(&self) -> Time {
        self.next.min(self.failsafe)
    }

    /// A frame comes at `now`, and none waited: what might have left by then is lost.
    pub(super) fn begin(&mut self, now: Time) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }

    /// A frame that counts for so many bytes leaves, or is dropped where that counts.
    pub(super) fn charge(&mut self, bytes: u64, is_dropped: bool) {
        let Some(pace) = self.pace else {
            return;
        };
        let takes = pace.time_for(bytes);
        self.next += takes;
        if !is_dropped {
            self.failsafe += takes + takes / 2;
        }
    }
}
