use std::net::SocketAddr;

use proptest::prelude::*;
use tailback_tcp::{Ecn, EcnCounters, Flags, SackBlock, Segment, Seq, SynOptions};

use super::{IpFields, Packet, Payload, parse, parse_offloaded, set_ecn, write};
use crate::{ParseError, ethernet, plan};

fn addresses(v6: bool) -> (SocketAddr, SocketAddr) {
    if v6 {
        (
            (plan::ipv6(3), plan::port(7)).into(),
            (plan::ipv6(4), plan::port(8)).into(),
        )
    } else {
        (
            (plan::ipv4(3), plan::port(7)).into(),
            (plan::ipv4(4), plan::port(8)).into(),
        )
    }
}

fn bytes_of(segment: &Segment, v6: bool, payload: Payload) -> Vec<u8> {
    let (from, to) = addresses(v6);
    let mut out = Vec::new();
    write(&mut out, segment, from, to, IpFields::default(), payload);
    out
}

prop_compose! {
    fn segments()(
        seq: u32, ack: u32, ts: Option<(u32, u32)>, window: u16, bits in 0u16..0x200,
        ecn in 0u8..4, payload in 0u16..3000, sack in prop::collection::vec((any::<u32>(), any::<u32>()), 0..4),
        mss: u16, window_scale in prop::option::of(0u8..15), sack_permitted: bool,
        counters in prop::option::of((any::<bool>(), prop::collection::vec(0u32..1 << 24, 0..4))),
    ) -> Segment {
        let mut segment = Segment::EMPTY;
        segment.seq = Seq(seq);
        segment.ack = Seq(ack);
        segment.window = window;
        segment.flags = Flags(bits);
        segment.ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(ecn)];
        segment.payload_bytes = payload;
        if let Some((value, echo)) = ts {
            segment.has_timestamps = true;
            (segment.ts_val, segment.ts_ecr) = (value, echo);
        }
        if segment.flags.contains(Flags::SYN) {
            segment.set_syn_options(SynOptions { mss, window_scale, sack_permitted });
        } else {
            for (start, end) in sack {
                segment.push_sack(SackBlock { start: Seq(start), end: Seq(end) });
            }
        }
        if let Some((ect0_first, counters)) = counters {
            let before = segment;
            segment.set_ecn_counters(EcnCounters::new(ect0_first, &counters));
            // There is no room for all of them beside all else.
            if segment.header_bytes() > 60 {
                segment = before;
            }
        }
        segment
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(segment in segments(), v6: bool) {
        let bytes = bytes_of(&segment, v6, Payload::Zeros);
        let (from, to) = addresses(v6);
        let packet = parse(&bytes).expect("a packet that was written");
        let payload = bytes.len() - usize::from(segment.payload_bytes)..bytes.len();
        let fields = IpFields::default();
        prop_assert_eq!(packet, Packet { from, to, segment, fields, payload });
    }

    #[test]
    fn a_changed_bit_is_noticed(segment in segments(), v6: bool, at: prop::sample::Index, bit in 0u8..8) {
        let bytes = bytes_of(&segment, v6, Payload::Zeros);
        let mut changed = bytes.clone();
        let at = at.index(changed.len());
        changed[at] ^= 1u8 << bit;
        // IPv6 has no checksum of its header: traffic class, flow label and hop limit may change.
        prop_assume!(!v6 || ![0, 1, 2, 3, 7].contains(&at));
        prop_assert!(parse(&changed).is_err());
    }

    #[test]
    fn any_bytes_are_a_packet_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), v6: bool) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = if v6 { 0x60 } else { 0x45 };
        }
        if let Ok(packet) = parse_offloaded(&bytes) {
            prop_assert!(packet.payload.end <= bytes.len());
            prop_assert_eq!(packet.payload.len(), usize::from(packet.segment.payload_bytes));
        }
        set_ecn(&mut bytes, Ecn::Ce);
    }

    #[test]
    fn any_options_are_read_without_harm(options in prop::collection::vec(any::<u8>(), 40), syn: bool) {
        let mut segment = Segment::EMPTY;
        segment.flags = if syn { Flags::SYN } else { Flags::ACK };
        crate::options::parse(&options, &mut segment);
        prop_assert!(segment.sack_blocks().len() <= 4 - usize::from(segment.has_timestamps));
        prop_assert!(segment.header_bytes() <= 60);
    }

    #[test]
    fn another_codepoint_keeps_the_packet_right(segment in segments(), v6: bool, to in 0..4_usize) {
        let to = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][to];
        let mut bytes = bytes_of(&segment, v6, Payload::Zeros);
        let before = bytes.clone();
        let capable = segment.ecn != Ecn::NotEct;
        prop_assert_eq!(set_ecn(&mut bytes, to), capable);
        if capable {
            prop_assert_eq!(parse(&bytes).expect("still a packet").segment.ecn, to);
        } else {
            prop_assert_eq!(bytes, before);
        }
    }
}

