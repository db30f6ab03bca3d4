//! What a host remembers of its past connections between two addresses.
//!
//! Models Linux 7.2 net/ipv4/tcp_metrics.c (tcp_update_metrics, tcp_init_metrics) and, with the sender
//! linux-2.6, the same functions of 2.6.18's net/ipv4/tcp_input.c: a connection that ends in order (in
//! TIME-WAIT, or acknowledged in LAST-ACK) leaves its round trip, deviation, threshold and reordering;
//! the next begins with them. Of today's, the threshold only if `tcp_no_ssthresh_metrics_save` is off,
//! and the round trip only for the first timeout; 2.6 begins its estimator with it, and with an initial
//! window of its own.
//! Left out: the congestion window, which is saved but used only where a route locks it; metrics set by
//! hand (`ip route`, `ip tcp_metrics`); the bound on entries. What is known is looked up as a connection
//! opens, where the kernel looks when the handshake is done.

use std::collections::BTreeMap;

use tailback_units::{Duration, Time};

use super::{CaState, Connection};
use crate::clock::Jiffies;
use crate::congestion::INFINITE_SSTHRESH;

/// How long what is known is believed without news (TCP_METRICS_TIMEOUT).
const LIFETIME: Duration = Duration::from_secs(3600);

/// What is known of the way to an address; zeros: nothing. Times are in the sender's own unit:
/// microseconds, or ticks of 2.6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Smoothed round trip, times 8.
    pub rtt_8: u32,
    /// Its deviation, times 4.
    pub rttvar_4: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Segments that reordering has reached.
    pub reordering: u32,
}

/// How far a connection had come when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Slow start without ever a threshold.
    FirstSlowStart,
    /// Congestion avoidance: the window can be relied on.
    Avoidance,
    Other,
}

/// What a connection that has ended in order leaves to those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learned {
    srtt_8: u32,
    mdev_4: u32,
    /// No round trip could be measured, or the last timeout was backed off.
    failed: bool,
    cwnd: u32,
    ssthresh: u32,
    saves_ssthresh: bool,
    phase: Phase,
    reordering: Option<u32>,
}

impl Learned {
    /// What is known with this added to `before`; `None`: nothing yet, still.
    fn added_to(&self, before: Option<Metrics>) -> Option<Metrics> {
        if self.failed {
            return before.map(|known| Metrics { rtt_8: 0, ..known });
        }
        let mut known = before.unwrap_or_default();
        // A longer round trip counts at once, a shorter one by an eighth.
        let error = i64::from(known.rtt_8) - i64::from(self.srtt_8);
        known.rtt_8 = if error <= 0 {
            self.srtt_8
        } else {
            known.rtt_8 - (error >> 3) as u32
        };
        let deviation = ((error.unsigned_abs() >> 1) as u32).max(self.mdev_4);
        known.rttvar_4 = if deviation >= known.rttvar_4 {
            deviation
        } else {
            known.rttvar_4 - ((known.rttvar_4 - deviation) >> 2)
        };
        let half = self.cwnd >> 1;
        known.ssthresh = match self.phase {
            _ if !self.saves_ssthresh => known.ssthresh,
            Phase::Avoidance => half.max(self.ssthresh),
            Phase::FirstSlowStart if known.ssthresh > 0 => known.ssthresh.max(half),
            Phase::Other if known.ssthresh > 0 => known.ssthresh.max(self.ssthresh),
            _ => known.ssthresh,
        };
        known.reordering = known.reordering.max(self.reordering.unwrap_or(0));
        Some(known)
    }
}

/// What a connection keeps of it: before it is established, and once it has ended.
#[derive(Clone, Debug)]
pub(super) enum OfTheWay {
    /// What was known when it opened.
    Known(Metrics),
    /// What it leaves.
    Learned(Learned),
}

/// A host's memory of its connections, by what stands for the two addresses.
#[derive(Clone, Debug)]
pub struct MetricsCache<K> {
    known: BTreeMap<K, (Metrics, Time)>,
}

impl<K: Ord> Default for MetricsCache<K> {
    fn default() -> MetricsCache<K> {
        MetricsCache {
            known: BTreeMap::new(),
        }
    }
}

impl<K: Ord> MetricsCache<K> {
    /// What is known: to be handed to a new connection ([`Connection::recall`]).
    pub fn get(&self, key: &K, now: Time) -> Option<Metrics> {
        let (metrics, saved) = self.known.get(key)?;
        (now.since(*saved) <= LIFETIME).then_some(*metrics)
    }

