//! The kernel's clock: jiffies.
//!
//! Models the tick of a kernel with HZ ticks a second (kernel/timer.c): time is the number of
//! whole ticks so far, and a timer set for n jiffies fires at the n-th tick from now, so between
//! n - 1 and n ticks later. Each host's ticks have a phase of their own.

use tailback_units::{Duration, Time};

/// A number of ticks. Wraps only after years at the highest rates.
pub(crate) type Jiffies = u32;

/// Jiffies at time zero: not zero, since a timestamp of zero means "none" (RFC 7323, Linux).
const BASE: u64 = 100_000;
const PS_PER_US: u64 = 1_000_000;
const PS_PER_NS: u64 = 1000;
/// A tick less half a millionth, times 2^64.
const ROUND_UP: u128 = (1 << 64) - (1 << 64) / 2_000_000;

/// A tick or a timestamp that may be none. Zero is none, as in Linux.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp(u32);

impl Stamp {
    pub(crate) const NONE: Stamp = Stamp(0);

    #[inline]
    pub(crate) fn at(stamp: u32) -> Stamp {
        Stamp(stamp)
    }

    #[inline]
    pub(crate) fn get(self) -> Option<u32> {
        (self.0 != 0).then_some(self.0)
    }
}

/// One host's tick.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct JiffyClock {
    tick_ps: u64,
    phase_ps: u64,
    /// Ticks a microsecond, times 2^64: a product for a quotient. Zero where it is one.
    us_inverse: u64,
    /// Added to every timestamp, so that none tells the uptime.
    timestamp_offset: u32,
    hz: u32,
    timestamp_hz: u32,
    /// A timestamp, for how many whole nanoseconds it holds and until when: saves a division a packet.
    stamp: u32,
    stamp_ns: u32,
    /// The tick that now is in, and when the next begins: saves a division a packet.
    now: Jiffies,
    next_tick_ps: u64,
    stamp_until_ps: u64,
    /// When it was last asked.
    now_ps: u64,
}

impl JiffyClock {
    /// `timestamp_hz` ticks a second for timestamps, or the jiffies themselves if zero. At time zero the
    /// kernel has ticked for `phase`: how far that is into a tick says when ticks begin, and how many
    /// it is which buckets of the wheel are over.
    pub(crate) fn new(hz: u32, timestamp_hz: u32, phase: Duration) -> JiffyClock {
        let tick_ps = Duration::from_secs(1).as_ps() / u64::from(hz.max(1));
        let per_us = (u128::from(hz.max(1)) << 64) / 1_000_000;
        JiffyClock {
            hz,
            us_inverse: per_us as u64,
            tick_ps,
            phase_ps: phase.as_ps(),
            timestamp_hz,
            timestamp_offset: 0,
            now: (BASE + phase.as_ps() / tick_ps) as Jiffies,
            next_tick_ps: tick_ps - phase.as_ps() % tick_ps,
            now_ps: 0,
            stamp: 0,
            stamp_ns: 0,
            stamp_until_ps: 0,
        }
    }

    /// The same, with timestamps of its own that begin anywhere (secure_tcp_ts_off, since Linux
    /// 4.10); not where timestamps are the jiffies themselves.
    pub(crate) fn with_timestamp_offset(mut self, offset: u32) -> JiffyClock {
        if self.timestamp_hz > 0 {
            self.timestamp_offset = offset;
        }
        self
    }

    /// The tick that `now` is in.
    #[inline]
    pub(crate) fn jiffies(&mut self, now: Time) -> Jiffies {
        let ps = now.as_ps();
        self.now_ps = ps;
        if ps >= self.next_tick_ps {
            let ticks = (ps + self.phase_ps) / self.tick_ps;
            self.now = (BASE + ticks) as Jiffies;
            self.next_tick_ps = (ticks + 1) * self.tick_ps - self.phase_ps;
        }
        if ps >= self.stamp_until_ps {
            self.renew_stamp();
        }
        self.now
    }

    /// Whole microseconds of a tick; one at least.
    #[inline]
    fn us_per_tick(&self) -> u64 {
        (self.tick_ps / PS_PER_US).max(1)
    }

