//! Accurate ECN (RFC 9768): what the handshake says, and what the count does; without the option, which `ecn_option` tests.

use tailback_units::Duration;

use crate::congestion::CongestionKind;
use crate::connection::accurate_ecn::{EcnMode, flags_of};
use crate::segment::{Ecn, Segment};
use crate::testing::{CLIENT, Fate, Net, SERVER, arrival, config, preset};
use crate::{CaState, Event, Flags, Stack};

const MS: Duration = Duration::from_ms(1);
const MSS: u64 = 1448;

fn today(tcp_ecn: u8) -> Stack {
    Stack {
        tcp_ecn,
        tcp_ecn_option: 0,
        gso_max_segs: 1,
        ..preset("linux-7.2")
    }
}

fn between(client: Stack, server: Stack) -> Net {
    Net::between(config(client, 1), config(server, 2))
}

/// AE, CWR and ECE as a number.
fn field(segment: &Segment) -> u32 {
    let bit = |flag| u32::from(segment.flags.contains(flag));
    bit(Flags::NS) * 4 + bit(Flags::CWR) * 2 + bit(Flags::ECE)
}

/// An open connection with accurate ECN whose window has grown.
fn warm(stack: &Stack) -> Net {
    let mut net = between(stack.clone(), stack.clone());
    net.open();
    net.write(CLIENT, 400 * MSS);
    net.run_for(MS * 200);
    assert_eq!(net.delivered[SERVER], 400 * MSS);
    assert_eq!(net.end(CLIENT).ecn, EcnMode::Accurate);
    net.trace.clear();
    net
}

#[test]
fn the_handshake_agrees_on_the_most_that_both_have() {
    use EcnMode::{Accurate, Classic, Off};
    for (client, server, mode, fields) in [
        (3, 3, Accurate, [7, 2, 2]),
        (3, 4, Accurate, [7, 2, 2]),
        (3, 5, Accurate, [7, 2, 2]),
        (3, 2, Classic, [7, 1, 0]),
        (3, 1, Classic, [7, 1, 0]),
        (3, 0, Off, [7, 0, 0]),
        (4, 3, Classic, [3, 1, 0]),
        (1, 5, Classic, [3, 1, 0]),
        (5, 3, Off, [0, 0, 0]),
        (2, 3, Off, [0, 0, 0]),
    ] {
        let mut net = between(today(client), today(server));
        net.connect();
        net.run_for(MS * 2);
        let case = (client, server);
        assert_eq!(
            [CLIENT, SERVER].map(|end| net.end(end).ecn),
            [mode; 2],
            "{case:?}"
        );
        // No card is offered packets of accurate ECN.
        let cuts = [CLIENT, SERVER].map(|end| net.end(end).cuts_packets());
        assert_eq!(cuts, [mode == Accurate; 2], "{case:?}");
        let seen: Vec<u32> = net.trace.iter().map(|s| field(&s.segment)).collect();
        assert_eq!(seen, fields, "{case:?}");
    }
}

#[test]
fn a_sender_of_old_has_no_accurate_ecn() {
    let old = |tcp_ecn| Stack {
        tcp_ecn,
        ..preset("linux-2.6.18")
    };
    for (asked, mode) in [
        (3, EcnMode::Classic),
        (4, EcnMode::Classic),
        (5, EcnMode::Off),
    ] {
        let mut net = between(old(asked), today(3));
        net.open();
        assert_eq!(net.end(CLIENT).ecn, mode, "{asked}");
    }
}

#[test]
fn all_packets_can_be_marked_and_headers_count_from_five() {
    let mut net = warm(&today(3));
    net.write(CLIENT, 10 * MSS);
    net.run_for(MS * 50);
    assert!(net.data(CLIENT).count() == 10 && net.acks(SERVER).count() >= 5);
    assert!(net.trace.iter().all(|s| s.segment.ecn == Ecn::Ect0));
    assert!(net.trace.iter().all(|s| field(&s.segment) == 5));
}

