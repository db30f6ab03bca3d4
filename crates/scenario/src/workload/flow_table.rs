//! Lists of flows as texts: what files of them hold.
//!
//! The first line names the columns, apart by commas or, where it has none, by blanks; each line after it is a flow.
//! `#` begins a remark. The text itself is the value, so that results say what was run.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_tcp::congestion::CongestionKind;
use tailback_units::Time;

/// More flows than any list in use has, and less than fills a memory.
const FLOWS_MAX: usize = 2_000_000;

/// Columns that say when a flow begins, and picoseconds of their units.
const STARTS: [(&str, f64); 4] = [
    ("start_s", 1e12),
    ("start_ms", 1e9),
    ("start_us", 1e6),
    ("start_ns", 1e3),
];

/// Later than any run lasts: ten days, ps. A float tells single picoseconds apart up to 9000 s.
const START_MAX_PS: f64 = 864_000e12;

/// Flows, a line each below one that names the columns: `start_s` (or `start_ms`, `start_us`, `start_ns`), `source` and
/// `destination` (a host's name, or its place from 0), `bytes`, and if wanted `priority` (0 to 7; else 0) and `congestion`
/// (what its source asks for by TCP_CONGESTION; else, or with `-`, the host's).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("examples" = ["start_ms, source, destination, bytes\n0, host1, host0, 20000\n0.5, host2, host0, 1000000\n"]))]
pub struct FlowTable(Arc<Parsed>);

#[derive(Clone, Debug, Default, PartialEq)]
struct Parsed {
    text: String,
    rows: Vec<Row>,
    names: Vec<String>,
    controls: Vec<CongestionKind>,
}

/// A flow as its line has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    /// The number of the line, from 1.
    pub(super) line: u32,
    pub(super) start: Time,
    /// By its place in [`FlowTable::names`].
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) bytes: u64,
    pub(super) priority: u8,
    pub(super) congestion: Option<CongestionKind>,
}

impl FlowTable {
    /// Whether no flow is listed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.rows.is_empty()
    }

    /// The flows, in the order of the text.
    pub(super) fn rows(&self) -> &[Row] {
        &self.0.rows
    }

    /// Whom they are from and to.
    pub(super) fn names(&self) -> &[String] {
        &self.0.names
    }

    /// Congestion controls that any of them asks for.
    pub(super) fn controls(&self) -> &[CongestionKind] {
        &self.0.controls
    }
}

impl TryFrom<String> for FlowTable {
    type Error = String;

    fn try_from(text: String) -> Result<FlowTable, String> {
        text.parse()
    }
}

impl From<FlowTable> for String {
    fn from(table: FlowTable) -> String {
        table.0.text.clone()
    }
}

impl FromStr for FlowTable {
    type Err = String;

    /// The reason says which line is wrong, and how.
    fn from_str(text: &str) -> Result<FlowTable, String> {
        // Editors on Windows begin files with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = (1..)
            .zip(text.lines())
            .map(|(number, line)| (number, line.split('#').next().unwrap_or_default().trim()))
            .filter(|(_, line)| !line.is_empty());
        let Some((_, head)) = lines.next() else {
            return Ok(FlowTable::default());
        };
        let columns = Columns::new(head)?;
        let (mut names, mut controls) = (Names::default(), Vec::new());
        let mut rows = Vec::new();
        for (number, line) in lines {
            let row = columns.row(number, line, &mut names);
            let row = row.map_err(|reason| format!("line {number}: {reason}"))?;
            controls.extend(row.congestion.filter(|kind| !controls.contains(kind)));
            rows.push(row);
        }
        if rows.len() > FLOWS_MAX {
            return Err(format!("{} flows; {FLOWS_MAX} at most", rows.len()));
        }
        Ok(FlowTable(Arc::new(Parsed {
            text: text.to_owned(),
            rows,
            names: names.all,
            controls,
        })))
    }
}