    /// The timestamp has moved on, or there was none.
    #[cold]
    fn renew_stamp(&mut self) {
        if self.timestamp_hz == 0 {
            // It is the tick itself.
            self.stamp_until_ps = u64::MAX;
            return;
        }
        let stamp_ps = Duration::from_secs(1).as_ps() / u64::from(self.timestamp_hz);
        let stamps = self.now_ps / stamp_ps;
        self.stamp = ((BASE + stamps) as u32).wrapping_add(self.timestamp_offset);
        self.stamp_ns = (stamp_ps / PS_PER_NS) as u32;
        self.stamp_until_ps = (stamps + 1) * stamp_ps;
    }

    /// Microseconds up to when it was last asked.
    #[inline]
    pub(crate) fn now_us(&self) -> u64 {
        self.now_ps / 1_000_000
    }

    /// Nanoseconds up to when it was last asked.
    #[inline]
    pub(crate) fn ns(&self) -> u64 {
        self.now_ps / 1000
    }

    /// Ticks of the timestamp clock a second.
    #[inline]
    pub(crate) fn timestamp_hz(&self) -> u32 {
        if self.timestamp_hz == 0 {
            self.hz
        } else {
            self.timestamp_hz
        }
    }

    /// The timestamp at `ns` nanoseconds.
    #[inline]
    pub(crate) fn timestamp_at(&self, ns: u64) -> u32 {
        if self.timestamp_hz == 0 {
            return (BASE + (ns * 1000 + self.phase_ps) / self.tick_ps) as u32;
        }
        let ps = ns * 1000;
        let left_ps = self.stamp_until_ps.wrapping_sub(ps);
        if left_ps.wrapping_sub(1) < u64::from(self.stamp_ns) * PS_PER_NS {
            return self.stamp;
        }
        let ps_per_tick = 1_000_000_000_000 / u64::from(self.timestamp_hz);
        ((BASE + ps / ps_per_tick) as u32).wrapping_add(self.timestamp_offset)
    }

    /// The whole ticks in `us` microseconds.
    pub(crate) fn whole_ticks(&self, us: u64) -> Jiffies {
        (us / self.us_per_tick()) as Jiffies
    }

    /// A span of microseconds in whole ticks, rounded up (usecs_to_jiffies).
    #[inline]
    pub(crate) fn us_to_ticks(&self, us: u64) -> Jiffies {
        if us > u64::from(u32::MAX) || self.us_inverse == 0 {
            let ticks = (u128::from(us) * u128::from(self.hz)).div_ceil(1_000_000);
            return ticks.min(u128::from(u32::MAX / 4)) as Jiffies;
        }
        // Exact for 32 bits: what is not whole is at least a millionth of a tick, and the product is less than
        // 2^-32 too small.
        let ticks = (u128::from(us) * u128::from(self.us_inverse) + ROUND_UP) >> 64;
        (ticks as Jiffies).min(u32::MAX / 4)
    }

    /// Where a timer set now to fire at tick `expires` fires in truth: the wheel of Linux since
    /// 4.8 has levels of 64 buckets, each of 1, 8, 64, … ticks, and a timer waits in the finest
    /// that reaches it, for the end of its bucket (kernel/time/timer.c: calc_wheel_index).
    /// Buckets count from the kernel's boot, 300 s before its counter wraps.
    #[inline]
    pub(crate) fn wheel(&self, expires: Jiffies, now: Jiffies) -> Jiffies {
        wheel(self.hz, expires, now)
    }

    /// The time last asked for.
    #[inline]
    pub(crate) fn now(&self) -> Time {
        Time::from_ps(self.now_ps)
    }

    /// Whether so many microseconds are surely no more than so many ticks.
    #[inline]
    pub(crate) fn is_within(&self, us: u64, ticks: Jiffies) -> bool {
        us <= u64::from(ticks) * self.us_per_tick()
    }

    /// Ticks in microseconds.
    #[inline]
    pub(crate) fn micros(&self, ticks: Jiffies) -> u32 {
        (u64::from(ticks).saturating_mul(self.tick_ps) / 1_000_000).min(u64::from(u32::MAX)) as u32
    }

