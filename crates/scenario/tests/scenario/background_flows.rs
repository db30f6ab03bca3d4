//! Settings of flows beside the workload that cannot be.

use std::collections::BTreeSet;

use tailback_scenario::{Flow, Workload};

use crate::common::{STAR, plan, problem};

fn refused(entry: &str, more: &[&str], expected: &str) {
    let set = format!("background_flows=[{{ {entry} }}]");
    let all: Vec<&str> = more.iter().copied().chain([set.as_str()]).collect();
    let found = problem(STAR, &all);
    assert!(found.contains(expected), "{found}");
}

#[test]
fn flows_beside_the_workload_are_taken() {
    let set = r#"background_flows=[{ pairs = { kind = "permutation" }, connections = 2, congestion = ["reno"] }]"#;
    let plan = plan(STAR, &[set]);
    let run = &plan.runs[0];
    let flows = run.flows_beside();
    assert_eq!(flows.len(), 2 * run.network.hosts.len());
    assert!(flows.iter().all(|one| one.until.is_none()));
}

#[test]
fn each_draws_pairs_of_its_own() {
    let drawn = r#"pairs = { kind = "permutation" }"#;
    let workload =
        format!(r#"workload={{ kind = "bulk", {drawn}, size = "1MB", duration = "1s" }}"#);
    let beside = format!("background_flows=[{{ {drawn} }}, {{ {drawn} }}]");
    let plan = plan(STAR, &["network.hosts=12", &workload, &beside]);
    let run = &plan.runs[0];
    let pair = |flow: &Flow| (flow.source, flow.destination);
    let Workload::Bulk(bulk) = &run.workload else {
        panic!("it is bulk");
    };
    let ours: BTreeSet<_> = bulk
        .flows(run.seed, &run.network)
        .iter()
        .map(pair)
        .collect();
    let theirs: Vec<_> = run.flows_beside().iter().map(|b| pair(&b.flow)).collect();
    let hosts = run.network.hosts.len();
    let [first, second] = [&theirs[..hosts], &theirs[hosts..]]
        .map(|pairs| pairs.iter().copied().collect::<BTreeSet<_>>());
    assert_eq!(ours.len(), hosts);
    assert!(ours != first && ours != second && first != second);
}

#[test]
fn what_cannot_be_is_told_with_its_place() {
    let pair = r#"pairs = { kind = "listed", list = [["host1", "host0"]] }"#;
    refused(
        r#"pairs = { kind = "listed", list = [["host1", "hots0"]] }"#,
        &[],
        r#"background_flows[0].pairs.list[0][1]: there is no host "hots0""#,
    );
    refused(
        &format!(r#"{pair}, from = "2ms", until = "2ms""#),
        &[],
        "background_flows[0].until: it would end before all have begun",
    );
    for (written, expected) in [
        (r#"rate = "0bit""#, "rate: nothing would be sent"),
        (
            r#"rate = "100Gbit", block = "100B""#,
            "block: blocks would be due less than 1us apart",
        ),
        (r#"rate = "1Gbit", block = "0B""#, "block: blocks would"),
        (r#"block = "1MB""#, "block: is what a program writes"),
    ] {
        let path = format!("background_flows[0].{expected}");
        refused(&format!("{pair}, {written}"), &[], &path);
    }
    refused(
        &format!(r#"{pair}, size = "0B""#),
        &[],
        "background_flows[0].size: no bytes to send",
    );
    refused(
        r#"pairs = { kind = "groups", hosts = 13 }"#,
        &[],
        "background_flows[0].pairs.hosts",
    );
}
