//! Congestion controls and queue disciplines of a user's own, in Python: reads their classes, and keeps what they
//! raise. What a call raises ends the run, and its traceback is what is told of it.

mod control;
mod queue;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use tailback_net::queue::own::OwnQueues;
use tailback_scenario::{PythonProgram, Run};
use tailback_tcp::congestion::own::OwnControls;

use self::control::Controls;
use self::queue::Queues;
use crate::errors::simulation_error;
use crate::plan::to_python;

/// The module that reads programs.
const MODULE: &str = "tailback.programs";

/// What a program is needed as: a base class, by its name in Python.
#[derive(Clone, Copy)]
pub(crate) enum Base {
    CongestionControl,
    QueueDiscipline,
}

impl Base {
    fn name(self) -> &'static str {
        match self {
            Base::CongestionControl => "CongestionControl",
            Base::QueueDiscipline => "QueueDiscipline",
        }
    }
}

/// Where the first exception of a run is kept, and what ends the run then.
#[derive(Debug)]
pub(crate) struct Failure {
    /// With the method that was called, if one was.
    raised: Mutex<Option<(PyErr, Option<Py<PyAny>>)>>,
    cancel: Arc<AtomicBool>,
}

impl Failure {
    fn raise(&self, error: PyErr, hook: Option<Py<PyAny>>) {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.get_or_insert((error, hook));
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// What was raised, as the run's failure.
    pub(crate) fn told(&self, py: Python<'_>) -> Option<PyErr> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        let (error, hook) = raised.take()?;
        let told = py
            .import(MODULE)
            .and_then(|module| {
                module.call_method1("told", (error.clone_ref(py).into_value(py), hook))
            })
            .and_then(|told| told.extract::<String>());
        Some(simulation_error(told.unwrap_or_else(|_| error.to_string())))
    }
}

/// The run with whoever makes its own programs, and where what they raise is kept; nothing if it has none.
pub(crate) fn with_programs(
    py: Python<'_>,
    run: &Run,
    cancel: &Arc<AtomicBool>,
) -> PyResult<Option<(Run, Arc<Failure>)>> {
    if run.python.is_empty() {
        return Ok(None);
    }
    let failure = Arc::new(Failure {
        raised: Mutex::new(None),
        cancel: Arc::clone(cancel),
    });
    let controls = Controls {
        classes: classes(py, &run.python.controls, Base::CongestionControl)?,
        failure: Arc::clone(&failure),
    };
    let queues = Queues {
        classes: classes(py, &run.python.queues, Base::QueueDiscipline)?,
        failure: Arc::clone(&failure),
    };
    let run = run
        .with_own_controls(&OwnControls(Some(Arc::new(controls))))
        .with_own_queues(&OwnQueues(Some(Arc::new(queues))));
    Ok(Some((run, failure)))
}

fn classes(
    py: Python<'_>,
    programs: &BTreeMap<String, PythonProgram>,
    base: Base,
) -> PyResult<BTreeMap<String, Py<PyType>>> {
    let programs = programs.iter();
    programs
        .map(|(name, program)| {
            let class = class(py, name, program, base)?;
            Ok((name.clone(), class.cast_into::<PyType>()?.unbind()))
        })
        .collect()
}

/// Raises `InputError` if a table means no such class, or one of which no object can be made.
pub(crate) fn check(
    py: Python<'_>,
    name: &str,
    program: &PythonProgram,
    base: Base,
) -> PyResult<()> {
    let class = class(py, name, program, base)?;
    py.import(MODULE)?.call_method1("check", (name, class))?;
    Ok(())
}

/// The class that a table means, its attributes set; raises `InputError` with what is wrong.
fn class<'py>(
    py: Python<'py>,
    name: &str,
    program: &PythonProgram,
    base: Base,
) -> PyResult<Bound<'py, PyAny>> {
    let settings = PyDict::new(py);
    for (key, value) in &program.set {
        let value = serde_json::to_value(value).unwrap_or_default();
        settings.set_item(key, to_python(py, &value)?)?;
    }
    let source = program.source.as_deref().unwrap_or_default();
    let file = program.file.as_deref();
    let class = program.class.as_deref();
    let read = py.import(MODULE)?.getattr("read")?;
    read.call1((name, source, file, class, settings, base.name()))
}

/// An object of a class.
fn made<'py>(
    py: Python<'py>,
    class: &Bound<'py, PyType>,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    py.import(MODULE)?.call_method1("make", (class, seed))
}

/// A method that a class has of its own, of this object: nothing if it is that of its base.
fn own_method(
    class: &Bound<'_, PyType>,
    object: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<Option<Py<PyAny>>> {
    let py = class.py();
    let is_base = py
        .import(MODULE)?
        .call_method1("is_base", (class, name))?
        .is_truthy()?;
    Ok(if is_base {
        None
    } else {
        Some(object.getattr(name)?.unbind())
    })
}
