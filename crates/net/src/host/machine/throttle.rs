//! The least time between two interrupts: fixed, or by what the last ones brought.
//!
//! Models the interrupt throttling of Intel's e1000e as Linux 7.2 has it
//! (drivers/net/ethernet/intel/e1000e/netdev.c: e1000_update_itr, e1000_set_itr; module parameter
//! InterruptThrottleRate 1 and 3): traffic is of one of three classes, by the frames and bytes of the
//! last poll; each class has a rate of interrupts, which is reached from below in steps.
//! Left out: the class of what is sent (the slower of the two counts there), the register's granule of
//! 256 ns, links of other speeds than 1 Gb/s, which that driver throttles to 4000 interrupts a second.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Time};

use crate::pool::Flight;

/// How a card's interrupt rate follows the traffic (InterruptThrottleRate of e1000e).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Adaptive {
    /// Between 4000 and 70 000 a second (1).
    Dynamic,
    /// Between 4000 and 20 000 a second (3).
    DynamicConservative,
}

/// A class of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Lowest latency.
    Lowest,
    /// Low latency.
    Low,
    /// Bulk.
    Bulk,
}

impl Class {
    /// Interrupts a second.
    fn rate(self) -> u32 {
        match self {
            Class::Lowest => 70_000,
            Class::Low => 20_000,
            Class::Bulk => 4000,
        }
    }

    /// The class after so many frames and bytes.
    fn after(self, frames: u32, bytes: u32) -> Class {
        if frames == 0 {
            return self;
        }
        let mean = bytes / frames;
        match self {
            Class::Lowest if mean > 8000 => Class::Bulk,
            Class::Lowest if frames < 5 && bytes > 512 => Class::Low,
            Class::Low if bytes > 10_000 => match frames {
                _ if mean > 1200 => Class::Bulk,
                0..10 => Class::Bulk,
                36.. => Class::Lowest,
                _ => self,
            },
            Class::Low if mean > 2000 => Class::Bulk,
            Class::Low if frames <= 2 && bytes < 512 => Class::Lowest,
            Class::Bulk if bytes > 25_000 && frames > 35 => Class::Low,
            Class::Bulk if bytes < 6000 => Class::Low,
            _ => self,
        }
    }
}

/// The throttle of one interrupt.
#[derive(Debug)]
pub(super) struct Throttle {
    fixed: Duration,
    adaptive: Option<Adaptive>,
    class: Class,
    rate: u32,
    frames: u32,
    bytes: u32,
    last: Option<Time>,
}

impl Throttle {
    pub(super) fn new(fixed: Duration, adaptive: Option<Adaptive>) -> Throttle {
        Throttle {
            fixed,
            adaptive,
            class: Class::Lowest,
            rate: Class::Low.rate(),
            frames: 0,
            bytes: 0,
            last: None,
        }
    }

    /// There is an interrupt.
    pub(super) fn interrupted(&mut self, now: Time) {
        self.last = Some(now);
    }

    /// No interrupt before then.
    pub(super) fn until(&self) -> Time {
        let interval = match self.adaptive {
            None => self.fixed,
            Some(_) => Duration::from_secs(1) / u64::from(self.rate),
        };
        self.last.map_or(Time::ZERO, |last| last + interval)
    }

    /// The driver takes a frame out of the ring.
    #[inline(always)]
    pub(super) fn count(&mut self, frame: &Flight) {
        self.frames += 1;
        self.bytes = self.bytes.saturating_add(u32::from(frame.frame_bytes));
    }

    /// The poll is over, interrupts are wanted again: the rate of the next.
    pub(super) fn adapt(&mut self) {
        let Some(mode) = self.adaptive else { return };
        let frames = std::mem::take(&mut self.frames);
        let bytes = std::mem::take(&mut self.bytes);
        self.class = self.class.after(frames, bytes);
        if mode == Adaptive::DynamicConservative && self.class == Class::Lowest {
            self.class = Class::Low;
        }
        let wanted = self.class.rate();
        self.rate = wanted.min(self.rate + wanted / 4);
    }
}

#[cfg(test)]
#[path = "throttle_tests.rs"]
mod tests;
