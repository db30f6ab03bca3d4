//! Marking of ECN-capable packets, and early drops, as a frame joins an egress queue.
//!
//! One rule, one file. A rule looks at the queue as the frame finds it and says pass, mark or
//! drop; what a mark is (CE, or SCE's ECT(0) to ECT(1)) is the scenario's choice. Rules that need
//! the time a frame has waited are queueing disciplines: see `queue`.

pub mod linear;
pub mod red;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_tcp::{Ecn, Header};
use tailback_units::{Bytes, Time};

use crate::random::Stream;

/// How a queue marks ECN-capable packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MarkingConfig {
    /// No marking.
    Off(Off),
    /// On every ECN-capable packet that finds more than a threshold queued.
    Step(Step),
    /// With a probability linear in the share of the queue's memory in use.
    Linear(linear::LinearConfig),
    /// Random early detection, with marks or with drops.
    Red(red::RedConfig),
    /// Random early detection with a profile for each traffic class.
    Wred(red::WredConfig),
}

/// No marking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Off {}

/// Step marking, DCTCP's K: a mark on every ECN-capable packet that finds more than `threshold`
/// bytes queued (Alizadeh et al., SIGCOMM 2010, section 3.1; RFC 8257).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The threshold K: bytes of frames in the egress queue on arrival.
    pub threshold: Bytes,
    /// What a mark is.
    #[serde(default)]
    pub mark: Mark,
}

/// What a mark is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Congestion experienced (RFC 3168): ECT(0) and ECT(1) become CE.
    #[default]
    Ce,
    /// Some congestion experienced (draft-morton-tsvwg-sce): ECT(0) becomes ECT(1), and what bears
    /// a mark already keeps it.
    Sce,
}

impl Mark {
    /// Sets it in a packet whose ECN field allows it; says whether that is so. Marks go up only:
    /// CE takes ECT(0), ECT(1) and CE itself, SCE takes ECT(0).
    #[inline]
    pub fn set(self, header: &mut Header) -> bool {
        let (allowed, marked) = match self {
            Mark::Ce => (is_ecn_capable(header), Ecn::Ce),
            Mark::Sce => (header.ecn == Ecn::Ect0, Ecn::Ect1),
        };
        if allowed {
            header.ecn = marked;
        }
        allowed
    }
}

/// Whether the packet may be marked rather than dropped.
#[inline]
#[must_use]
pub fn is_ecn_capable(header: &Header) -> bool {
    header.ecn != Ecn::NotEct
}

/// The queue that a frame is about to join.
#[derive(Clone, Copy, Debug)]
pub struct QueueLook {
    /// The egress port.
    pub port: u16,
    /// Which of the port's queues; 0 where it has one.
    pub band: u8,
    /// Bytes of frames that wait in the queue that this one joins, itself not counted: its class's, where the port has
    /// a queue for each.
    pub queued_bytes: u64,
    /// When its transmitter is, or was, free: an empty queue has been idle since.
    pub free_at: Time,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It stays as it is.
    Pass,
    /// It has been marked.
    Marked,
    /// It is to be dropped.
    Drop,
}

/// A marker at work, for all ports of a switch.
// Its kind is a byte, which is looked at faster than a niche in one of its lengths.
#[derive(Clone, Debug)]
#[repr(u8)]
pub enum Marker {
    /// No marking.
    Off,
    /// Step marking.
    Step(Step),
    /// Linear marking.
    Linear(linear::Linear),
    /// RED and WRED.
    Red(red::Red),
}

impl Marker {
    /// The marker that `config` describes, on a switch with `ports` ports whose queues hold so many bytes at most,
    /// from band 0; `stream` draws what is drawn.
    #[must_use]
    pub fn new(
        config: &MarkingConfig,
        ports: u16,
        capacities_bytes: &[u64],
        stream: Stream,
    ) -> Marker {
        let queues = (ports, capacities_bytes.len());
        match config {
            MarkingConfig::Off(_) => Marker::Off,
            MarkingConfig::Step(step) => Marker::Step(*step),
            MarkingConfig::Linear(config) => {
                Marker::Linear(linear::Linear::new(config, capacities_bytes, stream))
            }
            MarkingConfig::Red(config) => {
                Marker::Red(red::Red::new(std::slice::from_ref(config), queues, stream))
            }
            MarkingConfig::Wred(config) => {
                Marker::Red(red::Red::new(&config.profiles, queues, stream))
            }
        }
    }

    /// What is drawn from here on is drawn from `stream`.
    pub(crate) fn reseed(&mut self, stream: Stream) {
        if let Marker::Red(red) = self {
            red.reseed(stream);
        }
    }

    /// Whether there is anything to ask.
    #[inline]
    #[must_use]
    pub fn is_on(&self) -> bool {
        !matches!(self, Marker::Off)
    }

    /// The frame of a header joins a queue at `now`.
    #[inline]
    pub fn arrive(&mut self, now: Time, queue: QueueLook, header: &mut Header) -> Verdict {
        match self {
            Marker::Off => Verdict::Pass,
            Marker::Step(step) => {
                marked(queue.queued_bytes > step.threshold.get() && step.mark.set(header))
            }
            Marker::Linear(linear) => marked(linear.arrive(queue, header)),
            Marker::Red(red) => red.arrive(now, queue, header),
        }
    }
}

fn marked(is: bool) -> Verdict {
    if is { Verdict::Marked } else { Verdict::Pass }
}

#[cfg(test)]
#[path = "marking_tests.rs"]
mod tests;
