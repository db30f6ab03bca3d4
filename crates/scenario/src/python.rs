//! Congestion controls and queue disciplines of one's own, in Python: `[python.NAME]`, which `python:NAME` means
//! wherever a congestion control goes, and `queue = { kind = "python", name = NAME }` in a switch.
//!
//! The file that `path` names is read with the scenario, and its text takes the path's place, so that results say
//! what was run. What the text means is Python's affair: whoever runs the scenario is handed it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tailback_net::queue::own::OwnQueues;
use tailback_net::switch::BufferConfig;
use tailback_tcp::congestion::own::OwnControls;

use crate::nearest;
use crate::path;
use crate::plan::Run;
use crate::problem::Finding;

/// Keys whose values are congestion controls.
const KEYS: [&str; 3] = ["tcp_congestion_control", "TCP_CONGESTION", "congestion"];
/// Keys whose values are queue disciplines.
const QUEUE_KEYS: [&str; 3] = ["queue", "forward", "backward"];
const PREFIX: &str = "python:";
/// Longer than any program that somebody wrote by hand, bytes.
const SOURCE_MAX: u64 = 1 << 20;

/// A congestion control or a queue discipline in Python.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonProgram {
    /// The file it is in, relative to the scenario's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["mine.py"]))]
    pub path: Option<String>,
    /// Its text, in the place of `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What messages call the text: the file it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Which class of the file it is; absent: the only one that is a `CongestionControl`, or a `QueueDiscipline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Values of the class's attributes; a sweep varies them as any others ("python.mine.set.beta").
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, Setting>,
}

/// An attribute's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Setting {
    /// Yes or no.
    Truth(bool),
    /// A number, whole or not.
    Number(serde_json::Number),
    /// A text.
    Text(String),
}

/// The programs that a run names, by what they are needed as.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Programs {
    /// Congestion controls.
    pub controls: BTreeMap<String, PythonProgram>,
    /// Queue disciplines.
    pub queues: BTreeMap<String, PythonProgram>,
}

impl Programs {
    /// Those of a scenario, which is `root` as well.
    pub(crate) fn of(all: &BTreeMap<String, PythonProgram>, root: &Value) -> Programs {
        let mut places = Vec::new();
        look(root, "", None, &mut places);
        let named_as = |what: What| {
            let is_named = |name: &str| places.iter().any(|p| p.what == what && p.name == name);
            let named = all.iter().filter(|(name, _)| is_named(name));
            named.map(|(n, p)| (n.clone(), p.clone())).collect()
        };
        Programs {
            controls: named_as(What::Control),
            queues: named_as(What::Queue),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.controls.is_empty() && self.queues.is_empty()
    }

    /// Those of a scenario that are not among these.
    pub(crate) fn idle(&self, all: &BTreeMap<String, PythonProgram>) -> Vec<Finding> {
        let is_idle =
            |name: &String| !self.controls.contains_key(name) && !self.queues.contains_key(name);
        let names = all.keys().filter(|name| is_idle(name));
        let finding = |name: &String| {
            Finding::new(
                path::join("python", name),
                "nothing asks for this program",
                format!(
                    "tcp_congestion_control = \"python:{name}\", or a switch's buffer.queue = {{ kind = \"python\", \
                     name = \"{name}\" }}"
                ),
            )
        };
        names.map(finding).collect()
    }
}

/// Reads every file that a table in `python` names; paths are relative to `base_dir`.
pub(crate) fn read(root: &mut Value, base_dir: Option<&Path>) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(Value::Object(controls)) = root.get_mut("python") else {
        return found;
    };
    for (name, control) in controls {
        let Value::Object(control) = control else {
            continue;
        };
        if let Err((reason, remedy)) = fill(control, base_dir) {
            let at = path::join(&path::join("python", name), "path");
            found.push(Finding::new(at, reason, remedy));
        }
    }
    found
}

fn fill(
    control: &mut Map<String, Value>,
    base_dir: Option<&Path>,
) -> Result<(), (String, &'static str)> {
    let Some(Value::String(name)) = control.get("path").cloned() else {
        return Ok(()); // the schema says what there is
    };
    if control.contains_key("source") {
        return Err((
            "source says what the file would".to_owned(),
            "one of the two",
        ));
    }
    let text = text(&name, base_dir);
    control.shift_remove("path");
    // Something sound where the file is not, so that the rest is looked at and this is told once.
    let source = text.as_deref().unwrap_or("# none").to_owned();
    control.insert("source".to_owned(), json!(source));
    control.insert("file".to_owned(), json!(name));
    text.map(|_| ())
}

