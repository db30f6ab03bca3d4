//! Synchronised reads: the same protocol as the simulator's applications (Principled Technologies
//! 2010; Phanishayee et al., FAST 2008). The client opens all connections first, asks all servers
//! back to back, and begins the next iteration when the last byte of the last answer is in.

use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, Weak};
use std::thread;

use tailback_net::random::Stream;
use tailback_net::sizes::Lengths;

use super::bulk::{close_at, is_over, join, keep};
use super::socket::{CHUNK_BYTES, Counted, Options, connect, listen, said};
use super::{Context, sleep_ns};
use crate::config;
use crate::record::Record;
use crate::sys;

/// Clocks of machines agree to this, ns. [assumed]
const APART_NS: u64 = 1_000_000_000;

/// The client's side of one connection.
struct Server {
    connection: Arc<Counted>,
    answer_bytes: u64,
    left: u64,
}

pub(super) fn client(context: &Context<'_>, task: &config::IncastClient) -> io::Result<()> {
    let clock = context.clock;
    let mut servers = Vec::new();
    for (number, server) in task.servers.iter().enumerate() {
        if number > 0 {
            sleep_ns(task.send_call_ns);
        }
        servers.push(Server {
            connection: connect(context, server.address, server.port, Options::default())?,
            answer_bytes: server.answer_bytes,
            left: 0,
        });
    }
    for iteration in 0..task.iterations {
        let started_ns = clock.now_ns();
        for (number, server) in servers.iter_mut().enumerate() {
            if number > 0 {
                sleep_ns(task.send_call_ns);
            }
            let asked = server.connection.write_bytes(task.request_bytes, clock);
            asked.map_err(|error| server.connection.said(&error))?;
            server.left = server.answer_bytes;
        }
        collect(context, &mut servers)?;
        sleep_ns(task.client_latency_ns);
        let ended_ns = clock.now_ns();
        let (mut retransmissions, mut timeouts) = (0, 0);
        for server in &servers {
            let repairs = server.connection.repairs()?;
            retransmissions += repairs.0;
            timeouts += repairs.1;
        }
        context.recorder.add(&Record::Transaction {
            iteration,
            started_ns,
            ended_ns,
            bytes: task.servers.iter().map(|s| s.answer_bytes).sum(),
            retransmissions,
            timeouts,
        });
    }
    for server in &servers {
        server.connection.record(context)?;
    }
    Ok(())
}

/// Reads all answers to their ends, as they come.
fn collect(context: &Context<'_>, servers: &mut [Server]) -> io::Result<()> {
    let mut ready = Vec::new();
    loop {
        let waiting: Vec<usize> = (0..servers.len())
            .filter(|&i| servers[i].left > 0)
            .collect();
        if waiting.is_empty() {
            return Ok(());
        }
        let sockets: Vec<_> = waiting
            .iter()
            .map(|&i| servers[i].connection.stream.as_fd())
            .collect();
        sys::wait_readable(&sockets, &mut ready)?;
        for (&i, &ready) in waiting.iter().zip(&ready) {
            if !ready {
                continue;
            }
            let server = &mut servers[i];
            let most = server.left.min(CHUNK_BYTES as u64) as usize;
            match server.connection.skip(most, context.clock) {
                Err(error) => return Err(server.connection.said(&error)),
                Ok(0) => {
                    let peer = server.connection.peer;
                    return Err(said(
                        &format!("{peer} closed before its answer was complete"),
                        &io::ErrorKind::UnexpectedEof.into(),
                    ));
                }
                Ok(bytes) => server.left -= bytes as u64,
            }
        }
    }
}

pub(super) fn server(context: &Context<'_>, task: &config::IncastServer) -> io::Result<()> {
    let options = Options {
        congestion_control: task.congestion_control.as_deref(),
        priority: task.priority,
        ..Options::default()
    };
    let listener = listen(context, task.port, options)?;
    let last_ns = task.end_ns.map(|end_ns| end_ns + apart_ns(context));
    let connections: Arc<Mutex<Vec<Weak<Counted>>>> = Arc::default();
    if let Some(last_ns) = last_ns {
        close_at(context, last_ns, &listener, &connections)?;
    }
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for number in 0..task.connections {
            let connection = match Counted::accept(&listener, context) {
                Err(_) if is_over(context, last_ns) => break,
                connection => connection?,
            };
            keep(context, last_ns, &connections, &connection);
            let index = task.stream + u64::from(number);
            threads.push(scope.spawn(move || answer(context, task, &connection, index)));
        }
        join(threads)
    })
}

/// How far a client's clock may be from this host's: hosts of a run's own have one clock.
fn apart_ns(context: &Context<'_>) -> u64 {
    match context.config.peers.is_empty() {
        true => 0,
        false => APART_NS,
    }
}

/// Answers requests until the client closes, or its time is over; waits and sizes are of the run's streams of this
/// number.
fn answer(
    context: &Context<'_>,
    task: &config::IncastServer,
    connection: &Counted,
    index: u64,
) -> io::Result<()> {
    let (clock, seed) = (context.clock, context.config.seed);
    let mut waits = Stream::new(seed, "service", index);
    let (request_sizes, answer_sizes) = (task.request_sizes.clone(), task.answer_sizes.clone());
    let mut requests = Lengths::of_requests(task.request_bytes, request_sizes, seed, index);
    let mut answers = Lengths::of_responses(task.answer_bytes, answer_sizes, seed, index);
    let most = match &task.request_sizes {
        None => task.request_bytes.min(CHUNK_BYTES as u64) as usize,
        Some(_) => CHUNK_BYTES,
    };
    let mut request = vec![0; most];
    let mut number = 0;
    let mut serve = || {
        if !connection.read_exact(requests.draw(), &mut request, clock)? {
            return Ok(false);
        }
        let (retransmissions, timeouts) = connection.repairs()?;
        context.recorder.add(&Record::Request {
            peer: connection.peer,
            number,
            time_ns: clock.now_ns(),
            retransmissions,
            timeouts,
        });
        number += 1;
        sleep_ns(task.service_latency_ns + waits.exponential(task.service_jitter_ns));
        connection.write_bytes(answers.draw(), clock).map(|_| true)
    };
    // A client whose clock is ahead is over a moment before.
    let earliest_ns = task.end_ns.map(|ns| ns.saturating_sub(apart_ns(context)));
    let is_over = || is_over(context, earliest_ns);
    loop {
        match serve() {
            Ok(true) => {}
            Ok(false) => break,
            Err(_) if is_over() => break,
            Err(error) => return Err(connection.said(&error)),
        }
    }
    connection.record(context)
}
