//! Sweeps: which values are varied, and over what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use crate::check;
use crate::document::Document;
use crate::nearest;
use crate::path::{self, Steps};
use crate::places::{Place, meant, settable};
use crate::problem::Finding;
use crate::schema;

/// The values of one axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Axis {
    /// One after another, as they would stand at the swept place.
    List(#[schemars(length(min = 1))] Vec<Value>),
    /// Numbers from one to another.
    Range(Range),
}

/// Numbers from `from` to `to`, both included, in steps of `step`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The first value.
    pub from: Number,
    /// The last value, unless the steps pass it by.
    pub to: Number,
    /// From one value to the next; absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Number>,
}

#[path = "sweep_cases.rs"]
mod cases;
#[path = "sweep_chosen.rs"]
mod chosen;
#[path = "sweep_labels.rs"]
mod labels;

pub(crate) use cases::Case;
pub(crate) use chosen::chosen;

impl Resolved {
    /// How far in the places are that it sets: what lies further in is set later.
    pub(crate) fn depth(&self) -> usize {
        let sets = self.cases.iter().flatten().flat_map(|case| &case.set);
        let deepest = sets.map(|(steps, _)| steps.len()).max();
        deepest.unwrap_or(self.steps.len())
    }
}

/// The most values an axis, and the most runs a sweep, may have.
pub(crate) const MOST_RUNS: usize = 1_000_000;

/// Top-level keys that say nothing about a run and so cannot be varied.
const NOT_VARIED: &[&str] = &[
    "name",
    "title",
    "description",
    "study",
    "overlay",
    "sweep",
    "run",
    "record",
    "preset",
];

/// An axis that is ready to be applied.
#[derive(Debug)]
pub(crate) struct Resolved {
    /// The key as it is written in the file.
    pub key: String,
    /// The name of the column that holds its values.
    pub column: String,
    /// The place that it varies.
    pub steps: Steps,
    /// Its values.
    pub values: Vec<Value>,
    /// Whether the file lists the values one by one, so that each has a place of its own.
    pub listed: bool,
    /// Where its values set several places: those, one for each value.
    pub cases: Option<Vec<Case>>,
}

/// The axes of `document`'s sweep, in its order.
pub(crate) fn axes(document: &Document) -> (Vec<Resolved>, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut axes: Vec<Resolved> = Vec::new();
    let sweep = match document.root.get("sweep") {
        None => return (axes, findings),
        Some(Value::Object(sweep)) => sweep,
        Some(_) => {
            let remedy = "a table of axes, such as servers = [1, 2, 4]";
            findings.push(Finding::new("sweep", "this is not a table", remedy));
            return (axes, findings);
        }
    };
    let mut places = settable(document);
    places.retain(|place| !NOT_VARIED.contains(&place.steps[0].as_str()));
    for (key, axis) in sweep {
        let at = path::join("sweep", key);
        if cases::are(axis) {
            match cases::read(axis, (key, &at), &places) {
                Ok(cases) => axes.push(Resolved {
                    key: key.clone(),
                    column: key.clone(),
                    steps: Vec::new(),
                    values: axis.as_array().cloned().unwrap_or_default(),
                    listed: true,
                    cases: Some(cases),
                }),
                Err(found) => findings.extend(found),
            }
            continue;
        }
        if let Some(full) = unquoted(key, axis) {
            let reason = "a path is one key here, in quotes".to_owned();
            findings.push(Finding::new(at, reason, format!("{full:?} = […]")).at_key());
            continue;
        }
        if let Some(finding) = holds_paths(axis, &at, &places) {
            findings.push(finding);
            continue;
        }
        let node = &schema::root()["properties"]["sweep"]["additionalProperties"];
        let steps = resolve_key(key, &places).map_err(|f| findings.push(f.within(&at).at_key()));
        let values = values(node, axis, &at).map_err(|f| findings.extend(f));
        let (Ok(steps), Ok(values)) = (steps, values) else {
            continue;
        };
        if let Some(finding) = not_varied(&steps) {
            findings.push(finding.within(&at).at_key());
            continue;
        }
        if let Some(other) = axes.iter().find(|a| a.steps == steps) {
            findings.push(
                Finding::new(
                    at,
                    format!("{} is swept by {:?} already", path::show(&steps), other.key),
                    "keep one of the two",
                )
                .at_key(),
            );
            continue;
        }
        axes.push(Resolved {
            key: key.clone(),
            column: steps.last().cloned().unwrap_or_default(),
            steps,
            values,
            listed: axis.is_array(),
            cases: None,
        });
    }
    // Two axes whose last parts are the same are told apart by their full paths.
    for i in 0..axes.len() {
        let column = &axes[i].column;
        let alike = axes
            .iter()
            .filter(|a| a.cases.is_none() && a.column == *column);
        if axes[i].cases.is_none() && alike.count() > 1 {
            let full: Vec<String> = axes.iter().map(|a| path::show(&a.steps)).collect();
            let same = axes[i].column.clone();
            for (axis, full) in axes.iter_mut().zip(full) {
                if axis.cases.is_none() && axis.column == same {
                    axis.column = full;
                }
            }
        }
    }
    findings.extend(cases::clashes(&axes));
    findings.extend(axes.iter().filter_map(labels::alike));
    (axes, findings)
}

/// Why the place `steps` cannot be varied, if it cannot.
fn not_varied(steps: &Steps) -> Option<Finding> {
    let first = steps[0].as_str();
    NOT_VARIED.contains(&first).then(|| {
        let remedy = match first {
            "preset" => {
                "the value where the preset is used, such as \"network.switch.latency\", or \"network.switch.NAME.model.latency\" \
                 among explicit ones; several at once as { label = { … }, set = { … } }"
            }
            _ => "`run.repetitions` repeats runs with other seeds",
        };
        let reason = format!("{} cannot be varied within a scenario", path::show(steps));
        Finding::new("", reason, remedy)
    })
}

