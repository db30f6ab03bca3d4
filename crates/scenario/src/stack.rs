//! The TCP profile's parameters that this crate needs to name. They move to the TCP crate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Duration;

/// A TCP stack profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stack {
    /// Clock ticks a second.
    pub hz: u32,
    /// Least retransmission timeout.
    pub rto_min: Duration,
    /// Randomisation.
    pub rto_jitter: f64,
    /// Congestion control.
    pub tcp_congestion_control: String,
    /// ECN.
    pub tcp_ecn: bool,
}

pub const PRESETS: &[(&str, &str)] = &[(
    "linux-2.6.18",
    "hz = 1000\nrto_min = \"200ms\"\nrto_jitter = 0.0\ntcp_congestion_control = \"bic\"\ntcp_ecn = false\n",
)];
