//! A scenario as a tree of plain values that still knows where each of them was written.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::path::{self, Steps};
use crate::problem::{Finding, Problem, Severity};

/// A text that values come from: a file or one override.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its name in messages.
    pub name: String,
    /// Its text; `None` for an override, whose name is its text.
    pub text: Option<String>,
}

/// Where a value was written.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    source: Arc<Source>,
    key: Range<usize>,
    value: Range<usize>,
}

impl Origin {
    /// The name of the text it is in.
    pub fn source_name(&self) -> &str {
        &self.source.name
    }

    /// Whether an override put the value here.
    pub fn is_override(&self) -> bool {
        self.source.text.is_none()
    }
}

/// A tree of values and their origins by path.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub root: Value,
    origins: BTreeMap<String, Origin>,
    main: Arc<Source>,
}

/// Beyond this many syntax errors the rest follows from the first ones.
const MOST_SYNTAX_ERRORS: usize = 5;

impl Document {
    /// Reads TOML; every syntax error is reported, one a line.
    pub fn parse(text: &str, name: &str) -> Result<Document, Vec<Problem>> {
        let source = Arc::new(Source {
            name: name.to_owned(),
            text: Some(text.to_owned()),
        });
        let mut document = Document {
            root: Value::Object(Map::new()),
            origins: BTreeMap::new(),
            main: Arc::clone(&source),
        };
        let (table, mut errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            let mut findings = Vec::new();
            document.root = document.read_table(&source, table.get_ref(), "", &mut findings);
            return if findings.is_empty() {
                Ok(document)
            } else {
                Err(document.problems(findings))
            };
        }
        errors.sort_by_key(|e| e.span().map_or(0, |s| s.start));
        let mut problems: Vec<Problem> = Vec::new();
        for error in errors {
            let at = error.span().unwrap_or(0..0);
            let (line, column) = line_column(text, at.start);
            if problems.iter().any(|p| p.line == Some(line)) {
                continue;
            }
            problems.push(Problem {
                path: String::new(),
                source: name.to_owned(),
                line: Some(line),
                column: Some(column),
                reason: format!("this is not TOML: {}", error.message()),
                remedy: "see https://toml.io for how tables, keys and values are written"
                    .to_owned(),
                severity: Severity::Error,
            });
        }
        problems.truncate(MOST_SYNTAX_ERRORS);
        Err(problems)
    }

    fn read_table(
        &mut self,
        source: &Arc<Source>,
        table: &DeTable<'_>,
        at: &str,
        findings: &mut Vec<Finding>,
    ) -> Value {
        let mut map = Map::new();
        for (key, value) in table {
            let path = path::join(at, key.get_ref());
            self.origins.insert(
                path.clone(),
                Origin {
                    source: Arc::clone(source),
                    key: key.span(),
                    value: value.span(),
                },
            );
            let value = self.read_value(source, value, &path, findings);
            map.insert(key.get_ref().to_string(), value);
        }
        Value::Object(map)
    }

