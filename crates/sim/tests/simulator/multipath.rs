//! Switches that choose between equal paths: what flows get, and which way frames go.

use tailback_scenario::Plan;

use crate::support::{counts, names, simulated, value};

/// Two leaves of four hosts and four spines, all alike: as much upwards as downwards.
const FABRIC: &str = r#"
name = "fabric"
[network]
topology = "leaf-spine"
leaves = 2
spines = 4
hosts = 4
switch = "plain"
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
[host]
preset = "plain"
[workload]
kind = "bulk"
pairs = { kind = "across", pairs = 4 }
duration = "20ms"
"#;

/// 1448 of 1538 bytes of each of four links.
const FULL_MBPS: f64 = 4.0 * 10_000.0 * 1448.0 / 1538.0;

fn with(rule: &str) -> String {
    format!("network.switch.multipath={rule}")
}

/// Goodput of all four, Mb/s, and what was sent again.
fn gets(overrides: &[&str]) -> (f64, u64) {
    let outcome = simulated(FABRIC, overrides);
    (
        value(&outcome, "goodput_mbps_mean"),
        counts(&outcome, "flows", "retransmissions").iter().sum(),
    )
}

#[test]
fn flows_meet_on_one_uplink_and_frames_that_choose_for_themselves_do_not() {
    let (by_flow, _) = gets(&[]);
    assert!(by_flow < 0.8 * FULL_MBPS, "{by_flow}");
    for rule in [
        r#"{ kind = "packet", samples = 4 }"#,
        r#"{ kind = "packet", samples = 2, memory = 1 }"#,
        r#"{ kind = "round-robin" }"#,
    ] {
        let (all, _) = gets(&[&with(rule)]);
        assert!(all > 0.99 * FULL_MBPS && all <= FULL_MBPS, "{rule}: {all}");
    }
}

#[test]
fn the_better_frames_choose_the_fewer_overtake_each_other() {
    let again = |rule| gets(&[&with(rule)]).1;
    let random = again(r#"{ kind = "packet" }"#);
    let drill = again(r#"{ kind = "packet", samples = 2, memory = 1 }"#);
    let all = again(r#"{ kind = "packet", samples = 4 }"#);
    assert!(
        random > 4 * drill && drill > all,
        "{random}, {drill}, {all}"
    );
}

#[test]
fn a_flow_takes_one_path_and_its_frames_all_if_they_choose() {
    // How many spines its data went through: ports out of them with much more than acknowledgements.
    let used = |overrides: &[&str]| {
        let own = [
            r#"workload.pairs={ kind = "across", pairs = 1 }"#,
            "record.interfaces=10ms",
        ];
        let outcome = simulated(FABRIC, &[&own, overrides].concat());
        let interfaces = names(&outcome, "interfaces", "interface");
        let octets = counts(&outcome, "interfaces", "out_octets");
        let mut busy: Vec<String> = Vec::new();
        for (interface, octets) in interfaces.into_iter().zip(octets) {
            let is_new = interface.starts_with("spine") && !busy.contains(&interface);
            if is_new && octets > 1_000_000 {
                busy.push(interface);
            }
        }
        busy.len()
    };
    assert_eq!(used(&[]), 1);
    assert_eq!(used(&[&with(r#"{ kind = "flowlet", gap = "1s" }"#)]), 1);
    assert_eq!(used(&[&with(r#"{ kind = "packet" }"#)]), 4);
    assert_eq!(used(&[&with(r#"{ kind = "round-robin" }"#)]), 4);
}

#[test]
fn flowlets_keep_their_path_as_long_as_they_last() {
    // A gap longer than the run: what its first frame draws is a flow's path, as with a hash.
    let (whole, again) = gets(&[&with(r#"{ kind = "flowlet", gap = "1s" }"#)]);
    assert!(whole < 0.9 * FULL_MBPS, "{whole}");
    // What was sent again was dropped, not overtaken.
    let outcome = simulated(FABRIC, &[&with(r#"{ kind = "flowlet", gap = "1s" }"#)]);
    let drops = value(&outcome, "switch_drops_mean");
    assert!(again as f64 <= drops, "{again} of {drops}");
}

#[test]
fn one_who_cannot_choose_is_told() {
    let warnings = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        let plan = Plan::from_toml(FABRIC, "fabric.toml", &overrides, None).expect("sound");
        plan.warnings
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    let rule = with(r#"{ kind = "packet" }"#);
    assert_eq!(warnings(&[&rule]), Vec::<String>::new());
    let told = warnings(&[&rule, "network.spines=1"]);
    assert!(told.len() == 1 && told[0].contains("multipath"), "{told:?}");
    assert_eq!(warnings(&["network.spines=1"]), Vec::<String>::new());
}
