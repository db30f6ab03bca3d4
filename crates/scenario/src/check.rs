//! Checks a tree of values against the schema, collecting every error.
//!
//! A walk over the schema that this crate generates, with exactly the keywords that it uses (a
//! test says so). General validators were weighed: they bring some fifty crates, report a table
//! that fits none of several kinds as one error without a place, and know nothing of units,
//! presets or near misses.

use std::cell::OnceCell;

use serde_json::{Map, Value};
use tailback_tcp::congestion::{KernelControl, OwnName};
use tailback_units::{Bytes, Duration, Rate};

use crate::document::Document;
use crate::nearest;
use crate::path;
use crate::places::{self, Place};
use crate::preset::{self, Kind};
use crate::problem::Finding;
use crate::schema;

/// From so many missing keys on, a table that may begin with a preset is told so, rather than each.
const MISSING_MANY: usize = 4;
/// So many keys of a table are told to one who wrote none.
const KEYS_TOLD: usize = 8;
/// Largest quantities: with them no sum or product of the simulator's leaves 64 bits.
const MOST_BYTES: u64 = 1_000_000_000_000_000;
/// Six times the fastest link that IEEE 802.3 works at (802.3dj, 1.6 Tb/s): beyond, a run of a second hardly ends.
const MOST_BPS: u64 = 10_000_000_000_000;
/// The simulator's clock ends after 213 days; a run waits for several of the times that it is told.
const LONGEST: Duration = Duration::from_secs(10 * 86_400);

/// All that is wrong with a scenario by the schema. Nothing at or below a path in `skip` is looked at. Its `places` are
/// filled in if a key is in none of them: those of one run of a sweep do for all.
pub(crate) fn check_scenario(
    document: &Document,
    places: &OnceCell<Vec<Place>>,
    skip: &[String],
) -> Vec<Finding> {
    let mut checker = Checker {
        whole: Some((document, places)),
        skip,
        findings: Vec::new(),
    };
    checker.check(schema::root(), &document.root, "");
    checker.findings
}

/// All that is wrong with `value`, which stands at `at`, by `node` of the schema.
pub(crate) fn check(node: &Value, value: &Value, at: &str) -> Vec<Finding> {
    let mut checker = Checker {
        whole: None,
        skip: &[],
        findings: Vec::new(),
    };
    checker.check(node, value, at);
    checker.findings
}

/// The schema's node for a value: references followed, and for a place where a preset may stand
/// the definition that the complete table must meet.
pub(crate) fn resolve(node: &Value) -> &Value {
    if let Some(complete) = node.get(schema::COMPLETE) {
        return resolve(complete);
    }
    match node.get("$ref").and_then(Value::as_str) {
        Some(reference) => resolve(schema::definition(reference)),
        None => node,
    }
}

/// What the preset that may stand at a node is of, if one may.
pub(crate) fn preset_of(node: &Value) -> Option<Kind> {
    let reference = node.get(schema::COMPLETE)?.get("$ref")?.as_str()?;
    Kind::of_definition(reference.rsplit('/').next()?)
}

fn preset_words(kind: Kind) -> String {
    let names: Vec<&str> = preset::built_in(kind).iter().map(|p| p.0).collect();
    let first = names.iter().find(|n| **n == "plain").or(names.last());
    format!(
        "a preset, as preset = {:?} (there are {})",
        first.copied().unwrap_or_default(),
        names.join(", ")
    )
}

/// The property that tells the branches of a `oneOf` of tables apart, if it is one.
pub(crate) fn tag(branches: &[Value]) -> Option<&'static str> {
    ["kind", "topology"]
        .into_iter()
        .find(|tag| branches.iter().all(|b| tag_value(b, tag).is_some()))
}

/// The value of that property in one branch.
pub(crate) fn tag_value<'s>(branch: &'s Value, tag: &str) -> Option<&'s str> {
    branch.get("properties")?.get(tag)?.get("const")?.as_str()
}

struct Checker<'a> {
    /// The scenario that is checked, if it is a whole one, and its places.
    whole: Option<(&'a Document, &'a OnceCell<Vec<Place>>)>,
    skip: &'a [String],
    findings: Vec<Finding>,
}

