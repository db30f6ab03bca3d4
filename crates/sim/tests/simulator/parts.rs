//! One run on several threads gives what it gives on one, to the last bit.

use proptest::prelude::*;
use tailback_scenario::{Plan, Run};
use tailback_sim::{Control, RunOutcome, Table, simulate_on, why_whole};

/// A fat-tree of 16 hosts with little memory, so that frames are dropped, and marked.
const FAT_TREE: &str = r#"
name = "fat-tree"
[network]
topology = "fat-tree"
k = 4
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
[network.switch]
ports = 4
forwarding = "store-and-forward"
latency = "0ns"
marking = { kind = "off" }
[network.switch.buffer]
kind = "shared"
shared = "16kB"
segment = "1B"
rx_private = "0B"
tx_private = "0B"
tx_limit = { kind = "dynamic", alpha = 1.0 }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-7.2"
[workload]
kind = "flows"
load = 0.6
sizes = { kind = "pareto", least = "3kB", most = "3MB", shape = 1.1 }
duration = "400us"
drain = "300ms"
"#;

/// Two stars joined by a long link: windows as long as that.
const TWO_STARS: &str = r#"
name = "two-stars"
[network]
topology = "dumbbell"
pairs = 4
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
trunk = [{ rate = "1Gbit", delay = "5ms", mtu = "1500B" }]
[network.switch]
preset = "arista-7124s"
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-2.6.18"
[workload]
kind = "bulk"
pairs = { kind = "across", pairs = 4 }
duration = "400ms"
size = "2MB"
"#;

fn planned(text: &str, overrides: &[&str]) -> Run {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let plan = Plan::from_toml(text, "test.toml", &overrides, None).expect("a good scenario");
    plan.runs[0].clone()
}

fn on(threads: usize, run: &Run) -> RunOutcome {
    simulate_on(threads, run, &Control::default()).expect("a run that ends and adds up")
}

/// What does not depend on the number of parts.
fn course(outcome: &RunOutcome) -> impl PartialEq + std::fmt::Debug + '_ {
    let RunOutcome {
        tables,
        hops,
        simulated,
        trajectory,
        ..
    } = outcome;
    (tables, hops, simulated, trajectory)
}

fn assert_same_on(threads: &[usize], run: &Run) -> RunOutcome {
    let alone = on(1, run);
    assert_eq!(alone.parts, 1);
    for threads in threads {
        let together = on(*threads, run);
        assert_eq!(together.parts, *threads, "the run was cut");
        assert_eq!(course(&alone), course(&together), "on {threads} threads");
    }
    alone
}

#[test]
fn a_fat_tree_with_drops_is_the_same_on_one_two_three_and_four_threads() {
    let outcome = assert_same_on(&[2, 3, 4], &planned(FAT_TREE, &[]));
    let drops = outcome.tables.iter().find(|table| table.name == "drops");
    assert!(drops.is_some_and(|table| table.rows() > 0), "{drops:?}");
}

#[test]
fn a_leaf_spine_network_with_drops_is_the_same_on_two_and_four_threads() {
    let fabric = FAT_TREE.replace(
        "topology = \"fat-tree\"\nk = 4",
        "topology = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts = 4",
    );
    let outcome = assert_same_on(
        &[2, 4],
        &planned(&fabric, &["network.switch.ports=6", "network.clock_ppm=20"]),
    );
    let drops = outcome.tables.iter().find(|table| table.name == "drops");
    assert!(drops.is_some_and(|table| table.rows() > 0), "{drops:?}");
}

#[test]
fn switches_that_choose_between_paths_do_so_alike_in_parts() {
    for rule in [
        r#"{ kind = "packet" }"#,
        r#"{ kind = "packet", samples = 2, memory = 1 }"#,
        r#"{ kind = "round-robin" }"#,
        r#"{ kind = "flowlet", gap = "5us", samples = 2, entries = 8 }"#,
    ] {
        let rule = format!("network.switch.multipath={rule}");
        assert_same_on(&[2, 4], &planned(FAT_TREE, &[&rule]));
    }
}

#[test]
fn routes_change_in_all_parts_at_one_time() {
    let down = |from: &str, until: &str| {
        format!("impairment = {{ outages = [{{ from = \"{from}\", until = \"{until}\" }}] }}")
    };
    let except = format!(
        "network.except=[{{ ends = [\"aggregation0\", \"core0\"], {} }}, {{ ends = [\"edge3\", \"aggregation2\"], {} }}]",
        down("50us", "300us"),
        down("100us", "5ms")
    );
    for reroute in [
        "{ local = \"10us\", everywhere = \"80us\" }",
        "{ local = \"0s\" }",
        "{ everywhere = \"7us\" }",
    ] {
        let reroute = format!("network.reroute={reroute}");
        assert_same_on(&[2, 4], &planned(FAT_TREE, &[&except, &reroute]));
        for rule in [
            r#"{ kind = "packet", samples = 2, memory = 1 }"#,
            r#"{ kind = "round-robin" }"#,
            r#"{ kind = "flowlet", gap = "5us" }"#,
            r#"{ kind = "flow", resilient = true }"#,
        ] {
            let rule = format!("network.switch.multipath={rule}");
            assert_same_on(&[2, 4], &planned(FAT_TREE, &[&except, &reroute, &rule]));
        }
    }
}

