//! The header that precedes every packet in a virtio network queue (virtio 1.2, 5.1.6).

/// Flag: the checksum field is partial (VIRTIO_NET_HDR_F_NEEDS_CSUM).
const NEEDS_CSUM: u8 = 1;
/// Kinds of segmentation (VIRTIO_NET_HDR_GSO_*).
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
/// Beside a kind: the packet sets CWR (VIRTIO_NET_HDR_GSO_ECN).
const GSO_ECN: u8 = 0x80;

use super::packet::Checksum;

/// Bytes of the header with the number of buffers, as version 1 has it.
pub(super) const BYTES: usize = 12;

/// What a driver wants done with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) checksum: Checksum,
    /// Payload bytes of each segment, if TCP is to be cut up.
    pub(super) segment_bytes: Option<u16>,
}

/// What the header in front of a packet asks for; an error if it is for something not offered.
pub(super) fn parse(bytes: &[u8; BYTES]) -> Result<Wish, String> {
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let checksum = match bytes[0] & NEEDS_CSUM {
        0 => Checksum::Complete,
        _ => Checksum::Partial {
            start: half(6),
            offset: half(8),
        },
    };
    let segment_bytes = match bytes[1] & !GSO_ECN {
        GSO_NONE => None,
        GSO_TCPV4 | GSO_TCPV6 if half(4) > 0 => Some(half(4)),
        other => return Err(format!("its driver wants segmentation of kind {other}")),
    };
    Ok(Wish {
        checksum,
        segment_bytes,
    })
}

/// The header in front of a received packet that spans so many buffers.
pub(super) fn received(checksum: Checksum, buffers: u16) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    if let Checksum::Partial { start, offset } = checksum {
        bytes[0] = NEEDS_CSUM;
        bytes[6..8].copy_from_slice(&start.to_le_bytes());
        bytes[8..10].copy_from_slice(&offset.to_le_bytes());
    }
    bytes[10..12].copy_from_slice(&buffers.to_le_bytes());
    bytes
}
