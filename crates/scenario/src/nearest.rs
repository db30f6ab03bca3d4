//! The nearest right word to a wrong one.

/// Beyond this share of differing letters two words are not taken for one another.
const LIKENESS: f64 = 0.6;

/// So many words are listed; of more, so many of the most like the wrong one.
const LISTED: usize = 24;
const MOST_LIKE: usize = 5;

/// How much a candidate is like `wrong`; beyond 1 if one is a part of the other.
fn likeness(wrong: &str, candidate: &str) -> f64 {
    // A key has underscores and a choice hyphens: fq_codel is fq-codel.
    let plain = |word: &str| word.to_lowercase().replace('_', "-");
    let (wrong, right) = (plain(wrong), plain(candidate));
    // A part of the right word counts as well: `buffer` for `port_buffer`.
    let part =
        wrong.len().min(right.len()) >= 3 && (right.contains(&wrong) || wrong.contains(&right));
    strsim::normalized_damerau_levenshtein(&wrong, &right) + if part { 0.3 } else { 0.0 }
}

/// The candidate most like `wrong`, if one is like it at all.
pub(crate) fn nearest<'a>(
    wrong: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let mut best: Option<(&str, f64)> = None;
    for candidate in candidates {
        let likeness = likeness(wrong, candidate);
        if likeness >= LIKENESS && best.is_none_or(|(_, b)| likeness > b) {
            best = Some((candidate, likeness));
        }
    }
    best.map(|(candidate, _)| candidate)
}

/// What to write instead of `wrong`: the nearest candidate, or all of them.
pub(crate) fn suggest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    match nearest(wrong, candidates.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("one of {}", candidates.join(", ")),
    }
}

/// What to write instead of the key `wrong`: the nearest of a table's keys, or all of them, or of more than
/// anybody reads the most like it and where the others are.
pub(crate) fn suggest_key(wrong: &str, keys: &[&str]) -> String {
    match nearest(wrong, keys.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None if keys.len() <= LISTED => format!("the keys here are {}", keys.join(", ")),
        None => {
            let mut keys = keys.to_vec();
            keys.sort_by(|a, b| likeness(wrong, b).total_cmp(&likeness(wrong, a)));
            format!(
                "of the {} keys here the most like it are {} (`tailback schema` has all, with what they mean)",
                keys.len(),
                keys[..MOST_LIKE].join(", ")
            )
        }
    }
}

#[cfg(test)]
#[path = "nearest_tests.rs"]
mod tests;
