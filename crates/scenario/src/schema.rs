//! The JSON Schema of a scenario file, generated from its types.
//!
//! Where a preset's name may stand for a table, the schema shows editors a name or a table in
//! which nothing is required; the key [`COMPLETE`] beside them points at the definition that
//! the table must meet once the preset is under it.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::model::{HasPresets, Scenario};
use crate::preset::{self, Kind};

/// Names the definition that a table laid over a preset must meet.
pub(crate) const COMPLETE: &str = "x-tailback-complete";

/// Names the sibling whose values an absent table has: what is in it is not looked for by its last name.
pub(crate) const OVER: &str = "x-tailback-over";

const DEFS: &str = "#/$defs/";

/// The JSON Schema of scenario files (draft 2020-12), pretty-printed, with a final newline.
#[must_use]
pub fn schema() -> String {
    let mut text = serde_json::to_string_pretty(root()).expect("a schema is plain JSON");
    text.push('\n');
    text
}

/// The schema as a value.
pub(crate) fn root() -> &'static Value {
    static ROOT: LazyLock<Value> = LazyLock::new(generate);
    &ROOT
}

/// The definition that `reference` (`#/$defs/…`) names.
pub(crate) fn definition(reference: &str) -> &'static Value {
    let name = reference.strip_prefix(DEFS).unwrap_or(reference);
    &root()["$defs"][name]
}

/// The definition a complete table of `kind` must meet.
pub(crate) fn complete(kind: Kind) -> &'static Value {
    definition(kind.definition())
}

/// Stands in the schema for a `T` whose preset may be named instead, or overridden in part.
pub(crate) struct Presettable<T>(PhantomData<T>);

impl<T: HasPresets> JsonSchema for Presettable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Presettable{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let complete = generator.subschema_for::<T>();
        let names: Vec<&str> = preset::built_in(T::KIND).iter().map(|p| p.0).collect();
        json_schema!({
            "anyOf": [
                { "enum": names, "description": "A built-in preset." },
                { "type": "string", "description": "A preset of this scenario's own." },
                { "$ref": format!("{DEFS}{}", overrides_name(&T::schema_name())) },
            ],
            (COMPLETE): complete,
        })
    }
}

fn overrides_name(name: &str) -> String {
    format!("{name}Overrides")
}

/// Names of the files laid over a scenario; one may stand alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Overlays(pub Vec<String>);

impl Overlays {
    /// True without any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl JsonSchema for Overlays {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Overlays".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } },
            ],
            "examples": ["fitted.toml"],
        })
    }
}

/// A scenario's own presets, by kind and name, as they are written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PresetTables(pub Map<String, Value>);

impl PresetTables {
    /// True without any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl JsonSchema for PresetTables {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PresetTables".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let kinds: Map<String, Value> = Kind::ALL
            .iter()
            .map(|kind| {
                let table = format!("{DEFS}{}", overrides_name(kind.definition()));
                (
                    kind.name().to_owned(),
                    json!({ "type": "object", "additionalProperties": { "$ref": table } }),
                )
            })
            .collect();
        json_schema!({
            "type": "object",
            "properties": kinds,
            "additionalProperties": false,
        })
    }
}

fn generate() -> Value {
    let schema = schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Scenario>();
    let mut root = schema.to_value();
    plain_text(&mut root);
    without_null(&mut root);
    let Some(defs) = root.get("$defs").and_then(Value::as_object).cloned() else {
        return root;
    };
    let mut relaxed = Map::new();
    for kind in Kind::ALL {
        relax_definition(kind.definition(), &defs, &mut relaxed);
        let table = &mut relaxed[&overrides_name(kind.definition())];
        let names: Vec<&str> = preset::built_in(*kind).iter().map(|p| p.0).collect();
        table["properties"]["preset"] = json!({
            "description": "The preset that this table is laid over.",
            "type": "string",
            "examples": names,
        });
    }
    root["$defs"]
        .as_object_mut()
        .expect("definitions are an object")
        .extend(relaxed);
    root
}

/// Copies a definition, and those it refers to, with nothing required.
fn relax_definition(name: &str, defs: &Map<String, Value>, relaxed: &mut Map<String, Value>) {
    let new_name = overrides_name(name);
    if relaxed.contains_key(&new_name) {
        return;
    }
    let mut copy = defs[name].clone();
    relaxed.insert(new_name.clone(), Value::Null);
    relax(&mut copy, defs, relaxed);
    relaxed.insert(new_name, copy);
}

fn relax(node: &mut Value, defs: &Map<String, Value>, relaxed: &mut Map<String, Value>) {
    match node {
        Value::Object(map) => {
            if map.contains_key("properties") {
                map.shift_remove("required");
            }
            // A table without its `kind` may be part of several.
            if let Some(branches) = map.shift_remove("oneOf") {
                map.insert("anyOf".to_owned(), branches);
            }
            if let Some(Value::String(reference)) = map.get_mut("$ref") {
                let name = reference.strip_prefix(DEFS).unwrap_or(reference).to_owned();
                *reference = format!("{DEFS}{}", overrides_name(&name));
                relax_definition(&name, defs, relaxed);
            }
            for value in map.values_mut() {
                relax(value, defs, relaxed);
            }
        }
        Value::Array(items) => {
            for item in items {
                relax(item, defs, relaxed);
            }
        }
        _ => {}
    }
}

/// Makes descriptions running text: no line breaks within a paragraph, no links of rustdoc.
fn plain_text(node: &mut Value) {
    match node {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "description" => {
                        *text = text
                            .replace("\n\n", "\u{1}")
                            .replace('\n', " ")
                            .replace('\u{1}', "\n\n")
                            .replace("[`", "`")
                            .replace("`]", "`");
                    }
                    value => plain_text(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(plain_text),
        _ => {}
    }
}

/// Takes out what optional fields bring along: TOML has no null, a key is left out instead.
fn without_null(node: &mut Value) {
    let Value::Object(map) = node else {
        if let Value::Array(items) = node {
            items.iter_mut().for_each(without_null);
        }
        return;
    };
    if map.get("default") == Some(&Value::Null) {
        map.shift_remove("default");
    }
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|t| t != "null");
        if let [one] = types.as_slice() {
            map["type"] = one.clone();
        }
    }
    if let Some(Value::Array(branches)) = map.get_mut("anyOf") {
        branches.retain(|b| b["type"] != "null");
        if let [Value::Object(one)] = branches.as_slice() {
            let one = one.clone();
            map.shift_remove("anyOf");
            for (key, value) in one {
                map.entry(key).or_insert(value);
            }
        }
    }
    map.values_mut().for_each(without_null);
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
