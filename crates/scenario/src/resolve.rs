//! Writes presets and defaults out, so that every value of a scenario is there.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::check;
use crate::document::{self, Document};
use crate::path;
use crate::preset::{Kind, Presets};
use crate::problem::Finding;

/// The hosts of a scenario that says nothing of them: where the network is in question they are never the limit.
pub(crate) const DEFAULT_HOST: &str = "plain";
/// The TCP of a scenario that names none.
pub(crate) const DEFAULT_STACK: &str = "linux-7.2";

/// Replaces every preset's name, and every table that is laid over one, by the complete table.
/// Presets that were used go to `used`. Gives the paths at which that was not possible.
pub(crate) fn presets(
    document: &mut Document,
    presets: &Presets,
    used: &mut BTreeSet<(Kind, String)>,
    findings: &mut Vec<Finding>,
) -> Vec<String> {
    let mut resolver = Resolver {
        presets,
        used,
        findings,
        skip: Vec::new(),
    };
    let root = &mut document.root;
    if let Some(root) = root.as_object_mut() {
        root.entry("host").or_insert_with(|| DEFAULT_HOST.into());
        root.entry("stack").or_insert_with(|| DEFAULT_STACK.into());
    }
    let host = resolver.slot(root.get_mut("host"), Kind::Host, "host", None);
    let today = presets.get(Kind::Stack, DEFAULT_STACK, "stack");
    let today = today.ok().flatten().cloned();
    if let Some(Value::Object(own)) = root.get("stack")
        && !own.contains_key("preset")
        && today.is_some()
    {
        resolver
            .used
            .insert((Kind::Stack, DEFAULT_STACK.to_owned()));
    }
    let stack = root.get_mut("stack");
    let stack = resolver.slot(stack, Kind::Stack, "stack", today.as_ref());
    if let Some(Value::Object(network)) = root.get_mut("network") {
        resolver.network(network, host, stack);
    }
    resolver.skip
}

/// Sysctls of which older kernels have only the constant, or a route's: Linux's name, that of the
/// profile's value, and the unit that Linux's has in its name.
const LINUX_NAMES: [(&str, &str, &str); 2] = [
    ("tcp_rto_min_us", "rto_min", "us"),
    ("tcp_rto_max_ms", "rto_max", "ms"),
];

/// Takes these sysctls for the values they are.
fn take_linux_names(stack: &mut Map<String, Value>) {
    for (linux, name, unit) in LINUX_NAMES {
        if let Some(number) = stack.get(linux).and_then(Value::as_u64) {
            stack.shift_remove(linux);
            stack.insert(name.to_owned(), format!("{number}{unit}").into());
        }
    }
}

struct Resolver<'a> {
    presets: &'a Presets,
    used: &'a mut BTreeSet<(Kind, String)>,
    findings: &'a mut Vec<Finding>,
    skip: Vec<String>,
}

impl Resolver<'_> {
    fn network(
        &mut self,
        network: &mut Map<String, Value>,
        host: Option<Value>,
        stack: Option<Value>,
    ) {
        if let Some(Value::Array(hosts)) = network.get_mut("host") {
            for (i, own) in hosts.iter_mut().enumerate() {
                let at = path::index("network.host", i);
                for (kind, base) in [(Kind::Host, &host), (Kind::Stack, &stack)] {
                    let slot = own.get_mut(kind.name());
                    self.slot(slot, kind, &path::join(&at, kind.name()), base.as_ref());
                }
            }
        }
        match network.get_mut("switch") {
            Some(Value::Array(switches)) => {
                for (i, switch) in switches.iter_mut().enumerate() {
                    let at = format!("network.switch[{i}].model");
                    self.slot(switch.get_mut("model"), Kind::Switch, &at, None);
                }
            }
            switch => {
                let leaf = self.slot(switch, Kind::Switch, "network.switch", None);
                let spine = network.get_mut("spine");
                self.slot(spine, Kind::Switch, "network.spine", leaf.as_ref());
            }
        }
        self.slot(network.get_mut("core"), Kind::Switch, "network.core", None);
    }

    /// Completes the table at `at`, which lies over `base` unless it names a preset.
    fn slot(
        &mut self,
        slot: Option<&mut Value>,
        kind: Kind,
        at: &str,
        base: Option<&Value>,
    ) -> Option<Value> {
        let slot = slot?;
        if let (Kind::Stack, Value::Object(map)) = (kind, &mut *slot) {
            take_linux_names(map);
        }
        let (name, name_at) = match slot {
            Value::String(name) => (Some(name.clone()), at.to_owned()),
            Value::Object(map) => {
                let name_at = path::join(at, "preset");
                match map.shift_remove("preset") {
                    None => (None, name_at),
                    Some(Value::String(name)) => (Some(name), name_at),
                    Some(_) => {
                        let reason = "a preset is named by a string";
                        let remedy = "a preset's name in quotes";
                        self.findings.push(Finding::new(name_at, reason, remedy));
                        self.skip.push(at.to_owned());
                        return None;
                    }
                }
            }
            // The check against the schema says what is wrong.
            _ => return None,
        };
        let mut complete = match &name {
            None => base.cloned().unwrap_or_else(|| Value::Object(Map::new())),
            Some(name) => match self.presets.get(kind, name, &name_at) {
                Ok(Some(value)) => {
                    self.used.insert((kind, name.clone()));
                    value.clone()
                }
                Ok(None) => {
                    self.skip.push(at.to_owned());
                    return None;
                }
                Err(finding) => {
                    self.findings.push(finding);
                    self.skip.push(at.to_owned());
                    return None;
                }
            },
        };
        if slot.is_object() {
            document::merge(&mut complete, slot.take());
        }
        *slot = complete;
        Some(slot.clone())
    }
}

/// Writes the schema's defaults into every table of `value` that lacks them, presets' aside.
pub(crate) fn fill_defaults(node: &Value, value: &mut Value) {
    if node.get(crate::schema::COMPLETE).is_some() {
        return;
    }
    let mut node = check::resolve(node);
    if let Some(Value::Array(branches)) = node.get("oneOf") {
        let Some(tag) = check::tag(branches) else {
            return;
        };
        let kind = value.get(tag).and_then(Value::as_str);
        match branches.iter().find(|b| check::tag_value(b, tag) == kind) {
            Some(branch) => node = branch,
            None => return,
        }
    }
    match value {
        Value::Object(map) => {
            let properties = node.get("properties").and_then(Value::as_object);
            for (key, property) in properties.into_iter().flatten() {
                let default = property.get("default").filter(|d| !d.is_null());
                if let (false, Some(default)) = (map.contains_key(key), default) {
                    map.insert(key.clone(), default.clone());
                }
                if let Some(value) = map.get_mut(key) {
                    fill_defaults(property, value);
                }
            }
        }
        Value::Array(items) => {
            if let Some(node) = node.get("items") {
                for item in items {
                    fill_defaults(node, item);
                }
            }
        }
        _ => {}
    }
}
