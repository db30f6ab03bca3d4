//! How evenly flows share what there is.
//!
//! Jain's index of fairness (Jain, Chiu and Hawe, "A Quantitative Measure of Fairness and Discrimination
//! for Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984).

/// (Σx)² / (n Σx²): one for equal shares, 1/n where one has all; no number (NaN) of fewer than two, or where
/// nobody got anything.
pub(crate) fn jain_index(rates: &[f64]) -> f64 {
    if rates.len() < 2 {
        return f64::NAN;
    }
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    sum * sum / (rates.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::jain_index;

    #[test]
    fn it_lies_between_one_who_has_all_and_equal_shares() {
        assert_eq!(jain_index(&[3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain_index(&[0.0, 5.0, 0.0, 0.0]), 0.25);
        assert_eq!(jain_index(&[1.0, 3.0]), 0.8);
    }

    #[test]
    fn nobody_shares_alone_or_nothing() {
        assert!(jain_index(&[7.0]).is_nan());
        assert!(jain_index(&[]).is_nan());
        assert!(jain_index(&[0.0, 0.0]).is_nan());
    }
}
