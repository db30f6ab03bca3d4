//! Round-trip time and retransmission timeout.
//!
//! Models Linux 2.6.18 net/ipv4/tcp_input.c (tcp_rtt_estimator, tcp_set_rto, tcp_bound_rto): in
//! jiffies, a sample of zero counts as one; a mean deviation that shrinks while the round trip
//! falls does so eight times slower; the variance never falls below the minimum timeout, so that
//! the timeout is at least srtt + rto_min. Back-off doubles the timeout itself.

use crate::clock::Jiffies;
use crate::seq::Seq;

/// The longest round trip believed, ticks: no timeout is longer, only a made-up echo is.
pub(crate) const SAMPLE_MAX: Jiffies = 1 << 26;

/// The estimator's state, in jiffies; `srtt` is times 8, the deviations times 4.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    /// Smoothed round trip, times 8; zero before the first sample.
    pub(crate) srtt: u32,
    mdev: u32,
    mdev_max: u32,
    rttvar: u32,
    rtt_seq: Seq,
    /// The timeout, with back-off.
    pub(crate) rto: Jiffies,
    min: Jiffies,
    max: Jiffies,
}

impl RttEstimator {
    pub(crate) fn new(initial: Jiffies, min: Jiffies, max: Jiffies) -> RttEstimator {
        RttEstimator {
            srtt: 0,
            mdev: initial,
            mdev_max: min,
            rttvar: initial,
            rtt_seq: Seq(0),
            rto: initial,
            min,
            max,
        }
    }

    /// A sample of `ticks`, for an acknowledgement up to `snd_una`, with `snd_nxt` next to send.
    #[inline]
    pub(crate) fn sample(&mut self, ticks: Jiffies, snd_una: Seq, snd_nxt: Seq) {
        let ticks = ticks.clamp(1, SAMPLE_MAX);
        if self.srtt == 0 {
            self.srtt = ticks << 3;
            self.mdev = ticks << 1;
            self.rttvar = self.mdev.max(self.min);
            self.mdev_max = self.rttvar;
            self.rtt_seq = snd_nxt;
        } else {
            self.smooth(ticks);
            if snd_una.after(self.rtt_seq) {
                if self.mdev_max < self.rttvar {
                    self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
                }
                self.rtt_seq = snd_nxt;
                self.mdev_max = self.min;
            }
        }
        self.rto = ((self.srtt >> 3) + self.rttvar).min(self.max);
    }

    #[inline]
    fn smooth(&mut self, ticks: Jiffies) {
        let error = i64::from(ticks) - i64::from(self.srtt >> 3);
        self.srtt = (i64::from(self.srtt) + error) as u32;
        let mut deviation = error.abs() - i64::from(self.mdev >> 2);
        if error < 0 && deviation > 0 {
            deviation >>= 3;
        }
        self.mdev = (i64::from(self.mdev) + deviation).max(0) as u32;
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
    }

    /// The mean deviation, times 4.
    pub(crate) fn mdev(&self) -> u32 {
        self.mdev
    }

    /// What is known of the way is more than what was measured (tcp_init_metrics).
    pub(crate) fn recall(&mut self, srtt_8: u32, rttvar_4: u32, snd_nxt: Seq) {
        if srtt_8 > self.srtt {
            self.srtt = srtt_8;
            self.rtt_seq = snd_nxt;
        }
        if rttvar_4 > self.mdev {
            self.mdev = rttvar_4;
            self.rttvar = self.mdev.max(self.min);
            self.mdev_max = self.rttvar;
        }
        self.rto = ((self.srtt >> 3) + self.rttvar).min(self.max);
    }

    /// Begins anew: a first sample without timestamps is not trusted.
    pub(crate) fn forget(&mut self, initial: Jiffies) {
        self.srtt = 0;
        self.mdev = initial;
        self.mdev_max = initial;
        self.rttvar = initial;
        self.rto = initial;
    }

    /// A timeout fired: the next waits twice as long.
    pub(crate) fn back_off(&mut self) {
        self.rto = (self.rto << 1).min(self.max);
    }
}

#[cfg(test)]
#[path = "rtt_tests.rs"]
mod tests;
