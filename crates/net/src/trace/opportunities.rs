//! A link that lets go of so many bytes at single times, as recorded of cellular links.
//!
//! The form and meaning are those of mahimahi's `mm-link` (Netravali et al., USENIX ATC 2015;
//! `src/frontend/link_queue.cc`), whose traces are in wide use: each time, in whole milliseconds, is an
//! opportunity to deliver `bytes` of IP packets. What waits then goes, several small packets or part of a large
//! one, which has left when its last byte has; what finds nothing is lost. After the last time the course begins
//! anew. Differences: mahimahi counts 4 bytes of its tunnel with each packet (1504 an opportunity), and its link
//! takes no time itself; here the frames of one millisecond leave one after another at the link's line rate, and
//! what that does not carry within the millisecond is lost.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailback_units::{Bytes, Duration, Time};

use super::{BYTE, Bits, LONGEST, Passage, Trace};

/// An opportunity's bytes in mahimahi's traces, without the tunnel's own.
pub const BYTES: Bytes = Bytes::new(1500);

/// What goes within this after its time is of that opportunity still: the grain of the times.
const GRAIN: Duration = Duration::from_ms(1);

/// Single times at which so many bytes may go, again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Opportunities {
    /// File with the times, relative to the scenario: milliseconds from the beginning, one a line, never less than
    /// the one before (mahimahi's form).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["verizon.down"]))]
    pub path: Option<String>,
    /// Bytes of IP packets that go at each time.
    #[serde(default = "bytes", skip_serializing_if = "is_default")]
    pub bytes: Bytes,
    /// The times, where there is no file.
    #[serde(default, skip_serializing_if = "Times::is_empty")]
    pub times_ms: Times,
}

fn bytes() -> Bytes {
    BYTES
}

fn is_default(bytes: &Bytes) -> bool {
    *bytes == BYTES
}

/// Times in milliseconds, in order, as a text: `0 1*3 4` is one at 0, three at 1 and one at 4.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = r"^ *[0-9]{1,9}(\*[0-9]{1,9})?( +[0-9]{1,9}(\*[0-9]{1,9})?)* *$", "examples" = ["0 1*3 4"]))]
pub struct Times(Vec<Moment>);

/// So many opportunities at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    at_ms: u32,
    count: u32,
}

impl Times {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|moment| u64::from(moment.count)).sum()
    }

    /// The first that is before the one it stands behind, milliseconds.
    #[must_use]
    pub fn out_of_order(&self) -> Option<u32> {
        let pairs = self.0.windows(2);
        let mut back = pairs.filter(|pair| pair[1].at_ms < pair[0].at_ms);
        back.next().map(|pair| pair[1].at_ms)
    }

    /// The most at one time.
    #[must_use]
    pub fn most_at_once(&self) -> u64 {
        let counts = self.0.iter().map(|moment| moment.count);
        counts.max().unwrap_or_default().into()
    }

    /// The last, when the course begins anew.
    #[must_use]
    pub fn period(&self) -> Duration {
        let last = self.0.last().map_or(0, |moment| moment.at_ms);
        Duration::from_ms(last.into())
    }
}

impl FromIterator<(u32, u32)> for Times {
    /// Times in milliseconds, and how many opportunities there are at each.
    fn from_iter<I: IntoIterator<Item = (u32, u32)>>(times: I) -> Times {
        let mut moments: Vec<Moment> = Vec::new();
        for (at_ms, count) in times {
            match moments.last_mut() {
                Some(last) if last.at_ms == at_ms => last.count = last.count.saturating_add(count),
                _ if count > 0 => moments.push(Moment { at_ms, count }),
                _ => {}
            }
        }
        Times(moments)
    }
}

impl FromStr for Times {
    type Err = String;

    fn from_str(text: &str) -> Result<Times, String> {
        let words = text.split_whitespace();
        let moment = |word: &str| {
            let (at, count) = word.split_once('*').unwrap_or((word, "1"));
            match (at.parse(), count.parse()) {
                (Ok(at_ms), Ok(count)) => Ok((at_ms, count)),
                _ => Err(format!("{word:?} is no time in milliseconds")),
            }
        };
        words.map(moment).collect()
    }
}

impl TryFrom<String> for Times {
    type Error = String;

    fn try_from(text: String) -> Result<Times, String> {
        text.parse()
    }
}

