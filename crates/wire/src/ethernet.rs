//! Ethernet II headers (IEEE 802.3 clause 3). Left out: VLAN tags; the FCS, which captures and
//! virtual NICs do without.

use crate::error::{ParseError, be16, part};

/// Destination, source and type, bytes.
pub const HEADER_BYTES: usize = 14;
/// Smallest frame without FCS, bytes.
pub const FRAME_BYTES_MIN: usize = 60;
/// Ethernet's type of IPv4.
pub const TYPE_IPV4: u16 = 0x0800;
/// Ethernet's type of IPv6.
pub const TYPE_IPV6: u16 = 0x86dd;

/// A MAC address.
pub type Mac = [u8; 6];

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Whom it is for.
    pub to: Mac,
    /// Who sent it.
    pub from: Mac,
    /// What it carries.
    pub ethertype: u16,
}

/// Appends a frame around what `packet` appends, padded to the least length. The packet is IPv4 or
/// IPv6, as its first byte says.
pub fn write(out: &mut Vec<u8>, from: Mac, to: Mac, packet: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend(to);
    out.extend(from);
    out.extend([0; 2]);
    packet(out);
    let version = out.get(start + HEADER_BYTES).map_or(4, |first| first >> 4);
    let ethertype = if version == 6 { TYPE_IPV6 } else { TYPE_IPV4 };
    out[start + 12..start + HEADER_BYTES].copy_from_slice(&ethertype.to_be_bytes());
    out.resize(out.len().max(start + FRAME_BYTES_MIN), 0);
}

/// Reads a frame: its header, and what it carries with any padding.
///
/// # Errors
///
/// If the frame is shorter than its header.
pub fn parse(frame: &[u8]) -> Result<(Header, &[u8]), ParseError> {
    let header = part(frame, "Ethernet header", 0, HEADER_BYTES)?;
    let mac = |at: usize| {
        let mut mac = Mac::default();
        mac.copy_from_slice(&header[at..at + 6]);
        mac
    };
    Ok((
        Header {
            to: mac(0),
            from: mac(6),
            ethertype: be16(header, 12),
        },
        &frame[HEADER_BYTES..],
    ))
}

/// The IP packet in a frame.
///
/// # Errors
///
/// If the frame is too short or carries something else.
pub fn ip_packet(frame: &[u8]) -> Result<&[u8], ParseError> {
    let (header, packet) = parse(frame)?;
    match header.ethertype {
        TYPE_IPV4 | TYPE_IPV6 => Ok(packet),
        other => Err(ParseError::NotIp(other)),
    }
}
