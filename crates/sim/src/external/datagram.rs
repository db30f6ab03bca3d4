//! Datagrams of workload `udp` between kernels and modelled hosts: UDP over IPv4 (RFC 768, RFC 791), the
//! first eight bytes of payload the datagram's number, as the agent writes them.

use tailback_net::frame::Frame;
use tailback_wire::{datagram, ethernet, plan};

use crate::world::Endpoint;

const UDP_HEADER_BYTES: usize = 8;
const NUMBER_BYTES: usize = 8;
/// IPv4's number for UDP.
const UDP: u8 = 17;

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

/// Writes the frame of a modelled sender; a kernel's agent finds the number in each.
pub(super) fn write(bytes: &mut Vec<u8>, frame: &Frame, endpoints: &[Endpoint]) {
    let to = &endpoints[frame.to.0 as usize];
    let payload_bytes = frame.segment.payload_bytes.max(NUMBER_BYTES as u16);
    let (from, to_host) = (to.peer_host.0, to.host.0);
    ethernet::write(bytes, plan::mac(from), plan::mac(to_host), |out| {
        datagram::udp(
            out,
            frame.segment.ecn as u8,
            (plan::ipv4(from), plan::port(to.peer.0)),
            (plan::ipv4(to_host), plan::port(frame.to.0)),
            frame.segment.seq.0.into(),
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
        write(&mut bytes, &frame, &ends);
        assert_eq!(bytes.len() + 4, usize::from(frame.frame_bytes));
        assert_eq!(read(&bytes), Some((plan::port(1), 70_000, 1470)));
        bytes[ethernet::HEADER_BYTES + 6] = 0x20;
        assert_eq!(read(&bytes), None, "a fragment");
    }
}
