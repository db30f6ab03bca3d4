//! Whatever the network does, every byte arrives, in order and once, and it ends.

use proptest::prelude::*;
use tailback_units::Duration;

use crate::congestion::CongestionKind;
use crate::segment::{Ecn, Flags, SackBlock, Segment};
use crate::seq::Seq;
use crate::testing::{CLIENT, Fate, Net, SERVER, config, preset, stack, with_receiver_of_today};
use crate::{CwndReduction, Event, FastRecovery, Pacing, Stack};

/// A network that spoils frames by a given pattern, which repeats.
pub(super) fn spoiled(stack: Stack, seed: u64, patterns: [Vec<u8>; 2]) -> Net {
    let mut net = Net::between(config(stack.clone(), seed), config(stack, seed ^ 0xffff));
    for (from, pattern) in patterns.into_iter().enumerate() {
        let mut at = 0;
        net.judge(from, move |frame| {
            at += 1;
            // Nothing is spoiled for ever: past a time in which no end gives an opening up the network is sound.
            if pattern.is_empty() || frame.now.as_secs_f64() > 20.0 {
                return Fate::Pass;
            }
            match pattern[at % pattern.len()] {
                0 | 1 => Fate::Drop,
                2 => Fate::Duplicate,
                3 => Fate::Late(Duration::from_us(700)),
                4 => Fate::Late(Duration::from_us(20_000)),
                5 => Fate::Mark,
                6..=8 => Fate::MarkSce,
                _ => Fate::Pass,
            }
        });
    }
    net
}

/// Stacks of today's sender.
fn modern_variants() -> impl Strategy<Value = Stack> {
    let pacing = prop_oneof![Just(Pacing::None), Just(Pacing::Internal)];
    let kinds = prop_oneof![
        Just(CongestionKind::Reno),
        Just(CongestionKind::Cubic),
        Just(CongestionKind::Dctcp),
        Just(CongestionKind::RenoSce)
    ];
    let coarse = prop_oneof![Just(100), Just(1000)];
    (kinds, pacing, coarse, any::<[bool; 6]>()).prop_map(
        |(kind, pacing, hz, [sack, timestamps, ecn, tso, frto, probes])| Stack {
            hz,
            tcp_congestion_control: kind,
            pacing,
            tcp_sack: sack,
            tcp_timestamps: timestamps,
            tcp_ecn: u8::from(ecn),
            tcp_sce: kind == CongestionKind::RenoSce,
            tso,
            tcp_frto: if frto { 2 } else { 0 },
            tcp_early_retrans: if probes { 3 } else { 0 },
            ..preset("linux-7.2")
        },
    )
}

fn variants() -> impl Strategy<Value = Stack> {
    prop_oneof![old_variants(), modern_variants()]
}

pub(super) fn old_variants() -> impl Strategy<Value = Stack> {
    let kinds = prop_oneof![
        Just(CongestionKind::Reno),
        Just(CongestionKind::Bic),
        Just(CongestionKind::Dctcp)
    ];
    let flags = any::<[bool; 8]>();
    (kinds, flags).prop_map(
        |(kind, [sack, timestamps, ecn, tso, fack, prr, reno, today])| Stack {
            tcp_congestion_control: kind,
            tcp_sack: sack,
            tcp_timestamps: timestamps,
            tcp_ecn: u8::from(ecn),
            tcp_fack: fack,
            tso,
            cwnd_reduction: if prr {
                CwndReduction::Prr
            } else {
                CwndReduction::RateHalving
            },
            fast_recovery: if reno {
                FastRecovery::Reno
            } else {
                FastRecovery::NewReno
            },
            ..if today {
                with_receiver_of_today(stack())
            } else {
                stack()
            }
        },
    )
}

