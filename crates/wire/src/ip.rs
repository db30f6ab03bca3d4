//! IPv4 and IPv6 packets with TCP inside (RFC 791, RFC 8200).
//!
//! Left out: IPv4 options (skipped on reading), IPv6 extension headers, fragments.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Range;

use tailback_tcp::{Ecn, Segment};

use crate::checksum::{Sum, TCP};
use crate::error::{ParseError, be16, part};
use crate::tcp;

/// IPv4 header without options, bytes.
const V4_BYTES: usize = 20;
/// IPv6 header, bytes.
const V6_BYTES: usize = 40;
/// The IPv4 flag "don't fragment", in the word of flags and fragment offset.
const DONT_FRAGMENT: u16 = 0x4000;
/// Offset and "more fragments" of that word: not zero in a fragment.
const FRAGMENT_BITS: u16 = 0x3fff;

/// What an IP header says besides addresses, lengths and ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpFields {
    /// IPv4's identification; IPv6 has none.
    pub id: u16,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// IPv6's flow label, 0 to 2^20 - 1.
    pub flow_label: u32,
}

impl Default for IpFields {
    /// As Linux sends: a time to live of 64 (IPDEFTTL, include/linux/ip.h).
    fn default() -> IpFields {
        IpFields {
            id: 0,
            ttl: 64,
            dscp: 0,
            flow_label: 0,
        }
    }
}

/// The payload to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// As many zeros as the segment says.
    Zeros,
    /// These bytes, cut or filled up with zeros to the segment's length.
    Bytes(&'a [u8]),
}

/// A packet that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Who sent it.
    pub from: SocketAddr,
    /// Whom it is for.
    pub to: SocketAddr,
    /// The segment, with the ECN field of the IP header.
    pub segment: Segment,
    /// The IP header's other fields.
    pub fields: IpFields,
    /// Where the payload lies in the bytes that were read.
    pub payload: Range<usize>,
}

/// Appends the packet that carries `segment` from one endpoint to another.
///
/// Both addresses are to be of one family; if they are not, both are written as IPv6, the IPv4 one
/// as IPv4-mapped.
pub fn write(
    out: &mut Vec<u8>,
    segment: &Segment,
    from: SocketAddr,
    to: SocketAddr,
    fields: IpFields,
    payload: Payload,
) {
    let tcp_bytes = segment.header_bytes() + u32::from(segment.payload_bytes);
    let traffic_class = fields.dscp << 2 | segment.ecn as u8;
    let (from_ip, to_ip) = match (from.ip(), to.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let start = out.len();
            out.extend([0x45, traffic_class]);
            out.extend(
                (V4_BYTES as u16)
                    .wrapping_add(tcp_bytes as u16)
                    .to_be_bytes(),
            );
            out.extend(fields.id.to_be_bytes());
            out.extend(DONT_FRAGMENT.to_be_bytes());
            out.extend([fields.ttl, TCP, 0, 0]);
            out.extend(source.octets());
            out.extend(destination.octets());
            let sum = Sum::default().plus(&out[start..]).finish();
            out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
            (from.ip(), to.ip())
        }
        (source, destination) => {
            let (source, destination) = (as_v6(source), as_v6(destination));
            let first = 6 << 28 | u32::from(traffic_class) << 20 | fields.flow_label & 0xf_ffff;
            out.extend(first.to_be_bytes());
            out.extend((tcp_bytes as u16).to_be_bytes());
            out.extend([TCP, fields.ttl]);
            out.extend(source.octets());
            out.extend(destination.octets());
            (IpAddr::V6(source), IpAddr::V6(destination))
        }
    };
    tcp::write(
        out,
        segment,
        (from_ip, from.port()),
        (to_ip, to.port()),
        payload,
    );
}

fn as_v6(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    }
}

/// Reads an IP packet that carries TCP, and checks its checksums.
///
/// # Errors
///
/// Says which header is cut off or malformed, or which checksum is wrong.
pub fn parse(bytes: &[u8]) -> Result<Packet, ParseError> {
    parse_with(bytes, true)
}

/// Reads an IP packet whose TCP checksum is not filled in yet (checksum offload).
///
/// # Errors
///
/// As [`parse`], but for TCP's checksum.
pub fn parse_offloaded(bytes: &[u8]) -> Result<Packet, ParseError> {
    parse_with(bytes, false)
}

