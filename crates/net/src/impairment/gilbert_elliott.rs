//! Loss in bursts: the Gilbert–Elliott channel.
//!
//! Models E. N. Gilbert (Bell System Technical Journal 39, 1960) and E. O. Elliott (ibid. 42, 1963):
//! a channel is good or bad, changes state after every frame with a fixed probability, and loses
//! frames with a probability of its state. Parameters as `tc netem loss gemodel` names them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::random::{self, Stream};

/// Parameters of a Gilbert–Elliott channel. The share of frames lost in the long run is
/// (r · loss_good + p · loss_bad) / (p + r); bursts last 1/r frames on average.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottConfig {
    /// Probability to turn from good to bad after a frame; 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub p: f64,
    /// Probability to turn from bad to good after a frame; 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub r: f64,
    /// Probability that a frame is lost in the bad state (netem's 1 - h); 0 to 1.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss_bad: f64,
    /// Probability that a frame is lost in the good state (netem's 1 - k); 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss_good: f64,
}

fn one() -> f64 {
    1.0
}

/// A Gilbert–Elliott channel at work; it begins good.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    bad: bool,
    to_bad_below: u64,
    to_good_below: u64,
    lost_bad_below: u64,
    lost_good_below: u64,
}

impl GilbertElliott {
    /// A channel in its good state.
    #[must_use]
    pub fn new(config: &GilbertElliottConfig) -> GilbertElliott {
        GilbertElliott {
            bad: false,
            to_bad_below: random::threshold(config.p),
            to_good_below: random::threshold(config.r),
            lost_bad_below: random::threshold(config.loss_bad),
            lost_good_below: random::threshold(config.loss_good),
        }
    }

    /// Whether the next frame is lost; draws two numbers.
    pub fn loses(&mut self, stream: &mut Stream) -> bool {
        let (lost_below, turn_below) = if self.bad {
            (self.lost_bad_below, self.to_good_below)
        } else {
            (self.lost_good_below, self.to_bad_below)
        };
        let lost = hit(stream.next_u64(), lost_below);
        self.bad ^= hit(stream.next_u64(), turn_below);
        lost
    }
}

/// A threshold of all ones means certainty.
fn hit(drawn: u64, below: u64) -> bool {
    drawn < below || below == u64::MAX
}
