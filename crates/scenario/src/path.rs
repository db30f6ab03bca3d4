//! Paths to a scenario's values: `network.switch.latency`, `network.host[2].name`,
//! `preset.stack."linux-2.6.18".hz`.

use std::fmt::Write as _;

/// One step of a path as it is written in an override or a sweep: a key, or the name or number
/// of an element of a list.
pub(crate) type Steps = Vec<String>;

fn is_bare(key: &str) -> bool {
    !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// `parent` and a key below it, quoted where TOML needs it.
pub(crate) fn join(parent: &str, key: &str) -> String {
    let mut path = parent.to_owned();
    if !path.is_empty() {
        path.push('.');
    }
    if is_bare(key) {
        path.push_str(key);
    } else {
        let _ = write!(path, "{key:?}");
    }
    path
}

/// `parent` and an element of the list there.
pub(crate) fn index(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}

/// `prefix` and a path below it.
pub(crate) fn concat(prefix: &str, path: &str) -> String {
    match (prefix, path) {
        ("", path) => path.to_owned(),
        (prefix, "") => prefix.to_owned(),
        (prefix, path) if path.starts_with('[') => format!("{prefix}{path}"),
        (prefix, path) => format!("{prefix}.{path}"),
    }
}

/// The path one step further out, if there is one.
pub(crate) fn parent(path: &str) -> Option<&str> {
    let mut quoted = false;
    let mut cut = None;
    let mut previous = ' ';
    for (at, c) in path.char_indices() {
        match c {
            '"' if previous != '\\' => quoted = !quoted,
            '.' | '[' if !quoted => cut = Some(at),
            _ => {}
        }
        previous = c;
    }
    match cut {
        Some(at) => Some(&path[..at]),
        None if path.is_empty() => None,
        None => Some(""),
    }
}

/// The steps of a path that a user wrote, by TOML's rules for keys. `[2]` is written `.2`.
pub(crate) fn parse(text: &str) -> Option<Steps> {
    let document = format!("{text} = 0");
    let table = toml::de::DeTable::parse(&document).ok()?;
    let mut steps = Steps::new();
    let mut table = table.get_ref();
    loop {
        if table.len() != 1 {
            return None;
        }
        let (key, value) = table.iter().next()?;
        steps.push(key.get_ref().to_string());
        match value.get_ref() {
            toml::de::DeValue::Table(inner) => table = inner,
            toml::de::DeValue::Integer(_) => return Some(steps),
            _ => return None,
        }
    }
}

/// Steps as a path to show.
pub(crate) fn show(steps: &[String]) -> String {
    steps
        .iter()
        .fold(String::new(), |path, step| join(&path, step))
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
