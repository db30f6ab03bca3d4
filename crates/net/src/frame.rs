//! Frames on the wire, and what they cost there.
//!
//! Models untagged Ethernet II (IEEE 802.3): 14 bytes of header and 4 of FCS around the IP packet,
//! at least 64 bytes in all; on the wire 8 bytes of preamble and 12 of inter-frame gap beside it.

use tailback_tcp::{Ecn, Header, Segment, Seq};

/// Bytes of an IPv4 header without options (RFC 791).
pub const IP_HEADER_BYTES: u32 = 20;
/// Bytes of a TCP header without options (RFC 9293).
pub const TCP_HEADER_BYTES: u32 = 20;
/// Bytes of TCP's timestamps with the two that align them (RFC 7323, appendix A).
pub const TIMESTAMPS_BYTES: u32 = 12;
/// Bytes of a UDP header (RFC 768).
pub const UDP_HEADER_BYTES: u32 = 8;
/// Ethernet header and FCS around a packet, bytes (IEEE 802.3 clause 3).
pub const ETHERNET_BYTES: u32 = 18;
/// The FCS among them, which a kernel does not count (IEEE 802.3 clause 3).
pub const FCS_BYTES: u32 = 4;
/// Smallest frame, bytes (IEEE 802.3 clause 3).
pub const FRAME_BYTES_MIN: u32 = 64;
/// Preamble, start delimiter and inter-frame gap, bytes (IEEE 802.3 clauses 3 and 4).
pub const GAP_BYTES: u32 = 20;

/// An endpoint of a transport connection: its index in the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct EndpointId(pub u32);

/// A host: its index in the topology.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct HostId(pub u16);

/// A handle to real bytes that a frame carries; modelled hosts use none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PayloadHandle(pub u32);

/// One Ethernet frame, whole. In a network it lies in pieces: [`crate::pool`].
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// What TCP put into it.
    pub segment: Segment,
    /// The endpoint it is for.
    pub to: EndpointId,
    /// The host it is for.
    pub destination: HostId,
    /// Its length from destination address to FCS, bytes.
    pub frame_bytes: u16,
    /// Real bytes it carries, or zero for none.
    pub payload: PayloadHandle,
}

impl Frame {
    /// The frame that carries `segment` to an endpoint on a host.
    #[inline]
    #[must_use]
    pub fn new(segment: Segment, to: EndpointId, destination: HostId) -> Frame {
        let mut frame = Frame {
            segment,
            to,
            destination,
            frame_bytes: 0,
            payload: PayloadHandle(0),
        };
        frame.resize(segment.payload_bytes);
        frame
    }

    /// Changes the payload's length, bytes.
    #[inline]
    pub fn resize(&mut self, payload_bytes: u16) {
        self.segment.payload_bytes = payload_bytes;
        self.frame_bytes = Frame::bytes_of(Frame::overhead_bytes(&self.segment), payload_bytes);
    }

    /// What a frame has around the payload of a segment with this header, bytes.
    #[inline]
    #[must_use]
    pub fn overhead_bytes(header: &Header) -> u32 {
        IP_HEADER_BYTES + header.header_bytes() + ETHERNET_BYTES
    }

    /// The length of a frame with so much around so much payload, bytes.
    #[inline]
    #[must_use]
    pub fn bytes_of(overhead_bytes: u32, payload_bytes: u16) -> u16 {
        (overhead_bytes + u32::from(payload_bytes)).max(FRAME_BYTES_MIN) as u16
    }

    /// The frame that carries UDP datagram `number` with so many bytes of payload (RFC 768).
    #[inline]
    #[must_use]
    pub fn datagram(
        number: u32,
        ecn: Ecn,
        payload_bytes: u16,
        to: EndpointId,
        destination: HostId,
    ) -> Frame {
        let mut segment = Segment::EMPTY;
        segment.seq = Seq(number);
        segment.ecn = ecn;
        segment.payload_bytes = payload_bytes;
        let packet = IP_HEADER_BYTES + UDP_HEADER_BYTES + u32::from(payload_bytes);
        Frame {
            frame_bytes: (packet + ETHERNET_BYTES).max(FRAME_BYTES_MIN) as u16,
            ..Frame::new(segment, to, destination)
        }
    }

    /// The traffic class the frame is in, 0 to 7.
    #[inline]
    #[must_use]
    pub fn class(&self) -> u8 {
        self.segment.class()
    }
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
