//! A stand-in for a kernel's sockets, IP layer and clock.
//!
//! `calls` has the system calls, `options` the socket options, `packets` what comes and goes on the
//! wire. A call that would block says so ([`Outcome::Blocks`]); whoever made it asks again when
//! something has happened. Packets leave with the time at which TCP sent them.

mod calls;
mod memory;
mod options;
mod packets;

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use tailback_tcp::{Config, Connection, Event, Failure, Life, SocketOptions};
use tailback_units::{Duration, Time};

use crate::view::View;

pub use calls::{
    POLL_ERROR, POLL_HUNG_UP, POLL_IN, POLL_OUT, POLL_PEER_CLOSED, ReadFlags, Shutdown,
};
pub use options::{OptionValue, WriteFlags};

/// A file descriptor.
pub type Fd = i32;

/// An error number of libc.
pub type Errno = i32;

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// It is done.
    Done(Result<T, Errno>),
    /// It waits for something to happen, at most until this time.
    Blocks(Time),
}

/// How the host is set up.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Largest packet of its interface, bytes.
    pub mtu: u32,
    /// Payload of each segment in a packet that came as several (packetdrill's --mss), bytes; 0:
    /// packets came as they are.
    pub mss: u32,
    /// Its IPv4 address.
    pub ipv4: Ipv4Addr,
    /// Its IPv6 address.
    pub ipv6: Ipv6Addr,
}

impl Default for Setup {
    /// What packetdrill's scripts expect: 192.168.0.1 and an MTU of 1500 bytes.
    fn default() -> Setup {
        Setup {
            mtu: 1500,
            mss: 0,
            ipv4: Ipv4Addr::new(192, 168, 0, 1),
            ipv6: Ipv6Addr::new(0xfd3d, 0xa0b, 0x17d6, 0, 0, 0, 0, 1),
        }
    }
}

/// When a host's clock starts: long enough after zero for any "never yet" to lie in the past.
const START: Time = Time::from_ps(1_000_000_000_000_000);
/// Memory that a received frame is charged for, bytes: SKB_TRUESIZE of what a tun device allocates
/// for a packet of 1500 bytes (drivers/net/tun.c, tun_build_skb; 2048 and sizeof(sk_buff)).
const RX_TRUESIZE_BYTES: u32 = 2304;
/// First port given to a socket that connects unbound (net/ipv4/ip_local_port_range).
const EPHEMERAL_PORT: u16 = 32_768;

/// One end of a connection, as the kernel knows it.
pub(crate) struct Link {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) tcp: Connection,
    pub(crate) connected: bool,
    pub(crate) peer_closed: bool,
    /// Why it ended has been told (SO_ERROR).
    told: bool,
    /// Where it waits to be accepted.
    pub(crate) listener: Option<Fd>,
    /// A socket has it.
    pub(crate) owned: bool,
    pub(crate) dscp: u8,
    next_ip_id: u16,
}

impl Link {
    /// Nothing more is sent or comes.
    pub(crate) fn over(&self) -> bool {
        matches!(self.tcp.life(), Life::Closed | Life::TimeWait)
    }

    /// Why it ended before its time, once.
    pub(crate) fn take_error(&mut self) -> Option<Errno> {
        let errno = self.error()?;
        self.told = true;
        Some(errno)
    }

    /// Why it ended before its time, if that was not told.
    pub(crate) fn error(&self) -> Option<Errno> {
        let failure = self.tcp.failure().filter(|_| !self.told)?;
        Some(match failure {
            Failure::Refused => libc::ECONNREFUSED,
            Failure::Reset => libc::ECONNRESET,
            Failure::BrokenPipe => libc::EPIPE,
            Failure::TimedOut => libc::ETIMEDOUT,
            Failure::Aborted => libc::ECONNABORTED,
        })
    }
}

/// What a descriptor stands for.
pub(crate) enum Kind {
    /// Neither connected nor listening.
    Fresh,
    Listening {
        backlog: usize,
        ready: VecDeque<u32>,
    },
    /// The link's number.
    Connected(u32),
}

/// One socket.
pub(crate) struct Socket {
    pub(crate) kind: Kind,
    pub(crate) ipv6: bool,
    pub(crate) local: Option<SocketAddr>,
    pub(crate) nonblocking: bool,
    pub(crate) shut_read: bool,
    pub(crate) shut_write: bool,
    /// Options: a listener's are its children's too.
    pub(crate) tcp: SocketOptions,
    /// Options that the stack does not model, by level and name.
    pub(crate) others: BTreeMap<(i32, i32), OptionValue>,
}

/// A packet that has left the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When TCP sent it.
    pub at: Time,
    /// The IP packet.
    pub packet: Vec<u8>,
}

/// The stand-in.
pub struct Host {
    setup: Setup,
    view: View,
    now: Time,
    sockets: BTreeMap<Fd, Socket>,
    links: BTreeMap<u32, Link>,
    sent: VecDeque<Sent>,
    next_link: u32,
    next_port: u16,
    /// What connections that are forgotten have counted, and what was told last.
    /// The interface drops what it is given.
    refuses: bool,
    forgotten: Counters,
    told: Counters,
}

