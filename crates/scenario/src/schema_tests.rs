use std::collections::BTreeSet;

use serde_json::Value;

use super::{root, schema};

/// The file that editors read, from this crate's folder.
const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../schema/scenario.schema.json"
);

#[test]
fn the_file_for_editors_is_up_to_date() {
    let text = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        text == schema(),
        "schema/scenario.schema.json is not what the types say: write it anew with \
         `cargo run -p tailback-scenario --example schema > schema/scenario.schema.json`"
    );
}

fn walk(node: &Value, visit: &mut impl FnMut(&Value)) {
    visit(node);
    match node {
        Value::Object(map) => map.values().for_each(|v| walk(v, visit)),
        Value::Array(items) => items.iter().for_each(|v| walk(v, visit)),
        _ => {}
    }
}

/// Calls `visit` for each schema in `node`, which is one itself.
fn schemas(node: &Value, visit: &mut impl FnMut(&Value)) {
    visit(node);
    for key in ["properties", "$defs"] {
        let inner = node.get(key).and_then(Value::as_object);
        inner
            .into_iter()
            .flat_map(|m| m.values())
            .for_each(|n| schemas(n, visit));
    }
    for key in ["oneOf", "anyOf"] {
        let inner = node.get(key).and_then(Value::as_array);
        inner.into_iter().flatten().for_each(|n| schemas(n, visit));
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = node.get(key) {
            schemas(inner, visit);
        }
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let defs = &root()["$defs"];
    let mut count = 0;
    walk(root(), &mut |node| {
        if let Some(Value::String(reference)) = node.get("$ref") {
            let name = reference.strip_prefix("#/$defs/").expect("a definition");
            assert!(defs.get(name).is_some_and(Value::is_object), "{reference}");
            count += 1;
        }
    });
    assert!(count > 10, "{count}");
}

#[test]
fn the_check_knows_every_keyword_that_the_schema_uses() {
    // Said by the walk in `check`, or only there to be read. `pattern` is `meaning`'s.
    let known = BTreeSet::from([
        "$schema",
        "$defs",
        "$ref",
        "title",
        "description",
        "examples",
        "default",
        "type",
        "const",
        "enum",
        "format",
        "properties",
        "additionalProperties",
        "required",
        "items",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "minLength",
        "oneOf",
        "anyOf",
        "pattern",
        super::COMPLETE,
        super::OVER,
    ]);
    schemas(root(), &mut |node| {
        for key in node.as_object().into_iter().flat_map(|m| m.keys()) {
            assert!(known.contains(key.as_str()), "{key} in {node}");
        }
        let formats = [
            "tailback-Bytes",
            "tailback-Rate",
            "tailback-Duration",
            "tailback-KernelControl",
            "tailback-OwnName",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "int8",
            "int16",
            "int32",
            "double",
            "uint",
        ];
        if let Some(format) = node.get("format").and_then(Value::as_str) {
            assert!(formats.contains(&format), "{format} in {node}");
        }
        if let (Some(_), Some(_)) = (node.get("$ref"), node.get("properties")) {
            panic!("a reference beside properties is not followed: {node}");
        }
    });
}

#[test]
fn every_table_says_which_keys_it_has() {
    schemas(root(), &mut |node| {
        if node.get("properties").is_some() {
            assert!(node.get("additionalProperties").is_some(), "{node}");
        }
    });
}

#[test]
fn every_value_is_described_in_running_text() {
    schemas(root(), &mut |node| {
        let properties = node.get("properties").and_then(Value::as_object);
        for (key, property) in properties.into_iter().flatten() {
            if property.get("const").is_some()
                || super::super::preset::Kind::ALL
                    .iter()
                    .any(|k| k.name() == key)
            {
                continue;
            }
            let text = property["description"].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{key} has no description");
            assert!(!text.replace("\n\n", "").contains('\n'), "{key}: {text:?}");
        }
    });
}

#[test]
fn where_a_preset_may_stand_a_name_will_do_and_nothing_is_required() {
    let switch = &root()["$defs"]["SwitchConfigOverrides"];
    assert!(switch.get("required").is_none());
    assert!(switch["properties"]["preset"]["description"].is_string());
    assert_eq!(
        switch["properties"]["buffer"]["$ref"],
        "#/$defs/BufferConfigOverrides"
    );
    let host = &root()["properties"]["host"];
    let names = host["anyOf"][0]["enum"].as_array().expect("names");
    assert!(names.contains(&Value::from("rhel-5.4-x5540-ne020")));
    // The complete definitions still require everything.
    assert!(root()["$defs"]["SwitchConfig"]["required"].is_array());
}