impl Checker<'_> {
    fn find(&mut self, at: &str, reason: impl Into<String>, remedy: impl Into<String>) {
        self.findings.push(Finding::new(at, reason, remedy));
    }

    fn check(&mut self, node: &Value, value: &Value, at: &str) {
        if self.skip.iter().any(|s| s == at) {
            return;
        }
        let before = self.findings.len();
        self.check_resolved(resolve(node), value, at);
        if let Some(kind) = preset_of(node) {
            self.join_missing(kind, before, at);
        }
    }

    /// Puts into one finding that a table lacks much of what a preset would bring.
    fn join_missing(&mut self, kind: Kind, before: usize, at: &str) {
        let found = &self.findings[before..];
        if found.iter().filter(|f| lacks_a_key(f)).count() < MISSING_MANY {
            return;
        }
        let (gone, rest): (Vec<_>, Vec<_>) = self.findings.drain(before..).partition(lacks_a_key);
        self.findings.extend(rest);
        let keys: Vec<&str> = gone
            .iter()
            .map(|f| f.path[at.len()..].trim_start_matches('.'))
            .collect();
        // What lacks nothing itself has begun with a preset, or needs none; a table in it whose kind is not the preset's is
        // not laid over that.
        let replaced = keys.iter().all(|key| key.contains('.'));
        let remedy = if replaced {
            "give them all: a table of another kind than the preset's takes nothing from it"
                .to_owned()
        } else {
            format!("begin with {}, or give them all", preset_words(kind))
        };
        self.find(
            at,
            format!("the keys {} are missing", keys.join(", ")),
            remedy,
        );
    }

    fn check_resolved(&mut self, node: &Value, value: &Value, at: &str) {
        if let Some(branches) = node.get("oneOf").and_then(Value::as_array) {
            return match tag(branches) {
                Some(tag) => self.check_tagged(branches, tag, value, at),
                None => self.check_words(branches, value, at),
            };
        }
        if let Some(branches) = node.get("anyOf").and_then(Value::as_array) {
            return self.check_any(branches, value, at);
        }
        if !self.check_type(node, value, at) {
            return;
        }
        match value {
            Value::Object(map) => self.check_table(node, map, at, &[]),
            Value::Array(items) => self.check_list(node, items, at),
            Value::Number(_) => self.check_number(node, value, at),
            Value::String(text) => self.check_text(node, text, at),
            Value::Bool(_) | Value::Null => {}
        }
    }

    fn check_type(&mut self, node: &Value, value: &Value, at: &str) -> bool {
        let Some(expected) = node.get("type").and_then(Value::as_str) else {
            return true;
        };
        let fits = match expected {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            _ => false,
        };
        if fits {
            return true;
        }
        let remedy = match (node.get("format").and_then(Value::as_str), expected) {
            (Some(format), "string") if format.starts_with("tailback-") => {
                let mut remedy = "a text with its unit".to_owned();
                if let Value::Number(_) = value {
                    remedy += " in quotes";
                }
                remedy + &example(node)
            }
            (_, "object") => a_table(node),
            (_, "array") => "a list in brackets".to_owned(),
            (_, "string") => format!("a text in quotes{}", example(node)),
            (_, "boolean") => "true or false".to_owned(),
            (_, "integer") => match value.as_str().filter(|text| is_beyond(text)) {
                // `--set` took it for a text.
                Some(number) => {
                    let (least, most) = limits(node);
                    let most = most.unwrap_or_else(|| Value::from(i64::MAX));
                    let right = match least {
                        Some(least) => format!("a whole number, {least} to {most}"),
                        None => format!("a whole number, at most {most}"),
                    };
                    self.find(at, format!("{number} is out of range"), right);
                    return false;
                }
                None => match range(node) {
                    Some(range) => format!("a whole number, {range}"),
                    None => "a whole number".to_owned(),
                },
            },
            (_, other) => format!("a {other}"),
        };
        self.find(at, format!("{} does not fit here", kind_of(value)), remedy);
        false
    }

    /// A choice of words, of which some may be forms that a prefix tells apart.
    fn check_words(&mut self, branches: &[Value], value: &Value, at: &str) {
        let mut words = words_of(branches);
        for form in branches.iter().filter(|b| b.get("format").is_some()) {
            let example = form["examples"][0].as_str().unwrap_or_default();
            let prefix = example.split_inclusive(':').next().unwrap_or_default();
            match value.as_str() {
                Some(text) if text.starts_with(prefix) => return self.check_text(form, text, at),
                _ => words.push(example),
            }
        }
        self.check_word(&words, value, at);
    }

    fn check_word(&mut self, words: &[&str], value: &Value, at: &str) {
        match value.as_str() {
            Some(word) if words.contains(&word) => {}
            Some(word) => self.find(
                at,
                format!("{word:?} is not a choice here"),
                nearest::suggest(word, words.iter().copied()),
            ),
            None => self.find(
                at,
                format!("{} does not fit here", kind_of(value)),
                format!("one of {}", quoted(words)),
            ),
        }
    }

    /// A table whose `tag` says which of several kinds it is.
    fn check_tagged(&mut self, branches: &[Value], tag: &str, value: &Value, at: &str) {
        let kinds: Vec<&str> = branches.iter().filter_map(|b| tag_value(b, tag)).collect();
        let Value::Object(map) = value else {
            let meant = value.as_str().filter(|text| kinds.contains(text));
            let remedy = match meant {
                Some(kind) => format!("a table: {{ {tag} = {kind:?} }}"),
                None => format!("a table with {tag} = one of {}", quoted(&kinds)),
            };
            self.find(at, format!("{} does not fit here", kind_of(value)), remedy);
            return;
        };
        match map.get(tag) {
            None => self.find(
                &path::join(at, tag),
                missing(tag),
                format!("one of {}", quoted(&kinds)),
            ),
            Some(found) => {
                let branch = branches
                    .iter()
                    .find(|b| tag_value(b, tag) == found.as_str() && found.is_string());
                match branch {
                    Some(branch) => {
                        let others: Vec<(&str, &Value)> = branches
                            .iter()
                            .filter_map(|b| Some((tag_value(b, tag)?, b)))
                            .filter(|(kind, _)| Some(*kind) != found.as_str())
                            .collect();
                        let others: Vec<Other<'_>> = others
                            .into_iter()
                            .map(|(kind, branch)| Other { tag, kind, branch })
                            .collect();
                        self.check_table(branch, map, at, &others);
                    }
                    None => self.check_word(&kinds, found, &path::join(at, tag)),
                }
            }
        }
    }

    /// One of several forms that differ in type.
    fn check_any(&mut self, branches: &[Value], value: &Value, at: &str) {
        let mut nearest: Option<Vec<Finding>> = None;
        for branch in branches {
            let mut checker = Checker {
                findings: Vec::new(),
                ..*self
            };
            checker.check(branch, value, at);
            let found = checker.findings;
            if found.is_empty() {
                return;
            }
            // Errors within are nearer to a fit than one about the whole.
            let within = found.iter().any(|f| f.path != at);
            if nearest.is_none() || within {
                nearest = Some(found);
            }
        }
        self.findings.extend(nearest.unwrap_or_default());
    }

    fn check_table(
        &mut self,
        node: &Value,
        map: &Map<String, Value>,
        at: &str,
        others: &[Other<'_>],
    ) {
        let none = Map::new();
        let known = node
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&none);
        // Keys that were meant by misspelt ones: they are not missing as well.
        let mut meant = Vec::new();
        for (key, value) in map {
            let here = path::join(at, key);
            match (known.get(key), node.get("additionalProperties")) {
                (Some(property), _) => self.check(property, value, &here),
                (None, Some(Value::Bool(false))) => {
                    meant.extend(nearest::nearest(key, known.keys().map(String::as_str)));
                    let finding = self.unknown_key(key, &here, known, others);
                    self.findings.push(finding);
                }
                (None, Some(node)) => self.check(node, value, &here),
                (None, None) => {}
            }
        }
        let required = node.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            let here = path::join(at, key);
            if !map.contains_key(key) && !meant.contains(&key) && !self.skip.contains(&here) {
                let property = &known[key];
                let remedy = match preset_of(property) {
                    Some(kind) => format!("{}; give {}", describe(property), preset_words(kind)),
                    None => describe(property),
                };
                self.find(&here, missing(key), remedy);
            }
        }
    }

    fn unknown_key(
        &self,
        key: &str,
        here: &str,
        known: &Map<String, Value>,
        others: &[Other<'_>],
    ) -> Finding {
        let other = others
            .iter()
            .find(|o| o.branch["properties"].get(key).is_some());
        let elsewhere = || {
            let (document, places) = self.whole?;
            places::suggest(places.get_or_init(|| places::settable(document)), key)
        };
        let keys = || known.keys().map(String::as_str).collect::<Vec<_>>();
        let remedy = match other {
            Some(Other { tag, kind, .. }) => format!("it belongs to {tag} = {kind:?}"),
            None => elsewhere().unwrap_or_else(|| nearest::suggest_key(key, &keys())),
        };
        Finding::new(here, format!("there is no key {key:?} here"), remedy).at_key()
    }

    fn check_list(&mut self, node: &Value, items: &[Value], at: &str) {
        let count = items.len() as u64;
        let least = node.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let most = node.get("maxItems").and_then(Value::as_u64);
        if count < least || most.is_some_and(|m| count > m) {
            let right = match most {
                Some(most) if most == least => format!("exactly {least}"),
                Some(most) => format!("{least} to {most}"),
                None => format!("at least {least}"),
            };
            self.find(at, format!("the list has {count} elements"), right);
        }
        if let Some(node) = node.get("items") {
            for (i, item) in items.iter().enumerate() {
                self.check(node, item, &path::index(at, i));
            }
        }
    }

    fn check_number(&mut self, node: &Value, value: &Value, at: &str) {
        let (least, most) = limits(node);
        let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
        let too_small = least.is_some_and(|l| number(value) < number(l));
        let too_large = most.is_some_and(|m| number(value) > number(&m));
        if too_small || too_large {
            let right = range(node).unwrap_or_default();
            self.find(at, format!("{value} is out of range"), right);
        }
    }

    fn check_text(&mut self, node: &Value, text: &str, at: &str) {
        if let Some(words) = node.get("enum").and_then(Value::as_array) {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            return self.check_word(&words, &Value::from(text), at);
        }
        if let Some(word) = node.get("const").and_then(Value::as_str) {
            return self.check_word(&[word], &Value::from(text), at);
        }
        let beyond = |too_large: bool, most: &'static str| too_large.then_some(most);
        let parsed = match node.get("format").and_then(Value::as_str) {
            Some("tailback-Bytes") => text
                .parse::<Bytes>()
                .map_err(|error| error.to_string())
                .map(|bytes| beyond(bytes.get() > MOST_BYTES, "1000TB")),
            Some("tailback-Rate") => text
                .parse::<Rate>()
                .map_err(|error| error.to_string())
                .map(|rate| beyond(rate.as_bps() > MOST_BPS, "10Tbit")),
            Some("tailback-Duration") => text
                .parse::<Duration>()
                .map_err(|error| error.to_string())
                .map(|time| beyond(time > LONGEST, "864000s, ten days")),
            Some("tailback-KernelControl") => {
                let parsed = text.parse::<KernelControl>().map(|_| None);
                parsed.map_err(|error| error.to_string())
            }
            Some("tailback-OwnName") => {
                let parsed = text.parse::<OwnName>().map(|_| None);
                parsed.map_err(|error| error.to_string())
            }
            _ => Ok(None),
        };
        match parsed {
            Err(error) => {
                let first = node["examples"][0].as_str().unwrap_or_default();
                self.find(at, error, format!("for instance {first:?}"));
            }
            Ok(Some(most)) => {
                self.find(
                    at,
                    format!("{text:?} is out of range"),
                    format!("at most {most}"),
                );
            }
            Ok(None) => {}
        }
        let least = node.get("minLength").and_then(Value::as_u64).unwrap_or(0);
        if (text.chars().count() as u64) < least {
            self.find(at, "the text is empty", "give it a value");
        }
    }
}

