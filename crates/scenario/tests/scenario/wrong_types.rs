//! Whatever stands at any place of a scenario, the check against the schema finds it out: reading
//! it into types never fails after that, and nothing panics.

use serde_json::Value;
use tailback_scenario::Plan;

use crate::common::{EXPLICIT, STAR, plan};

/// Every place of a value, as an override writes it.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    if !at.is_empty() {
        found.push(at.to_owned());
    }
    let below = |key: &str| {
        let dot = if at.is_empty() { "" } else { "." };
        format!("{at}{dot}{key:?}")
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| places(v, &below(k), found)),
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                places(item, &below(&i.to_string()), found);
            }
        }
        _ => {}
    }
}

#[test]
fn every_place_refuses_what_does_not_fit() {
    let wrong = [
        "-1",
        "0",
        "1.5",
        "1e300",
        "18446744073709551615",
        "true",
        "\"\"",
        "\"x\"",
        "\"-1B\"",
        "\"99999999999TB\"",
        "[]",
        "[1]",
        "[[]]",
        "{}",
        "{ x = 1 }",
        "{ kind = 1 }",
        "{ kind = \"x\" }",
        "{ preset = [] }",
        "{ preset = \"x\" }",
        "1979-05-27",
    ];
    let swept = format!("{STAR}[sweep]\nservers = [1, 2]\nhosts = {{ from = 3, to = 4 }}\n");
    let mut refused = 0;
    for text in [swept.as_str(), EXPLICIT] {
        let mut found = Vec::new();
        places(&plan(text, &[]).scenario, "", &mut found);
        assert!(found.len() > 60, "{}", found.len());
        for place in found {
            for value in wrong {
                let set = vec![format!("{place}={value}")];
                let problems = Plan::check(text, "s.toml", &set, None);
                for problem in &problems {
                    assert!(!problem.path.is_empty(), "{set:?}: {problem}");
                }
                refused += usize::from(!problems.is_empty());
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn a_scenario_cut_short_anywhere_is_refused_or_sound() {
    for (end, _) in EXPLICIT.char_indices() {
        let problems = Plan::check(&EXPLICIT[..end], "s.toml", &[], None);
        for problem in &problems {
            let syntax = problem.reason.starts_with("this is not TOML");
            assert!(syntax || !problem.path.is_empty(), "{end}: {problem}");
        }
        assert!(!problems.is_empty() || end > EXPLICIT.len() - 2, "{end}");
    }
}

#[test]
fn where_a_key_is_said_to_belong_it_does() {
    let tables = [
        "network",
        "network.link",
        "network.switch",
        "host",
        "stack",
        "workload",
        "run",
        "record",
    ];
    let keys = [
        "mtu",
        "rate",
        "buffer",
        "tcp_ecn",
        "rmem_max",
        "rx_ring_descriptors",
        "gro",
        "servers",
        "pairs",
        "seed",
        "pcap",
        "loss",
        "marking",
        "preset",
        "TCP_NODELAY",
        "from",
        "name",
    ];
    let mut told = 0;
    for table in tables {
        for key in keys {
            for problem in Plan::check(STAR, "s.toml", &[format!("{table}.{key}=1")], None) {
                let Some((_, right)) = problem.remedy.split_once("it belongs at ") else {
                    continue;
                };
                for place in right.split(" or ") {
                    let there = Plan::check(STAR, "s.toml", &[format!("{place}=1")], None);
                    let none = there.iter().find(|p| p.reason.contains("there is no key"));
                    assert!(none.is_none(), "{problem}: {none:?}");
                    told += 1;
                }
            }
        }
    }
    assert!(told > 50, "{told}");
}