    /// A connection has ended ([`Connection::take_learned`]).
    pub fn learn(&mut self, key: K, now: Time, learned: &Learned) {
        if let Some(metrics) = learned.added_to(self.get(&key, now)) {
            self.known.insert(key, (metrics, now));
        }
    }
}

impl Connection {
    /// Hands over what the host knows, before the connection is established.
    pub fn recall(&mut self, metrics: Metrics) {
        self.way = Some(Box::new(OfTheWay::Known(metrics)));
    }

    /// What the connection leaves, once, when it has ended in order; never with
    /// `tcp_no_metrics_save`.
    pub fn take_learned(&mut self) -> Option<Learned> {
        let way = self
            .way
            .take_if(|way| matches!(**way, OfTheWay::Learned(_)));
        match way.map(|way| *way) {
            Some(OfTheWay::Learned(learned)) => Some(learned),
            _ => None,
        }
    }

    /// It ends in order.
    pub(super) fn leave_metrics(&mut self) {
        let learned = self.learned().map(OfTheWay::Learned);
        self.way = learned.map(Box::new);
    }

    /// What it would leave if it ended in order now (tcp_update_metrics): for who takes a connection
    /// away without closing it.
    #[must_use]
    pub fn learned(&self) -> Option<Learned> {
        if self.stack.tcp_no_metrics_save || !self.life.is_synchronised() {
            return None;
        }
        let (cwnd, ssthresh) = (self.window.cwnd, self.window.ssthresh);
        let (modern, open) = (self.is_modern(), self.state == CaState::Open);
        let (srtt_8, mdev_4, ssthresh_most) = if modern {
            let rtt = self.learned_rtt_us();
            (rtt.0, rtt.1, INFINITE_SSTHRESH)
        } else {
            (self.rtt.srtt, self.rtt.mdev(), 0xffff)
        };
        let avoids = if modern {
            cwnd >= ssthresh
        } else {
            cwnd > ssthresh
        };
        let phase = match () {
            () if ssthresh >= ssthresh_most => Phase::FirstSlowStart,
            () if avoids && open => Phase::Avoidance,
            () => Phase::Other,
        };
        let reordered = self.reordering != self.stack.tcp_reordering;
        let tells = reordered && (!modern || phase == Phase::Other);
        Some(Learned {
            srtt_8,
            mdev_4,
            failed: self.backoff > 0 || srtt_8 == 0,
            cwnd,
            ssthresh,
            saves_ssthresh: !self.stack.tcp_no_ssthresh_metrics_save,
            phase,
            reordering: tells.then_some(self.reordering),
        })
    }

    /// The handshake is done (tcp_init_metrics).
    pub(super) fn use_metrics(&mut self) {
        let Some(OfTheWay::Known(known)) = self.way.take().map(|way| *way) else {
            return;
        };
        if known.ssthresh > 0 && !self.stack.tcp_no_ssthresh_metrics_save {
            self.window.ssthresh = known.ssthresh.min(self.window.cwnd_clamp);
        }
        if known.reordering > 0 && known.reordering != self.reordering {
            self.reordering = known.reordering;
            self.fack = false;
        }
        if self.is_modern() {
            self.time_out_as_known(known.rtt_8);
        } else {
            self.begin_rtt_as_known(&known);
        }
    }

    /// Today's first timeout is not shorter than what is known asks for.
    fn time_out_as_known(&mut self, rtt_us8: u32) {
        if rtt_us8 > self.learned_rtt_us().0 {
            let rtt = self.clock.whole_ticks(u64::from(rtt_us8 / 8));
            let least = self.clock.ticks(self.stack.rto_min);
            self.rtt.rto = rtt + least.max(2 * rtt);
        }
    }

    /// The estimator of 2.6 begins with what is known, and cwnd with RFC 3390's window, unless that
    /// would shorten the timeout of a connection without timestamps.
    fn begin_rtt_as_known(&mut self, known: &Metrics) {
        let initial: Jiffies = self.clock.ticks(self.stack.rto_initial);
        if known.rtt_8 == 0 || (self.rtt.srtt == 0 && known.rtt_8 < initial << 3) {
            return self.forget_untimed(initial);
        }
        self.rtt.recall(known.rtt_8, known.rttvar_4, self.snd_nxt);
        if self.rtt.rto < initial && !self.timestamps {
            return self.forget_untimed(initial);
        }
        self.window.cwnd = self.initial_cwnd().min(self.window.cwnd_clamp);
    }

    fn forget_untimed(&mut self, initial: Jiffies) {
        if !self.timestamps && self.rtt.srtt > 0 {
            self.rtt.forget(initial);
        }
    }
}
