//! Presets: switches, hosts and TCP stacks by name.
//!
//! A built-in preset is a TOML file in which every value names its source. A scenario adds its
//! own under `[preset.switch.NAME]`, `[preset.host.NAME]` and `[preset.stack.NAME]`; one that has
//! a built-in preset's name is laid over that.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::check;
use crate::document::{self, Document};
use crate::nearest;
use crate::path;
use crate::problem::Finding;
use crate::schema;

/// What a preset is a preset of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A switch.
    Switch,
    /// A host's machine.
    Host,
    /// A TCP stack.
    Stack,
}

impl Kind {
    /// All kinds.
    pub const ALL: &[Kind] = &[Kind::Switch, Kind::Host, Kind::Stack];

    /// Its name in files: `switch`, `host`, `stack`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Switch => "switch",
            Kind::Host => "host",
            Kind::Stack => "stack",
        }
    }

    /// What a complete one must meet is in this definition of the schema.
    pub(crate) fn of_definition(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|k| k.definition() == name)
    }

    /// The schema's definition of a complete one.
    pub(crate) const fn definition(self) -> &'static str {
        match self {
            Kind::Switch => "SwitchConfig",
            Kind::Host => "HostConfig",
            Kind::Stack => "Stack",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const SWITCHES: &[(&str, &str)] = &[
    (
        "arista-7124s",
        include_str!("../presets/switches/arista-7124s.toml"),
    ),
    (
        "aruba-25g",
        include_str!("../presets/switches/aruba-25g.toml"),
    ),
    (
        "cisco-nexus-5010",
        include_str!("../presets/switches/cisco-nexus-5010.toml"),
    ),
    ("plain", include_str!("../presets/switches/plain.toml")),
    (
        "plain-queued",
        include_str!("../presets/switches/plain-queued.toml"),
    ),
];

const HOSTS: &[(&str, &str)] = &[
    (
        "das2-p3-gbe",
        include_str!("../presets/hosts/das2-p3-gbe.toml"),
    ),
    ("ideal", include_str!("../presets/hosts/ideal.toml")),
    ("plain", include_str!("../presets/hosts/plain.toml")),
    (
        "rhel-5.4-x5540-ne020",
        include_str!("../presets/hosts/rhel-5.4-x5540-ne020.toml"),
    ),
    (
        "server-25g",
        include_str!("../presets/hosts/server-25g.toml"),
    ),
    (
        "server-25g-machine",
        include_str!("../presets/hosts/server-25g-machine.toml"),
    ),
    (
        "uml-virtio",
        include_str!("../presets/hosts/uml-virtio.toml"),
    ),
    (
        "xeon-e7330-ixgbe",
        include_str!("../presets/hosts/xeon-e7330-ixgbe.toml"),
    ),
];

/// Names and TOML texts of the built-in presets of a kind.
#[must_use]
pub fn built_in(kind: Kind) -> &'static [(&'static str, &'static str)] {
    match kind {
        Kind::Switch => SWITCHES,
        Kind::Host => HOSTS,
        Kind::Stack => tailback_tcp::PRESETS,
    }
}

fn built_in_value(kind: Kind, name: &str) -> Option<Value> {
    let (name, text) = built_in(kind).iter().find(|(n, _)| *n == name)?;
    let document = Document::parse(text, name).expect("built-in presets are TOML: see the tests");
    Some(document.root)
}

/// All presets of a scenario, built in and its own, each complete.
#[derive(Debug)]
pub(crate) struct Presets {
    /// `None` for one of the scenario's own in which something is wrong.
    complete: BTreeMap<(Kind, String), Option<Value>>,
}

