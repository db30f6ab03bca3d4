//! Which place a value's name alone means, where several have that name.

use tailback_scenario::Workload;

use crate::common::{STAR, plan, problem};

/// The small scenario with pings and a switch of the user's choice.
fn pinging(switch: &str) -> String {
    let (network, _) = STAR.split_once("[workload]").expect("a workload");
    let network = network.replace("\"arista-7124s\"", switch);
    format!(
        "{network}[workload]\nkind = \"ping\"\npairs = {{ kind = \"to-first\" }}\ninterval = \"1ms\"\n\
         count = 200\n"
    )
}

#[test]
fn places_of_other_kinds_and_such_that_the_file_does_not_have_give_way() {
    // A plain switch has no queue discipline, and the file no record.series.
    let run = &plan(&pinging("\"plain\""), &["interval=5ms"]).runs[0];
    let Workload::Ping(ping) = &run.workload else {
        panic!("pings")
    };
    assert_eq!(ping.interval.to_string(), "5ms");
    let swept = plan(
        &pinging("\"plain\""),
        &["sweep={ interval = [\"1ms\", \"2ms\"] }"],
    );
    assert_eq!(swept.runs.len(), 2);
}

#[test]
fn two_values_of_the_file_are_still_two() {
    let text = format!(
        "{}[record.series]\ninterval = \"1ms\"\n",
        pinging("\"plain\"")
    );
    let found = problem(&text, &["interval=5ms"]);
    assert!(found.contains("\"interval\" names 2 values"), "{found}");
    assert!(
        found.contains("one of \"record.series.interval\", \"workload.interval\""),
        "{found}"
    );
}

#[test]
fn a_name_that_only_another_kind_has_is_found() {
    // What an axis over switches brings.
    let text = pinging("\"plain\"");
    let overrides = [
        "sweep={ switch = [\"plain\", \"plain-queued\"] }",
        "flow_control={ kind = \"none\" }",
    ];
    assert!(!problem(&text, &overrides).contains("no value is named"));
}
