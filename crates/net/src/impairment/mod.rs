//! What a link does to frames beyond carrying them: impairments, one model a file.
//!
//! Periodic loss loses every nth data frame, as the response functions of RFC 3649 and RFC 9438
//! assume; burst loss is [`gilbert_elliott`]'s; a [`script`] singles out frames by number, to see
//! what a sender or a receiver makes of one loss, one mark, one late frame. Independent random loss
//! is the link's own setting `loss`. The first of script, periodic and burst loss that has something
//! to say of a frame decides. Left out: bit errors that reach the receiver.

pub mod gilbert_elliott;
pub mod script;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Duration;

use crate::random::Stream;
use gilbert_elliott::{GilbertElliott, GilbertElliottConfig};
use script::{Direction, FrameRule, Script};

/// Impairments of a link, besides independent loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImpairmentConfig {
    /// Every frame with payload whose number in its direction is a multiple of this is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    pub periodic_loss_frames: Option<u64>,
    /// Loss in bursts, in each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gilbert_elliott: Option<GilbertElliottConfig>,
    /// Frames singled out by their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub script: Vec<FrameRule>,
}

/// What becomes of a frame on an impaired link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes its way.
    Pass,
    /// It is lost.
    Lost,
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
        let burst = config.gilbert_elliott.as_ref().map(GilbertElliott::new);
        let periodic_loss_frames = config.periodic_loss_frames.unwrap_or(0);
        let any = !script.is_empty() || burst.is_some() || periodic_loss_frames > 0;
        any.then_some(Impairment {
            script,
            periodic_loss_frames,
            data_frames: 0,
            burst,
            stream,
        })
    }

    /// What becomes of the next frame of this direction; `data` if it carries payload.
    pub fn fate(&mut self, data: bool) -> Fate {
        self.data_frames += u64::from(data);
        let burst = self
            .burst
            .as_mut()
            .is_some_and(|burst| burst.loses(&mut self.stream));
        let periodic = data
            && self.periodic_loss_frames > 0
            && self.data_frames.is_multiple_of(self.periodic_loss_frames);
        match self.script.fate(data) {
            Fate::Pass if burst || periodic => Fate::Lost,
            fate => fate,
        }
    }
}

#[cfg(test)]
#[path = "impairment_tests.rs"]
mod tests;
