//! Presets, what is laid over them, overlays.

use std::path::PathBuf;

use tailback_net::switch::BufferConfig;
use tailback_scenario::{Kind, Plan, presets};
use tailback_units::Duration;

use crate::common::{EXPLICIT, STAR, inline, plan, problem, problems};

fn star(own: &str) -> String {
    format!("{STAR}{own}\n")
}

#[test]
fn every_built_in_preset_is_complete_and_names_its_sources() {
    for kind in Kind::ALL {
        assert!(!presets(*kind).is_empty());
        for (name, text) in presets(*kind) {
            let own = match kind {
                Kind::Switch => format!("network.switch={name}"),
                kind => format!("{kind}.preset={name}"),
            };
            assert_eq!(plan(STAR, &[&own]).runs.len(), 1);
            assert!(text.contains('#'), "{name} has no comments");
        }
    }
}

#[test]
fn values_laid_over_a_preset_change_only_themselves() {
    let base = plan(STAR, &[]);
    let over = plan(STAR, &["network.switch.buffer.tx_private=40KB"]);
    let mut config = base.runs[0].network.switches[0].config.clone();
    let BufferConfig::Shared(shared) = &mut config.buffer else {
        panic!("the preset has a shared memory")
    };
    shared.tx_private = "40KB".parse().expect("a size");
    assert_eq!(over.runs[0].network.switches[0].config, config);
}

#[test]
fn a_switch_with_queues_begins_with_a_preset() {
    let switch = "network.switch={ preset = \"plain-queued\", \
                  flow_control = { kind = \"pause\", high_watermark = \"130KB\", low_watermark = \"110KB\" }, \
                  buffer = { scheduler = { strict = 2, priomap = [1, 0] } } }";
    let plan = plan(STAR, &[switch]);
    let config = &plan.runs[0].network.switches[0].config;
    let BufferConfig::Queued(queues) = &config.buffer else {
        panic!("the preset has queues")
    };
    assert_eq!(queues.scheduler.bands(), 2);
    assert!(config.flow_control.is_some());
    // But for its queues it is the other one.
    let plain = crate::common::plan(STAR, &["network.switch=plain"]);
    let other = &plain.runs[0].network.switches[0].config;
    let BufferConfig::Shared(shared) = &other.buffer else {
        panic!("the preset has a shared memory")
    };
    assert_eq!(&queues.memory, shared);
    assert_eq!(config.latency, other.latency);
}

#[test]
fn a_table_of_another_kind_replaces_the_presets() {
    let buffer = "{ kind = \"voq\", port_buffer = \"100KB\", cell = \"80B\", speedup = 1 }";
    let plan = plan(STAR, &[&format!("network.switch.buffer={buffer}")]);
    let config = &plan.runs[0].network.switches[0].config;
    assert!(matches!(config.buffer, BufferConfig::Voq(_)));
    let part = "network.switch.buffer={ kind = \"voq\", port_buffer = \"9MB\" }";
    let found = problems(STAR, &[part]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("network.switch.buffer.cell: the key \"cell\" is missing"));
    assert!(found[1].contains("network.switch.buffer.speedup: the key"));
}

#[test]
fn a_table_without_a_preset_must_be_complete() {
    let text = STAR.replace(
        "preset = \"rhel-5.4-x5540-ne020\"",
        "rx_segment_cost = \"1us\"",
    );
    let found = problem(&text, &[]);
    assert!(
        found.contains(": host: the keys tx_queue_packets, "),
        "{found}"
    );
    assert!(found.contains(
        "send_call_cost are missing; begin with a preset, as preset = \"plain\" (there are "
    ));
}

#[test]
fn a_table_that_replaces_the_presets_is_not_told_to_begin_with_one() {
    let part = "network.switch.buffer={ kind = \"queued\", shared = \"9MB\" }";
    let found = problem(STAR, &[part]);
    assert!(
        found.contains("network.switch: the keys buffer.segment, "),
        "{found}"
    );
    assert!(
        found.contains("buffer.tx_limit are missing; give them all: a table of another kind"),
        "{found}"
    );
    assert!(!found.contains("begin with a preset"), "{found}");
}

#[test]
fn a_scenario_without_hosts_has_those_that_are_never_the_limit() {
    let own = "[host]\npreset = \"rhel-5.4-x5540-ne020\"\n";
    let without = plan(&STAR.replace(own, ""), &[]);
    let plain = plan(&format!("host = \"plain\"\n{}", STAR.replace(own, "")), &[]);
    assert_eq!(without.runs[0].network, plain.runs[0].network);
    assert_eq!(without.hash, plain.hash);
    // Its values are laid over as any preset's.
    let gro = plan(
        &STAR.replace(own, ""),
        &["host.preset=plain", "host.gro=true"],
    );
    assert!(gro.runs[0].network.hosts[0].config.gro);
}

