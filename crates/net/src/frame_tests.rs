use tailback_tcp::Segment;

use super::{EndpointId, Frame, HostId};
use crate::testing::{flight, frame};

#[test]
fn wire_bytes_count_preamble_gap_and_fcs() {
    assert_eq!(frame(8948).frame_bytes, 9018);
    assert_eq!(flight(8948).wire_bytes(), 9038);
    assert_eq!(flight(1448).wire_bytes(), 1538);
}

#[test]
fn short_frames_are_padded() {
    let ack = Frame::new(Segment::EMPTY, EndpointId(0), HostId(0));
    assert_eq!(ack.frame_bytes, 64);
}
