//! Shared-memory, output-queued switch.
//!
//! Models the admission rule of the Fulcrum FM4000 family (FocalPoint watermarks: receive and
//! transmit private, hog and global marks) and, in place of a fixed transmit hog mark, the dynamic
//! threshold of Choudhury and Hahne (IEEE/ACM ToN 6(2), 1998): a frame of `s` segments from port
//! `i` for port `j` is admitted if port `i` holds less than its private share, or port `j` does,
//! or the shared pool has room and both ports are below their hog marks.
//! Left out: soft-drop watermark and its jitter, traffic classes, pause marks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Bytes;

/// Parameters of a shared packet memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedConfig {
    /// Memory that every port may use, beyond the private shares.
    pub shared: Bytes,
    /// Allocation unit: a frame takes whole segments.
    pub segment: Bytes,
    /// Guaranteed share of each ingress port.
    pub rx_private: Bytes,
    /// Guaranteed share of each egress port.
    pub tx_private: Bytes,
    /// Cap on what frames from one ingress port may hold; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_hog: Option<Bytes>,
    /// Cap on what one egress queue may hold.
    pub tx_limit: TxLimit,
}

/// Cap on one egress queue of a shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TxLimit {
    /// No cap but the memory itself.
    None {},
    /// A fixed number of bytes (the hog watermark).
    Hog {
        /// The cap.
        bytes: Bytes,
    },
    /// `alpha` times the memory that is free at the moment (Choudhury and Hahne).
    Dynamic {
        /// The factor; usually a power of two from 1/8 to 8.
        #[schemars(range(min = 0.001, max = 1024.0))]
        alpha: f64,
    },
}
