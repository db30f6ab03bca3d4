//! What links are sent by: the oscillators of cards and switches.
//!
//! Models one as off its nominal frequency by some parts in a million, always by the same; it drives all
//! ports of its host or switch. IEEE 802.3 allows 100 either way (clauses 40 and 52, for instance); crystals are
//! off by 20 to 50. Left out: drift with temperature, jitter, links that take their clock from the other
//! end, and every other clock of a node: its processor's, its timers', its interrupts'.

use tailback_units::Rate;

use crate::random::Stream;

/// Parts in 10^12 of a part in a million.
const FINE: u64 = 1_000_000;
/// What deviations are counted in.
const WHOLE: i128 = 1_000_000_000_000;

/// How far a node's clock is off, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Oscillator {
    /// Parts in 10^12, more than -10^12.
    deviation: i64,
}

impl Oscillator {
    /// The clock of one node, which is off by no more than `ppm` parts in a million, 0 to 1000; `stream` says by
    /// how much, evenly. With the same stream and twice the parts it is twice as far off.
    #[must_use]
    pub fn new(ppm: u32, mut stream: Stream) -> Oscillator {
        let most = u64::from(ppm) * FINE;
        Oscillator {
            deviation: stream.below(2 * most + 1) as i64 - most as i64,
        }
    }

    /// The rate at which a link of this nominal rate is sent over: to the nearest bit a second.
    #[must_use]
    pub fn rate(self, nominal: Rate) -> Rate {
        let bps = i128::from(nominal.as_bps()) * (WHOLE + i128::from(self.deviation));
        let rounded = (bps + WHOLE / 2) / WHOLE;
        Rate::from_bps(u64::try_from(rounded).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
#[path = "oscillator_tests.rs"]
mod tests;
