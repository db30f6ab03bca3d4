use tailback_net::random::Stream;
use tailback_units::Bytes;

use super::{SizePoint, Sizes};

fn point((bytes, share): (u64, f64)) -> SizePoint {
    SizePoint {
        bytes: Bytes::new(bytes),
        share,
    }
}

/// Mean of many draws, bytes.
fn drawn_mean(sizes: &Sizes, draws: u64) -> u64 {
    let distribution = sizes.distribution();
    let mut stream = Stream::new(1, "test", 0);
    (0..draws)
        .map(|_| distribution.draw(&mut stream))
        .sum::<u64>()
        / draws
}

#[test]
fn means_are_those_of_the_papers() {
    // By hand: the sum over pieces of share times middle, in segments of 1460 bytes.
    let web = Sizes::WebSearch {}.distribution().mean_bytes();
    assert_eq!(web / 1000, 1665);
    let mining = Sizes::DataMining {}.distribution().mean_bytes();
    assert_eq!(mining / 1_000_000, 7);
}

#[test]
fn draws_have_the_mean() {
    let sizes = Sizes::WebSearch {};
    let mean = sizes.distribution().mean_bytes();
    let drawn = drawn_mean(&sizes, 200_000);
    assert!(drawn.abs_diff(mean) < mean / 50, "{drawn} for {mean}");
}

#[test]
fn a_jump_of_the_distribution_is_a_size_that_many_have() {
    let points = vec![point((100, 0.25)), point((300, 1.0))];
    let distribution = Sizes::Points { points }.distribution();
    let mut stream = Stream::new(2, "test", 0);
    let draws: Vec<u64> = (0..4000).map(|_| distribution.draw(&mut stream)).collect();
    assert!(draws.iter().all(|d| (100..=300).contains(d)));
    let least = draws.iter().filter(|d| **d == 100).count();
    assert!((900..1150).contains(&least), "{least}");
    assert_eq!(distribution.mean_bytes(), 175);
}

#[test]
fn what_is_no_distribution_is_told() {
    let points = |points: &[(u64, f64)]| Sizes::Points {
        points: points.iter().copied().map(point).collect(),
    };
    assert_eq!(points(&[(1, 0.0), (2, 1.0)]).findings("sizes"), []);
    for wrong in [
        points(&[(2, 0.0), (1, 1.0)]),
        points(&[(1, 0.5), (2, 0.4)]),
        points(&[(1, 0.5), (2, 0.9)]),
        points(&[(0, 0.5), (2, 1.0)]),
        Sizes::Fixed {
            bytes: Bytes::new(0),
        },
    ] {
        assert_eq!(wrong.findings("sizes").len(), 1, "{wrong:?}");
    }
}
