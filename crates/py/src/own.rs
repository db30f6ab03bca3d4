//! Congestion controls in Python: makes them, and calls them on the occasions of Linux's tcp_congestion_ops.
//!
//! Which occasions a class listens to is looked up once; an occasion that it leaves to its base class costs no
//! call. What a call raises ends the run, and its traceback is what is told of it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use tailback_scenario::{PythonControl, Run};
use tailback_tcp::CaState;
use tailback_tcp::congestion::own::{MakeControl, Needs, OwnControl, OwnControls};
use tailback_tcp::congestion::{
    AckKind, AckSample, CwndEvent, Growth, RateSample as Sample, View, Window,
};

use crate::errors::simulation_error;
use crate::plan::to_python;
use crate::tcp_view::{Ack, Acked, CWND_MAX, RateSample, TcpSock};

/// The module that has the base class and reads programs.
const MODULE: &str = "tailback.congestion_control";

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

/// The classes of a run.
#[derive(Debug)]
struct Classes {
    classes: BTreeMap<String, Py<PyType>>,
    failure: Arc<Failure>,
}

/// The run with whoever makes its controls, and where what they raise is kept; nothing if it has none.
pub(crate) fn with_controls(
    py: Python<'_>,
    run: &Run,
    cancel: &Arc<AtomicBool>,
) -> PyResult<Option<(Run, Arc<Failure>)>> {
    if run.python.is_empty() {
        return Ok(None);
    }
    let mut classes = BTreeMap::new();
    for (name, control) in run.python.iter() {
        let class = class(py, name, control)?;
        classes.insert(name.clone(), class.cast_into::<PyType>()?.unbind());
    }
    let failure = Arc::new(Failure {
        raised: Mutex::new(None),
        cancel: Arc::clone(cancel),
    });
    let own = OwnControls(Some(Arc::new(Classes {
        classes,
        failure: Arc::clone(&failure),
    })));
    Ok(Some((run.with_own_controls(&own), failure)))
}

/// Raises `InputError` if a table means no class, or one of which no object can be made.
pub(crate) fn check(py: Python<'_>, name: &str, control: &PythonControl) -> PyResult<()> {
    let class = class(py, name, control)?;
    py.import(MODULE)?.call_method1("check", (name, class))?;
    Ok(())
}

/// The class that a table means, its attributes set; raises `InputError` with what is wrong.
fn class<'py>(py: Python<'py>, name: &str, control: &PythonControl) -> PyResult<Bound<'py, PyAny>> {
    let settings = PyDict::new(py);
    for (key, value) in &control.set {
        let value = serde_json::to_value(value).unwrap_or_default();
        settings.set_item(key, to_python(py, &value)?)?;
    }
    let source = control.source.as_deref().unwrap_or_default();
    let file = control.file.as_deref();
    let class = control.class.as_deref();
    let read = py.import(MODULE)?.getattr("read")?;
    read.call1((name, source, file, class, settings))
}

impl MakeControl for Classes {
    fn make(&self, name: &str, seed: u64) -> Option<Box<dyn OwnControl>> {
        let class = self.classes.get(name)?;
        let made = Python::attach(|py| Control::new(py, class.bind(py), seed, &self.failure));
        match made {
            Ok(control) => Some(Box::new(control)),
            Err(error) => {
                self.failure.raise(error, None);
                Some(Box::new(Nothing))
            }
        }
    }
}

/// In the place of one that could not be made, until the run has ended.
#[derive(Clone, Debug)]
struct Nothing;

impl OwnControl for Nothing {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn boxed_clone(&self) -> Box<dyn OwnControl> {
        Box::new(self.clone())
    }
}

/// The methods that a class has of its own.
#[derive(Debug, Default)]
struct Hooks {
    init: Option<Py<PyAny>>,
    cong_avoid: Option<Py<PyAny>>,
    ssthresh: Option<Py<PyAny>>,
    undo_cwnd: Option<Py<PyAny>>,
    set_state: Option<Py<PyAny>>,
    cwnd_event: Option<Py<PyAny>>,
    pkts_acked: Option<Py<PyAny>>,
    in_ack_event: Option<Py<PyAny>>,
    cong_control: Option<Py<PyAny>>,
}

/// One connection's.
#[derive(Debug)]
struct Control {
    hooks: Hooks,
    needs: Needs,
    sock: Py<TcpSock>,
    failure: Arc<Failure>,
}