impl From<Times> for String {
    fn from(times: Times) -> String {
        times.to_string()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, moment) in self.0.iter().enumerate() {
            let gap = if number > 0 { " " } else { "" };
            match moment.count {
                1 => write!(f, "{gap}{}", moment.at_ms)?,
                count => write!(f, "{gap}{}*{count}", moment.at_ms)?,
            }
        }
        Ok(())
    }
}

/// Where the course of such a link is.
#[derive(Clone, Debug)]
pub struct Cursor {
    trace: Arc<Trace>,
    /// How often it has begun anew.
    turns: u64,
    /// The moment whose opportunities are used, by its number.
    moment: usize,
    /// What is left of them.
    left_bytes: u64,
    /// How many there are in one turn.
    count: u64,
}

impl Cursor {
    /// The course from its beginning.
    pub(super) fn new(trace: Arc<Trace>) -> Cursor {
        let count = match &*trace {
            Trace::Opportunities(course) => course.times_ms.count(),
            Trace::Rates(_) | Trace::Shaper(_) => 0,
        };
        let mut cursor = Cursor {
            trace,
            count,
            turns: 0,
            moment: 0,
            left_bytes: 0,
        };
        cursor.left_bytes = cursor.whole_bytes();
        cursor
    }

    fn course(&self) -> (&[Moment], u64) {
        match &*self.trace {
            Trace::Opportunities(course) => (&course.times_ms.0, course.bytes.get()),
            Trace::Rates(_) | Trace::Shaper(_) => (&[], 0),
        }
    }

    fn period(&self) -> Duration {
        let last = self.course().0.last().map_or(0, |moment| moment.at_ms);
        Duration::from_ms(u64::from(last).max(1))
    }

    fn whole_bytes(&self) -> u64 {
        let (moments, bytes) = self.course();
        let count = moments.get(self.moment).map_or(1, |moment| moment.count);
        // A course of nothing would never come to an end.
        u64::from(count).saturating_mul(bytes).max(1)
    }

    fn time(&self) -> Time {
        let at_ms = self.course().0.get(self.moment).map_or(0, |m| m.at_ms);
        Time::ZERO + self.period() * self.turns + Duration::from_ms(at_ms.into())
    }

    fn advance(&mut self) {
        self.moment += 1;
        if self.moment >= self.course().0.len() {
            self.moment = 0;
            self.turns += 1;
        }
        self.left_bytes = self.whole_bytes();
    }

    /// Goes on until `is_past` is true of no time that it leaves behind.
    fn skip(&mut self, now: Time, is_past: impl Fn(Time) -> bool) {
        let turns = now.as_ps() / self.period().as_ps();
        if turns > self.turns + 2 {
            self.turns = turns - 2;
            self.moment = 0;
            self.left_bytes = self.whole_bytes();
        }
        while is_past(self.time()) {
            self.advance();
        }
    }

    /// What might have gone before `now` is lost.
    pub(super) fn idle_until(&mut self, now: Time) {
        self.skip(now, |time| time < now);
    }

    /// When a frame that waits at `now` is taken.
    pub(super) fn ready_at(&mut self, now: Time) -> Time {
        self.skip(now, |time| time + GRAIN <= now);
        if self.left_bytes == 0 {
            self.advance();
        }
        self.time().max(now)
    }

    /// What it lets go from where it is to `now`, which it goes on to.
    pub(super) fn offered(&mut self, now: Time) -> Bits {
        let mut bytes = 0;
        while self.time() <= now {
            bytes += u128::from(self.left_bytes);
            self.advance();
            if self.moment == 0 {
                let (_, each) = self.course();
                let of_turn = u128::from(self.count) * u128::from(each);
                let begun = Time::ZERO + self.period() * self.turns;
                let over = now.since(begun).as_ps() / self.period().as_ps();
                // What is due at the very end of a turn is so when it is.
                self.turns += over.saturating_sub(1);
                bytes += u128::from(over.saturating_sub(1)).saturating_mul(of_turn);
            }
        }
        bytes.saturating_mul(BYTE)
    }

    /// A packet of so many bytes is taken at `now`; it leaves with the opportunity that takes its last byte.
    pub(super) fn take(&mut self, now: Time, ip_bytes: u64) -> Passage {
        let mut needed = ip_bytes;
        let horizon = now + LONGEST;
        while needed > self.left_bytes && self.time() < horizon {
            needed -= self.left_bytes;
            self.advance();
        }
        self.left_bytes -= needed.min(self.left_bytes);
        let leaves = self.time().min(horizon).max(now);
        Passage {
            leaves,
            rests_until: now,
        }
    }
}

#[cfg(test)]
#[path = "opportunities_tests.rs"]
mod tests;
