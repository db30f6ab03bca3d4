//! What tells runs and scenarios apart: seeds and hashes, the same on every machine.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A run's seed: the first 8 bytes of a SHA-256 over what identifies it.
pub(crate) fn seed(scenario_seed: u64, parameters: &[(String, Value)], repetition: u32) -> u64 {
    let identity = json!([scenario_seed, parameters, repetition]);
    let digest = Sha256::digest(canonical(&identity).as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_be_bytes(first)
}

/// JSON with the keys of every table in alphabetical order.
fn canonical(value: &Value) -> String {
    fn sort(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort();
                Value::Object(
                    keys.into_iter()
                        .map(|k| (k.clone(), sort(&map[k])))
                        .collect(),
                )
            }
            Value::Array(items) => Value::Array(items.iter().map(sort).collect()),
            plain => plain.clone(),
        }
    }
    sort(value).to_string()
}

/// The hash of all that the runs depend on: the order of the axes counts, prose does not.
pub(crate) fn hash(scenario: &Value) -> String {
    let mut hashed = scenario.clone();
    if let Value::Object(map) = &mut hashed {
        map.shift_remove("title");
        map.shift_remove("description");
        if let Some(Value::Object(sweep)) = map.shift_remove("sweep") {
            let axes: Vec<Value> = sweep.into_iter().map(|(k, v)| json!([k, v])).collect();
            map.insert("sweep".to_owned(), Value::Array(axes));
        }
    }
    let digest = Sha256::digest(canonical(&hashed).as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
