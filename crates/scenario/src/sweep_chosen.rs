//! Some of a sweep's cases, named by their labels: what an override of such an axis may say in place of whole cases.

use serde_json::{Map, Value};

use super::cases;
use crate::nearest;
use crate::path;
use crate::problem::Finding;

/// Of the cases of `axis`, those that `wanted` names: what a label says, a table of columns and what they say, or
/// a list of such. `None` where the axis has no cases, or `wanted` is cases itself.
pub(crate) fn chosen(
    axis: &Value,
    column: &str,
    wanted: &Value,
) -> Option<Result<Value, Box<Finding>>> {
    let all = axis.as_array().filter(|_| cases::are(axis))?;
    let wanted = match wanted {
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    if wanted.is_empty() || wanted.iter().any(|one| one.get("set").is_some()) {
        return None;
    }
    let labels: Vec<Map<String, Value>> = all.iter().map(|case| label(case, column)).collect();
    let mut picked: Vec<usize> = Vec::new();
    for one in wanted {
        let before = picked.len();
        let mut found = false;
        for (i, _) in labels.iter().enumerate().filter(|(_, l)| is(l, one)) {
            found = true;
            if !picked[..before].contains(&i) {
                picked.push(i);
            }
        }
        if !found {
            let names: Vec<String> = labels.iter().map(show).collect();
            let names = names.iter().map(String::as_str);
            return Some(Err(Box::new(Finding::new(
                path::join("sweep", column),
                format!("none of its cases is {}", text(one)),
                nearest::suggest(&text(one), names),
            ))));
        }
    }
    Some(Ok(picked.into_iter().map(|i| all[i].clone()).collect()))
}

/// What the columns say of a case: its label, or else what it sets.
fn label(case: &Value, column: &str) -> Map<String, Value> {
    match case.get("label") {
        Some(Value::Object(label)) => label.clone(),
        Some(label) => Map::from_iter([(column.to_owned(), label.clone())]),
        None => {
            let set = case["set"].as_object().into_iter().flatten();
            let last = |key: &str| match path::parse(key) {
                Some(steps) => steps.last().cloned().unwrap_or_default(),
                None => key.to_owned(),
            };
            set.map(|(key, value)| (last(key), value.clone())).collect()
        }
    }
}

/// Whether a label says `wanted` in one of its columns, or in all of those that it names.
fn is(label: &Map<String, Value>, wanted: &Value) -> bool {
    let same = |a: &Value, b: &Value| a == b || text(a) == text(b);
    match wanted {
        Value::Object(columns) => {
            let says = |(key, value)| label.get(key).is_some_and(|said| same(said, value));
            columns.iter().all(says)
        }
        one => label.values().any(|said| same(said, one)),
    }
}

fn show(label: &Map<String, Value>) -> String {
    let values: Vec<String> = label.values().map(text).collect();
    values.join(" ")
}

/// As it is read: a text without its quotes.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
