//! VLANs of links, and hosts that share none.

use crate::common::problem;
use tailback_scenario::Plan;

/// Two hosts at each of two switches; `trunk` is what the link between those says of itself.
fn pairs(trunk: &str, list: &str) -> String {
    let host = |name: &str, switch: &str, vlan: u16| {
        format!(
            "[[network.link]]\nends = [\"{name}\", \"{switch}\"]\nrate = \"1Gbit\"\ndelay = \"1us\"\n\
             mtu = \"1500B\"\nvlans = [{vlan}]\n"
        )
    };
    format!(
        r#"name = "vlans"
host = "server-25g"
stack = "linux-2.6.18"
[network]
topology = "explicit"
host = [{{ name = "a" }}, {{ name = "b" }}, {{ name = "c" }}, {{ name = "d" }}]
switch = [
    {{ name = "left", model = "arista-7124s" }},
    {{ name = "right", model = "arista-7124s" }},
]
{}{}{}{}
[[network.link]]
ends = ["left", "right"]
rate = "10Gbit"
delay = "1us"
mtu = "1500B"
{trunk}
[workload]
kind = "bulk"
duration = "10ms"
pairs = {{ kind = "listed", list = [{list}] }}
"#,
        host("a", "left", 10),
        host("b", "left", 20),
        host("c", "right", 10),
        host("d", "right", 20),
    )
}

const ALIKE: &str = r#"["a", "c"], ["b", "d"]"#;
const TAGGED: &str = "vlans = [10, 20]\nframing = \"vlan\"";

#[test]
fn hosts_of_a_vlan_talk_over_a_tagged_trunk() {
    let plan = Plan::from_toml(&pairs(TAGGED, ALIKE), "test", &[], None).expect("sound");
    assert_eq!(plan.runs[0].network.vlans_of(1), [20]);
}

#[test]
fn hosts_that_share_no_vlan_are_refused() {
    let found = problem(&pairs(TAGGED, r#"["a", "d"]"#), &[]);
    assert!(
        found.contains(
            r#"hosts "a" (VLANs 10) and "d" (VLANs 20) exchange frames, and they share none"#
        ),
        "{found}"
    );
    assert!(found.contains("a VLAN that the links of both"), "{found}");
}

#[test]
fn a_trunk_that_does_not_carry_the_vlan_is_found() {
    let found = problem(&pairs("vlans = [10]", ALIKE), &[]);
    assert!(
        found.contains("no path of links carries what they share"),
        "{found}"
    );
    assert!(found.contains(r#""b" (VLANs 20)"#), "{found}");
}

#[test]
fn frames_of_several_vlans_need_a_tag_and_identifiers_a_range() {
    let found = problem(&pairs("vlans = [10, 20]", ALIKE), &[]);
    assert!(found.contains("told apart by a tag"), "{found}");
    let found = problem(&pairs("vlans = [4095]", ALIKE), &[]);
    assert!(found.contains("4095 is no VLAN's identifier"), "{found}");
}

#[test]
fn any_two_hosts_may_talk_where_the_workload_names_none() {
    let text = pairs(TAGGED, ALIKE).replace(
        "kind = \"listed\", list = [[\"a\", \"c\"], [\"b\", \"d\"]]",
        "kind = \"mesh\"",
    );
    let found = problem(&text, &[]);
    assert!(found.contains("they share none"), "{found}");
}
