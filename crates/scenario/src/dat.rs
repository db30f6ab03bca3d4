//! Imports the client-side `.dat` file of the incast study.
//!
//! The study (Principled Technologies 2010) says that a `.dat` file tells the client the number of
//! servers, their addresses, the requested size and the iterations; it does not publish the file.
//! Read here: these four, in this order, divided by blanks, line breaks, commas or semicolons; the
//! size in bytes; `#` begins a comment. The file knows no network: the scenario gets the study's.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;

use tailback_units::Bytes;

use crate::problem::{Problem, Severity};

/// Ports of the study's switches; a file with more servers gets a larger one.
const SWITCH_PORTS: usize = 24;
/// Most servers: a switch has up to 1024 ports, and one is the client's.
const MOST_SERVERS: u64 = 1023;

/// The scenario, as TOML, that the `.dat` file `text` named `file_name` stands for.
///
/// # Errors
/// Everything that is wrong with it, by line and column.
pub fn dat_to_toml(text: &str, file_name: &str) -> Result<String, Vec<Problem>> {
    let mut reader = Reader {
        words: words(text),
        next: 0,
        end: end(text),
        file_name,
        problems: Vec::new(),
    };
    let dat = reader.read();
    match dat {
        Some(dat) if reader.problems.is_empty() => Ok(dat.to_toml(file_name)),
        _ => Err(reader.problems),
    }
}

struct Dat {
    addresses: Vec<String>,
    size: Bytes,
    iterations: u64,
}

/// A word of the file, with its line and column.
#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    line: u32,
    column: u32,
}

fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut start = 0;
        for part in line.split(|c: char| c.is_whitespace() || c == ',' || c == ';') {
            if !part.is_empty() {
                words.push(Word {
                    text: part,
                    line: number as u32 + 1,
                    column: line[..start].chars().count() as u32 + 1,
                });
            }
            let after = start + part.len();
            start = after + line[after..].chars().next().map_or(0, char::len_utf8);
        }
    }
    words
}

/// Line and column of the end of the file.
fn end(text: &str) -> (u32, u32) {
    let last = text.lines().last().unwrap_or_default();
    let lines = text.lines().count().max(1);
    (lines as u32, last.chars().count() as u32 + 1)
}

struct Reader<'t> {
    words: Vec<Word<'t>>,
    next: usize,
    end: (u32, u32),
    file_name: &'t str,
    problems: Vec<Problem>,
}

impl<'t> Reader<'t> {
    fn read(&mut self) -> Option<Dat> {
        let servers = self.number("number of servers", 1, MOST_SERVERS)?;
        let mut addresses = Vec::new();
        let mut seen = BTreeSet::new();
        for i in 1..=servers {
            let what = format!("address {i} of {servers}");
            let word = self.word(&what)?;
            if word.text.bytes().all(|b| b.is_ascii_digit()) {
                self.wrong(
                    Some(word),
                    "addresses",
                    format!("{:?} stands where {what} should", word.text),
                    format!("the file announces {servers} servers: give as many addresses"),
                );
                return None;
            }
            if !is_address(word.text) {
                self.wrong(
                    Some(word),
                    "addresses",
                    format!("{:?} is not an address ({what})", word.text),
                    "an IPv4 address such as 10.0.0.1, or a host's name".to_owned(),
                );
            } else if !seen.insert(word.text) {
                self.wrong(
                    Some(word),
                    "addresses",
                    format!("the address {:?} stands there twice", word.text),
                    "one address for each server".to_owned(),
                );
            }
            addresses.push(word.text.to_owned());
        }
        if let Some(word) = self.words.get(self.next).copied()
            && word.text.parse::<Bytes>().is_err()
            && is_address(word.text)
        {
            self.wrong(
                Some(word),
                "addresses",
                format!("{:?} is one address more than announced", word.text),
                format!("the file announces {servers} servers: correct the number, or the list"),
            );
            return None;
        }
        let size = self.number("requested size in bytes", 1, u64::MAX)?;
        let iterations = self.number("number of iterations", 1, 100_000_000)?;
        if let Some(word) = self.words.get(self.next).copied() {
            self.wrong(
                Some(word),
                "",
                format!("{:?} stands after the number of iterations", word.text),
                "the file ends there".to_owned(),
            );
        }
        Some(Dat {
            addresses,
            size: Bytes::new(size),
            iterations,
        })
    }

