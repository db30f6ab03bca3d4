//! Plans and runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use tailback_sim::RunOutcome;

use crate::control::Control;
use crate::errors::{scenario_error, sim_error, simulation_error};
use crate::tables::to_ipc;

/// A scenario checked and resolved, with all the runs of its sweep.
#[pyclass(frozen, module = "tailback._native")]
pub(crate) struct Plan {
    inner: tailback_scenario::Plan,
}

#[pymethods]
impl Plan {
    /// Checks and resolves a scenario (TOML text); raises `ScenarioError` with all problems.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over a list")]
    fn from_text(
        py: Python<'_>,
        text: &str,
        file_name: &str,
        overrides: Vec<String>,
        base_dir: Option<&str>,
    ) -> PyResult<Plan> {
        tailback_scenario::Plan::from_toml(text, file_name, &overrides, base_dir.map(Path::new))
            .map(|inner| Plan { inner })
            .map_err(|problems| scenario_error(py, &problems))
    }

    /// The scenario as resolved: presets filled in, overrides applied.
    #[getter]
    fn scenario_json(&self) -> String {
        self.inner.scenario.to_string()
    }

    /// Hash of the scenario as resolved, seed included.
    #[getter]
    fn hash(&self) -> String {
        self.inner.hash.clone()
    }

    /// The runs, in the order of the plan.
    #[getter]
    fn runs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for run in &self.inner.runs {
            let parameters = PyList::empty(py);
            for (name, value) in &run.parameters {
                parameters.append((name, to_python(py, value)?))?;
            }
            let iterations = run.workload.iterations();
            let dict = PyDict::new(py);
            dict.set_item("index", run.index)?;
            dict.set_item("parameters", parameters)?;
            dict.set_item("repetition", run.repetition)?;
            dict.set_item("seed", run.seed)?;
            dict.set_item("iterations", iterations)?;
            dict.set_item(
                "work",
                iterations as f64 * run.workload.iteration_bytes() as f64,
            )?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// Simulates one run without holding the GIL.
    fn run(&self, py: Python<'_>, index: usize, control: &Control) -> PyResult<RunResult> {
        let run = self.inner.runs.get(index).ok_or_else(|| {
            let count = self.inner.runs.len();
            pyo3::exceptions::PyIndexError::new_err(format!("run {index}: there are {count} runs"))
        })?;
        // A panic is a defect of the simulator: it fails this run and no other.
        let outcome = py
            .detach(|| {
                catch_unwind(AssertUnwindSafe(|| {
                    tailback_sim::simulate(run, &control.inner)
                }))
            })
            .map_err(|panic| simulation_error(panic_message(panic.as_ref())))?
            .map_err(|error| sim_error(&error))?;
        Ok(RunResult { outcome })
    }
}

/// The tables of one finished run.
#[pyclass(frozen, module = "tailback._native")]
pub(crate) struct RunResult {
    outcome: RunOutcome,
}

#[pymethods]
impl RunResult {
    /// Frames that crossed a link.
    #[getter]
    fn hops(&self) -> u64 {
        self.outcome.hops
    }

    /// Events handled.
    #[getter]
    fn events(&self) -> u64 {
        self.outcome.events
    }

    /// The frames that the scenario asked to capture, as a pcapng file.
    fn capture<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let bytes = self.outcome.capture.as_ref()?;
        Some(PyBytes::new(py, bytes))
    }

    /// Each table by its name, as an Arrow IPC stream.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for table in &self.outcome.tables {
            let bytes = to_ipc(table)
                .map_err(|error| simulation_error(format!("table {}: {error}", table.name)))?;
            dict.set_item(table.name, PyBytes::new(py, &bytes))?;
        }
        Ok(dict)
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let said = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    format!(
        "defect in the simulator: {}",
        said.unwrap_or_else(|| "it panicked".to_owned())
    )
}

/// A JSON value as Python's own types.
fn to_python<'py>(py: Python<'py>, value: &serde_json::Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?
        .call_method1("loads", (value.to_string(),))
}
