//! Marking of ECN-capable packets at a switch's egress queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Bytes;

/// How a queue marks ECN-capable packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MarkingConfig {
    /// No marking.
    Off {},
    /// Step marking, DCTCP's K: CE on every ECN-capable packet that finds more than `threshold`
    /// bytes queued (Alizadeh et al., SIGCOMM 2010, section 3.1; RFC 8257).
    Step {
        /// The threshold K: bytes of frames in the egress queue on arrival.
        threshold: Bytes,
    },
}
