//! Looks at all connections in equal steps of the clock.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Clock;
use super::socket::Counted;
use crate::record::{Record, Recorder};
use crate::tcp_info;

pub(super) struct Sampler {
    interval_ns: Option<u64>,
    state: Mutex<State>,
    over: Condvar,
}

#[derive(Default)]
struct State {
    /// Tasks that still run.
    tasks: usize,
    connections: Vec<Arc<Counted>>,
}

impl Sampler {
    pub(super) fn new(interval_ns: Option<u64>) -> Sampler {
        Sampler {
            interval_ns: interval_ns.filter(|&ns| ns > 0),
            state: Mutex::default(),
            over: Condvar::new(),
        }
    }

    /// It runs until so many tasks are over.
    pub(super) fn expect(&self, tasks: usize) {
        self.lock().tasks = tasks;
    }

    /// A task is over.
    pub(super) fn task_over(&self) {
        self.lock().tasks -= 1;
        self.over.notify_all();
    }

    /// From now on this connection too.
    pub(super) fn look_at(&self, connection: &Arc<Counted>) {
        if self.interval_ns.is_some() {
            self.lock().connections.push(Arc::clone(connection));
        }
    }

    /// Looks at all connections every interval, until all tasks are over.
    pub(super) fn run(&self, clock: Clock, recorder: &Recorder) {
        let Some(interval_ns) = self.interval_ns else {
            return;
        };
        let mut next_ns = clock.now_ns().next_multiple_of(interval_ns);
        let mut state = self.lock();
        while state.tasks > 0 {
            let left_ns = next_ns.saturating_sub(clock.now_ns());
            if left_ns > 0 {
                let waited = self.over.wait_timeout(state, Duration::from_nanos(left_ns));
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            // A connection that its task has let go of has been told of.
            state.connections.retain(|c| Arc::strong_count(c) > 1);
            for connection in &state.connections {
                if let Ok(tcp_info) = tcp_info::read(&connection.stream) {
                    recorder.add(&Record::Sample {
                        local: connection.local,
                        peer: connection.peer,
                        time_ns: next_ns,
                        bytes: connection.bytes(),
                        tcp_info,
                    });
                }
            }
            next_ns += interval_ns;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