/// The path that the key of an axis begins, where its parts stand as tables in one another: TOML's dots without quotes.
fn unquoted(key: &str, axis: &Value) -> Option<String> {
    let mut path = path::join("", key);
    let mut below = axis;
    while let Some((key, value)) = below.as_object().and_then(|table| table.iter().next()) {
        if ["from", "to", "step"].contains(&key.as_str()) {
            return None;
        }
        path = path::join(&path, key);
        below = value;
    }
    (axis.is_object() && below.is_array()).then_some(path)
}

/// What is wrong where a value of an axis is a table that has values by their paths, as the `set` of one that sets several.
fn holds_paths(axis: &Value, at: &str, places: &[Place]) -> Option<Finding> {
    let is_place = |steps: Steps| places.iter().any(|place| place.steps == steps);
    let is_path = |key: &str| key.contains('.') && path::parse(key).is_some_and(is_place);
    let (i, key) = axis.as_array()?.iter().enumerate().find_map(|(i, value)| {
        let mut keys = value.as_object()?.keys();
        Some((i, keys.find(|key| is_path(key))?))
    })?;
    Some(Finding::new(
        path::index(at, i),
        format!("a value that sets {key} has it under `set`"),
        format!("{{ label = \"…\", set = {{ {key:?} = … }} }}"),
    ))
}

fn values(node: &Value, axis: &Value, at: &str) -> Result<Vec<Value>, Vec<Finding>> {
    let one = |reason: String, remedy: &str| Err(vec![Finding::new(at, reason, remedy)]);
    if !axis.is_array() && !axis.is_object() {
        return one(
            "an axis is a list of values, or a range".to_owned(),
            "for instance [1, 2, 4] or { from = 1, to = 23 }",
        );
    }
    if axis.as_array().is_some_and(Vec::is_empty) {
        return one(
            "the axis is empty: there is nothing to run".to_owned(),
            "give it at least one value, or leave it out",
        );
    }
    let wrong = check::check(node, axis, at);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let values = match serde_json::from_value(axis.clone()) {
        Ok(Axis::List(values)) => values,
        Ok(Axis::Range(range)) => match range.values() {
            Ok(values) => values,
            Err(reason) => return one(reason, "for instance { from = 1, to = 23, step = 2 }"),
        },
        Err(error) => return one(error.to_string(), "a list of values, or a range"),
    };
    Ok(values)
}

impl Range {
    fn values(&self) -> Result<Vec<Value>, String> {
        let step = self.step.clone().unwrap_or_else(|| Number::from(1));
        if let (Some(from), Some(to), Some(step)) =
            (self.from.as_i64(), self.to.as_i64(), step.as_i64())
        {
            check_range(from as f64, to as f64, step as f64)?;
            return Ok((from..=to)
                .step_by(usize::try_from(step).unwrap_or(usize::MAX))
                .map(Value::from)
                .collect());
        }
        let number = |n: &Number| n.as_f64().unwrap_or(f64::NAN);
        let (from, to, step) = (number(&self.from), number(&self.to), number(&step));
        check_range(from, to, step)?;
        // A hair of slack, so that rounding does not lose the last value.
        let count = ((to - from) / step + 1e-9).floor() as u64;
        Ok((0..=count)
            .map(|i| from + i as f64 * step)
            // 0.1 + 2 × 0.1 is to read 0.3.
            .map(|x| Value::from((x * 1e12).round() / 1e12))
            .collect())
    }
}

fn check_range(from: f64, to: f64, step: f64) -> Result<(), String> {
    if step <= 0.0 {
        Err(format!("a step of {step} never arrives"))
    } else if from > to {
        Err(format!(
            "the range from {from} to {to} is empty: there is nothing to run"
        ))
    } else if (to - from) / step >= MOST_RUNS as f64 {
        Err(format!("the range has more than {MOST_RUNS} values"))
    } else {
        Ok(())
    }
}

/// The place that a key of the sweep, or a path without a dot in an override, names.
pub(crate) fn resolve_key(key: &str, places: &[Place]) -> Result<Steps, Finding> {
    if key.contains('.') {
        return path::parse(key).ok_or_else(|| {
            Finding::new(
                "",
                format!("{key:?} is not a path"),
                "keys joined by dots, such as \"network.link.rate\"",
            )
        });
    }
    let named: Vec<&Place> = places
        .iter()
        .filter(|place| place.steps.last().is_some_and(|last| last == key))
        .collect();
    // A whole part of the scenario goes before values of the same name further in.
    let named = match named.iter().find(|place| place.steps.len() == 1) {
        Some(whole) => vec![*whole],
        None => meant(named),
    };
    match named.as_slice() {
        [one] => Ok(one.steps.clone()),
        [] => {
            let mut parts: Vec<&str> = places
                .iter()
                .filter_map(|place| place.steps.last().map(String::as_str))
                .collect();
            parts.sort_unstable();
            parts.dedup();
            let remedy = match nearest::nearest(key, parts) {
                Some(near) => format!("did you mean {near:?}?"),
                None => "the last part of a value's path, or the full path in quotes".to_owned(),
            };
            Err(Finding::new(
                "",
                format!("no value is named {key:?}"),
                remedy,
            ))
        }
        several => {
            let paths: Vec<String> = several
                .iter()
                .map(|place| format!("{:?}", path::show(&place.steps)))
                .collect();
            Err(Finding::new(
                "",
                format!("{key:?} names {} values", several.len()),
                format!("write the full path: one of {}", paths.join(", ")),
            ))
        }
    }
}
