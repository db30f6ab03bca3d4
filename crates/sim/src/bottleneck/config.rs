//! What is asked of a bottleneck, and what it answers.

use serde::{Deserialize, Serialize};
use tailback_tcp::Stack;

/// Which segments do not come through, or come marked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "process", deny_unknown_fields)]
pub enum Chance {
    /// None.
    None,
    /// Every `every`th segment with payload (RFC 3649, RFC 9438), and the `first`th.
    Periodic {
        /// Number of the first.
        first: u64,
        /// Distance from one to the next, in segments.
        every: u64,
    },
    /// Each with this probability, independently (Padhye et al.), and the `first`th.
    Random {
        /// Number of the first; random from there on.
        first: u64,
        /// Probability.
        p: f64,
    },
}

/// One sender and its receiver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// The sender's stack.
    pub stack: Stack,
    /// Round trip without queue, microseconds.
    pub rtt_us: u64,
    /// When it opens its connection, microseconds.
    pub start_us: u64,
    /// The receiver acknowledges every second segment in order rather than each.
    pub every_second: bool,
}

/// One link that all flows share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BottleneckConfig {
    /// The flows.
    pub flows: Vec<FlowConfig>,
    /// Rate, bits a second; zero for no limit, and no queue then.
    pub rate_bps: u64,
    /// Segments that the queue holds.
    pub buffer_segments: usize,
    /// Segments queued from which on ECN-capable ones are marked; zero for never.
    pub mark_segments: usize,
    /// What happens besides.
    pub chance: Chance,
    /// It marks rather than loses.
    pub chance_marks: bool,
    /// Chances that strike, and microseconds, before it is measured.
    pub warm_up_chances: u64,
    /// The same, in time.
    pub warm_up_us: u64,
    /// Chances that strike, and microseconds, while it is measured; the measurement ends when
    /// both are over, or with the last of `segments_max` segments sent.
    pub measured_chances: u64,
    /// The same, in time.
    pub measured_us: u64,
    /// Segments sent at most.
    pub segments_max: u64,
    /// Distance between looks at windows and queue, microseconds.
    pub look_us: u64,
    /// All randomness derives from it.
    pub seed: u64,
}

/// What a flow did while it was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FlowResult {
    /// Payload delivered, bits a second.
    pub goodput_bps: f64,
    /// Segments delivered in a round trip without queue.
    pub window_mean: f64,
    /// Congestion window as looked at, segments.
    pub cwnd_mean: f64,
    /// Least.
    pub cwnd_min: u32,
    /// Greatest.
    pub cwnd_max: u32,
    /// Segments sent, lost and marked.
    pub sent: u64,
    /// Lost, by chance or for want of room.
    pub lost: u64,
    /// Marked.
    pub marked: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
}

/// One look.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Look {
    /// When, seconds.
    pub time_s: f64,
    /// Segments queued.
    pub queue: u32,
    /// Each flow's congestion window, segments.
    pub cwnd: Vec<u32>,
}

/// What the measurement gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BottleneckResult {
    /// Length of the measurement, seconds.
    pub measured_s: f64,
    /// Chances that struck in it.
    pub chances: u64,
    /// Segments queued as looked at: mean, least, greatest.
    pub queue_mean: f64,
    /// Least.
    pub queue_min: u32,
    /// Greatest.
    pub queue_max: u32,
    /// Each flow's part.
    pub flows: Vec<FlowResult>,
    /// The looks, warm-up included; thinned evenly if there are very many.
    pub looks: Vec<Look>,
}
