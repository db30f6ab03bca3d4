//! Captures as tables.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{input_error, simulation_error};
use crate::tables::to_ipc;

/// The TCP segments of a pcapng file's bytes, as an Arrow IPC stream; raises `InputError` if they
/// are no such file.
#[pyfunction]
pub(crate) fn packets<'py>(py: Python<'py>, pcapng: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let table = py
        .detach(|| tailback_sim::packets(pcapng))
        .map_err(|error| input_error(error.to_string()))?;
    let stream = to_ipc(&table).map_err(|error| simulation_error(error.to_string()))?;
    Ok(PyBytes::new(py, &stream))
}
