//! Settings of flows beside the workload that cannot be.

use crate::common::{STAR, plan, problem};

fn refused(entry: &str, more: &[&str], expected: &str) {
    let set = format!("background_flows=[{{ {entry} }}]");
    let all: Vec<&str> = more.iter().copied().chain([set.as_str()]).collect();
    let found = problem(STAR, &all);
    assert!(found.contains(expected), "{found}");
}

#[test]
fn flows_beside_the_workload_are_taken() {
    let set = r#"background_flows=[{ pairs = { kind = "permutation" }, connections = 2, congestion = ["bbr"] }]"#;
    let plan = plan(STAR, &[set]);
    let run = &plan.runs[0];
    let flows = run.flows_beside();
    assert_eq!(flows.len(), 2 * run.network.hosts.len());
    assert!(flows.iter().all(|one| one.until.is_none()));
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