pub(super) fn any_segment() -> impl Strategy<Value = Segment> {
    let near = -70_000_i64..70_000;
    let number = prop_oneof![near.clone(), near, any::<i32>().prop_map(i64::from)];
    let blocks = proptest::collection::vec((number.clone(), number.clone()), 0..=3);
    (
        (
            number.clone(),
            number,
            any::<u16>(),
            0_u16..0x200,
            any::<u16>(),
        ),
        (blocks, 0_u8..4, any::<bool>(), -400_i64..400, -400_i64..400),
    )
        .prop_map(
            |((seq, ack, payload, flags, window), (blocks, ecn, stamped, val, ecr))| {
                let mut segment = Segment::EMPTY;
                segment.seq = Seq(seq as u32);
                segment.ack = Seq(ack as u32);
                segment.payload_bytes = if payload % 3 == 0 { 0 } else { payload };
                // Mostly acknowledgements; resets and SYNs, which end it all, seldom.
                let rare = if payload % 16 == 0 { 0 } else { 0x06 };
                segment.flags = Flags(flags & !rare).with(Flags::ACK);
                segment.window = window;
                segment.ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][usize::from(ecn)];
                segment.has_timestamps = stamped;
                segment.ts_val = val as u32;
                segment.ts_ecr = ecr as u32;
                for (start, end) in blocks {
                    segment.push_sack(SackBlock {
                        start: Seq(start as u32),
                        end: Seq(end as u32),
                    });
                }
                segment
            },
        )
}

/// A made-up segment whose numbers are relative to what an end expects.
pub(super) fn near(expected: &Segment, made_up: &Segment) -> Segment {
    let mut segment = Segment::EMPTY;
    segment.seq = expected.seq + made_up.seq.0;
    segment.ack = expected.ack + made_up.ack.0;
    segment.payload_bytes = made_up.payload_bytes;
    segment.flags = made_up.flags;
    segment.window = made_up.window;
    segment.ecn = made_up.ecn;
    segment.has_timestamps = made_up.has_timestamps;
    segment.ts_val = expected.ts_val.wrapping_add(made_up.ts_val);
    segment.ts_ecr = made_up.ts_ecr;
    for block in made_up.sack_blocks().iter() {
        segment.push_sack(SackBlock {
            start: expected.ack + block.start.0,
            end: expected.ack + block.end.0,
        });
    }
    segment
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_whatever_is_lost_doubled_or_overtaken(
        stack in variants(),
        seed in any::<u64>(),
        forth in proptest::collection::vec(0_u8..40, 0..60),
        back in proptest::collection::vec(0_u8..40, 0..60),
        writes in proptest::collection::vec((0_usize..2, 1_u64..200_000, 0_u64..400), 1..12),
    ) {
        let mut net = spoiled(stack, seed, [forth, back]);
        net.connect();
        prop_assert!(net.run_until(Duration::from_secs(300), |n| n.happened(SERVER, Event::Connected)
            && n.happened(CLIENT, Event::Connected)));
        let mut written = [0; 2];
        for (end, bytes, pause_ms) in writes {
            net.write(end, bytes);
            written[end] += bytes;
            net.run_for(Duration::from_ms(pause_ms));
        }
        let done = |n: &Net| n.delivered == [written[1], written[0]];
        prop_assert!(net.run_until(Duration::from_secs(3000), done), "{:?} of {written:?}", net.delivered);
        net.close(CLIENT);
        net.close(SERVER);
        let closed = |n: &Net| n.happened(CLIENT, Event::Closed) && n.happened(SERVER, Event::Closed);
        prop_assert!(net.run_until(Duration::from_secs(3000), closed));
        prop_assert!(net.run_out(Duration::from_secs(3000)), "something goes on for ever");
        prop_assert_eq!(net.delivered, [written[1], written[0]]);
    }

    #[test]
    fn what_header_prediction_takes_in_ends_as_it_would_without(
        stack in variants(),
        seed in any::<u64>(),
        forth in proptest::collection::vec(0_u8..90, 0..60),
        back in proptest::collection::vec(0_u8..90, 0..60),
        writes in proptest::collection::vec((0_usize..2, 1_u64..90_000, 0_u64..60), 1..6),
    ) {
        let mut net = spoiled(stack, seed, [forth, back]);
        net.predicted = Some(0);
        net.connect();
        prop_assert!(net.run_until(Duration::from_secs(300), |n| n.happened(SERVER, Event::Connected)
            && n.happened(CLIENT, Event::Connected)));
        for (end, bytes, pause_ms) in writes {
            net.write(end, bytes);
            net.run_for(Duration::from_ms(pause_ms));
        }
        net.run_for(Duration::from_secs(2));
    }

    #[test]
    fn a_slow_reader_gets_every_byte_too(
        stack in variants(),
        seed in any::<u64>(),
        forth in proptest::collection::vec(0_u8..60, 0..40),
        reads in proptest::collection::vec((1_u64..60_000, 0_u64..300), 1..20),
    ) {
        let mut net = spoiled(stack, seed, [forth, Vec::new()]);
        net.reads[SERVER] = false;
        net.connect();
        prop_assert!(net.run_until(Duration::from_secs(300), |n| n.happened(SERVER, Event::Connected)));
        net.write(CLIENT, 600_000);
        for (most, pause_ms) in reads {
            net.run_for(Duration::from_ms(pause_ms));
            net.read(SERVER, most);
        }
        net.reads[SERVER] = true;
        net.read(SERVER, u64::MAX);
        prop_assert!(net.run_until(Duration::from_secs(3000), |n| n.delivered[SERVER] == 600_000));
    }

    #[test]
    fn no_segment_whatever_breaks_the_books(
        stack in variants(),
        segments in proptest::collection::vec((any_segment(), 0_usize..2, 0_u64..300), 1..40),
    ) {
        let mut net = Net::of(stack);
        net.open();
        net.write(CLIENT, 100_000);
        net.write(SERVER, 30_000);
        for (made_up, end, pause_ms) in segments {
            let segment = near(&net.end(end).plain_segment(), &made_up);
            net.inject(end, &segment);
            net.run_for(Duration::from_ms(pause_ms));
        }
        net.run_for(Duration::from_secs(1));
    }
}

