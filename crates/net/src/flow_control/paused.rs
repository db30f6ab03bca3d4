//! A transmitter that may have been stopped.

use tailback_units::{Duration, Time};

use crate::queue::ets::CLASSES;

/// Until when each class of a transmitter is stopped, and how long it has been.
#[derive(Clone, Debug)]
pub struct Paused {
    until: [Time; CLASSES],
    /// Since when any class is stopped, as long as one is.
    since: Option<Time>,
    total: Duration,
    frames: u64,
}

impl Default for Paused {
    fn default() -> Paused {
        Paused {
            until: [Time::ZERO; CLASSES],
            since: None,
            total: Duration::ZERO,
            frames: 0,
        }
    }
}

impl Paused {
    /// A frame about `classes` takes effect at `now`: they are stopped for `time`, or may go on.
    pub fn pause(&mut self, now: Time, classes: u8, time: Duration) {
        self.settle(now);
        self.frames += 1;
        for (class, until) in self.until.iter_mut().enumerate() {
            if classes & (1 << class) != 0 {
                *until = now + time;
            }
        }
        if self.latest() > now {
            self.since.get_or_insert(now);
        } else if let Some(since) = self.since.take() {
            self.total += now.since(since);
        }
    }

    /// Whether a class may not be sent from.
    #[inline]
    #[must_use]
    pub fn is_paused(&self, now: Time, class: u8) -> bool {
        self.until[usize::from(class & 7)] > now
    }

    /// Whether every class is stopped.
    #[must_use]
    pub fn is_stopped(&self, now: Time) -> bool {
        self.until.iter().all(|until| *until > now)
    }

    /// When the next class that is stopped may go on by itself; [`Time::NEVER`] if none is.
    #[must_use]
    pub fn next_end(&self, now: Time) -> Time {
        let ends = self.until.iter().copied().filter(|until| *until > now);
        ends.min().unwrap_or(Time::NEVER)
    }

    /// Frames received, and how long any class was stopped up to `now`.
    #[must_use]
    pub fn counted(&self, now: Time) -> (u64, Duration) {
        let more = self
            .since
            .map_or(Duration::ZERO, |since| self.latest().min(now).since(since));
        (self.frames, self.total + more)
    }

    fn latest(&self) -> Time {
        self.until.iter().copied().max().unwrap_or(Time::ZERO)
    }

    /// A stop that ran out by itself is over.
    fn settle(&mut self, now: Time) {
        if let Some(since) = self.since
            && self.latest() <= now
        {
            self.total += self.latest().since(since);
            self.since = None;
        }
    }
}
