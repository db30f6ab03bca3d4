//! Bounded Pareto distributions as points.
//!
//! Models F(x) = (1 − (L/x)^a) / (1 − (L/H)^a) between least L and most H by points an eighth of a
//! doubling apart. Powers are made of products and square roots, which are rounded the same on
//! every machine, as a library's `pow` is not.

/// Steps of each doubling.
const STEPS: u32 = 8;
/// Bits of the binary logarithm.
const BITS: u32 = 40;

/// Sizes and shares no larger, the last share 1; `least` is above zero and below `most`.
pub(super) fn points(least: u64, most: u64, shape: f64) -> Vec<(u64, f64)> {
    let step = power(2.0, 1.0 / f64::from(STEPS));
    let (low, high) = (least as f64, most as f64);
    let all = 1.0 - power(low / high, shape);
    let mut points = vec![(least, 0.0)];
    let mut size = low * step;
    while size < high {
        let share = (1.0 - power(low / size, shape)) / all;
        points.push((size as u64, share.min(1.0)));
        size *= step;
    }
    points.push((most, 1.0));
    points
}

/// `base` to the power of `exponent`; both are above zero.
fn power(base: f64, exponent: f64) -> f64 {
    exp2(exponent * log2(base))
}

/// The binary logarithm, bit by bit: squaring doubles it.
fn log2(value: f64) -> f64 {
    let (mut mantissa, mut whole) = (value, 0.0);
    while mantissa >= 2.0 {
        mantissa /= 2.0;
        whole += 1.0;
    }
    while mantissa < 1.0 {
        mantissa *= 2.0;
        whole -= 1.0;
    }
    let mut bit = 0.5;
    for _ in 0..BITS {
        mantissa *= mantissa;
        if mantissa >= 2.0 {
            mantissa /= 2.0;
            whole += bit;
        }
        bit /= 2.0;
    }
    whole
}

/// Two to that power: square roots of two for each bit.
fn exp2(value: f64) -> f64 {
    let whole = value.floor();
    let mut rest = value - whole;
    let (mut result, mut root) = (1.0_f64, 2.0_f64);
    for _ in 0..BITS {
        root = root.sqrt();
        rest *= 2.0;
        if rest >= 1.0 {
            rest -= 1.0;
            result *= root;
        }
    }
    let factor = if whole < 0.0 { 0.5 } else { 2.0 };
    for _ in 0..whole.abs() as u32 {
        result *= factor;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::{points, power};

    #[test]
    fn powers_are_those_of_the_library() {
        for (base, exponent) in [(2.0, 0.125), (0.001, 1.2), (10.0, 3.0), (0.5, 0.5)] {
            let expected = f64::powf(base, exponent);
            let got = power(base, exponent);
            assert!((got / expected - 1.0).abs() < 1e-9, "{got} {expected}");
        }
    }

    #[test]
    fn half_of_all_is_below_the_median() {
        // 1.1: the median of the unbounded distribution is 2^(1/1.1) times the least.
        let points = points(1000, 1_000_000_000, 1.1);
        let median = 1000.0 * f64::powf(2.0, 1.0 / 1.1);
        let below = points.iter().rfind(|(size, _)| (*size as f64) <= median);
        let above = points.iter().find(|(size, _)| (*size as f64) > median);
        assert!(below.unwrap().1 <= 0.5 && above.unwrap().1 >= 0.5);
        assert_eq!(points.last(), Some(&(1_000_000_000, 1.0)));
    }
}
