//! Datagrams of workload `udp` between kernels and modelled hosts: UDP over IPv4 (RFC 768, RFC 791), the
//! first eight bytes of payload the datagram's number, the next the time at which it was sent, as the agent writes them.

use tailback_net::frame::Frame;
use tailback_wire::{datagram, ethernet, plan};

use crate::world::Endpoint;

const UDP_HEADER_BYTES: usize = 8;
const NUMBER_BYTES: usize = 8;
/// Payload of a datagram that an agent can send.
pub(super) const BYTES_MIN: u64 = NUMBER_BYTES as u64;
const TIME_BYTES: usize = 8;
/// IPv4's number for UDP.
const UDP: u8 = 17;

/// What a frame says of its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Datagram {
    pub(super) port: u16,
    pub(super) number: u32,
    /// On the kernels' clock; zero where there is no room for it.
    pub(super) sent_ns: u64,
    pub(super) payload_bytes: u16,
}

/// The datagram of a frame, if it has a number.
pub(super) fn read(frame: &[u8]) -> Option<Datagram> {
    let packet = frame.get(ethernet::HEADER_BYTES..)?;
    let word =
        |bytes: &[u8], at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    let is_whole = word(packet, 6)? & 0x3fff == 0;
    if packet.first()? >> 4 != 4 || *packet.get(9)? != UDP || !is_whole {
        return None;
    }
    let datagram = packet.get(usize::from(packet[0] & 15) * 4..)?;
    let payload_bytes = word(datagram, 4)?.checked_sub(UDP_HEADER_BYTES as u16)?;
    let (number, rest) = datagram
        .get(UDP_HEADER_BYTES..)?
        .split_first_chunk::<NUMBER_BYTES>()?;
    let time = rest.first_chunk::<TIME_BYTES>();
    Some(Datagram {
        port: word(datagram, 2)?,
        number: u32::try_from(u64::from_be_bytes(*number)).ok()?,
        sent_ns: time.map_or(0, |time| u64::from_be_bytes(*time)),
        payload_bytes,
    })
}

/// Writes the frame of a modelled sender that was sent at `sent_ns` of the kernels' clock; a kernel's agent finds number
/// and time in each.
pub(super) fn write(bytes: &mut Vec<u8>, frame: &Frame, sent_ns: u64, endpoints: &[Endpoint]) {
    let to = &endpoints[frame.to.0 as usize];
    let payload_bytes = frame.segment.payload_bytes.max(NUMBER_BYTES as u16);
    let (from, to_host) = (to.peer_host.0, to.host.0);
    ethernet::write(bytes, plan::mac(from), plan::mac(to_host), |out| {
        datagram::udp(
            out,
            frame.segment.ecn as u8,
            (plan::ipv4(from), plan::port(to.peer.0)),
            (plan::ipv4(to_host), plan::port(frame.to.0)),
            (frame.segment.seq.0.into(), sent_ns),
            payload_bytes,
        );
    });
}

#[cfg(test)]
mod tests {
    use tailback_net::frame::EndpointId;
    use tailback_tcp::Ecn;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let ends = [Endpoint::new(0, 3, 4), Endpoint::new(1, 4, 3)];
        let frame = Frame::datagram(70_000, Ecn::NotEct, 1470, EndpointId(1), ends[1].host);
        let mut bytes = Vec::new();
        write(&mut bytes, &frame, 5_000_000_001, &ends);
        assert_eq!(bytes.len() + 4, usize::from(frame.frame_bytes));
        let datagram = Datagram {
            port: plan::port(1),
            number: 70_000,
            sent_ns: 5_000_000_001,
            payload_bytes: 1470,
        };
        assert_eq!(read(&bytes), Some(datagram));
        bytes[ethernet::HEADER_BYTES + 6] = 0x20;
        assert_eq!(read(&bytes), None, "a fragment");
    }
}
