//! What is laid over a scenario file: overlay files and `path=value` overrides.

use std::path::Path;

use serde_json::Value;

use crate::check;
use crate::document::{Document, Origin};
use crate::nearest;
use crate::path::{self, Steps};
use crate::places;
use crate::problem::{Finding, Problem, Severity};
use crate::schema;
use crate::sweep;

/// Lays the files that the document names as its overlays over it, relative to `base_dir`, and
/// then the overrides, of which one may name the overlays.
pub(crate) fn lay(
    document: &mut Document,
    overrides: &[String],
    base_dir: Option<&Path>,
    problems: &mut Vec<Problem>,
) {
    let overrides = parse(document, overrides, problems);
    let (overlays, others): (Vec<_>, Vec<_>) =
        overrides.into_iter().partition(|o| o.steps[0] == "overlay");
    apply(document, overlays, problems);
    lay_overlays(document, base_dir, problems);
    apply(document, others, problems);
}

struct Override {
    steps: Steps,
    value: Value,
    origin: Origin,
}

/// Reads `path=value` texts; the value is TOML, or a text without quotes.
fn parse(document: &Document, overrides: &[String], problems: &mut Vec<Problem>) -> Vec<Override> {
    if overrides.is_empty() {
        return Vec::new();
    }
    let places = places::settable(document);
    let mut read = Vec::new();
    for text in overrides {
        let mut wrong = |reason: String, remedy: &str| {
            problems.push(Problem {
                path: String::new(),
                source: format!("--set {text}"),
                line: None,
                column: None,
                reason,
                remedy: remedy.to_owned(),
                severity: Severity::Error,
            });
        };
        let Some((key, value)) = text.split_once('=') else {
            wrong(
                "this is not path=value".to_owned(),
                "for instance workload.iterations=20",
            );
            continue;
        };
        let Some(mut steps) = path::parse(key.trim()) else {
            wrong(
                format!("{:?} is not a path", key.trim()),
                "keys joined by dots, such as workload.iterations",
            );
            continue;
        };
        let known = &schema::root()["properties"];
        if known.get(&steps[0]).is_none() {
            // A value's name alone will do where it is the only one, as in a sweep.
            let named = (steps.len() == 1).then(|| sweep::resolve_key(&steps[0], &places));
            match named {
                Some(Ok(full)) => steps = full,
                // An axis of cases has a name that no value has.
                Some(Err(_)) if is_axis(document, &steps[0]) => {
                    steps.insert(0, "sweep".to_owned());
                }
                Some(Err(finding)) => {
                    wrong(finding.reason, &finding.remedy);
                    continue;
                }
                None => {
                    let keys = known.as_object().into_iter().flatten();
                    let near = nearest::suggest(&steps[0], keys.map(|(k, _)| k.as_str()));
                    wrong(
                        format!("there is no key {:?} in a scenario", steps[0]),
                        &near,
                    );
                    continue;
                }
            }
        }
        let value = value.trim();
        let value = match Document::parse(&format!("value = {value}"), "") {
            Ok(parsed) if parsed.root.as_object().is_some_and(|m| m.len() == 1) => {
                parsed.root["value"].clone()
            }
            _ if value.starts_with(['[', '{', '"', '\'']) => {
                wrong(
                    format!("{value} is not a TOML value"),
                    "close its brackets and quotes; texts within brackets need quotes",
                );
                continue;
            }
            _ => Value::from(value),
        };
        read.push(Override {
            steps,
            value,
            origin: Document::origin_of_override(text),
        });
    }
    // A whole goes before its parts, so that the order of the command line does not matter.
    read.sort_by_key(|o| o.steps.len());
    read
}

fn is_axis(document: &Document, key: &str) -> bool {
    document
        .root
        .get("sweep")
        .is_some_and(|sweep| sweep.get(key).is_some())
}

fn apply(document: &mut Document, overrides: Vec<Override>, problems: &mut Vec<Problem>) {
    for Override {
        steps,
        value,
        origin,
    } in overrides
    {
        if let Err(finding) = named_cases(document, &steps, value)
            .and_then(|value| document.set(&steps, value, &origin))
        {
            let mut problem = document.problem(finding, Severity::Error);
            problem.source = origin.source_name().to_owned();
            (problem.line, problem.column) = (None, None);
            problems.push(problem);
        }
    }
}

/// What an axis of cases becomes where `value` names some of them; else `value`.
fn named_cases(document: &Document, steps: &Steps, value: Value) -> Result<Value, Finding> {
    let [sweep, key] = steps.as_slice() else {
        return Ok(value);
    };
    let axis = document.root.get(sweep).filter(|_| sweep == "sweep");
    match axis
        .and_then(|axes| axes.get(key))
        .and_then(|axis| sweep::chosen(axis, key, &value))
    {
        Some(chosen) => chosen.map_err(|finding| *finding),
        None => Ok(value),
    }
}

/// Lays the files that `overlay` names over the document.
fn lay_overlays(document: &mut Document, base_dir: Option<&Path>, problems: &mut Vec<Problem>) {
    let Some(value) = document.root.get("overlay").cloned() else {
        return;
    };
    let node = &schema::root()["properties"]["overlay"];
    let wrong = check::check(node, &value, "overlay");
    if !wrong.is_empty() {
        problems.extend(document.problems(wrong));
        return;
    }
    let names: Vec<&str> = match &value {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect(),
    };
    for (i, name) in names.into_iter().enumerate() {
        let at = match value {
            Value::Array(_) => path::index("overlay", i),
            _ => "overlay".to_owned(),
        };
        let file = base_dir.map_or_else(|| Path::new(name).to_owned(), |dir| dir.join(name));
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) => {
                let finding = Finding::new(
                    at,
                    format!("{} cannot be read: {error}", file.display()),
                    "a file's path, relative to the scenario's own",
                );
                problems.push(document.problem(finding, Severity::Error));
                continue;
            }
        };
        match Document::parse(&text, &file.display().to_string()) {
            Ok(overlay) if overlay.root.get("overlay").is_some() => {
                let finding = Finding::new(
                    at,
                    format!("{name:?} names overlays of its own"),
                    "name all of them in the scenario",
                );
                problems.push(document.problem(finding, Severity::Error));
            }
            Ok(overlay) => document.lay_over(overlay),
            Err(found) => problems.extend(found),
        }
    }
}
