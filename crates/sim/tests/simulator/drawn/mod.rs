//! Scenarios drawn by lot from the schema: what a check accepts runs to its end, adds up, and takes the same course on
//! one thread and on two. Built as tests are, so that sums that overflow and what is asserted in debug builds are found
//! too.
//!
//! What a check refuses is mended by taking away what it names, as far as that goes. With `TAILBACK_DRAWN_FROM` and
//! `TAILBACK_DRAWN` others are drawn, and more: `make drawn DRAWN=2000`.

mod draw;
mod network;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use tailback_scenario::{Plan, Problem, Run, Workload, schema};
use tailback_sim::{Control, SimError, Table, simulate_on, why_whole};

use draw::Draw;

/// So many are drawn.
const DRAWN: u64 = 150;
/// Flows of a run that is not left out.
const FLOWS_MAX: usize = 2000;
/// Datagrams of such a run.
const DATAGRAMS_MAX: u64 = 1_000_000;
/// One that is to be cut is drawn anew so often.
const DRAWN_ANEW: u64 = 20;
/// A scenario is mended so often.
const MENDINGS: usize = 14;

fn number(variable: &str, otherwise: u64) -> u64 {
    let given = std::env::var(variable).ok();
    given.map_or(otherwise, |text| text.parse().expect("a number"))
}

/// As TOML: a line for each of its keys.
fn toml(scenario: &Value) -> String {
    let keys = scenario.as_object().into_iter().flatten();
    keys.map(|(key, value)| format!("{key} = {}\n", inline(value)))
        .collect()
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let keys = table.iter().map(|(k, v)| format!("{k:?} = {}", inline(v)));
            format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// Takes away what a problem is about, or the table in which something is missing; of a list the whole. True if there
/// was something.
fn mend(scenario: &mut Value, problem: &Problem) -> bool {
    let steps = problem.path.split(['.', '[']);
    let steps: Vec<&str> = steps.map(|step| step.trim_end_matches(']')).collect();
    let pointer = |steps: &[&str]| steps.iter().map(|s| format!("/{s}")).collect::<String>();
    let mut known = steps.len();
    while known > 0 && scenario.pointer(&pointer(&steps[..known])).is_none() {
        known -= 1;
    }
    while let Some((key, above)) = steps[..known].split_last() {
        if above.is_empty() && matches!(*key, "network" | "workload") {
            return false;
        }
        if let Some(Value::Object(table)) = scenario.pointer_mut(&pointer(above)) {
            return table.remove(*key).is_some();
        }
        known -= 1;
    }
    false
}

/// A run of what is drawn, mended; nothing if that does not help.
fn planned(scenario: &mut Value) -> Option<Run> {
    for _ in 0..MENDINGS {
        match Plan::from_toml(&toml(scenario), "drawn.toml", &[], None) {
            Ok(plan) => return plan.runs.first().cloned(),
            Err(problems) => {
                let mut mended = false;
                for problem in &problems {
                    mended |= mend(scenario, problem);
                }
                if !mended {
                    return None;
                }
            }
        }
    }
    None
}

/// Whether a run is over in a moment: not one of a million flows of a byte, or of all datagrams that 100 Gb/s would take.
fn is_short(run: &Run) -> bool {
    match &run.workload {
        Workload::Flows(flows) => flows.flows(run.seed, &run.network).len() < FLOWS_MAX,
        Workload::Udp(udp) => {
            let each = udp.duration.as_ps() / udp.gap().as_ps().max(1);
            let senders = udp.probes(run.seed, &run.network).len() as u64;
            each * senders < DATAGRAMS_MAX
        }
        _ => true,
    }
}

/// The run of a number, whose `scenario` that is. Every other is drawn until it can be cut: few would be else.
fn drawn_run(schema: &Value, seed: u64, scenario: &mut Value) -> Option<Run> {
    let divisible = seed.is_multiple_of(2);
    let mut draw = |again| {
        *scenario = Draw::scenario(schema, seed, again, divisible);
        planned(scenario).filter(is_short)
    };
    if !divisible {
        return draw(0);
    }
    (0..DRAWN_ANEW).find_map(|again| draw(again).filter(|run| why_whole(run).is_none()))
}

/// What must not depend on the threads: tables, trajectory and hops.
type Course = (Vec<Table>, u64, u64);

/// What came of a run: its course, and how many parts it had; or why it did not end.
fn course(threads: usize, run: &Run) -> Result<(Course, usize), SimError> {
    let outcome = simulate_on(threads, run, &Control::default())?;
    let course = (outcome.tables, outcome.trajectory, outcome.hops);
    Ok((course, outcome.parts))
}

#[test]
fn what_a_check_accepts_runs_to_its_end_and_alike_on_two_threads() {
    let schema: Value = serde_json::from_str(&schema()).expect("the schema is JSON");
    let from = number("TAILBACK_DRAWN_FROM", 0);
    let drawn = number("TAILBACK_DRAWN", DRAWN);
    let (mut accepted, mut cut, mut wrong) = (0, 0, Vec::new());
    for seed in from..from + drawn {
        let mut scenario = Value::Null;
        let tried = catch_unwind(AssertUnwindSafe(|| {
            let run = drawn_run(&schema, seed, &mut scenario)?;
            // With --nocapture, for one that does not end.
            println!("number {seed}:\n{}", toml(&scenario));
            Some([1, 2].map(|threads| course(threads, &run)))
        }));
        let what = match tried {
            Ok(None) => continue,
            Ok(Some(
                [
                    Err(
                        SimError::Stalled { .. }
                        | SimError::TooManyRows { .. }
                        | SimError::Deadlock { .. },
                    ),
                    _,
                ],
            )) => {
                accepted += 1;
                continue;
            }
            Ok(Some([Ok((alone, _)), Ok((together, parts))])) if alone == together => {
                accepted += 1;
                cut += u64::from(parts > 1);
                continue;
            }
            Ok(Some([Ok(_), Ok(_)])) => "two threads took another course".to_owned(),
            Ok(Some([Err(error), _] | [_, Err(error)])) => error.to_string(),
            Err(_) => "a panic, see above".to_owned(),
        };
        wrong.push(format!("number {seed}: {what}\n{}", toml(&scenario)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Of a few that are looked at again nothing is to be counted.
    if drawn < DRAWN {
        return;
    }
    assert!(2 * accepted > drawn, "{accepted} of {drawn} ran");
    assert!(10 * cut > drawn, "{cut} of {drawn} ran in parts");
}
