//! The places of a scenario that a name alone can mean, in a sweep or in an override.

use serde_json::Value;

use crate::check;
use crate::document::{self, Document};
use crate::path::{self, Steps};
use crate::preset::Presets;
use crate::schema;

/// So many places of one name are told.
const TOLD: usize = 3;

/// A place of the scenario that may be set.
pub(crate) struct Place {
    /// Its path.
    pub steps: Steps,
    /// Whether it belongs to the kinds that the scenario and its presets choose.
    fits: bool,
    /// Whether there is a value: of the scenario, of a preset, or a default.
    is_present: bool,
    /// Whether it stands in a list, as a trunk's values do.
    in_list: bool,
}

/// Of several places with one name those that can be meant: of the kinds that are chosen, and if there is a
/// value at some of them, those, not in a list if there are such.
pub(crate) fn meant(mut named: Vec<&Place>) -> Vec<&Place> {
    let likely: [fn(&Place) -> bool; 3] = [|p| p.fits, |p| p.is_present, |p| !p.in_list];
    for is_likely in likely {
        if named.len() > 1 && named.iter().any(|place| is_likely(place)) {
            named.retain(|place| is_likely(place));
        }
    }
    named
}

/// Where `key` would be right, told to somebody who wrote it elsewhere: nothing if there is no such place, or more than
/// anybody wants to read of.
pub(crate) fn suggest(places: &[Place], key: &str) -> Option<String> {
    let named = places
        .iter()
        .filter(|p| p.steps.last().is_some_and(|last| last == key));
    let named = meant(named.collect());
    let paths: Vec<String> = named.iter().map(|place| path::show(&place.steps)).collect();
    (1..=TOLD)
        .contains(&paths.len())
        .then(|| format!("it belongs at {}", paths.join(" or ")))
}

/// Every place of a scenario that may be set by a path of keys.
pub(crate) fn settable(document: &Document) -> Vec<Place> {
    // What is wrong with presets is told elsewhere.
    let (presets, _) = Presets::new(document);
    let mut places = Places {
        presets,
        found: Vec::new(),
    };
    let properties = schema::root()["properties"].as_object();
    for (key, node) in properties.into_iter().flatten() {
        // Those two have keys of their owner's choice.
        if !["sweep", "preset"].contains(&key.as_str()) {
            let value = document.root.get(key);
            places.collect(node, value, value, vec![key.clone()], true);
        }
    }
    let mut found = places.found;
    // Kinds may share a key; what fits goes first.
    found.sort_by(|a, b| a.steps.cmp(&b.steps).then(b.fits.cmp(&a.fits)));
    found.dedup_by(|next, kept| next.steps == kept.steps);
    found
}

struct Places {
    presets: Presets,
    found: Vec<Place>,
}

impl Places {
    /// The place `at` and those in it: `written` is what the scenario has there, `whole` that with its presets.
    fn collect(
        &mut self,
        node: &Value,
        written: Option<&Value>,
        whole: Option<&Value>,
        at: Steps,
        fits: bool,
    ) {
        let whole = whole.or_else(|| node.get("default"));
        let here = Place {
            steps: at.clone(),
            fits,
            is_present: whole.is_some(),
            in_list: false,
        };
        if written.is_none() && node.get(schema::OVER).is_some() {
            return self.found.push(here);
        }
        let complete = self.complete(node, whole);
        let whole = complete.as_ref().or(whole);
        let node = check::resolve(node);
        let is_list_of_tables = node
            .get("items")
            .is_some_and(|items| check::resolve(items).get("properties").is_some());
        if is_list_of_tables {
            // One that is a part of the scenario can be replaced as a whole.
            if at.len() == 1 {
                self.found.push(here);
            }
            if at[0] == "network" {
                self.collect_items(&node["items"], written, &at, fits);
            }
            return;
        }
        self.found.push(here);
        let branches = match node.get("oneOf").or_else(|| node.get("anyOf")) {
            Some(Value::Array(branches)) => branches.as_slice(),
            _ => std::slice::from_ref(node),
        };
        let tag = check::tag(branches);
        let in_file = chosen(tag, written);
        let in_all = chosen(tag, whole);
        // What has no value is of no kind yet.
        let is_unsaid = tag.is_some() && whole.is_none();
        for branch in branches {
            let own = tag.and_then(|tag| check::tag_value(branch, tag));
            let is = |kind: Option<&str>| kind.is_none() || own == kind;
            if !is(in_file) {
                continue;
            }
            let branch = check::resolve(branch);
            let properties = branch.get("properties").and_then(Value::as_object);
            for (key, node) in properties.into_iter().flatten() {
                let mut below = at.clone();
                below.push(key.clone());
                let own = written.and_then(|v| v.get(key));
                let joined = self.joined(node, own, whole);
                self.collect(
                    node,
                    own,
                    joined.as_ref().or_else(|| whole?.get(key)),
                    below,
                    fits && is(in_all) && !is_unsaid,
                );
            }
        }
    }

    /// The places in the entries of a list of the network's at which the scenario has a value.
    fn collect_items(&mut self, node: &Value, list: Option<&Value>, at: &Steps, fits: bool) {
        let items = list.and_then(Value::as_array);
        for (i, item) in items.into_iter().flatten().enumerate() {
            let mut below = at.clone();
            below.push(i.to_string());
            let depth = below.len();
            let before = self.found.len();
            self.collect(node, Some(item), Some(item), below, fits);
            let mut found = self.found.split_off(before);
            found.retain(|place| at_path(item, &place.steps[depth..]).is_some());
            found.iter_mut().for_each(|place| place.in_list = true);
            self.found.append(&mut found);
        }
    }

    /// The value `own` of a place that has its sibling's values, over those; `parent` has both.
    fn joined(&self, node: &Value, own: Option<&Value>, parent: Option<&Value>) -> Option<Value> {
        let sibling = parent?.get(node.get(schema::OVER)?.as_str()?)?;
        let own = own.filter(|own| own.is_object() && own.get("preset").is_none())?;
        let mut joined = (self.complete(node, Some(sibling))).unwrap_or_else(|| sibling.clone());
        document::merge(&mut joined, own.clone());
        Some(joined)
    }

    /// The value of a place where a preset may stand, with that preset under it.
    fn complete(&self, node: &Value, value: Option<&Value>) -> Option<Value> {
        let kind = check::preset_of(node)?;
        let value = value?;
        let name = value.as_str().or_else(|| value.get("preset")?.as_str())?;
        let mut complete = self.presets.get(kind, name, "").ok()??.clone();
        if value.is_object() {
            document::merge(&mut complete, value.clone());
        }
        Some(complete)
    }
}

/// The value at these steps below one.
fn at_path<'v>(value: &'v Value, steps: &[String]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| value.get(step))
}

/// The kind that a table says it is of.
fn chosen<'v>(tag: Option<&str>, value: Option<&'v Value>) -> Option<&'v str> {
    value?.get(tag?)?.as_str()
}