fn parse_with(bytes: &[u8], check: bool) -> Result<Packet, ParseError> {
    let header = Header::parse(bytes)?;
    let inner = &bytes[header.inner.clone()];
    let read = tcp::parse(inner)?;
    if check {
        let sum = Sum::default().pseudo_header(header.from, header.to, inner.len());
        if sum.plus(inner).finish() != 0 {
            return Err(ParseError::Checksum("TCP"));
        }
    }
    let mut segment = read.segment;
    segment.ecn = header.ecn;
    Ok(Packet {
        from: SocketAddr::new(header.from, read.from_port),
        to: SocketAddr::new(header.to, read.to_port),
        segment,
        fields: header.fields,
        payload: header.inner.start + read.header_bytes..header.inner.end,
    })
}

struct Header {
    from: IpAddr,
    to: IpAddr,
    ecn: Ecn,
    fields: IpFields,
    inner: Range<usize>,
}

impl Header {
    fn parse(bytes: &[u8]) -> Result<Header, ParseError> {
        let first = part(bytes, "IP header", 0, 1)?[0];
        match first >> 4 {
            4 => Header::v4(bytes, usize::from(first & 0xf) * 4),
            6 => Header::v6(bytes),
            version => Err(ParseError::Version(version)),
        }
    }

    fn v4(bytes: &[u8], header_bytes: usize) -> Result<Header, ParseError> {
        let layer = "IPv4 header";
        if header_bytes < V4_BYTES {
            return Err(ParseError::HeaderLength {
                layer,
                bytes: header_bytes,
            });
        }
        let header = part(bytes, layer, 0, header_bytes)?;
        let total = usize::from(be16(header, 2));
        if total < header_bytes {
            return Err(ParseError::HeaderLength {
                layer,
                bytes: total,
            });
        }
        part(bytes, "IPv4 packet", 0, total)?;
        if Sum::default().plus(header).finish() != 0 {
            return Err(ParseError::Checksum("IPv4"));
        }
        if be16(header, 6) & FRAGMENT_BITS != 0 {
            return Err(ParseError::Fragment);
        }
        if header[9] != TCP {
            return Err(ParseError::NotTcp(header[9]));
        }
        let address = |at: usize| {
            IpAddr::V4(Ipv4Addr::new(
                header[at],
                header[at + 1],
                header[at + 2],
                header[at + 3],
            ))
        };
        Ok(Header {
            from: address(12),
            to: address(16),
            ecn: ecn(header[1]),
            fields: IpFields {
                id: be16(header, 4),
                ttl: header[8],
                dscp: header[1] >> 2,
                flow_label: 0,
            },
            inner: header_bytes..total,
        })
    }

    fn v6(bytes: &[u8]) -> Result<Header, ParseError> {
        let header = part(bytes, "IPv6 header", 0, V6_BYTES)?;
        let total = V6_BYTES + usize::from(be16(header, 4));
        part(bytes, "IPv6 packet", 0, total)?;
        if header[6] != TCP {
            return Err(ParseError::NotTcp(header[6]));
        }
        let address = |at: usize| {
            let mut octets = [0; 16];
            octets.copy_from_slice(&header[at..at + 16]);
            IpAddr::V6(Ipv6Addr::from(octets))
        };
        let traffic_class = (be16(header, 0) >> 4) as u8;
        Ok(Header {
            from: address(8),
            to: address(24),
            ecn: ecn(traffic_class),
            fields: IpFields {
                id: 0,
                ttl: header[7],
                dscp: traffic_class >> 2,
                flow_label: u32::from(be16(header, 0) & 0xf) << 16 | u32::from(be16(header, 2)),
            },
            inner: V6_BYTES..total,
        })
    }
}

fn ecn(traffic_class: u8) -> Ecn {
    match traffic_class & 0b11 {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// Gives an IP packet another ECN codepoint in place, its IPv4 checksum with it (RFC 3168 section 5, RFC 1624). Answers whether it was
/// ECN-capable; if not, nothing is changed.
pub fn set_ecn(packet: &mut [u8], to: Ecn) -> bool {
    let shift = match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= V4_BYTES => 0,
        Some(6) if packet.len() >= V6_BYTES => 4,
        _ => return false,
    };
    if packet[1] >> shift & 0b11 == 0 {
        return false;
    }
    let bits = match to {
        Ecn::NotEct => 0b00,
        Ecn::Ect1 => 0b01,
        Ecn::Ect0 => 0b10,
        Ecn::Ce => 0b11,
    };
    if packet[1] >> shift & 0b11 == bits {
        return true;
    }
    packet[1] = packet[1] & !(0b11 << shift) | bits << shift;
    if shift == 0 {
        let header_bytes = (usize::from(packet[0] & 0xf) * 4).clamp(V4_BYTES, packet.len());
        packet[10..12].fill(0);
        let sum = Sum::default().plus(&packet[..header_bytes]).finish();
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    true
}

#[cfg(test)]
#[path = "ip_tests.rs"]
mod tests;
