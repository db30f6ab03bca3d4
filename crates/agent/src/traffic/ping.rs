//! Echo requests (RFC 792), through the kernel's echo sockets: no privilege, and the kernel
//! writes identifier and checksum.

use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::Context;
use crate::config;
use crate::record::Record;

/// ICMP header: type, code, checksum, identifier, sequence.
const HEADER_BYTES: usize = 8;

/// Type of an echo request.
const ECHO: u8 = 8;

/// How long a reply is waited for.
const REPLY: Duration = Duration::from_secs(1);

pub(super) fn ping(context: &Context<'_>, task: &config::Ping) -> io::Result<()> {
    let clock = context.clock;
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::ICMPV4))?;
    socket.connect(&SockAddr::from(SocketAddrV4::new(task.address, 0)))?;
    // A datagram socket like another, as far as sending and receiving go.
    let socket: UdpSocket = socket.into();
    socket.set_read_timeout(Some(REPLY))?;
    let mut request = vec![0; HEADER_BYTES + task.payload_bytes as usize];
    request[0] = ECHO;
    let mut reply = vec![0; request.len()];
    let first_ns = clock.now_ns();
    for sequence in 0..task.count {
        clock.sleep_until(first_ns + u64::from(sequence) * task.interval_ns);
        request[6..8].copy_from_slice(&(sequence as u16).to_be_bytes());
        let sent_ns = clock.now_ns();
        socket.send(&request)?;
        let rtt_ns = loop {
            match socket.recv(&mut reply) {
                Ok(length) if length >= HEADER_BYTES && reply[6..8] == request[6..8] => {
                    break Some(clock.now_ns() - sent_ns);
                }
                // A reply that was given up before.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break None,
                Err(error) => return Err(error),
            }
        };
        context.recorder.add(&Record::Ping { sequence, rtt_ns });
    }
    Ok(())
}
