//! From a scenario file to the runs it stands for.
//!
//! TOML with positions → overlays and overrides → for every combination of swept values:
//! presets → JSON Schema → typed model → meaning. All problems come back at once.

use std::cell::OnceCell;
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::background::Background;
use crate::background_flows::{BackgroundFlow, BackgroundFlows};
use crate::check;
use crate::document::{Document, Origin};
use crate::flow_list_file;
use crate::identity;
use crate::meaning;
use crate::model::{Record, RunOptions, Scenario};
use crate::one_path;
use crate::over;
use crate::overrides;
use crate::path;
use crate::places::Place;
use crate::preset::{Kind, Presets};
use crate::problem::{Finding, Problem, Severity};
use crate::python::{self, Programs};
use crate::reroute;
use crate::resolve;
use crate::schema;
use crate::sizes_file;
use crate::sweep::{self, Resolved};
use crate::topology::Topology;
use crate::trace_file;
use crate::unmarked;
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
    /// Hosts, switches and links; runs whose networks are equal share one.
    pub network: Arc<Topology>,
    /// What the hosts send.
    pub workload: Workload,
    /// What they send beside it.
    pub background: Vec<Background>,
    /// Flows beside it.
    pub background_flows: Vec<BackgroundFlows>,
    /// What is recorded beyond the tables every run gives.
    pub record: Record,
    /// Congestion controls and queue disciplines of the user's own.
    pub python: Arc<Programs>,
}

