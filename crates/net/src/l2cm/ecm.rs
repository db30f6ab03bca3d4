//! ECM: Ethernet congestion management, at first called BCN (backward congestion notification).
//!
//! Models Bergamasco's proposal to IEEE 802.1 (2005 to 2007) with the parameters of the L2
//! congestion-management study of 2007 (Geisler, Wadekar). The congestion point samples arriving
//! bytes; feedback Fb is (Qeq − q) − W·(q − q at the last sample), in pages. Below zero it goes to
//! the sampled frame's source; above zero only while the queue is below Qeq, and only to a source
//! whose limiter obeys this point. The reaction point adds Gi·Fb·Ru, or takes the part Gd·|Fb| off,
//! at most half; every Td it adds Rd.
//! The published Gi fits Fb in pages, and a raise of at most a tenth of 10 Gb/s; the published Gd
//! does not: 1/128 fits the 6-bit Fb of QCN. So a cut takes |Fb| in 63rds of the worst; that is
//! `quantised_decrease`, and can be switched off. Reconstructed.
//! Left out, as the study had them disabled: over-sampling, ECM(0,0), ECM-MAX.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Rate, Time};

use super::{Feedback, LimiterScope, feedback, jittered, pages, periods, quantise, scaled, worst};
use crate::random::Stream;

/// Parameters of ECM, by the study's names and with its values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EcmConfig {
    /// Weight of the queue's change in the feedback.
    #[schemars(range(min = 0.0, max = 64.0))]
    pub w: f64,
    /// The queue that is aimed at, counted in pages of 64 bytes.
    pub qeq: Bytes,
    /// Bytes that arrive between samples.
    pub sampling_interval: Bytes,
    /// Part of that interval that it is random by, up and down.
    #[schemars(range(min = 0.0, max = 0.9))]
    pub sampling_jitter: f64,
    /// Times `ru` and the feedback in pages: what a message above zero adds.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub gi: f64,
    /// Part of the rate that each unit of feedback below zero takes off.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gd: f64,
    /// Whether that unit is a 63rd of the worst feedback; otherwise a page.
    pub quantised_decrease: bool,
    /// Unit of the increase.
    pub ru: Rate,
    /// Least rate of a limiter.
    pub r_min: Rate,
    /// What is added every `td`.
    pub rd: Rate,
    /// Time between those.
    pub td: Duration,
    /// What one rate limiter holds back.
    pub limiters: LimiterScope,
}

impl Default for EcmConfig {
    fn default() -> EcmConfig {
        EcmConfig {
            w: 2.0,
            qeq: Bytes::new(24_000),
            sampling_interval: Bytes::new(75_000),
            sampling_jitter: 0.15,
            gi: 0.533_33,
            gd: 1.0 / 128.0,
            quantised_decrease: true,
            ru: Rate::from_bps(1_000_000),
            r_min: Rate::from_bps(1_000_000),
            rd: Rate::from_bps(1_000_000),
            td: Duration::from_ms(1),
            limiters: LimiterScope::Destination,
        }
    }
}

/// ECM's congestion point.
#[derive(Clone, Debug)]
pub struct EcmPoint {
    qeq: Bytes,
    w: u64,
    worst: i64,
    interval: u64,
    jitter: u64,
    left: i64,
    queue_before: i64,
    stream: Stream,
}

impl EcmPoint {
    pub(super) fn new(config: &EcmConfig, mut stream: Stream) -> EcmPoint {
        let w = scaled(config.w);
        let (interval, jitter) = (
            config.sampling_interval.get(),
            scaled(config.sampling_jitter),
        );
        EcmPoint {
            qeq: config.qeq,
            w,
            worst: worst(config.qeq, w),
            interval,
            jitter,
            left: jittered(interval, jitter, &mut stream),
            queue_before: 0,
            stream,
        }
    }

    #[inline]
    pub(super) fn arrive(&mut self, queued_bytes: u64, frame_bytes: u16) -> Option<Feedback> {
        self.left -= i64::from(frame_bytes);
        if self.left >= 0 {
            return None;
        }
        self.left = jittered(self.interval, self.jitter, &mut self.stream);
        let queue = pages(queued_bytes);
        let fb = feedback(self.qeq, self.w, self.worst, queue, self.queue_before);
        self.queue_before = queue;
        let room = fb > 0 && queue < pages(self.qeq.get());
        (fb < 0 || room).then(|| Feedback {
            fb: fb as i32,
            quantised: quantise(fb, self.worst),
            limits: fb < 0,
        })
    }
}

/// ECM's reaction point.
#[derive(Clone, Debug)]
pub struct EcmReaction {
    gi: u64,
    gd: u64,
    config: EcmConfig,
    line_bps: u64,
    rate_bps: u64,
    /// The congestion point of the last message below zero.
    point: Option<u32>,
    drift_at: Time,
}

impl EcmReaction {
    pub(super) fn new(config: &EcmConfig, line: Rate, now: Time) -> EcmReaction {
        EcmReaction {
            gi: scaled(config.gi),
            gd: scaled(config.gd),
            line_bps: line.as_bps(),
            rate_bps: line.as_bps(),
            point: None,
            drift_at: now + config.td,
            config: config.clone(),
        }
    }

    pub(super) fn rate(&self) -> Rate {
        Rate::from_bps(self.rate_bps)
    }

    pub(super) fn associated(&self, point: u32) -> bool {
        self.point == Some(point)
    }

    pub(super) fn message(&mut self, now: Time, point: u32, feedback: Feedback) {
        self.handle_timeout(now);
        let magnitude = u64::from(feedback.fb.unsigned_abs());
        if feedback.fb > 0 {
            if self.associated(point) {
                let ru = u128::from(self.config.ru.as_bps());
                let more = (u128::from(self.gi) * u128::from(magnitude) * ru) >> 16;
                self.rate_bps = (self.rate_bps + more as u64).min(self.line_bps);
            }
            return;
        }
        self.point = Some(point);
        let units = if self.config.quantised_decrease {
            u64::from(feedback.quantised)
        } else {
            magnitude
        };
        let left = 65_536_u64.saturating_sub(self.gd * units).max(32_768);
        let rate = (u128::from(self.rate_bps) * u128::from(left)) >> 16;
        self.rate_bps = (rate as u64).max(self.config.r_min.as_bps());
    }

    pub(super) fn poll_timeout(&self) -> Time {
        self.drift_at
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        let times = periods(&mut self.drift_at, self.config.td, now);
        let more = self.config.rd.as_bps().saturating_mul(times);
        self.rate_bps = (self.rate_bps + more).min(self.line_bps);
    }
}

#[cfg(test)]
#[path = "ecm_tests.rs"]
mod tests;
