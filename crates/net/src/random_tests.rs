use super::Stream;

#[test]
fn streams_of_different_components_differ_and_repeat() {
    let draw = |name: &str, index| Stream::new(1, name, index).next_u64();
    assert_eq!(draw("link", 0), draw("link", 0));
    assert_ne!(draw("link", 0), draw("link", 1));
    assert_ne!(draw("link", 0), draw("host", 0));
}

#[test]
fn the_exponential_has_its_mean_and_its_tail() {
    let mut stream = Stream::new(7, "test", 0);
    let draws: Vec<u64> = (0..200_000)
        .map(|_| stream.exponential(1_000_000))
        .collect();
    let mean = draws.iter().sum::<u64>() as f64 / draws.len() as f64;
    assert!((mean / 1e6 - 1.0).abs() < 0.01, "mean {mean}");
    let beyond = draws.iter().filter(|d| **d > 3_000_000).count() as f64 / draws.len() as f64;
    assert!(
        (beyond - (-3.0_f64).exp()).abs() < 0.002,
        "P(X > 3 mean) = {beyond}"
    );
}

#[test]
fn below_stays_below() {
    let mut stream = Stream::new(7, "test", 1);
    assert_eq!(stream.below(0), 0);
    assert!((0..1000).all(|_| stream.below(10) < 10));
}