/// A kind that a tagged table is not.
struct Other<'s> {
    tag: &'s str,
    kind: &'s str,
    branch: &'s Value,
}

/// The least and the greatest number that fit a node.
fn limits(node: &Value) -> (Option<&Value>, Option<Value>) {
    let most = match node.get("format").and_then(Value::as_str) {
        Some("uint8") => Some(Value::from(u8::MAX)),
        Some("uint16") => Some(Value::from(u16::MAX)),
        Some("uint32") => Some(Value::from(u32::MAX)),
        Some("int8") => Some(Value::from(i8::MAX)),
        Some("int16") => Some(Value::from(i16::MAX)),
        Some("int32") => Some(Value::from(i32::MAX)),
        _ => None,
    };
    (node.get("minimum"), node.get("maximum").cloned().or(most))
}

/// Those in words, if there are any.
fn range(node: &Value) -> Option<String> {
    match limits(node) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    }
}

/// Whether a text is a whole number of more digits than TOML has.
fn is_beyond(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    whole && text.parse::<i64>().is_err()
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(b) => format!("{b}"),
        Value::Number(n) => format!("the number {n}"),
        Value::String(s) => format!("the text {s:?}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    }
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|w| format!("{w:?}")).collect();
    words.join(", ")
}

fn example(node: &Value) -> String {
    match node["examples"].get(0) {
        Some(example) => format!(", for instance {example}"),
        None => String::new(),
    }
}

