//! How much a host's queue discipline hands to the card: byte queue limits.
//!
//! Models Linux 7.2 lib/dynamic_queue_limits.c (dql_queued, dql_completed) and include/linux/netdevice.h
//! (netdev_tx_sent_queue, netdev_tx_completed_queue): the card is handed packets until what it has is above a limit, which
//! grows whenever the card ran dry meanwhile and falls, at most once a second, by what was too much all the time.
//! Left out: bounds of the limit (`limit_min`, `limit_max` in sysfs), ticks of its clock.

use tailback_units::{Duration, Time};

/// For how long there must have been too much before the limit falls (net/core/dev.c, netdev_init_one_queue: HZ).
const HOLD: Duration = Duration::from_secs(1);

/// A byte queue limit.
#[derive(Clone, Debug, Default)]
pub struct ByteQueueLimit {
    limit: u64,
    queued: u64,
    completed: u64,
    /// Bytes of the packet handed over last.
    last_bytes: u64,
    /// The same four, and what was above the limit, when a completion was told of last.
    before: Before,
    lowest_slack: Option<u64>,
    slack_since: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Before {
    queued: u64,
    last_bytes: u64,
    over: u64,
}

impl ByteQueueLimit {
    /// The card has been handed a packet of so many bytes.
    pub fn queued(&mut self, bytes: u64) {
        self.queued += bytes;
        self.last_bytes = bytes;
    }

    /// Whether the card has as much as it is to have, so that nothing is handed to it.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        self.queued - self.completed > self.limit
    }

    /// So many bytes have left the card.
    pub fn completed(&mut self, now: Time, bytes: u64) {
        let completed = self.completed + bytes;
        let over = (self.queued - self.completed).saturating_sub(self.limit);
        let in_progress = self.queued > completed;
        let was_in_progress = self.before.queued > self.completed;
        let all_before_completed = completed >= self.before.queued;
        let mut limit = self.limit;
        if (over > 0 && !in_progress) || (self.before.over > 0 && all_before_completed) {
            // It ran dry, or may have.
            limit += completed.saturating_sub(self.before.queued) + self.before.over;
            self.slack_since = now;
            self.lowest_slack = None;
        } else if in_progress && was_in_progress && !all_before_completed {
            let slack = (limit + self.before.over).saturating_sub(2 * bytes);
            let of_last = match self.before.over {
                0 => 0,
                over => self.before.last_bytes.saturating_sub(over),
            };
            let slack = slack.max(of_last);
            let lowest = self.lowest_slack.map_or(slack, |lowest| lowest.min(slack));
            self.lowest_slack = Some(lowest);
            if now > self.slack_since + HOLD {
                limit = limit.saturating_sub(lowest);
                self.slack_since = now;
                self.lowest_slack = None;
            }
        }
        self.before = Before {
            queued: self.queued,
            last_bytes: self.last_bytes,
            over: if limit == self.limit { over } else { 0 },
        };
        self.limit = limit;
        self.completed = completed;
    }

    /// Bytes that the card may have before nothing more is handed to it.
    #[must_use]
    pub fn limit_bytes(&self) -> u64 {
        self.limit
    }
}

#[cfg(test)]
#[path = "byte_queue_limit_tests.rs"]
mod tests;
