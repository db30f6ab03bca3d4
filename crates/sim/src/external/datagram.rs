//! Datagrams of workload `udp` as bytes: UDP over IPv4 (RFC 768, RFC 791), the first eight bytes of
//! payload the datagram's number, as the agent writes them.
//!
//! Left out: fragments; a checksum of UDP's (zero: none was made).

use tailback_net::frame::Frame;
use tailback_wire::{ethernet, plan};

use crate::world::Endpoint;

const IP_HEADER_BYTES: usize = 20;
const UDP_HEADER_BYTES: usize = 8;
const NUMBER_BYTES: usize = 8;
/// IPv4's number for UDP.
const UDP: u8 = 17;
const TTL: u8 = 64;

/// Destination port, number and payload bytes of a frame with a datagram that has a number.
pub(super) fn read(frame: &[u8]) -> Option<(u16, u32, u16)> {
    let packet = frame.get(ethernet::HEADER_BYTES..)?;
    let word =
        |bytes: &[u8], at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    let is_whole = word(packet, 6)? & 0x3fff == 0;
    if packet.first()? >> 4 != 4 || *packet.get(9)? != UDP || !is_whole {
        return None;
    }
    let datagram = packet.get(usize::from(packet[0] & 15) * 4..)?;
    let payload_bytes = word(datagram, 4)?.checked_sub(UDP_HEADER_BYTES as u16)?;
    let number: [u8; NUMBER_BYTES] = *datagram.get(UDP_HEADER_BYTES..)?.first_chunk()?;
    let number = u32::try_from(u64::from_be_bytes(number)).ok()?;
    Some((word(datagram, 2)?, number, payload_bytes))
}

/// Writes the frame of a modelled sender.
pub(super) fn write(bytes: &mut Vec<u8>, frame: &Frame, endpoints: &[Endpoint]) {
    let to = &endpoints[frame.to.0 as usize];
    let payload_bytes = usize::from(frame.segment.payload_bytes).max(NUMBER_BYTES);
    let datagram_bytes = (UDP_HEADER_BYTES + payload_bytes) as u16;
    let (from, to_host) = (to.peer_host.0, to.host.0);
    ethernet::write(bytes, plan::mac(from), plan::mac(to_host), |out| {
        let start = out.len();
        let total = IP_HEADER_BYTES as u16 + datagram_bytes;
        out.extend([0x45, frame.segment.ecn as u8]);
        out.extend(total.to_be_bytes());
        // No identification, may not be fragmented.
        out.extend([0, 0, 0x40, 0, TTL, UDP, 0, 0]);
        out.extend(plan::ipv4(from).octets());
        out.extend(plan::ipv4(to_host).octets());
        let checksum = header_checksum(&out[start..]);
        out[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
        out.extend(plan::port(to.peer.0).to_be_bytes());
        out.extend(plan::port(frame.to.0).to_be_bytes());
        out.extend(datagram_bytes.to_be_bytes());
        out.extend([0, 0]);
        out.extend(u64::from(frame.segment.seq.0).to_be_bytes());
        out.resize(out.len() + payload_bytes - NUMBER_BYTES, 0);
    });
}

/// RFC 1071, of a header whose checksum is zero.
fn header_checksum(header: &[u8]) -> u16 {
    let words = header.chunks_exact(2);
    let mut sum: u32 = words
        .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use tailback_net::frame::EndpointId;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let ends = [Endpoint::new(0, 3, 4), Endpoint::new(1, 4, 3)];
        let frame = Frame::datagram(70_000, 1470, EndpointId(1), ends[1].host);
        let mut bytes = Vec::new();
        write(&mut bytes, &frame, &ends);
        assert_eq!(bytes.len() + 4, usize::from(frame.frame_bytes));
        assert_eq!(read(&bytes), Some((plan::port(1), 70_000, 1470)));
        // A header's words with its checksum add up to all ones.
        assert_eq!(
            header_checksum(&bytes[ethernet::HEADER_BYTES..][..IP_HEADER_BYTES]),
            0
        );
        bytes[ethernet::HEADER_BYTES + 6] = 0x20;
        assert_eq!(read(&bytes), None, "a fragment");
    }
}
