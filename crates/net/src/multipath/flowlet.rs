//! Flowlet switching: after a silence a flow may take another path.
//!
//! Models LetFlow (Vanini, Pan, Alizadeh, Taheri, Edsall, NSDI 2017) with `samples = 1`: frames of a flow that follow each other
//! within `gap` take one path; after a longer silence one is drawn again. With more samples the least loaded of
//! the drawn ports at that time is taken, as switches with dynamic load balancing do. A gap longer than the difference between
//! paths' delays keeps frames in order. The table is indexed by a hash of the flow: flows that meet in one entry make one flow of it. Left
//! out: the coarse clock of switches, which age entries in periods of `gap`, so that a silence of up to two of them may go unseen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Time};

use super::{Equal, Load, NONE, drawn};
use crate::random::{Stream, mix};

/// Parameters of flowlet switching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowletConfig {
    /// How long a flow has to be silent before it may take another path.
    pub gap: Duration,
    /// Ports that are drawn, of which the one with the shortest queue is taken: 1 is random, as many as there are equal
    /// paths or more looks at all.
    #[serde(default = "super::one")]
    #[schemars(range(min = 1, max = 1024))]
    pub samples: u16,
    /// Entries of the switch's table of flowlets.
    #[serde(default = "entries")]
    #[schemars(range(min = 1, max = 65536))]
    pub entries: u32,
}

fn entries() -> u32 {
    4096
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// When a frame came last.
    last: Time,
    port: u16,
}

/// Flowlet switching at work.
#[derive(Clone, Debug)]
pub struct Flowlet {
    gap: Duration,
    samples: u16,
    table: Vec<Entry>,
    /// Differs from switch to switch, so that flows meet in one entry at some only.
    salt: u64,
    stream: Stream,
}

impl Flowlet {
    pub(super) fn new(config: &FlowletConfig, mut stream: Stream) -> Flowlet {
        let unused = Entry {
            last: Time::ZERO,
            port: NONE,
        };
        Flowlet {
            gap: config.gap,
            samples: config.samples,
            table: vec![unused; config.entries as usize],
            salt: stream.next_u64(),
            stream,
        }
    }

    pub(super) fn port(
        &mut self,
        now: Time,
        flow: u32,
        equal: Equal<'_>,
        load: impl FnMut(u16) -> Load,
    ) -> u16 {
        // The high half of the product is uniform below the count.
        let spread = mix(u64::from(flow) ^ self.salt) >> 32;
        let index = (spread * self.table.len() as u64) >> 32;
        let entry = &mut self.table[index as usize];
        let is_over = now.since(entry.last) > self.gap;
        entry.last = now;
        // Another flow of the entry may have gone elsewhere.
        if is_over || !equal.ports.contains(&entry.port) {
            entry.port = drawn(&mut self.stream, self.samples, equal.ports, load);
        }
        entry.port
    }
}
