//! Echo requests (RFC 792), through the kernel's echo sockets: no privilege, and the kernel
//! writes identifier and checksum.

use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::socket::{said, set_priority};
use super::{Clock, Context};
use crate::config;
use crate::record::Record;

/// ICMP header: type, code, checksum, identifier, sequence.
const HEADER_BYTES: usize = 8;

/// Why there may be no echo socket (icmp(7)).
const NO_SOCKET: &str = "an echo socket, which the sysctl net.ipv4.ping_group_range allows";

/// Type of an echo request.
const ECHO: u8 = 8;

pub(super) fn ping(context: &Context<'_>, task: &config::Ping) -> io::Result<()> {
    let clock = context.clock;
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::ICMPV4))
        .map_err(|error| said(NO_SOCKET, &error))?;
    if !context.address().is_unspecified() {
        socket.bind(&SockAddr::from(SocketAddrV4::new(context.address(), 0)))?;
    }
    set_priority(&socket, task.priority)?;
    socket.connect(&SockAddr::from(SocketAddrV4::new(task.address, 0)))?;
    // A datagram socket like another, as far as sending and receiving go.
    let socket: UdpSocket = socket.into();
    socket.set_read_timeout(Some(Duration::from_nanos(task.wait_ns.max(1))))?;
    let pings = Pings::default();
    thread::scope(|scope| {
        let answers = scope.spawn(|| take_answers(&socket, &pings, task, clock));
        let mut request = vec![0; HEADER_BYTES + task.payload_bytes as usize];
        request[0] = ECHO;
        let first_ns = clock.now_ns();
        for number in 0..task.count {
            clock.sleep_until(first_ns + u64::from(number) * task.interval_ns);
            request[6..8].copy_from_slice(&(number as u16).to_be_bytes());
            pings.lock().push((clock.now_ns(), None));
            socket.send(&request)?;
        }
        answers
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("defect in the agent")))
    })?;
    for (sequence, (sent_ns, rtt_ns)) in (0..).zip(pings.lock().iter().copied()) {
        context.recorder.add(&Record::Ping {
            line: task.line,
            sequence,
            sent_ns,
            rtt_ns,
        });
    }
    Ok(())
}

/// When each was sent, and after how long it was answered.
#[derive(Default)]
struct Pings(Mutex<Vec<(u64, Option<u64>)>>);

impl Pings {
    fn lock(&self) -> MutexGuard<'_, Vec<(u64, Option<u64>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes answers until all are there, or none has come for a while and all have been sent.
fn take_answers(
    socket: &UdpSocket,
    pings: &Pings,
    task: &config::Ping,
    clock: Clock,
) -> io::Result<()> {
    let mut reply = vec![0; HEADER_BYTES + task.payload_bytes as usize];
    let mut answered = 0;
    while answered < task.count {
        match socket.recv(&mut reply) {
            Ok(length) if length >= HEADER_BYTES => {
                let now_ns = clock.now_ns();
                let sequence = u16::from_be_bytes([reply[6], reply[7]]);
                let mut pings = pings.lock();
                // The wire has the last 16 bits of a number: it is the last that is still open.
                let mut numbered = pings.iter_mut().enumerate().rev();
                if let Some((_, (sent_ns, rtt_ns))) =
                    numbered.find(|(n, (_, rtt))| *n as u16 == sequence && rtt.is_none())
                {
                    *rtt_ns = Some(now_ns - *sent_ns);
                    answered += 1;
                }
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let sent = pings.lock();
                let last_ns = sent.last().map_or(0, |(at, _)| *at);
                let waited = clock.now_ns().saturating_sub(last_ns) >= task.wait_ns;
                if sent.len() == task.count as usize && waited {
                    break;
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