#[test]
fn header_prediction_takes_in_nearly_all_of_a_sound_transfer() {
    for (name, kind, ecn, mark) in [
        ("linux-7.2", CongestionKind::Cubic, 0, Fate::Pass),
        ("linux-7.2", CongestionKind::Cubic, 1, Fate::Mark),
        ("linux-7.2", CongestionKind::Dctcp, 1, Fate::Mark),
        ("linux-7.2", CongestionKind::Bbr, 0, Fate::Pass),
        ("linux-7.2", CongestionKind::Bbr, 1, Fate::Mark),
        ("linux-2.6.18", CongestionKind::Bic, 0, Fate::Pass),
        ("linux-sce", CongestionKind::RenoSce, 1, Fate::MarkSce),
    ] {
        let mut net = Net::of(Stack {
            tcp_congestion_control: kind,
            tcp_ecn: ecn,
            ..preset(name)
        });
        net.judge(CLIENT, move |frame| match frame.data_index % 20 {
            0..5 => mark,
            _ => Fate::Pass,
        });
        net.open();
        net.predicted = Some(0);
        net.write(CLIENT, 3_000_000);
        assert!(
            net.run_until(Duration::from_secs(90), |n| n.delivered[SERVER]
                == 3_000_000)
        );
        let segments: u64 = [CLIENT, SERVER]
            .map(|end| net.end(end).stats().segments_received)
            .iter()
            .sum();
        let predicted = net.predicted.unwrap_or(0) as u64;
        assert!(
            predicted * 10 > segments * 9,
            "{kind:?}, {mark:?}: {predicted} of {segments}"
        );
    }
}
