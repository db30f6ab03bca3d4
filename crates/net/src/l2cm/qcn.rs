//! QCN: quantised congestion notification.
//!
//! Models the algorithm of IEEE 802.1Qau-2010 clause 30 and annex Q in the form of its pseudo-code of 2007, and the
//! pre-standard parts that the L2 congestion-management study of 2007 (Geisler, Wadekar) had switched on. The congestion point
//! samples arriving frames; feedback is (Qeq − q) − W·(q − q at the last sample), in 6 bits; only
//! what says "less" is sent, and a source that has no limiter yet makes one only if the queue was above Qeq: a queue
//! that is short and grows limits nobody anew. The reaction point cuts its rate by Gd·Fb, at most by
//! `min_dec_factor`, then recovers towards the rate before: in stages of a byte counter and of a
//! timer it halves the distance (fast recovery), beyond `fr_threshold` stages of either it also
//! raises the target by `a` (active increase), beyond both by `r_hai` a stage (hyper-active). Without
//! a timer the byte counter's stages count for both.
//! Sources: the standard's behaviour as described in HPE's FlexFabric 5940 manual (QCN algorithm);
//! the names and the reaction point's stages of document au-rong-qcn-serial-hai-pseudo-code (IEEE 802.1, November 2007), and
//! what public programs made of it: host.cc of sef1/congestion-control (a limiter begins at `fb != 0 && qOff < 0`, and a cut
//! starts the byte counter anew only when a stage of it is over; the latter in qbb-net-device.cc of bobzhuyb/ns3-rdma too).
//! Where the state machine of the published standard (as qbb-net-device.cc of bobzhuyb/ns3-rdma has it) parts from that, the
//! model is of 2007: fast recovery takes `fr_threshold` stages, not one less; a counter's period is halved after as many
//! stages of its own, not in hyper-active increase only; a hyper-active step is `r_hai` times (the stages of the counter
//! that has fewer − `fr_threshold`), not (these + 1).
//!
//! Reconstructed, because no public definition was found; each can be switched off:
//! - `drift`: every `drift_interval` rates are multiplied by `drift_factor`.
//! - `efr`, extra fast recovery: the first stage after a cut goes half of the rest of the way as
//!   well, but no more than `efr_max` of it.
//! - `fb_hat`: the source averages the feedback it gets, halved at every stage, and takes that share
//!   off its active increase while messages keep coming.
//!
//! Left out: tags on frames of limited flows, several priorities, multicast.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Rate, Time};

use super::{Feedback, LimiterScope, feedback, jittered, pages, periods, quantise, scaled, worst};
use crate::random::{self, Stream};

/// Parameters of QCN. Names are the study's; the standard's are given beside them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QcnConfig {
    /// Weight of the queue's change in the feedback (cpW).
    #[schemars(range(min = 0.0, max = 64.0))]
    pub w: f64,
    /// The queue that is aimed at, counted in pages of 64 bytes (cpQSp).
    pub qeq: Bytes,
    /// When the congestion point samples.
    pub sampling: Sampling,
    /// Largest part of the rate that one message leaves at least (rpgMinDecFac).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_dec_factor: f64,
    /// Part of the rate that each unit of the 6-bit feedback takes off (rpgGd).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gd: f64,
    /// Least rate of a limiter (rpgMinRate).
    pub r_min: Rate,
    /// Stages of fast recovery (rpgThreshold).
    #[schemars(range(min = 1, max = 100))]
    pub fr_threshold: u32,
    /// Bytes sent that make a stage of the byte counter; half as many after fast recovery
    /// (rpgByteReset).
    pub to_threshold: Bytes,
    /// Time that makes a stage of the timer; half of it after fast recovery (rpgTimeReset). 0: there is no
    /// timer, and the byte counter's stages count for both.
    pub timer: Duration,
    /// Active increase of the target, at every stage (rpgAiRate).
    pub a: Rate,
    /// Whether there is hyper-active increase.
    pub hai: bool,
    /// Hyper-active increase of the target, times the stages beyond fast recovery (rpgHaiRate).
    pub r_hai: Rate,
    /// Whether rates drift upwards by themselves.
    pub drift: bool,
    /// What a rate is multiplied by every `drift_interval`.
    #[schemars(range(min = 1.0, max = 2.0))]
    pub drift_factor: f64,
    /// Time between drifts.
    pub drift_interval: Duration,
    /// Whether there is extra fast recovery.
    pub efr: bool,
    /// Most that extra fast recovery adds to the rate.
    pub efr_max: Rate,
    /// Whether the increase is held back by the average of the feedback.
    pub fb_hat: bool,
    /// What one rate limiter holds back.
    pub limiters: LimiterScope,
}

