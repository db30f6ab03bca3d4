use tailback_units::Time;

use super::FlowList;
use crate::Plan;

/// Three hosts and this list.
fn plan(flows: &str) -> Result<Plan, Vec<String>> {
    let text = format!(
        "name = \"listed\"\nhost = \"plain\"\n[network]\ntopology = \"star\"\nhosts = 3\nswitch = \"plain\"\n\
         link = {{ rate = \"1Gbit\", delay = \"1us\", mtu = \"1500B\" }}\n[workload]\nkind = \"flow-list\"\n\
         flows = \"\"\"\n{flows}\"\"\"\n"
    );
    let told = |problem: &crate::Problem| {
        format!("{}: {}; {}", problem.path, problem.reason, problem.remedy)
    };
    Plan::from_toml(&text, "listed.toml", &[], None)
        .map_err(|problems| problems.iter().map(told).collect())
}

#[test]
fn flows_are_in_the_order_of_their_starts_between_hosts_by_name_or_place() {
    let plan =
        plan("start_ms source destination bytes\n2 host1 0 10\n1 2 host0 20\n1 host0 host1 30\n")
            .expect("sound");
    let run = &plan.runs[0];
    let crate::Workload::FlowList(list) = &run.workload else {
        panic!("{:?}", run.workload);
    };
    let flows = list.flows(&run.network);
    let told: Vec<_> = flows
        .iter()
        .map(|f| (f.source, f.destination, f.bytes))
        .collect();
    assert_eq!(told, [(2, 0, Some(20)), (0, 1, Some(30)), (1, 0, Some(10))]);
    assert_eq!(list.last_start(), Time::from_ps(2_000_000_000));
    assert_eq!(list.end(), Time::from_ps(10_002_000_000_000));
    assert_eq!(list.expected_bytes(), 60);
    assert_eq!(list.pairs(&run.network), [(0, 1), (1, 0), (2, 0)]);
}

#[test]
fn hosts_that_there_are_not_are_told_once_each_with_their_lines() {
    let found =
        plan("start_ms source destination bytes\n2 hots1 0 10\n1 hots1 3 20\n1 host0 0 30\n")
            .expect_err("wrong");
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(
        found[0].contains("line 2: there is no host \"hots1\"; did you mean \"host1\"?"),
        "{found:?}"
    );
    assert!(
        found[1].contains("line 3: there is no host \"3\""),
        "{found:?}"
    );
    assert!(
        found[2].contains("line 4: from host0 to itself"),
        "{found:?}"
    );
    let many: String = (0..20).map(|i| format!("0 host{} 0 1\n", i + 5)).collect();
    let found = plan(&format!("start_ms source destination bytes\n{many}")).expect_err("wrong");
    assert_eq!(found.len(), 6, "{found:?}");
    assert!(found[5].contains("15 more like these"), "{found:?}");
}

#[test]
fn a_list_that_was_never_read_is_no_list() {
    let list: FlowList = serde_json::from_str(r#"{"path": "flows.csv"}"#).expect("a workload");
    assert!(list.findings()[0].reason.contains("has not been read"));
    let list: FlowList = serde_json::from_str("{}").expect("a workload");
    assert!(list.findings()[0].reason.contains("no flow is listed"));
}
