//! DCQCN: QCN's rates, driven by ECN marks.
//!
//! Models Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (SIGCOMM 2015), as RoCEv2
//! cards do it. The congestion point is a switch that marks (RED and others: `marking`). The
//! notification point is the card that receives: a marked packet of a flow is answered with a
//! congestion notification packet (CNP), unless that flow had one within the last N. The reaction
//! point is the card that sends, with a limiter for each flow: a CNP cuts the current rate R_C by
//! α/2, makes the rate before it the target R_T, and moves α towards 1 by the part g; every K
//! without one moves α towards 0 by g. A timer T and a byte counter B make stages, as QCN's do:
//! up to F of either R_C goes half of the way to R_T (fast recovery); beyond that R_T rises by
//! R_AI first, beyond F of both by R_HAI a stage. A flow begins at line rate, with α = 1.
//!
//! Sources: the paper's equations 1 to 4 as the authors repeat them (github.com/jitupadhye-zz/rdma,
//! conext2016/dcqcn-protocol.tex, dcqcn-model.tex, fluidmodel/dcqcn); what they leave open from their
//! simulator (github.com/bobzhuyb/ns3-rdma, qbb-net-device.cc). Where the two differ this follows the
//! paper: a CNP cuts by α as it was before (there: after), fast recovery has F stages (there: F − 1),
//! and a CNP goes out with the first mark (there: at the end of a window of N).
//!
//! Left out: hyper increase that halves timer and counter, a target that is cut to an eighth (both
//! QCN's, in the simulator), the first CNP's own rate and a bound on one cut (both ConnectX's).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Rate, Time};

use super::periods;

/// DCQCN's parameters, by the paper's names; those of Linux's mlx5 driver are given beside them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DcqcnConfig {
    /// N: least time between two CNPs of a flow (np_min_time_between_cnps).
    pub cnp_interval: Duration,
    /// g: the part by which α moves (rp_dce_tcp_g).
    #[schemars(range(min = 0.000_001, max = 1.0))]
    pub g: f64,
    /// K: without a CNP for so long α moves towards 0; to be longer than `cnp_interval`
    /// (rp_dce_tcp_rtt).
    pub alpha_timer: Duration,
    /// α at a flow's first CNP (rp_initial_alpha_value).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub initial_alpha: f64,
    /// T: time that makes a stage (rp_time_reset).
    pub timer: Duration,
    /// B: bytes sent that make a stage (rp_byte_reset).
    pub byte_counter: Bytes,
    /// F: stages of fast recovery (rp_threshold).
    #[schemars(range(min = 1, max = 100))]
    pub f: u32,
    /// Additive increase of the target, at every stage (rp_ai_rate).
    pub r_ai: Rate,
    /// Hyper increase of the target, times the stages beyond fast recovery (rp_hai_rate).
    pub r_hai: Rate,
    /// Least rate of a flow (rp_min_rate).
    pub r_min: Rate,
    /// Every cut makes the rate before it the target; without it only those after a stage of the byte
    /// counter do, as in QCN (rp_clamp_tgt_rate).
    pub clamp_target_rate: bool,
}

impl Default for DcqcnConfig {
    /// The paper's (N, g, K, T, B, F, R_AI); R_HAI and the clamp of its simulator's sample, R_min of its
    /// code.
    fn default() -> DcqcnConfig {
        DcqcnConfig {
            cnp_interval: Duration::from_us(50),
            g: 1.0 / 256.0,
            alpha_timer: Duration::from_us(55),
            initial_alpha: 1.0,
            timer: Duration::from_us(55),
            byte_counter: Bytes::new(10_000_000),
            f: 5,
            r_ai: Rate::from_bps(40_000_000),
            r_hai: Rate::from_bps(200_000_000),
            r_min: Rate::from_bps(100_000_000),
            clamp_target_rate: true,
        }
    }
}

/// Length of a CNP's frame, bytes: Ethernet 18, IPv4 20, UDP 8, InfiniBand's BTH 12, 16 reserved, ICRC 4
/// (InfiniBand Architecture, annex A17.9.3).
pub const CNP_FRAME_BYTES: u64 = 78;

/// The notification point of one card.
#[derive(Clone, Debug)]
pub struct NotificationPoint {
    interval: Duration,
    /// When each flow got its last CNP.
    told: BTreeMap<u32, Time>,
    sent: u64,
}

impl NotificationPoint {
    /// That of a card which has told nobody yet.
    #[must_use]
    pub fn new(config: &DcqcnConfig) -> NotificationPoint {
        NotificationPoint {
            interval: config.cnp_interval,
            told: BTreeMap::new(),
            sent: 0,
        }
    }

    /// A marked packet of `flow` has arrived; says whether a CNP goes out.
    pub fn marked(&mut self, now: Time, flow: u32) -> bool {
        let last = self.told.get(&flow);
        let is_due = last.is_none_or(|last| now.since(*last) >= self.interval);
        if is_due {
            self.told.insert(flow, now);
            self.sent += 1;
        }
        is_due
    }

