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

/// Two hosts on either side of a link of its own.
const TRUNK: &str = r#"name = "trunk"
[network]
topology = "dumbbell"
pairs = 1
switch = "plain-queued"
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
trunk = [{ rate = "2Gbit", delay = "10ms", mtu = "1500B", impairment = { policer = { rate = "1Gbit", burst = "1MB" } } }]
[workload]
kind = "bulk"
pairs = { kind = "across", pairs = 1 }
duration = "10s"
"#;

#[test]
fn a_name_means_what_stands_in_a_list_where_nothing_else_is_said() {
    let swept = plan(TRUNK, &["sweep={ burst = [\"1MB\", \"2MB\"] }"]);
    let bursts = swept.runs.iter().map(|run| {
        let mut links = run.network.links.iter();
        let policer = links.find_map(|link| link.config.impairment.as_ref()?.policer);
        policer.expect("a policer").burst.to_string()
    });
    assert_eq!(bursts.collect::<Vec<_>>(), ["1MB", "2MB"]);
    let slower = &plan(
        TRUNK,
        &["mtu=9000B", "network.trunk.0.mtu=9000B", "delay=2us"],
    )
    .runs[0];
    let delays: Vec<String> = slower
        .network
        .links
        .iter()
        .map(|l| l.config.delay.to_string())
        .collect();
    assert_eq!(
        delays.iter().filter(|delay| *delay == "2us").count(),
        2,
        "the hosts' links"
    );
    let two = TRUNK.replace("trunk = [{", "trunk = [{ rate = \"1Gbit\", delay = \"0s\", mtu = \"1500B\", impairment = { policer = { rate = \"1Mbit\", burst = \"2MB\" } } }, {");
    let two = two.replace(
        "topology = \"dumbbell\"\npairs = 1",
        "topology = \"parking-lot\"\npairs = 1\nhop_pairs = 1",
    );
    let found = problem(&two, &["burst=3MB"]);
    let places = "\"network.trunk.0.impairment.policer.burst\", \"network.trunk.1.impairment.policer.burst\"";
    assert!(found.contains(places), "{found}");
}
