//! Parallel flows that send as much as they can, and their sink (iperf3's -P, -t, -n, -w, -C).

use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::thread;

use super::socket::{CHUNK_BYTES, Counted, Options, connect, listen};
use super::{Context, sleep_ns};
use crate::config;

pub(super) fn source(context: &Context<'_>, task: &config::Bulk) -> io::Result<()> {
    let options = Options {
        congestion_control: task.congestion_control.as_deref(),
        send_buffer_bytes: task.window_bytes,
    };
    let mut flows = Vec::new();
    for _ in 0..task.flows {
        let stream = connect(context, task.address, task.port, options)?;
        flows.push(Counted::connected(stream, context)?);
    }
    thread::scope(|scope| {
        let writers: Vec<_> = flows
            .iter()
            .map(|flow| scope.spawn(|| write(context, flow, task)))
            .collect();
        if let Some(duration_ns) = task.duration_ns {
            let flows: Vec<Arc<Counted>> = flows.clone();
            // Flows that end by their bytes before this leave a thread asleep: the scope must not
            // wait for it, so it is none of the scope's.
            thread::spawn(move || {
                sleep_ns(duration_ns);
                for flow in &flows {
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
    match flow.write_bytes(task.bytes.unwrap_or(u64::MAX), clock) {
        // Its time is over.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other?,
    }
    match flow.stream.shutdown(Shutdown::Write) {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {}
        other => other?,
    }
    while flow.read(&mut [0; 64], clock)? > 0 {}
    flow.record(context)
}

pub(super) fn sink(context: &Context<'_>, task: &config::Sink) -> io::Result<()> {
    let listener = listen(context, task.port, task.window_bytes)?;
    thread::scope(|scope| {
        let mut readers = Vec::new();
        for _ in 0..task.connections {
            let flow = Counted::accept(&listener, context)?;
            readers.push(scope.spawn(move || read(context, &flow)));
        }
        join(readers)
    })
}

fn read(context: &Context<'_>, flow: &Counted) -> io::Result<()> {
    while flow.skip(CHUNK_BYTES, context.clock)? > 0 {}
    flow.record(context)
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