/// When a congestion point samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sampling {
    /// Each frame with a probability that rises linearly with the feedback, as in 2007.
    Probability {
        /// Length that the probabilities are for: a shorter frame is sampled that much more rarely, as
        /// where bytes are counted between samples. 0: frames of every length alike.
        #[serde(default)]
        per: Bytes,
        /// Without feedback.
        #[schemars(range(min = 0.0, max = 1.0))]
        least: f64,
        /// At the worst feedback.
        #[schemars(range(min = 0.0, max = 1.0))]
        most: f64,
    },
    /// After so many bytes, fewer the stronger the feedback: the standard's table.
    Interval {
        /// Bytes between samples at feedback 0 to 7 (150 KB in the standard); the table divides them
        /// by up to 8.
        bytes: Bytes,
        /// Part of the interval that it is random by, up and down.
        #[schemars(range(min = 0.0, max = 0.9))]
        jitter: f64,
    },
}

impl Default for QcnConfig {
    /// IEEE 802.1Qau-2010's defaults, for stages as of 2007.
    fn default() -> QcnConfig {
        QcnConfig {
            w: 2.0,
            qeq: Bytes::new(26_000),
            sampling: Sampling::Interval {
                bytes: Bytes::new(150_000),
                jitter: 0.15,
            },
            min_dec_factor: 0.5,
            gd: 1.0 / 128.0,
            r_min: Rate::from_bps(10_000_000),
            fr_threshold: 5,
            to_threshold: Bytes::new(150_000),
            timer: Duration::from_ms(15),
            a: Rate::from_bps(5_000_000),
            hai: true,
            r_hai: Rate::from_bps(50_000_000),
            drift: false,
            drift_factor: 1.0005,
            drift_interval: Duration::from_us(200),
            efr: false,
            efr_max: Rate::from_bps(1_000_000),
            fb_hat: false,
            limiters: LimiterScope::Flow,
        }
    }
}

/// The standard's table: the interval over this, in tenths, by the upper 3 bits of the feedback
/// (150, 75, 50, 37.5, 30, 25, 21.5, 18.5 KB).
const INTERVAL_DIVISORS: [u64; 8] = [10, 20, 30, 40, 50, 60, 70, 81];

/// QCN's congestion point.
#[derive(Clone, Debug)]
pub struct QcnPoint {
    qeq: Bytes,
    w: u64,
    worst: i64,
    sampling: Sampler,
    queue_before: i64,
    stream: Stream,
}

#[derive(Clone, Copy, Debug)]
enum Sampler {
    Probability { per: u64, least: u64, per_unit: u64 },
    Interval { bytes: u64, jitter: u64, left: i64 },
}