    /// The timestamp of the time last asked for (tcp_time_stamp_ts).
    #[inline]
    pub(crate) fn timestamp(&self) -> u32 {
        if self.timestamp_hz == 0 {
            return self.now;
        }
        self.stamp
    }

    /// Ticks that a difference of timestamps stands for.
    #[inline]
    pub(crate) fn ticks_of_timestamp(&self, difference: u32) -> Jiffies {
        if self.timestamp_hz == 0 {
            return difference;
        }
        let tick = u64::from(self.timestamp_hz) * self.tick_ps;
        let span = u64::from(difference).saturating_mul(Duration::from_secs(1).as_ps());
        (span / tick.max(1)) as Jiffies
    }

    /// The tick last asked for.
    #[inline]
    pub(crate) fn tick(&self) -> Jiffies {
        self.now
    }

    /// When the tick begins that comes so many ticks after the last asked for, or before.
    #[inline]
    pub(crate) fn time_ahead(&self, ticks: i32) -> Time {
        let beyond = i64::from(ticks) - 1;
        match u64::try_from(beyond) {
            Ok(beyond) => {
                let beyond_ps = self.tick_ps.saturating_mul(beyond);
                Time::from_ps(self.next_tick_ps.saturating_add(beyond_ps))
            }
            Err(_) => self.time_past(beyond.unsigned_abs()),
        }
    }

    /// When the tick began that came so many ticks before the next.
    #[cold]
    fn time_past(&self, ticks: u64) -> Time {
        let ps = self.tick_ps.saturating_mul(ticks);
        Time::from_ps(self.next_tick_ps.saturating_sub(ps))
    }

    /// The first tick that begins at `at` or after it; none if that is more than some days away.
    pub(crate) fn first_tick(&self, at: Time) -> Option<Jiffies> {
        let ps = at.as_ps().checked_add(self.phase_ps)?;
        let ticks = ps.div_ceil(self.tick_ps);
        let next = (self.next_tick_ps + self.phase_ps) / self.tick_ps;
        (ticks.abs_diff(next) < 1 << 30).then_some((BASE + ticks) as Jiffies)
    }

    /// A span in ticks, rounded up; exact where a tick is no whole number of picoseconds.
    pub(crate) fn ticks(&self, span: Duration) -> Jiffies {
        let second = Duration::from_secs(1).as_ps();
        let (ps, hz) = (span.as_ps(), u64::from(self.hz.max(1)));
        let ticks = match ps.checked_mul(hz) {
            Some(product) => product.div_ceil(second),
            None => (u128::from(ps) * u128::from(hz)).div_ceil(second.into()) as u64,
        };
        ticks.min(u64::from(u32::MAX / 4)) as Jiffies
    }

    /// Ticks as a span.
    pub(crate) fn span(&self, ticks: Jiffies) -> Duration {
        Duration::from_ps(u64::from(ticks).saturating_mul(self.tick_ps))
    }
}

/// Microseconds in ticks of `hz` a second, rounded up (usecs_to_jiffies).
#[inline]
pub(crate) fn jiffies_of_us(us: u32, hz: u32) -> Jiffies {
    (u64::from(us) * u64::from(hz)).div_ceil(1_000_000) as Jiffies
}

/// Whether jiffy `a` comes before `b`.
#[inline]
pub(crate) fn before(a: Jiffies, b: Jiffies) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// [`JiffyClock::wheel`] of a kernel with so many ticks a second.
pub(crate) fn wheel(hz: u32, expires: Jiffies, now: Jiffies) -> Jiffies {
    /// Ticks that a level's buckets reach, less the last.
    const REACH: u32 = 63;
    const LEVELS: u32 = 8;
    let boot = (BASE as u32).wrapping_add(300_u32.wrapping_mul(hz));
    let ahead = expires.wrapping_sub(now);
    let level = (0..LEVELS)
        .find(|level| ahead < REACH << (3 * level))
        .unwrap_or(LEVELS);
    let shift = 3 * level;
    let ticks = expires.wrapping_sub(boot);
    ((ticks >> shift).wrapping_add(1) << shift).wrapping_add(boot)
}

#[cfg(test)]
#[path = "clock_tests.rs"]
mod tests;
