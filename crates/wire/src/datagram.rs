//! UDP datagrams and ICMP echoes in IPv4 packets (RFC 768, RFC 791, RFC 792).
//!
//! Left out: fragments, IP options, a checksum of UDP's (zero: none was made).

use std::net::Ipv4Addr;

use crate::checksum::Sum;
use crate::ip::IpFields;

/// IPv4's numbers.
const ICMP: u8 = 1;
const UDP: u8 = 17;
const IP_HEADER_BYTES: usize = 20;
const UDP_HEADER_BYTES: usize = 8;
const ICMP_HEADER_BYTES: usize = 8;
/// A datagram begins with its number and the time at which it was sent, where it has the room.
const NUMBER_BYTES: usize = 8;
const TIME_BYTES: usize = 8;
const ECHO_REQUEST: u8 = 8;
const ECHO_REPLY: u8 = 0;

/// Appends the packet of a datagram from one address and port to another; the first eight bytes of
/// its payload are its number and the next its sender's time in nanoseconds, as the agent writes them, where it has room for
/// the whole of either; what follows is zero. `tos` is the class
/// and the ECN field.
pub fn udp(
    out: &mut Vec<u8>,
    tos: u8,
    from: (Ipv4Addr, u16),
    to: (Ipv4Addr, u16),
    (number, sent_ns): (u64, u64),
    payload_bytes: u16,
) {
    let datagram_bytes = UDP_HEADER_BYTES + usize::from(payload_bytes);
    header(out, UDP, tos, (from.0, to.0), datagram_bytes);
    out.extend(from.1.to_be_bytes());
    out.extend(to.1.to_be_bytes());
    out.extend((datagram_bytes as u16).to_be_bytes());
    out.extend([0, 0]);
    let payload = out.len();
    out.extend(&number.to_be_bytes()[..NUMBER_BYTES.min(payload_bytes.into())]);
    if usize::from(payload_bytes) >= NUMBER_BYTES + TIME_BYTES {
        out.extend(sent_ns.to_be_bytes());
    }
    out.resize(payload + usize::from(payload_bytes), 0);
}

/// Appends the packet of an ICMP echo request, or of the answer to it, with so many bytes of data.
pub fn echo(
    out: &mut Vec<u8>,
    is_answer: bool,
    ends: (Ipv4Addr, Ipv4Addr),
    number: u16,
    data_bytes: usize,
) {
    header(out, ICMP, 0, ends, ICMP_HEADER_BYTES + data_bytes);
    let start = out.len();
    let kind = if is_answer { ECHO_REPLY } else { ECHO_REQUEST };
    out.extend([kind, 0, 0, 0, 0, 1]);
    out.extend(number.to_be_bytes());
    out.resize(start + ICMP_HEADER_BYTES + data_bytes, 0);
    let sum = Sum::default().plus(&out[start..]).finish();
    out[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
}

fn header(
    out: &mut Vec<u8>,
    protocol: u8,
    tos: u8,
    (from, to): (Ipv4Addr, Ipv4Addr),
    payload_bytes: usize,
) {
    let start = out.len();
    out.extend([0x45, tos]);
    out.extend(((IP_HEADER_BYTES + payload_bytes) as u16).to_be_bytes());
    // No identification, may not be fragmented.
    out.extend([0, 0, 0x40, 0, IpFields::default().ttl, protocol, 0, 0]);
    out.extend(from.octets());
    out.extend(to.octets());
    let sum = Sum::default().plus(&out[start..]).finish();
    out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: (Ipv4Addr, Ipv4Addr) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));

    /// Bytes with their checksum in them add up to all ones.
    fn adds_up(bytes: &[u8]) -> bool {
        Sum::default().plus(bytes).finish() == 0
    }

    #[test]
    fn a_datagram_has_its_number_its_time_and_its_length() {
        let mut bytes = Vec::new();
        udp(
            &mut bytes,
            3,
            (ENDS.0, 1024),
            (ENDS.1, 1025),
            (70_000, 5),
            1470,
        );
        assert_eq!(bytes.len(), 1498);
        assert!(adds_up(&bytes[..IP_HEADER_BYTES]));
        assert_eq!(bytes[1], 3);
        assert_eq!(bytes[20..28], [4, 0, 4, 1, 5, 198, 0, 0]);
        assert_eq!(bytes[28..36], 70_000_u64.to_be_bytes());
        assert_eq!(bytes[36..44], 5_u64.to_be_bytes());
        bytes.clear();
        udp(&mut bytes, 0, (ENDS.0, 1024), (ENDS.1, 1025), (7, 5), 2);
        assert_eq!(bytes.len(), 30);
    }

    #[test]
    fn an_echo_is_a_ping_s_packet() {
        for is_answer in [false, true] {
            let mut bytes = Vec::new();
            echo(&mut bytes, is_answer, ENDS, 5, 56);
            assert_eq!(bytes.len(), 84);
            assert!(adds_up(&bytes[..IP_HEADER_BYTES]));
            assert!(adds_up(&bytes[IP_HEADER_BYTES..]));
            assert_eq!(bytes[20], if is_answer { 0 } else { 8 });
        }
    }
}
