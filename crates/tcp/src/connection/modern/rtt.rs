//! Round trips in microseconds, the retransmission timeout, and the least round trip of late.
//!
//! Models Linux 7.2 net/ipv4/tcp_input.c (tcp_rtt_estimator, tcp_set_rto, tcp_ack_update_rtt,
//! tcp_update_rtt_min) and lib/win_minmax.c (K. Nichols's windowed minimum). The deviation's
//! maximum of a round trip is taken over at its end; the variance never falls below the least
//! timeout, so that the timeout is at least srtt + rto_min; it is rounded up to whole ticks.

use super::super::Connection;
use crate::clock::Jiffies;
use crate::seq::Seq;

/// The estimator; `srtt_us8` is times 8, the deviations are times 4.
#[derive(Clone, Debug)]
pub(super) struct Rtt {
    pub(super) srtt_us8: u32,
    mdev_us: u32,
    mdev_max_us: u32,
    pub(super) rttvar_us: u32,
    rtt_seq: Seq,
    pub(super) min: WindowedMin,
}

impl Rtt {
    pub(super) fn new(initial_us: u32) -> Rtt {
        Rtt {
            srtt_us8: 0,
            mdev_us: initial_us,
            mdev_max_us: 0,
            rttvar_us: 0,
            rtt_seq: Seq(0),
            min: WindowedMin::default(),
        }
    }

    pub(super) fn mdev_us(&self) -> u32 {
        self.mdev_us
    }

    /// There was no sample, and the first is to be far from certain.
    pub(super) fn forget(&mut self, us: u32) {
        self.rttvar_us = us;
        self.mdev_us = us;
        self.mdev_max_us = us;
    }

    /// A sample, with `snd_una` acknowledged and `snd_nxt` next to send.
    #[inline(always)]
    fn sample(&mut self, us: u32, snd_una: Seq, snd_nxt: Seq, rto_min_us: u32) {
        if self.srtt_us8 == 0 {
            self.srtt_us8 = (us << 3).max(1);
            self.mdev_us = us << 1;
            self.rttvar_us = self.mdev_us.max(rto_min_us);
            self.mdev_max_us = self.rttvar_us;
            self.rtt_seq = snd_nxt;
            return;
        }
        let error = i64::from(us) - i64::from(self.srtt_us8 >> 3);
        self.srtt_us8 = (i64::from(self.srtt_us8) + error).max(1) as u32;
        let mut deviation = error.abs() - i64::from(self.mdev_us >> 2);
        // A round trip that shrinks is no reason to expect a longer one.
        if error < 0 && deviation > 0 {
            deviation >>= 3;
        }
        self.mdev_us = (i64::from(self.mdev_us) + deviation).max(0) as u32;
        if self.mdev_us > self.mdev_max_us {
            self.mdev_max_us = self.mdev_us;
            self.rttvar_us = self.rttvar_us.max(self.mdev_max_us);
        }
        if snd_una.after(self.rtt_seq) {
            if self.mdev_max_us < self.rttvar_us {
                self.rttvar_us -= (self.rttvar_us - self.mdev_max_us) >> 2;
            }
            self.rtt_seq = snd_nxt;
            self.mdev_max_us = rto_min_us;
        }
    }
}

/// The least value in a window of time, from three samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowedMin {
    best: [(Jiffies, u32); 3],
}

impl Default for WindowedMin {
    fn default() -> WindowedMin {
        WindowedMin {
            best: [(0, u32::MAX); 3],
        }
    }
}

impl WindowedMin {
    /// `u32::MAX` before the first.
    #[inline]
    pub(super) fn get(&self) -> u32 {
        self.best[0].1
    }

    #[inline(always)]
    fn update(&mut self, window: Jiffies, now: Jiffies, value: u32) {
        let sample = (now, value);
        let age = |(at, _): (Jiffies, u32)| now.wrapping_sub(at);
        // Most are no news: none of the three is old, and none is greater.
        if value > self.best[2].1 && age(self.best[0]) <= window / 4 {
            return;
        }
        if value <= self.best[0].1 || age(self.best[2]) > window {
            self.best = [sample; 3];
            return;
        }
        if value <= self.best[1].1 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if value <= self.best[2].1 {
            self.best[2] = sample;
        }
        if age(self.best[0]) > window {
            // The best has aged out, and perhaps the second too.
            self.best = [self.best[1], self.best[2], sample];
            if age(self.best[0]) > window {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].0 == self.best[0].0 && age(self.best[0]) > window / 4 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if self.best[2].0 == self.best[1].0 && age(self.best[0]) > window / 2 {
            self.best[2] = sample;
        }
    }
}

/// The round trips that an acknowledgement shows, microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measured {
    /// From the oldest packet cumulatively acknowledged.
    pub(super) seq_us: Option<u32>,
    /// From the oldest packet selectively acknowledged.
    pub(super) sack_us: Option<u32>,
    /// From the newest packet acknowledged: what congestion control is told.
    pub(super) ca_us: Option<u32>,
    /// Data was acknowledged cumulatively.
    pub(super) acked: bool,
    /// The acknowledgement may have been delayed.
    pub(super) maybe_delayed: bool,
}

impl Connection {
    /// Takes a sample over if there is one; answers what congestion control is told, and whether
    /// the estimate was updated (tcp_ack_update_rtt). `echo_us` is the timestamp's.
    #[inline(always)]
    pub(super) fn update_rtt(
        &mut self,
        now: Jiffies,
        mut measured: Measured,
        echo_us: impl FnOnce(&Connection) -> Option<u32>,
    ) -> (Option<u32>, bool) {
        let mut us = measured.seq_us.or(measured.sack_us);
        if us.is_none() && measured.acked {
            us = echo_us(self);
            measured.ca_us = us;
        }
        let Some(us) = us else {
            return (measured.ca_us, false);
        };
        let least = measured.ca_us.unwrap_or(us);
        let min = &mut self.modern.rtt.min;
        if !(measured.maybe_delayed && least > min.get()) {
            let window = self.stack.tcp_min_rtt_wlen * self.stack.hz;
            let value = if least == 0 {
                1_000_000 / self.stack.hz
            } else {
                least
            };
            min.update(window, now, value);
        }
        self.sample_rtt(us);
        (measured.ca_us, true)
    }

    /// One sample for the estimate and the timeout that follows from it.
    #[inline(always)]
    pub(super) fn sample_rtt(&mut self, us: u32) {
        /// The longest round trip believed: no timeout is longer.
        const SAMPLE_MAX_US: u32 = 1 << 28;
        let rto_min_us = self.modern.rto_min_us;
        let (una, nxt) = (self.snd_una, self.snd_nxt);
        self.modern
            .rtt
            .sample(us.min(SAMPLE_MAX_US), una, nxt, rto_min_us);
        self.rtt.rto = self.base_rto();
        self.backoff = 0;
    }

    /// The smoothed round trip, times 8, and its deviation, times 4, microseconds.
    pub(in crate::connection) fn learned_rtt_us(&self) -> (u32, u32) {
        (self.modern.rtt.srtt_us8, self.modern.rtt.mdev_us)
    }

    /// The timeout without back-off (__tcp_set_rto, tcp_bound_rto).
    #[inline(always)]
    pub(super) fn base_rto(&self) -> Jiffies {
        let rtt = &self.modern.rtt;
        let us = u64::from(rtt.srtt_us8 >> 3) + u64::from(rtt.rttvar_us);
        self.clock.us_to_ticks(us).min(self.modern.rto_max)
    }
}

#[cfg(test)]
#[path = "rtt_tests.rs"]
mod tests;
