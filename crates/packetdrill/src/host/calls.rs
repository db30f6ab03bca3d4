//! System calls.
//!
//! What they answer follows Linux 7.2 (net/ipv4/af_inet.c, tcp.c): errors by number, blocking unless
//! the socket or the call is non-blocking. Payload is made of zeros.

use std::net::{IpAddr, SocketAddr};

use tailback_tcp::Connection;
use tailback_units::Time;

use super::options::{OptionValue, WriteFlags};
use super::{Errno, Fd, Host, Kind, Link, Outcome, Socket};

/// Which directions a shutdown closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shutdown {
    /// Reading ends.
    pub read: bool,
    /// Writing ends.
    pub write: bool,
}

/// Flags of a reading call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadFlags {
    /// Leave the data where it is (MSG_PEEK).
    pub peek: bool,
    /// Do not block (MSG_DONTWAIT).
    pub dont_wait: bool,
    /// Block until all that was asked for is there (MSG_WAITALL).
    pub wait_all: bool,
}

/// Something can be read (POLLIN, POLLRDNORM).
pub const POLL_IN: i16 = libc::POLLIN | libc::POLLRDNORM;
/// There is room to write (POLLOUT, POLLWRNORM).
pub const POLL_OUT: i16 = libc::POLLOUT | libc::POLLWRNORM;
/// An error waits to be told.
pub const POLL_ERROR: i16 = libc::POLLERR;
/// Both directions have ended.
pub const POLL_HUNG_UP: i16 = libc::POLLHUP;
/// The peer writes no more.
pub const POLL_PEER_CLOSED: i16 = libc::POLLRDHUP;

fn done<T>(value: T) -> Outcome<T> {
    Outcome::Done(Ok(value))
}

fn fails<T>(errno: Errno) -> Outcome<T> {
    Outcome::Done(Err(errno))
}

impl Host {
    /// A socket is made; `fd` is its descriptor, free until now.
    pub fn socket(&mut self, fd: Fd, ipv6: bool, nonblocking: bool) {
        let socket = Socket::new(Kind::Fresh, ipv6, nonblocking);
        self.sockets.insert(fd, socket);
    }

    /// Whether a descriptor is one of this host's sockets.
    #[must_use]
    pub fn has(&self, fd: Fd) -> bool {
        self.sockets.contains_key(&fd)
    }

    /// Whether a socket was made for IPv6.
    #[must_use]
    pub fn is_ipv6(&self, fd: Fd) -> bool {
        self.sockets.get(&fd).is_some_and(|socket| socket.ipv6)
    }

    fn open(&mut self, fd: Fd) -> Result<&mut Socket, Errno> {
        self.sockets.get_mut(&fd).ok_or(libc::EBADF)
    }

    /// The connection of a socket, if it has one.
    pub(crate) fn link_of(&mut self, fd: Fd) -> Option<(u32, &mut Link)> {
        let Kind::Connected(number) = self.sockets.get(&fd)?.kind else {
            return None;
        };
        self.links.get_mut(&number).map(|link| (number, link))
    }

    /// bind
    ///
    /// # Errors
    ///
    /// EBADF, EINVAL.
    pub fn bind(&mut self, fd: Fd, address: SocketAddr) -> Result<(), Errno> {
        let socket = self.open(fd)?;
        if socket.local.is_some() || !matches!(socket.kind, Kind::Fresh) {
            return Err(libc::EINVAL);
        }
        socket.local = Some(canonical(address));
        Ok(())
    }

    /// listen
    ///
    /// # Errors
    ///
    /// EBADF, EINVAL.
    pub fn listen(&mut self, fd: Fd, backlog: usize) -> Result<(), Errno> {
        let socket = self.open(fd)?;
        match &mut socket.kind {
            Kind::Fresh if socket.local.is_some() => {
                socket.kind = Kind::Listening {
                    backlog,
                    ready: std::collections::VecDeque::new(),
                };
            }
            Kind::Listening { backlog: old, .. } => *old = backlog,
            _ => return Err(libc::EINVAL),
        }
        Ok(())
    }

    /// accept: the new socket's descriptor will be `as_fd`. Answers the peer's address.
    pub fn accept(&mut self, fd: Fd, as_fd: Fd, nonblocking: bool) -> Outcome<SocketAddr> {
        let socket = match self.open(fd) {
            Ok(socket) => socket,
            Err(errno) => return fails(errno),
        };
        let Kind::Listening { ready, .. } = &mut socket.kind else {
            return fails(libc::EINVAL);
        };
        let Some(number) = ready.pop_front() else {
            return if socket.nonblocking {
                fails(libc::EAGAIN)
            } else {
                Outcome::Blocks(Time::NEVER)
            };
        };
        let mut child = Socket::new(Kind::Connected(number), socket.ipv6, nonblocking);
        child.local = socket.local;
        child.tcp = socket.tcp.clone();
        child.others = socket.others.clone();
        self.sockets.insert(as_fd, child);
        let link = self.links.get_mut(&number);
        done(link.map_or(([0, 0, 0, 0], 0).into(), |link| {
            link.listener = None;
            link.owned = true;
            link.tcp.set_accepted(true);
            link.remote
        }))
    }

