//! The scenarios that come with Tailback are sound, and mean what the study says.

use tailback_scenario::{BUILT_IN, Plan};

fn plan(name: &str) -> Plan {
    let (_, path, text) = BUILT_IN.iter().find(|b| b.0 == name).expect("built in");
    match Plan::from_toml(text, path, &[], None) {
        Ok(plan) => plan,
        Err(problems) => {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("{}", lines.join("\n"))
        }
    }
}

#[test]
fn every_one_is_sound_and_named_as_its_file() {
    for (name, path, _) in BUILT_IN {
        let plan = plan(name);
        assert_eq!(plan.name, *name);
        assert!(path.ends_with(&format!("/{name}.toml")), "{path}");
        assert_eq!(plan.warnings, []);
    }
}
