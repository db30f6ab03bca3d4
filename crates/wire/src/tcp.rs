//! The TCP header (RFC 9293 section 3.1).

use std::net::IpAddr;

use tailback_tcp::{Flags, Segment, Seq};

use crate::checksum::Sum;
use crate::error::{ParseError, be16, be32, part};
use crate::ip::Payload;
use crate::options;

/// Header without options, bytes.
const HEADER_BYTES: usize = 20;
/// Where the checksum is in the header.
const CHECKSUM_AT: usize = 16;
/// The header's flag bits, with the former nonce-sum bit.
const FLAG_BITS: u16 = 0x1ff;

/// What a TCP header says besides the segment.
pub(crate) struct Parsed {
    pub(crate) from_port: u16,
    pub(crate) to_port: u16,
    pub(crate) header_bytes: usize,
    pub(crate) segment: Segment,
}

/// Appends header, options and payload; the checksum covers the addresses.
pub(crate) fn write(
    out: &mut Vec<u8>,
    segment: &Segment,
    (from, from_port): (IpAddr, u16),
    (to, to_port): (IpAddr, u16),
    payload: Payload,
) {
    let start = out.len();
    out.extend(from_port.to_be_bytes());
    out.extend(to_port.to_be_bytes());
    out.extend(segment.seq.0.to_be_bytes());
    out.extend(segment.ack.0.to_be_bytes());
    let words = (segment.header_bytes() / 4) as u16;
    out.extend((words << 12 | segment.flags.0 & FLAG_BITS).to_be_bytes());
    out.extend(segment.window.to_be_bytes());
    // Checksum and urgent pointer.
    out.extend([0; 4]);
    options::write(out, segment);
    let length = usize::from(segment.payload_bytes);
    let end = out.len() + length;
    if let Payload::Bytes(bytes) = payload {
        out.extend(&bytes[..length.min(bytes.len())]);
    }
    out.resize(end, 0);
    let sum = Sum::default()
        .pseudo_header(from, to, out.len() - start)
        .plus(&out[start..])
        .finish();
    out[start + CHECKSUM_AT..start + CHECKSUM_AT + 2].copy_from_slice(&sum.to_be_bytes());
}

/// Reads a TCP header and its options; `bytes` ends where the IP packet says.
pub(crate) fn parse(bytes: &[u8]) -> Result<Parsed, ParseError> {
    let header = part(bytes, "TCP header", 0, HEADER_BYTES)?;
    let offset_and_flags = be16(header, 12);
    let header_bytes = usize::from(offset_and_flags >> 12) * 4;
    if header_bytes < HEADER_BYTES || header_bytes > bytes.len() {
        return Err(ParseError::HeaderLength {
            layer: "TCP header",
            bytes: header_bytes,
        });
    }
    let mut segment = Segment::EMPTY;
    segment.seq = Seq(be32(header, 4));
    segment.ack = Seq(be32(header, 8));
    segment.flags = Flags(offset_and_flags & FLAG_BITS);
    segment.window = be16(header, 14);
    // An IP packet is at most 65 535 bytes long.
    segment.payload_bytes = (bytes.len() - header_bytes) as u16;
    options::parse(&bytes[HEADER_BYTES..header_bytes], &mut segment);
    Ok(Parsed {
        from_port: be16(header, 0),
        to_port: be16(header, 2),
        header_bytes,
        segment,
    })
}