#[test]
fn each_mark_is_told_of_once_and_answered_once_a_round() {
    let mut net = warm(&today(3));
    net.judge(CLIENT, |f| match f.data_index {
        20 | 21 | 25 => Fate::Mark,
        _ => Fate::Pass,
    });
    net.write(CLIENT, 300 * MSS);
    let before = net.end(CLIENT).probe().cwnd;
    let (mut lowest, mut cuts, mut was) = (u32::MAX, 0, CaState::Open);
    net.watch(800, |n| {
        let probe = n.end(CLIENT).probe();
        if probe.state == CaState::Cwr {
            lowest = lowest.min(probe.ssthresh);
            cuts += u32::from(was != CaState::Cwr);
        }
        was = probe.state;
    });
    net.run_for(MS * 100);
    assert_eq!(net.delivered[SERVER], 700 * MSS);
    assert_eq!(net.end(CLIENT).delivered_ce, 3);
    assert!(lowest < before && cuts == 1, "{lowest} {before} {cuts}");
    // Counts go 5, then one or more further, never back, and end at 8 of 8.
    let told: Vec<u32> = net.acks(SERVER).map(|s| field(&s.segment)).collect();
    assert_eq!((told[0], told.last()), (5, Some(&0)));
    assert!(net.data(CLIENT).all(|s| field(&s.segment) == 5), "no CWR");
    let stats = net.end(CLIENT).stats();
    assert_eq!((stats.retransmissions, stats.timeouts), (0, 0));
}

#[test]
fn a_change_of_marks_is_acknowledged_at_once() {
    let mut net = warm(&today(3));
    let now = net.now;
    let segment = |net: &mut Net, ecn| {
        let mut segment = net.end(SERVER).plain_segment();
        segment.payload_bytes = 100;
        segment.ecn = ecn;
        segment
    };
    let acks = |net: &mut Net, ecn| {
        let before = net.end(SERVER).stats().acks_sent;
        let next = segment(net, ecn);
        net.end(SERVER).handle_segment(now, &next);
        net.end(SERVER).stats().acks_sent - before
    };
    net.end(SERVER).receive.ack.quick = 0;
    assert_eq!(acks(&mut net, Ecn::Ect0), 0, "delayed");
    assert_eq!(acks(&mut net, Ecn::Ce), 1, "the first mark");
    assert_eq!(acks(&mut net, Ecn::Ce), 0, "as the one before");
    assert_eq!(acks(&mut net, Ecn::Ect0), 1, "no mark any more");
}

#[test]
fn who_has_closed_counts_no_more_marks() {
    // tcp_rcv_established counts, tcp_rcv_state_process does not.
    for (closed, counted) in [(false, 1), (true, 0)] {
        let mut net = warm(&today(3));
        if closed {
            net.shut(SERVER);
            net.run_for(MS * 100);
        }
        net.trace.clear();
        net.judge(CLIENT, |_| Fate::Mark);
        net.write(CLIENT, 100);
        net.run_for(MS * 100);
        let told = net.acks(SERVER).last().map(|s| field(&s.segment));
        assert_eq!(told, Some(5 + counted), "{closed}");
    }
}

#[test]
fn every_frame_of_one_that_the_host_joined_counts() {
    let mut net = warm(&today(3));
    let now = net.now;
    let mut joined = net.end(SERVER).plain_segment();
    joined.payload_bytes = (3 * MSS + 1) as u16;
    joined.ecn = Ecn::Ce;
    net.end(SERVER)
        .handle_aggregate(now, &joined, arrival(MSS as u32, 8192));
    net.write(SERVER, 100);
    net.run_for(MS);
    let told = net.sent(SERVER).next().map(|s| field(&s.segment));
    assert_eq!(told, Some((5 + 4) % 8));
}

