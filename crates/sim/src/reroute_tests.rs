//! Who learns what when.

use tailback_scenario::{Plan, Run};

use super::Reroute;
use crate::build;

/// A fabric of two leaves and two spines, and what is the matter with the link from leaf0 to spine0.
fn planned(reroute: &str, outages: &str) -> Run {
    let text = format!(
        r#"
name = "fabric"
[network]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts = 1
switch = "plain"
link = {{ rate = "10Gbit", delay = "1us", mtu = "1500B" }}
reroute = {reroute}
[[network.except]]
ends = ["leaf0", "spine0"]
impairment = {{ direction = "forward", outages = {outages} }}
[host]
preset = "plain"
[workload]
kind = "bulk"
pairs = {{ kind = "across", pairs = 1 }}
duration = "1ms"
"#
    );
    let plan = Plan::from_toml(&text, "fabric", &[], None).expect("a good scenario");
    plan.runs[0].clone()
}

/// In milliseconds when somebody learns something, up to a second, and whether the ends know the link to be down then,
/// and all.
fn learnt(reroute: &str, outages: &str) -> Vec<(u64, bool, bool)> {
    let world = build::world(&planned(reroute, outages), &[]);
    let mut reroute: Reroute = *world.reroute.expect("routes change");
    let mut learnt = Vec::new();
    while reroute.next().as_secs_f64() <= 1.0 {
        let at = reroute.next();
        if reroute.advance() {
            let [local, everywhere] = reroute.watched[0].known;
            learnt.push((at.as_ps() / 1_000_000_000, local, everywhere));
        }
    }
    learnt
}

const ONCE: &str = r#"[{ from = "100ms", until = "500ms" }]"#;

#[test]
fn the_ends_know_first_and_then_all() {
    let both = r#"{ local = "1ms", everywhere = "200ms" }"#;
    assert_eq!(
        learnt(both, ONCE),
        [
            (101, true, false),
            (300, true, true),
            (501, false, true),
            (700, false, false)
        ]
    );
    let local = r#"{ local = "0s" }"#;
    assert_eq!(
        learnt(local, ONCE),
        [(100, true, false), (500, false, false)]
    );
    let everywhere = r#"{ everywhere = "50ms" }"#;
    assert_eq!(
        learnt(everywhere, ONCE),
        [(150, false, true), (550, false, false)]
    );
}

#[test]
fn what_is_shorter_nobody_hears_of() {
    let both = r#"{ local = "10ms", everywhere = "50ms" }"#;
    let outages = r#"[{ from = "100ms", until = "109ms", every = "200ms" }]"#;
    assert_eq!(learnt(both, outages), []);
    // Long enough for the ends, never for all.
    let outages = r#"[{ from = "100ms", until = "130ms", every = "400ms" }]"#;
    assert_eq!(
        learnt(both, outages),
        [
            (110, true, false),
            (140, false, false),
            (510, true, false),
            (540, false, false),
            (910, true, false),
            (940, false, false)
        ]
    );
    // Up for less than all take to hear of it: all go without.
    let outages = r#"[{ from = "100ms", until = "180ms", every = "100ms" }]"#;
    let learnt = learnt(both, outages);
    assert!(learnt.iter().all(|(at, _, all)| *all == (*at >= 150)));
    assert!(learnt.len() > 10);
}

#[test]
fn outages_that_overlap_are_one() {
    let local = r#"{ local = "10ms" }"#;
    let outages = r#"[{ from = "100ms", until = "200ms" }, { from = "150ms", until = "300ms" }]"#;
    assert_eq!(
        learnt(local, outages),
        [(110, true, false), (310, false, false)]
    );
}

#[test]
fn both_ends_know() {
    let world = build::world(&planned(r#"{ local = "0s" }"#, ONCE), &[]);
    let reroute = world.reroute.expect("routes change");
    // leaf0's ports are its host, spine0, spine1; spine0's are the leaves.
    assert_eq!(reroute.watched.len(), 1);
    assert_eq!(reroute.watched[0].ends, [(0, 1), (2, 0)]);
}
