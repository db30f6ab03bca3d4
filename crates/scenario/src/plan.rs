//! From a scenario file to the runs it stands for.
//!
//! TOML with positions → overlays and overrides → for every combination of swept values:
//! presets → JSON Schema → typed model → meaning. All problems come back at once.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::check;
use crate::document::{Document, Origin};
use crate::meaning;
use crate::model::{Record, RunOptions, Scenario};
use crate::nearest;
use crate::path::{self, Steps};
use crate::preset::{Kind, Presets};
use crate::problem::{Finding, Problem, Severity};
use crate::resolve;
use crate::schema;
use crate::sweep::{self, Resolved};
use crate::topology::Topology;
use crate::workload::Workload;

/// All runs of a scenario.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's short name.
    pub name: String,
    /// The scenario as resolved: overlays and overrides applied, presets written out, defaults
    /// filled in, ranges listed. It is a scenario itself and gives the same runs.
    pub scenario: Value,
    /// SHA-256, in hexadecimal, of everything in it that the runs depend on, the seed included.
    pub hash: String,
    /// The runs: the product of all axes, the first axis slowest, repetitions fastest.
    pub runs: Vec<Run>,
    /// What may not be as meant.
    pub warnings: Vec<Problem>,
}

/// One run: everything a backend needs, and nothing it does not.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its place in the plan, from 0.
    pub index: usize,
    /// The swept values, by the names of their columns, in the order of the sweep.
    pub parameters: Vec<(String, Value)>,
    /// Which repetition it is, from 0.
    pub repetition: u32,
    /// Its own seed: derived from the scenario's, its parameters and the repetition.
    pub seed: u64,
    /// Hosts, switches and links.
    pub network: Topology,
    /// What the hosts send.
    pub workload: Workload,
    /// What is recorded beyond the tables every run gives.
    pub record: Record,
}

impl Plan {
    /// Reads the scenario `text` of the file `file_name`, with `overrides` (`path=value`, the
    /// value in TOML or a bare text) and files it names relative to `base_dir`.
    ///
    /// # Errors
    /// Every problem found, in the order of the file.
    pub fn from_toml(
        text: &str,
        file_name: &str,
        overrides: &[String],
        base_dir: Option<&Path>,
    ) -> Result<Plan, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut document = Document::parse(text, file_name)?;
        let overrides = parse_overrides(&document, overrides, &mut problems);
        let (overlays, others): (Vec<_>, Vec<_>) =
            overrides.into_iter().partition(|o| o.steps[0] == "overlay");
        apply(&mut document, overlays, &mut problems);
        lay_overlays(&mut document, base_dir, &mut problems);
        apply(&mut document, others, &mut problems);

        let (presets, findings) = Presets::new(&document);
        problems.extend(document.problems(findings));
        let (axes, findings) = sweep::axes(&document);
        problems.extend(document.problems(findings));
        problems.extend(overridden_axes(&document, &axes));

        let options = run_options(&document);
        let count = axes
            .iter()
            .map(|a| a.values.len())
            .fold(options.repetitions.max(1) as usize, usize::saturating_mul);
        if count > sweep::MOST_RUNS {
            let finding = Finding::new(
                "sweep",
                format!("the sweep stands for {count} runs"),
                format!("at most {}", sweep::MOST_RUNS),
            );
            problems.push(document.problem(finding, Severity::Error));
            return Err(sorted(problems));
        }

        let mut planner = Planner {
            presets: &presets,
            problems,
            seen: BTreeSet::new(),
            used: BTreeSet::new(),
        };
        let mut runs = Vec::new();
        for choice in choices(&axes) {
            if let Some(run) = planner.run(&document, &axes, &choice, &options) {
                for repetition in 0..options.repetitions {
                    let mut run = run.clone();
                    run.index = runs.len();
                    run.repetition = repetition;
                    run.seed = seed(options.seed, &run.parameters, repetition);
                    runs.push(run);
                }
            }
        }
        let Planner { problems, used, .. } = planner;
        if !problems.is_empty() {
            return Err(sorted(problems));
        }
        let warnings = warnings(&document, &runs);
        let scenario = resolved(&document, &axes, &presets, &used);
        Ok(Plan {
            name: scenario["name"].as_str().unwrap_or_default().to_owned(),
            hash: hash(&scenario),
            scenario,
            runs,
            warnings,
        })
    }

    /// All problems of a scenario, warnings included; empty if it is sound.
    #[must_use]
    pub fn check(
        text: &str,
        file_name: &str,
        overrides: &[String],
        base_dir: Option<&Path>,
    ) -> Vec<Problem> {
        match Plan::from_toml(text, file_name, overrides, base_dir) {
            Ok(plan) => plan.warnings,
            Err(problems) => problems,
        }
    }
}

