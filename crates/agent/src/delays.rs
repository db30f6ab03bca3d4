//! How long datagrams were on their way, by count: many millions in a few kilobytes.
//!
//! A histogram whose buckets are at most one in a hundred of their values wide (`hdrhistogram` with two
//! digits); least, greatest and mean are exact.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Significant digits of values.
const DIGITS: u8 = 2;

/// Delays of datagrams. As it is told, values stand for their buckets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delays {
    /// Made with the first: most flows of a large mesh have none for long.
    histogram: Option<Box<Histogram<u32>>>,
    least_ns: u64,
    greatest_ns: u64,
    sum_ns: u64,
}

/// The same, in a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DelaysTold {
    /// Exact.
    pub least_ns: u64,
    /// Exact.
    pub greatest_ns: u64,
    /// Of all of them.
    pub sum_ns: u64,
    /// Value and how many.
    pub counts: Vec<(u64, u32)>,
}

impl Delays {
    /// A datagram was so long on its way.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        self.note(ns, ns, ns);
        self.add_many(ns, 1);
    }

    fn add_many(&mut self, ns: u64, count: u32) {
        let histogram = self.histogram.get_or_insert_with(|| {
            let mut empty = Histogram::new(DIGITS).expect("digits are 0 to 5");
            empty.auto(true);
            Box::new(empty)
        });
        // It grows with what is put in: there is nothing that it cannot take.
        let taken = histogram.record_n(ns, count);
        debug_assert!(taken.is_ok(), "{taken:?}");
    }

    fn note(&mut self, least_ns: u64, greatest_ns: u64, sum_ns: u64) {
        self.least_ns = match self.histogram {
            Some(_) => self.least_ns.min(least_ns),
            None => least_ns,
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
            self.add_many(*ns, *count);
        }
    }

    /// What is told of them.
    #[must_use]
    pub fn told(&self) -> DelaysTold {
        let buckets = self.histogram.iter().flat_map(|h| h.iter_recorded());
        DelaysTold {
            least_ns: self.least_ns,
            greatest_ns: self.greatest_ns,
            sum_ns: self.sum_ns,
            counts: buckets
                .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
                .collect(),
        }
    }

    /// How many.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, |h| h.len())
    }

    /// None of none; as are the next three.
    #[must_use]
    pub fn mean_us(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64 / 1e3)
    }

    /// That below which the share `q` lies, to one in a hundred.
    #[must_use]
    pub fn quantile_us(&self, q: f64) -> Option<f64> {
        let value = self.histogram.as_ref()?.value_at_quantile(q);
        Some(value.clamp(self.least_ns, self.greatest_ns) as f64 / 1e3)
    }

    /// The least.
    #[must_use]
    pub fn least_us(&self) -> Option<f64> {
        (self.count() > 0).then_some(self.least_ns as f64 / 1e3)
    }

    /// The greatest.
    #[must_use]
    pub fn greatest_us(&self) -> Option<f64> {
        (self.count() > 0).then_some(self.greatest_ns as f64 / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_near_and_ends_exact() {
        let mut delays = Delays::default();
        assert_eq!((delays.mean_us(), delays.quantile_us(0.5)), (None, None));
        for us in 1..=1000_u64 {
            delays.add(us * 1000 + 7);
        }
        assert_eq!(delays.count(), 1000);
        assert_eq!(delays.least_us(), Some(1.007));
        assert_eq!(delays.greatest_us(), Some(1000.007));
        assert_eq!(delays.mean_us(), Some(500.507));
        for q in [0.5, 0.95, 0.99] {
            let exact = 1000.0 * q;
            let found = delays.quantile_us(q).expect("there are some");
            assert!((found / exact - 1.0).abs() < 0.01, "{q}: {found}");
        }
    }

    #[test]
    fn what_is_told_is_what_was_counted() {
        let (mut all, mut joint) = (Delays::default(), Delays::default());
        for part in [0..70_u64, 70..100] {
            let mut one = Delays::default();
            for number in part {
                let ns = number * number * 997;
                one.add(ns);
                all.add(ns);
            }
            joint.join(&one.told());
        }
        joint.join(&Delays::default().told());
        assert_eq!(joint.told(), all.told());
        assert_eq!(joint.least_us(), Some(0.0));
    }
}
