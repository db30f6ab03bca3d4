//! The client of one server: it asks when it has been answered (netperf's TCP_RR), with several requests under way, or
//! when it is time to, whatever has been answered (wrk2).
//!
//! A thread reads answers. It writes the requests itself where one is under way at a time: what two threads have to
//! say to each other would be part of what is measured.

use std::collections::VecDeque;
use std::io;
use std::slice;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tailback_net::arrivals::Arrivals;
use tailback_net::sizes::Lengths;

use super::bulk::{is_over, lent, shut_at};
use super::socket::{Counted, Options, connect};
use super::{Clock, Context};
use crate::config;
use crate::record::Record;

/// What was measured of the time that is counted.
#[derive(Debug, Default)]
struct Told {
    latencies_ns: Vec<u64>,
    asked_ns: Vec<u64>,
    answered_before: u64,
    due: u64,
}

/// Of the requests of a connection, and of their answers.
type Sizes = (Lengths, Lengths);

/// Asks one server again and again.
pub(super) fn ask(context: &Context<'_>, task: &config::Ask) -> io::Result<()> {
    let options = Options {
        congestion_control: task.congestion_control.as_deref(),
        priority: task.priority,
        give_up_ns: Some(task.end_ns),
        ..Options::default()
    };
    let connection = match connect(context, task.server.address, task.server.port, options) {
        // It never came to be, and nobody waits for it any more.
        Err(_) if is_over(context, Some(task.end_ns)) => return Ok(()),
        connection => connection?,
    };
    shut_at(context, task.end_ns, lent(slice::from_ref(&connection)));
    let asking = Asking {
        connection: &connection,
        task,
        clock: context.clock,
    };
    let seed = context.config.seed;
    let (request_sizes, answer_sizes) = (task.request_sizes.clone(), task.answer_sizes.clone());
    let sizes = (
        Lengths::of_requests(task.request_bytes, request_sizes, seed, task.stream),
        Lengths::of_responses(task.server.answer_bytes, answer_sizes, seed, task.stream),
    );
    let told = match task.every_ns {
        Some(every_ns) => {
            let arrivals = match task.drawn_gaps {
                false => Arrivals::even(every_ns),
                true => Arrivals::poisson(every_ns, seed, task.stream),
            };
            asking.when_due(arrivals, sizes)
        }
        None if task.outstanding == 1 => asking.one_by_one(sizes),
        None => asking.several(sizes),
    }?;
    context.recorder.add(&Record::Answered {
        peer: connection.peer,
        latencies_ns: told.latencies_ns,
        asked_ns: told.asked_ns,
        answered_before: told.answered_before,
        due: told.due,
    });
    connection.record(context)
}

#[derive(Clone, Copy)]
struct Asking<'a> {
    connection: &'a Counted,
    task: &'a config::Ask,
    clock: Clock,
}

