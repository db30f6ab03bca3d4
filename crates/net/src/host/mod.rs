//! Hosts as a capacity: queues and costs between TCP and the wire.
//!
//! Models what bounds a host in the incast study, and no more: a transmit queue, a receive ring
//! that one CPU empties at a cost per segment and per byte, interrupt moderation (`moderation`), and the
//! latencies of the application. Costs are back-calculated from one-server rows (docs/models).
//! Left out: cores, scheduling, NAPI budgets; those are a model of their own, [`machine`].

mod buffers;
mod byte_queue_limit;
mod gap;
pub mod joining;
pub mod machine;
mod moderation;
mod port;
mod qdisc;
mod receive;
mod scaling;
mod transmit;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration};

use crate::l2cm::dcqcn::DcqcnConfig;

pub use buffers::{FrameMemory, PageBuffers};
pub use byte_queue_limit::ByteQueueLimit;
pub use machine::{Machine, MachineConfig};
pub use moderation::ModerationConfig;
pub use port::{HostPort, Next};
pub use qdisc::HostQdisc;
pub use receive::ReceiveRing;
pub use scaling::Scaling;
pub use transmit::TransmitQueue;

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
    /// Receive queues of the card (`ethtool -L`; RSS), each with a ring, an interrupt and a CPU of its own: a hash of
    /// the flow picks one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 64), default = "one")]
    pub rx_queues: u32,
    /// CPU time to receive a segment, whatever its size.
    pub rx_segment_cost: Duration,
    /// CPU time to receive 1000 bytes of payload.
    pub rx_kilobyte_cost: Duration,
    /// From a frame's arrival at an idle CPU until the CPU handles it, beyond what moderation adds.
    pub interrupt_delay: Duration,
    /// Spread of that wait: it is uniform in `interrupt_delay` ± this.
    pub interrupt_jitter: Duration,
    /// Least time between two interrupts, of frames received and packets sent alike (ethtool's `rx-usecs`): a
    /// frame that finds an idle CPU waits for what is left of it. As `kernel.interrupt_moderation` of a kernel's card.
    #[serde(default)]
    pub interrupt_gap: Duration,
    /// Adaptive interrupt moderation; absent: every frame that finds an idle CPU interrupts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt_moderation: Option<ModerationConfig>,
    /// Frames of a flow that one interrupt brings become one packet before TCP has them (generic receive
    /// offload, as Linux has it on by default; see [`joining`]).
    #[serde(default)]
    pub gro: bool,
    /// Sizes of receive buffers that the driver chooses from, ascending; none: as large as a frame needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rx_buffer_sizes: Vec<Bytes>,
    /// Memory charged to a socket's receive buffer for a received frame beyond the buffer the card
    /// put it in (sizeof of sk_buff and skb_shared_info); see [`HostConfig::rx_truesize_bytes`].
    pub skb_overhead: Bytes,
    /// Pages that the card's driver cuts receive buffers from, as virtio_net does: the last in a page gets what is
    /// left of it, and frames longer than a buffer take several; absent: a buffer is as large as the largest
    /// frame. See [`PageBuffers`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_page: Option<Bytes>,
    /// From a request's arrival to the first write of its answer: mean.
    pub service_latency: Duration,
    /// Spread of the service latency: exponential with this mean, added to it.
    pub service_jitter: Duration,
    /// From the arrival of the last byte of an answer until the application has seen it; also from when
    /// a connection is up until the program that opened it writes (workloads `bulk` and `flows`).
    pub client_latency: Duration,
    /// CPU time of one send call: requests to several servers leave this far apart, and so begin the
    /// flows of workloads `bulk` and `flows`.
    pub send_call_cost: Duration,
    /// For how long its kernel's clock has ticked when a run begins: when in a tick that is, and in which of their
    /// buckets timers wait; absent: anything up to 32 768 ticks, by the run's seed. Hosts that were started at one
    /// instant, as kernels in virtual time are, tick together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_phase: Option<Duration>,
    /// Rewrite CE to ECT(1) before TCP sees it: how the ECN-switch study made "some congestion
    /// experienced" of what its switch marked.
    #[serde(default)]
    pub ce_to_ect1: bool,
    /// The card speaks DCQCN, as RoCEv2's do: it answers marked packets with CNPs and limits flows that
    /// CNPs are about. `{}` is the paper's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dcqcn: Option<Box<DcqcnConfig>>,
    /// The machine with its parts. With it receive costs, interrupt's delay and jitter are zero, and there
    /// is no `interrupt_moderation`: the machine has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineConfig>,
}

/// As many receive queues as a card has that nothing is said of.
fn one() -> u32 {
    1
}

fn is_one(queues: &u32) -> bool {
    *queues == 1
}
