//! One host of a collective: the same protocol as the simulator's ranks. It has all its connections before it begins,
//! passes on what comes by the slice, and begins an iteration when it has ended the one before and computed.

use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tailback_net::random::Stream;

use super::bulk::join;
use super::socket::{CHUNK_BYTES, Counted, Options, connect, listen, said};
use super::{Context, sleep_ns};
use crate::config::{self, Lane};
use crate::record::Record;
use crate::sys;

/// A lane's two connections.
struct Ends {
    sends: Arc<Counted>,
    reads: Arc<Counted>,
    /// What has come, and what has been handed to the writer, of all iterations, bytes.
    received_bytes: u64,
    written_bytes: u64,
}

pub(super) fn run(context: &Context<'_>, task: &config::Collective) -> io::Result<()> {
    let mut lanes = meet(context, task)?;
    let written = thread::scope(|scope| {
        let (mut orders, mut writers) = (Vec::new(), Vec::new());
        for ends in &lanes {
            let (order, ordered) = channel();
            orders.push(order);
            let (sends, readers) = (Arc::clone(&ends.sends), readers(&lanes));
            writers.push(scope.spawn(move || write(context, &sends, &ordered, &readers)));
        }
        let iterated = iterate(context, task, &mut lanes, &orders);
        drop(orders);
        // What a writer has met is why nothing comes any more.
        join(writers).and(iterated)
    });
    written?;
    part(context, &lanes)
}

fn readers(lanes: &[Ends]) -> Vec<Arc<Counted>> {
    lanes.iter().map(|ends| Arc::clone(&ends.reads)).collect()
}

/// All connections: those it sends on it opens, those it reads it accepts.
fn meet(context: &Context<'_>, task: &config::Collective) -> io::Result<Vec<Ends>> {
    let options = Options {
        priority: task.priority,
        ..Options::default()
    };
    let listeners: Vec<_> = task
        .lanes
        .iter()
        .map(|lane| listen(context, lane.own_port, options))
        .collect::<io::Result<_>>()?;
    context.clock.sleep_until(task.start_ns);
    let sends: Vec<_> = task
        .lanes
        .iter()
        .map(|lane| connect(context, lane.address, lane.port, options))
        .collect::<io::Result<_>>()?;
    let both = sends.into_iter().zip(&listeners);
    both.map(|(sends, listener)| {
        Ok(Ends {
            sends,
            reads: Counted::accept(listener, context)?,
            received_bytes: 0,
            written_bytes: 0,
        })
    })
    .collect()
}

/// Writes what it is told to, until nobody tells it any more; where it cannot, nobody is to wait for what then does
/// not come.
fn write(
    context: &Context<'_>,
    sends: &Counted,
    ordered: &Receiver<u64>,
    readers: &[Arc<Counted>],
) -> io::Result<()> {
    let written = ordered
        .iter()
        .try_for_each(|bytes| sends.write_bytes(bytes, context.clock));
    written.map_err(|error| {
        for reads in readers {
            let _ = reads.stream.shutdown(Shutdown::Both);
        }
        sends.said(&error)
    })
}

fn iterate(
    context: &Context<'_>,
    task: &config::Collective,
    lanes: &mut [Ends],
    orders: &[Sender<u64>],
) -> io::Result<()> {
    let clock = context.clock;
    let mut stream = Stream::new(context.config.seed, "compute", task.stream);
    for iteration in 0..task.iterations {
        let started_ns = clock.now_ns();
        exchange(context, task, iteration, lanes, orders)?;
        let ended_ns = clock.now_ns();
        let (mut retransmissions, mut timeouts) = (0, 0);
        for ends in lanes.iter() {
            let repairs = ends.sends.repairs()?;
            retransmissions += repairs.0;
            timeouts += repairs.1;
        }
        context.recorder.add(&Record::Transaction {
            iteration,
            started_ns,
            ended_ns,
            bytes: task.lanes.iter().map(|lane| lane.bytes).sum(),
            retransmissions,
            timeouts,
        });
        let jitter_ns = stream.exponential(task.compute_jitter_ns);
        if iteration + 1 < task.iterations {
            sleep_ns(task.compute_ns + jitter_ns);
        }
    }
    Ok(())
}

/// One iteration: until all of it has come.
fn exchange(
    context: &Context<'_>,
    task: &config::Collective,
    iteration: u64,
    lanes: &mut [Ends],
    orders: &[Sender<u64>],
) -> io::Result<()> {
    let mut ready = Vec::new();
    loop {
        let mut waiting = Vec::new();
        for (number, (ends, lane)) in lanes.iter_mut().zip(&task.lanes).enumerate() {
            let before = iteration * lane.bytes;
            let may = before + may_send(lane, ends.received_bytes - before);
            if may > ends.written_bytes {
                // Fails where the writer has: it tells why.
                let _ = orders[number].send(may - ends.written_bytes);
                ends.written_bytes = may;
            }
            if ends.received_bytes < before + lane.bytes {
                waiting.push(number);
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
        let sockets: Vec<_> = waiting
            .iter()
            .map(|&number| lanes[number].reads.stream.as_fd())
            .collect();
        sys::wait_readable(&sockets, &mut ready)?;
        for (&number, &ready) in waiting.iter().zip(&ready) {
            if !ready {
                continue;
            }
            let ends = &mut lanes[number];
            match ends.reads.skip(CHUNK_BYTES, context.clock) {
                Err(error) => return Err(ends.reads.said(&error)),
                Ok(0) => {
                    return Err(said(
                        &format!("{} closed before all had come", ends.reads.peer),
                        &io::ErrorKind::UnexpectedEof.into(),
                    ));
                }
                Ok(bytes) => ends.received_bytes += bytes as u64,
            }
        }
    }
}

/// How much of an iteration's bytes may be sent when so much of it has come.
fn may_send(lane: &Lane, received_bytes: u64) -> u64 {
    let whole = received_bytes / lane.slice_bytes * lane.slice_bytes;
    lane.bytes.min(lane.first_bytes + whole)
}

/// Ends all connections when the others have read everything, and tells of them.
fn part(context: &Context<'_>, lanes: &[Ends]) -> io::Result<()> {
    for ends in lanes {
        ends.sends.stream.shutdown(Shutdown::Write)?;
    }
    for ends in lanes {
        until_over(context, &ends.reads)?;
        ends.reads.record(context)?;
        // Fails where the other end has gone: nothing to end then.
        let _ = ends.reads.stream.shutdown(Shutdown::Both);
    }
    for ends in lanes {
        until_over(context, &ends.sends)?;
        ends.sends.record(context)?;
    }
    Ok(())
}

fn until_over(context: &Context<'_>, flow: &Counted) -> io::Result<()> {
    while flow
        .skip(CHUNK_BYTES, context.clock)
        .map_err(|error| flow.said(&error))?
        > 0
    {}
    Ok(())
}