    /// CNPs sent.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

/// A flow is forgotten after so long without a CNP at the latest.
const FORGET_MAX: Duration = Duration::from_secs(1000);

/// 1, as α and g are counted.
const ONE: u64 = 1 << 32;

/// The reaction point of one flow.
#[derive(Clone, Debug)]
pub struct DcqcnReaction {
    config: DcqcnConfig,
    g: u64,
    line_bps: u64,
    current_bps: u64,
    target_bps: u64,
    alpha: u64,
    /// When α next falls: looked at when it is needed only.
    alpha_at: Time,
    bytes_left: i64,
    byte_stages: u32,
    timer_stages: u32,
    /// Never at line rate: there is nothing to increase.
    timer_at: Time,
    /// With no CNP until then α is next to nothing, and the flow may be forgotten.
    forget_at: Time,
    is_forgotten: bool,
}

impl DcqcnReaction {
    /// That of a flow at line rate, about to get its first CNP.
    #[must_use]
    pub fn new(config: &DcqcnConfig, line: Rate, now: Time) -> DcqcnReaction {
        DcqcnReaction {
            g: parts(config.g).max(1),
            line_bps: line.as_bps(),
            current_bps: line.as_bps(),
            target_bps: line.as_bps(),
            alpha: parts(config.initial_alpha),
            alpha_at: now + config.alpha_timer,
            bytes_left: config.byte_counter.get() as i64,
            byte_stages: 0,
            timer_stages: 0,
            timer_at: Time::NEVER,
            forget_at: Time::NEVER,
            is_forgotten: false,
            config: config.clone(),
        }
    }

    pub(super) fn rate(&self) -> Rate {
        Rate::from_bps(self.current_bps)
    }

    /// A CNP has arrived.
    pub(super) fn notified(&mut self, now: Time) {
        self.handle_timeout(now);
        for _ in 0..periods(&mut self.alpha_at, self.config.alpha_timer, now) {
            self.alpha -= part(self.alpha, self.g);
        }
        if self.config.clamp_target_rate || self.byte_stages > 0 {
            self.target_bps = self.current_bps;
            self.bytes_left = self.config.byte_counter.get() as i64;
        }
        self.byte_stages = 0;
        self.timer_stages = 0;
        let least = self.config.r_min.as_bps().min(self.line_bps);
        let cut = part(self.current_bps, self.alpha / 2);
        self.current_bps = (self.current_bps - cut).max(least);
        self.alpha += part(ONE - self.alpha, self.g);
        self.alpha_at = now + self.config.alpha_timer;
        self.timer_at = now + self.config.timer;
        // α falls below 2^-32 within ln(2^32) / g periods.
        let fall = self
            .config
            .alpha_timer
            .as_ps()
            .saturating_mul(23 * ONE / self.g);
        self.forget_at = now + Duration::from_ps(fall).min(FORGET_MAX);
        self.is_forgotten = false;
    }

    pub(super) fn sent(&mut self, bytes: u64) {
        self.bytes_left -= bytes as i64;
        if self.bytes_left < 0 {
            self.bytes_left = self.config.byte_counter.get() as i64;
            self.byte_stages += 1;
            self.increase();
        }
    }

    pub(super) fn poll_timeout(&self) -> Time {
        self.timer_at.min(self.forget_at)
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.timer_at <= now {
            self.timer_at = now + self.config.timer;
            self.timer_stages += 1;
            self.increase();
        }
        if self.forget_at <= now {
            self.is_forgotten = true;
            self.forget_at = now + self.config.alpha_timer;
        }
    }

    /// Whether there is nothing to remember of the flow.
    pub(super) fn is_forgotten(&self) -> bool {
        self.is_forgotten
    }

    /// A stage of either kind is over.
    fn increase(&mut self) {
        let f = self.config.f;
        let most = self.byte_stages.max(self.timer_stages);
        let least = self.byte_stages.min(self.timer_stages);
        let step = if most <= f {
            0
        } else if least <= f {
            self.config.r_ai.as_bps()
        } else {
            self.config
                .r_hai
                .as_bps()
                .saturating_mul(u64::from(least - f))
        };
        self.target_bps = self.target_bps.saturating_add(step).min(self.line_bps);
        self.current_bps = self.current_bps.midpoint(self.target_bps);
        // Half a distance of a few bits a second never ends.
        if self.line_bps - self.current_bps < self.line_bps / 10_000 {
            self.current_bps = self.line_bps;
            self.timer_at = Time::NEVER;
        }
    }
}

/// A real factor, at most 1, in parts of [`ONE`].
fn parts(factor: f64) -> u64 {
    (factor.clamp(0.0, 1.0) * ONE as f64).round() as u64
}

/// That part of a value.
fn part(value: u64, parts: u64) -> u64 {
    ((u128::from(value) * u128::from(parts)) >> 32) as u64
}

#[cfg(test)]
#[path = "dcqcn_tests.rs"]
mod tests;
