//! Point-to-point full-duplex Ethernet links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Rate};

/// A full-duplex Ethernet link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Line rate in decimal bits per second.
    pub rate: Rate,
    /// Propagation delay, one way. 5 ns a metre in copper or fibre.
    pub delay: Duration,
    /// Largest IP packet that the link carries (the IP MTU), 576 B to 9216 B.
    pub mtu: Bytes,
    /// Probability that a frame is lost on the link, in each direction, independently; 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub loss: f64,
}
