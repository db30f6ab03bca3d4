//! Why bytes are not a packet.

/// Why some bytes could not be read as an Ethernet frame or an IP packet with TCP inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// A header or what it announces does not fit into the bytes.
    #[error("{layer} needs {needed} bytes, there are {present}")]
    Short {
        /// The header that is cut off.
        layer: &'static str,
        /// Bytes it needs.
        needed: usize,
        /// Bytes there are.
        present: usize,
    },
    /// The Ethernet type is neither IPv4 nor IPv6.
    #[error("Ethernet type {0:#06x} is not IP")]
    NotIp(u16),
    /// The version of the IP header is neither 4 nor 6.
    #[error("IP version {0} is unknown")]
    Version(u8),
    /// A header's length field is below the least or beyond the packet.
    #[error("{layer} says it is {bytes} bytes long")]
    HeaderLength {
        /// The header.
        layer: &'static str,
        /// The length it claims.
        bytes: usize,
    },
    /// The packet is a fragment.
    #[error("fragments are not reassembled")]
    Fragment,
    /// The IP protocol (or first extension header) is not TCP.
    #[error("IP protocol {0} is not TCP")]
    NotTcp(u8),
    /// A checksum is wrong.
    #[error("the {0} checksum is wrong")]
    Checksum(&'static str),
}

/// `bytes[at..at + length]`, or which header is cut off.
pub(crate) fn part<'a>(
    bytes: &'a [u8],
    layer: &'static str,
    at: usize,
    length: usize,
) -> Result<&'a [u8], ParseError> {
    bytes.get(at..at + length).ok_or(ParseError::Short {
        layer,
        needed: at + length,
        present: bytes.len(),
    })
}

/// The big-endian 16-bit word at `at`; zero beyond the end.
pub(crate) fn be16(bytes: &[u8], at: usize) -> u16 {
    bytes
        .get(at..at + 2)
        .map_or(0, |b| u16::from_be_bytes([b[0], b[1]]))
}

/// The big-endian 32-bit word at `at`; zero beyond the end.
pub(crate) fn be32(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .map_or(0, |b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
}
