//! The scenarios that come with Tailback are sound, and mean what the study says.

use serde_json::{Value, json};
use tailback_scenario::{BUILT_IN, Incast, Plan, Workload};

use crate::common;

fn plan(name: &str) -> Plan {
    let (_, _, text) = BUILT_IN.iter().find(|b| b.0 == name).expect("built in");
    common::plan(text, &[])
}

fn incast(plan: &Plan, run: usize) -> &Incast {
    let Workload::Incast(incast) = &plan.runs[run].workload else {
        panic!("no incast")
    };
    incast
}

#[test]
fn every_one_is_sound_and_named_as_its_file() {
    for (name, path, text) in BUILT_IN {
        let plan = plan(name);
        assert_eq!(plan.name, *name);
        assert!(path.ends_with(&format!("/{name}.toml")), "{path}");
        assert_eq!(plan.warnings, []);
        assert!(text.starts_with("#:schema ../../schema/scenario.schema.json\n"));
    }
}

#[test]
fn every_file_of_the_folder_is_built_in() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut found = Vec::new();
    for study in std::fs::read_dir(folder).expect("the folder") {
        for file in std::fs::read_dir(study.expect("a folder").path()).expect("a folder") {
            let path = file.expect("a file").path();
            if path.extension().is_some_and(|e| e == "toml") {
                let stem = path.file_stem().expect("a name").to_string_lossy();
                found.push(stem.into_owned());
            }
        }
    }
    found.sort();
    let mut built_in: Vec<&str> = BUILT_IN.iter().map(|b| b.0).collect();
    built_in.sort_unstable();
    assert_eq!(found, built_in);
}

#[test]
fn the_study_has_46_runs_of_each_kind_the_switch_slowest() {
    for name in ["incast-8mb", "incast-4mb", "incast-striped"] {
        let plan = plan(name);
        assert_eq!(plan.runs.len(), 46);
        for (i, run) in plan.runs.iter().enumerate() {
            let switch = ["arista-7124s", "cisco-nexus-5010"][i / 23];
            let servers = i % 23 + 1;
            let expected = [
                ("switch".to_owned(), json!(switch)),
                ("servers".to_owned(), json!(servers)),
            ];
            assert_eq!(run.parameters, expected);
            assert_eq!(run.index, i);
            assert_eq!(run.network.hosts.len(), 24);
            assert_eq!(incast(&plan, i).servers as usize, servers);
            assert_eq!(run.workload.iterations(), 1000);
        }
    }
}

#[test]
fn sizes_and_mtus_are_the_studys() {
    let run = |name: &str| {
        let plan = plan(name);
        let incast = incast(&plan, 22).clone();
        (incast, plan.runs[22].network.links[0].config.mtu.get())
    };
    let (eight, mtu) = run("incast-8mb");
    assert_eq!((eight.iteration_bytes(), mtu), (23 * 8_000_000, 9000));
    let (four, mtu) = run("incast-4mb");
    assert_eq!((four.iteration_bytes(), mtu), (23 * 4_000_000, 9000));
    let (striped, mtu) = run("incast-striped");
    assert_eq!((striped.iteration_bytes(), mtu), (10_000_000, 1500));
    let shares: u64 = (0..23).map(|i| striped.answer_bytes(i)).sum();
    assert_eq!(shares, 10_000_000);
    assert_eq!(striped.answer_bytes(0) - striped.answer_bytes(22), 1);
}

#[test]
fn the_timers_of_the_other_remedy_reach_the_stack() {
    let plan = plan("incast-rto");
    assert_eq!(plan.runs.len(), 4 * 2 * 13);
    let mut seen = Vec::new();
    for run in &plan.runs {
        let stack = &run.network.hosts[0].stack;
        let written = run.parameters[0].1.as_str().expect("a text");
        assert_eq!(stack.rto_min.to_string(), written);
        assert_eq!(
            json!(stack.rto_jitter).as_f64(),
            run.parameters[1].1.as_f64()
        );
        if !seen.contains(&stack.rto_min) {
            seen.push(stack.rto_min);
        }
    }
    assert_eq!(seen.len(), 4);
}

#[test]
fn only_dctcp_of_the_two_stacks_hears_marks() {
    let plan = plan("incast-rto-dctcp");
    assert_eq!(plan.runs.len(), 2 * 13);
    for run in &plan.runs {
        let stack = &run.network.hosts[0].stack;
        let resolved = serde_json::to_value(&**stack).expect("plain values");
        assert_eq!(resolved["tcp_congestion_control"], run.parameters[0].1);
        assert_eq!(stack.rto_min.to_string(), "300ms");
    }
    let [reno, dctcp] = [0, 13].map(|i: usize| &plan.runs[i].network.hosts[0].stack);
    assert_ne!(reno.tcp_ecn, dctcp.tcp_ecn);
}

#[test]
fn overrides_that_the_study_needs_work_on_all_three() {
    for name in ["incast-8mb", "incast-4mb", "incast-striped"] {
        let (_, _, text) = BUILT_IN.iter().find(|b| b.0 == name).expect("built in");
        let plan = common::plan(text, &["sweep.servers=[2,9,23]", "workload.iterations=20"]);
        assert_eq!(plan.runs.len(), 6);
        assert_eq!(plan.runs[4].parameters[1].1, Value::from(9));
        assert!(plan.runs.iter().all(|r| r.workload.iterations() == 20));
        // A run is the same run whatever else the sweep holds.
        let whole = common::plan(text, &[]);
        assert_eq!(plan.runs[0].seed, whole.runs[1].seed);
    }
}