/// Linux's counters of what it drops, in the order of [`COUNTERS`].
type Counters = [u64; 3];

/// Their names (net/ipv4/proc.c).
const COUNTERS: [&str; 3] = [
    "TcpExtBeyondWindow",
    "TcpExtTCPZeroWindowDrop",
    "TcpExtTCPRcvQDrop",
];

fn counted(tcp: &Connection) -> Counters {
    let stats = tcp.stats();
    [
        stats.beyond_window,
        stats.zero_window_drops,
        stats.receive_queue_drops,
    ]
    .map(u64::from)
}

impl Host {
    /// A host without sockets.
    #[must_use]
    pub fn new(setup: Setup, view: View) -> Host {
        Host {
            setup,
            view,
            now: START,
            sockets: BTreeMap::new(),
            links: BTreeMap::new(),
            sent: VecDeque::new(),
            next_link: 0,
            next_port: EPHEMERAL_PORT,
            refuses: false,
            forgotten: Counters::default(),
            told: Counters::default(),
        }
    }

    /// Tells the script's view what has been counted, if that is new.
    fn tell_counters(&mut self) {
        let mut sum = self.forgotten;
        for link in self.links.values() {
            for (total, own) in sum.iter_mut().zip(counted(&link.tcp)) {
                *total += own;
            }
        }
        if sum != self.told {
            self.told = sum;
            let lines: Vec<(&str, u64)> = COUNTERS.into_iter().zip(sum).collect();
            self.view.tell_counters(&lines);
        }
    }

    /// Takes in what the script has done to the interface.
    pub fn look_at_interface(&mut self) {
        self.refuses = self.view.device().drops;
        for link in self.links.values_mut() {
            link.tcp.set_host_refuses(self.refuses);
        }
    }

    /// What its clock shows.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// When a timer is due next; [`Time::NEVER`] if none runs.
    #[must_use]
    pub fn next_event(&self) -> Time {
        let due = self.links.values().map(|link| link.tcp.poll_timeout());
        due.min().unwrap_or(Time::NEVER).max(self.now)
    }

    /// Moves the clock to the next timer that is due by `until`, and fires it; if none is, to
    /// `until`. Answers whether one fired.
    pub fn step(&mut self, until: Time) -> bool {
        let due = self.next_event();
        if due > until {
            self.now = self.now.max(until);
            return false;
        }
        self.now = due;
        let ready: Vec<u32> = self
            .links
            .iter()
            .filter(|(_, link)| link.tcp.poll_timeout() <= due)
            .map(|(number, _)| *number)
            .collect();
        for number in ready {
            if let Some(link) = self.links.get_mut(&number) {
                link.tcp.handle_timeout(due);
            }
            self.drive(number);
        }
        true
    }

    /// The earliest packet that has left and was not taken.
    pub fn take_sent(&mut self) -> Option<Sent> {
        self.sent.pop_front()
    }

    fn config(&mut self, remote: IpAddr, options: SocketOptions) -> Config {
        let mtu = self
            .view
            .device()
            .mtu
            .unwrap_or(self.setup.mtu)
            .clamp(68, 65_535);
        let headers = if remote.is_ipv4() { 40 } else { 60 };
        let mut stack = self.view.stack();
        if self.view.device().paces {
            stack.pacing = tailback_tcp::Pacing::Fq;
        }
        Config {
            stack: Arc::new(stack),
            mss: (mtu - headers) as u16,
            clock_phase: Duration::ZERO,
            options: options.into(),
            rx_truesize_bytes: RX_TRUESIZE_BYTES,
            rx_head_bytes: 0,
            seed: u64::from(self.next_link),
        }
    }

    fn add_link(&mut self, local: SocketAddr, remote: SocketAddr, tcp: Connection) -> u32 {
        let number = self.next_link;
        self.next_link += 1;
        self.links.insert(
            number,
            Link {
                local,
                remote,
                tcp,
                connected: false,
                peer_closed: false,
                told: false,
                listener: None,
                owned: false,
                dscp: 0,
                next_ip_id: 1,
            },
        );
        number
    }

    /// Takes what a connection gives: events for its socket, segments for the wire.
    fn drive(&mut self, number: u32) {
        let Some(link) = self.links.get_mut(&number) else {
            return;
        };
        while let Some(event) = link.tcp.poll_event() {
            match event {
                Event::Connected => {
                    link.connected = true;
                    let waiting = link.listener.and_then(|fd| self.sockets.get_mut(&fd));
                    if let Some(Kind::Listening { ready, .. }) = waiting.map(|s| &mut s.kind) {
                        ready.push_back(number);
                    }
                }
                Event::PeerClosed => link.peer_closed = true,
                Event::Readable | Event::Writable | Event::Closed | Event::Reset => {}
            }
        }
        self.send_segments(number);
        let forgotten = |link: &Link| {
            let waits = link.connected && link.listener.is_some();
            link.tcp.life() == Life::Closed && !link.owned && !waits
        };
        if self.links.get(&number).is_some_and(forgotten)
            && let Some(link) = self.links.remove(&number)
        {
            for (total, own) in self.forgotten.iter_mut().zip(counted(&link.tcp)) {
                *total += own;
            }
        }
        self.tell_counters();
    }
}