/// Marks that the client takes an acknowledgement of `segments` for, whose count went on by `field`.
fn heard(segments: u64, field: u32, before: u32) -> u32 {
    let mut net = warm(&today(3));
    net.judge(SERVER, |_| Fate::Drop);
    // As if so many segments were acknowledged at a time.
    if let Some(books) = &mut net.end(CLIENT).accurate {
        books.set_average(before);
    }
    net.write(CLIENT, segments * MSS);
    net.run_for(MS * 5);
    assert!(net.end(CLIENT).packets_out >= segments as u32);
    let mut ack = net.end(CLIENT).plain_segment();
    ack.ack = net.end(CLIENT).snd_una + (segments * MSS) as u32;
    ack.flags = Flags::ACK.with(super::super::accurate_ecn::flags_of(5 + field));
    let now = net.now;
    net.end(CLIENT).handle_segment(now, &ack);
    net.end(CLIENT).delivered_ce
}

#[test]
fn a_count_that_may_have_wrapped_is_taken_for_the_most_it_can_be() {
    // Of two segments two can have been marked, of seven seven; beyond, whole turns of the count that fit.
    assert_eq!(heard(2, 2, 2), 2);
    assert_eq!(heard(7, 3, 2), 3);
    assert_eq!(heard(8, 0, 2), 8);
    assert_eq!(heard(20, 3, 2), 19);
    // Where acknowledgements are thin all the time, as little as it can be.
    assert_eq!(heard(20, 3, 5), 3);
}

#[test]
fn prague_asks_for_it_whatever_the_setting_and_goes_to_the_queue_of_low_latency() {
    let prague = Stack {
        tcp_congestion_control: CongestionKind::Prague,
        ..today(2)
    };
    let mut net = between(prague.clone(), prague.clone());
    net.connect();
    net.run_for(MS * 2);
    net.write(CLIENT, 50 * MSS);
    net.run_for(MS * 200);
    assert_eq!(net.delivered[SERVER], 50 * MSS);
    assert!(net.trace.iter().all(|s| s.segment.ecn == Ecn::Ect1));
    let handshake: Vec<u32> = net.trace[..3].iter().map(|s| field(&s.segment)).collect();
    assert_eq!(handshake, [7, 3, 3], "both SYNs came with ECT(1)");
    assert_eq!(net.end(CLIENT).congestion(), CongestionKind::Prague);
}

#[test]
fn prague_is_reno_where_the_peer_has_no_accurate_ecn() {
    let prague = Stack {
        tcp_congestion_control: CongestionKind::Prague,
        ..today(2)
    };
    let mut net = between(prague, today(2));
    net.open();
    net.write(CLIENT, 50 * MSS);
    net.run_for(MS * 200);
    assert_eq!(net.delivered[SERVER], 50 * MSS);
    assert_eq!(net.end(CLIENT).congestion(), CongestionKind::Reno);
    assert!(net.data(CLIENT).all(|s| s.segment.ecn == Ecn::NotEct));
}

#[test]
fn dctcp_goes_by_the_count() {
    let dctcp = Stack {
        tcp_congestion_control: CongestionKind::Dctcp,
        ..today(3)
    };
    let mut net = warm(&dctcp);
    net.judge(CLIENT, |f| {
        if f.data_index % 3 == 0 {
            Fate::Mark
        } else {
            Fate::Pass
        }
    });
    net.write(CLIENT, 300 * MSS);
    net.run_for(MS * 500);
    assert_eq!(net.delivered[SERVER], 700 * MSS);
    assert_eq!(net.end(CLIENT).delivered_ce, 100);
    assert_eq!(net.end(SERVER).stats().retransmissions, 0);
}

#[test]
fn a_syn_asks_for_accurate_ecn_twice() {
    for (lost, fields, mode) in [
        (1, vec![7, 7], EcnMode::Accurate),
        (2, vec![7, 7, 0], EcnMode::Off),
    ] {
        let mut net = between(today(3), today(3));
        net.lose_first(CLIENT, lost);
        net.connect();
        net.run_for(Duration::from_secs(6));
        let syns = net.sent(CLIENT).map(|s| s.segment);
        let asked: Vec<u32> = syns
            .filter(|s| s.flags.contains(Flags::SYN))
            .map(|s| field(&s))
            .collect();
        assert_eq!(asked, fields);
        let ends = [CLIENT, SERVER].map(|end| net.end(end).ecn);
        assert_eq!(ends, [mode; 2]);
    }
}

