//! The receive path as one server: a descriptor ring that a CPU empties in order.
//!
//! A frame that finds an idle CPU waits for the interrupt, and for moderation if there is any; frames that arrive while the CPU works
//! are handled in the same run, one after another (as NAPI does). Each costs a fixed time and a
//! time per byte. What comes when the ring is full is lost: when the frame is yet to be handled that came as
//! many frames before as there are descriptors. One link feeds the ring, and knows when that is.
//! Left out: polling budgets, the CPU's other work.

use tailback_units::{Duration, Time};

use super::HostConfig;
use super::gap::Gap;
use super::moderation::Moderation;
use crate::loss::Losses;
use crate::random::Stream;

/// A receive ring and the CPU behind it.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct ReceiveRing {
    /// Completions since the CPU was last interrupted.
    completions: u32,
    /// Descriptors but one.
    others: usize,
    segment_cost: Duration,
    /// Cost of 1000 bytes of payload, ps.
    kilobyte_cost_ps: u64,
    /// What a frame costs that has as much payload as the last.
    cost: (u16, Duration),
    delay_min: Duration,
    delay_span: Duration,
    gap: Option<Gap>,
    /// When the CPU has handled all that has arrived.
    idle_at: Time,
    dropped: Losses,
    moderation: Option<Moderation>,
}

impl ReceiveRing {
    /// An empty ring.
    #[must_use]
    pub fn new(config: &HostConfig) -> ReceiveRing {
        let mut ring = ReceiveRing {
            others: config.rx_ring_descriptors.saturating_sub(1) as usize,
            segment_cost: config.rx_segment_cost,
            kilobyte_cost_ps: config.rx_kilobyte_cost.as_ps(),
            delay_min: config.interrupt_delay - config.interrupt_jitter,
            delay_span: config.interrupt_jitter * 2,
            gap: Gap::new(config.interrupt_gap),
            idle_at: Time::ZERO,
            dropped: Losses::default(),
            moderation: config.interrupt_moderation.as_ref().map(Moderation::new),
            completions: 0,
            cost: (0, Duration::ZERO),
        };
        ring.cost.1 = ring.cost(0);
        ring
    }

    /// Frames that fill it but for one place.
    #[inline]
    #[must_use]
    pub fn all_but_one(&self) -> usize {
        self.others
    }

    /// A frame with `payload_bytes` arrives at `at`, no earlier than those before it: when TCP
    /// gets it, or `None` if the ring is full. `first` is when TCP gets the last frame that was taken in
    /// but [`ReceiveRing::all_but_one`], if it has not got it. `stream` draws the interrupt's delay.
    #[inline]
    pub fn arrive(
        &mut self,
        at: Time,
        payload_bytes: u16,
        first: Option<Time>,
        stream: &mut Stream,
    ) -> Option<Time> {
        if first.is_some_and(|handled| handled > at) {
            self.dropped.count(payload_bytes.into());
            return None;
        }
        if self.cost.0 != payload_bytes {
            self.cost = (payload_bytes, self.cost(payload_bytes));
        }
        if self.idle_at <= at {
            self.idle_at = self.interrupt(at, stream);
        }
        self.completions += 1;
        self.idle_at += self.cost.1;
        Some(self.idle_at)
    }

    /// A frame arrives at `at` and finds the CPU idle: when it begins.
    #[inline(never)]
    fn interrupt(&mut self, at: Time, stream: &mut Stream) -> Time {
        let interrupt = match (&mut self.moderation, &mut self.gap) {
            (None, None) => at,
            (Some(moderation), _) => moderation.interrupt(at, self.completions).unwrap_or(at),
            (None, Some(gap)) => gap.interrupt(at),
        };
        self.completions = 0;
        interrupt + self.delay_min + Duration::from_ps(stream.below(self.delay_span.as_ps()))
    }

    /// How long the CPU is busy with a frame. One that follows another in the same run is handled so much
    /// later than that.
    #[inline]
    #[must_use]
    pub fn cost(&self, payload_bytes: u16) -> Duration {
        let bytes_cost = (u64::from(payload_bytes) * self.kilobyte_cost_ps).div_ceil(1000);
        self.segment_cost + Duration::from_ps(bytes_cost)
    }

    /// Payload of the frame that came last, and what it cost.
    #[inline]
    #[must_use]
    pub fn cost_of_last(&self) -> (u16, Duration) {
        self.cost
    }

    /// Whether every frame is handled as it arrives: then the ring may as well not be asked.
    #[must_use]
    pub fn is_instant(&self) -> bool {
        self.segment_cost.is_zero()
            && self.kilobyte_cost_ps == 0
            && self.delay_min.is_zero()
            && self.delay_span.is_zero()
            && self.gap.is_none()
            && self.moderation.is_none()
    }

    /// Whether it makes a difference what the card sends: [`ReceiveRing::sent`] need not be told else.
    #[must_use]
    pub fn counts_sent(&self) -> bool {
        self.gap.is_some() || self.moderation.is_some()
    }

    /// The card has got a packet at `now` that leaves it at `leaves`: a completion that moderation counts.
    #[inline]
    pub fn sent(&mut self, now: Time, leaves: Time) {
        self.completions += 1;
        if let Some(gap) = &mut self.gap {
            gap.sent(now, leaves);
        }
    }

    /// What was dropped because the ring was full.
    #[must_use]
    pub fn dropped(&self) -> Losses {
        self.dropped
    }
}

#[cfg(test)]
#[path = "receive_tests.rs"]
mod tests;