#[test]
fn a_syn_has_linuxs_options_in_linuxs_order() {
    let mut segment = Segment::EMPTY;
    segment.has_timestamps = true;
    segment.ts_val = 0x0102_0304;
    segment.set_syn_options(SynOptions {
        mss: 1460,
        window_scale: Some(8),
        sack_permitted: true,
    });
    let bytes = bytes_of(&segment, false, Payload::Zeros);
    let expected = [
        2, 4, 0x05, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 8,
    ];
    assert_eq!(&bytes[40..], expected);
    assert_eq!(bytes[32] >> 4, 10);
}

#[test]
fn counters_of_marks_stand_where_linux_has_them() {
    // As Linux's own packetdrill scripts have the options (tcp_accecn_sack_space_grab_with_ts and others).
    let mut segment = Segment::EMPTY;
    segment.flags = Flags::ACK;
    segment.has_timestamps = true;
    (segment.ts_val, segment.ts_ecr) = (172, 2);
    let stamps = [1, 1, 8, 10, 0, 0, 0, 172, 0, 0, 0, 2];
    let told = |fields: usize| EcnCounters::new(false, &[2001, 1000, 1][..fields]);
    let block = SackBlock {
        start: Seq(1),
        end: Seq(2),
    };
    let options = |segment: &Segment| bytes_of(segment, false, Payload::Zeros)[40..].to_vec();
    let mut all = segment;
    all.set_ecn_counters(told(3));
    let counters = [174, 11, 0, 0x07, 0xd1, 0, 0x03, 0xe8, 0, 0, 1, 1];
    assert_eq!(options(&all), [stamps, counters].concat());
    let sack = [5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    for (fields, between) in [
        (0, vec![174, 2]),
        (1, vec![174, 5, 0, 0x07, 0xd1, 1]),
        (2, vec![174, 8, 0, 0x07, 0xd1, 0, 0x03, 0xe8, 1, 1]),
    ] {
        let mut with_block = segment;
        with_block.push_sack(block);
        with_block.set_ecn_counters(told(fields));
        let expected = [&stamps[..], &between, &sack].concat();
        assert_eq!(options(&with_block), expected, "{fields} counters");
    }
    // Those of a SYN's answer: the window scale's padding has one byte.
    let mut answer = Segment::EMPTY;
    answer.flags = Flags::ACK.with(Flags::SYN);
    answer.set_syn_options(SynOptions {
        mss: 1460,
        window_scale: Some(8),
        sack_permitted: false,
    });
    answer.set_ecn_counters(told(1));
    assert_eq!(
        options(&answer),
        [2, 4, 0x05, 0xb4, 174, 5, 0, 0x07, 0xd1, 3, 3, 8]
    );
}

#[test]
fn payload_bytes_are_carried() {
    let mut segment = Segment::EMPTY;
    segment.payload_bytes = 6;
    let bytes = bytes_of(&segment, true, Payload::Bytes(b"abc"));
    let packet = parse(&bytes).expect("a packet");
    assert_eq!(&bytes[packet.payload], b"abc\0\0\0");
}

#[test]
fn a_small_frame_is_padded_and_read_without_the_padding() {
    let (from, to) = addresses(false);
    let mut frame = Vec::new();
    ethernet::write(&mut frame, plan::mac(3), plan::mac(4), |out| {
        write(
            out,
            &Segment::EMPTY,
            from,
            to,
            IpFields::default(),
            Payload::Zeros,
        );
    });
    assert_eq!(frame.len(), ethernet::FRAME_BYTES_MIN);
    let (header, _) = ethernet::parse(&frame).expect("a frame");
    assert_eq!((header.from, header.to), (plan::mac(3), plan::mac(4)));
    let packet = parse(ethernet::ip_packet(&frame).expect("IP")).expect("a packet");
    assert_eq!(packet.segment, Segment::EMPTY);
}

#[test]
fn what_is_no_tcp_is_said_to_be_none() {
    let mut bytes = bytes_of(&Segment::EMPTY, true, Payload::Zeros);
    bytes[6] = 58;
    assert_eq!(parse(&bytes), Err(ParseError::NotTcp(58)));
    bytes[0] = 0x50;
    assert_eq!(parse(&bytes), Err(ParseError::Version(5)));
    assert!(matches!(parse(&bytes[..0]), Err(ParseError::Short { .. })));
}