impl QcnPoint {
    pub(super) fn new(config: &QcnConfig, mut stream: Stream) -> QcnPoint {
        let w = scaled(config.w);
        let sampling = match config.sampling {
            Sampling::Probability { per, least, most } => Sampler::Probability {
                per: per.get(),
                least: random::threshold(least),
                per_unit: random::threshold((most - least).max(0.0) / 63.0),
            },
            Sampling::Interval { bytes, jitter } => {
                let jitter = scaled(jitter);
                Sampler::Interval {
                    bytes: bytes.get(),
                    jitter,
                    left: jittered(bytes.get(), jitter, &mut stream),
                }
            }
        };
        QcnPoint {
            qeq: config.qeq,
            w,
            worst: worst(config.qeq, w),
            sampling,
            queue_before: 0,
            stream,
        }
    }

    #[inline]
    pub(super) fn arrive(&mut self, queued_bytes: u64, frame_bytes: u16) -> Option<Feedback> {
        let queue = pages(queued_bytes);
        let fb = feedback(self.qeq, self.w, self.worst, queue, self.queue_before).min(0);
        let quantised = quantise(fb, self.worst);
        let sampled = match &mut self.sampling {
            Sampler::Probability {
                per,
                least,
                per_unit,
            } => {
                let below = least.saturating_add(*per_unit * u64::from(quantised));
                let below = match *per {
                    0 => below,
                    per => {
                        let share = u128::from(below) * u128::from(frame_bytes) / u128::from(per);
                        u64::try_from(share).unwrap_or(u64::MAX)
                    }
                };
                self.stream.next_u64() <= below
            }
            Sampler::Interval {
                bytes,
                jitter,
                left,
            } => {
                *left -= i64::from(frame_bytes);
                let due = *left < 0;
                if due {
                    let divisor = INTERVAL_DIVISORS[usize::from(quantised >> 3)];
                    *left = jittered(*bytes * 10 / divisor, *jitter, &mut self.stream);
                }
                due
            }
        };
        if !sampled {
            return None;
        }
        self.queue_before = queue;
        (quantised > 0).then_some(Feedback {
            fb: -i32::from(quantised),
            quantised,
            limits: queue > pages(self.qeq.get()),
        })
    }
}

/// QCN's reaction point.
#[derive(Clone, Debug)]
pub struct QcnReaction {
    config: QcnConfig,
    gd: u64,
    min_dec: u64,
    drift: u64,
    line_bps: u64,
    current_bps: u64,
    target_bps: u64,
    /// Bytes until the byte counter's next stage.
    bytes_left: i64,
    byte_stages: u32,
    timer_stages: u32,
    timer_at: Time,
    drift_at: Time,
    fb_hat: u32,
    stream: Stream,
}

/// The byte counter's and the timer's period are random by this part, up and down (802.1Qau: 15 %).
const JITTER: f64 = 0.15;

impl QcnReaction {
    pub(super) fn new(config: &QcnConfig, line: Rate, now: Time, stream: Stream) -> QcnReaction {
        let mut reaction = QcnReaction {
            gd: scaled(config.gd),
            min_dec: scaled(config.min_dec_factor),
            drift: scaled(config.drift_factor),
            line_bps: line.as_bps(),
            current_bps: line.as_bps(),
            target_bps: line.as_bps(),
            bytes_left: 0,
            byte_stages: 0,
            timer_stages: 0,
            timer_at: Time::NEVER,
            drift_at: now + config.drift_interval,
            fb_hat: 0,
            config: config.clone(),
            stream,
        };
        reaction.bytes_left = reaction.byte_period();
        reaction
    }

    pub(super) fn rate(&self) -> Rate {
        Rate::from_bps(self.current_bps)
    }

    pub(super) fn message(&mut self, now: Time, feedback: Feedback) {
        self.handle_timeout(now);
        let fb = u64::from(feedback.quantised);
        self.fb_hat = (self.fb_hat + u32::from(feedback.quantised)).div_ceil(2);
        // Cuts within the first stage of bytes answer the same congestion: they keep the target and its end.
        let first = self.byte_stages == 0;
        self.byte_stages = 0;
        self.timer_stages = 0;
        if !first {
            self.target_bps = self.current_bps;
            self.bytes_left = self.byte_period();
        }
        self.timer_at = self.timer_after(now);
        let left = 65_536_u64.saturating_sub(self.gd * fb).max(self.min_dec);
        self.current_bps = times(self.current_bps, left).max(self.config.r_min.as_bps());
    }

