//! Courses of a link's capacity from files.
//!
//! `[trace.NAME]` with a `path`: the times or steps in it take the file's place in the scenario, so that results say what was run.
//! `kind = "opportunities"` reads mahimahi's form, a time in milliseconds on each line; `kind = "rates"` lines of
//! seconds and Mbit/s. `#` begins a remark.

use std::path::Path;

use serde_json::{Map, Value, json};
use tailback_net::trace::opportunities::Times;

use crate::path;
use crate::problem::Finding;

/// More lines than any recording in use has, and less than fills a memory.
const LINES_MAX: usize = 5_000_000;

/// Reads every file that a table in `trace` names; paths are relative to `base_dir`.
pub(crate) fn read(root: &mut Value, base_dir: Option<&Path>) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(Value::Object(traces)) = root.get_mut("trace") else {
        return found;
    };
    for (name, trace) in traces {
        let Value::Object(trace) = trace else {
            continue;
        };
        let filled = fill(trace, base_dir).map_err(|wrong| ("path", wrong));
        let read = filled.and_then(|()| parse(trace).map_err(|wrong| ("times_ms", wrong)));
        if let Err((key, (reason, remedy))) = read {
            let at = path::join(&path::join("trace", name), key);
            found.push(Finding::new(at, reason, remedy));
        }
    }
    found
}

type Wrong = (String, &'static str);

fn fill(trace: &mut Map<String, Value>, base_dir: Option<&Path>) -> Result<(), Wrong> {
    let kind = trace
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let key = match kind {
        "opportunities" => "times_ms",
        "rates" => "steps",
        _ => return Ok(()), // the schema says what there is
    };
    let Some(name) = trace.get("path").and_then(Value::as_str) else {
        return Ok(());
    };
    if trace.contains_key(key) {
        let reason = format!("{key} says what the file would");
        return Err((reason, "one of the two"));
    }
    let file = base_dir.map_or_else(|| Path::new(name).to_owned(), |dir| dir.join(name));
    let text = std::fs::read_to_string(&file).map_err(|error| {
        let reason = format!("{} cannot be read: {error}", file.display());
        (reason, "a file's path, relative to the scenario's own")
    });
    let read = text.and_then(|text| match key {
        "times_ms" => times(&text, name),
        _ => steps(&text, name),
    });
    trace.shift_remove("path");
    // Something sound where the file is not, so that the rest is looked at and this is told once.
    let (value, wrong) = match read {
        Ok(value) => (value, Ok(())),
        Err(wrong) if key == "times_ms" => (json!("1"), Err(wrong)),
        Err(wrong) => (json!([{ "from": "0s", "rate": "1Mbit" }]), Err(wrong)),
    };
    trace.insert(key.to_owned(), value);
    wrong
}

/// Times that are no text of such, and would be told without their place later.
fn parse(trace: &mut Map<String, Value>) -> Result<(), Wrong> {
    let Some(Value::String(text)) = trace.get_mut("times_ms") else {
        return Ok(());
    };
    let Err(reason) = text.parse::<Times>() else {
        return Ok(());
    };
    *text = "1".to_owned();
    Err((
        reason,
        "milliseconds, such as \"0 1*3 4\": one at 0, three at 1, one at 4",
    ))
}

/// What the lines say, without remarks and empty ones, and their numbers.
fn lines<'a>(text: &'a str, name: &str) -> Result<Vec<(usize, &'a str)>, Wrong> {
    // Editors on Windows begin files with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines());
    let said = lines.map(|(number, line)| (number, line.split('#').next().unwrap_or("").trim()));
    let said: Vec<_> = said.filter(|(_, line)| !line.is_empty()).collect();
    match said.len() {
        0 => Err((format!("{name} says nothing"), "a line for each time")),
        count if count > LINES_MAX => {
            let reason = format!("{name} has {count} lines");
            Err((reason, "5000000 at most"))
        }
        _ => Ok(said),
    }
}

fn times(text: &str, name: &str) -> Result<Value, Wrong> {
    let mut before = 0;
    let time = |(number, line): (usize, &str)| {
        let at = line.parse::<u32>().map_err(|_| {
            let reason = format!("line {number} of {name} is no time: {line:?}");
            (
                reason,
                "whole milliseconds from the beginning, one time a line",
            )
        })?;
        if at < before {
            let reason = format!("line {number} of {name} goes back, from {before} to {at} ms");
            return Err((reason, "times in order"));
        }
        before = at;
        Ok((at, 1))
    };
    let times: Times = lines(text, name)?
        .into_iter()
        .map(time)
        .collect::<Result<_, Wrong>>()?;
    Ok(Value::String(times.to_string()))
}

fn steps(text: &str, name: &str) -> Result<Value, Wrong> {
    let step = |(number, line): (usize, &str)| {
        let mut words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
        let mut next = |most: f64| {
            let word = words.next()?.parse::<f64>().ok()?;
            (0.0..=most).contains(&word).then_some(word)
        };
        // Ten days and ten terabits a second: quantities have no more.
        let (from, rate) = (next(864_000.0), next(10_000_000.0));
        let (Some(from_s), Some(rate_mbps), None) = (from, rate, words.next()) else {
            let reason = format!("line {number} of {name} is no step: {line:?}");
            return Err((reason, "seconds and Mbit/s, such as 12.5 48"));
        };
        let ns = (from_s * 1e9).round() as u64;
        let bps = (rate_mbps * 1e6).round() as u64;
        Ok(json!({ "from": format!("{ns}ns"), "rate": format!("{bps}bit") }))
    };
    let steps = lines(text, name)?.into_iter().map(step);
    Ok(Value::Array(steps.collect::<Result<_, Wrong>>()?))
}

#[cfg(test)]
#[path = "trace_file_tests.rs"]
mod tests;