#[test]
fn windows_are_as_long_as_the_link_that_is_cut() {
    assert_same_on(&[2], &planned(TWO_STARS, &[]));
}

#[test]
fn hosts_and_switches_with_clocks_of_their_own_are_the_same_in_parts() {
    for clock_ppm in ["network.clock_ppm=20", "network.clock_ppm=1000"] {
        assert_same_on(&[2, 3, 4], &planned(FAT_TREE, &[clock_ppm]));
        assert_same_on(&[2], &planned(TWO_STARS, &[clock_ppm]));
    }
}

/// Hosts that poll, of one receive queue and of several, and such as have several and take each frame alone.
const HOSTS: [&[&str]; 3] = [
    &["host.preset=\"uml-virtio\""],
    &["host.preset=\"server-25g\""],
    &["host.preset=\"server-25g\"", "host.gro=false"],
];

#[test]
fn hosts_that_poll_and_cards_with_several_queues_are_the_same_in_parts() {
    for host in HOSTS {
        let fast = [host, &["network.switch.buffer.shared=\"64kB\""][..]].concat();
        assert_same_on(&[2, 3, 4], &planned(FAT_TREE, &fast));
        assert_same_on(&[2], &planned(TWO_STARS, host));
        // Some frames are on their way to hosts when time is up.
        let endless = ["workload.duration=\"3ms\"", "workload.drain=\"0ms\""];
        let endless = [host, &endless[..]].concat();
        assert_same_on(&[2, 3], &planned(FAT_TREE, &endless));
    }
}

#[test]
fn a_run_whose_time_is_up_stops_where_it_stops_alone() {
    let endless = ["workload.duration=\"3ms\"", "workload.drain=\"0ms\""];
    assert_same_on(&[2, 3], &planned(FAT_TREE, &endless));
}

#[test]
fn flows_that_end_all_at_once_end_the_run_as_they_do_alone() {
    let workload = r#"workload={ kind = "bulk", pairs = { kind = "permutation" }, size = "100kB", duration = "1s", start_within = "0ns" }"#;
    assert_same_on(&[2, 4], &planned(FAT_TREE, &[workload]));
}

#[test]
fn what_looks_at_the_whole_at_once_stays_whole_and_says_why() {
    for (overrides, reason) in [
        (&["record.sample_interval=\"1ms\""][..], "recorded"),
        (
            &["workload={ kind = \"incast\", servers = 4, size = \"100kB\", iterations = 1 }"],
            "workload",
        ),
    ] {
        let run = planned(FAT_TREE, overrides);
        assert!(why_whole(&run).is_some_and(|why| why.contains(reason)));
        let (alone, offered) = (on(1, &run), on(2, &run));
        assert_eq!(offered, alone);
    }
}

#[test]
fn a_run_in_parts_can_be_given_up() {
    let control = Control::default();
    control
        .cancel
        .store(true, std::sync::atomic::Ordering::Relaxed);
    let given_up = simulate_on(2, &planned(FAT_TREE, &[]), &control);
    assert_eq!(given_up, Err(tailback_sim::SimError::Cancelled));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_small_fat_tree_is_the_same_in_parts(
        seed in 0_u32..1000,
        threads in 2_usize..=4,
        (load, memory_kb, delay_ns) in (0.2_f64..0.9, 8_u32..200, 0_u32..3000),
        (latency_ns, cut_through) in (0_u32..1000, any::<bool>()),
        (stack, marks, bulk) in (0_usize..2, any::<bool>(), any::<bool>()),
        host in prop::sample::select([&[&[][..]], &HOSTS[..]].concat()),
        clock_ppm in prop::sample::select(vec![0, 50, 100]),
    ) {
        let forwarding = if cut_through { "cut-through" } else { "store-and-forward" };
        let mut overrides = vec![
            format!("run.seed={seed}"),
            format!("network.clock_ppm={clock_ppm}"),
            format!("network.link.delay=\"{delay_ns}ns\""),
            format!("network.switch.latency=\"{latency_ns}ns\""),
            format!("network.switch.forwarding=\"{forwarding}\""),
            format!("network.switch.buffer.shared=\"{memory_kb}kB\""),
            format!("stack.preset=\"{}\"", ["linux-7.2", "linux-2.6.18"][stack]),
        ];
        if marks {
            overrides.push("stack.tcp_ecn=1".to_owned());
            overrides.push("network.switch.marking={ kind = \"step\", threshold = \"3kB\" }".to_owned());
        }
        overrides.push(if bulk {
            "workload={ kind = \"bulk\", pairs = { kind = \"mesh\" }, size = \"30kB\", duration = \"50ms\" }".to_owned()
        } else {
            format!("workload.load={load}")
        });
        let mut overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        overrides.extend(host);
        let run = planned(FAT_TREE, &overrides);
        let (alone, together) = (on(1, &run), on(threads, &run));
        // Without any delay between switches there is nothing to cut.
        let lengths = delay_ns + latency_ns;
        let flows = alone.tables.iter().find(|t| t.name == "flows").map_or(0, Table::rows);
        prop_assert!(together.parts == threads || (cut_through && lengths == 0) || flows == 0);
        prop_assert_eq!(course(&alone), course(&together));
    }
}
