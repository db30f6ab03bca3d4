//! Congestion management in layer 2: switches tell sources, sources limit their rates.
//!
//! A congestion point watches one egress queue and answers some of the frames that join it with a
//! message to the frame's source; a reaction point at the source limits the rate of the flow the
//! message names. One scheme, one file: [`ecm`] and [`qcn`]; and [`dcqcn`], whose messages come from
//! the card that receives what a switch has marked. Messages go ahead of data and are not lost; how
//! a frame's source is found is the simulator's matter.

pub mod dcqcn;
pub mod ecm;
mod limiter;
pub mod qcn;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use tailback_units::{Bytes, Duration, Rate, Time};

pub use limiter::Limiter;

use crate::random::Stream;

/// The unit in which both schemes count a queue, bytes: the page of IEEE 802.1's simulations of 2007
/// (Qeq = 409 pages are the standard's 26 KB).
pub const PAGE_BYTES: u64 = 64;

/// A scheme, with the parameters of its congestion points and its reaction points, as a scenario file says it.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "L2cmConfig")]
pub(crate) enum L2cmOrOff {
    /// Nobody is told, as without it.
    Off {},
    /// Ethernet congestion management: messages that say less, and more.
    Ecm(ecm::EcmConfig),
    /// Quantised congestion notification: messages that say less only.
    Qcn(qcn::QcnConfig),
}

impl L2cmOrOff {
    /// Reads a scheme; none if it is off.
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Box<L2cmConfig>>, D::Error> {
        Ok(match L2cmOrOff::deserialize(from)? {
            L2cmOrOff::Off {} => None,
            L2cmOrOff::Ecm(ecm) => Some(L2cmConfig::Ecm(ecm)),
            L2cmOrOff::Qcn(qcn) => Some(L2cmConfig::Qcn(qcn)),
        }
        .map(Box::new))
    }
}

/// A scheme, with the parameters of its congestion points and its reaction points.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum L2cmConfig {
    /// Ethernet congestion management: messages that say less, and more.
    Ecm(ecm::EcmConfig),
    /// Quantised congestion notification: messages that say less only.
    Qcn(qcn::QcnConfig),
}

impl L2cmConfig {
    /// What one rate limiter at a host holds back.
    #[must_use]
    pub fn limiters(&self) -> LimiterScope {
        match self {
            L2cmConfig::Ecm(ecm) => ecm.limiters,
            L2cmConfig::Qcn(qcn) => qcn.limiters,
        }
    }
}

/// What one rate limiter at a host holds back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimiterScope {
    /// All frames to one host.
    #[default]
    Destination,
    /// The frames of one connection.
    Flow,
}

/// What a congestion point tells a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// Above zero: there is room; below: send less. In pages under ECM, in 63rds of the worst under
    /// QCN.
    pub fb: i32,
    /// The same in 63rds of the worst, without its sign.
    pub quantised: u8,
    /// Whether it makes a limiter at a source that has none.
    pub limits: bool,
}

impl Feedback {
    /// A CNP of DCQCN: less, it does not say by how much.
    pub const CNP: Feedback = Feedback {
        fb: -1,
        quantised: 1,
        limits: true,
    };
}

/// A congestion point at work on one egress queue.
#[derive(Clone, Debug)]
pub enum CongestionPoint {
    /// ECM's.
    Ecm(ecm::EcmPoint),
    /// QCN's.
    Qcn(qcn::QcnPoint),
}

impl CongestionPoint {
    /// The congestion point of an empty queue; `stream` draws when it samples.
    #[must_use]
    pub fn new(config: &L2cmConfig, stream: Stream) -> CongestionPoint {
        match config {
            L2cmConfig::Ecm(config) => CongestionPoint::Ecm(ecm::EcmPoint::new(config, stream)),
            L2cmConfig::Qcn(config) => CongestionPoint::Qcn(qcn::QcnPoint::new(config, stream)),
        }
    }

    /// A frame has joined the queue, which now holds `queued_bytes`: the message to its source, if
    /// there is one. A message above zero is for a source that this point has limited.
    #[inline]
    pub fn arrive(&mut self, queued_bytes: u64, frame_bytes: u16) -> Option<Feedback> {
        match self {
            CongestionPoint::Ecm(point) => point.arrive(queued_bytes, frame_bytes),
            CongestionPoint::Qcn(point) => point.arrive(queued_bytes, frame_bytes),
        }
    }
}

/// The rate that a reaction point allows, and how it moves.
#[derive(Clone, Debug)]
pub enum ReactionPoint {
    /// ECM's.
    Ecm(ecm::EcmReaction),
    /// QCN's.
    Qcn(qcn::QcnReaction),
    /// DCQCN's.
    Dcqcn(dcqcn::DcqcnReaction),
}

