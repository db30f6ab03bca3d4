//! Seeded streams of random numbers: each link, host and workload has its own.

/// A stream of pseudo-random numbers (SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

/// Golden-ratio increment of SplitMix64.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl Stream {
    /// The stream of `component` (a stable name, such as `"link"` with its index) in a run with
    /// `seed`. Adding a component does not shift another's stream.
    #[must_use]
    pub fn new(seed: u64, component: &str, index: u64) -> Stream {
        let mut state = seed;
        for byte in component.bytes() {
            state = mix(state.wrapping_add(GAMMA) ^ u64::from(byte));
        }
        Stream {
            state: mix(state ^ index.wrapping_mul(GAMMA)),
        }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// A number from 0 up to, but not with, `n`; 0 if `n` is.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// Exponentially distributed with the given mean, rounded down to whole units.
    ///
    /// Inverted in 32-bit fixed point rather than by `ln`, whose last bit differs between
    /// machines: the same stream gives the same number everywhere.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        // von Neumann: the fractional part by comparing runs of uniforms, the whole part by
        // counting failed tries (Ahrens and Dieter, CACM 1972); exact, and needs no logarithm.
        let mut whole = 0_u64;
        loop {
            let first = self.next_u64() >> 32;
            let mut last = first;
            let mut length = 1_u32;
            loop {
                let next = self.next_u64() >> 32;
                if next >= last {
                    break;
                }
                last = next;
                length += 1;
            }
            if length % 2 == 1 {
                let fixed = (u128::from(whole) << 32) + u128::from(first);
                return ((fixed * u128::from(mean)) >> 32) as u64;
            }
            whole += 1;
        }
    }
}

/// The number that a random 64-bit number is below with the given probability.
///
/// 2^64 as a float is exact, and so is its product's scale: the same on every machine.
#[must_use]
pub fn threshold(probability: f64) -> u64 {
    (probability * 18_446_744_073_709_551_616.0) as u64
}

/// SplitMix64's finaliser: a bijection that spreads every bit over all. Also the flow hash.
#[inline]
#[must_use]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
#[path = "random_tests.rs"]
mod tests;
