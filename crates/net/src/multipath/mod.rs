//! Which of several equal paths a frame takes.
//!
//! One rule, one file. Whoever knows the routes tells which ports lead nearer to a frame's destination, and how long
//! their queues are; a rule says which of them it leaves by. That a flow keeps to one path is not a rule in here: it
//! needs no memory, so whoever knows the routes hashes.

pub mod flowlet;
pub mod packet;
pub mod round_robin;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Time;

use crate::random::Stream;

/// How frames are spread over several equal paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MultipathConfig {
    /// By a hash of their flow, which keeps to one path (RFC 2992).
    Flow(ByFlow),
    /// Each frame by itself.
    Packet(packet::PacketConfig),
    /// One path after the other, frame by frame.
    RoundRobin(round_robin::RoundRobinConfig),
    /// A flow's next frames may take another path once it has been silent for a while.
    Flowlet(flowlet::FlowletConfig),
}

/// By a hash of the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByFlow {
    /// When routes change and ports are lost, only flows that had one of these take another, and take it back later: the
    /// hash leads to one of many buckets, and those of a lost port are dealt to the others (resilient hashing).
    #[serde(default, skip_serializing_if = "is_not")]
    pub resilient: bool,
}

fn is_not(flag: &bool) -> bool {
    !flag
}

impl Default for MultipathConfig {
    fn default() -> MultipathConfig {
        MultipathConfig::Flow(ByFlow::default())
    }
}

impl MultipathConfig {
    /// Whether flows that have not lost their port keep it when others do.
    #[must_use]
    pub fn is_resilient(&self) -> bool {
        matches!(self, MultipathConfig::Flow(ByFlow { resilient: true }))
    }

    /// Whether flows keep to one path.
    #[must_use]
    pub fn is_by_flow(&self) -> bool {
        matches!(self, MultipathConfig::Flow(_))
    }
}

/// Ports of equal paths.
#[derive(Clone, Copy, Debug)]
pub struct Equal<'a> {
    /// Their number among the switch's sets of such ports, below what [`Balancer::new`] was told.
    pub set: usize,
    /// Two at least.
    pub ports: &'a [u16],
}

/// What a frame would find at a port: less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Load {
    /// Bytes of frames that wait.
    pub queued_bytes: u64,
    /// Whether a frame is being sent.
    pub is_sending: bool,
}

/// A rule at work, for all frames of a switch.
#[derive(Clone, Debug)]
pub enum Balancer {
    /// Each frame by itself.
    Packet(packet::Packet),
    /// One path after the other.
    RoundRobin(round_robin::RoundRobin),
    /// By flowlets.
    Flowlet(flowlet::Flowlet),
}

impl Balancer {
    /// The rule that `config` describes, on a switch with so many sets of equal ports; none where flows keep to one
    /// path. `stream` draws what is drawn.
    #[must_use]
    pub fn new(config: &MultipathConfig, sets: usize, stream: Stream) -> Option<Balancer> {
        Some(match config {
            MultipathConfig::Flow(_) => return None,
            MultipathConfig::Packet(config) => {
                Balancer::Packet(packet::Packet::new(config, sets, stream))
            }
            MultipathConfig::RoundRobin(_) => {
                Balancer::RoundRobin(round_robin::RoundRobin::new(sets, stream))
            }
            MultipathConfig::Flowlet(config) => {
                Balancer::Flowlet(flowlet::Flowlet::new(config, stream))
            }
        })
    }

    /// Routes have changed: there are so many sets of equal ports now, and their numbers are others'.
    pub fn reroute(&mut self, sets: usize) {
        match self {
            Balancer::Packet(packet) => packet.reroute(sets),
            Balancer::RoundRobin(round_robin) => round_robin.reroute(sets),
            // It goes by ports, and looks whether one is still among those there are.
            Balancer::Flowlet(_) => {}
        }
    }

    /// The port by which a frame of `flow` leaves; `load` says what it would find at one.
    pub fn port(
        &mut self,
        now: Time,
        flow: u32,
        equal: Equal<'_>,
        load: impl FnMut(u16) -> Load,
    ) -> u16 {
        match self {
            Balancer::Packet(packet) => packet.port(equal, load),
            Balancer::RoundRobin(round_robin) => round_robin.port(equal),
            Balancer::Flowlet(flowlet) => flowlet.port(now, flow, equal, load),
        }
    }
}

/// A port that no switch has.
const NONE: u16 = u16::MAX;

/// `samples`, unless said otherwise.
fn one() -> u16 {
    1
}

/// The least loaded of `samples` ports, each drawn from all of them, or of all if there are no more; of equals the
/// first drawn.
fn drawn(
    stream: &mut Stream,
    samples: u16,
    ports: &[u16],
    mut load: impl FnMut(u16) -> Load,
) -> u16 {
    let count = ports.len();
    let mut draw = || stream.below(count as u64) as usize;
    if samples <= 1 {
        return ports[draw()];
    }
    let all = usize::from(samples) >= count;
    let first = draw();
    let mut best = (load(ports[first]), ports[first]);
    for behind in 1..usize::from(samples).min(count) {
        let port = ports[if all {
            (first + behind) % count
        } else {
            draw()
        }];
        let found = load(port);
        if found < best.0 {
            best = (found, port);
        }
    }
    best.1
}

#[cfg(test)]
#[path = "multipath_tests.rs"]
mod tests;
