use super::{Ecn, Flags, Header, SackBlock, Segment, SynOptions};
use crate::Seq;

#[test]
fn a_header_leaves_room_for_a_number_in_half_a_cache_line() {
    assert!(size_of::<Header>() <= 28);
}

#[test]
fn syn_options_survive_and_are_no_sack_blocks() {
    let options = SynOptions {
        mss: 8960,
        window_scale: Some(7),
        sack_permitted: true,
    };
    let mut syn = Segment::plain(Header {
        has_timestamps: true,
        ..Header::EMPTY
    });
    syn.set_syn_options(options);
    assert_eq!(syn.syn_options(), Some(options));
    assert!(syn.sack_blocks().is_empty());
    assert_eq!(syn.header_bytes(), 40);
}

#[test]
fn header_lengths_are_those_of_linux() {
    let mut ack = Segment::plain(Header {
        has_timestamps: true,
        flags: Flags::ACK,
        ..Header::EMPTY
    });
    assert_eq!(ack.header_bytes(), 32);
    ack.push_sack(SackBlock {
        start: Seq(1),
        end: Seq(2),
    });
    assert_eq!(ack.header_bytes(), 44);
}

#[test]
fn likeness_leaves_out_numbers_only() {
    let segment = Segment::plain(Header {
        has_timestamps: true,
        flags: Flags::ACK,
        payload_bytes: 1448,
        ..Header::EMPTY
    });
    let differ = |change: fn(&mut Segment)| {
        let mut other = segment;
        change(&mut other);
        other.likeness() != segment.likeness()
    };
    assert!(differ(|s| s.ts_val += 1));
    assert!(differ(|s| s.ts_ecr += 1));
    assert!(differ(|s| s.window += 1));
    assert!(differ(|s| s.payload_bytes -= 1));
    assert!(differ(|s| s.ecn = Ecn::Ce));
    assert!(differ(|s| s.flags = s.flags.with(Flags::NS)));
    assert!(differ(|s| s.push_sack(SackBlock {
        start: Seq(1),
        end: Seq(2),
    })));
    assert!(!differ(|s| s.seq = Seq(7)));
    assert!(!differ(|s| s.ack = Seq(7)));
}
