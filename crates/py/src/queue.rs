//! Queue disciplines held against recordings of real ones.

use pyo3::prelude::*;

use crate::errors::input_error;

/// Replays a recording (JSON of `tailback_net::queue::replay::Recording`) and tells how far both are alike, as JSON; raises
/// `InputError` if it is none.
#[pyfunction]
pub(crate) fn replay_queue(py: Python<'_>, recording: &str) -> PyResult<String> {
    let read = serde_json::from_str(recording).map_err(|error| input_error(error.to_string()))?;
    let found = py.detach(|| tailback_net::queue::replay::replay(&read));
    serde_json::to_string(&found).map_err(|error| input_error(error.to_string()))
}