/// What a table at a node is: one with the keys that it needs, or with those that it may have if they are few.
fn a_table(node: &Value) -> String {
    let properties = node.get("properties").and_then(Value::as_object);
    let all = properties
        .into_iter()
        .flatten()
        .map(|(key, _)| key.as_str());
    let required = node.get("required").and_then(Value::as_array);
    let needed = required.into_iter().flatten().filter_map(Value::as_str);
    let needed: Vec<String> = needed
        .map(|key| match node["properties"][key]["examples"].get(0) {
            Some(example) => format!("{key} = {example}"),
            None => format!("{key} = …"),
        })
        .collect();
    let may: Vec<&str> = all.take(KEYS_TOLD + 1).collect();
    match (needed.len(), may.len()) {
        (1..=KEYS_TOLD, _) => format!("a table: {{ {} }}", needed.join(", ")),
        (0, 1..=KEYS_TOLD) => format!("a table with some of the keys {}", may.join(", ")),
        _ => "a table".to_owned(),
    }
}

/// The reason why a table without this key is refused.
fn missing(key: &str) -> String {
    format!("the key {key:?} is missing")
}

/// Whether this says that a table lacks a key: the last of its path.
fn lacks_a_key(finding: &Finding) -> bool {
    let key = finding.path.rsplit('.').next().unwrap_or_default();
    finding.reason == missing(key)
}