    /// connect. Asked again, it answers how the first went.
    pub fn connect(&mut self, fd: Fd, to: SocketAddr) -> Outcome<()> {
        let to = canonical(to);
        let nonblocking = match self.open(fd) {
            Ok(socket) => socket.nonblocking,
            Err(errno) => return fails(errno),
        };
        match &self.sockets[&fd].kind {
            Kind::Listening { .. } => fails(libc::EISCONN),
            Kind::Fresh => {
                self.start_connecting(fd, to);
                if nonblocking {
                    fails(libc::EINPROGRESS)
                } else {
                    Outcome::Blocks(Time::NEVER)
                }
            }
            Kind::Connected(_) => fails(libc::EISCONN),
        }
    }

    /// How a connect that blocks is going.
    pub fn connecting(&mut self, fd: Fd) -> Outcome<()> {
        match self.link_of(fd) {
            None => fails(libc::EBADF),
            Some((_, link)) => match link.take_error() {
                Some(errno) => fails(errno),
                None if link.connected => done(()),
                None if link.over() => fails(libc::ECONNABORTED),
                None => Outcome::Blocks(Time::NEVER),
            },
        }
    }

    fn start_connecting(&mut self, fd: Fd, to: SocketAddr) {
        let own: IpAddr = match to {
            SocketAddr::V4(_) => self.setup.ipv4.into(),
            SocketAddr::V6(_) => self.setup.ipv6.into(),
        };
        let bound = self.sockets[&fd].local;
        let ip = bound
            .map(|local| local.ip())
            .filter(|ip| !ip.is_unspecified());
        let port = bound.map(|local| local.port()).filter(|port| *port != 0);
        let local = SocketAddr::new(
            ip.unwrap_or(own),
            port.unwrap_or_else(|| {
                self.next_port += 1;
                self.next_port
            }),
        );
        let config = self.configured(fd, to.ip());
        let tcp = Connection::connect(&config, self.now);
        let number = self.add_link(local, to, tcp);
        let dscp = self.dscp(fd);
        if let Some(link) = self.links.get_mut(&number) {
            link.dscp = dscp;
            link.owned = true;
        }
        if let Some(socket) = self.sockets.get_mut(&fd) {
            socket.kind = Kind::Connected(number);
            socket.local = Some(local);
        }
        self.drive(number);
    }

    /// Any of the reading calls, for up to `most` bytes; answers how many bytes there were.
    pub fn read(&mut self, fd: Fd, most: usize, flags: ReadFlags) -> Outcome<usize> {
        let now = self.now;
        let (shut, nonblocking) = match self.open(fd) {
            Ok(socket) => (socket.shut_read, socket.nonblocking || flags.dont_wait),
            Err(errno) => return fails(errno),
        };
        let Some((number, link)) = self.link_of(fd) else {
            return fails(libc::ENOTCONN);
        };
        let readable = link.tcp.readable() as usize;
        let over = shut || link.peer_closed || link.over();
        let enough = if flags.wait_all { most.max(1) } else { 1 };
        if readable >= enough || (readable > 0 && (over || nonblocking)) {
            let bytes = if flags.peek {
                readable.min(most)
            } else {
                link.tcp.read(now, most as u64) as usize
            };
            self.drive(number);
            return done(bytes);
        }
        if most == 0 {
            return done(0);
        }
        if let Some(errno) = link.take_error() {
            return fails(errno);
        }
        if over {
            return done(0);
        }
        if nonblocking {
            return fails(libc::EAGAIN);
        }
        Outcome::Blocks(Time::NEVER)
    }

    /// Any of the writing calls. `written` counts what is written already, over all the times that
    /// a call which blocks is made.
    pub fn write(
        &mut self,
        fd: Fd,
        bytes: usize,
        written: &mut usize,
        flags: WriteFlags,
    ) -> Outcome<usize> {
        let now = self.now;
        let (shut, nonblocking) = match self.open(fd) {
            Ok(socket) => (socket.shut_write, socket.nonblocking || flags.dont_wait),
            Err(errno) => return fails(errno),
        };
        let Some((number, link)) = self.link_of(fd) else {
            return fails(libc::EPIPE);
        };
        let errno = if shut || !link.tcp.life().may_write() {
            Some(link.take_error().unwrap_or(libc::EPIPE))
        } else if !link.connected {
            nonblocking.then_some(libc::EAGAIN)
        } else if !nonblocking && link.tcp.awaits_space() {
            // A writer that waits is woken only when there is a fair amount of room.
            None
        } else {
            *written += link.tcp.write_flags(
                now,
                (bytes - *written) as u64,
                tailback_tcp::WriteFlags {
                    more: flags.more,
                    end_of_record: flags.end_of_record,
                },
            ) as usize;
            nonblocking.then_some(libc::EAGAIN)
        };
        self.drive(number);
        match errno {
            _ if *written == bytes => done(bytes),
            None => Outcome::Blocks(Time::NEVER),
            Some(_) if *written > 0 => done(*written),
            Some(errno) => fails(errno),
        }
    }

