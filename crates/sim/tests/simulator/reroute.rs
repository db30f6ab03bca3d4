//! Links that go down, and switches that take other ways.

use tailback_scenario::Plan;

use crate::support::{counts, names, simulated, value};

/// Two leaves of four hosts and four spines; one uplink of leaf0 is down from 20 ms on.
const FABRIC: &str = r#"
name = "fabric"
[network]
topology = "leaf-spine"
leaves = 2
spines = 4
hosts = 4
switch = { preset = "plain", multipath = { kind = "packet", samples = 4 } }
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
[[network.except]]
ends = ["leaf0", "spine0"]
impairment = { outages = [{ from = "20ms", until = "5s" }] }
[host]
preset = "plain"
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["host0", "host4"], ["host1", "host5"], ["host6", "host2"], ["host7", "host3"]] }
omit = "700ms"
duration = "300ms"
"#;

/// 1448 of 1538 bytes, less what acknowledgements the other way take, of a link.
const FULL_MBPS: f64 = 1000.0 * 1448.0 / 1538.0;

/// Goodput of all once the link is down, Mb/s.
fn gets(reroute: &str) -> f64 {
    value(
        &simulated(FABRIC, &[&format!("network.reroute={reroute}")]),
        "goodput_mbps_mean",
    )
}

#[test]
fn what_nobody_knows_of_costs_every_flow() {
    let outcome = simulated(FABRIC, &[]);
    let all = value(&outcome, "goodput_mbps_mean");
    // A frame in four is lost, and every flow has some there.
    assert!(all < 0.05 * 4.0 * FULL_MBPS, "{all}");
}

#[test]
fn the_ends_alone_mend_what_leaves_from_them() {
    let outcome = simulated(FABRIC, &[r#"network.reroute={ local = "1ms" }"#]);
    let from = |leaf: [&str; 2]| -> u64 {
        let sources = names(&outcome, "flows", "source").into_iter();
        let bytes = sources.zip(counts(&outcome, "flows", "received_bytes"));
        let own = bytes.filter(|(source, _)| leaf.contains(&source.as_str()));
        own.map(|(_, bytes)| bytes).sum()
    };
    // Data from leaf0 gets through; of what comes to it a quarter still goes to the dead end.
    let [outwards, inwards] = [from(["host0", "host1"]), from(["host6", "host7"])];
    let full = FULL_MBPS * 1e6 / 8.0 * 0.3;
    assert!(outwards as f64 > 0.97 * 2.0 * full, "{outwards}");
    assert!((inwards as f64) < 0.01 * 2.0 * full, "{inwards}");
}

#[test]
fn once_all_know_three_uplinks_carry_what_four_did() {
    let all = gets(r#"{ local = "1ms", everywhere = "5ms" }"#);
    // Two flows each way need two uplinks.
    assert!(all > 0.97 * 4.0 * FULL_MBPS, "{all}");
}

#[test]
fn before_they_know_it_is_as_if_they_never_did() {
    let never = value(&simulated(FABRIC, &[]), "goodput_mbps_mean");
    let late = gets(r#"{ local = "2s", everywhere = "2s" }"#);
    assert!((never - late).abs() < 1e-9, "{never}, {late}");
}

#[test]
fn one_who_has_nothing_to_route_around_is_told_and_one_who_never_learns_is_refused() {
    let told = |overrides: &[&str]| -> Result<Vec<String>, Vec<String>> {
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        match Plan::from_toml(FABRIC, "fabric.toml", &overrides, None) {
            Ok(plan) => Ok(plan.warnings.iter().map(ToString::to_string).collect()),
            Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
        }
    };
    let reroute = r#"network.reroute={ local = "1ms" }"#;
    assert_eq!(told(&[reroute]), Ok(Vec::new()));
    let warnings = told(&[reroute, "network.except=[]"]).expect("it is sound");
    assert!(
        warnings.len() == 1 && warnings[0].contains("is ever down"),
        "{warnings:?}"
    );
    let resilient = r#"network.switch.multipath={ kind = "flow", resilient = true }"#;
    assert_eq!(told(&[reroute, resilient]), Ok(Vec::new()));
    let warnings = told(&[resilient]).expect("it is sound");
    assert!(
        warnings.len() == 1 && warnings[0].contains("multipath.resilient"),
        "{warnings:?}"
    );
    let never = told(&["network.reroute={}"]).expect_err("nobody learns");
    assert!(never[0].contains("nobody ever learns"), "{never:?}");
    let reversed = r#"network.reroute={ local = "2ms", everywhere = "1ms" }"#;
    let reversed = told(&[reversed]).expect_err("all before the ends");
    assert!(reversed[0].contains("after 1ms"), "{reversed:?}");
}
