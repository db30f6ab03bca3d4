//! Looks at all connections in equal steps of the clock, and at the times of a measurement.

use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Clock;
use super::socket::Counted;
use crate::config::GuestConfig;
use crate::counters;
use crate::mem_info;
use crate::record::{Record, Recorder};
use crate::tcp_info::{self, TcpInfo};

pub(super) struct Sampler {
    interval_ns: Option<u64>,
    looks_ns: Vec<u64>,
    counters_ns: Vec<u64>,
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
    pub(super) fn new(config: &GuestConfig) -> Sampler {
        Sampler {
            interval_ns: config.sample_interval_ns.filter(|&ns| ns > 0),
            looks_ns: config.looks_ns.clone(),
            counters_ns: config.counters_ns.clone(),
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
        if self.interval_ns.is_some() || !self.looks_ns.is_empty() {
            self.lock().connections.push(Arc::clone(connection));
        }
    }

    /// Samples all connections every interval, until all tasks are over.
    pub(super) fn run(&self, clock: Clock, recorder: &Recorder) {
        let Some(interval_ns) = self.interval_ns else {
            return;
        };
        let first_ns = clock.now_ns().next_multiple_of(interval_ns);
        let times = (first_ns..).step_by(interval_ns as usize);
        self.at(clock, times, |time_ns, seen| {
            for (connection, tcp_info) in seen {
                recorder.add(&Record::Sample {
                    local: connection.local,
                    peer: connection.peer,
                    time_ns,
                    bytes: connection.bytes(),
                    tcp_info,
                });
            }
        });
    }

    /// Looks at all connections at the times of a measurement, and at some of them at the kernel's counters.
    pub(super) fn measure(&self, clock: Clock, recorder: &Recorder) {
        self.at(clock, self.looks_ns.iter().copied(), |time_ns, seen| {
            for (connection, tcp_info) in seen {
                recorder.add(&Record::Look {
                    local: connection.local,
                    peer: connection.peer,
                    time_ns,
                    read_bytes: connection.read_bytes(),
                    tcp_info,
                });
            }
            if self.counters_ns.contains(&time_ns) {
                recorder.add(&Record::LookedCounters {
                    time_ns,
                    counters: counters::read(),
                });
            }
        });
    }

    /// Calls `tell` at each of `times` with all connections as they are, until all tasks are over.
    fn at(
        &self,
        clock: Clock,
        times: impl Iterator<Item = u64>,
        tell: impl Fn(u64, Vec<(Arc<Counted>, TcpInfo)>),
    ) {
        for time_ns in times {
            let mut state = self.lock();
            loop {
                if state.tasks == 0 {
                    return;
                }
                let left_ns = clock.left_ns(time_ns);
                if left_ns == 0 {
                    break;
                }
                let waited = self.over.wait_timeout(state, Duration::from_nanos(left_ns));
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            // A connection that its task has let go of has been told of.
            state.connections.retain(|c| Arc::strong_count(c) > 1);
            let seen = state.connections.iter();
            let seen = seen.filter_map(|c| Some((Arc::clone(c), told(&c.stream)?)));
            tell(time_ns, seen.collect());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// TCP_INFO of a connection, and its memory where the kernel tells of that.
fn told(stream: &TcpStream) -> Option<TcpInfo> {
    let mut info = tcp_info::read(stream).ok()?;
    info.extend(mem_info::read(stream).into_iter().flatten());
    Some(info)
}
