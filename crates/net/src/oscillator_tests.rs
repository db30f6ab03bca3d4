//! Oscillators that are off.

use super::*;

fn rate(ppm: u32, seed: u64, nominal: Rate) -> Rate {
    Oscillator::new(ppm, Stream::new(seed, "test", 0)).rate(nominal)
}

#[test]
fn no_parts_in_a_million_are_none() {
    for bps in [1, 999, 9_584_640_000, 10_000_000_000, u64::MAX] {
        let nominal = Rate::from_bps(bps);
        assert_eq!(rate(0, 5, nominal), nominal);
    }
}

#[test]
fn deviations_fill_what_is_allowed_and_no_more() {
    let nominal = Rate::from_gbps(25);
    let off = |seed| rate(100, seed, nominal).as_bps() as i64 - nominal.as_bps() as i64;
    let all: Vec<i64> = (0..4000).map(off).collect();
    let most = 25_000_000_000 / 10_000;
    assert!(all.iter().all(|bps| bps.abs() <= most));
    for quarter in 0..4 {
        let from = -most + quarter * most / 2;
        let count = all
            .iter()
            .filter(|bps| (from..from + most / 2).contains(bps));
        // 1000 of 4000, give or take five times the standard deviation.
        assert!(count.count().abs_diff(1000) < 137, "quarter {quarter}");
    }
}

#[test]
fn twice_the_parts_are_twice_the_deviation() {
    let nominal = Rate::from_gbps(100);
    for seed in 0..50 {
        let [one, two] = [50, 100].map(|ppm| rate(ppm, seed, nominal).as_bps() as i64);
        let nominal = nominal.as_bps() as i64;
        assert!(
            (two - nominal - 2 * (one - nominal)).abs() <= 2,
            "seed {seed}"
        );
    }
}

#[test]
fn the_slowest_link_still_goes() {
    for seed in 0..50 {
        assert_eq!(rate(1000, seed, Rate::from_bps(1)), Rate::from_bps(1));
    }
}