    fn word(&mut self, what: &str) -> Option<Word<'t>> {
        match self.words.get(self.next).copied() {
            Some(word) => {
                self.next += 1;
                Some(word)
            }
            None => {
                self.wrong(
                    None,
                    "",
                    format!("the file is cut short: it ends before the {what}"),
                    "number of servers, their addresses, size in bytes, iterations".to_owned(),
                );
                None
            }
        }
    }

    /// The next word as a number from `least` to `most`.
    fn number(&mut self, what: &str, least: u64, most: u64) -> Option<u64> {
        let word = self.word(what)?;
        match word.text.parse::<u64>() {
            Ok(number) if (least..=most).contains(&number) => Some(number),
            _ => {
                let limits = match most {
                    u64::MAX => format!("a whole number from {least}"),
                    _ => format!("a whole number from {least} to {most}"),
                };
                let reason = format!("{:?} cannot be the {what}", word.text);
                self.wrong(Some(word), "", reason, limits);
                None
            }
        }
    }

    fn wrong(&mut self, word: Option<Word<'_>>, path: &str, reason: String, remedy: String) {
        let (line, column) = word.map_or(self.end, |w| (w.line, w.column));
        self.problems.push(Problem {
            path: path.to_owned(),
            source: self.file_name.to_owned(),
            line: Some(line),
            column: Some(column),
            reason,
            remedy,
            severity: Severity::Error,
        });
    }
}

/// An IPv4 address, or a host's name by RFC 1123 with at least one letter.
fn is_address(text: &str) -> bool {
    if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return text.parse::<Ipv4Addr>().is_ok();
    }
    let label = |l: &str| {
        (1..=63).contains(&l.len())
            && l.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !l.starts_with('-')
            && !l.ends_with('-')
    };
    let text = text.strip_suffix('.').unwrap_or(text);
    text.len() <= 253 && text.split('.').all(label)
}

impl Dat {
    fn to_toml(&self, file_name: &str) -> String {
        let servers = self.addresses.len();
        let hosts = servers + 1;
        let mut client = "client".to_owned();
        while self.addresses.contains(&client) {
            client.push('0');
        }
        let names: String = std::iter::once(&client).chain(&self.addresses).fold(
            String::new(),
            |mut list, name| {
                let _ = writeln!(list, "  {name:?},");
                list
            },
        );
        let switch = if hosts <= SWITCH_PORTS {
            "\"arista-7124s\"".to_owned()
        } else {
            format!("{{ preset = \"arista-7124s\", ports = {hosts} }}")
        };
        let file = Path::new(file_name).file_name();
        let file = file.map_or_else(|| "a .dat file".into(), |f| f.to_string_lossy());
        let title = toml_text(&format!("Incast from {file}"));
        let name = scenario_name(file_name);
        let (size, iterations) = (self.size, self.iterations);
        format!(
            r#"name = "{name}"
title = {title}
study = "incast"

# The .dat file says nothing of the network: this is the study's.
[network]
topology = "star"
switch = {switch}
hosts = {hosts}
link = {{ rate = "10Gbit", delay = "25ns", mtu = "9000B" }}
names = [
{names}]

[host]
preset = "rhel-5.4-x5540-ne020"

[stack]
preset = "linux-2.6.18"

[workload]
kind = "incast"
servers = {servers}
size = "{size}"
iterations = {iterations}

[record]
anatomy_iteration = 0
"#
        )
    }
}

/// A text as TOML writes it.
fn toml_text(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A scenario's name from a file's.
fn scenario_name(file_name: &str) -> String {
    let stem = Path::new(file_name).file_stem().unwrap_or_default();
    let stem = stem.to_string_lossy().to_lowercase();
    let parts: Vec<&str> = stem
        .split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit()))
        .filter(|part| !part.is_empty())
        .collect();
    if parts.is_empty() {
        "imported".to_owned()
    } else {
        parts.join("-")
    }
}

#[cfg(test)]
#[path = "dat_tests.rs"]
mod tests;
