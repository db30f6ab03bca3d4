//! Errors as the exceptions of `tailback.errors`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tailback_scenario::{Problem, Severity};
use tailback_sim::SimError;

mod python {
    pyo3::import_exception!(tailback.errors, InputError);
    pyo3::import_exception!(tailback.errors, Interrupted);
    pyo3::import_exception!(tailback.errors, ScenarioError);
    pyo3::import_exception!(tailback.errors, SimulationError);
}

/// A `ScenarioError` with all problems.
pub(crate) fn scenario_error(py: Python<'_>, problems: &[Problem]) -> PyErr {
    match problem_list(py, problems) {
        Ok(list) => python::ScenarioError::new_err((list.unbind(),)),
        Err(error) => error,
    }
}

/// Problems as a list of `tailback.errors.Problem`.
pub(crate) fn problem_list<'py>(
    py: Python<'py>,
    problems: &[Problem],
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for problem in problems {
        let dict = PyDict::new(py);
        dict.set_item("path", &problem.path)?;
        dict.set_item("source", &problem.source)?;
        dict.set_item("line", problem.line)?;
        dict.set_item("column", problem.column)?;
        dict.set_item("reason", &problem.reason)?;
        dict.set_item("remedy", &problem.remedy)?;
        dict.set_item("severity", severity(problem.severity))?;
        list.append(dict)?;
    }
    Ok(list)
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// `Interrupted` for a run given up, else `SimulationError`.
pub(crate) fn sim_error(error: &SimError) -> PyErr {
    match error {
        SimError::Cancelled => python::Interrupted::new_err(error.to_string()),
        other => simulation_error(other.to_string()),
    }
}

/// A `SimulationError` that says `reason`.
pub(crate) fn simulation_error(reason: String) -> PyErr {
    python::SimulationError::new_err(reason)
}

/// An `InputError` that says `reason`.
pub(crate) fn input_error(reason: String) -> PyErr {
    python::InputError::new_err(reason)
}
