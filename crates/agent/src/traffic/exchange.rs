//! One end of a connection that does what a list says, when it says it.
//!
//! A thread writes, shuts and closes in the order of the list; another reads whatever comes, but for
//! the times it is told to hold.

use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use socket2::SockRef;

use super::Context;
use super::socket::{CHUNK_BYTES, Counted, Options, connect, listen};
use crate::config::{self, Deed};
use crate::sys;

/// How long after its end an end that still writes is let be: the other's is over then, and mostly says so.
const LATE_NS: u64 = 10_000_000;

pub(super) fn run(context: &Context<'_>, task: &config::Exchange) -> io::Result<()> {
    let flow = match meet(context, task) {
        // It never came to be. On a machine of somebody's that is a failure, which says what may be wrong.
        Err(_) if context.config.peers.is_empty() && is_over(context, task) => return Ok(()),
        flow => flow?,
    };
    let (clock, late_ns, lent) = (
        context.clock,
        task.duration_ns + LATE_NS,
        Arc::downgrade(&flow),
    );
    // None of the scope's: nobody waits for it where all is over in time.
    thread::spawn(move || {
        clock.sleep_until(late_ns);
        if let Some(flow) = lent.upgrade() {
            // Fails where it has ended by itself: nothing to end then.
            let _ = flow.stream.shutdown(Shutdown::Both);
        }
    });
    thread::scope(|scope| {
        let reader = scope.spawn(|| read(context, &flow, task));
        if !act(context, &flow, task)? {
            context.clock.sleep_until(task.duration_ns);
            flow.record(context)?;
            wake_reader(&flow)?;
        }
        let read = reader
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("defect in the agent")));
        // The kernel still sends what was written before it was closed; it ends with this program.
        context.clock.sleep_until(task.duration_ns);
        read
    })
}

/// The connection to the other end, which has until the exchange is over.
fn meet(context: &Context<'_>, task: &config::Exchange) -> io::Result<Arc<Counted>> {
    let end_ns = task.duration_ns;
    if let Some(address) = task.server {
        let options = Options {
            give_up_ns: Some(end_ns),
            ..Options::default()
        };
        return connect(context, address, task.port, options);
    }
    let listener = listen(context, task.port, Options::default())?;
    let (waiting, clock) = (listener.try_clone()?, context.clock);
    thread::spawn(move || {
        clock.sleep_until(end_ns);
        let _ = SockRef::from(&waiting).shutdown(Shutdown::Both);
    });
    Counted::accept(&listener, context)
}

fn is_over(context: &Context<'_>, task: &config::Exchange) -> bool {
    context.clock.now_ns() >= task.duration_ns
}

/// Does in turn what the list says of writing and ending; true if the socket is closed.
fn act(context: &Context<'_>, flow: &Arc<Counted>, task: &config::Exchange) -> io::Result<bool> {
    for action in &task.actions {
        context.clock.sleep_until(action.at_ns);
        let done = match action.does {
            Deed::Write => flow.write_at_once(action.bytes, context.clock),
            Deed::Hold | Deed::Read => Ok(()),
            Deed::Shutdown => flow.stream.shutdown(Shutdown::Write),
            Deed::Close | Deed::Abort => {
                if action.does == Deed::Abort {
                    SockRef::from(&flow.stream).set_linger(Some(Duration::ZERO))?;
                }
                flow.record(context)?;
                wake_reader(flow)?;
                sys::close_for_all(&flow.stream)?;
                return Ok(true);
            }
        };
        match done {
            // The peer has ended it: there is nobody left to act towards.
            Err(error) if ended(&error) => return Ok(false),
            other => other?,
        }
    }
    Ok(false)
}

/// Ends the reader's wait for bytes; nothing of it is seen on the wire.
fn wake_reader(flow: &Arc<Counted>) -> io::Result<()> {
    match flow.stream.shutdown(Shutdown::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        other => other,
    }
}

/// Reads until the stream ends, but not while it is to hold.
fn read(context: &Context<'_>, flow: &Arc<Counted>, task: &config::Exchange) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK_BYTES];
    let mut ready = Vec::new();
    // Each call takes a little of virtual time, so one that never holds makes none but reads.
    let holds = task
        .actions
        .iter()
        .any(|one| one.does == Deed::Hold || one.does == Deed::Read && one.bytes > 0);
    loop {
        if holds {
            // Not by a look at the data: the kernel takes that for a read, and acknowledges.
            sys::wait_readable(&[flow.stream.as_fd()], &mut ready)?;
            let now_ns = context.clock.now_ns();
            if let Some(until_ns) = held_until(task, now_ns) {
                if until_ns <= now_ns {
                    return Ok(());
                }
                context.clock.sleep_until(until_ns);
                let turn = turn_at(task, until_ns).filter(|turn| turn.at_ns == until_ns);
                let bytes = turn.map_or(0, |turn| turn.bytes);
                if bytes == 0 {
                    continue;
                }
                // Something waits: it was readable, and nobody else reads.
                buffer.resize(bytes as usize, 0);
                if done(flow.read(&mut buffer, context.clock))? {
                    return Ok(());
                }
                buffer.resize(CHUNK_BYTES, 0);
                continue;
            }
        }
        if done(flow.read(&mut buffer, context.clock))? {
            return Ok(());
        }
    }
}

/// Whether a read was the last.
fn done(read: io::Result<usize>) -> io::Result<bool> {
    match read {
        Err(error) if ended(&error) => Ok(true),
        // Closed between the wait and the read (sys::close_for_all).
        Err(error) if error.raw_os_error() == Some(libc::ENOTSOCK) => Ok(true),
        other => Ok(other? == 0),
    }
}

/// What it is told of reading, in the order of time.
fn turns(task: &config::Exchange) -> impl DoubleEndedIterator<Item = &config::Action> {
    let all = task.actions.iter();
    all.filter(|action| matches!(action.does, Deed::Hold | Deed::Read))
}

/// What it is to do from `at_ns` on.
fn turn_at(task: &config::Exchange, at_ns: u64) -> Option<&config::Action> {
    turns(task).rfind(|turn| turn.at_ns <= at_ns)
}

/// Until when it is to hold, if it is to hold at `now_ns`.
fn held_until(task: &config::Exchange, now_ns: u64) -> Option<u64> {
    let last = turn_at(task, now_ns)?;
    let next = turns(task).find(|turn| turn.at_ns > now_ns && turn.does == Deed::Read);
    (last.does == Deed::Hold || last.bytes > 0)
        .then(|| next.map_or(task.duration_ns, |turn| turn.at_ns))
}

fn ended(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, TimedOut};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | TimedOut
    )
}
