//! Sockets with their options, and connections that are counted.

use std::io::{self, IoSlice};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};

use super::options::{self, Buffer};
use super::{Clock, Context, sleep_ns};
use crate::config::GuestConfig;
use crate::record::{Flow, Record};
use crate::{guest, sys, tcp_info};

/// Between tries to connect to a port where nobody listens yet, ns.
const RETRY_NS: u64 = 1_000_000;

/// From when a connection is given up until that is so on every clock, ns.
const SLACK_NS: u64 = 1_000;

/// How often it is tried.
const TRIES: u32 = 10_000;

/// Bytes that one call reads or writes at most: a few of the largest offloaded packets.
pub(super) const CHUNK_BYTES: usize = 1 << 18;

/// Pieces of memory that one call takes (UIO_MAXIOV, include/uapi/linux/uio.h).
const VECTORS_MAX: usize = 1024;

/// What a socket is to have that connects, or listens.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options<'a> {
    pub(super) congestion_control: Option<&'a str>,
    pub(super) send_buffer_bytes: Option<u32>,
    pub(super) receive_buffer_bytes: Option<u32>,
    /// 0 to 7.
    pub(super) priority: u8,
    /// When it is given up to connect, ns.
    pub(super) give_up_ns: Option<u64>,
}

impl Options<'_> {
    fn set(self, socket: &Socket, config: &GuestConfig) -> io::Result<()> {
        if let Some(name) = self.congestion_control {
            socket
                .set_tcp_congestion(name.as_bytes())
                .map_err(|e| match e.kind() {
                    io::ErrorKind::NotFound => {
                        let why = guest::no_congestion_control();
                        io::Error::other(format!("congestion control {name}: {why}"))
                    }
                    _ => said(&format!("congestion control {name}"), &e),
                })?;
        }
        if let Some(bytes) = self.send_buffer_bytes {
            options::set_buffer(socket.as_fd(), Buffer::Send, bytes, config)?;
        }
        if let Some(bytes) = self.receive_buffer_bytes {
            options::set_buffer(socket.as_fd(), Buffer::Receive, bytes, config)?;
        }
        set_priority(socket, self.priority)
    }
}

/// Marks what a socket sends with the class selector of a priority, 0 to 7.
pub(super) fn set_priority(socket: &Socket, priority: u8) -> io::Result<()> {
    if priority > 0 {
        // Class selectors are the upper three bits of DSCP (RFC 2474, 4.2.2), DSCP those of TOS.
        socket.set_tos_v4(u32::from(priority) << 5)?;
    }
    Ok(())
}

/// Connects, and counts from then on; where nobody listens yet, tries again.
pub(super) fn connect(
    context: &Context<'_>,
    address: Ipv4Addr,
    port: u16,
    own: Options<'_>,
) -> io::Result<Arc<Counted>> {
    let peer = SocketAddrV4::new(address, port);
    let config = context.config;
    for attempt in 1.. {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        options::set(socket.as_fd(), config)?;
        own.set(&socket, config)?;
        if !context.address().is_unspecified() {
            socket.bind(&SockAddr::from(SocketAddrV4::new(context.address(), 0)))?;
        }
        let to = SockAddr::from(peer);
        let connected = match patience(context, own.give_up_ns) {
            None => socket.connect(&to),
            Some(patience) => socket.connect_timeout(&to, patience),
        };
        match connected {
            Ok(()) => return Counted::new(socket.into(), peer, context),
            Err(error)
                if error.kind() == io::ErrorKind::ConnectionRefused
                    && attempt < TRIES
                    && own.give_up_ns.is_none_or(|at| context.clock.now_ns() < at) =>
            {
                sleep_ns(RETRY_NS);
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                // The wait is in whole milliseconds, and may end within one of its time.
                if let (true, Some(at)) = (config.peers.is_empty(), own.give_up_ns) {
                    context.clock.sleep_until(at);
                }
                let why = match config.peers.is_empty() {
                    true => "no answer",
                    false => "no answer; is it let through (a firewall), and the way back?",
                };
                return Err(io::Error::new(
                    error.kind(),
                    format!("connect to {peer}: {why}"),
                ));
            }
            Err(error) => return Err(said(&format!("connect to {peer}"), &error)),
        }
    }
    unreachable!("the last attempt returns")
}

