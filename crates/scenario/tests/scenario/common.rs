//! A small scenario to take apart, and how to say what was found.

use serde_json::Value;
use tailback_scenario::{Plan, Problem};

/// A sound scenario of 4 hosts.
pub const STAR: &str = r#"name = "small"

[network]
topology = "star"
switch = "arista-7124s"
hosts = 4
link = { rate = "10Gbit", delay = "25ns", mtu = "9000B" }

[host]
preset = "rhel-5.4-x5540-ne020"

[stack]
preset = "linux-2.6.18"

[workload]
kind = "incast"
servers = 3
size = "8MB"
iterations = 10
"#;

/// Two switches with a pair of links between them, two hosts at each.
pub const EXPLICIT: &str = r#"name = "pairs"
host = "rhel-5.4-x5540-ne020"
stack = "linux-2.6.18"

[network]
topology = "explicit"

[[network.host]]
name = "a1"

[[network.host]]
name = "a2"
stack = { rto_min = "300ms" }

[[network.host]]
name = "b1"
host = { rx_ring_descriptors = 100 }

[[network.switch]]
name = "left"
model = "arista-7124s"

[[network.switch]]
name = "right"
model = { preset = "cisco-nexus-5010", latency = "1us" }

[[network.link]]
ends = ["a1", "left"]
rate = "10Gbit"
delay = "25ns"
mtu = "9000B"

[[network.link]]
ends = ["left", "a2"]
rate = "10Gbit"
delay = "25ns"
mtu = "1500B"

[[network.link]]
ends = ["left", "right"]
rate = "40Gbit"
delay = "5us"
mtu = "9000B"
loss = 0.001

[[network.link]]
ends = ["left", "right"]
rate = "40Gbit"
delay = "5us"
mtu = "9000B"

[[network.link]]
ends = ["b1", "right"]
rate = "10Gbit"
delay = "25ns"
mtu = "9000B"

[workload]
kind = "incast"
servers = 2
size = "1MB"
iterations = 5
"#;

/// The plan of a sound scenario.
#[track_caller]
pub fn plan(text: &str, overrides: &[&str]) -> Plan {
    match read(text, overrides) {
        Ok(plan) => plan,
        Err(problems) => panic!("{}", show(&problems).join("\n")),
    }
}

/// All problems of an unsound scenario, as they are printed.
#[track_caller]
pub fn problems(text: &str, overrides: &[&str]) -> Vec<String> {
    match read(text, overrides) {
        Ok(_) => panic!("nothing was found wrong"),
        Err(problems) => show(&problems),
    }
}

/// The one problem of an unsound scenario.
#[track_caller]
pub fn problem(text: &str, overrides: &[&str]) -> String {
    let mut found = problems(text, overrides);
    assert_eq!(found.len(), 1, "{}", found.join("\n"));
    found.remove(0)
}

/// What is told of a sound scenario that may not be meant so.
#[track_caller]
pub fn warnings(text: &str, overrides: &[&str]) -> Vec<String> {
    let plan = plan(text, overrides);
    let reasons = plan.warnings.iter().map(|warning| warning.reason.clone());
    reasons.collect()
}

/// `EXPLICIT` with one text replaced by another.
#[track_caller]
pub fn explicit(from: &str, to: &str) -> String {
    assert!(EXPLICIT.contains(from), "{from}");
    EXPLICIT.replacen(from, to, 1)
}

/// The one problem of `STAR` with these values says this.
#[track_caller]
pub fn said(set: &[&str], expected: &str) {
    let found = problem(STAR, set);
    assert!(found.contains(expected), "{found}");
}

fn read(text: &str, overrides: &[&str]) -> Result<Plan, Vec<Problem>> {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    Plan::from_toml(text, "s.toml", &overrides, None)
}

fn show(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// TOML of a JSON value, as an inline value.
pub fn inline(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let pairs: Vec<String> = map
                .iter()
                .map(|(k, v)| format!("{k:?} = {}", inline(v)))
                .collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Number(n) => n.to_string(),
        Value::String(text) => Value::from(text.as_str()).to_string(),
        other => other.to_string(),
    }
}