/// Names in the order in which they come.
#[derive(Default)]
struct Names {
    places: BTreeMap<String, u32>,
    all: Vec<String>,
}

impl Names {
    fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.all.len() as u32;
        self.places.insert(name.to_owned(), place);
        self.all.push(name.to_owned());
        place
    }
}

/// Where a line has what.
struct Columns {
    by_commas: bool,
    count: usize,
    start: (usize, f64),
    source: usize,
    destination: usize,
    bytes: usize,
    priority: Option<usize>,
    congestion: Option<usize>,
}

impl Columns {
    fn new(head: &str) -> Result<Columns, String> {
        let by_commas = head.contains(',');
        let names = words(head, by_commas);
        let place = |name: &str| names.iter().position(|other| *other == name);
        let starts: Vec<_> = STARTS
            .into_iter()
            .filter_map(|(name, unit)| Some((place(name)?, unit)))
            .collect();
        let others = ["source", "destination", "bytes", "priority", "congestion"];
        let known =
            |name: &&str| others.contains(name) || STARTS.iter().any(|(one, _)| one == name);
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            return Err(format!("there is no column {unknown:?}"));
        }
        if let Some(twice) = (1..names.len()).find(|i| names[..*i].contains(&names[*i])) {
            return Err(format!("the column {:?} is there twice", names[twice]));
        }
        let needed = |name: &str| place(name).ok_or_else(|| format!("there is no column {name}"));
        let [start] = starts[..] else {
            return Err(match starts.len() {
                0 => "no column says when flows start".to_owned(),
                _ => "two columns say when flows start".to_owned(),
            });
        };
        Ok(Columns {
            by_commas,
            count: names.len(),
            start,
            source: needed("source")?,
            destination: needed("destination")?,
            bytes: needed("bytes")?,
            priority: place("priority"),
            congestion: place("congestion"),
        })
    }

    fn row(&self, line: u32, text: &str, names: &mut Names) -> Result<Row, String> {
        let words = words(text, self.by_commas);
        if words.len() != self.count {
            return Err(format!("{} values for {} columns", words.len(), self.count));
        }
        let number = |at: usize, least: f64, most: f64, what: &str| {
            let value = words[at].parse::<f64>().ok();
            let value = value.filter(|value| (least..=most).contains(value));
            value.ok_or_else(|| format!("{:?} is no {what}", words[at]))
        };
        let mut host = |at: usize| match words[at] {
            "" => Err("a flow without a host".to_owned()),
            name => Ok(names.place(name)),
        };
        let (start, unit_ps) = self.start;
        let start = number(start, 0.0, START_MAX_PS / unit_ps, "time")?;
        let bytes = number(self.bytes, 1.0, 1e15, "number of bytes")?;
        let said = |at: &usize| !matches!(words[*at], "" | "-");
        let priority = match self.priority.filter(said) {
            None => 0.0,
            Some(at) => number(at, 0.0, 7.0, "priority, 0 to 7")?,
        };
        if bytes.fract() > 0.0 || priority.fract() > 0.0 {
            return Err("bytes and priorities are whole numbers".to_owned());
        }
        let congestion = match self.congestion.filter(said) {
            None => None,
            Some(at) => Some(control(words[at])?),
        };
        Ok(Row {
            line,
            start: Time::from_ps((start * unit_ps).round() as u64),
            source: host(self.source)?,
            destination: host(self.destination)?,
            bytes: bytes as u64,
            priority: priority as u8,
            congestion,
        })
    }
}

fn words(line: &str, by_commas: bool) -> Vec<&str> {
    match by_commas {
        true => line.split(',').map(str::trim).collect(),
        false => line.split_whitespace().collect(),
    }
}

fn control(name: &str) -> Result<CongestionKind, String> {
    serde_json::from_value(name.into()).map_err(|_| format!("no congestion control {name:?}"))
}

#[cfg(test)]
#[path = "flow_table_tests.rs"]
mod tests;
