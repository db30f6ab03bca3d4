//! Ethernet switches: what they hold, drop and mark.

pub mod queued;
pub mod shared;
pub mod voq;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Duration;

use crate::flow_control::{FlowControlConfig, FlowControlOrOff};
use crate::l2cm::{L2cmConfig, L2cmOrOff};
use crate::marking::MarkingConfig;
use crate::multipath::MultipathConfig;

/// A switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchConfig {
    /// Number of ports.
    #[schemars(range(min = 2, max = 1024))]
    pub ports: u16,
    /// Whether a frame may begin to leave before it has arrived whole.
    pub forwarding: Forwarding,
    /// Port-to-port latency: first bit in to first bit out for cut-through, last bit in to first
    /// bit out for store-and-forward.
    pub latency: Duration,
    /// How packet memory is organised and shared.
    pub buffer: BufferConfig,
    /// Marking of ECN-capable packets.
    pub marking: MarkingConfig,
    /// How frames are spread over several equal paths; flows keep to one of them unless it says otherwise.
    #[serde(default, skip_serializing_if = "MultipathConfig::is_by_flow")]
    pub multipath: MultipathConfig,
    /// Stopping those who send to it, by PAUSE or priority flow control; needs a `queued` buffer.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "FlowControlOrOff::read"
    )]
    #[schemars(with = "Option<FlowControlOrOff>")]
    pub flow_control: Option<Box<FlowControlConfig>>,
    /// Telling sources to send less, by ECM or QCN; needs a `queued` buffer.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "L2cmOrOff::read"
    )]
    #[schemars(with = "Option<L2cmOrOff>")]
    pub congestion_management: Option<Box<L2cmConfig>>,
}

impl SwitchConfig {
    /// Whether it acts on its neighbours' transmitters.
    #[must_use]
    pub fn pushes_back(&self) -> bool {
        self.flow_control.is_some() || self.congestion_management.is_some()
    }
}

/// When a frame may begin to leave a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// Once its header is in, where the egress port is free and no faster than the ingress port.
    CutThrough,
    /// Once it is in whole.
    StoreAndForward,
}

/// How a switch organises its packet memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BufferConfig {
    /// One memory that all egress queues share.
    Shared(shared::SharedConfig),
    /// A memory at every ingress port, virtual output queues, a crossbar.
    Voq(voq::VoqConfig),
    /// One memory, and queues that are served when their port is free: needed where ports can be
    /// stopped, classes differ or queues are managed.
    Queued(Box<queued::QueuedConfig>),
}

impl BufferConfig {
    /// The most bytes that can wait for one egress port of so many, while nothing else waits in the switch.
    #[must_use]
    pub fn queue_capacity_bytes(&self, ports: u16) -> u64 {
        match self {
            BufferConfig::Shared(shared) => shared.queue_capacity_bytes(ports),
            BufferConfig::Voq(voq) => u64::from(ports) * voq.port_buffer.get(),
            BufferConfig::Queued(queued) => queued.port_capacity_bytes(ports, 0),
        }
    }

    /// The most bytes that each queue of one port of so many can hold, while nothing else waits in the switch.
    #[must_use]
    pub fn band_capacities_bytes(&self, ports: u16) -> Vec<u64> {
        match self {
            BufferConfig::Shared(_) | BufferConfig::Voq(_) => {
                vec![self.queue_capacity_bytes(ports)]
            }
            BufferConfig::Queued(queued) => (0..queued.scheduler.bands().max(1))
                .map(|band| queued.band_capacity_bytes(band, ports, 0))
                .collect(),
        }
    }
}

/// Why a switch dropped a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropCause {
    /// The memory it needed is full.
    BufferFull,
    /// Its egress queue holds all it may.
    QueueLimit,
    /// Its ingress port's frames hold all they may.
    IngressLimit,
    /// Active queue management dropped it early.
    Early,
    /// An acknowledgement that a later one in its queue says again.
    AckFilter,
}

impl DropCause {
    /// Every cause, in the order of its number.
    pub const ALL: [DropCause; 5] = [
        DropCause::BufferFull,
        DropCause::QueueLimit,
        DropCause::IngressLimit,
        DropCause::Early,
        DropCause::AckFilter,
    ];

    /// The cause's name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DropCause::BufferFull => "buffer-full",
            DropCause::QueueLimit => "queue-limit",
            DropCause::IngressLimit => "ingress-limit",
            DropCause::Early => "early-drop",
            DropCause::AckFilter => "ack-filter",
        }
    }
}
