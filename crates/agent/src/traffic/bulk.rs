//! Parallel flows that send as much as they can, and their sink (iperf3's -P, -t, -n, -w, -C).
//!
//! A task with `end_ns` is over then: both directions of its connections are shut, and what was on its
//! way is not waited for.

use std::io;
use std::net::{Shutdown, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use socket2::SockRef;
use tailback_net::arrivals::Arrivals;

use super::Context;
use super::socket::{CHUNK_BYTES, Counted, Options, connect, listen};
use crate::config;

pub(super) fn source(context: &Context<'_>, task: &config::Bulk) -> io::Result<()> {
    let options = Options {
        congestion_control: task.congestion_control.as_deref(),
        send_buffer_bytes: task.window_bytes,
        priority: task.priority,
        give_up_ns: task.end_ns,
        ..Options::default()
    };
    let mut flows = Vec::new();
    for _ in 0..task.flows {
        let flow = match connect(context, task.address, task.port, options) {
            // It never came to be, and nobody waits for it any more.
            Err(_) if is_over(context, task.end_ns) => return Ok(()),
            flow => flow?,
        };
        flows.push(flow);
    }
    thread::scope(|scope| {
        let writers: Vec<_> = flows
            .iter()
            .map(|flow| scope.spawn(|| write(context, flow, task)))
            .collect();
        if let Some(end_ns) = task.end_ns {
            shut_at(context, end_ns, lent(&flows));
        }
        if let Some(duration_ns) = task.duration_ns {
            let (flows, clock) = (lent(&flows), context.clock);
            context
                .ends
                .at(clock, clock.now_ns() + duration_ns, move || {
                    for flow in flows.iter().filter_map(Weak::upgrade) {
                        // Fails where the flow has ended by itself: nothing to end then.
                        let _ = flow.stream.shutdown(Shutdown::Write);
                    }
                });
        }
        join(writers)
    })
}

/// Writes until the bytes are written or the time is over, then waits until the sink has read all.
fn write(context: &Context<'_>, flow: &Counted, task: &config::Bulk) -> io::Result<()> {
    let clock = context.clock;
    let written = match task.pace {
        None => flow.write_bytes(task.bytes.unwrap_or(u64::MAX), clock),
        Some(pace) => write_at(context, flow, task, pace),
    };
    match written {
        // Its time is over.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        // The sink's was a moment before.
        Err(error) if is_over(context, task.end_ns) && was_reset(&error) => {}
        other => other.map_err(|error| flow.said(&error))?,
    }
    if is_over(context, task.end_ns) {
        flow.record(context)?;
        return if task.abort { flow.abort() } else { Ok(()) };
    }
    match flow.stream.shutdown(Shutdown::Write) {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {}
        other => other?,
    }
    until_over(context, flow, task.end_ns, || {
        flow.read(&mut [0; 64], clock)
    })?;
    flow.record(context)
}

/// Writes a block whenever one is due, several at once if it has been held up (iperf3's -b).
fn write_at(
    context: &Context<'_>,
    flow: &Counted,
    task: &config::Bulk,
    pace: config::Pace,
) -> io::Result<()> {
    let clock = context.clock;
    let began_ns = clock.now_ns();
    let over_ns = task.duration_ns.map(|ns| began_ns.saturating_add(ns));
    let over_ns = over_ns.into_iter().chain(task.end_ns).min();
    let mut left = task.bytes.unwrap_or(u64::MAX);
    for after_ns in Arrivals::even(pace.gap_ns) {
        let due_ns = began_ns.saturating_add(after_ns);
        clock.sleep_until(over_ns.map_or(due_ns, |over_ns| due_ns.min(over_ns)));
        if over_ns.is_some_and(|over_ns| clock.now_ns() >= over_ns) {
            break;
        }
        let block_bytes = pace.block_bytes.min(left);
        flow.write_bytes(block_bytes, clock)?;
        left -= block_bytes;
        if left == 0 {
            break;
        }
    }
    Ok(())
}

/// Reads until the peer has sent all, or has reset the connection a moment before its time is over here too.
fn until_over(
    context: &Context<'_>,
    flow: &Counted,
    end_ns: Option<u64>,
    mut read: impl FnMut() -> io::Result<usize>,
) -> io::Result<()> {
    loop {
        match read() {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if is_over(context, end_ns) && was_reset(&error) => return Ok(()),
            Err(error) => return Err(flow.said(&error)),
        }
    }
}

pub(super) fn sink(context: &Context<'_>, task: &config::Sink) -> io::Result<()> {
    let options = Options {
        receive_buffer_bytes: task.window_bytes,
        priority: task.priority,
        ..Options::default()
    };
    let listener = listen(context, task.port, options)?;
    let flows: Arc<Mutex<Vec<Weak<Counted>>>> = Arc::default();
    if let Some(end_ns) = task.end_ns {
        close_at(context, end_ns, &listener, &flows)?;
    }
    thread::scope(|scope| {
        let mut readers = Vec::new();
        for _ in 0..task.connections {
            let flow = match Counted::accept(&listener, context) {
                Err(_) if is_over(context, task.end_ns) => break,
                flow => flow?,
            };
            keep(context, task.end_ns, &flows, &flow);
            readers.push(scope.spawn(move || read(context, &flow, task)));
        }
        join(readers)
    })
}

fn read(context: &Context<'_>, flow: &Counted, task: &config::Sink) -> io::Result<()> {
    until_over(context, flow, task.end_ns, || {
        match flow.skip(CHUNK_BYTES, context.clock) {
            Err(error) if task.aborted && was_reset(&error) => Ok(0),
            other => other,
        }
    })?;
    let recorded = flow.record(context);
    // Closes this direction too, though the sampler may have the socket still.
    let _ = flow.stream.shutdown(Shutdown::Both);
    recorded
}

/// For who ends flows at a time: a flow that has ended by itself is closed then, whoever waits for that time.
pub(super) fn lent(flows: &[Arc<Counted>]) -> Vec<Weak<Counted>> {
    flows.iter().map(Arc::downgrade).collect()
}

fn locked(flows: &Mutex<Vec<Weak<Counted>>>) -> MutexGuard<'_, Vec<Weak<Counted>>> {
    flows.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the time of a task that ends at a time is over.
pub(super) fn is_over(context: &Context<'_>, end_ns: Option<u64>) -> bool {
    end_ns.is_some_and(|end_ns| context.clock.now_ns() >= end_ns)
}

fn was_reset(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}

/// Shuts connections at a time. Nobody waits for it where all have closed before.
pub(super) fn shut_at(context: &Context<'_>, end_ns: u64, flows: Vec<Weak<Counted>>) {
    context.ends.at(context.clock, end_ns, move || shut(&flows));
}

/// The same of those that a listener has got by then; whoever has not come is not waited for.
pub(super) fn close_at(
    context: &Context<'_>,
    end_ns: u64,
    listener: &TcpListener,
    flows: &Arc<Mutex<Vec<Weak<Counted>>>>,
) -> io::Result<()> {
    let (listener, flows) = (listener.try_clone()?, Arc::clone(flows));
    context.ends.at(context.clock, end_ns, move || {
        shut(&locked(&flows));
        let _ = SockRef::from(&listener).shutdown(Shutdown::Both);
    });
    Ok(())
}

/// Lets a connection that a listener has got be shut at that time too: at once, if it was taken as the time came.
pub(super) fn keep(
    context: &Context<'_>,
    end_ns: Option<u64>,
    flows: &Mutex<Vec<Weak<Counted>>>,
    flow: &Arc<Counted>,
) {
    locked(flows).push(Arc::downgrade(flow));
    if is_over(context, end_ns) {
        let _ = flow.stream.shutdown(Shutdown::Both);
    }
}

/// Shuts both directions of connections, so that nobody waits for them any more.
fn shut(flows: &[Weak<Counted>]) {
    for flow in flows.iter().filter_map(Weak::upgrade) {
        // Fails where the flow has ended by itself: nothing to end then.
        let _ = flow.stream.shutdown(Shutdown::Both);
    }
}

/// Waits for all; the first error is the result.
pub(super) fn join(threads: Vec<thread::ScopedJoinHandle<'_, io::Result<()>>>) -> io::Result<()> {
    let results: Vec<io::Result<()>> = threads
        .into_iter()
        .map(|thread| {
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("defect in the agent")))
        })
        .collect();
    results.into_iter().collect()
}
