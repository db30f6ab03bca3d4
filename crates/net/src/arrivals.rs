//! When something comes that waits for nothing: requests in even steps, or those of very many users.

use crate::random::Stream;

/// Times from the beginning, ns: an iterator without end.
#[derive(Clone, Debug)]
pub struct Arrivals {
    next_ns: u64,
    gap_ns: u64,
    drawn: Option<Stream>,
}

impl Arrivals {
    /// At once, and then every `gap_ns`.
    #[must_use]
    pub fn even(gap_ns: u64) -> Arrivals {
        Arrivals {
            next_ns: 0,
            gap_ns,
            drawn: None,
        }
    }

    /// A Poisson process with that mean gap, the one of number `index` in a run with `seed`.
    #[must_use]
    pub fn poisson(gap_ns: u64, seed: u64, index: u64) -> Arrivals {
        let mut drawn = Stream::new(seed, "arrivals", index);
        Arrivals {
            next_ns: drawn.exponential(gap_ns),
            gap_ns,
            drawn: Some(drawn),
        }
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let gap_ns = match &mut self.drawn {
            None => self.gap_ns,
            Some(drawn) => drawn.exponential(self.gap_ns),
        };
        let now_ns = self.next_ns;
        self.next_ns = now_ns.saturating_add(gap_ns);
        Some(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::Arrivals;

    #[test]
    fn even_ones_begin_at_once_and_drawn_ones_have_their_mean() {
        assert_eq!(Arrivals::even(5).take(3).collect::<Vec<_>>(), [0, 5, 10]);
        let last_ns = Arrivals::poisson(1000, 1, 0).nth(9_999).expect("no end");
        assert!((9_700_000..10_300_000).contains(&last_ns), "{last_ns}");
        let others = Arrivals::poisson(1000, 1, 1).take(5).collect::<Vec<_>>();
        assert!(!Arrivals::poisson(1000, 1, 0).take(5).eq(others));
    }
}
