//! Axes of a sweep whose values set several places at once.
//!
//! Such an axis is a list of tables: `set` has the values by their paths, `label` what the columns
//! say of them, or what the axis' own column says. Without labels each path's last part is a column.

use serde_json::{Map, Value};

use super::{Resolved, not_varied, resolve_key};
use crate::columns;
use crate::path::{self, Steps};
use crate::places::Place;
use crate::problem::Finding;

/// One value of such an axis.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// What the columns say, by column.
    pub label: Map<String, Value>,
    /// The places it sets.
    pub set: Vec<(Steps, Value)>,
}

/// Whether an axis is of this form.
pub(super) fn are(axis: &Value) -> bool {
    axis.as_array()
        .is_some_and(|values| !values.is_empty() && values.iter().all(|v| v.get("set").is_some()))
}

/// Reads the cases of the axis at `at`; a label that is no table is what `column` says.
pub(super) fn read(
    axis: &Value,
    (column, at): (&str, &str),
    places: &[Place],
) -> Result<Vec<Case>, Vec<Finding>> {
    let mut found = Vec::new();
    let mut cases: Vec<Case> = Vec::new();
    for (i, value) in axis.as_array().into_iter().flatten().enumerate() {
        let here = path::index(at, i);
        let Some(table) = value.as_object() else {
            continue;
        };
        for key in table
            .keys()
            .filter(|k| !["label", "set"].contains(&k.as_str()))
        {
            found.push(
                Finding::new(
                    path::join(&here, key),
                    "a case of a sweep has no such key",
                    "label and set",
                )
                .at_key(),
            );
        }
        let label = match table.get("label") {
            None => None,
            Some(label) if is_empty(label) => {
                found.push(Finding::new(
                    path::join(&here, "label"),
                    "an empty label tells nothing apart",
                    "for instance label = \"marks\", or no label at all",
                ));
                continue;
            }
            Some(Value::Object(label)) if label.values().all(is_scalar) => Some(label.clone()),
            Some(value) if is_scalar(value) => {
                Some(Map::from_iter([(column.to_owned(), value.clone())]))
            }
            Some(_) => {
                found.push(Finding::new(
                    path::join(&here, "label"),
                    "a label is what the axis' column says, or a table of columns and what they say",
                    "for instance label = \"marks\", or label = { marking = \"ce\", start_percent = 10 }",
                ));
                continue;
            }
        };
        let at_set = path::join(&here, "set");
        let Some(Value::Object(set)) = table.get("set") else {
            found.push(Finding::new(
                at_set,
                "what a case sets is a table of paths and values",
                "for instance set = { \"workload.servers\" = 2 }",
            ));
            continue;
        };
        let mut resolved = Vec::new();
        for (key, value) in set {
            let steps = resolve_key(key, places);
            match steps.and_then(|steps| not_varied(&steps).map_or(Ok(steps), Err)) {
                Ok(steps) => resolved.push((steps, value.clone())),
                Err(finding) => found.push(finding.within(&path::join(&at_set, key)).at_key()),
            }
        }
        let label = label.unwrap_or_else(|| {
            let named = resolved.iter();
            named
                .map(|(s, v)| (s.last().cloned().unwrap_or_default(), v.clone()))
                .collect()
        });
        if let Some(first) = cases.first()
            && !label.keys().eq(first.label.keys())
        {
            found.push(Finding::new(
                here,
                "its columns are not those of the first case",
                "the same columns, in the same order, in every case",
            ));
            continue;
        }
        cases.push(Case {
            label,
            set: resolved,
        });
    }
    if found.is_empty() {
        Ok(cases)
    } else {
        Err(found)
    }
}

/// Columns that every table begins with.
const EVERY_TABLE: &[&str] = &["run", "repetition"];

/// Axes that give one column, or one place, its values twice, where one of them has cases.
pub(super) fn clashes(axes: &[Resolved]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (i, axis) in axes.iter().enumerate() {
        let at = path::join("sweep", &axis.key);
        let mut add = |reason: String, remedy: &str| {
            found.push(Finding::new(at.clone(), reason, remedy).at_key());
        };
        if let Some(column) = (axis.columns().into_iter()).find(|c| EVERY_TABLE.contains(c)) {
            add(
                format!("every table has a column {column:?} of its own"),
                "another name in its labels",
            );
        }
        if axis.cases.is_some()
            && let Some(column) = axis.columns().into_iter().find(|c| columns::is_told(c))
        {
            add(
                format!("the results have a column {column:?} of their own"),
                "another name in its labels",
            );
        }
        for other in &axes[..i] {
            if axis.cases.is_none() && other.cases.is_none() {
                continue;
            }
            let (places, taken) = (axis.places(), other.places());
            let (columns, named) = (axis.columns(), other.columns());
            if let Some(place) = places.into_iter().find(|place| taken.contains(place)) {
                add(
                    format!("{} is swept by {:?} already", path::show(place), other.key),
                    "keep one of the two",
                );
            } else if let Some(column) = columns.into_iter().find(|c| named.contains(c)) {
                add(
                    format!("{:?} has a column {column:?} already", other.key),
                    "another name in the labels of one of them",
                );
            }
        }
    }
    found
}

impl Resolved {
    /// The places that it gives values.
    fn places(&self) -> Vec<&Steps> {
        match &self.cases {
            None => vec![&self.steps],
            Some(cases) => {
                let sets = cases.iter().flat_map(|case| &case.set);
                sets.map(|(steps, _)| steps).collect()
            }
        }
    }

    /// The columns that its values are in.
    fn columns(&self) -> Vec<&str> {
        match &self.cases {
            None => vec![&self.column],
            Some(cases) => {
                let first = cases.first().into_iter();
                first
                    .flat_map(|c| c.label.keys())
                    .map(String::as_str)
                    .collect()
            }
        }
    }

    /// The places that each of its values sets, whichever it is.
    pub(crate) fn always_set(&self) -> Vec<&Steps> {
        let cases = self.cases.as_deref();
        let mut places = self.places();
        places.retain(|place| {
            let sets = |case: &Case| case.set.iter().any(|(steps, _)| steps == *place);
            cases.is_none_or(|cases| cases.iter().all(sets))
        });
        places.sort();
        places.dedup();
        places
    }
}

/// Whether a label says nothing, or nothing in one of its columns.
fn is_empty(label: &Value) -> bool {
    let blank = |text: &str| text.trim().is_empty();
    match label {
        Value::String(text) => blank(text),
        Value::Object(columns) => {
            let no_text =
                |(name, value): (&String, &Value)| blank(name) || value.as_str().is_some_and(blank);
            columns.is_empty() || columns.iter().any(no_text)
        }
        _ => false,
    }
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array() && !value.is_null()
}