impl Control {
    fn new(
        py: Python<'_>,
        class: &Bound<'_, PyType>,
        seed: u64,
        failure: &Arc<Failure>,
    ) -> PyResult<Control> {
        let module = py.import(MODULE)?;
        let base = module.getattr("CongestionControl")?;
        let object = module.call_method1("make", (class, seed))?;
        let own = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            let is_base = class.getattr(name)?.is(&base.getattr(name)?);
            Ok(if is_base {
                None
            } else {
                Some(object.getattr(name)?.unbind())
            })
        };
        let hooks = Hooks {
            init: own("init")?,
            cong_avoid: own("cong_avoid")?,
            ssthresh: own("ssthresh")?,
            undo_cwnd: own("undo_cwnd")?,
            set_state: own("set_state")?,
            cwnd_event: own("cwnd_event")?,
            pkts_acked: own("pkts_acked")?,
            in_ack_event: own("in_ack_event")?,
            cong_control: own("cong_control")?,
        };
        let needs = Needs {
            acks: hooks.in_ack_event.is_some(),
            samples: hooks.pkts_acked.is_some(),
            full_control: hooks.cong_control.is_some(),
            ecn: class.getattr("needs_ecn")?.is_truthy()?,
        };
        Ok(Control {
            hooks,
            needs,
            sock: Py::new(py, TcpSock::default())?,
            failure: Arc::clone(failure),
        })
    }

    /// Calls a hook with the connection as it is and what else it is told.
    fn call<T>(
        &self,
        hook: &Py<PyAny>,
        (window, view): (&Window, &View),
        limited: Option<bool>,
        rest: impl FnOnce(Python<'_>) -> PyResult<Option<Py<PyAny>>>,
        take: impl FnOnce(&Bound<'_, PyAny>, &TcpSock) -> PyResult<T>,
    ) -> Option<T> {
        let called = Python::attach(|py| {
            let sock = self.sock.bind(py);
            sock.borrow_mut().show(window, view, limited);
            let arguments = match rest(py)? {
                Some(rest) => PyTuple::new(py, [sock.as_any(), rest.bind(py)])?,
                None => PyTuple::new(py, [sock])?,
            };
            let answer = hook.bind(py).call1(arguments)?;
            take(&answer, &sock.borrow())
        });
        let raise = |error| {
            let hook = Python::attach(|py| hook.clone_ref(py));
            self.failure.raise(error, Some(hook));
        };
        called.map_err(raise).ok()
    }

    /// The same for a hook that changes the window.
    fn change(
        &self,
        hook: &Py<PyAny>,
        window: &mut Window,
        view: &View,
        limited: Option<bool>,
        rest: impl FnOnce(Python<'_>) -> PyResult<Option<Py<PyAny>>>,
    ) {
        let changed = self.call(hook, (window, view), limited, rest, |_, sock| {
            Ok(sock.window())
        });
        *window = changed.flatten().unwrap_or(*window);
    }

    /// The same for one that answers with a window.
    fn answer(&self, hook: &Py<PyAny>, window: &Window, view: &View) -> Option<u32> {
        let none = |_: Python<'_>| Ok(None);
        self.call(hook, (window, view), None, none, |answer, _| {
            crate::tcp_view::segments(answer, "its answer")
        })
    }
}

/// Nothing beside the connection.
fn alone(_: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
    Ok(None)
}

impl OwnControl for Control {
    fn needs(&self) -> Needs {
        self.needs
    }

    fn init(&mut self, window: &mut Window, view: &View) {
        if let Some(hook) = &self.hooks.init {
            self.change(hook, window, view, None, alone);
        }
    }

    fn grow(&mut self, window: &mut Window, view: &View, growth: Growth) {
        match &self.hooks.cong_avoid {
            Some(hook) => {
                let acked =
                    |py: Python<'_>| Ok(Some(growth.acked.into_pyobject(py)?.into_any().unbind()));
                self.change(hook, window, view, Some(growth.cwnd_limited), acked);
            }
            None if growth.cwnd_limited => window.reno_growth(growth.acked),
            None => {}
        }
    }

    fn ssthresh(&mut self, window: &Window, view: &View) -> u32 {
        let hook = self.hooks.ssthresh.as_ref();
        let asked = hook.and_then(|hook| self.answer(hook, window, view));
        asked.unwrap_or_else(|| window.reno_ssthresh())
    }

    fn undo_cwnd(&mut self, window: &Window, view: &View) -> u32 {
        let hook = self.hooks.undo_cwnd.as_ref();
        let asked = hook.and_then(|hook| self.answer(hook, window, view));
        asked.map_or_else(|| window.reno_undo(), |cwnd| cwnd.min(CWND_MAX))
    }

    fn set_state(&mut self, window: &mut Window, view: &View, state: CaState) {
        if let Some(hook) = &self.hooks.set_state {
            let state = |py: Python<'_>| {
                let name = crate::tcp_view::state_name(state);
                Ok(Some(name.into_pyobject(py)?.into_any().unbind()))
            };
            self.change(hook, window, view, None, state);
        }
    }

    fn cwnd_event(&mut self, window: &mut Window, view: &View, event: CwndEvent) {
        if let Some(hook) = &self.hooks.cwnd_event {
            let event = |py: Python<'_>| {
                let name = match event {
                    CwndEvent::TxStart => "tx_start",
                    CwndEvent::CwndRestart => "cwnd_restart",
                    CwndEvent::CompleteCwr => "complete_cwr",
                    CwndEvent::Loss => "loss",
                };
                Ok(Some(name.into_pyobject(py)?.into_any().unbind()))
            };
            self.change(hook, window, view, None, event);
        }
    }

    fn pkts_acked(&mut self, window: &mut Window, view: &View, sample: AckSample) {
        if let Some(hook) = &self.hooks.pkts_acked {
            let sample = |py: Python<'_>| Ok(Some(Py::new(py, Acked(sample))?.into_any()));
            self.change(hook, window, view, None, sample);
        }
    }

    fn in_ack_event(&mut self, window: &mut Window, view: &View, kind: AckKind) {
        if let Some(hook) = &self.hooks.in_ack_event {
            let kind = |py: Python<'_>| Ok(Some(Py::new(py, Ack(kind))?.into_any()));
            self.change(hook, window, view, None, kind);
        }
    }

    fn on_rate_sample(&mut self, window: &mut Window, view: &View, sample: &Sample) {
        if let Some(hook) = &self.hooks.cong_control {
            let limited = Some(sample.cwnd_limited);
            let sample = RateSample {
                sample: *sample,
                mss: view.mss,
            };
            let sample = |py: Python<'_>| Ok(Some(Py::new(py, sample)?.into_any()));
            self.change(hook, window, view, limited, sample);
        }
    }

    /// Never called in a run: a connection is copied by tests alone, and Python's state would be shared.
    fn boxed_clone(&self) -> Box<dyn OwnControl> {
        Box::new(Nothing)
    }
}
