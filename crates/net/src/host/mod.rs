//! Hosts as a capacity: queues and costs between TCP and the wire.
//!
//! Models what bounds a host in the incast study, and no more: a transmit queue, a receive ring
//! that one CPU empties at a cost per segment and per byte, interrupt moderation, and the
//! latencies of the application. Costs are back-calculated from one-server rows (docs/models).
//! Left out: cores, scheduling, NAPI budgets, buses; those are a model of their own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration};

/// A host's network card, its CPU as a capacity, and its applications' latencies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Packets the queueing discipline holds (txqueuelen); one offloaded packet counts once.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub tx_queue_packets: u32,
    /// Packets the card's transmit ring holds beyond that.
    #[schemars(range(min = 1, max = 65_536))]
    pub tx_ring_descriptors: u32,
    /// Frames the card's receive ring holds; one more is dropped there.
    #[schemars(range(min = 1, max = 65_536))]
    pub rx_ring_descriptors: u32,
    /// CPU time to receive a segment, whatever its size.
    pub rx_segment_cost: Duration,
    /// CPU time to receive 1000 bytes of payload.
    pub rx_kilobyte_cost: Duration,
    /// How long the card waits before it interrupts an idle CPU.
    pub interrupt_delay: Duration,
    /// Spread of that wait: it is uniform in `interrupt_delay` ± this.
    pub interrupt_jitter: Duration,
    /// Memory charged to a receive buffer for a full frame beyond the frame's buffer (truesize).
    pub skb_overhead: Bytes,
    /// From a request's arrival to the first write of its answer: mean.
    pub service_latency: Duration,
    /// Spread of the service latency: exponential with this mean, added to it.
    pub service_jitter: Duration,
    /// From the last byte of an answer to the next request: mean.
    pub client_latency: Duration,
    /// CPU time of one send call: requests to several servers leave this far apart.
    pub send_call_cost: Duration,
}
