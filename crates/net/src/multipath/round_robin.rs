//! One path after the other, frame by frame.
//!
//! Models per-packet load balancing in turn, as routers have offered it. Each set of equal ports has a turn of its own, which begins
//! anywhere. Left out: weights.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Equal;
use crate::random::Stream;

/// One path after the other: no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundRobinConfig {}

/// Taking turns, at work.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    /// By set, how often it has been asked, from anywhere.
    turns: Vec<u32>,
}

impl RoundRobin {
    pub(super) fn new(sets: usize, mut stream: Stream) -> RoundRobin {
        let turns = (0..sets).map(|_| stream.next_u64() as u32);
        RoundRobin {
            turns: turns.collect(),
        }
    }

    /// Turns of sets that there were go on in those that have their numbers, others begin at the first port.
    pub(super) fn reroute(&mut self, sets: usize) {
        self.turns.resize(sets, 0);
    }

    pub(super) fn port(&mut self, equal: Equal<'_>) -> u16 {
        let turn = &mut self.turns[equal.set];
        *turn = turn.wrapping_add(1);
        equal.ports[*turn as usize % equal.ports.len()]
    }
}
