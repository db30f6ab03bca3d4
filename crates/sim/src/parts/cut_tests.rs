//! Where networks are cut.

use tailback_scenario::Plan;
use tailback_units::Duration;

use super::Cut;
use crate::build;

fn cut(network: &str, parts: usize) -> Option<Cut> {
    let cuts_through = r#"switch = { preset = "arista-7124s", ports = 8, latency = "500ns" }"#;
    let own = network.contains("switch = ");
    let switch = if own { "" } else { cuts_through };
    let text = format!(
        r#"
name = "cut"
[network]
{network}
{switch}
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-7.2"
[workload]
kind = "bulk"
pairs = {{ kind = "permutation" }}
duration = "1ms"
"#
    );
    let plan = Plan::from_toml(&text, "cut.toml", &[], None).expect("a good scenario");
    Cut::new(&build::world(&plan.runs[0], &[]), parts)
}

const FAT_TREE: &str = r#"
topology = "fat-tree"
k = 8
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }"#;

/// Three switches in a row: a short link, then a long one.
const ROW: &str = r#"
topology = "dumbbell"
pairs = 4
link = { rate = "10Gbit", delay = "100ns", mtu = "1500B" }
trunk = [
  { rate = "10Gbit", delay = "2us", mtu = "1500B" },
  { rate = "10Gbit", delay = "7us", mtu = "1500B" },
]"#;

fn count(owners: &[u8], part: u8) -> usize {
    owners.iter().filter(|owner| **owner == part).count()
}

#[test]
fn a_fat_tree_is_cut_into_equal_parts_of_whole_pods() {
    for parts in [2, 4] {
        let cut = cut(FAT_TREE, parts).expect("it can be cut");
        assert_eq!(cut.parts(), parts);
        for part in 0..parts as u8 {
            assert_eq!(count(&cut.hosts, part), 128 / parts);
            assert_eq!(count(&cut.switches, part), 80 / parts);
        }
        for pod in cut.hosts.chunks(16) {
            assert!(pod.iter().all(|owner| *owner == pod[0]), "{:?}", cut.hosts);
        }
    }
}

#[test]
fn a_leaf_spine_network_is_cut_between_leaves() {
    let fabric = r#"
topology = "leaf-spine"
leaves = 4
spines = 2
hosts = 4
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }"#;
    let cut = cut(fabric, 2).expect("it can be cut");
    assert_eq!([count(&cut.hosts, 0), count(&cut.hosts, 1)], [8, 8]);
    for leaf in cut.hosts.chunks(4) {
        assert!(
            leaf.iter().all(|owner| *owner == leaf[0]),
            "{:?}",
            cut.hosts
        );
    }
}

#[test]
fn clocks_that_differ_do_not_change_where_it_is_cut() {
    let stored = r#"
switch = { preset = "arista-7124s", ports = 8, forwarding = "store-and-forward" }"#;
    let alike = cut(&format!("{FAT_TREE}{stored}"), 4).expect("it can be cut");
    let off = cut(&format!("{FAT_TREE}{stored}\nclock_ppm = 1000"), 4).expect("it can be cut");
    assert_eq!((&alike.hosts, &alike.switches), (&off.hosts, &off.switches));
    // The fastest clock's shortest frame is the window's.
    assert!(off.window() < alike.window());
    assert!(off.window() * 1001 > alike.window() * 1000 - Duration::from_ns(2));
}

#[test]
fn the_longest_link_is_cut() {
    let cut = cut(ROW, 2).expect("it can be cut");
    assert_eq!(cut.switches[0], cut.switches[1]);
    assert_ne!(cut.switches[1], cut.switches[2]);
    // These switches cut through: all they add is their latency.
    assert_eq!(cut.window(), Duration::from_ns(7_500));
}

#[test]
fn hosts_on_one_switch_are_not_parted() {
    let star = r#"
topology = "star"
hosts = 8
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }"#;
    assert!(cut(star, 2).is_none());
}
