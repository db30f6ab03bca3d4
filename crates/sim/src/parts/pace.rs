//! How parts keep step: they meet after every window, tell one another how far they are and hand
//! over mail.
//!
//! A barrier of atomics, at which a thread looks for the others for a while before it sleeps: windows are
//! short, and who sleeps wakes late; but where cores are few, who only looks keeps others from work.
//! What is told lies in two places in turn, so that one meeting a window is enough: nobody comes to the next but
//! one before all have left this one.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

use tailback_units::Time;

use super::mail::Mail;
use crate::world::World;

/// Looks for the others before a thread sleeps: some ten microseconds, as long as a window may differ from
/// part to part.
const LOOKS: u32 = 2000;

/// The others have been stopped, or one has failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopped;

/// What a part tells, and what all have told together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    /// When its next event is; of all: the earliest.
    pub(super) next: Time,
    /// It has flows that have not sent everything once; of all: any has.
    pub(super) sending: bool,
    /// Flows that are over at its destinations; of all: the sum.
    pub(super) over: usize,
}

impl Default for Report {
    fn default() -> Report {
        Report {
            next: Time::NEVER,
            sending: false,
            over: 0,
        }
    }
}

/// What a part tells at a meeting: two lines of the processor's cache, which some fetch together.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Place {
    next_ps: AtomicU64,
    sending: AtomicBool,
    over: AtomicUsize,
    /// For each part.
    mail: Vec<Mutex<Mail>>,
}

/// Where parts meet.
#[derive(Debug)]
pub(super) struct Pace {
    parts: usize,
    arrived: AtomicUsize,
    meetings: AtomicUsize,
    stopped: AtomicBool,
    /// Looks before sleep: none where there are fewer cores than parts.
    looks: u32,
    sleepers: Mutex<()>,
    asleep: AtomicUsize,
    wake: Condvar,
    /// By turn, then by part.
    places: [Vec<Place>; 2],
}

/// Stops the others if its thread panics: they would wait for ever.
pub(super) struct Guard<'a>(&'a Pace);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}

impl Pace {
    pub(super) fn new(parts: usize) -> Pace {
        let place = |_| Place {
            mail: (0..parts).map(|_| Mutex::default()).collect(),
            ..Place::default()
        };
        Pace {
            parts,
            arrived: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            looks: if std::thread::available_parallelism().is_ok_and(|n| n.get() >= parts) {
                LOOKS
            } else {
                0
            },
            sleepers: Mutex::new(()),
            asleep: AtomicUsize::new(0),
            wake: Condvar::new(),
            places: [0, 1].map(|_| (0..parts).map(place).collect()),
        }
    }

    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }

    /// Everybody is to stop.
    pub(super) fn stop(&self) -> Stopped {
        self.stopped.store(true, Ordering::SeqCst);
        self.wake_all();
        Stopped
    }

    /// Meets the others: tells them, hands them mail and takes theirs in. Answers what all have told.
    pub(super) fn meet(
        &self,
        number: usize,
        report: Report,
        world: &mut World,
    ) -> Result<Report, Stopped> {
        let meeting = self.meetings.load(Ordering::Acquire);
        let places = &self.places[meeting % 2];
        let own = &places[number];
        let mut next = report.next;
        for (mail, place) in world.outbox().mail.iter_mut().zip(&own.mail) {
            next = next.min(mail.next());
            // Nobody else is at it before the meeting, and nobody panics while at it.
            if let Ok(mut place) = place.lock() {
                std::mem::swap(&mut *place, mail);
            }
        }
        own.next_ps.store(next.as_ps(), Ordering::Relaxed);
        own.sending.store(report.sending, Ordering::Relaxed);
        own.over.store(report.over, Ordering::Relaxed);
        self.wait(meeting)?;
        let mut all = Report::default();
        for place in places {
            let next = Time::from_ps(place.next_ps.load(Ordering::Relaxed));
            all.next = all.next.min(next);
            all.sending |= place.sending.load(Ordering::Relaxed);
            all.over += place.over.load(Ordering::Relaxed);
            if let Ok(mut mail) = place.mail[number].lock() {
                mail.deliver(world);
            }
        }
        Ok(all)
    }

    fn wait(&self, meeting: usize) -> Result<(), Stopped> {
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.parts {
            self.arrived.store(0, Ordering::Relaxed);
            self.meetings.store(meeting + 1, Ordering::SeqCst);
            self.wake_all();
            return Ok(());
        }
        let waits = || {
            let here = self.meetings.load(Ordering::SeqCst) == meeting;
            here && !self.stopped.load(Ordering::SeqCst)
        };
        let mut looks = 0;
        while looks < self.looks && waits() {
            std::hint::spin_loop();
            looks += 1;
        }
        if waits() {
            self.sleep_while(waits);
        }
        // Those who met go on together, even if one of them has stopped the rest since.
        if self.meetings.load(Ordering::Acquire) == meeting {
            return Err(Stopped);
        }
        Ok(())
    }

    fn sleep_while(&self, waits: impl Fn() -> bool) {
        let Ok(mut sleeper) = self.sleepers.lock() else {
            return;
        };
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while waits() {
            match self.wake.wait(sleeper) {
                Ok(woken) => sleeper = woken,
                Err(_) => break,
            }
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes who sleeps. Who is about to has said so before its last look, and holds the lock until it does.
    fn wake_all(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            drop(self.sleepers.lock());
            self.wake.notify_all();
        }
    }
}
