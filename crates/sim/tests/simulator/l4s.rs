//! TCP Prague beside CUBIC (built-in scenario `l4s`): what RFC 9332's coupled queues are for.

use tailback_scenario::Plan;
use tailback_sim::{ColumnData, Control, RunOutcome, simulate};

/// The run whose queue is of this kind.
fn run(queue: &str, overrides: &[&str]) -> RunOutcome {
    let text = include_str!("../../../../scenarios/congestion/l4s.toml");
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let plan = Plan::from_toml(text, "l4s.toml", &overrides, None).expect("a good scenario");
    let kinds = ["fifo", "pie", "fq-codel", "dualpi2"];
    assert_eq!(plan.runs.len(), kinds.len());
    let index = kinds
        .iter()
        .position(|kind| *kind == queue)
        .expect("one of them");
    simulate(&plan.runs[index], &Control::default()).expect("a good run")
}

fn values(outcome: &RunOutcome, column: &str) -> Vec<f64> {
    let table = outcome.tables.iter().find(|t| t.name == "flows");
    match table.and_then(|t| t.column(column)) {
        Some(ColumnData::F64(values)) => values.clone(),
        Some(ColumnData::U64(values)) => values.iter().map(|v| *v as f64).collect(),
        other => panic!("{column}: {other:?}"),
    }
}

/// The congestion controls of the flows' senders.
fn controls(outcome: &RunOutcome) -> Vec<String> {
    let table = outcome.tables.iter().find(|t| t.name == "flows");
    match table.and_then(|t| t.column("sender_congestion_control")) {
        Some(ColumnData::Str(controls)) => controls.clone(),
        other => panic!("{other:?}"),
    }
}

/// Goodput in Mb/s, and smoothed round trip in ms: Prague's, then CUBIC's.
fn measured(queue: &str, seed: u64) -> [[f64; 2]; 2] {
    let outcome = run(queue, &["workload.duration=15s", &format!("seed={seed}")]);
    let controls = controls(&outcome);
    let goodput = values(&outcome, "received_bytes");
    let rtt = values(&outcome, "srtt_us");
    ["prague", "cubic"].map(|name| {
        let row = controls
            .iter()
            .position(|control| control == name)
            .expect("a flow");
        [goodput[row] * 8.0 / 15.0 / 1e6, rtt[row] / 1000.0]
    })
}

#[test]
fn coupled_queues_share_the_rate_and_prague_hardly_waits() {
    let seeds = 1..=8_u32;
    let mut ratio = 0.0;
    for seed in seeds.clone() {
        let [prague, cubic] = measured("dualpi2", seed.into());
        assert!(prague[0] + cubic[0] > 90.0, "{prague:?} {cubic:?}");
        // 10 ms there and back; the L queue's step is 1 ms, the C queue's target 15.
        assert!((10.0..12.0).contains(&prague[1]), "{prague:?}");
        assert!((18.0..40.0).contains(&cubic[1]), "{cubic:?}");
        ratio += prague[0] / cubic[0] / f64::from(*seeds.end());
    }
    // 1.47; of 64 seeds 1.06 to 2.26, in the mean 1.50 (docs/models/congestion-prague.md).
    assert!((1.2..1.8).contains(&ratio), "{ratio}");
}

#[test]
fn queues_of_their_own_share_it_too_and_one_for_all_does_not() {
    let [prague, cubic] = measured("fq-codel", 1);
    assert!(
        (prague[0] / cubic[0] - 1.0).abs() < 0.05,
        "{prague:?} {cubic:?}"
    );
    // Cut by alpha/2 for a mark that CUBIC is cut by three tenths for (RFC 9331 section 5.4).
    let [prague, cubic] = measured("pie", 1);
    assert!(prague[0] > 2.0 * cubic[0], "{prague:?} {cubic:?}");
}

#[test]
fn a_flow_s_control_is_what_its_program_asked_for() {
    let asked = [
        "workload.duration=20ms",
        "workload.connections=2",
        r#"workload.congestion=["reno", "bbr"]"#,
    ];
    let mut controls = controls(&run("fifo", &asked));
    controls.sort();
    assert_eq!(controls, ["bbr", "bbr", "reno", "reno"]);
}
