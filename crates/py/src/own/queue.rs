//! Queue disciplines in Python: makes them, and asks them as frames come and leave.
//!
//! What a class leaves to its base class costs no call.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use tailback_net::queue::own::{Look, MakeQueue, Needs, OwnQueue, Packet as Seen, Verdict};
use tailback_units::Time;

use super::{Failure, made, own_method};
use crate::queue_view::{Packet, Queue};

/// The queue disciplines of a run.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) classes: BTreeMap<String, Py<PyType>>,
    pub(super) failure: Arc<Failure>,
}

impl MakeQueue for Queues {
    fn make(&self, name: &str, seed: u64) -> Option<Box<dyn OwnQueue>> {
        let class = self.classes.get(name)?;
        let made = Python::attach(|py| Discipline::new(py, class.bind(py), seed, &self.failure));
        made.map_or_else(
            |error| {
                self.failure.raise(error, None);
                None
            },
            |discipline| Some(Box::new(discipline) as Box<dyn OwnQueue>),
        )
    }
}

/// One queue's.
#[derive(Debug)]
struct Discipline {
    enqueue: Option<Py<PyAny>>,
    rank: Option<Py<PyAny>>,
    dequeue: Option<Py<PyAny>>,
    due_ns: Option<Py<PyAny>>,
    failure: Arc<Failure>,
}

impl Discipline {
    fn new(
        py: Python<'_>,
        class: &Bound<'_, PyType>,
        seed: u64,
        failure: &Arc<Failure>,
    ) -> PyResult<Discipline> {
        let object = made(py, class, seed)?;
        let own = |name: &str| own_method(class, &object, name);
        Ok(Discipline {
            enqueue: own("enqueue")?,
            rank: own("rank")?,
            dequeue: own("dequeue")?,
            due_ns: own("due_ns")?,
            failure: Arc::clone(failure),
        })
    }

    /// Calls a method with the queue and a frame as they are.
    fn call<T>(
        &self,
        method: Option<&Py<PyAny>>,
        (look, packet): (&Look, &Seen),
        take: impl FnOnce(&Bound<'_, PyAny>, &Packet) -> PyResult<T>,
    ) -> Option<T> {
        let method = method?;
        Python::attach(|py| {
            let called = || {
                let packet = Py::new(py, Packet::new(packet, look.now))?;
                let answer = method.call1(py, (Queue(*look), &packet))?;
                take(answer.bind(py), &packet.borrow(py))
            };
            let raise = |error| self.failure.raise(error, Some(method.clone_ref(py)));
            called().map_err(raise).ok()
        })
    }

    /// The same for one that says by the frame what becomes of it.
    fn verdict(&self, method: Option<&Py<PyAny>>, look: &Look, packet: &Seen) -> Verdict {
        let asked = self.call(method, (look, packet), |_, packet| Ok(packet.verdict()));
        asked.unwrap_or_default()
    }
}

/// An answer, as Python shows it.
fn said(answer: &Bound<'_, PyAny>) -> String {
    let shown = answer.repr();
    shown.map_or_else(|_| "this".to_owned(), |shown| shown.to_string())
}

impl OwnQueue for Discipline {
    fn needs(&self) -> Needs {
        Needs {
            enqueue: self.enqueue.is_some(),
            rank: self.rank.is_some(),
            dequeue: self.dequeue.is_some(),
            due: self.due_ns.is_some(),
        }
    }

    fn enqueue(&mut self, look: &Look, packet: &Seen) -> Verdict {
        self.verdict(self.enqueue.as_ref(), look, packet)
    }

    fn rank(&mut self, look: &Look, packet: &Seen) -> i64 {
        let asked = self.call(self.rank.as_ref(), (look, packet), |answer, _| {
            answer.extract::<i64>().map_err(|_| {
                PyTypeError::new_err(format!(
                    "a rank is a whole number of 64 bits, and {} is none: int() cuts a fraction off",
                    said(answer)
                ))
            })
        });
        asked.unwrap_or_default()
    }

    fn dequeue(&mut self, look: &Look, packet: &Seen) -> Verdict {
        self.verdict(self.dequeue.as_ref(), look, packet)
    }

    fn due(&mut self, look: &Look, packet: &Seen) -> Time {
        let asked = self.call(self.due_ns.as_ref(), (look, packet), |answer, _| {
            answer.extract::<u64>().map_err(|_| {
                PyTypeError::new_err(format!(
                    "due_ns answers whole nanoseconds since the run's beginning, and {} are none: int() cuts a fraction off",
                    said(answer)
                ))
            })
        });
        // A time beyond all runs is never.
        asked.map_or(Time::ZERO, |ns| Time::from_ps(ns.saturating_mul(1000)))
    }

    /// Never called in a run: a queue is copied by tests alone, and Python's state would be shared.
    fn boxed_clone(&self) -> Box<dyn OwnQueue> {
        Box::new(Nothing)
    }
}

/// In the place of a copy.
#[derive(Debug)]
struct Nothing;

impl OwnQueue for Nothing {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn boxed_clone(&self) -> Box<dyn OwnQueue> {
        Box::new(Nothing)
    }
}
