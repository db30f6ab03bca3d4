//! Congestion controls in Python: makes them, and calls them on the occasions of Linux's tcp_congestion_ops.
//!
//! Which occasions a class listens to is looked up once; an occasion that it leaves to its base class costs no
//! call.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};
use tailback_tcp::CaState;
use tailback_tcp::congestion::own::{MakeControl, Needs, OwnControl};
use tailback_tcp::congestion::{
    AckKind, AckSample, CwndEvent, Growth, RateSample as Sample, View, Window,
};

use super::{Failure, made, own_method};
use crate::tcp_view::{Ack, Acked, CWND_MAX, RateSample, TcpSock};

/// The congestion controls of a run.
#[derive(Debug)]
pub(super) struct Controls {
    pub(super) classes: BTreeMap<String, Py<PyType>>,
    pub(super) failure: Arc<Failure>,
}

impl MakeControl for Controls {
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
        let object = made(py, class, seed)?;
        let own = |name: &str| own_method(class, &object, name);
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
