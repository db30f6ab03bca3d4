//! What is wrong with a scenario, said so that it can be put right.

use std::fmt;

use serde::Serialize;

/// Whether a problem keeps a scenario from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It cannot run.
    Error,
    /// It runs, but perhaps not as meant.
    Warning,
}

/// One problem of a scenario file, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The value's path, as in `network.switch.latency`; empty for the file as a whole.
    pub path: String,
    /// Where the value was written: the file's name, or the override as it was given.
    pub source: String,
    /// Line in that file, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// What is wrong.
    pub reason: String,
    /// What would be right; empty where the reason says it all.
    pub remedy: String,
    /// Whether it keeps the scenario from running.
    pub severity: Severity,
}

impl fmt::Display for Problem {
    /// `file:line:column: path: reason; remedy`, as compilers print it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, ":{line}:{column}")?;
        }
        if !self.path.is_empty() {
            write!(f, ": {}", self.path)?;
        }
        write!(f, ": {}", self.reason)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

/// A problem by its path alone; its place in a file is looked up later.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The value's path, relative to where the finder stands.
    pub path: String,
    /// What is wrong.
    pub reason: String,
    /// What would be right.
    pub remedy: String,
    /// Whether the key rather than its value is at fault.
    pub at_key: bool,
}

impl Finding {
    /// A finding about the value at `path`.
    #[must_use]
    pub fn new(
        path: impl Into<String>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding {
            path: path.into(),
            reason: reason.into(),
            remedy: remedy.into(),
            at_key: false,
        }
    }

    /// The same, about the key rather than its value.
    #[must_use]
    pub fn at_key(mut self) -> Finding {
        self.at_key = true;
        self
    }

    /// The same, seen from further out: `prefix` goes before its path.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Finding {
        self.path = crate::path::concat(prefix, &self.path);
        self
    }
}