/// How long a connection may take to come about. On a machine that others use too, who waits for all hosts is to hear
/// which could not connect, before it gives up itself.
fn patience(context: &Context<'_>, give_up_ns: Option<u64>) -> Option<Duration> {
    let config = context.config;
    if !config.peers.is_empty() {
        return config.patience_ns.map(|ns| Duration::from_nanos(ns / 3));
    }
    // No time at all is an error of its own. The time is measured on another clock than it is told on, which may be
    // ahead by a rounding.
    give_up_ns.map(|at| Duration::from_nanos(context.clock.left_ns(at).max(RETRY_NS) + SLACK_NS))
}

/// Listens where this host's sockets are.
pub(super) fn listen(
    context: &Context<'_>,
    port: u16,
    own: Options<'_>,
) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    options::set(socket.as_fd(), context.config)?;
    socket.set_reuse_address(true)?;
    own.set(&socket, context.config)?;
    let address = SocketAddrV4::new(context.address(), port);
    socket
        .bind(&SockAddr::from(address))
        .and_then(|()| socket.listen(BACKLOG))
        .map_err(|e| said(&format!("listen on port {port}"), &e))?;
    Ok(socket.into())
}

/// Connections that may wait to be accepted; net.core.somaxconn bounds it.
const BACKLOG: i32 = 4096;

/// An error of the same kind that says what was tried.
pub(super) fn said(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

fn v4(address: SocketAddr) -> io::Result<SocketAddrV4> {
    match address {
        SocketAddr::V4(address) => Ok(address),
        SocketAddr::V6(_) => Err(io::Error::other("an IPv6 address")),
    }
}

/// A connection and what has passed through it.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) stream: TcpStream,
    pub(super) local: SocketAddrV4,
    pub(super) peer: SocketAddrV4,
    started_ns: u64,
    read: Passed,
    written: Passed,
}

/// Bytes one way.
#[derive(Debug, Default)]
struct Passed {
    bytes: AtomicU64,
    first_ns: AtomicU64,
    last_ns: AtomicU64,
}

impl Passed {
    /// Only one thread passes bytes one way: no order among the three is needed.
    fn add(&self, bytes: usize, now_ns: u64) {
        let before = self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if before == 0 {
            self.first_ns.store(now_ns, Ordering::Relaxed);
        }
        self.last_ns.store(now_ns, Ordering::Relaxed);
    }
}

impl Counted {
    /// Accepts a connection and counts it.
    pub(super) fn accept(
        listener: &TcpListener,
        context: &Context<'_>,
    ) -> io::Result<Arc<Counted>> {
        loop {
            let (stream, peer) = match listener.accept() {
                // One that its peer ended before it was taken (accept(2)).
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                accepted => accepted?,
            };
            // Others' connections are closed.
            if context.takes_from(&peer) {
                return Counted::new(stream, v4(peer)?, context);
            }
        }
    }

    /// Counts from now on, and lets the sampler look. The peer may have ended it already: who that was is known, and
    /// not asked.
    fn new(
        stream: TcpStream,
        peer: SocketAddrV4,
        context: &Context<'_>,
    ) -> io::Result<Arc<Counted>> {
        sys::stamp_arrivals(stream.as_fd())?;
        let counted = Arc::new(Counted {
            local: v4(stream.local_addr()?)?,
            peer,
            stream,
            started_ns: context.clock.now_ns(),
            read: Passed::default(),
            written: Passed::default(),
        });
        context.sampler.look_at(&counted);
        Ok(counted)
    }

    /// An error of this connection, which says with whom it is.
    pub(super) fn said(&self, error: &io::Error) -> io::Error {
        said(&format!("the connection with {}", self.peer), error)
    }

    /// One read; zero at the end of the stream.
    pub(super) fn read(&self, into: &mut [u8], clock: Clock) -> io::Result<usize> {
        let bytes = io::Read::read(&mut &self.stream, into)?;
        if bytes > 0 {
            self.read.add(bytes, clock.now_ns());
        }
        Ok(bytes)
    }

    /// One read of so much at the most, by an application that reads at once and does not look at
    /// what it reads (as iperf3's `--skip-rx-copy`). Its time is that of the arrival, which comes
    /// with the bytes: on a kernel that runs in user space a call for the clock and a copy are a good
    /// part of a read.
    pub(super) fn skip(&self, most: usize, clock: Clock) -> io::Result<usize> {
        let (bytes, came) = sys::skip(self.stream.as_fd(), most)?;
        if bytes > 0 {
            let at_ns = came.map_or_else(|| clock.now_ns(), |wall_ns| clock.at_ns(wall_ns));
            // What came before it had the connection was not read then.
            self.read.add(bytes, at_ns.max(self.started_ns));
        }
        Ok(bytes)
    }

