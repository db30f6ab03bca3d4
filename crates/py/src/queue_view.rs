//! What a queue discipline in Python sees of its queue and of a frame, by Linux's names where it has them (struct
//! Qdisc, struct sk_buff).

use pyo3::prelude::*;
use tailback_net::marking::Mark;
use tailback_net::queue::own::{Look, Packet as Seen, Verdict};
use tailback_tcp::Ecn;
use tailback_units::Time;

/// The queue while one of its discipline's methods is called.
#[pyclass(frozen, module = "tailback._native")]
pub(crate) struct Queue(pub(crate) Look);

/// Whole nanoseconds since the run's beginning.
fn ns(time: Time) -> u64 {
    time.since(Time::ZERO).as_ps() / 1000
}

#[pymethods]
impl Queue {
    #[getter]
    fn now_ns(&self) -> u64 {
        ns(self.0.now)
    }

    #[getter]
    fn qlen(&self) -> usize {
        self.0.qlen
    }

    #[getter]
    fn backlog_bytes(&self) -> u64 {
        self.0.backlog_bytes
    }

    #[getter]
    fn frame_bytes_max(&self) -> u32 {
        self.0.frame_bytes_max
    }

    fn __repr__(&self) -> String {
        format!(
            "Queue(now_ns={}, qlen={}, backlog_bytes={})",
            self.now_ns(),
            self.0.qlen,
            self.0.backlog_bytes
        )
    }
}

/// A frame that has come, or is about to leave.
#[pyclass(module = "tailback._native")]
pub(crate) struct Packet {
    seen: Seen,
    now: Time,
    verdict: Verdict,
}

impl Packet {
    pub(crate) fn new(seen: &Seen, now: Time) -> Packet {
        Packet {
            seen: *seen,
            now,
            verdict: Verdict::default(),
        }
    }

    /// What the discipline made of it.
    pub(crate) fn verdict(&self) -> Verdict {
        self.verdict
    }
}

#[pymethods]
impl Packet {
    #[getter]
    fn frame_bytes(&self) -> u16 {
        self.seen.frame_bytes
    }

    #[getter]
    fn payload_bytes(&self) -> u16 {
        self.seen.payload_bytes
    }

    #[getter]
    fn flow(&self) -> u32 {
        self.seen.flow
    }

    #[getter]
    fn priority(&self) -> u8 {
        self.seen.priority
    }

    #[getter]
    fn in_port(&self) -> u16 {
        self.seen.in_port
    }

    #[getter]
    fn rank(&self) -> i64 {
        self.seen.rank
    }

    #[getter]
    fn enqueued_ns(&self) -> u64 {
        ns(self.seen.since)
    }

    #[getter]
    fn sojourn_ns(&self) -> u64 {
        self.now.since(self.seen.since).as_ps() / 1000
    }

    #[getter]
    fn ecn(&self) -> &'static str {
        match self.seen.ecn {
            Ecn::NotEct => "not-ect",
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
        }
    }

    fn set_ce(&mut self) -> bool {
        let capable = self.seen.ecn != Ecn::NotEct;
        if capable {
            self.seen.ecn = Ecn::Ce;
            self.verdict.mark = Some(Mark::Ce);
        }
        capable
    }

    fn set_sce(&mut self) -> bool {
        match self.seen.ecn {
            Ecn::NotEct => false,
            Ecn::Ect0 => {
                self.seen.ecn = Ecn::Ect1;
                self.verdict.mark = Some(Mark::Sce);
                true
            }
            Ecn::Ect1 | Ecn::Ce => true,
        }
    }

    fn drop(&mut self) {
        self.verdict.drop = true;
    }

    fn __repr__(&self) -> String {
        format!(
            "Packet(frame_bytes={}, ecn={:?}, flow={}, sojourn_ns={})",
            self.seen.frame_bytes,
            self.ecn(),
            self.seen.flow,
            self.sojourn_ns()
        )
    }
}
