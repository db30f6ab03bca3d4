//! A run's strings: stop it, see how far it is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;

/// Shared by the thread that runs and the one that watches.
#[pyclass(frozen, module = "tailback._native")]
#[derive(Default)]
pub(crate) struct Control {
    pub(crate) inner: Arc<tailback_sim::Control>,
}

#[pymethods]
impl Control {
    #[new]
    fn new() -> Control {
        Control::default()
    }

    /// Asks the run to stop; it then raises `Interrupted`.
    fn cancel(&self) {
        self.inner.cancel.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop.
    #[getter]
    fn cancelled(&self) -> bool {
        self.inner.cancel.load(Ordering::Relaxed)
    }

    /// Iterations finished so far.
    #[getter]
    fn done(&self) -> u64 {
        self.inner.done.load(Ordering::Relaxed)
    }
}