impl ReactionPoint {
    /// The reaction point that a first message at `now` makes, on a link of rate `line`.
    #[must_use]
    pub fn new(config: &L2cmConfig, line: Rate, now: Time, stream: Stream) -> ReactionPoint {
        match config {
            L2cmConfig::Ecm(config) => ReactionPoint::Ecm(ecm::EcmReaction::new(config, line, now)),
            L2cmConfig::Qcn(config) => {
                ReactionPoint::Qcn(qcn::QcnReaction::new(config, line, now, stream))
            }
        }
    }

    /// A message from congestion point `point` has arrived.
    pub fn message(&mut self, now: Time, point: u32, feedback: Feedback) {
        match self {
            ReactionPoint::Ecm(reaction) => reaction.message(now, point, feedback),
            ReactionPoint::Qcn(reaction) => reaction.message(now, feedback),
            ReactionPoint::Dcqcn(reaction) => reaction.notified(now),
        }
    }

    /// A frame of so many bytes has been sent.
    #[inline]
    pub fn sent(&mut self, now: Time, bytes: u64) {
        match self {
            ReactionPoint::Ecm(_) => {}
            ReactionPoint::Qcn(reaction) => reaction.sent(now, bytes),
            ReactionPoint::Dcqcn(reaction) => reaction.sent(bytes),
        }
    }

    /// When [`ReactionPoint::handle_timeout`] is to be called.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Time {
        match self {
            ReactionPoint::Ecm(reaction) => reaction.poll_timeout(),
            ReactionPoint::Qcn(reaction) => reaction.poll_timeout(),
            ReactionPoint::Dcqcn(reaction) => reaction.poll_timeout(),
        }
    }

    /// A timer is due.
    pub fn handle_timeout(&mut self, now: Time) {
        match self {
            ReactionPoint::Ecm(reaction) => reaction.handle_timeout(now),
            ReactionPoint::Qcn(reaction) => reaction.handle_timeout(now),
            ReactionPoint::Dcqcn(reaction) => reaction.handle_timeout(now),
        }
    }

    /// The rate it allows.
    #[inline]
    #[must_use]
    pub fn rate(&self) -> Rate {
        match self {
            ReactionPoint::Ecm(reaction) => reaction.rate(),
            ReactionPoint::Qcn(reaction) => reaction.rate(),
            ReactionPoint::Dcqcn(reaction) => reaction.rate(),
        }
    }

    /// The congestion point that sent the last message to slow down, where the scheme keeps it.
    #[must_use]
    pub fn associated(&self, point: u32) -> bool {
        match self {
            ReactionPoint::Ecm(reaction) => reaction.associated(point),
            ReactionPoint::Qcn(_) | ReactionPoint::Dcqcn(_) => false,
        }
    }

    /// Whether it may go as soon as it allows the line's rate.
    #[must_use]
    pub fn may_go(&self) -> bool {
        match self {
            ReactionPoint::Ecm(_) | ReactionPoint::Qcn(_) => true,
            ReactionPoint::Dcqcn(reaction) => reaction.is_forgotten(),
        }
    }
}

/// A real factor as 65536ths.
fn scaled(factor: f64) -> u64 {
    (factor * 65_536.0).round() as u64
}

/// A queue of so many bytes in pages.
fn pages(bytes: u64) -> i64 {
    (bytes / PAGE_BYTES) as i64
}

/// The magnitude of the worst feedback: Qeq·(2W + 1) pages.
fn worst(qeq: Bytes, w_scaled: u64) -> i64 {
    (((2 * w_scaled + 65_536) * (qeq.get() / PAGE_BYTES)) >> 16).max(1) as i64
}

/// Feedback in pages: (Qeq − q) − W·(q − q before), within the worst.
fn feedback(qeq: Bytes, w_scaled: u64, worst: i64, queue: i64, before: i64) -> i64 {
    let offset = pages(qeq.get()) - queue;
    let delta = (queue - before) * w_scaled as i64;
    (offset - (delta >> 16)).clamp(-worst, worst)
}

/// The magnitude of feedback in 63rds of the worst, to the nearest.
fn quantise(fb: i64, worst: i64) -> u8 {
    ((63 * fb.abs() + worst / 2) / worst).min(63) as u8
}

/// A length of bytes until the next sample, `jitter` (in 65536ths) more or less, uniformly.
fn jittered(bytes: u64, jitter: u64, stream: &mut Stream) -> i64 {
    let spread = (bytes * jitter) >> 16;
    (bytes - spread + stream.below(2 * spread + 1)) as i64
}

/// A period that has passed `now` moved on to the first end after it; says how often.
fn periods(next: &mut Time, period: Duration, now: Time) -> u64 {
    let mut count = 0;
    while *next <= now && !period.is_zero() {
        *next += period;
        count += 1;
    }
    count
}

#[cfg(test)]
#[path = "l2cm_tests.rs"]
mod tests;