#[test]
fn hosts_and_switches_of_an_explicit_network_have_their_own_values() {
    let plan = plan(EXPLICIT, &[]);
    let hosts = &plan.runs[0].network.hosts;
    let minima: Vec<String> = hosts.iter().map(|h| h.stack.rto_min.to_string()).collect();
    assert_eq!(minima, ["200ms", "300ms", "200ms"]);
    let rings: Vec<u32> = hosts.iter().map(|h| h.config.rx_ring_descriptors).collect();
    assert_eq!(rings, [511, 511, 100]);
    let latencies: Vec<String> = plan.runs[0]
        .network
        .switches
        .iter()
        .map(|s| s.config.latency.to_string())
        .collect();
    assert_eq!(latencies, ["600ns", "1us"]);
}

#[test]
fn a_scenarios_own_presets_begin_with_others() {
    let text = star(
        "[preset.switch.deep]\npreset = \"deeper\"\nlatency = \"1us\"\n\
         [preset.switch.deeper]\npreset = \"arista-7124s\"\nbuffer.shared = \"9MB\"\n\
         [sweep]\nswitch = [\"arista-7124s\", \"deep\"]",
    );
    let plan = plan(&text, &[]);
    let config = |i: usize| plan.runs[i].network.switches[0].config.clone();
    assert_eq!(config(1).latency.to_string(), "1us");
    let BufferConfig::Shared(shared) = config(1).buffer else {
        panic!("a shared memory")
    };
    assert_eq!(shared.shared.to_string(), "9MB");
    assert_eq!(config(0).latency.to_string(), "600ns");
}

#[test]
fn a_built_in_presets_name_changes_that_one_in_a_sweep_too() {
    let text = star("[sweep]\nswitch = [\"arista-7124s\", \"cisco-nexus-5010\"]");
    let set = [
        "preset.switch.arista-7124s.latency=9us",
        "preset.stack.\"linux-2.6.18\".rto_min=1s",
    ];
    let plan = plan(&text, &set);
    let latency = |i: usize| plan.runs[i].network.switches[0].config.latency.to_string();
    assert_eq!(
        (latency(0), latency(1)),
        ("9us".to_owned(), "3200ns".to_owned())
    );
    assert_eq!(
        plan.runs[0].network.hosts[0].stack.rto_min.to_string(),
        "1s"
    );
}

#[test]
fn what_is_wrong_with_an_own_preset_is_told_there_and_once() {
    assert_eq!(
        problem(&star("[preset.switch.arista-7124s]\nlatncy = \"1us\""), &[]),
        "s.toml:21:1: preset.switch.arista-7124s.latncy: there is no key \"latncy\" here; did you \
         mean \"latency\"?"
    );
    let cases = [
        (
            "[preset.swich.x]\nports = 2",
            "preset.swich: there are no presets of kind \"swich\"; did you mean \"switch\"?",
        ),
        (
            "[preset.switch]\nx = 2",
            "preset.switch.x: this is not a table",
        ),
        (
            "[preset.switch.x]\npreset = \"aruba\"",
            "preset.switch.x.preset: there is no switch preset \"aruba\"",
        ),
        (
            "[preset.switch.x]\npreset = 2",
            "preset.switch.x.preset: a preset is named by a string",
        ),
    ];
    for (own, wanted) in cases {
        let found = problem(&star(own), &[]);
        assert!(found.contains(wanted), "{own}: {found}");
    }
    let found = problems(
        &star("[preset.switch.a]\npreset = \"b\"\n[preset.switch.b]\npreset = \"a\""),
        &[],
    );
    assert_eq!(found.len(), 2);
    assert!(
        found.iter().all(|f| f.contains("begin with one another")),
        "{found:?}"
    );
}

fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    folder
}

#[test]
fn overlays_go_over_the_scenario_and_under_overrides() {
    let fitted = "[preset.switch.arista-7124s.buffer]\nshared = \"1.1MB\"\n[workload]\nservers = 2\nsize = \"1MB\"\n";
    let folder = folder("overlays", &[("fitted.toml", fitted)]);
    let text = format!("overlay = \"fitted.toml\"\n{STAR}");
    let set = ["workload.servers=1".to_owned()];
    let plan = Plan::from_toml(&text, "s.toml", &set, Some(&folder)).expect("sound");
    assert_eq!(plan.scenario["workload"]["servers"], 1);
    assert_eq!(plan.scenario["workload"]["size"], "1MB");
    assert!(plan.scenario.get("overlay").is_none());
    let shared = &plan.scenario["preset"]["switch"]["arista-7124s"]["buffer"]["shared"];
    assert_eq!(shared, "1.1MB");
    let by_override = Plan::from_toml(
        STAR,
        "s.toml",
        &[
            "overlay=[\"fitted.toml\"]".to_owned(),
            "workload.servers=1".to_owned(),
        ],
        Some(&folder),
    );
    assert_eq!(by_override.expect("sound").hash, plan.hash);
}