impl Run {
    /// The flows beside its workload, one after the other as they are written.
    #[must_use]
    pub fn flows_beside(&self) -> Vec<BackgroundFlow> {
        let entries = (0..).zip(&self.background_flows);
        entries
            .flat_map(|(number, entry)| entry.flows(self.seed, number, &self.network))
            .collect()
    }
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
        overrides::lay(&mut document, overrides, base_dir, &mut problems);
        let findings = sizes_file::read(&mut document.root, base_dir);
        problems.extend(document.problems(findings));
        let findings = flow_list_file::read(&mut document.root, base_dir);
        problems.extend(document.problems(findings));
        let findings = trace_file::read(&mut document.root, base_dir);
        problems.extend(document.problems(findings));
        let findings = python::read(&mut document.root, base_dir);
        problems.extend(document.problems(findings));

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
            places: OnceCell::new(),
            used: BTreeSet::new(),
            sound: Value::Null,
            late: None,
            networks: VecDeque::new(),
        };
        let mut runs = Vec::new();
        for choice in choices(&axes) {
            if let Some(run) = planner.run(&document, &axes, &choice, &options) {
                for repetition in 0..options.repetitions {
                    let mut run = run.clone();
                    run.index = runs.len();
                    run.repetition = repetition;
                    let told_apart: &[_] = match options.common_random_numbers {
                        true => &[],
                        false => &run.parameters,
                    };
                    run.seed = identity::seed(options.seed, told_apart, repetition);
                    runs.push(run);
                }
            }
        }
        let Planner {
            problems,
            used,
            late,
            ..
        } = planner;
        if !problems.is_empty() {
            return Err(sorted(problems));
        }
        let mut warnings = warnings(&document, &runs);
        let unmarked = unmarked::finding(&document.root, &runs);
        let told = unmarked.into_iter().chain(one_path::finding(&runs));
        let told = told.chain(reroute::unused(&runs));
        warnings.extend(told.map(|finding| document.problem(finding, Severity::Warning)));
        warnings.extend(late.into_iter().flatten());
        let scenario = resolved(&document, &axes, &presets, &used);
        Ok(Plan {
            name: scenario["name"].as_str().unwrap_or_default().to_owned(),
            hash: identity::hash(&scenario),
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

/// Overrides of values that the sweep gives anyway.
fn overridden_axes(document: &Document, axes: &[Resolved]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let places = axes.iter().flat_map(|axis| {
        axis.always_set()
            .into_iter()
            .map(move |steps| (axis, steps))
    });
    for (axis, steps) in places {
        let at = path::show(steps);
        let set = [at.clone(), path::join(&at, "preset")]
            .into_iter()
            .find(|p| document.origin(p).is_some_and(Origin::is_override));
        if let Some(set) = set {
            let finding = Finding::new(
                set,
                format!(
                    "the sweep gives this its values ({})",
                    path::join("sweep", &axis.key)
                ),
                format!("set {}=[…] instead", path::join("sweep", &axis.key)),
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

/// Path, source, line and column of a problem, and its reason without numbers: of a range or an override, whose
/// values have no places of their own, each is told that is wrong in another way.
type Told = (String, String, Option<u32>, Option<u32>, String);

struct Planner<'a> {
    presets: &'a Presets,
    problems: Vec<Problem>,
    /// Places whose problem has been told: runs share most of their values.
    seen: BTreeSet<Told>,
    /// The places of a run's scenario, once a key was in none of them.
    places: OnceCell<Vec<Place>>,
    used: BTreeSet<(Kind, String)>,
    /// The last run's tables that met the schema: the next has most of them too.
    sound: Value,
    /// What is never in any of the runs so far.
    late: Option<Vec<Problem>>,
    /// The last different networks.
    networks: VecDeque<Arc<Topology>>,
}

/// So many networks are looked through for an equal one: more than an axis that varies them usually has values.
const NETWORKS: usize = 64;

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
        by_depth.sort_by_key(|(axis, _)| axis.depth());
        for (axis, i) in by_depth {
            let at = path::join("sweep", &axis.key);
            let element = path::index(&at, i);
            let place = if axis.listed { &element } else { &at };
            let origin = document.origin_around(place).cloned();
            let origin = origin.unwrap_or_else(|| Document::origin_of_override(&at));
            let mut set = |steps, value: &Value| {
                if let Err(finding) = document.set(steps, value.clone(), &origin) {
                    findings.push(finding);
                }
            };
            match &axis.cases {
                None => set(&axis.steps, &axis.values[i]),
                Some(cases) => cases[i].set.iter().for_each(|(steps, v)| set(steps, v)),
            }
        }
        for key in ["sweep", "preset", "overlay"] {
            document.take(key);
        }
        let skip = resolve::presets(&mut document, self.presets, &mut self.used, &mut findings);
        let known = self.unchanged(&document.root);
        let passed = [skip.as_slice(), &known].concat();
        findings.extend(check::check_scenario(&document, &self.places, &passed));
        findings.extend(python::unknown(&document.root));
        if !findings.is_empty() || !skip.is_empty() {
            self.tell(&document, findings);
            return None;
        }
        let scenario = match Scenario::deserialize(&document.root) {
            Ok(scenario) => scenario,
            Err(error) => {
                self.tell(&document, vec![Finding::new("", error.to_string(), "")]);
                return None;
            }
        };
        let meant = meaning::check(&scenario);
        let programs = Programs::of(&scenario.python, &document.root);
        let late = over::services(&scenario)
            .into_iter()
            .chain(meaning::too_fast(&scenario, meant.as_ref().ok()))
            .chain(programs.idle(&scenario.python));
        let late = late.map(|finding| document.problem(finding, Severity::Warning));
        let late: Vec<Problem> = late.collect();
        match &mut self.late {
            None => self.late = Some(late),
            Some(before) => before.retain(|one| late.iter().any(|new| new.path == one.path)),
        }
        if meant.is_ok() {
            self.sound = std::mem::take(&mut document.root);
        }
        match meant {
            Ok(network) => Some(Run {
                index: 0,
                parameters: axes
                    .iter()
                    .zip(choice)
                    .flat_map(|(axis, i)| axis.says(*i))
                    .collect(),
                repetition: 0,
                seed: options.seed,
                network: self.shared(network),
                workload: scenario.workload,
                background: scenario.background,
                background_flows: scenario.background_flows,
                record: scenario.record,
                python: Arc::new(programs),
            }),
            Err(findings) => {
                self.tell(&document, findings);
                None
            }
        }
    }

    /// This network, or that of an earlier run if it is equal.
    fn shared(&mut self, network: Topology) -> Arc<Topology> {
        if let Some(same) = self.networks.iter().find(|known| ***known == network) {
            return Arc::clone(same);
        }
        let network = Arc::new(network);
        self.networks.truncate(NETWORKS - 1);
        self.networks.push_front(Arc::clone(&network));
        network
    }

    /// The tables of a run that are as in the last one, which met the schema.
    fn unchanged(&self, root: &Value) -> Vec<String> {
        let root = root.as_object().into_iter().flatten();
        root.filter(|(key, value)| self.sound.get(key.as_str()) == Some(value))
            .map(|(key, _)| path::join("", key))
            .collect()
    }

    /// Keeps what has not been said yet about the same place, but for its numbers.
    fn tell(&mut self, document: &Document, findings: Vec<Finding>) {
        let mut new = Vec::new();
        for finding in findings {
            let problem = document.problem(finding, Severity::Error);
            let Problem { path, source, .. } = &problem;
            let mut way = problem.reason.clone();
            way.retain(|c| !c.is_ascii_digit());
            let key = (
                path.clone(),
                source.clone(),
                problem.line,
                problem.column,
                way,
            );
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
