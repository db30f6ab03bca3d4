//! One bottleneck between ideal ends, for closed forms.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tailback_sim::bottleneck as model;

/// Runs a bottleneck: its configuration and its result as JSON. Without the interpreter's lock.
#[pyfunction]
pub(crate) fn bottleneck(py: Python<'_>, config: &str) -> PyResult<String> {
    let config: model::BottleneckConfig =
        serde_json::from_str(config).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let result = py.detach(|| model::bottleneck(&config));
    serde_json::to_string(&result).map_err(|error| PyValueError::new_err(error.to_string()))
}