impl Presets {
    /// The built-in presets and those in `document`'s `preset` tables, which are checked.
    pub fn new(document: &Document) -> (Presets, Vec<Finding>) {
        let mut findings = Vec::new();
        let mut presets = Presets {
            complete: BTreeMap::new(),
        };
        for kind in Kind::ALL {
            for (name, _) in built_in(*kind) {
                let value = built_in_value(*kind, name);
                presets.complete.insert((*kind, (*name).to_owned()), value);
            }
        }
        let Some(own) = document.root.get("preset") else {
            return (presets, findings);
        };
        let Value::Object(own) = own else {
            findings.push(not_a_table("preset", "tables such as [preset.switch.NAME]"));
            return (presets, findings);
        };
        for (key, tables) in own {
            let at = path::join("preset", key);
            let Some(kind) = Kind::ALL.iter().find(|k| k.name() == key) else {
                let names = Kind::ALL.iter().map(|k| k.name());
                findings.push(
                    Finding::new(
                        at,
                        format!("there are no presets of kind {key:?}"),
                        nearest::suggest(key, names),
                    )
                    .at_key(),
                );
                continue;
            };
            let Value::Object(tables) = tables else {
                findings.push(not_a_table(&at, "tables such as [preset.switch.NAME]"));
                continue;
            };
            for name in tables.keys() {
                let value = presets.assemble(*kind, name, tables, &mut findings);
                presets.complete.insert((*kind, name.clone()), value);
            }
        }
        (presets, findings)
    }

    /// One of the scenario's own presets over what it begins with; `None` if that went wrong.
    fn assemble(
        &self,
        kind: Kind,
        name: &str,
        tables: &Map<String, Value>,
        findings: &mut Vec<Finding>,
    ) -> Option<Value> {
        let at = path::join(&format!("preset.{kind}"), name);
        // The tables to lay over one another, the outermost first.
        let mut layers: Vec<(&str, &Map<String, Value>)> = Vec::new();
        let mut next = name;
        let mut base = loop {
            let Some(Value::Object(table)) = tables.get(next) else {
                // Each table is looked at under its own name too: say it once.
                if next == name {
                    findings.push(not_a_table(&at, "a table of values"));
                }
                return None;
            };
            layers.push((next, table));
            let here = path::join(&path::join(&format!("preset.{kind}"), next), "preset");
            match table.get("preset") {
                None => {
                    break built_in_value(kind, next).unwrap_or_else(|| Value::Object(Map::new()));
                }
                Some(Value::String(other)) if other != next && tables.contains_key(other) => {
                    if layers.iter().any(|(n, _)| n == other) {
                        findings.push(Finding::new(
                            here,
                            format!("the presets {name:?} and {next:?} begin with one another"),
                            "begin one of them with a built-in preset",
                        ));
                        return None;
                    }
                    next = other;
                }
                Some(Value::String(other)) => match built_in_value(kind, other) {
                    Some(value) => break value,
                    None => {
                        findings.push(self.unknown(kind, &here, other));
                        return None;
                    }
                },
                Some(_) => {
                    findings.push(Finding::new(
                        here,
                        "a preset is named by a string",
                        format!("one of {}", self.list(kind)),
                    ));
                    return None;
                }
            }
        };
        for (_, table) in layers.into_iter().rev() {
            let mut over = table.clone();
            over.shift_remove("preset");
            document::merge(&mut base, Value::Object(over));
        }
        let wrong = check::check(schema::complete(kind), &base, &at);
        let ok = wrong.is_empty();
        findings.extend(wrong);
        ok.then_some(base)
    }

    /// The preset `name`, complete. `Err` says that there is none; `Ok(None)` that its own table
    /// has been found wrong.
    pub fn get(&self, kind: Kind, name: &str, at: &str) -> Result<Option<&Value>, Finding> {
        match self.complete.get(&(kind, name.to_owned())) {
            Some(value) => Ok(value.as_ref()),
            None => Err(self.unknown(kind, at, name)),
        }
    }

    fn names(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.complete
            .keys()
            .filter(move |(k, _)| *k == kind)
            .map(|(_, name)| name.as_str())
    }

    fn list(&self, kind: Kind) -> String {
        self.names(kind).collect::<Vec<_>>().join(", ")
    }

    fn unknown(&self, kind: Kind, at: &str, name: &str) -> Finding {
        let list = self.list(kind);
        let remedy = match nearest::nearest(name, self.names(kind)) {
            Some(near) => format!("did you mean {near:?}? There are {list}"),
            None => format!("one of {list}"),
        };
        Finding::new(at, format!("there is no {kind} preset {name:?}"), remedy)
    }
}

fn not_a_table(at: &str, right: &str) -> Finding {
    Finding::new(at, "this is not a table", right)
}
