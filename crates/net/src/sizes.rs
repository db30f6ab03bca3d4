//! Sizes of flows and messages: all alike, or drawn from a distribution.
//!
//! Models an empirical distribution as its cumulative distribution function, linear between its points. Numbers are
//! drawn with integers only: the same on every machine, and at both ends of a connection.

use serde::{Deserialize, Serialize};

use crate::random::Stream;

/// One in fixed point.
const ONE: u64 = 1 << 32;

/// A distribution to draw from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// Bytes, and the share of sizes no larger in 2^-32.
    points: Vec<(u64, u64)>,
}

impl Distribution {
    /// That of these points: bytes, and the share of sizes no larger, both rising, the last 1.
    #[must_use]
    pub fn new(points: impl IntoIterator<Item = (u64, f64)>) -> Distribution {
        let fixed = |p: f64| (p * ONE as f64) as u64;
        Distribution {
            points: points.into_iter().map(|(b, p)| (b, fixed(p))).collect(),
        }
    }

    /// The mean, rounded down, at least a byte.
    #[must_use]
    pub fn mean_bytes(&self) -> u64 {
        let first = self
            .points
            .first()
            .map_or(0, |(b, p)| u128::from(b * 2) * u128::from(*p));
        let rest = self
            .points
            .windows(2)
            .map(|pair| u128::from(pair[0].0 + pair[1].0) * u128::from(pair[1].1 - pair[0].1));
        ((rest.sum::<u128>() + first) / u128::from(2 * ONE)).max(1) as u64
    }

    /// Draws a size, bytes.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let share = stream.next_u64() >> 32;
        let above = self.points.partition_point(|(_, p)| *p <= share);
        let Some((bytes, p)) = self.points.get(above).copied() else {
            return self.points.last().map_or(1, |last| last.0);
        };
        let Some((bytes_below, p_below)) = above.checked_sub(1).map(|i| self.points[i]) else {
            return bytes;
        };
        let part = u128::from(bytes - bytes_below) * u128::from(share - p_below);
        bytes_below + (part / u128::from((p - p_below).max(1))) as u64
    }
}

/// Sizes of one message after another, bytes, without end.
#[derive(Clone, Debug)]
pub enum Lengths {
    /// All of so many.
    Same(u64),
    /// Each drawn from its stream.
    Drawn(Distribution, Stream),
}

impl Lengths {
    /// Of the requests on the connection of number `index` in a run with `seed`: of `sizes`, or of so many bytes each.
    #[must_use]
    pub fn of_requests(bytes: u64, sizes: Option<Distribution>, seed: u64, index: u64) -> Lengths {
        Lengths::new(bytes, sizes, || Stream::new(seed, "request-size", index))
    }

    /// Of their answers.
    #[must_use]
    pub fn of_responses(bytes: u64, sizes: Option<Distribution>, seed: u64, index: u64) -> Lengths {
        Lengths::new(bytes, sizes, || Stream::new(seed, "response-size", index))
    }

    fn new(bytes: u64, sizes: Option<Distribution>, stream: impl FnOnce() -> Stream) -> Lengths {
        match sizes {
            None => Lengths::Same(bytes),
            Some(sizes) => Lengths::Drawn(sizes, stream()),
        }
    }

    /// The next one.
    pub fn draw(&mut self) -> u64 {
        match self {
            Lengths::Same(bytes) => *bytes,
            Lengths::Drawn(sizes, stream) => sizes.draw(stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Distribution, Lengths};

    #[test]
    fn both_ends_of_a_connection_draw_the_same_sizes_and_others_their_own() {
        let sizes = Distribution::new([(10, 0.5), (1000, 1.0)]);
        let of = |index| Lengths::of_requests(1, Some(sizes.clone()), 7, index);
        let hundred = |mut all: Lengths| (0..100).map(|_| all.draw()).collect::<Vec<_>>();
        assert_eq!(hundred(of(3)), hundred(of(3)));
        assert_ne!(hundred(of(3)), hundred(of(4)));
        assert_ne!(
            hundred(of(3)),
            hundred(Lengths::of_responses(1, Some(sizes.clone()), 7, 3))
        );
        let mean = hundred(of(3)).iter().sum::<u64>() / 100;
        assert!(
            (180..340).contains(&mean),
            "{mean} of {}",
            sizes.mean_bytes()
        );
        assert_eq!(hundred(Lengths::of_requests(5, None, 7, 0)), [5; 100]);
    }
}
