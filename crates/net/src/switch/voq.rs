//! Ingress-buffered switch: virtual output queues and a crossbar.
//!
//! Models a switch like the Cisco Nexus 5000 family (Cisco white paper C11-462176; Nexus
//! 5000/5500 QoS guide): each ingress port holds its frames in its own memory, one queue for each
//! egress port; an egress port that is free takes the next frame, round robin over the ingress
//! ports that have one and are not sending to another egress port (one round of iSLIP, McKeown
//! 1999). A frame that finds its ingress memory full is dropped there.
//! Left out: the egress pipeline's own small buffer, traffic classes, multicast.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Bytes;

/// Parameters of ingress buffers with virtual output queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoqConfig {
    /// Packet memory of each ingress port for this traffic class.
    pub port_buffer: Bytes,
    /// Allocation unit: a frame takes whole cells.
    pub cell: Bytes,
    /// Rate of a crossbar path as a multiple of the ingress port's line rate.
    #[schemars(range(min = 1.0, max = 16.0))]
    pub speedup: f64,
}
