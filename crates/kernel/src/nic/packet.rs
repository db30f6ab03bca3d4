//! A packet on the simulated wire: its bytes, and what is left to be done to them.

use tailback_wire::Sum;

/// Bytes of an Ethernet header.
pub(super) const ETHERNET_BYTES: usize = 14;
const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// Tags that precede the EtherType of a packet (802.1Q, 802.1ad).
const ETHERTYPE_TAGS: [u16; 2] = [0x8100, 0x88a8];

/// An Ethernet frame without FCS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// From the destination address on.
    pub bytes: Vec<u8>,
    /// Whether the transport checksum is in it.
    pub checksum: Checksum,
}

/// State of a packet's transport checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksum {
    /// It is as it is on a wire.
    #[default]
    Complete,
    /// The field holds the sum of the pseudo-header; the sum from `start` on is to be folded in.
    Partial {
        /// Where summing begins, bytes from the beginning of the frame.
        start: u16,
        /// Where the field is, bytes from `start`.
        offset: u16,
    },
}

/// Bytes of an Ethernet header; where the type is in it, and that of IPv4.
const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const TCP: u8 = 6;
const UDP: u8 = 17;

impl Packet {
    /// Payload of TCP or UDP in an IPv4 packet, bytes; zero of anything else.
    pub fn payload_bytes(&self) -> u64 {
        let at = |place: usize| self.bytes.get(place).copied().map_or(0, usize::from);
        if self.bytes.get(12..ETHERNET) != Some(&IPV4) {
            return 0;
        }
        let total = at(ETHERNET + 2) << 8 | at(ETHERNET + 3);
        let ip_header = (at(ETHERNET) & 0x0f) * 4;
        let transport_header = match self.bytes.get(ETHERNET + 9) {
            Some(&TCP) => (at(ETHERNET + ip_header + 12) >> 4) * 4,
            Some(&UDP) => 8,
            _ => return 0,
        };
        total.saturating_sub(ip_header + transport_header) as u64
    }

    /// Puts the checksum in, so that the bytes are those a wire would carry.
    pub fn complete_checksum(&mut self) {
        let Checksum::Partial { start, offset } = self.checksum else {
            return;
        };
        self.checksum = Checksum::Complete;
        let start = usize::from(start);
        let at = start + usize::from(offset);
        if at + 2 > self.bytes.len() {
            return;
        }
        let sum = Sum::default().plus(&self.bytes[start..]).finish();
        // Zero would say "no checksum" in UDP (RFC 768); its other form sums to the same.
        let sum = if sum == 0 { 0xffff } else { sum };
        self.bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Where a frame's IP header begins, and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    V4(usize),
    V6(usize),
}

/// Finds the IP header of a frame.
pub(super) fn network(frame: &[u8]) -> Option<Network> {
    let mut at = ETHERNET_BYTES - 2;
    loop {
        let kind = u16::from_be_bytes([*frame.get(at)?, *frame.get(at + 1)?]);
        if kind == ETHERTYPE_IPV4 {
            return Some(Network::V4(at + 2));
        }
        if kind == ETHERTYPE_IPV6 {
            return Some(Network::V6(at + 2));
        }
        if !ETHERTYPE_TAGS.contains(&kind) {
            return None;
        }
        at += 4;
    }
}

#[cfg(test)]
#[path = "packet_tests.rs"]
pub(super) mod tests;
