//! Pushing back over a link: PAUSE frames and priority flow control.
//!
//! Models IEEE 802.3 annex 31B (PAUSE: the whole link stops, its acknowledgements too) and
//! 802.1Qbb (priority flow control: classes stop one by one). A switch watches how much waits: of
//! one egress queue, in which case it stops every other port, or of what one ingress port sent, in
//! which case it stops that one. Above the high watermark it sends a frame that stops the peer for
//! a number of quanta of 512 bit times, again before they are over as long as it is not below the
//! low watermark; below, one with zero quanta. `watch` has the switch's side, `paused` the peer's.
//! Left out: how long a frame waits behind the switch's own transmission is the link's matter.

mod paused;
mod watch;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use tailback_units::{Bytes, Duration, Rate};

pub use paused::Paused;
pub use watch::{Order, Reason, Watch};

/// How a switch stops those that send to it, as a scenario file says it.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "FlowControlConfig")]
pub(crate) enum FlowControlOrOff {
    /// Nothing is stopped, as without it.
    Off {},
    /// 802.3x: whole links.
    Pause(PauseConfig),
    /// 802.1Qbb: classes.
    Pfc(PfcConfig),
}

impl FlowControlOrOff {
    /// Reads what stops those that send to a switch; nothing if it is off.
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Box<FlowControlConfig>>, D::Error> {
        Ok(match FlowControlOrOff::deserialize(from)? {
            FlowControlOrOff::Off {} => None,
            FlowControlOrOff::Pause(pause) => Some(FlowControlConfig::Pause(pause)),
            FlowControlOrOff::Pfc(pfc) => Some(FlowControlConfig::Pfc(pfc)),
        }
        .map(Box::new))
    }
}

/// How a switch stops those that send to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowControlConfig {
    /// 802.3x: whole links.
    Pause(PauseConfig),
    /// 802.1Qbb: classes.
    Pfc(PfcConfig),
}

/// Parameters of PAUSE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseConfig {
    /// Above this many bytes links are stopped.
    pub high_watermark: Bytes,
    /// At or below this many they may go on.
    pub low_watermark: Bytes,
    /// What is watched.
    #[serde(default)]
    pub watch: Watched,
    /// How long a frame stops its receiver, in quanta of 512 bit times.
    #[serde(default = "longest")]
    #[schemars(default = "longest", range(min = 1, max = 65_535))]
    pub quanta: u16,
    /// From a frame's arrival until its receiver has stopped.
    #[serde(default)]
    pub reaction: Duration,
}

/// Parameters of priority flow control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PfcConfig {
    /// The classes that are lossless.
    #[schemars(length(min = 1, max = 8))]
    pub classes: Vec<PfcClass>,
    /// What is watched.
    #[serde(default)]
    pub watch: Watched,
    /// How long a frame stops its receiver, in quanta of 512 bit times.
    #[serde(default = "longest")]
    #[schemars(default = "longest", range(min = 1, max = 65_535))]
    pub quanta: u16,
    /// From a frame's arrival until its receiver has stopped.
    #[serde(default)]
    pub reaction: Duration,
}

/// One lossless class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PfcClass {
    /// The class, 0 to 7.
    #[schemars(range(min = 0, max = 7))]
    pub class: u8,
    /// Above this many bytes of it, it is stopped.
    pub high_watermark: Bytes,
    /// At or below this many it may go on.
    pub low_watermark: Bytes,
}

/// What a switch compares with its watermarks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Watched {
    /// What waits for an egress port: all other ports are stopped.
    #[default]
    Egress,
    /// What came in by an ingress port: that port is stopped.
    Ingress,
}

/// The most quanta a frame can carry (802.3 annex 31B).
fn longest() -> u16 {
    65_535
}

/// A PAUSE or PFC frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseFrame {
    /// A bit for each class it is about; all for PAUSE.
    pub classes: u8,
    /// For how many quanta; 0: go on.
    pub quanta: u16,
}

/// So many quanta on a link of that rate: 512 bit times each.
#[must_use]
pub fn quanta_time(quanta: u16, rate: Rate) -> Duration {
    rate.time_for(u64::from(quanta) * 64)
}

impl FlowControlConfig {
    /// How long a frame stops its receiver, in quanta.
    #[must_use]
    pub fn quanta(&self) -> u16 {
        match self {
            FlowControlConfig::Pause(pause) => pause.quanta,
            FlowControlConfig::Pfc(pfc) => pfc.quanta,
        }
    }

    /// From a frame's arrival until its receiver has stopped.
    #[must_use]
    pub fn reaction(&self) -> Duration {
        match self {
            FlowControlConfig::Pause(pause) => pause.reaction,
            FlowControlConfig::Pfc(pfc) => pfc.reaction,
        }
    }
}

#[cfg(test)]
#[path = "flow_control_tests.rs"]
mod tests;
