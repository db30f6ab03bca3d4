//! How long datagrams were on their way, by count: many millions in a few kilobytes.
//!
//! A histogram with 128 buckets for each doubling, as HdrHistogram has them: a value is known to 0.4 %. Least,
//! greatest and mean are exact.

use serde::{Deserialize, Serialize};

/// Of a value's binary digits so many count, beside the first.
const DIGITS: u32 = 7;

/// Delays of datagrams, being counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delays {
    /// By bucket; as many as have been needed.
    counts: Vec<u32>,
    least_ns: u64,
    greatest_ns: u64,
    sum_ns: u64,
}

/// The bucket of a value.
#[inline]
fn bucket(ns: u64) -> usize {
    let doublings = (ns >> DIGITS).checked_ilog2().map_or(0, |log| log + 1);
    ((u64::from(doublings) << DIGITS) + ((ns >> doublings.saturating_sub(1)) & LAST)) as usize
}

/// The value that stands for a bucket: the middle of those in it.
fn middle(bucket: usize) -> u64 {
    let (doublings, rest) = (bucket >> DIGITS, bucket as u64 & LAST);
    match doublings {
        0 => rest,
        more => {
            let width = 1_u64 << (more - 1);
            (rest + LAST + 1) * width + (width - 1) / 2
        }
    }
}

/// The last bucket of a doubling.
const LAST: u64 = (1 << DIGITS) - 1;

/// What was counted, as it is told. Values stand for their buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelaysTold {
    /// Exact.
    pub least_ns: u64,
    /// Exact.
    pub greatest_ns: u64,
    /// Of all of them.
    pub sum_ns: u64,
    /// Value and how many, the least first.
    pub counts: Vec<(u64, u32)>,
}

impl Delays {
    /// A datagram was so long on its way.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        self.note(ns, ns, ns);
        self.count(bucket(ns), 1);
    }

    #[inline]
    fn count(&mut self, bucket: usize, count: u32) {
        if bucket >= self.counts.len() {
            self.grow(bucket);
        }
        let counted = &mut self.counts[bucket];
        *counted = counted.saturating_add(count);
    }

    #[cold]
    fn grow(&mut self, bucket: usize) {
        self.counts
            .resize((bucket + 1).next_multiple_of(1 << DIGITS), 0);
    }

    #[inline]
    fn note(&mut self, least_ns: u64, greatest_ns: u64, sum_ns: u64) {
        self.least_ns = match self.counts.is_empty() {
            true => least_ns,
            false => self.least_ns.min(least_ns),
        };
        self.greatest_ns = self.greatest_ns.max(greatest_ns);
        self.sum_ns = self.sum_ns.saturating_add(sum_ns);
    }

    /// Counts in what another has counted.
    pub fn join(&mut self, other: &DelaysTold) {
        if other.counts.is_empty() {
            return;
        }
        self.note(other.least_ns, other.greatest_ns, other.sum_ns);
        for (ns, count) in &other.counts {
            self.count(bucket(*ns), *count);
        }
    }

    /// What is told of them.
    #[must_use]
    pub fn told(&self) -> DelaysTold {
        let counts = self.counts.iter().copied().enumerate();
        let counts = counts.filter(|(_, count)| *count > 0);
        DelaysTold {
            least_ns: self.least_ns,
            greatest_ns: self.greatest_ns,
            sum_ns: self.sum_ns,
            counts: counts
                .map(|(bucket, count)| (middle(bucket), count))
                .collect(),
        }
    }
}

impl DelaysTold {
    /// How many.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// None of none; as are the next three.
    #[must_use]
    pub fn mean_us(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64 / 1e3)
    }

    /// That below which the share `q` lies (nearest rank), to 0.4 %.
    #[must_use]
    pub fn quantile_us(&self, q: f64) -> Option<f64> {
        let rank = (q * self.count() as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let bucket = self.counts.iter().find(|(_, count)| {
            seen += u64::from(*count);
            seen >= rank
        });
        let value = bucket?.0.clamp(self.least_ns, self.greatest_ns);
        Some(value as f64 / 1e3)
    }

    /// The least.
    #[must_use]
    pub fn least_us(&self) -> Option<f64> {
        (!self.counts.is_empty()).then_some(self.least_ns as f64 / 1e3)
    }

    /// The greatest.
    #[must_use]
    pub fn greatest_us(&self) -> Option<f64> {
        (!self.counts.is_empty()).then_some(self.greatest_ns as f64 / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_in_its_bucket() {
        let near = |log: u32| [127 << log, (128 << log) - 1, 128 << log];
        for ns in (0..5000).chain((0..57).flat_map(near)) {
            let here = bucket(ns);
            let off = middle(here).abs_diff(ns) as f64;
            assert!(off <= ns as f64 / 256.0, "{ns}: {here}, {}", middle(here));
            assert_eq!(bucket(middle(here)), here, "{ns}");
        }
        assert!((1..5000).all(|ns| (0..2).contains(&(bucket(ns) - bucket(ns - 1)))));
    }

    #[test]
    fn quantiles_are_near_and_ends_exact() {
        let mut delays = Delays::default();
        let none = delays.told();
        assert_eq!((none.mean_us(), none.quantile_us(0.5)), (None, None));
        for us in 1..=1000_u64 {
            delays.add(us * 1000 + 7);
        }
        let delays = delays.told();
        assert_eq!(delays.count(), 1000);
        assert_eq!(delays.least_us(), Some(1.007));
        assert_eq!(delays.greatest_us(), Some(1000.007));
        assert_eq!(delays.mean_us(), Some(500.507));
        for q in [0.5, 0.95, 0.99] {
            let exact = 1000.0 * q;
            let found = delays.quantile_us(q).expect("there are some");
            assert!((found / exact - 1.0).abs() < 0.005, "{q}: {found}");
        }
    }

    #[test]
    fn what_is_told_is_what_was_counted() {
        let (mut all, mut joint) = (Delays::default(), Delays::default());
        for part in [0..70_u64, 70..100] {
            let mut one = Delays::default();
            for number in part {
                let ns = number * number * 997;
                for _ in 0..=number % 3 {
                    one.add(ns);
                    all.add(ns);
                }
            }
            joint.join(&one.told());
        }
        joint.join(&Delays::default().told());
        assert_eq!(joint.told(), all.told());
        assert_eq!(joint.told().count(), 199);
        assert_eq!(joint.told().least_us(), Some(0.0));
    }
}
