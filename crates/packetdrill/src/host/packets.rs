//! Packets in and out.
//!
//! Segmentation offload is the host's: what TCP hands down is cut to its segment size before it
//! leaves, as a kernel does for a device without offload. A segment for nobody is answered with a
//! reset (RFC 9293 section 3.10.7.1).

use std::net::SocketAddr;

use tailback_tcp::{Arrival, Connection, Flags, Life, Segment, Transmit};
use tailback_wire::ip::{self, IpFields, Packet, Payload};

use super::{Fd, Host, Kind, Sent};

impl Host {
    /// An IP packet arrives. What is not TCP, or malformed, is dropped.
    pub fn receive(&mut self, bytes: &[u8]) {
        let Ok(packet) = ip::parse(bytes) else {
            return;
        };
        let found = self
            .links
            .iter()
            .find(|(_, link)| link.local == packet.to && link.remote == packet.from)
            .map(|(number, _)| *number);
        let found = found.filter(|number| !self.reopens(*number, &packet));
        if let Some(number) = found {
            self.receive_on(number, &packet.segment);
        } else if let Some(fd) = self.listener(packet.to, &packet.segment) {
            self.open_passively(fd, &packet);
        } else {
            self.refuse(&packet);
        }
    }

    /// A SYN that may follow a connection in TIME-WAIT ends it (tcp_v4_rcv, TCP_TW_SYN).
    fn reopens(&mut self, number: u32, packet: &Packet) -> bool {
        let reopens = self.listener(packet.to, &packet.segment).is_some()
            && self.links.get(&number).is_some_and(|link| {
                link.tcp.life() == Life::TimeWait && link.tcp.reopened_by(&packet.segment).is_some()
            });
        if reopens {
            self.links.remove(&number);
        }
        reopens
    }

    fn receive_on(&mut self, number: u32, segment: &Segment) {
        let now = self.now;
        if let Some(link) = self.links.get_mut(&number) {
            let headers = if link.remote.is_ipv4() { 20 } else { 40 };
            let length = headers + segment.header_bytes() + u32::from(segment.payload_bytes);
            let memory_bytes = super::memory::truesize_bytes(length);
            let arrival = Arrival {
                mss: self.setup.mss as u16,
                memory_bytes,
                fragments: 1,
                room: 0,
            };
            link.tcp.handle_aggregate(now, segment, arrival);
        }
        self.drive(number);
    }

    /// The socket that listens for this segment.
    fn listener(&self, to: SocketAddr, segment: &Segment) -> Option<Fd> {
        let opens = Flags::SYN
            .with(Flags::ACK)
            .with(Flags::RST)
            .with(Flags::FIN);
        if segment.flags.0 & opens.0 != Flags::SYN.0 {
            return None;
        }
        let listens = |fd: &Fd| {
            let socket = &self.sockets[fd];
            matches!(socket.kind, Kind::Listening { .. })
                && socket.local.is_some_and(|local| {
                    local.port() == to.port()
                        && (local.ip().is_unspecified() || local.ip() == to.ip())
                })
        };
        self.sockets.keys().copied().find(listens)
    }

    fn open_passively(&mut self, fd: Fd, packet: &Packet) {
        let full = match &self.sockets[&fd].kind {
            Kind::Listening { backlog, ready } => ready.len() > *backlog,
            _ => true,
        };
        if full {
            return;
        }
        let config = self.configured(fd, packet.from.ip());
        let tcp = Connection::accept(&config, self.now, &packet.segment);
        let number = self.add_link(packet.to, packet.from, tcp);
        let dscp = self.dscp(fd);
        if let Some(link) = self.links.get_mut(&number) {
            link.listener = Some(fd);
            link.tcp.set_accepted(false);
            link.dscp = dscp;
        }
        self.drive(number);
    }

    fn refuse(&mut self, packet: &Packet) {
        let segment = &packet.segment;
        if segment.flags.intersects(Flags::RST) {
            return;
        }
        let mut reset = Segment::EMPTY;
        if segment.flags.intersects(Flags::ACK) {
            reset.flags = Flags::RST;
            reset.seq = segment.ack;
        } else {
            reset.flags = Flags::RST.with(Flags::ACK);
            reset.ack = segment.end_seq();
        }
        self.put(&reset, packet.to, packet.from, IpFields::default());
    }

    /// Sends what a connection has to send.
    pub(super) fn send_segments(&mut self, number: u32) {
        let now = self.now;
        while let Some(link) = self.links.get_mut(&number)
            && let Some(transmit) = link.tcp.poll_transmit(now)
        {
            if self.refuses {
                link.tcp.refused(now, &transmit.segment);
                continue;
            }
            let (local, remote) = (link.local, link.remote);
            let mut fields = IpFields {
                dscp: link.dscp,
                ..IpFields::default()
            };
            for segment in pieces(&transmit) {
                if let Some(link) = self.links.get_mut(&number) {
                    fields.id = link.next_ip_id;
                    link.next_ip_id = link.next_ip_id.wrapping_add(1);
                }
                self.put(&segment, local, remote, fields);
            }
        }
    }

    fn put(&mut self, segment: &Segment, from: SocketAddr, to: SocketAddr, fields: IpFields) {
        let mut packet = Vec::with_capacity(usize::from(segment.payload_bytes) + 100);
        ip::write(&mut packet, segment, from, to, fields, Payload::Zeros);
        self.sent.push_back(Sent {
            at: self.now,
            packet,
        });
    }
}

/// The segments that make up what TCP hands down.
fn pieces(transmit: &Transmit) -> impl Iterator<Item = Segment> {
    let whole = transmit.segment;
    let mss = u32::from(transmit.mss).max(1);
    let end = u32::from(whole.payload_bytes);
    (0..end.div_ceil(mss).max(1)).map(move |index| {
        let at = index * mss;
        let bytes = (end - at).min(mss);
        let mut piece = whole;
        piece.seq = whole.seq + at;
        piece.payload_bytes = bytes as u16;
        if at > 0 {
            piece.flags = piece.flags.without(Flags::CWR);
        }
        if at + bytes < end {
            piece.flags = piece.flags.without(Flags::PSH.with(Flags::FIN));
        }
        piece
    })
}