/// Servers' answers to a SYN of which none but the first comes: what they say of ECN, in the order in which they leave.
fn answers(server: &Net) -> Vec<u32> {
    server.sent(SERVER).map(|s| field(&s.segment)).collect()
}

#[test]
fn an_answer_that_a_second_timeout_brings_says_nothing_of_ecn() {
    use EcnMode::{Accurate, Classic, Off};
    for (tcp_ecn, lost, fields, modes, data) in [
        (3, 1, vec![2, 2], [Accurate, Accurate], Ecn::Ect0),
        (3, 2, vec![2, 2, 0], [Off, Accurate], Ecn::NotEct),
        (1, 1, vec![1, 1], [Classic, Classic], Ecn::Ect0),
        // This end knows no better, and nobody echoes its marks.
        (1, 2, vec![1, 1, 0], [Off, Classic], Ecn::Ect0),
    ] {
        let mut net = between(today(tcp_ecn), today(tcp_ecn));
        let start = net.now;
        net.judge(CLIENT, move |f| {
            let again = f.segment.flags.contains(Flags::SYN) && f.now > start;
            if again { Fate::Drop } else { Fate::Pass }
        });
        net.lose_first(SERVER, lost);
        net.connect();
        net.run_for(Duration::from_secs(6));
        let case = (tcp_ecn, lost);
        assert_eq!(answers(&net), fields, "{case:?}");
        assert_eq!(
            [CLIENT, SERVER].map(|end| net.end(end).ecn),
            modes,
            "{case:?}"
        );
        net.write(SERVER, 100);
        assert_eq!(
            net.data(SERVER).next().unwrap().segment.ecn,
            data,
            "{case:?}"
        );
    }
    let mut old = Net::of(Stack {
        tcp_ecn: 1,
        ..preset("linux-2.6.18")
    });
    old.judge(CLIENT, |f| {
        let first = f.now == Net::of(preset("linux-2.6.18")).now;
        if first { Fate::Pass } else { Fate::Drop }
    });
    old.judge(SERVER, |_| Fate::Drop);
    old.connect();
    old.run_for(Duration::from_secs(12));
    assert_eq!(answers(&old), [1, 1, 1], "that kernel knows no such rule");
}

#[test]
fn a_syn_that_comes_again_is_answered_as_before_until_a_timeout() {
    // The SYN comes again before a timeout and after one, asking for accurate ECN or no more.
    for (asks, again, data) in [
        (true, vec![300], Ecn::Ect0),
        (true, vec![300, 1600], Ecn::NotEct),
        (false, vec![300], Ecn::NotEct),
    ] {
        let mut net = between(today(3), today(3));
        net.judge(SERVER, |_| Fate::Drop);
        net.connect();
        let mut syn = net.trace[0].segment;
        net.run_for(MS);
        net.judge(CLIENT, |_| Fate::Drop);
        if !asks {
            syn.flags = Flags::SYN;
        }
        let mut at = 1;
        for after in &again {
            net.run_for(MS * (after - at));
            at = *after;
            if at > 1000 {
                net.judge(SERVER, |_| Fate::Pass);
            }
            net.inject(SERVER, &syn);
        }
        if again.len() > 1 {
            assert_eq!(answers(&net), [2, 2, 2, 0]);
        } else {
            assert_eq!(answers(&net), [2, 2]);
        }
        let mut ack = crate::Segment::EMPTY;
        ack.flags = flags_of(2).with(Flags::ACK);
        ack.seq = syn.seq + 1;
        ack.ack = net.end(SERVER).snd_nxt;
        ack.window = 1000;
        ack.has_timestamps = true;
        ack.ts_val = syn.ts_val;
        ack.ts_ecr = net.trace[1].segment.ts_val;
        net.inject(SERVER, &ack);
        assert!(net.happened(SERVER, Event::Connected));
        assert_eq!(net.end(SERVER).ecn, EcnMode::Accurate);
        net.write(SERVER, 100);
        assert_eq!(
            net.data(SERVER).next().unwrap().segment.ecn,
            data,
            "{asks} {again:?}"
        );
    }
}