struct Override {
    steps: Steps,
    value: Value,
    origin: Origin,
}

/// Reads `path=value` texts; the value is TOML, or a text without quotes.
fn parse_overrides(
    document: &Document,
    overrides: &[String],
    problems: &mut Vec<Problem>,
) -> Vec<Override> {
    let places = sweep::settable(&document.root);
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

fn apply(document: &mut Document, overrides: Vec<Override>, problems: &mut Vec<Problem>) {
    for Override {
        steps,
        value,
        origin,
    } in overrides
    {
        if let Err(finding) = document.set(&steps, value, &origin) {
            let mut problem = document.problem(finding, Severity::Error);
            problem.source = origin.source_name().to_owned();
            (problem.line, problem.column) = (None, None);
            problems.push(problem);
        }
    }
}

/// Lays the files that `overlay` names over the document.
fn lay_overlays(document: &mut Document, base_dir: Option<&Path>, problems: &mut Vec<Problem>) {
    let Some(value) = document.root.get("overlay").cloned() else {
        return;
    };
    let node = &schema::root()["properties"]["overlay"];
    let wrong = check::check(node, &value, "overlay", &[]);
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

/// Overrides of values that the sweep gives anyway.
fn overridden_axes(document: &Document, axes: &[Resolved]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for axis in axes {
        let at = path::show(&axis.steps);
        let set = [at.clone(), path::join(&at, "preset")]
            .into_iter()
            .find(|p| document.origin(p).is_some_and(Origin::is_override));
        if let Some(set) = set {
            let finding = Finding::new(
                set,
                format!("the sweep gives this its values (sweep.{})", axis.key),
                format!("set sweep.{}=[…] instead", axis.key),
            );
            problems.push(document.problem(finding, Severity::Error));
        }
    }
    problems
}

fn run_options(document: &Document) -> RunOptions {
    // What is wrong with them is found with all else; until then the defaults do.
    document
        .root
        .get("run")
        .and_then(|run| serde_json::from_value(run.clone()).ok())
        .unwrap_or_default()
}

/// Every combination of the axes' values, as one index for each axis, the first axis slowest.
fn choices(axes: &[Resolved]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for axis in axes {
        all = all
            .into_iter()
            .flat_map(|choice| {
                (0..axis.values.len()).map(move |i| {
                    let mut choice = choice.clone();
                    choice.push(i);
                    choice
                })
            })
            .collect();
    }
    all
}

struct Planner<'a> {
    presets: &'a Presets,
    problems: Vec<Problem>,
    /// Places whose problem has been told: runs share most of their values.
    seen: BTreeSet<(String, Option<(u32, u32)>, String)>,
    used: BTreeSet<(Kind, String)>,
}

impl Planner<'_> {
    /// The run of one choice of values, without its seed; `None` once there are problems.
    fn run(
        &mut self,
        document: &Document,
        axes: &[Resolved],
        choice: &[usize],
        options: &RunOptions,
    ) -> Option<Run> {
        let mut document = document.clone();
        let mut findings = Vec::new();
        let mut by_depth: Vec<(&Resolved, usize)> =
            axes.iter().zip(choice.iter().copied()).collect();
        by_depth.sort_by_key(|(axis, _)| axis.steps.len());
        for (axis, i) in by_depth {
            let at = path::join("sweep", &axis.key);
            let element = path::index(&at, i);
            let place = if axis.listed { &element } else { &at };
            let origin = document.origin(place).or(document.origin(&at)).cloned();
            let Some(origin) = origin else { continue };
            if let Err(finding) = document.set(&axis.steps, axis.values[i].clone(), &origin) {
                findings.push(finding);
            }
        }
        for key in ["sweep", "preset", "overlay"] {
            document.take(key);
        }
        let skip = resolve::presets(&mut document, self.presets, &mut self.used, &mut findings);
        findings.extend(check::check(schema::root(), &document.root, "", &skip));
        if !findings.is_empty() || !self.problems.is_empty() && !skip.is_empty() {
            self.tell(&document, findings);
            return None;
        }
        let scenario: Scenario = match serde_json::from_value(document.root.clone()) {
            Ok(scenario) => scenario,
            Err(error) => {
                self.tell(&document, vec![Finding::new("", error.to_string(), "")]);
                return None;
            }
        };
        match meaning::check(&scenario) {
            Ok(network) => Some(Run {
                index: 0,
                parameters: axes
                    .iter()
                    .zip(choice)
                    .map(|(axis, i)| (axis.column.clone(), label(&axis.values[*i])))
                    .collect(),
                repetition: 0,
                seed: options.seed,
                network,
                workload: scenario.workload,
                record: scenario.record,
            }),
            Err(findings) => {
                self.tell(&document, findings);
                None
            }
        }
    }

    /// Keeps what has not been said yet about the same place.
    fn tell(&mut self, document: &Document, findings: Vec<Finding>) {
        let mut new = Vec::new();
        for finding in findings {
            let problem = document.problem(finding, Severity::Error);
            let place = problem.line.zip(problem.column);
            let key = (problem.path.clone(), place, problem.source.clone());
            if !self.seen.contains(&key) {
                new.push((key, problem));
            }
        }
        for (key, problem) in new {
            self.seen.insert(key);
            self.problems.push(problem);
        }
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

/// A run's seed: the first 8 bytes of a SHA-256 over what identifies it.
fn seed(scenario_seed: u64, parameters: &[(String, Value)], repetition: u32) -> u64 {
    let identity = json!([scenario_seed, parameters, repetition]);
    let digest = Sha256::digest(canonical(&identity).as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_be_bytes(first)
}

/// JSON with the keys of every table in alphabetical order.
fn canonical(value: &Value) -> String {
    fn sort(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort();
                Value::Object(
                    keys.into_iter()
                        .map(|k| (k.clone(), sort(&map[k])))
                        .collect(),
                )
            }
            Value::Array(items) => Value::Array(items.iter().map(sort).collect()),
            plain => plain.clone(),
        }
    }
    sort(value).to_string()
}

/// The hash of all that the runs depend on: the order of the axes counts, prose does not.
fn hash(scenario: &Value) -> String {
    let mut hashed = scenario.clone();
    if let Value::Object(map) = &mut hashed {
        map.shift_remove("title");
        map.shift_remove("description");
        if let Some(Value::Object(sweep)) = map.shift_remove("sweep") {
            let axes: Vec<Value> = sweep.into_iter().map(|(k, v)| json!([k, v])).collect();
            map.insert("sweep".to_owned(), Value::Array(axes));
        }
    }
    let digest = Sha256::digest(canonical(&hashed).as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The scenario as a whole, standing on its own.
fn resolved(
    document: &Document,
    axes: &[Resolved],
    presets: &Presets,
    used: &BTreeSet<(Kind, String)>,
) -> Value {
    let mut root = document.root.clone();
    let Value::Object(map) = &mut root else {
        return root;
    };
    map.shift_remove("overlay");
    map.shift_remove("preset");
    if let Some(Value::Object(sweep)) = map.get_mut("sweep") {
        for axis in axes {
            sweep.insert(axis.key.clone(), Value::Array(axis.values.clone()));
        }
    }
    resolve::fill_defaults(schema::root(), &mut root);
    let mut tables = Map::new();
    for (kind, name) in used {
        if let Ok(Some(value)) = presets.get(*kind, name, "") {
            let of_kind = tables
                .entry(kind.name())
                .or_insert_with(|| Value::Object(Map::new()));
            of_kind[name] = value.clone();
        }
    }
    if !tables.is_empty() {
        root["preset"] = Value::Object(tables);
    }
    root
}

fn warnings(document: &Document, runs: &[Run]) -> Vec<Problem> {
    let shortest = runs.iter().map(|run| run.workload.iterations()).min();
    let wanted = runs.first().and_then(|run| run.record.anatomy_iteration);
    match (wanted, shortest) {
        (Some(wanted), Some(count)) if u64::from(wanted) >= count => {
            let finding = Finding::new(
                "record.anatomy_iteration",
                format!("there is no iteration {wanted}: the last is {}", count - 1),
                "the last one is recorded instead",
            );
            vec![document.problem(finding, Severity::Warning)]
        }
        _ => Vec::new(),
    }
}

fn sorted(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by(|a, b| {
        let key = |p: &Problem| (p.line.unwrap_or(u32::MAX), p.column);
        key(a).cmp(&key(b))
    });
    problems
}
