//! Whose turn it is: strict priority and weighted shares among the classes of a port.
//!
//! Models enhanced transmission selection (IEEE 802.1Qaz) with the parameters of Linux `tc ets`: the
//! first `strict` bands go in order, each only while those before it are empty; the others share
//! what is left by deficit round robin (Shreedhar and Varghese, SIGCOMM 1995), each turn `quanta`
//! bytes. Linux has a discipline take its next frame out before it looks at its length
//! (qdisc_peek_dequeued); here the head is looked at, and what leaves in its place is settled
//! afterwards. `priomap` says which band a class is in. A band whose classes are all paused is passed
//! by as if it were empty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::Bytes;

/// Traffic classes there are.
pub const CLASSES: usize = 8;

/// Parameters of the scheduler, by the names of `tc ets`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EtsConfig {
    /// Bands served in strict order, from band 0.
    #[schemars(range(min = 0, max = 8))]
    pub strict: u8,
    /// Bytes a turn of each band beyond those.
    #[serde(default)]
    #[schemars(length(max = 8))]
    pub quanta: Vec<Bytes>,
    /// The band of each class, from class 0; classes beyond its end are in the last band.
    #[serde(default)]
    #[schemars(length(max = 8), inner(range(min = 0, max = 7)))]
    pub priomap: Vec<u8>,
}

impl EtsConfig {
    /// Number of bands.
    #[must_use]
    pub fn bands(&self) -> usize {
        usize::from(self.strict) + self.quanta.len()
    }

    /// The band of a class.
    #[must_use]
    pub fn band(&self, class: u8) -> usize {
        let last = self.bands().saturating_sub(1);
        let said = self.priomap.get(usize::from(class));
        said.map_or(last, |band| usize::from(*band).min(last))
    }
}

impl Default for EtsConfig {
    /// One band for all.
    fn default() -> EtsConfig {
        EtsConfig {
            strict: 1,
            quanta: Vec::new(),
            priomap: Vec::new(),
        }
    }
}

/// The scheduler of one port.
#[derive(Clone, Debug)]
pub struct Ets {
    band_of_class: [u8; CLASSES],
    strict: usize,
    quanta: Vec<u64>,
    /// Bytes that each weighted band may send yet; below zero where a longer frame left than was looked at.
    deficits: Vec<i64>,
    /// The weighted band whose turn it is, from 0.
    turn: usize,
    /// What the weighted band chosen last was charged.
    charged: i64,
}

impl Ets {
    /// The scheduler that `config` describes.
    #[must_use]
    pub fn new(config: &EtsConfig) -> Ets {
        Ets {
            band_of_class: std::array::from_fn(|class| config.band(class as u8) as u8),
            strict: usize::from(config.strict),
            quanta: config.quanta.iter().map(|q| q.get().max(1)).collect(),
            deficits: vec![0; config.quanta.len()],
            turn: 0,
            charged: 0,
        }
    }

    /// The band of a class.
    #[inline]
    #[must_use]
    pub fn band(&self, class: u8) -> usize {
        usize::from(self.band_of_class[usize::from(class & 7)])
    }

    /// The band to take the next frame from; `head` gives the length of a band's next frame that may
    /// leave, or `None`. `None`: no band has one.
    pub fn next(&mut self, head: impl Fn(usize) -> Option<u64>) -> Option<usize> {
        if let Some(band) = (0..self.strict).find(|band| head(*band).is_some()) {
            return Some(band);
        }
        let count = self.quanta.len();
        if (0..count).all(|i| head(self.strict + i).is_none()) {
            self.deficits.fill(0);
            return None;
        }
        loop {
            let turn = self.turn;
            match head(self.strict + turn) {
                Some(bytes) if bytes as i64 <= self.deficits[turn] => {
                    self.deficits[turn] -= bytes as i64;
                    self.charged = bytes as i64;
                    return Some(self.strict + turn);
                }
                // An empty band saves nothing up, and owes what it owed.
                None => self.deficits[turn] = self.deficits[turn].min(0),
                Some(_) => {}
            }
            self.turn = (turn + 1) % count;
            if head(self.strict + self.turn).is_some() {
                self.deficits[self.turn] += self.quanta[self.turn] as i64;
            }
        }
    }

    /// The band that was just chosen has sent so many bytes, or nothing: a discipline may drop what was
    /// looked at, and the turn pays for what leaves.
    #[inline]
    pub fn sent(&mut self, band: usize, bytes: u64) {
        if let Some(weighted) = band.checked_sub(self.strict) {
            self.deficits[weighted] += self.charged - bytes as i64;
            self.charged = 0;
        }
    }
}

#[cfg(test)]
#[path = "ets_tests.rs"]
mod tests;