/// The words that the branches of a choice of words have.
fn words_of(branches: &[Value]) -> Vec<&str> {
    branches
        .iter()
        .flat_map(|branch| {
            let several = branch.get("enum").and_then(Value::as_array);
            let one = branch.get("const").into_iter();
            one.chain(several.into_iter().flatten())
        })
        .filter_map(Value::as_str)
        .collect()
}

/// The property that tells kinds of tables apart and the kinds, if a value is one of such.
fn kinds_of(node: &Value) -> Option<(&'static str, Vec<&str>)> {
    let branches = resolve(node).get("oneOf").and_then(Value::as_array)?;
    let tag = tag(branches)?;
    Some((
        tag,
        branches.iter().filter_map(|b| tag_value(b, tag)).collect(),
    ))
}

/// What a missing key is for: its description's first sentence.
fn describe(property: &Value) -> String {
    let text = property["description"].as_str().unwrap_or_default();
    let sentence = text.split_once(". ").map_or(text, |(first, _)| first);
    let sentence = sentence.trim_end_matches('.');
    let kinds = kinds_of(property).map(|(tag, kinds)| {
        let tables: Vec<String> = kinds
            .iter()
            .map(|k| format!("{{ {tag} = {k:?} }}"))
            .collect();
        format!("; one of {}, with its keys", tables.join(", "))
    });
    let node = resolve(property);
    let branches = node.get("oneOf").and_then(Value::as_array);
    let words = words_of(branches.map_or(std::slice::from_ref(node), Vec::as_slice));
    let words =
        (kinds.is_none() && !words.is_empty()).then(|| format!("; one of {}", quoted(&words)));
    format!(
        "it says: {sentence}{}{}",
        example(property),
        kinds.or(words).unwrap_or_default()
    )
}