    /// So many bytes in as many of those reads as it takes; false if the stream ends before the first byte.
    pub(super) fn skip_whole(&self, bytes: u64, clock: Clock) -> io::Result<bool> {
        let mut left = bytes;
        while left > 0 {
            match self.skip(left.min(CHUNK_BYTES as u64) as usize, clock)? {
                0 if left == bytes => return Ok(false),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                skipped => left -= skipped as u64,
            }
        }
        Ok(true)
    }

    /// Reads exactly so many bytes, as many at a time as `into` holds; false if the stream ends before the first.
    pub(super) fn read_exact(&self, bytes: u64, into: &mut [u8], clock: Clock) -> io::Result<bool> {
        let mut left = bytes;
        while left > 0 {
            let most = left.min(into.len() as u64) as usize;
            match self.read(&mut into[..most], clock)? {
                0 if left == bytes => return Ok(false),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => left -= read as u64,
            }
        }
        Ok(true)
    }

    /// One write of a part of `from`.
    pub(super) fn write(&self, from: &[u8], clock: Clock) -> io::Result<usize> {
        let bytes = io::Write::write(&mut &self.stream, from)?;
        self.written.add(bytes, clock.now_ns());
        Ok(bytes)
    }

    /// Writes so many bytes of no meaning in one call (or the fewest, beyond what a call can name):
    /// where a call ends the kernel pushes.
    pub(super) fn write_at_once(&self, mut bytes: u64, clock: Clock) -> io::Result<()> {
        while bytes > 0 {
            let whole = (bytes / CHUNK_BYTES as u64).min(VECTORS_MAX as u64) as usize;
            let mut parts = vec![IoSlice::new(&ZEROES); whole];
            if whole < VECTORS_MAX {
                parts.push(IoSlice::new(
                    &ZEROES[..(bytes % CHUNK_BYTES as u64) as usize],
                ));
            }
            let written = io::Write::write_vectored(&mut &self.stream, &parts)?;
            self.written.add(written, clock.now_ns());
            bytes -= written as u64;
        }
        Ok(())
    }

    /// Writes so many bytes of no meaning.
    pub(super) fn write_bytes(&self, mut bytes: u64, clock: Clock) -> io::Result<()> {
        while bytes > 0 {
            let chunk = bytes.min(CHUNK_BYTES as u64) as usize;
            bytes -= self.write(&ZEROES[..chunk], clock)? as u64;
        }
        Ok(())
    }

    /// Bytes that the application has read and written.
    pub(super) fn bytes(&self) -> u64 {
        self.read.bytes.load(Ordering::Relaxed) + self.written.bytes.load(Ordering::Relaxed)
    }

    /// Bytes that the application has read.
    pub(super) fn read_bytes(&self) -> u64 {
        self.read.bytes.load(Ordering::Relaxed)
    }

    /// Resets the connection, whoever else holds it; what it has not sent is thrown away.
    pub(super) fn abort(&self) -> io::Result<()> {
        SockRef::from(&self.stream).set_linger(Some(Duration::ZERO))?;
        sys::close_for_all(&self.stream)
    }

    /// Segments retransmitted and retransmission timeouts so far.
    pub(super) fn repairs(&self) -> io::Result<(u64, u64)> {
        let info = tcp_info::read(&self.stream)?;
        let count = |name: &str| info.get(name).copied().unwrap_or(0);
        Ok((count("total_retrans"), count("total_rto")))
    }

    /// Tells of the connection as it is now.
    pub(super) fn record(&self, context: &Context<'_>) -> io::Result<()> {
        let (read_bytes, written_bytes) = (
            self.read.bytes.load(Ordering::Relaxed),
            self.written.bytes.load(Ordering::Relaxed),
        );
        let sends = written_bytes > read_bytes;
        let most = if sends { &self.written } else { &self.read };
        context.recorder.add(&Record::Flow(Flow {
            local: self.local,
            peer: self.peer,
            sends,
            written_bytes,
            read_bytes,
            started_ns: self.started_ns,
            first_byte_ns: most.first_ns.load(Ordering::Relaxed),
            last_byte_ns: most.last_ns.load(Ordering::Relaxed),
            tcp_info: tcp_info::read(&self.stream)?,
        }));
        Ok(())
    }
}

/// What is written where content does not matter.
static ZEROES: [u8; CHUNK_BYTES] = [0; CHUNK_BYTES];
