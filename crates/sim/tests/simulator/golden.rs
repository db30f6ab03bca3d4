//! Short runs of the built-in scenarios, against tables that a person can judge and the hash of the
//! course each run took. A change that is meant to change them is committed with
//! `GOLDEN=write cargo test -p tailback-sim --test simulator golden`.

use std::fmt::Write;
use std::path::Path;

use tailback_scenario::{BUILT_IN, Plan};
use tailback_sim::{ColumnData, Control, Table, simulate};

const COLUMNS: [&str; 9] = [
    "completion_ms_mean",
    "completion_ms_max",
    "goodput_mbps_mean",
    "switch_drops_mean",
    "host_drops_mean",
    "marks_mean",
    "retransmissions_mean",
    "timeouts_mean",
    "fast_recoveries_mean",
];

fn check(scenario: &str, overrides: &[&str]) {
    let (_, file, text) = BUILT_IN
        .iter()
        .find(|(name, ..)| *name == scenario)
        .expect("a built-in scenario");
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let plan = Plan::from_toml(text, file, &overrides, None).expect("a good scenario");
    let mut lines = format!("{} trajectory\n", COLUMNS.join(" "));
    for run in &plan.runs {
        let outcome = simulate(run, &Control::default()).expect("a run that ends and adds up");
        let parameters: Vec<String> = run
            .parameters
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let figures = COLUMNS.map(|column| format!("{:.3}", figure(&outcome.tables[0], column)));
        let (parameters, figures) = (parameters.join(" "), figures.join(" "));
        writeln!(lines, "{parameters}: {figures} {:016x}", outcome.trajectory).expect("a string");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/simulator/golden/{scenario}.txt"));
    if std::env::var("GOLDEN").is_ok_and(|value| value == "write") {
        std::fs::write(&path, &lines).expect("the golden table can be written");
    }
    let golden = std::fs::read_to_string(&path).expect("the golden table is there");
    assert_eq!(
        golden,
        lines,
        "{scenario} took another course than {}",
        path.display()
    );
}

fn figure(table: &Table, name: &str) -> f64 {
    match table.column(name) {
        Some(ColumnData::F64(values)) => values[0],
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn incast_8mb() {
    check(
        "incast-8mb",
        &["sweep.servers=[1, 4, 12]", "workload.iterations=4"],
    );
}

#[test]
fn incast_striped() {
    check(
        "incast-striped",
        &["sweep.servers=[1, 8]", "workload.iterations=4"],
    );
}

#[test]
fn incast_rto() {
    check(
        "incast-rto",
        &["sweep.servers=[3, 16]", "workload.iterations=3"],
    );
}

#[test]
fn incast_rto_dctcp() {
    check(
        "incast-rto-dctcp",
        &["sweep.servers=[4, 20]", "workload.iterations=10"],
    );
}
