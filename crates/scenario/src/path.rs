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

/// The steps of a path that a user wrote, by TOML's rules for keys. An element of a list is `[2]`, as
/// problems show it, or `.2`.
pub(crate) fn parse(text: &str) -> Option<Steps> {
    let document = format!("{} = 0", dotted(text));
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

/// A path with `[2]` as `.2`, which TOML reads.
fn dotted(text: &str) -> String {
    let mut dotted = String::with_capacity(text.len());
    let (mut quote, mut escaped) = (None, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        if let (None, '[', Some((number, behind))) = (quote, c, after.split_once(']'))
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
            && (behind.is_empty() || behind.starts_with(['.', '[']))
        {
            dotted.push('.');
            dotted.push_str(number);
            rest = behind;
            continue;
        }
        match quote {
            Some(open) if c == open && !escaped => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
        escaped = c == '\\' && !escaped && quote == Some('"');
        dotted.push(c);
        rest = after;
    }
    dotted
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
