use std::net::IpAddr;

use tailback_wire::plan;

use super::*;

/// An IPv4/TCP frame with this ECN field and payload; its TCP checksum is left to be folded in.
pub(in crate::nic) fn tcp_frame(ecn: u8, payload: &[u8]) -> Vec<u8> {
    let (from, to) = (plan::ipv4(0), plan::ipv4(1));
    let total = (40 + payload.len()) as u16;
    let mut bytes = [plan::mac(1), plan::mac(0)].concat();
    bytes.extend([8, 0, 0x45, ecn]);
    bytes.extend(total.to_be_bytes());
    bytes.extend([0x10, 0x00, 0x40, 0, 64, 6, 0, 0]);
    bytes.extend(from.octets());
    bytes.extend(to.octets());
    let sum = Sum::default().plus(&bytes[14..34]).finish();
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    let flags = 0x80 | 0x10 | 0x08 | 0x01; // CWR, ACK, PSH, FIN
    bytes.extend([0x04, 0x00, 0x04, 0x01, 0xff, 0xff, 0xff, 0x00]);
    bytes.extend([0, 0, 0, 9, 0x50, flags, 0x20, 0x00, 0, 0, 0, 0]);
    let pseudo = !Sum::default()
        .pseudo_header(IpAddr::V4(from), IpAddr::V4(to), 20 + payload.len())
        .finish();
    bytes[50..52].copy_from_slice(&pseudo.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Whether the sums of an IPv4/TCP frame are right.
pub(in crate::nic) fn sums_are_right(frame: &[u8]) -> bool {
    let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
    let tcp = &frame[34..14 + total];
    let address = |at: usize| IpAddr::from([0, 1, 2, 3].map(|i| frame[at + i]));
    let sum = Sum::default()
        .pseudo_header(address(26), address(30), tcp.len())
        .plus(tcp);
    Sum::default().plus(&frame[14..34]).finish() == 0 && sum.finish() == 0
}

const PARTIAL: Checksum = Checksum::Partial {
    start: 34,
    offset: 16,
};

#[test]
fn a_completed_checksum_is_right() {
    for length in [0, 1, 2, 3, 100, 1459] {
        let mut packet = Packet {
            bytes: tcp_frame(0, &vec![0xa5; length]),
            checksum: PARTIAL,
        };
        packet.complete_checksum();
        assert_eq!(packet.checksum, Checksum::Complete);
        assert!(sums_are_right(&packet.bytes), "{length} bytes");
    }
}

#[test]
fn a_field_outside_the_frame_is_left_alone() {
    let mut packet = Packet {
        bytes: tcp_frame(0, &[]),
        checksum: Checksum::Partial {
            start: 54,
            offset: 16,
        },
    };
    let before = packet.bytes.clone();
    packet.complete_checksum();
    assert_eq!(packet.bytes, before);
}

#[test]
fn a_tag_moves_the_header() {
    let mut frame = tcp_frame(0, &[]);
    assert_eq!(network(&frame), Some(Network::V4(14)));
    frame.splice(12..12, [0x81, 0x00, 0x00, 0x05]);
    assert_eq!(network(&frame), Some(Network::V4(18)));
    assert_eq!(network(&frame[..13]), None);
}
