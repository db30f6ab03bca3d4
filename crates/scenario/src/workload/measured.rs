//! Senders that are measured: what workloads `iperf3` and `flent` come down to.
//!
//! Flows without end that begin at their times and are measured for a while, pings beside them, and
//! looks at all of it in equal steps.

use tailback_units::{Duration, Time};

use super::flow::Flow;

/// Flows that are measured, and what is done beside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// The host with which all others have to do.
    pub receiver: usize,
    /// When the measurement begins, and the time of the tables with it.
    pub begin: Time,
    /// From when and until when bandwidth is measured; what still sends then stops, unless the
    /// measurement ends.
    pub load: (Time, Time),
    /// When it ends, and the run with it.
    pub end: Time,
    /// The flows, in the order of their starts.
    pub flows: Vec<MeasuredFlow>,
    /// Pings, sent together.
    pub pings: Vec<PingLine>,
    /// Time between pings; zero: none.
    pub ping_interval: Duration,
    /// Time between looks at every flow.
    pub interval: Duration,
}

/// Things that are looked at in equal steps, each a row of a table at each step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The key that says the interval.
    pub(crate) key: &'static str,
    /// Time between looks; zero: none.
    pub(crate) interval: Duration,
    /// How many are looked at.
    pub(crate) count: u64,
}

/// A flow of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredFlow {
    /// The sender whose flow it is, from 1; of a test its client.
    pub sender: u32,
    /// Whether it counts towards what is measured.
    pub measured: bool,
    /// What the series of its bandwidth is called.
    pub series: String,
    /// The flow.
    pub flow: Flow,
}

/// Pings from one host to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PingLine {
    /// The host that asks.
    pub source: usize,
    /// The host that answers.
    pub destination: usize,
    /// The priority of request and answer, 0 to 7.
    pub priority: u8,
    /// The sender whose ping it is, from 1.
    pub sender: u32,
    /// What the series of its round trips is called.
    pub series: String,
}

impl Measurement {
    /// Time that bandwidth is measured over.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.load.1.since(self.load.0)
    }

    /// Senders that are measured.
    #[must_use]
    pub fn senders_measured(&self) -> u32 {
        let mut senders: Vec<u32> = self.measured().map(|flow| flow.sender).collect();
        senders.sort_unstable();
        senders.dedup();
        senders.len() as u32
    }

    /// Flows that are measured.
    pub fn measured(&self) -> impl Iterator<Item = &MeasuredFlow> {
        self.flows.iter().filter(|flow| flow.measured)
    }
}
