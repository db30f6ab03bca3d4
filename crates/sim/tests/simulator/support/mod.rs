//! Runs, with kernels and without, and what their tables say. Each test takes what it needs.

#[path = "../../../../kernel/tests/support/folder.rs"]
mod folder;

use std::path::PathBuf;
use std::time::Duration as WallTime;

use tailback_scenario::Plan;
use tailback_sim::{
    ColumnData, Control, KernelSetup, RunOutcome, SimError, Table, simulate, simulate_with_kernels,
};

use folder::Folder;

fn program(variable: &str, cached: &str, remedy: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache"),
        PathBuf::from,
    );
    let path = std::env::var_os(variable).map_or(cache.join(cached), PathBuf::from);
    assert!(
        path.exists(),
        "{} is missing: run `{remedy}`",
        path.display()
    );
    path
}

/// A scenario's runs.
pub fn plan(text: &str, overrides: &[&str]) -> Plan {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    Plan::from_toml(text, "test.toml", &overrides, None).expect("it is a scenario")
}

/// Simulates the first run of a scenario, whose hosts are all modelled.
pub fn simulated(text: &str, overrides: &[&str]) -> RunOutcome {
    simulate(&plan(text, overrides).runs[0], &Control::default()).expect("a run that adds up")
}

/// A table of a run.
pub fn table<'a>(outcome: &'a RunOutcome, name: &str) -> &'a Table {
    let found = outcome.tables.iter().find(|table| table.name == name);
    found.unwrap_or_else(|| panic!("{name} is there"))
}

/// A column of a table.
pub fn column<'a>(outcome: &'a RunOutcome, of: &str, name: &str) -> &'a ColumnData {
    let found = table(outcome, of).column(name);
    found.unwrap_or_else(|| panic!("{of} has {name}"))
}

/// A column of whole numbers.
pub fn counts(outcome: &RunOutcome, table: &str, name: &str) -> Vec<u64> {
    match column(outcome, table, name) {
        ColumnData::U64(values) => values.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

/// A column of names.
pub fn names(outcome: &RunOutcome, table: &str, name: &str) -> Vec<String> {
    match column(outcome, table, name) {
        ColumnData::Str(values) => values.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

/// What the summary says of the run.
pub fn value(outcome: &RunOutcome, name: &str) -> f64 {
    measure(outcome, "summary", name)[0]
}

/// The sum of a column of a table.
pub fn sum(outcome: &RunOutcome, table: &str, name: &str) -> f64 {
    measure(outcome, table, name).iter().sum()
}

/// Runs the first run of a scenario with the hosts `outside` says on kernels.
pub fn run(
    text: &str,
    overrides: &[&str],
    outside: impl Fn(usize) -> bool,
) -> Result<RunOutcome, SimError> {
    let plan = plan(text, overrides);
    let run = &plan.runs[0];
    let outside: Vec<bool> = (0..run.network.hosts.len()).map(outside).collect();
    let folder = Folder::new();
    let setup = KernelSetup {
        kernel: program(
            "TAILBACK_KERNEL",
            "tailback/kernels/default/linux",
            "tailback kernel build",
        ),
        agent: program("TAILBACK_AGENT", "tailback/tailback-agent", "make agent"),
        folder: folder.0.clone(),
        memory: PathBuf::from(folder::MEMORY),
        core: Some(std::process::id() as usize % 2),
        patience: WallTime::from_secs(30),
    };
    simulate_with_kernels(run, &outside, &setup, &Control::default())
}

pub fn measure(outcome: &RunOutcome, table: &str, name: &str) -> Vec<f64> {
    match column(outcome, table, name) {
        ColumnData::F64(values) => values.clone(),
        ColumnData::U64(values) => values.iter().map(|v| *v as f64).collect(),
        ColumnData::Bool(values) => values.iter().map(|v| f64::from(u8::from(*v))).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

/// Counter of one host's kernel, the first that has it.
pub fn counter(outcome: &RunOutcome, name: &str) -> u64 {
    counters(outcome, name).first().copied().unwrap_or(0)
}

/// A counter of all hosts' kernels that have it.
pub fn counters(outcome: &RunOutcome, name: &str) -> Vec<u64> {
    let table = outcome.tables.iter().find(|t| t.name == "counters");
    let columns = table.and_then(|t| Some((t.column("counter")?, t.column("value")?)));
    let Some((ColumnData::Str(names), ColumnData::U64(values))) = columns else {
        panic!("kernels tell their counters")
    };
    let rows = names.iter().zip(values).filter(|(n, _)| *n == name);
    rows.map(|(_, value)| *value).collect()
}
