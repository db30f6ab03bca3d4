use std::net::{Ipv4Addr, SocketAddr};

use tailback_tcp::{Segment, Seq};
use tailback_units::Time;

use super::{CaptureError, read};
use crate::pcapng::{Direction, Writer};
use crate::{IpFields, Payload, ethernet, ip};

fn capture(segment: &Segment, comment: Option<&str>) -> Vec<u8> {
    let from = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 1), 1024));
    let to = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 2), 1025));
    let mut frame = Vec::new();
    ethernet::write(&mut frame, [2; 6], [4; 6], |out| {
        ip::write(out, segment, from, to, IpFields::default(), Payload::Zeros);
    });
    let mut writer = Writer::new(Vec::new(), "tailback").expect("a vector takes all");
    let interface = writer.interface("a>b", 10_000_000_000).expect("written");
    let at = Time::from_ps(7_000_000_123_000);
    writer
        .packet(interface, at, &frame, Direction::Outbound, comment)
        .expect("written");
    writer
        .packet(interface, at, &[0xaa; 60], Direction::Outbound, None)
        .expect("written");
    writer.finish().expect("flushed")
}

fn segment() -> Segment {
    let mut segment = Segment::EMPTY;
    segment.seq = Seq(77);
    segment.payload_bytes = 1001;
    segment.has_timestamps = true;
    segment.ts_val = 5;
    segment
}

#[test]
fn what_was_written_is_read() {
    let frames = read(&capture(&segment(), Some("dropped at s:1"))).expect("a capture");
    assert_eq!(frames.len(), 2);
    assert_eq!(frames[0].time_ns, 7_000_000_123);
    assert_eq!(frames[0].interface, "a>b");
    assert_eq!(frames[0].comment, "dropped at s:1");
    let packet = frames[0].packet.as_ref().expect("a segment");
    assert_eq!(packet.segment, segment());
    assert_eq!(packet.to.port(), 1025);
    assert!(frames[1].packet.is_err(), "no IP in it");
}

#[test]
fn a_file_cut_anywhere_is_an_error_or_shorter_and_never_a_panic() {
    let whole = capture(&segment(), Some("x"));
    let mut cut_short = 0;
    for length in 0..whole.len() {
        match read(&whole[..length]) {
            Ok(frames) => assert!(frames.len() < 2),
            Err(CaptureError::Truncated(_) | CaptureError::NotPcapng) => cut_short += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(cut_short > whole.len() / 2);
}

#[test]
fn other_files_are_refused() {
    assert_eq!(read(b"GIF89a"), Err(CaptureError::NotPcapng));
    let mut big_endian = capture(&segment(), None);
    big_endian[8..12].reverse();
    assert_eq!(read(&big_endian), Err(CaptureError::NotPcapng));
}
