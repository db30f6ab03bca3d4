use super::super::packet::tests::{sums_are_right, tcp_frame};
use super::*;

fn segments(packet: &[u8], segment_bytes: u16) -> Vec<Packet> {
    let mut cut_up = Vec::new();
    cut(packet, segment_bytes, Vec::new, |segment| {
        cut_up.push(segment);
    })
    .expect("it is a TCP packet");
    cut_up
}

#[test]
fn segments_carry_the_payload_in_order() {
    let payload: Vec<u8> = (0..10_000_u32).map(|i| (i % 251) as u8).collect();
    let cut_up = segments(&tcp_frame(2, &payload), 1448);
    assert_eq!(cut_up.len(), 7);
    let joined: Vec<u8> = cut_up.iter().flat_map(|s| s.bytes[54..].to_vec()).collect();
    assert_eq!(joined, payload);
    assert!(cut_up[..6].iter().all(|s| s.bytes.len() == 54 + 1448));
}

#[test]
fn every_segment_is_a_packet_of_its_own() {
    let first_seq = 0xffff_ff00_u32;
    for (number, mut segment) in segments(&tcp_frame(2, &[7; 3000]), 1000)
        .into_iter()
        .enumerate()
    {
        let bytes = &segment.bytes;
        let seq = u32::from_be_bytes([bytes[38], bytes[39], bytes[40], bytes[41]]);
        assert_eq!(seq, first_seq.wrapping_add(1000 * number as u32));
        let identification = u16::from_be_bytes([bytes[18], bytes[19]]);
        assert_eq!(identification, 0x1000 + number as u16);
        let flags = bytes[47];
        assert_eq!(flags & 0x80 != 0, number == 0, "CWR on the first");
        assert_eq!(flags & 0x09 == 0x09, number == 2, "PSH and FIN on the last");
        assert_eq!(bytes[15], 2, "ECN stays");
        segment.complete_checksum();
        assert!(sums_are_right(&segment.bytes));
    }
}

#[test]
fn one_segment_is_the_packet_itself() {
    let packet = tcp_frame(0, &[1; 100]);
    let cut_up = segments(&packet, 1448);
    assert_eq!(cut_up.len(), 1);
    assert_eq!(cut_up[0].bytes, packet);
}

#[test]
fn what_is_no_tcp_packet_is_refused() {
    let none = |packet: &[u8]| cut(packet, 1448, Vec::new, |_| {}).is_err();
    assert!(none(&[]));
    assert!(none(&[0; 60]));
    assert!(none(&tcp_frame(0, &[])));
    assert!(none(&tcp_frame(0, &[1; 9])[..50]));
}
