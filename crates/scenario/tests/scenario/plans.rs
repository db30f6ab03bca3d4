//! The runs of a plan, its hash and its scenario as resolved.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tailback_scenario::{BUILT_IN, Node, Plan, Severity};

use crate::common::{EXPLICIT, STAR, inline, plan};

#[test]
fn a_star_has_the_hosts_at_the_ports_of_their_numbers() {
    let plan = plan(STAR, &[]);
    let network = &plan.runs[0].network;
    let names: Vec<&str> = network.hosts.iter().map(|h| h.name.as_str()).collect();
    assert_eq!(names, ["host0", "host1", "host2", "host3"]);
    let links: Vec<usize> = network.links_of(Node::Switch(0)).collect();
    assert_eq!(links, [0, 1, 2, 3]);
    for (i, link) in network.links.iter().enumerate() {
        assert_eq!((link.a, link.b), (Node::Host(i), Node::Switch(0)));
    }
}

#[test]
fn an_explicit_network_is_taken_as_it_stands() {
    let plan = plan(EXPLICIT, &[]);
    let network = &plan.runs[0].network;
    let ends: Vec<(&str, &str)> = network
        .links
        .iter()
        .map(|l| (network.name(l.a), network.name(l.b)))
        .collect();
    assert_eq!(
        ends,
        [
            ("a1", "left"),
            ("left", "a2"),
            ("left", "right"),
            ("left", "right"),
            ("b1", "right")
        ]
    );
    assert_eq!(network.links[2].config.loss, 0.001);
    assert_eq!(network.links[3].config.loss, 0.0);
    assert_eq!(network.links[1].config.mtu.get(), 1500);
}

#[test]
fn every_run_has_a_seed_of_its_own_that_others_do_not_move() {
    let text = format!("{STAR}[sweep]\nservers = [1, 2, 3]\n[run]\nrepetitions = 3\n");
    let whole = plan(&text, &[]);
    let seeds: BTreeSet<u64> = whole.runs.iter().map(|r| r.seed).collect();
    assert_eq!(seeds.len(), 9);
    let part = plan(&text, &["sweep.servers=[3]", "run.repetitions=2"]);
    assert_eq!(part.runs[0].seed, whole.runs[6].seed);
    assert_eq!(part.runs[1].seed, whole.runs[7].seed);
    let other = plan(&text, &["run.seed=2"]);
    assert!(other.runs.iter().all(|r| !seeds.contains(&r.seed)));
}

#[test]
fn with_common_random_numbers_only_repetitions_draw_differently() {
    let text = format!("{STAR}[sweep]\nservers = [1, 2, 3]\n[run]\nrepetitions = 3\n");
    let own = plan(&text, &[]);
    let common = plan(&text, &["run.common_random_numbers=true"]);
    let seeds: Vec<u64> = common.runs.iter().map(|r| r.seed).collect();
    assert_eq!(seeds[..3].iter().collect::<BTreeSet<_>>().len(), 3);
    assert_eq!(seeds, [&seeds[..3]; 3].concat());
    assert_ne!(own.hash, common.hash);
}

#[test]
fn seeds_are_the_same_in_every_version() {
    // First 8 bytes of the SHA-256 of [1,[["servers",2]],0], as other tools compute it.
    let plan = plan(&format!("{STAR}[sweep]\nservers = [2]\n"), &[]);
    assert_eq!(plan.runs[0].seed, 18_222_892_907_577_194_474);
}

#[test]
fn the_hash_depends_on_what_the_runs_depend_on() {
    let base = plan(STAR, &[]).hash;
    assert_eq!(base.len(), 64);
    for same in [
        "title=another",
        "description=longer",
        "workload.striped=false",
    ] {
        assert_eq!(plan(STAR, &[same]).hash, base, "{same}");
    }
    let others = [
        "run.seed=2",
        "workload.servers=2",
        "network.switch.latency=1us",
        "preset.switch.arista-7124s.latency=1us",
        "run.repetitions=2",
        "record.anatomy_iteration=0",
    ];
    let hashes: BTreeSet<String> = others.iter().map(|o| plan(STAR, &[o]).hash).collect();
    assert_eq!(hashes.len(), others.len());
    assert!(!hashes.contains(&base));
}

#[test]
fn the_order_of_keys_does_not_change_the_hash_and_that_of_axes_does() {
    let moved = STAR.replace(
        "servers = 3\nsize = \"8MB\"\n",
        "size = \"8MB\"\nservers = 3\n",
    );
    assert_ne!(moved, STAR);
    assert_eq!(plan(&moved, &[]).hash, plan(STAR, &[]).hash);
    let one = format!("{STAR}[sweep]\nservers = [1]\nsize = [\"1MB\"]\n");
    let other = format!("{STAR}[sweep]\nsize = [\"1MB\"]\nservers = [1]\n");
    assert_ne!(plan(&one, &[]).hash, plan(&other, &[]).hash);
}

#[test]
fn the_resolved_scenario_stands_on_its_own_and_gives_the_same_runs() {
    let mut texts: Vec<&str> = BUILT_IN.iter().map(|b| b.2).collect();
    texts.extend([STAR, EXPLICIT]);
    for text in texts {
        let first = plan(text, &["run.repetitions=2"]);
        let Value::Object(root) = &first.scenario else {
            panic!("a scenario is a table")
        };
        let again: String = root
            .iter()
            .map(|(k, v)| format!("{k} = {}\n", inline(v)))
            .collect();
        let second = plan(&again, &[]);
        assert_eq!(second.runs, first.runs);
        assert_eq!(second.hash, first.hash);
        assert_eq!(second.scenario, first.scenario);
    }
}

#[test]
fn the_resolved_scenario_has_defaults_and_presets_written_out() {
    let scenario = plan(STAR, &[]).scenario;
    assert_eq!(scenario["run"], json!({ "repetitions": 1, "seed": 1 }));
    assert_eq!(scenario["workload"]["striped"], json!(false));
    assert_eq!(scenario["workload"]["request"], json!("64B"));
    assert_eq!(scenario["network"]["link"]["loss"], json!(0.0));
    assert_eq!(
        scenario["preset"]["switch"]["arista-7124s"]["ports"],
        json!(24)
    );
    assert!(
        scenario["preset"]["switch"]
            .get("cisco-nexus-5010")
            .is_none()
    );
}

#[test]
fn an_iteration_that_does_not_come_is_warned_of() {
    let set = ["record.anatomy_iteration=10".to_owned()];
    let found = Plan::check(STAR, "s.toml", &set, None);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].severity, Severity::Warning);
    assert!(
        found[0]
            .reason
            .contains("there is no iteration 10: the last is 9")
    );
    assert_eq!(plan(STAR, &["record.anatomy_iteration=9"]).warnings, []);
}
