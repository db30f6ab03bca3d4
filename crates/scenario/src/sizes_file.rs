//! Distributions of flow sizes from files.
//!
//! `sizes = { kind = "file", path = "mine.txt" }`: a line a point, a size in bytes and the share of flows no
//! larger, apart by spaces, tabs or a comma; shares up to 1, or up to 100 for percent; `#` begins a
//! remark. The points take the file's place in the scenario, so that results say what was run.

use std::path::Path;

use serde_json::{Value, json};

use crate::path;
use crate::problem::Finding;

/// Puts the points of every such file that the workload or the sweep names in its place; paths are
/// relative to `base_dir`.
pub(crate) fn read(root: &mut Value, base_dir: Option<&Path>) -> Vec<Finding> {
    let mut found = Vec::new();
    for key in ["workload", "sweep"] {
        if let Some(value) = root.get_mut(key) {
            replace(value, key, base_dir, &mut found);
        }
    }
    found
}

fn replace(value: &mut Value, at: &str, base_dir: Option<&Path>, found: &mut Vec<Finding>) {
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                replace(item, &path::index(at, i), base_dir, found);
            }
        }
        Value::Object(table) if table.get("kind").is_some_and(|kind| kind == "file") => {
            let Some(name) = table.get("path").and_then(Value::as_str) else {
                return;
            };
            let points = points(name, base_dir).unwrap_or_else(|(reason, remedy)| {
                found.push(Finding::new(path::join(at, "path"), reason, remedy));
                // Sound ones, so that the rest is looked at and this is told once.
                let point = |bytes, share| json!({ "bytes": bytes, "share": share });
                vec![point("1B", 0.0), point("2B", 1.0)]
            });
            *value = json!({ "kind": "points", "points": points });
        }
        Value::Object(table) => {
            for (key, inner) in table {
                replace(inner, &path::join(at, key), base_dir, found);
            }
        }
        _ => {}
    }
}

fn points(name: &str, base_dir: Option<&Path>) -> Result<Vec<Value>, (String, &'static str)> {
    let file = base_dir.map_or_else(|| Path::new(name).to_owned(), |dir| dir.join(name));
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let reason = format!("{} cannot be read: {error}", file.display());
        (reason, "a file's path, relative to the scenario's own")
    })?;
    // Editors on Windows begin files with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut points = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
        let Some(size) = words.next() else { continue };
        let share = words.next().and_then(|word| word.parse::<f64>().ok());
        let size = size.parse::<f64>().ok().filter(|size| *size >= 0.0);
        let (Some(size), Some(share), None) = (size, share, words.next()) else {
            let reason = format!("line {} of {name} is no point: {line:?}", number + 1);
            return Err((reason, "a size in bytes and a share, such as 1460 0.15"));
        };
        if size < 1.0 && share > 0.0 {
            let reason = format!(
                "line {} of {name} has flows of no bytes: {line:?}",
                number + 1
            );
            return Err((
                reason,
                "sizes of at least 1, but for a first line with the share 0",
            ));
        }
        points.push((size as u64, share));
    }
    let most = points.last().map_or(0.0, |(_, share)| *share);
    let whole = if most > 1.0 { 100.0 } else { 1.0 };
    let point = |(bytes, share): (u64, f64)| {
        // A flow has at least a byte; distributions often begin at none.
        json!({ "bytes": format!("{}B", bytes.max(1)), "share": share / whole })
    };
    Ok(points.into_iter().map(point).collect())
}

#[cfg(test)]
#[path = "sizes_file_tests.rs"]
mod tests;
