//! The law of CoDel and COBALT: signals an interval over the square root of their number apart.
//!
//! Models what Linux makes of RFC 8289's law. It keeps 1/√count and moves it by one step of Newton's method as the count
//! moves (codel_Newton_step in include/net/codel_impl.h, 16 bits; cobalt_invsqrt in net/sched/sch_cake.c, 32
//! bits), which for CoDel tells at small counts: after 1 come 0.5, 0.56, 0.49, 0.45 for 0.71, 0.58, 0.5, 0.45,
//! and after a count that has jumped, as by an overflow of FQ-CoDel's limit, whatever is left of the product.
//! CAKE takes the first sixteen from a table.

use tailback_units::{Duration, Time};

/// A tick of CoDel's clock in Linux (codel_get_time).
const TICK: Duration = Duration::from_ns(1024);
/// CAKE has the roots of counts below in a table.
const TABLE: u32 = 16;

/// 1/√count, in 2^-32.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InverseRoot(u32);

/// So long as CoDel has it: whole ticks.
pub(super) fn in_ticks(time: Duration) -> Duration {
    TICK * (time.as_ps() / TICK.as_ps())
}

impl InverseRoot {
    /// As CoDel keeps it: the upper half.
    const KEPT: u32 = 0xffff_0000;
    /// Of a count of one, for CoDel.
    pub(super) const ONE: InverseRoot = InverseRoot(InverseRoot::KEPT);

    /// The next one of CoDel, for a count that has moved.
    pub(super) fn step(&mut self, count: u32) {
        self.newton(count);
        self.0 &= InverseRoot::KEPT;
    }

    /// The next one of COBALT.
    pub(super) fn step_or_look_up(&mut self, count: u32) {
        if count < TABLE {
            self.0 = (u64::MAX / u64::from(count.max(1))).isqrt() as u32;
        } else {
            self.newton(count);
        }
    }

    /// x (3 − count x²) / 2, in as many bits as Linux has for it: what does not go into them is lost.
    fn newton(&mut self, count: u32) {
        let x = u64::from(self.0);
        let rest = (3_u64 << 32).wrapping_sub(u64::from(count) * ((x * x) >> 32));
        self.0 = ((rest >> 2).wrapping_mul(x) >> 31) as u32;
    }

    /// An interval over the count's root.
    pub(super) fn of(self, interval: Duration) -> Duration {
        Duration::from_ps(((u128::from(interval.as_ps()) * u128::from(self.0)) >> 32) as u64)
    }

    /// CoDel's next signal after `from`: whole ticks, one at least.
    pub(super) fn after(self, from: Time, interval: Duration) -> Time {
        let ticks = (interval.as_ps() / TICK.as_ps() * u64::from(self.0)) >> 32;
        from + TICK * ticks.max(1)
    }
}
