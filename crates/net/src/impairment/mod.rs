//! What a link does to frames beyond carrying them: impairments, one model a file.
//!
//! Periodic loss loses every nth data frame, as the response functions of RFC 3649 and RFC 9438
//! assume; burst loss is [`gilbert_elliott`]'s; a [`script`] singles out frames by number, to see
//! what a sender or a receiver makes of one loss, one mark, one late frame. Independent random loss
//! is the link's own setting `loss`; other chances are in [`faults`], a router's service in `service`, what changes
//! with time in [`outage`] and [`delay_steps`], what is too fast for who carries it in `policer`, ECN fields that are written anew in [`ecn_field`]. The first of outages,
//! script, periodic loss, burst loss and faults that has something to say of a frame decides; the policer looks at what is not lost. Left out: bit errors that no checksum finds.

pub mod delay_steps;
pub mod ecn_field;
pub mod faults;
pub mod gilbert_elliott;
pub mod outage;
mod policer;
pub mod script;
mod service;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Time};

use self::delay_steps::DelaySteps;
use self::ecn_field::EcnField;
use self::faults::{Faults, ReorderConfig};
use self::outage::Outage;
use self::policer::Policer;
use self::service::Service;
use crate::random::Stream;
use crate::token_bucket::TokenBucketConfig;
use gilbert_elliott::{GilbertElliott, GilbertElliottConfig};
use script::{Direction, FrameRule, Script};

/// Impairments of a link, besides independent loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImpairmentConfig {
    /// The direction that all but the script applies to; absent: both, each for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Probability that a bit arrives wrong; the frame is lost by its FCS. 0 to 0.001.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 0.001))]
    pub bit_error_rate: f64,
    /// Probability that a frame arrives twice; 0 to 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub duplicate: f64,
    /// Frames that arrive late by chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<ReorderConfig>,
    /// Each frame is held for a random time from 0 to this; none overtakes another. 0: none is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Duration>,
    /// Frames are handed on together, at multiples of this time. 0: each by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<Duration>,
    /// Every frame with payload whose number in its direction is a multiple of this is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub periodic_loss_frames: Option<u64>,
    /// Loss in bursts, in each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gilbert_elliott: Option<GilbertElliottConfig>,
    /// Times in which the link is down: what would arrive then is lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1_000))]
    pub outages: Vec<Outage>,
    /// A delay beyond the link's own that changes with time; none overtakes another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_steps: Option<DelaySteps>,
    /// A rate beyond which frames are dropped at the other end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policer: Option<TokenBucketConfig>,
    /// What the ECN field of ECN-capable packets becomes; absent: it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn_field: Option<EcnField>,
    /// Frames singled out by their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub script: Vec<FrameRule>,
}

fn is_zero(probability: &f64) -> bool {
    *probability == 0.0
}

impl ImpairmentConfig {
    /// How much later a frame arrives at most, but for what waits before it to be handed on.
    #[must_use]
    pub fn delay_max(&self) -> Duration {
        let service = [self.jitter, self.batch].into_iter().flatten();
        let late = self.reorder.as_ref().map(|late| late.delay);
        let scripted = self.script.iter().map(|rule| rule.by).max();
        let late = late.max(scripted).unwrap_or_default();
        let steps = self.delay_steps.as_ref().map(DelaySteps::most);
        service.chain(steps).fold(late, |time, more| time + more)
    }
}

/// What becomes of a frame on an impaired link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes its way.
    Pass,
    /// It is lost.
    Lost,
    /// A policer drops it.
    Policed,
    /// It arrives so much later than it would; those behind it overtake it.
    Late(Duration),
    /// It arrives twice.
    Doubled,
    /// It arrives with CE, if it is ECN-capable.
    Marked,
}

/// The impairments of one direction of a link.
#[derive(Clone, Debug)]
pub struct Impairment {
    script: Script,
    periodic_loss_frames: u64,
    data_frames: u64,
    burst: Option<GilbertElliott>,
    faults: Option<Faults>,
    service: Option<Service>,
    outages: Vec<Outage>,
    policer: Option<Policer>,
    ecn_field: Option<EcnField>,
    stream: Stream,
}

impl Impairment {
    /// The impairments of one direction, if there are any; `stream` decides what is random.
    #[must_use]
    pub fn new(
        config: &ImpairmentConfig,
        direction: Direction,
        stream: Stream,
    ) -> Option<Impairment> {
        let script = Script::new(&config.script, direction);
        let other = ImpairmentConfig::default();
        let here = config.direction.is_none_or(|only| only == direction);
        let config = if here { config } else { &other };
        let burst = config.gilbert_elliott.as_ref().map(GilbertElliott::new);
        let periodic_loss_frames = config.periodic_loss_frames.unwrap_or(0);
        let faults = Faults::new(config);
        let service = Service::new(config);
        let policer = config.policer.as_ref().map(Policer::new);
        let any = !script.is_empty()
            || burst.is_some()
            || periodic_loss_frames > 0
            || faults.is_some()
            || service.is_some()
            || policer.is_some()
            || config.ecn_field.is_some()
            || !config.outages.is_empty();
        any.then_some(Impairment {
            faults,
            service,
            outages: config.outages.clone(),
            policer,
            ecn_field: config.ecn_field,
            script,
            periodic_loss_frames,
            data_frames: 0,
            burst,
            stream,
        })
    }

    /// What becomes of the next frame of this direction, of so many bytes, which comes to the other end at `at`;
    /// `data` if it carries payload.
    pub fn fate(&mut self, at: Time, frame_bytes: u16, data: bool) -> Fate {
        self.data_frames += u64::from(data);
        let burst = self
            .burst
            .as_mut()
            .is_some_and(|burst| burst.loses(&mut self.stream));
        let periodic = data
            && self.periodic_loss_frames > 0
            && self.data_frames.is_multiple_of(self.periodic_loss_frames);
        let by_chance = self.faults.as_ref().map_or(Fate::Pass, |faults| {
            faults.fate(frame_bytes, &mut self.stream)
        });
        let fate = match self.script.fate(data) {
            _ if self.outages.iter().any(|outage| outage.holds(at)) => Fate::Lost,
            Fate::Pass if burst || periodic => Fate::Lost,
            Fate::Pass => by_chance,
            fate => fate,
        };
        let comes = fate != Fate::Lost;
        let policer = self.policer.as_mut().filter(|_| comes);
        match policer.is_some_and(|policer| policer.drops(at, frame_bytes)) {
            true => Fate::Policed,
            false => fate,
        }
    }

    /// What it writes into the ECN field of what comes through.
    #[must_use]
    pub fn ecn_field(&self) -> Option<EcnField> {
        self.ecn_field
    }

    /// How long a frame that has arrived at `at`, and takes the line for so long, is held before it is
    /// handed on.
    pub fn hold(&mut self, at: Time, line: Duration) -> Duration {
        match &mut self.service {
            Some(service) => service.hold(at, line, &mut self.stream),
            None => Duration::ZERO,
        }
    }
}

#[cfg(test)]
#[path = "impairment_tests.rs"]
mod tests;
