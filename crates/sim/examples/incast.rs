//! Runs a scenario file's runs one after another and prints one line for each:
//! `cargo run --release -p tailback-sim --example incast -- FILE [path=value]…`

use std::time::Instant;

use tailback_scenario::Plan;
use tailback_sim::{ColumnData, Control, Table, simulate};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        return eprintln!("name a scenario file");
    };
    let overrides: Vec<String> = arguments.collect();
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let plan = match Plan::from_toml(&text, &file, &overrides, None) {
        Ok(plan) => plan,
        Err(problems) => return problems.iter().for_each(|p| eprintln!("{p:?}")),
    };
    for run in &plan.runs {
        let started = Instant::now();
        match simulate(run, &Control::default()) {
            Ok(outcome) => {
                let seconds = started.elapsed().as_secs_f64();
                let parameters: Vec<String> = run
                    .parameters
                    .iter()
                    .map(|(k, v)| format!("{k}={v}"))
                    .collect();
                let figure = |name| measure(&outcome.tables[0], name);
                println!(
                    "{:40} {:8.1} ms median {:8.1} p99 {:8.1}  drops {:7.1} ring {:5.1} retrans {:7.1} timeouts {:6.2} recov {:6.1}  {:6.1} Mb/s  {:5.1} M hops/s ({:.2} s {} hops) {:016x}",
                    parameters.join(" "),
                    figure("completion_ms_mean"),
                    figure("completion_ms_median"),
                    figure("completion_ms_p99"),
                    figure("switch_drops_mean"),
                    figure("host_drops_mean"),
                    figure("retransmissions_mean"),
                    figure("timeouts_mean"),
                    figure("fast_recoveries_mean"),
                    figure("goodput_mbps_mean"),
                    outcome.hops as f64 / seconds / 1e6,
                    seconds,
                    outcome.hops,
                    outcome.trajectory,
                );
            }
            Err(error) => eprintln!("{error}"),
        }
    }
}

fn measure(table: &Table, name: &str) -> f64 {
    match table.column(name) {
        Some(ColumnData::F64(values)) => values[0],
        Some(ColumnData::U64(values)) => values[0] as f64,
        _ => f64::NAN,
    }
}