impl Asking<'_> {
    /// The next when the one before has been answered, and thought about.
    fn one_by_one(self, (mut requests, mut answers): Sizes) -> io::Result<Told> {
        let mut told = Told::default();
        let mut asked_ns = self.clock.now_ns();
        while asked_ns < self.task.end_ns {
            if !(self.write(requests.draw())? && self.read(answers.draw())?) {
                break;
            }
            asked_ns = self.answered(asked_ns, &mut told) + self.task.think_ns;
            if self.task.think_ns > 0 {
                self.clock.sleep_until(asked_ns.min(self.task.end_ns));
            }
        }
        Ok(told)
    }

    /// A thread asks what another, which reads the answers, tells it to.
    fn several(self, (requests, mut answers): Sizes) -> io::Result<Told> {
        let (ask, asked) = channel();
        let now_ns = self.clock.now_ns();
        let mut unanswered = VecDeque::new();
        for _ in 0..self.task.outstanding {
            unanswered.push_back(now_ns);
            // Whoever takes it is not there yet, and not gone either.
            let _ = ask.send(now_ns);
        }
        // Where reading ends by an error, whoever writes hears no more.
        thread::scope(move |scope| {
            let writer = scope.spawn(move || self.write_each(asked, requests));
            let mut told = Told::default();
            while let Some(due_ns) = unanswered.pop_front() {
                if !self.read(answers.draw())? {
                    break;
                }
                let next_ns = self.answered(due_ns, &mut told) + self.task.think_ns;
                unanswered.push_back(next_ns);
                // Fails where the writer has ended: its error is told below.
                let _ = ask.send(next_ns);
            }
            drop(ask);
            joined(writer)?;
            Ok(told)
        })
    }

    /// A thread asks when it is time to, and tells another, which reads the answers.
    fn when_due(self, arrivals: Arrivals, (requests, mut answers): Sizes) -> io::Result<Told> {
        let begin_ns = self.clock.now_ns();
        let task = self.task;
        let due = move || {
            let all = arrivals.map(move |after_ns| begin_ns.saturating_add(after_ns));
            all.take_while(move |due_ns| *due_ns < task.end_ns)
        };
        let due_again = due.clone();
        let (tell, asked): (Sender<u64>, Receiver<u64>) = channel();
        thread::scope(|scope| {
            let writer = scope.spawn(move || {
                // Who reads knows of a request before its answer can come.
                let told = due().inspect(|due_ns| {
                    let _ = tell.send(*due_ns);
                });
                self.write_each(told, requests)
            });
            let mut told = Told::default();
            while self.read(answers.draw())? {
                let Ok(due_ns) = asked.recv() else {
                    break;
                };
                self.answered(due_ns, &mut told);
            }
            joined(writer)?;
            told.due = due_again()
                .filter(|due_ns| *due_ns >= task.begin_ns)
                .count() as u64;
            Ok(told)
        })
    }

    /// Sends a request at each of these times, ns.
    fn write_each(
        self,
        due_ns: impl IntoIterator<Item = u64>,
        mut requests: Lengths,
    ) -> io::Result<()> {
        for due_ns in due_ns {
            self.clock.sleep_until(due_ns.min(self.task.end_ns));
            if due_ns >= self.task.end_ns || !self.write(requests.draw())? {
                break;
            }
        }
        Ok(())
    }

    /// Sends a request; false if its time is over.
    fn write(self, bytes: u64) -> io::Result<bool> {
        let written = self.connection.write_bytes(bytes, self.clock);
        self.unless_over(written)
    }

    /// Reads an answer; false if its time is over.
    fn read(self, bytes: u64) -> io::Result<bool> {
        let whole = match self.connection.skip_whole(bytes, self.clock) {
            Ok(false) => Err(io::ErrorKind::UnexpectedEof.into()),
            read => read.map(|_| ()),
        };
        self.unless_over(whole)
    }

    fn unless_over(self, done: io::Result<()>) -> io::Result<bool> {
        match done {
            Ok(()) => Ok(true),
            Err(_) if self.clock.now_ns() >= self.task.end_ns => Ok(false),
            Err(error) => Err(self.connection.said(&error)),
        }
    }

    /// Counts an answer that is there now, ns, to a request of then.
    fn answered(self, asked_ns: u64, told: &mut Told) -> u64 {
        let now_ns = self.clock.now_ns();
        if (self.task.begin_ns..=self.task.end_ns).contains(&now_ns) {
            told.latencies_ns.push(now_ns.saturating_sub(asked_ns));
            if self.task.tells_each {
                told.asked_ns.push(asked_ns);
            }
        }
        told.answered_before += u64::from(now_ns < self.task.begin_ns);
        now_ns
    }
}

fn joined(writer: thread::ScopedJoinHandle<'_, io::Result<()>>) -> io::Result<()> {
    let ended = writer.join();
    ended.unwrap_or_else(|_| Err(io::Error::other("defect in the agent")))
}