    /// What TCP_INQ tells with what was read, if it is asked for: the bytes that can still be read,
    /// and one more if that was the end (tcp_inq).
    pub fn inq(&mut self, fd: Fd) -> Option<i32> {
        let wanted = self
            .sockets
            .get(&fd)?
            .others
            .get(&(libc::SOL_TCP, libc::TCP_CM_INQ))?;
        if *wanted == OptionValue::Int(0) {
            return None;
        }
        let (_, link) = self.link_of(fd)?;
        Some((link.tcp.readable() as i32).max(i32::from(link.peer_closed)))
    }

    /// Bytes that can be read now.
    ///
    /// # Errors
    ///
    /// EBADF, EINVAL.
    pub fn readable(&mut self, fd: Fd) -> Result<u64, Errno> {
        self.open(fd)?;
        self.link_of(fd)
            .map(|(_, link)| link.tcp.readable())
            .ok_or(libc::EINVAL)
    }

    /// shutdown
    ///
    /// # Errors
    ///
    /// EBADF, ENOTCONN.
    pub fn shutdown(&mut self, fd: Fd, how: Shutdown) -> Result<(), Errno> {
        let now = self.now;
        self.open(fd)?;
        let Some((number, link)) = self.link_of(fd) else {
            return Err(libc::ENOTCONN);
        };
        link.tcp.shutdown(
            now,
            match how {
                Shutdown { write: false, .. } => tailback_tcp::Shutdown::Read,
                Shutdown { read: false, .. } => tailback_tcp::Shutdown::Write,
                _ => tailback_tcp::Shutdown::Both,
            },
        );
        self.drive(number);
        let socket = self.open(fd)?;
        socket.shut_read |= how.read;
        socket.shut_write |= how.write;
        Ok(())
    }

    /// close
    ///
    /// # Errors
    ///
    /// EBADF.
    pub fn close(&mut self, fd: Fd) -> Result<(), Errno> {
        let now = self.now;
        let ended = match &mut self.open(fd)?.kind {
            Kind::Fresh => Vec::new(),
            Kind::Connected(number) => {
                let number = *number;
                if let Some(link) = self.links.get_mut(&number) {
                    link.owned = false;
                    link.tcp.close(now);
                }
                vec![number]
            }
            Kind::Listening { ready, .. } => {
                let orphans: Vec<u32> = ready.drain(..).collect();
                for number in &orphans {
                    if let Some(link) = self.links.get_mut(number) {
                        link.listener = None;
                        link.tcp.abort(now);
                    }
                }
                orphans
            }
        };
        self.sockets.remove(&fd);
        for number in ended {
            self.drive(number);
        }
        Ok(())
    }

    /// What poll would say of a socket.
    ///
    /// # Errors
    ///
    /// EBADF.
    pub fn poll(&mut self, fd: Fd) -> Result<i16, Errno> {
        let socket = self.open(fd)?;
        let shut = socket.shut_read;
        if let Kind::Listening { ready, .. } = &socket.kind {
            return Ok(if ready.is_empty() { 0 } else { POLL_IN });
        }
        let Some((_, link)) = self.link_of(fd) else {
            return Ok(POLL_OUT | POLL_HUNG_UP);
        };
        let mut events = 0;
        if link.error().is_some() {
            events |= POLL_ERROR;
        }
        if link.over() {
            events |= POLL_HUNG_UP;
        }
        if link.peer_closed || link.over() || shut {
            events |= POLL_IN | POLL_PEER_CLOSED;
        }
        if link.tcp.readable() > 0 {
            events |= POLL_IN;
        }
        if link.over() || (link.connected && link.tcp.writable()) {
            events |= POLL_OUT;
        }
        Ok(events)
    }

    /// Sets O_NONBLOCK.
    ///
    /// # Errors
    ///
    /// EBADF.
    pub fn set_nonblocking(&mut self, fd: Fd, nonblocking: bool) -> Result<(), Errno> {
        self.open(fd)?.nonblocking = nonblocking;
        Ok(())
    }

    /// Whether O_NONBLOCK is set.
    ///
    /// # Errors
    ///
    /// EBADF.
    pub fn is_nonblocking(&mut self, fd: Fd) -> Result<bool, Errno> {
        Ok(self.open(fd)?.nonblocking)
    }
}

/// An IPv4-mapped IPv6 address is an IPv4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
