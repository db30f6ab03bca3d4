//! Times in which a link is down: a port that flaps, a handover, a cable that is pulled.
//!
//! A frame that would come to the other end meanwhile is lost, whether it had left before or not; the sender's
//! port goes on sending. Whether switches take other ways is a network's `reroute`. Left out: what a card or a switch
//! makes of what waits for a link without a signal; a port that holds it is a trace with a rate of zero
//! ([`crate::trace::rates`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Time};

/// A time in which a link is down, once or again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// From when, since the run began.
    pub from: Duration,
    /// Until when.
    pub until: Duration,
    /// So much later again, and so on; absent: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
}

impl Outage {
    /// Whether the link is down at `now`.
    #[must_use]
    pub fn holds(&self, now: Time) -> bool {
        let since = now.since(Time::ZERO);
        if since < self.from {
            return false;
        }
        let into = since - self.from;
        let into = match self.every {
            Some(every) => Duration::from_ps(into.as_ps() % every.as_ps().max(1)),
            None => into,
        };
        into < self.until - self.from
    }

    /// When it next begins or ends after `now`; never, if it is over.
    #[must_use]
    pub fn changes_after(&self, now: Time) -> Time {
        let from = Time::ZERO + self.from;
        if now < from {
            return from;
        }
        let begun = match self.every {
            Some(every) => now.before(Duration::from_ps(
                now.since(from).as_ps() % every.as_ps().max(1),
            )),
            None => from,
        };
        let until = begun + (self.until - self.from);
        match self.every {
            _ if now < until => until,
            Some(every) => begun + every,
            None => Time::NEVER,
        }
    }
}