#[test]
fn an_overlays_table_goes_over_a_preset_that_is_only_named() {
    let overlay = "[network.switch]\nlatency = \"9us\"\n[stack]\npreset = \"linux-2.6.18\"\n";
    let folder = folder("over-names", &[("o.toml", overlay)]);
    let named = STAR.replace("[stack]\npreset = ", "[stack]\nrto_min = \"1s\"\npreset = ");
    let text = format!("overlay = \"o.toml\"\n{named}");
    let plan = Plan::from_toml(&text, "s.toml", &[], Some(&folder)).expect("sound");
    let switch = &plan.runs[0].network.switches[0].config;
    assert_eq!(
        (switch.ports, switch.latency.to_string().as_str()),
        (24, "9us")
    );
    assert_eq!(
        plan.runs[0].network.hosts[0].stack.rto_min.to_string(),
        "1s"
    );
}

#[test]
fn a_name_replaces_a_table_that_begins_with_no_preset() {
    let complete = plan(STAR, &[]).scenario["preset"]["switch"]["arista-7124s"].clone();
    let pairs = complete.as_object().expect("a table").iter();
    let pairs: Vec<String> = pairs.map(|(k, v)| format!("{k} = {}", inline(v))).collect();
    let table = format!("network.switch={{ {} }}", pairs.join(", "));
    assert_eq!(plan(STAR, &[&table]).runs, plan(STAR, &[]).runs);
    let named = plan(STAR, &[&table, "network.switch=cisco-nexus-5010"]);
    assert_eq!(named.runs[0].network.switches[0].config.ports, 26);
}

#[test]
fn what_is_wrong_in_an_overlay_is_told_with_its_name() {
    let files = [
        ("typo.toml", "[workload]\nserverz = 2\n"),
        ("broken.toml", "[workload\n"),
        ("nested.toml", "overlay = \"typo.toml\"\n"),
    ];
    let folder = folder("wrong-overlays", &files);
    let find = |overlay: &str| {
        let text = format!("overlay = [{overlay:?}]\n{STAR}");
        let found = Plan::from_toml(&text, "s.toml", &[], Some(&folder)).expect_err("unsound");
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].to_string()
    };
    assert!(find("typo.toml").ends_with(
        "typo.toml:2:1: workload.serverz: there is no key \"serverz\" here; did you mean \"servers\"?"
    ));
    assert!(find("broken.toml").contains("broken.toml:1:10: this is not TOML"));
    assert!(find("nested.toml").contains("overlay[0]: \"nested.toml\" names overlays of its own"));
    assert!(find("none.toml").starts_with("s.toml:1:12: overlay[0]: "));
}

#[test]
fn a_scenario_without_a_stack_has_today_s() {
    let bare = STAR.replace("[stack]\npreset = \"linux-2.6.18\"\n", "");
    assert_ne!(bare, STAR);
    let named = plan(STAR, &["stack.preset=linux-7.2"]);
    assert_eq!(plan(&bare, &[]).runs[0].network, named.runs[0].network);
    // What a table without a preset says is laid over it.
    let over = plan(&format!("{bare}[stack]\nrto_min = \"5ms\"\n"), &[]);
    let stack = &over.runs[0].network.hosts[0].stack;
    assert_eq!(
        (stack.rto_min.to_string().as_str(), stack.hz),
        ("5ms", 1000)
    );
}

#[test]
fn sysctls_with_their_unit_in_the_name_are_the_profiles_values() {
    let text = STAR.replace(
        "preset = \"linux-2.6.18\"",
        "preset = \"linux-2.6.18\"\ntcp_rto_min_us = 5000\ntcp_rto_max_ms = 60000",
    );
    let made = plan(&text, &[]);
    let stack = &made.runs[0].network.hosts[0].stack;
    assert_eq!(stack.rto_min, Duration::from_ms(5));
    assert_eq!(stack.rto_max, Duration::from_secs(60));
    let over = plan(&text, &["stack.tcp_rto_min_us=7000"]);
    assert_eq!(
        over.runs[0].network.hosts[0].stack.rto_min,
        Duration::from_ms(7)
    );
}