    pub(super) fn sent(&mut self, _now: Time, bytes: u64) {
        self.bytes_left -= bytes as i64;
        if self.bytes_left < 0 {
            self.byte_stages += 1;
            self.bytes_left = self.byte_period();
            self.increase(self.byte_stages == 1 && self.timer_stages == 0);
        }
    }

    pub(super) fn poll_timeout(&self) -> Time {
        let drift = if self.config.drift {
            self.drift_at
        } else {
            Time::NEVER
        };
        self.timer_at.min(drift)
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.config.drift {
            for _ in 0..periods(&mut self.drift_at, self.config.drift_interval, now) {
                self.current_bps = times(self.current_bps, self.drift).min(self.line_bps);
            }
            self.target_bps = self.target_bps.max(self.current_bps);
        }
        if self.timer_at <= now {
            self.timer_stages += 1;
            self.timer_at = self.timer_after(now);
            self.increase(self.timer_stages == 1 && self.byte_stages == 0);
        }
    }

    /// A stage of either counter is over; `first` if it is the first since a cut.
    fn increase(&mut self, first: bool) {
        let fr = self.config.fr_threshold;
        let least = if self.config.timer.is_zero() {
            self.byte_stages
        } else {
            self.byte_stages.min(self.timer_stages)
        };
        let most = self.byte_stages.max(self.timer_stages);
        let mut step = if most <= fr {
            0
        } else if least <= fr || !self.config.hai {
            self.config.a.as_bps()
        } else {
            self.config.r_hai.as_bps() * u64::from(least - fr)
        };
        if self.config.fb_hat {
            step = step * u64::from(64 - self.fb_hat.min(63)) / 64;
            self.fb_hat /= 2;
        }
        let early = self.byte_stages == 1 || self.timer_stages == 1;
        if early && self.target_bps > 10 * self.current_bps {
            // A deep cut: the target is too far to go half of the way there.
            self.target_bps /= 8;
        } else {
            self.target_bps = (self.target_bps + step).min(self.line_bps);
        }
        self.target_bps = self.target_bps.max(self.current_bps);
        self.current_bps = (self.current_bps + self.target_bps) / 2;
        if first && self.config.efr {
            let rest = (self.target_bps - self.current_bps) / 2;
            self.current_bps += rest.min(self.config.efr_max.as_bps());
        }
        // Half a distance of a few bits a second never ends; r_min or efr may be above the line's rate.
        if self.line_bps.saturating_sub(self.current_bps) < self.line_bps.div_ceil(10_000) {
            self.current_bps = self.line_bps;
        }
    }

    fn byte_period(&mut self) -> i64 {
        let bytes = self.config.to_threshold.get();
        let bytes = if self.byte_stages < self.config.fr_threshold {
            bytes
        } else {
            bytes / 2
        };
        jittered(bytes, scaled(JITTER), &mut self.stream)
    }

    fn timer_after(&mut self, now: Time) -> Time {
        if self.config.timer.is_zero() {
            return Time::NEVER;
        }
        let ps = self.config.timer.as_ps();
        let ps = if self.timer_stages < self.config.fr_threshold {
            ps
        } else {
            ps / 2
        };
        let spread = ((u128::from(ps) * u128::from(scaled(JITTER))) >> 16) as u64;
        now + Duration::from_ps((ps - spread + self.stream.below(2 * spread + 1)).max(1))
    }
}

/// A rate times a factor in 65536ths.
fn times(bps: u64, factor: u64) -> u64 {
    ((u128::from(bps) * u128::from(factor)) >> 16) as u64
}

#[cfg(test)]
#[path = "qcn_tests.rs"]
mod tests;
