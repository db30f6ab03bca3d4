//! The host shared between packetdrill's threads, and how time passes for it.
//!
//! packetdrill makes a call that its script says will block on a second thread, and goes on with
//! the script on the first. A thread that sleeps or looks at the clock again and again moves time.
//! Whenever something has happened, a blocked thread looks whether its call is done; if so, time
//! stands still until it has read the clock, which is the first thing packetdrill does when a call
//! returns. So what a script sees does not depend on how threads are scheduled.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use tailback_units::{Duration, Time};

use crate::host::{Errno, Host, Outcome, Sent};

/// What the clock advances by when nothing but the clock is asked for: packetdrill spins.
const SPIN: Duration = Duration::from_us(1);

/// The second thread's blocked call.
struct Waiter {
    deadline: Time,
    /// The last happening it has looked at.
    seen: u64,
}

struct State {
    host: Host,
    waiter: Option<Waiter>,
    /// A thread whose call has just been done and that has not read the clock yet.
    returning: Option<ThreadId>,
    happenings: u64,
    /// The last call was for the time.
    spinning: bool,
}

/// The host, for any thread.
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// packetdrill's first thread: nobody else moves time while it waits.
    first: ThreadId,
}

type Guard<'a> = MutexGuard<'a, State>;

impl Shared {
    /// Called by packetdrill's first thread.
    pub(crate) fn new(host: Host) -> Shared {
        Shared {
            state: Mutex::new(State {
                host,
                waiter: None,
                returning: None,
                happenings: 0,
                spinning: false,
            }),
            changed: Condvar::new(),
            first: thread::current().id(),
        }
    }

    /// Enters the host; what the script has done to its interface meanwhile takes effect.
    fn lock(&self) -> Guard<'_> {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        guard.host.look_at_interface();
        guard
    }

    fn wait<'a>(&self, guard: Guard<'a>) -> Guard<'a> {
        self.changed
            .wait(guard)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call that does not block.
    pub(crate) fn call<T>(&self, call: impl FnOnce(&mut Host) -> T) -> T {
        let mut guard = self.lock();
        guard.spinning = false;
        let answer = call(&mut guard.host);
        drop(self.settle(guard));
        answer
    }

    /// Makes a call that may block: asks again whenever something has happened.
    pub(crate) fn blocking<T>(
        &self,
        mut call: impl FnMut(&mut Host) -> Outcome<T>,
    ) -> Result<T, Errno> {
        let mut guard = self.lock();
        guard.spinning = false;
        let mut deadline = Time::NEVER;
        loop {
            match call(&mut guard.host) {
                Outcome::Done(answer) => {
                    if guard.waiter.take().is_some() {
                        guard.returning = Some(thread::current().id());
                        self.changed.notify_all();
                    }
                    return answer;
                }
                Outcome::Blocks(until) => deadline = deadline.min(until),
            }
            if thread::current().id() == self.first {
                // Nobody else moves time: the call waits for what happens next.
                let next = guard.host.next_event().min(deadline);
                if next == Time::NEVER {
                    return Err(libc::EDEADLK);
                }
                guard.host.step(next);
            } else {
                let seen = guard.happenings;
                guard.waiter = Some(Waiter { deadline, seen });
                self.changed.notify_all();
                while guard.happenings == seen {
                    guard = self.wait(guard);
                }
            }
        }
    }

    /// Something has happened: a blocked call is looked at, and returns if it is done.
    fn settle<'a>(&'a self, mut guard: Guard<'a>) -> Guard<'a> {
        if guard.returning == Some(thread::current().id()) {
            return guard;
        }
        if guard.waiter.is_some() {
            guard.happenings += 1;
            self.changed.notify_all();
        }
        let happenings = guard.happenings;
        while guard.returning.is_some()
            || guard
                .waiter
                .as_ref()
                .is_some_and(|waiter| waiter.seen != happenings)
        {
            guard = self.wait(guard);
        }
        guard
    }

    /// Moves time to the next happening by `until`, or to `until`.
    fn step<'a>(&'a self, mut guard: Guard<'a>, until: Time) -> (Guard<'a>, bool) {
        let deadline = guard
            .waiter
            .as_ref()
            .map_or(Time::NEVER, |waiter| waiter.deadline);
        let fired = guard.host.step(until.min(deadline));
        let more = fired || deadline <= until;
        (self.settle(guard), more)
    }

    /// Lets a span of time pass.
    pub(crate) fn sleep(&self, span: Duration) {
        let mut guard = self.lock();
        guard.spinning = false;
        drop(self.pass(guard, span));
    }

    fn pass<'a>(&'a self, mut guard: Guard<'a>, span: Duration) -> Guard<'a> {
        let until = guard.host.now() + span;
        loop {
            let (next, more) = self.step(guard, until);
            guard = next;
            if !more {
                return guard;
            }
        }
    }

    /// The time. It moves a little if it is asked for again and again.
    pub(crate) fn now(&self) -> Time {
        let mut guard = self.lock();
        let thread = thread::current().id();
        if guard.returning == Some(thread) {
            guard.returning = None;
            self.changed.notify_all();
        } else {
            if guard.spinning {
                guard = self.pass(guard, SPIN);
            }
            guard.spinning = true;
        }
        guard.host.now()
    }

    /// The next packet that leaves the host, however long it takes; none if nothing is left that
    /// could send one.
    pub(crate) fn next_packet(&self) -> Option<Sent> {
        let mut guard = self.lock();
        guard.spinning = false;
        loop {
            if let Some(sent) = guard.host.take_sent() {
                return Some(sent);
            }
            let deadline = guard
                .waiter
                .as_ref()
                .map_or(Time::NEVER, |waiter| waiter.deadline);
            let next = guard.host.next_event().min(deadline);
            if next == Time::NEVER {
                return None;
            }
            guard = self.step(guard, next).0;
        }
    }
}