    fn read_value(
        &mut self,
        source: &Arc<Source>,
        value: &Spanned<DeValue<'_>>,
        at: &str,
        findings: &mut Vec<Finding>,
    ) -> Value {
        match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(b) => Value::Bool(*b),
            DeValue::Integer(n) => {
                let (digits, radix) = (n.as_str(), n.radix());
                if let Ok(n) = u64::from_str_radix(digits, radix) {
                    Value::from(n)
                } else if let Ok(n) = i64::from_str_radix(digits, radix) {
                    Value::from(n)
                } else {
                    findings.push(Finding::new(
                        at,
                        format!("{digits} is larger than any number here"),
                        "a number below 2^64",
                    ));
                    Value::Null
                }
            }
            DeValue::Float(f) => match f.as_str().parse::<f64>().ok().and_then(Number::from_f64) {
                Some(number) => Value::Number(number),
                None => {
                    findings.push(Finding::new(
                        at,
                        format!("{} is not a number one can use", f.as_str()),
                        "a finite number",
                    ));
                    Value::Null
                }
            },
            DeValue::Datetime(d) => Value::String(d.to_string()),
            DeValue::Array(items) => Value::Array(
                items
                    .iter()
                    .enumerate()
                    .map(|(i, item)| {
                        let path = path::index(at, i);
                        self.origins.insert(
                            path.clone(),
                            Origin {
                                source: Arc::clone(source),
                                key: item.span(),
                                value: item.span(),
                            },
                        );
                        self.read_value(source, item, &path, findings)
                    })
                    .collect(),
            ),
            DeValue::Table(table) => self.read_table(source, table, at, findings),
        }
    }

    /// Where the value at `path` was written.
    pub fn origin(&self, path: &str) -> Option<&Origin> {
        self.origins.get(path)
    }

    /// Where the value at `path` was written, or the nearest table around it: what an override gives as a
    /// whole has no places of its parts.
    pub fn origin_around(&self, path: &str) -> Option<&Origin> {
        let mut at = Some(path);
        while let Some(path) = at {
            if let Some(origin) = self.origins.get(path) {
                return Some(origin);
            }
            at = path::parent(path);
        }
        None
    }

    /// The origin of the override `text`.
    pub fn origin_of_override(text: &str) -> Origin {
        Origin {
            source: Arc::new(Source {
                name: format!("--set {text}"),
                text: None,
            }),
            key: 0..0,
            value: 0..0,
        }
    }

    /// Puts `value` at `steps`, making tables on the way. Gives the path it now stands at.
    ///
    /// A preset's name on the way becomes a table that begins with it; a name put where a table
    /// lies over a preset replaces only that.
    pub fn set(&mut self, steps: &Steps, value: Value, origin: &Origin) -> Result<String, Finding> {
        let mut at = String::new();
        let mut place = &mut self.root;
        for step in steps {
            if place.is_string() {
                let name = place.take();
                *place = Value::Object(Map::from_iter([("preset".to_owned(), name)]));
            }
            match place {
                Value::Object(map) => {
                    at = path::join(&at, step);
                    place = map
                        .entry(step.clone())
                        .or_insert_with(|| Value::Object(Map::new()));
                }
                Value::Array(items) => {
                    let Some(i) = element(items, step) else {
                        return Err(Finding::new(
                            path::join(&at, step),
                            format!("{at} has no element {step:?}"),
                            format!(
                                "the name of one, or a number from 0 to {}",
                                items.len().saturating_sub(1)
                            ),
                        ));
                    };
                    at = path::index(&at, i);
                    place = &mut items[i];
                }
                _ => {
                    return Err(Finding::new(
                        path::join(&at, step),
                        format!("{at} is a single value, not a table"),
                        format!("set {at} itself"),
                    ));
                }
            }
        }
        match (&mut *place, value) {
            (Value::Object(table), name @ Value::String(_))
                if lies_over_preset(table, steps.last()) =>
            {
                table.insert("preset".to_owned(), name);
                at = path::join(&at, "preset");
            }
            (place, value) => {
                *place = value;
                let below = [format!("{at}."), format!("{at}[")];
                self.origins
                    .retain(|p, _| !below.iter().any(|b| p.starts_with(b)));
            }
        }
        self.origins.insert(at.clone(), origin.clone());
        Ok(at)
    }

    /// Lays `other` over this document: its values replace ours, tables are laid over tables.
    pub fn lay_over(&mut self, other: Document) {
        merge(&mut self.root, other.root);
        self.origins.extend(other.origins);
    }

    /// Takes the key `key` out of the root.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.root.as_object_mut()?.shift_remove(key)
    }

    /// Findings with their places, errors.
    pub fn problems(&self, findings: Vec<Finding>) -> Vec<Problem> {
        findings
            .into_iter()
            .map(|f| self.problem(f, Severity::Error))
            .collect()
    }

    /// A finding with its place: that of its path, or of the nearest table around it.
    pub fn problem(&self, finding: Finding, severity: Severity) -> Problem {
        let exact = self.origins.contains_key(&finding.path);
        let origin = self.origin_around(&finding.path);
        let source = origin.map_or(&self.main, |o| &o.source);
        let place = match (origin, &source.text) {
            (Some(origin), Some(text)) => {
                let at_key = finding.at_key || !exact;
                let span = if at_key { &origin.key } else { &origin.value };
                Some(line_column(text, span.start))
            }
            _ => None,
        };
        Problem {
            path: finding.path,
            source: source.name.clone(),
            line: place.map(|p| p.0),
            column: place.map(|p| p.1),
            reason: finding.reason,
            remedy: finding.remedy,
            severity,
        }
    }
}

/// The element of a list that `step` means: by its number, or by its `name`.
fn element(items: &[Value], step: &str) -> Option<usize> {
    items
        .iter()
        .position(|item| item.get("name").and_then(Value::as_str) == Some(step))
        .or_else(|| step.parse().ok().filter(|i| *i < items.len()))
}

/// Whether a table under `key` is laid over a preset: one that it names, or, of a stack, the default or that of all hosts.
fn lies_over_preset(table: &Map<String, Value>, key: Option<&String>) -> bool {
    table.contains_key("preset") || key.is_some_and(|key| key == "stack")
}

/// Lays `over` on `base`: tables key by key, anything else as a whole. A table whose `kind` or
/// `topology` differs from the one below it replaces that one; a table over a preset's name is
/// laid over that preset.
pub(crate) fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            let other_kind = ["kind", "topology"].iter().any(
                |tag| matches!((over.get(*tag), base.get(*tag)), (Some(a), Some(b)) if a != b),
            );
            if other_kind {
                base.clear();
            }
            for (key, value) in over {
                match base.get_mut(&key) {
                    Some(Value::Object(table))
                        if value.is_string() && lies_over_preset(table, Some(&key)) =>
                    {
                        table.insert("preset".to_owned(), value);
                    }
                    Some(place) => merge(place, value),
                    None => {
                        base.insert(key, value);
                    }
                }
            }
        }
        (base @ Value::String(_), Value::Object(mut over)) => {
            over.entry("preset").or_insert(base.take());
            *base = Value::Object(over);
        }
        (base, over) => *base = over,
    }
}

/// Line and column, from 1 and in characters, of a byte offset.
fn line_column(text: &str, offset: usize) -> (u32, u32) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (line as u32, column as u32)
}
