//! Each frame by itself: packet spraying, and DRILL.
//!
//! Models random packet spraying (Dixit, Prakash, Hu, Kompella, INFOCOM 2013) with `samples = 1`, and DRILL(d, m)
//! (Ghorbani, Yang, Godfrey, Ganjali, Firoozshahian, SIGCOMM 2017, section 3.2) with `samples` = d and `memory = 1`: of d drawn queues and
//! the one that was best last time the least loaded is taken. Left out: DRILL's m above 1, its components for networks
//! that are not symmetric, several forwarding engines that do not know what others have just sent, and what hosts
//! do in DRILL to put frames into order again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Equal, Load, NONE, drawn};
use crate::random::Stream;

/// Parameters of choosing a path for each frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketConfig {
    /// Ports that are drawn for a frame, of which it takes that with the shortest queue: 1 is random, as many as there are
    /// equal paths or more looks at all.
    #[serde(default = "super::one")]
    #[schemars(range(min = 1, max = 1024))]
    pub samples: u16,
    /// Whether the port that was taken last time is looked at, too (1), or not (0).
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub memory: u16,
}

/// Choosing for each frame, at work.
#[derive(Clone, Debug)]
pub struct Packet {
    samples: u16,
    /// By set, the port that was taken last; empty: nothing is remembered.
    last: Vec<u16>,
    stream: Stream,
}

impl Packet {
    pub(super) fn new(config: &PacketConfig, sets: usize, stream: Stream) -> Packet {
        let remembered = if config.memory > 0 { sets } else { 0 };
        Packet {
            samples: config.samples,
            last: vec![NONE; remembered],
            stream,
        }
    }

    /// What was best among other ports is forgotten.
    pub(super) fn reroute(&mut self, sets: usize) {
        let remembered = if self.last.is_empty() { 0 } else { sets };
        self.last.clear();
        self.last.resize(remembered, NONE);
    }

    pub(super) fn port(&mut self, equal: Equal<'_>, mut load: impl FnMut(u16) -> Load) -> u16 {
        let port = drawn(&mut self.stream, self.samples, equal.ports, &mut load);
        let Some(last) = self.last.get_mut(equal.set) else {
            return port;
        };
        if *last == NONE || load(port) <= load(*last) {
            *last = port;
        }
        *last
    }
}
