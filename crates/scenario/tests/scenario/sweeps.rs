//! Sweeps and overrides.

use std::sync::Arc;

use serde_json::{Value, json};
use tailback_scenario::{Plan, Workload};

use crate::common::{EXPLICIT, STAR, plan, problem, problems};

fn star(sweep: &str) -> String {
    format!("{STAR}[sweep]\n{sweep}\n")
}

fn column(plan: &Plan, name: &str) -> Vec<Value> {
    let cell = |run: &tailback_scenario::Run| {
        let found = run.parameters.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.clone()).expect("the column")
    };
    plan.runs.iter().map(cell).collect()
}

#[test]
fn values_by_their_paths_outside_of_a_set_are_told_where_they_go() {
    let text = star("buffers = [{ name = \"small\", \"network.link.rate\" = \"1Gbit\" }]");
    let said = problem(&text, &[]);
    assert!(said.contains("sweep.buffers[0]"), "{said}");
    assert!(
        said.ends_with(
            "a value that sets network.link.rate has it under `set`; \
             { label = \"…\", set = { \"network.link.rate\" = … } }"
        ),
        "{said}"
    );
}

#[test]
fn a_key_means_the_leaves_and_the_hosts_links_where_spines_have_nothing_of_their_own() {
    let fabric = STAR.replace(
        "topology = \"star\"\nswitch = \"arista-7124s\"\nhosts = 4",
        "topology = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts = 2\nswitch = \"arista-7124s\"",
    );
    let shared = r#"sweep={ shared = ["1MB", "2MB"], rate = ["1Gbit", "2Gbit"] }"#;
    let run = &plan(&fabric, &[shared]).runs[3];
    let [leaf, .., spine] = run.network.switches.as_slice() else {
        panic!("a network has switches")
    };
    assert_eq!(leaf.config, spine.config);
    let [first, .., last] = run.network.links.as_slice() else {
        panic!("a network has links")
    };
    assert_eq!(first.config.rate.to_string(), "2Gbit");
    assert_eq!(first.config, last.config);
    let own = [r#"network.spine={ latency = "9us" }"#, shared];
    let found = problem(&fabric, &own);
    assert!(found.contains("\"shared\" names 2 values"), "{found}");
    // An uplink's rate may be swept where the file has no uplink.
    let uplinks = r#"sweep={ "network.uplink.rate" = ["1Gbit", "40Gbit"] }"#;
    let rates = plan(&fabric, &[uplinks]).runs.into_iter().map(|run| {
        let link = run.network.links.last().map(|link| link.config.rate);
        link.expect("a link").to_string()
    });
    assert_eq!(rates.collect::<Vec<_>>(), ["1Gbit", "40Gbit"]);
}

#[test]
fn the_first_axis_is_the_slowest_and_repetitions_the_fastest() {
    let text = star("size = [\"1MB\", \"2MB\"]\nservers = [3, 1]\n[run]\nrepetitions = 2");
    let plan = plan(&text, &[]);
    let sizes = ["1MB", "1MB", "1MB", "1MB", "2MB", "2MB", "2MB", "2MB"];
    assert_eq!(column(&plan, "size"), sizes);
    assert_eq!(column(&plan, "servers"), [3, 3, 1, 1, 3, 3, 1, 1]);
    let repetitions: Vec<u32> = plan.runs.iter().map(|r| r.repetition).collect();
    assert_eq!(repetitions, [0, 1, 0, 1, 0, 1, 0, 1]);
    let Workload::Incast(last) = &plan.runs[7].workload else {
        panic!("no incast")
    };
    assert_eq!((last.servers, last.size.get()), (1, 2_000_000));
}

#[test]
fn ranges_hold_both_ends_and_steps_do_not_drift() {
    let values = |range: &str| column(&plan(&star(&format!("loss = {range}")), &[]), "loss");
    assert_eq!(
        values("{ from = 0.1, to = 0.3, step = 0.1 }"),
        [0.1, 0.2, 0.3]
    );
    assert_eq!(values("{ from = 0, to = 1 }"), [0, 1]);
    let servers = |range: &str| column(&plan(&star(&format!("servers = {range}")), &[]), "servers");
    assert_eq!(servers("{ from = 1, to = 3 }"), [1, 2, 3]);
    assert_eq!(servers("{ from = 1, to = 3, step = 2 }"), [1, 3]);
    assert_eq!(servers("{ from = 2, to = 3, step = 5 }"), [2]);
}

#[test]
fn axes_that_lead_nowhere_are_told() {
    let cases = [
        ("servers = []", "sweep.servers: the axis is empty"),
        (
            "servers = { from = 3, to = 1 }",
            "sweep.servers: the range from 3 to 1 is empty",
        ),
        (
            "servers = { from = 1, to = 3, step = 0 }",
            "a step of 0 never arrives",
        ),
        (
            "servers = { from = 1, too = 3 }",
            "sweep.servers.too: there is no key",
        ),
        (
            "servers = { from = 0, to = 1e12 }",
            "has more than 1000000 values",
        ),
        (
            "servers = 3",
            "sweep.servers: an axis is a list of values, or a range",
        ),
        (
            "servers = [1, 2, 1]",
            "sweep.servers[2]: 1 stands in the axis twice",
        ),
        (
            "serverz = [1]",
            "sweep.serverz: no value is named \"serverz\"; did you mean \"servers\"?",
        ),
        (
            "\"workload.serverz\" = [1]",
            "workload.serverz: there is no key",
        ),
        ("\"a..b\" = [1]", "\"a..b\" is not a path"),
        (
            "network.link.rate = [\"1Gbit\"]",
            "sweep.network: a path is one key here, in quotes; \"network.link.rate\" = […]",
        ),
        ("title = [\"a\"]", "no value is named \"title\""),
        (
            "\"run.common_random_numbers\" = [true]",
            "run.common_random_numbers cannot be varied within a scenario",
        ),
        (
            "\"run.seed\" = [1, 2]",
            "sweep.\"run.seed\": run.seed cannot be varied within a scenario",
        ),
        (
            "\"preset.switch.mine.latency\" = [\"1us\"]",
            "sweep.\"preset.switch.mine.latency\": preset.switch.mine.latency cannot be varied within a \
             scenario; the value where the preset is used",
        ),
        (
            "case = [{ set = { \"preset.switch.mine.latency\" = \"1us\" } }]",
            "sweep.case[0].set.\"preset.switch.mine.latency\": preset.switch.mine.latency cannot be \
             varied within a scenario",
        ),
    ];
    for (axis, wanted) in cases {
        let found = problem(&star(axis), &[]);
        assert!(found.contains(wanted), "{axis}: {found}");
    }
}

#[test]
fn a_name_that_several_values_have_is_told_with_their_paths() {
    let found = problem(&star("kind = [\"incast\"]"), &[]);
    assert!(found.contains("sweep.kind: \"kind\" names"), "{found}");
    assert!(found.contains("\"workload.kind\""), "{found}");
    assert!(found.contains("\"network.switch.buffer.kind\""), "{found}");
}

#[test]
fn what_to_set_in_place_of_a_swept_value_can_be_set() {
    let text = star("\"network.link.rate\" = [\"1Gbit\"]");
    let found = problem(&text, &["network.link.rate=2Gbit"]);
    assert!(
        found.contains("set sweep.\"network.link.rate\"=[…] instead"),
        "{found}"
    );
    let plan = plan(
        &text,
        &["sweep.\"network.link.rate\"=[\"2Gbit\", \"3Gbit\"]"],
    );
    assert_eq!(plan.runs.len(), 2);
}

#[test]
fn a_value_swept_twice_is_told() {
    let found = problem(&star("servers = [1]\n\"workload.servers\" = [2]"), &[]);
    assert!(
        found.contains("workload.servers is swept by \"servers\" already"),
        "{found}"
    );
}

#[test]
fn a_swept_value_that_is_wrong_is_told_where_it_stands() {
    assert_eq!(
        problems(&star("servers = [1, 4, 2, 5]"), &[]),
        [
            "s.toml:21:15: workload.servers: 4 servers and the client need 5 hosts, and the network \
             has 4; at most 3 servers, or more hosts",
            "s.toml:21:21: workload.servers: 5 servers and the client need 6 hosts, and the network \
             has 4; at most 3 servers, or more hosts",
        ]
    );
    let found = problems(&star("servers = { from = 1, to = 9 }"), &[]);
    assert_eq!(found.len(), 1, "a range is told once: {found:?}");
    let found = problem(&star("switch = [\"arista-7124s\", \"nexus\"]"), &[]);
    assert!(found.starts_with("s.toml:21:27: network.switch"), "{found}");
}

#[test]
fn more_runs_than_anyone_means_are_told() {
    let text = star("servers = [1, 2]\nloss = { from = 0, to = 0.9999, step = 0.0001 }");
    let found = problem(&text, &["run.repetitions=100000"]);
    assert!(
        found.contains("sweep: the sweep stands for 2000000000 runs"),
        "{found}"
    );
}

#[test]
fn a_swept_value_need_not_stand_in_the_scenario() {
    let text = star("servers = [1, 2]").replace("servers = 3\n", "");
    assert_eq!(plan(&text, &[]).runs.len(), 2);
}

#[test]
fn a_sweep_given_as_a_whole_by_an_override_is_swept() {
    let plan = plan(
        STAR,
        &["sweep={ servers = [1, 3], hosts = { from = 4, to = 5 } }"],
    );
    let servers: Vec<u32> = plan
        .runs
        .iter()
        .map(|r| r.network.hosts.len() as u32)
        .collect();
    assert_eq!(servers, [4, 5, 4, 5]);
    let found = problem(STAR, &["sweep={ servers = [1, 9] }"]);
    assert!(
        found.starts_with("--set sweep={ servers = [1, 9] }: workload.servers: 9 servers"),
        "{found}"
    );
}

#[test]
fn a_swept_presets_name_keeps_what_is_laid_over_it() {
    let text = star("switch = [\"arista-7124s\", \"cisco-nexus-5010\"]").replace(
        "switch = \"arista-7124s\"\n",
        "switch = { preset = \"arista-7124s\", latency = \"1us\" }\n",
    );
    let plan = plan(&text, &[]);
    let config = |run: usize| &plan.runs[run].network.switches[0].config;
    assert_eq!(config(0).latency, config(1).latency);
    assert_eq!(config(0).latency.to_string(), "1us");
    assert_eq!((config(0).ports, config(1).ports), (24, 26));
}

#[test]
fn an_axis_of_a_preset_and_one_of_its_value_go_together() {
    let text =
        star("latency = [\"1us\", \"2us\"]\nswitch = [\"arista-7124s\", \"cisco-nexus-5010\"]");
    let plan = plan(&text, &[]);
    let latencies: Vec<String> = plan
        .runs
        .iter()
        .map(|r| r.network.switches[0].config.latency.to_string())
        .collect();
    assert_eq!(latencies, ["1us", "1us", "2us", "2us"]);
}

#[test]
fn tables_and_lists_are_texts_in_their_column() {
    let text = star(
        "marking = [{ kind = \"off\" }, { kind = \"step\", threshold = \"30KB\" }]\n\
         names = [[\"a\", \"b\", \"c\", \"d\"]]",
    );
    let plan = plan(&text, &[]);
    assert_eq!(column(&plan, "marking"), ["off", "step threshold=30KB"]);
    assert_eq!(column(&plan, "names"), ["a b c d", "a b c d"]);
}

#[test]
fn columns_of_the_same_name_are_told_apart() {
    let text = format!(
        "{EXPLICIT}[sweep]\n\"network.link.2.rate\" = [\"10Gbit\"]\n\"network.link.3.rate\" = [\"1Gbit\"]\n"
    );
    let plan = plan(&text, &[]);
    let names: Vec<&str> = plan.runs[0]
        .parameters
        .iter()
        .map(|p| p.0.as_str())
        .collect();
    assert_eq!(names, ["network.link.2.rate", "network.link.3.rate"]);
    assert_eq!(
        plan.runs[0].network.links[3].config.rate.as_bps(),
        1_000_000_000
    );
}

#[test]
fn parts_of_lists_are_named_by_name_or_number() {
    let plan = plan(
        EXPLICIT,
        &[
            "network.switch.left.model.latency=2us",
            "network.host.0.stack.rto_min=1s",
        ],
    );
    assert_eq!(
        plan.runs[0].network.switches[0].config.latency.to_string(),
        "2us"
    );
    assert_eq!(
        plan.runs[0].network.hosts[0].stack.rto_min.to_string(),
        "1s"
    );
    let found = problem(EXPLICIT, &["network.switch.middle.model.latency=2us"]);
    assert!(
        found.contains("network.switch has no element \"middle\""),
        "{found}"
    );
    let found = problem(STAR, &["workload.servers.x=2"]);
    assert!(
        found.contains("workload.servers is a single value, not a table"),
        "{found}"
    );
}

#[test]
fn overrides_are_toml_or_bare_texts() {
    let of = |set: &str| {
        let plan = plan(STAR, &[set]);
        let Workload::Incast(incast) = plan.runs[0].workload.clone() else {
            panic!("no incast")
        };
        incast
    };
    assert_eq!(of("workload.size=4MB").size.get(), 4_000_000);
    assert_eq!(of("workload.size=\"4MB\"").size.get(), 4_000_000);
    assert_eq!(of("workload.size = 4MB ").size.get(), 4_000_000);
    assert_eq!(of("workload.servers=2").servers, 2);
    assert!(of("workload.striped=true").striped);
    assert_eq!(of("iterations=7").iterations, 7);
    assert_eq!(plan(STAR, &["repetitions=7"]).runs.len(), 7);
    let preset = plan(STAR, &["network.switch=cisco-nexus-5010"]);
    assert_eq!(preset.runs[0].network.switches[0].config.ports, 26);
}

#[test]
fn the_last_of_two_equal_overrides_holds_and_a_whole_goes_before_its_parts() {
    let plan = plan(
        STAR,
        &[
            "network.switch.latency=9us",
            "network.switch=cisco-nexus-5010",
            "workload.servers=1",
            "workload.servers=2",
        ],
    );
    let switch = &plan.runs[0].network.switches[0].config;
    assert_eq!(
        (switch.ports, switch.latency.to_string().as_str()),
        (26, "9us")
    );
    assert_eq!(plan.scenario["workload"]["servers"], json!(2));
}

#[test]
fn overrides_that_cannot_be_are_told() {
    let cases = [
        ("workload.servers", "this is not path=value"),
        ("=2", "\"\" is not a path"),
        ("workload.=2", "\"workload.\" is not a path"),
        ("sweep.servers=[1,2", "[1,2 is not a TOML value"),
        (
            "workload.serverz=2",
            "workload.serverz: there is no key \"serverz\" here; did you mean",
        ),
        (
            "netwerk.hosts=2",
            "there is no key \"netwerk\" in a scenario; did you mean \"network\"?",
        ),
        (
            "itrations=2",
            "no value is named \"itrations\"; did you mean \"iterations\"?",
        ),
        ("kind=incast", "\"kind\" names"),
    ];
    for (set, wanted) in cases {
        let found = problem(STAR, &[set]);
        assert!(
            found.starts_with(&format!("--set {set}: ")),
            "{set}: {found}"
        );
        assert!(found.contains(wanted), "{set}: {found}");
    }
}

#[test]
fn an_override_that_the_sweep_overrides_is_told() {
    let text = star("servers = [1, 2]\nswitch = [\"arista-7124s\"]");
    assert_eq!(
        problem(&text, &["workload.servers=3"]),
        "--set workload.servers=3: workload.servers: the sweep gives this its values \
         (sweep.servers); set sweep.servers=[…] instead"
    );
    assert_eq!(
        problems(&text, &["network.switch=cisco-nexus-5010"]).len(),
        1
    );
    let swept = plan(&text, &["sweep.servers=[3]", "network.switch.latency=1us"]);
    assert_eq!(column(&swept, "servers"), [3]);
    assert_eq!(
        swept.runs[0].network.switches[0].config.latency.to_string(),
        "1us"
    );
}

#[test]
fn runs_whose_networks_are_equal_share_one() {
    let text =
        format!("{STAR}\n[sweep]\niterations = [1, 2]\nhosts = [4, 5]\n[run]\nrepetitions = 2\n");
    let runs = plan(&text, &[]).runs;
    let hosts: Vec<usize> = runs.iter().map(|run| run.network.hosts.len()).collect();
    assert_eq!(hosts, [4, 4, 5, 5, 4, 4, 5, 5]);
    for (a, b) in [(0, 1), (0, 4), (2, 7)] {
        assert!(Arc::ptr_eq(&runs[a].network, &runs[b].network), "{a} {b}");
    }
}

#[test]
fn a_stack_s_settings_are_kept_where_presets_are_swept() {
    let beside = |stack: &str| STAR.replace("preset = \"linux-2.6.18\"", stack);
    for text in [
        beside("preset = \"linux-2.6.18\"\ntcp_sack = false"),
        // Over the default.
        beside("tcp_sack = false"),
    ] {
        let runs = plan(&text, &[r#"sweep.stack=["linux-2.6.24", "linux-6.12"]"#]).runs;
        let stacks = runs.iter().map(|run| &run.network.hosts[0].stack);
        let kept: Vec<(u32, bool)> = stacks.map(|s| (s.hz, s.tcp_sack)).collect();
        assert_eq!(kept, [(250, false), (1000, false)]);
    }
    let plain = STAR.replace("[stack]\npreset = \"linux-2.6.18\"\n", "");
    let runs = plan(&plain, &["stack.tcp_sack=false", "stack=linux-2.6.24"]).runs;
    let stack = &runs[0].network.hosts[0].stack;
    assert_eq!((stack.hz, stack.tcp_sack), (250, false));
}
