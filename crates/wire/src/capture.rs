//! Reading captures: the pcapng files that [`crate::pcapng`] writes, and others of their kind.
//!
//! Little-endian sections with nanosecond or microsecond Ethernet interfaces; blocks other than
//! interface descriptions and enhanced packets are passed over. Big-endian files, and simple packet
//! blocks, which have no time, are refused.

use crate::error::ParseError;
use crate::{Packet, ethernet, ip};

/// Block types and options as in [`crate::pcapng`] (IETF draft-ietf-opsawg-pcapng section 4).
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const OPT_COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
/// Resolution of an interface that says none: microseconds (section 4.2).
const MICROSECONDS: u8 = 6;
const NANOSECONDS: u8 = 9;

/// Why bytes are no capture that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// The first block is no section header, or one in big-endian order.
    #[error("no little-endian pcapng file")]
    NotPcapng,
    /// A block is cut short or its lengths do not fit.
    #[error("the block at byte {0} is cut short")]
    Truncated(usize),
    /// A packet names an interface that the file does not describe.
    #[error("a packet on interface {0}, which is not described")]
    Interface(u32),
    /// An interface whose times are neither in nanoseconds nor in microseconds.
    #[error("a time resolution of 10^-{0} s; 6 or 9 can be read")]
    Resolution(u8),
    /// A packet without a time.
    #[error("a simple packet block, which has no time")]
    Timeless,
}

/// One frame of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// When it was noted, on the capture's clock, ns.
    pub time_ns: u64,
    /// Name of the interface.
    pub interface: String,
    /// What the capture says of it.
    pub comment: String,
    /// TCP over IP in it, or why there is none.
    pub packet: Result<Packet, ParseError>,
}

struct Described {
    name: String,
    ns_per_unit: u64,
}

/// All frames of a capture, in the order of the file.
///
/// # Errors
///
/// The bytes are no capture that can be read; a frame that is no TCP is no error.
pub fn read(bytes: &[u8]) -> Result<Vec<Captured>, CaptureError> {
    if word(bytes, 0) != Some(SECTION_HEADER) || word(bytes, 8) != Some(BYTE_ORDER_MAGIC) {
        return Err(CaptureError::NotPcapng);
    }
    let mut interfaces: Vec<Described> = Vec::new();
    let mut frames = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (kind, body) = block(bytes, at).ok_or(CaptureError::Truncated(at))?;
        match kind {
            SECTION_HEADER => interfaces.clear(),
            INTERFACE_DESCRIPTION => interfaces.push(described(body)?),
            ENHANCED_PACKET => {
                let frame = captured(body, &interfaces, at)?;
                frames.push(frame);
            }
            SIMPLE_PACKET => return Err(CaptureError::Timeless),
            _ => {}
        }
        at += body.len() + 12;
    }
    Ok(frames)
}

/// Type and body of the block at `at`.
fn block(bytes: &[u8], at: usize) -> Option<(u32, &[u8])> {
    let kind = word(bytes, at)?;
    let length = word(bytes, at + 4)? as usize;
    let whole = bytes.get(at..at.checked_add(length)?)?;
    let fits = length >= 12 && length.is_multiple_of(4);
    fits.then(|| (kind, &whole[8..length - 4]))
}

fn described(body: &[u8]) -> Result<Described, CaptureError> {
    let resolution = option(body.get(8..).unwrap_or(&[]), IF_TSRESOL)
        .and_then(|value| value.first().copied())
        .unwrap_or(MICROSECONDS);
    let ns_per_unit = match resolution {
        NANOSECONDS => 1,
        MICROSECONDS => 1000,
        other => return Err(CaptureError::Resolution(other)),
    };
    Ok(Described {
        name: text(option(body.get(8..).unwrap_or(&[]), IF_NAME)),
        ns_per_unit,
    })
}

fn captured(body: &[u8], interfaces: &[Described], at: usize) -> Result<Captured, CaptureError> {
    let field = |at_byte| word(body, at_byte).ok_or(CaptureError::Truncated(at));
    let number = field(0)?;
    let interface = interfaces
        .get(number as usize)
        .ok_or(CaptureError::Interface(number))?;
    let units = u64::from(field(4)?) << 32 | u64::from(field(8)?);
    let length = field(12)? as usize;
    let frame = body
        .get(20..20 + length)
        .ok_or(CaptureError::Truncated(at))?;
    let options = body
        .get(20 + length.next_multiple_of(4)..)
        .unwrap_or_default();
    Ok(Captured {
        time_ns: units.saturating_mul(interface.ns_per_unit),
        interface: interface.name.clone(),
        comment: text(option(options, OPT_COMMENT)),
        packet: ethernet::ip_packet(frame).and_then(ip::parse),
    })
}

/// The value of an option in a list of options.
fn option(mut options: &[u8], code: u16) -> Option<&[u8]> {
    while let [c0, c1, l0, l1, rest @ ..] = options {
        let length = usize::from(u16::from_le_bytes([*l0, *l1]));
        let value = rest.get(..length)?;
        if u16::from_le_bytes([*c0, *c1]) == code {
            return Some(value);
        }
        options = rest.get(length.next_multiple_of(4)..)?;
    }
    None
}

fn text(value: Option<&[u8]>) -> String {
    String::from_utf8_lossy(value.unwrap_or_default()).into_owned()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
