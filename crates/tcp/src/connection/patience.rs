//! How long a connection tries before it is given up.
//!
//! Models Linux net/ipv4/tcp_timer.c: tcp_write_timeout, retransmits_timed_out,
//! tcp_model_timeout, tcp_orphan_retries, tcp_rtx_probe0_timed_out,
//! tcp_clamp_rto_to_user_timeout, tcp_probe_timer's limits (RFC 1122 section 4.2.3.5, RFC 5482's
//! user timeout). With `retries_by_time` tcp_retries2 stands for the time that so many timeouts
//! would take from 200 ms on (since 2.6.32); without, for their number.
//! Left out: what the number of connections without an application changes, and ICMP's hints.

use tailback_units::Duration;

use super::{Connection, Life};
use crate::clock::{Jiffies, Stamp};

/// tcp_orphan_retries for a connection that is not hopeless yet.
const ORPHAN_RETRIES: u32 = 8;

/// The least timeout that the time is reckoned from, whatever the connection's own is (TCP_RTO_MIN,
/// include/net/tcp.h).
const RTO_MIN: Duration = Duration::from_ms(200);

impl Connection {
    /// Whether the peer has not acknowledged data for so long that the connection is given up;
    /// `since` is when the first retransmission was sent, `retries` how many timeouts there were.
    pub(super) fn is_given_up(&self, now: Jiffies, since: Option<Jiffies>, retries: u32) -> bool {
        let limit = if self.orphan {
            self.orphan_retries(self.timeout())
        } else {
            self.stack.tcp_retries2
        };
        self.retries_exhausted(now, since, retries, limit, RTO_MIN)
    }

    /// The same for a SYN, or the answer to one.
    pub(super) fn is_syn_given_up(
        &self,
        now: Jiffies,
        since: Option<Jiffies>,
        retries: u32,
    ) -> bool {
        let asked = |default| match self.options.syncnt {
            0 => default,
            n => n,
        };
        if self.life == Life::SynReceived {
            return retries >= asked(self.stack.tcp_synack_retries);
        }
        let limit = asked(self.stack.tcp_syn_retries);
        retries >= limit + self.stack.tcp_syn_linear_timeouts
            || (self.stack.retries_by_time
                && self.retries_exhausted(now, since, retries, limit, self.stack.rto_initial))
    }

    fn retries_exhausted(
        &self,
        now: Jiffies,
        since: Option<Jiffies>,
        retries: u32,
        limit: u32,
        base: Duration,
    ) -> bool {
        let user = self.clock.ticks(self.options.user_timeout);
        if user == 0 && !self.stack.retries_by_time {
            return retries >= limit;
        }
        let Some(since) = since.filter(|_| retries > 0) else {
            return false;
        };
        let patience = if user > 0 {
            user
        } else {
            self.model_timeout(limit, base)
        };
        now.wrapping_sub(since) >= patience
    }

    /// How long `retries` timeouts take that begin with `base` and double up to the longest
    /// (tcp_model_timeout).
    fn model_timeout(&self, retries: u32, base: Duration) -> Jiffies {
        let base = u64::from(self.clock.ticks(base).max(1));
        let most = u64::from(self.clock.ticks(self.stack.rto_max)).max(base);
        let doublings = u64::from((most / base).ilog2());
        let retries = u64::from(retries);
        let ticks = if retries <= doublings {
            ((2 << retries) - 1) * base
        } else {
            ((2 << doublings) - 1) * base + (retries - doublings) * most
        };
        ticks.min(u64::from(u32::MAX / 4)) as Jiffies
    }

    /// Timeouts that a connection without an application is granted.
    fn orphan_retries(&self, timeout: Jiffies) -> u32 {
        let alive = timeout < self.clock.ticks(self.stack.rto_max);
        match self.stack.tcp_orphan_retries {
            0 if alive => ORPHAN_RETRIES,
            n => n,
        }
    }

    /// Whether probes of a closed window have gone on for long enough: `timeout` is the next
    /// probe's.
    pub(super) fn are_probes_given_up(&mut self, now: Jiffies, timeout: Jiffies) -> bool {
        let user = self.clock.ticks(self.options.user_timeout);
        match self.probes_since.get() {
            None => self.probes_since = Stamp::at(now),
            Some(since) if user > 0 && now.wrapping_sub(since) >= user => return true,
            Some(_) => {}
        }
        let mut most = self.stack.tcp_retries2;
        if self.orphan {
            let alive = timeout < self.clock.ticks(self.stack.rto_max);
            most = self.orphan_retries(timeout);
            if !alive && self.backoff >= most {
                return true;
            }
        }
        if self.stack.retries_by_time {
            self.probes >= most
        } else {
            self.probes > most
        }
    }

    /// A timeout, cut short so that the user's is not overrun.
    pub(super) fn within_user_timeout(
        &self,
        now: Jiffies,
        since: Option<Jiffies>,
        ticks: Jiffies,
    ) -> Jiffies {
        let user = self.clock.ticks(self.options.user_timeout);
        match since {
            Some(since) if user > 0 => {
                let left = user.saturating_sub(now.wrapping_sub(since));
                ticks.min(left.max(1))
            }
            _ => ticks,
        }
    }
}
