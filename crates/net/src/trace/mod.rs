//! Links whose capacity changes: recorded or made-up courses of it, one kind a file.
//!
//! A switch's port takes frames from its queues no sooner than the course allows: by single
//! [`opportunities`], as a cellular base station schedules them, at [`rates`] that hold for a time, or as a
//! [`shaper`] lets them. The queue in front is the switch's own. Left out: retransmission on the radio link, schedulers that look at
//! what waits, capacity that depends on who else is there.

pub mod opportunities;
pub mod rates;
pub mod shaper;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Duration, Time};

use self::opportunities::Opportunities;
use self::rates::Rates;
use crate::frame::ETHERNET_BYTES;
use crate::token_bucket::{BYTE, Bits, TokenBucketConfig};

/// The course of a link's capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Trace {
    /// Single times at which so many bytes may go.
    Opportunities(Opportunities),
    /// Rates, each from a time on.
    Rates(Rates),
    /// A rate, and so much at once.
    Shaper(TokenBucketConfig),
}

/// The courses that a link's capacity has, by the names of the scenario's traces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkTraces {
    /// Forward: from the first to the second of a link's `ends`, from a host to its switch, from left to right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forward: Option<String>,
    /// The other way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backward: Option<String>,
}

/// When a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// It leaves no sooner.
    pub leaves: Time,
    /// The next is taken no sooner.
    pub rests_until: Time,
}

/// A trace at work in front of one direction of a link.
#[derive(Clone, Debug)]
pub struct Pace {
    course: Course,
    /// Bytes that have gone, as the trace counts them.
    used_bytes: u64,
    /// The course again, as far as it has been asked what it let go, and that.
    told: Course,
    told_at: Time,
    offered: Bits,
}

/// What takes longer than any run lasts (scenarios have ten days at most) is put off by so much.
const LONGEST: Duration = Duration::from_secs(20 * 86_400);

#[derive(Clone, Debug)]
enum Course {
    Opportunities(opportunities::Cursor),
    Rates(rates::Cursor),
    Shaper(shaper::Cursor),
}

impl Pace {
    /// The trace from its beginning.
    #[must_use]
    pub fn new(trace: &Arc<Trace>) -> Pace {
        let course = match &**trace {
            Trace::Opportunities(_) => {
                Course::Opportunities(opportunities::Cursor::new(Arc::clone(trace)))
            }
            Trace::Rates(_) => Course::Rates(rates::Cursor::new(Arc::clone(trace))),
            Trace::Shaper(config) => Course::Shaper(shaper::Cursor::new(config)),
        };
        Pace {
            told: course.clone(),
            course,
            used_bytes: 0,
            told_at: Time::ZERO,
            offered: 0,
        }
    }

    /// Nothing has waited before `now`: what might have gone by then is lost.
    pub fn idle_until(&mut self, now: Time) {
        match &mut self.course {
            Course::Opportunities(cursor) => cursor.idle_until(now),
            Course::Rates(_) | Course::Shaper(_) => {}
        }
    }

    /// When a frame that waits at `now` is taken from its queue.
    pub fn ready_at(&mut self, now: Time) -> Time {
        match &mut self.course {
            Course::Opportunities(cursor) => cursor.ready_at(now),
            Course::Rates(cursor) => cursor.ready_at(now),
            Course::Shaper(_) => now,
        }
    }

    /// A frame is taken at `now`, which [`Pace::ready_at`] has allowed: of so many bytes with Ethernet's header and
    /// FCS, and so many on the line with all that is around it.
    pub fn take(&mut self, now: Time, frame_bytes: u64, wire_bytes: u64) -> Passage {
        match &mut self.course {
            Course::Opportunities(cursor) => {
                let ip_bytes = frame_bytes.saturating_sub(ETHERNET_BYTES.into());
                self.used_bytes += ip_bytes;
                cursor.take(now, ip_bytes)
            }
            Course::Rates(cursor) => {
                self.used_bytes += wire_bytes;
                cursor.take(now, wire_bytes)
            }
            Course::Shaper(cursor) => {
                let (used_bytes, passage) = cursor.take(now, frame_bytes);
                self.used_bytes += used_bytes;
                passage
            }
        }
    }

    /// Bytes that the trace has let go from the beginning to `now`, whether or not anything waited, and those that
    /// went: of IP packets where it is one of opportunities, of the line, preamble and gap included, where it is one of
    /// rates, and those that a shaper counts. `now` is never before that of an earlier question.
    pub fn carried(&mut self, now: Time) -> (u64, u64) {
        let offered = match &mut self.told {
            Course::Opportunities(cursor) => cursor.offered(now),
            Course::Rates(cursor) => cursor.offered(self.told_at, now),
            Course::Shaper(cursor) => cursor.offered(self.told_at, now),
        };
        self.offered = self.offered.saturating_add(offered);
        self.told_at = now;
        let offered_bytes = u64::try_from(self.offered / BYTE).unwrap_or(u64::MAX);
        (offered_bytes, self.used_bytes)
    }
}
