//! The scenario model's functions.

use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;
use tailback_scenario::{Kind, Plan};
use tailback_units::{Bytes, Duration, Rate};

use crate::errors::{problem_list, scenario_error};

/// All problems of a scenario (TOML text), errors and warnings.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python hands over a list")]
pub(crate) fn check<'py>(
    py: Python<'py>,
    text: &str,
    file_name: &str,
    overrides: Vec<String>,
    base_dir: Option<&str>,
) -> PyResult<Bound<'py, PyList>> {
    let problems = Plan::check(text, file_name, &overrides, base_dir.map(Path::new));
    problem_list(py, &problems)
}

/// The JSON Schema of a scenario file.
#[pyfunction]
pub(crate) fn schema() -> String {
    tailback_scenario::schema()
}

/// JSON: kind of preset, name, TOML text.
#[pyfunction]
pub(crate) fn presets() -> String {
    let of_kind = |kind: &Kind| {
        let texts = tailback_scenario::presets(*kind).iter();
        let texts = texts.map(|(name, text)| ((*name).to_owned(), Value::from(*text)));
        (kind.name().to_owned(), Value::Object(texts.collect()))
    };
    Value::Object(Kind::ALL.iter().map(of_kind).collect()).to_string()
}

/// What a quantity such as `10Gbit` is of, and how much of it in that kind's base unit (picoseconds, bits a
/// second, bytes); None of any other text.
#[pyfunction]
pub(crate) fn quantity(text: &str) -> Option<(&'static str, u64)> {
    let time = text.parse().ok().map(|t: Duration| ("time", t.as_ps()));
    let rate = || text.parse().ok().map(|r: Rate| ("rate", r.as_bps()));
    let bytes = || text.parse().ok().map(|b: Bytes| ("bytes", b.get()));
    time.or_else(rate).or_else(bytes)
}

/// The scenarios that come with Tailback.
#[pyfunction]
pub(crate) fn built_in(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for (name, path, text) in tailback_scenario::BUILT_IN {
        let dict = PyDict::new(py);
        dict.set_item("name", name)?;
        dict.set_item("path", path)?;
        dict.set_item("text", text)?;
        list.append(dict)?;
    }
    Ok(list)
}

/// The scenario (TOML text) of a client-side .dat file.
#[pyfunction]
pub(crate) fn dat_to_toml(py: Python<'_>, text: &str, file_name: &str) -> PyResult<String> {
    tailback_scenario::dat_to_toml(text, file_name)
        .map_err(|problems| scenario_error(py, &problems))
}
