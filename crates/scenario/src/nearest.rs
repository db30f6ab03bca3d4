//! The nearest right word to a wrong one.

/// Beyond this share of differing letters two words are not taken for one another.
const LIKENESS: f64 = 0.6;

/// The candidate most like `wrong`, if one is like it at all.
pub(crate) fn nearest<'a>(
    wrong: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // A key has underscores and a choice hyphens: fq_codel is fq-codel.
    let plain = |word: &str| word.to_lowercase().replace('_', "-");
    let wrong = plain(wrong);
    let mut best: Option<(&str, f64)> = None;
    for candidate in candidates {
        let lower = plain(candidate);
        // A part of the right word counts as well: `buffer` for `port_buffer`.
        let part =
            wrong.len().min(lower.len()) >= 3 && (lower.contains(&wrong) || wrong.contains(&lower));
        let likeness =
            strsim::normalized_damerau_levenshtein(&wrong, &lower) + if part { 0.3 } else { 0.0 };
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

#[cfg(test)]
#[path = "nearest_tests.rs"]
mod tests;
