//! Lists of flows from files.
//!
//! `workload = { kind = "flow-list", path = "flows.csv" }`: the file's text takes its place in the scenario as `flows`, so
//! that results say what was run; also where a sweep gives `workload.path` its values, or sets it.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::path;
use crate::problem::Finding;
use crate::workload::FlowTable;

/// Reads every such file that the workload or the sweep names, relative to `base_dir`, and every text in their place.
pub(crate) fn read(root: &mut Value, base_dir: Option<&Path>) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(workload) = root.get_mut("workload") {
        of_table(workload, "workload", base_dir, &mut found);
    }
    if let Some(sweep) = root.get_mut("sweep") {
        of_axis(sweep);
        of_sweep(sweep, "sweep", base_dir, &mut found);
    }
    found
}

/// An axis of files: its values become labels of what their files hold.
fn of_axis(sweep: &mut Value) {
    let Some(axes) = sweep.as_object_mut() else {
        return;
    };
    let Some(Value::Array(files)) = axes.get("workload.path") else {
        return;
    };
    if !files.iter().all(Value::is_string) {
        return; // labels by hand, or what the schema refuses
    }
    let choice =
        |file: &Value| json!({ "label": { "path": file }, "set": { "workload.path": file } });
    let choices: Vec<Value> = files.iter().map(choice).collect();
    axes.insert("workload.path".to_owned(), Value::Array(choices));
}

fn of_sweep(value: &mut Value, at: &str, base_dir: Option<&Path>, found: &mut Vec<Finding>) {
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                of_sweep(item, &path::index(at, i), base_dir, found);
            }
        }
        Value::Object(table) => {
            fill(
                table,
                ("workload.path", "workload.flows"),
                at,
                base_dir,
                found,
            );
            for (key, inner) in table {
                of_sweep(inner, &path::join(at, key), base_dir, found);
            }
        }
        _ => {}
    }
    of_table(value, at, base_dir, found);
}

/// A workload of this kind.
fn of_table(value: &mut Value, at: &str, base_dir: Option<&Path>, found: &mut Vec<Finding>) {
    if let Value::Object(table) = value
        && table.get("kind").is_some_and(|kind| kind == "flow-list")
    {
        fill(table, ("path", "flows"), at, base_dir, found);
    }
}

/// Puts the text of the file that one key names where the other is.
fn fill(
    table: &mut Map<String, Value>,
    (named, held): (&str, &str),
    at: &str,
    base_dir: Option<&Path>,
    found: &mut Vec<Finding>,
) {
    let name = table.get(named).and_then(Value::as_str).map(str::to_owned);
    let key = if name.is_some() { named } else { held };
    let read = match (&name, table.get(held)) {
        (None, None) => return,
        (None, Some(text)) => match text.as_str() {
            Some(text) => Ok(text.to_owned()),
            None => return, // no text: the schema says so
        },
        (Some(_), Some(_)) => Err((format!("{held} says what the file would"), "one of the two")),
        (Some(name), None) => text(name, base_dir),
    };
    let sound = read.and_then(|text| match text.parse::<FlowTable>() {
        Ok(flows) if flows.is_empty() => Err(("it lists no flow".to_owned(), REMEDY)),
        Ok(_) => Ok(text),
        Err(reason) => Err((reason, REMEDY)),
    });
    let text = sound.unwrap_or_else(|(reason, remedy)| {
        let reason = match &name {
            Some(name) => format!("{name}: {reason}"),
            None => reason,
        };
        found.push(Finding::new(path::join(at, key), reason, remedy));
        // A sound one, so that the rest is looked at and this is told once.
        "start_s source destination bytes\n0 0 1 1".to_owned()
    });
    table.shift_remove(named);
    table.insert(held.to_owned(), Value::String(text));
}

const REMEDY: &str = "a first line that names columns (start_s or start_ms, start_us, start_ns; source, destination, \
                      bytes; priority and congestion if wanted), and a line for each flow";

fn text(name: &str, base_dir: Option<&Path>) -> Result<String, (String, &'static str)> {
    let file = base_dir.map_or_else(|| Path::new(name).to_owned(), |dir| dir.join(name));
    std::fs::read_to_string(&file).map_err(|error| {
        let reason = format!("it cannot be read: {error}");
        (reason, "a file's path, relative to the scenario's own")
    })
}

#[cfg(test)]
#[path = "flow_list_file_tests.rs"]
mod tests;