fn text(name: &str, base_dir: Option<&Path>) -> Result<String, (String, &'static str)> {
    let file = base_dir.map_or_else(|| Path::new(name).to_owned(), |dir| dir.join(name));
    let bytes = std::fs::metadata(&file).map_or(0, |known| known.len());
    if bytes > SOURCE_MAX {
        let reason = format!("{} has {bytes} bytes", file.display());
        return Err((reason, "1 MiB at most"));
    }
    std::fs::read_to_string(&file).map_err(|error| {
        let reason = format!("{} cannot be read: {error}", file.display());
        (
            reason,
            "the path of a Python file, relative to the scenario's own",
        )
    })
}

/// What is wrong in the tables themselves.
pub(crate) fn findings(controls: &BTreeMap<String, PythonProgram>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (name, control) in controls {
        let at = path::join("python", name);
        if let Err(error) = format!("{PREFIX}{name}").parse::<tailback_tcp::congestion::OwnName>() {
            found.push(Finding::new(&at, error.to_string(), "another name"));
        }
        if control.path.is_some() {
            found.push(Finding::new(
                path::join(&at, "path"),
                "a sweep does not vary a program's file",
                "a [python.NAME] for each file, and a sweep of those names",
            ));
        } else if control.source.is_none() {
            found.push(Finding::new(
                at,
                "there is no program",
                "path = \"FILE.py\"",
            ));
        }
    }
    found
}

/// Programs that are named and not there, by the places that name them; of a scenario without its sweep.
pub(crate) fn unknown(root: &Value) -> Vec<Finding> {
    let none = Map::new();
    let known = root
        .get("python")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let mut places = Vec::new();
    look(root, "", None, &mut places);
    places.retain(|place| !known.contains_key(place.name));
    let finding = |place: Place<'_>| {
        let name = place.name;
        let remedy = match known.is_empty() {
            true => format!("a table [python.{name}] with path = \"FILE.py\""),
            false => nearest::suggest(name, known.keys().map(String::as_str)),
        };
        let reason = format!("there is no [python.{name}]");
        Finding::new(place.at, reason, remedy)
    };
    places.into_iter().map(finding).collect()
}

/// What a program is needed as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Control,
    Queue,
}

/// Where a program is named.
struct Place<'a> {
    at: String,
    what: What,
    name: &'a str,
}

fn look<'a>(value: &'a Value, at: &str, key: Option<&str>, places: &mut Vec<Place<'a>>) {
    match value {
        Value::Object(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str);
            if key.is_some_and(|key| QUEUE_KEYS.contains(&key))
                && text("kind") == Some("python")
                && let Some(name) = text("name")
            {
                let at = path::join(at, "name");
                let what = What::Queue;
                places.push(Place { at, what, name });
            }
            for (key, inner) in map {
                look(inner, &path::join(at, key), Some(key), places);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                look(item, &path::index(at, i), key, places);
            }
        }
        Value::String(text) if key.is_some_and(|key| KEYS.contains(&key)) => {
            if let Some(name) = text.strip_prefix(PREFIX) {
                let at = at.to_owned();
                let what = What::Control;
                places.push(Place { at, what, name });
            }
        }
        _ => {}
    }
}

impl Run {
    /// The same run with hosts whose own congestion controls are made by `own`.
    #[must_use]
    pub fn with_own_controls(&self, own: &OwnControls) -> Run {
        let mut run = self.clone();
        let network = Arc::make_mut(&mut run.network);
        // Most hosts share one stack, and go on sharing it.
        let mut made: Vec<(Arc<_>, Arc<_>)> = Vec::new();
        for host in &mut network.hosts {
            let before = &host.stack;
            let same = made.iter().find(|(known, _)| Arc::ptr_eq(known, before));
            let stack = match same {
                Some((_, stack)) => Arc::clone(stack),
                None => {
                    let mut stack = (**before).clone();
                    stack.own = own.clone();
                    let stack = Arc::new(stack);
                    made.push((Arc::clone(before), Arc::clone(&stack)));
                    stack
                }
            };
            host.stack = stack;
        }
        run
    }

    /// The same run with switches whose own queue disciplines are made by `own`.
    #[must_use]
    pub fn with_own_queues(&self, own: &OwnQueues) -> Run {
        let mut run = self.clone();
        let network = Arc::make_mut(&mut run.network);
        for switch in &mut network.switches {
            if let BufferConfig::Queued(queued) = &mut switch.config.buffer {
                queued.queue.make_own_by(own);
            }
        }
        for link in &mut network.links {
            let both = link.config.qdisc.as_mut();
            for queue in both.into_iter().flat_map(|qdiscs| qdiscs.iter_mut()) {
                queue.make_own_by(own);
            }
        }
        run
    }
}

#[cfg(test)]
#[path = "python_tests.rs"]
mod tests;
