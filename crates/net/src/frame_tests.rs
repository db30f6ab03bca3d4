use tailback_tcp::{Ecn, Segment};

use super::{EndpointId, Frame, HostId};
use crate::marking::Mark;
use crate::testing::frame;

#[test]
fn a_frame_is_no_larger_than_a_cache_line() {
    assert_eq!(size_of::<Frame>(), 64);
}

#[test]
fn wire_bytes_count_preamble_gap_and_fcs() {
    assert_eq!(frame(8948).frame_bytes, 9018);
    assert_eq!(frame(8948).wire_bytes(), 9038);
    assert_eq!(frame(1448).wire_bytes(), 1538);
}

#[test]
fn short_frames_are_padded() {
    let ack = Frame::new(Segment::EMPTY, EndpointId(0), HostId(0));
    assert_eq!(ack.frame_bytes, 64);
}

#[test]
fn only_ecn_capable_frames_are_marked() {
    let mut plain = frame(1448);
    assert!(!plain.mark(Mark::Ce));
    let mut capable = frame(1448);
    capable.segment.ecn = Ecn::Ect0;
    assert!(capable.mark(Mark::Ce));
    assert_eq!(capable.segment.ecn, Ecn::Ce);
}
