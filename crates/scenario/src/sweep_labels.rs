//! What results say of an axis' values, by which reports tell runs apart.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Resolved;
use crate::path;
use crate::problem::Finding;

impl Resolved {
    /// What the columns say of the `i`th value.
    pub(crate) fn says(&self, i: usize) -> Vec<(String, Value)> {
        match &self.cases {
            None => vec![(self.column.clone(), label(&self.values[i]))],
            Some(cases) => {
                let says = cases[i].label.iter();
                says.map(|(column, value)| (column.clone(), label(value)))
                    .collect()
            }
        }
    }
}

/// Values of an axis of which the columns say the same: reports would take them for repetitions.
pub(super) fn alike(axis: &Resolved) -> Option<Finding> {
    let mut seen = BTreeSet::new();
    let said = |i| {
        let columns = axis.says(i).into_iter();
        columns.map(|(_, value)| shown(&value)).collect::<Vec<_>>()
    };
    let twice = (0..axis.values.len()).find(|i| !seen.insert(said(*i)))?;
    let at = path::index(&path::join("sweep", &axis.key), twice);
    let words = said(twice).join(", ");
    let labelled = axis.cases.is_some();
    Some(match words.is_empty() {
        true => Finding::new(at, "no column tells it from another", LABEL),
        false if labelled => Finding::new(
            at,
            format!(
                "results call another of these {words:?} too, and would be taken for repetitions"
            ),
            LABEL,
        ),
        false => Finding::new(
            at,
            format!("{words} stands in the axis twice"),
            "keep one; `run.repetitions` repeats runs",
        ),
    })
}

const LABEL: &str = "a label of its own, such as label = \"fast\"";

/// A value as it reads in a column: whole numbers are the same with a point and without.
fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or_else(String::new, |n| n.to_string())
        }
        other => words(other),
    }
}

/// A swept value as it stands in a column: a table becomes a text.
fn label(value: &Value) -> Value {
    match value {
        Value::Object(_) | Value::Array(_) => Value::String(words(value)),
        plain => plain.clone(),
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(" "),
        Value::Object(map) => {
            let parts = map.iter().map(|(key, value)| match (key.as_str(), value) {
                ("preset" | "kind", value) => words(value),
                (key, value) => format!("{key}={}", words(value)),
            });
            parts.collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}
