//! The option of accurate ECN (RFC 9768 section 3.2.3): when it is sent, what it tells, and what it decides.

use tailback_units::Duration;

use crate::connection::accurate_ecn::{Fails, flags_of};
use crate::connection::ecn_option::Seen;
use crate::segment::{Ecn, EcnCounters, Segment};
use crate::testing::{CLIENT, Fate, Net, SERVER, config, preset};
use crate::{Flags, Stack};

const MS: Duration = Duration::from_ms(1);
/// With timestamps and three counters.
const MSS: u64 = 1436;

fn today() -> Stack {
    Stack {
        tcp_ecn: 3,
        gso_max_segs: 1,
        ..preset("linux-7.2")
    }
}

fn between(client: Stack, server: Stack) -> Net {
    Net::between(config(client, 1), config(server, 2))
}

/// An open connection whose window has grown.
fn warm(stack: &Stack) -> Net {
    let mut net = between(stack.clone(), stack.clone());
    net.open();
    net.write(CLIENT, 400 * MSS);
    net.run_for(MS * 200);
    assert_eq!(net.delivered[SERVER], 400 * MSS);
    net.trace.clear();
    net
}

fn told(segment: &Segment) -> Option<Vec<u32>> {
    segment.ecn_counters().map(|told| told.to_vec())
}

/// Of what an end has sent, how many packets have the option, and how many there are.
fn share(net: &Net, end: usize) -> (usize, usize) {
    let with = net.sent(end).filter(|s| s.segment.has_ecn_counters());
    (with.count(), net.sent(end).count())
}

#[test]
fn tcp_ecn_option_is_on_every_packet_once_the_peer_has_shown_it() {
    let mut net = between(today(), today());
    net.connect();
    net.run_for(MS * 2);
    let handshake: Vec<_> = net.trace.iter().map(|s| told(&s.segment)).collect();
    let none_yet = Some(vec![1, 0, 1]);
    assert_eq!(handshake, [None, none_yet.clone(), none_yet]);
    net.trace.clear();
    net.write(CLIENT, 10 * MSS);
    net.run_for(MS * 50);
    let sizes: Vec<u64> = net
        .data(CLIENT)
        .map(|s| s.segment.payload_bytes.into())
        .collect();
    assert_eq!(sizes, [MSS; 10]);
    assert!(net.data(CLIENT).all(|s| s.segment.header_bytes() == 44));
    assert!(net.trace.iter().all(|s| s.segment.has_ecn_counters()));
    let last = net.acks(SERVER).last().and_then(|s| told(&s.segment));
    assert_eq!(last, Some(vec![1, 0, 1 + 10 * MSS as u32]));
    // To a peer that never sent one it is not sent, and one that is not to send any takes what it gets.
    for (client, server) in [(0, 2), (2, 0), (0, 0)] {
        let of = |tcp_ecn_option| Stack {
            tcp_ecn_option,
            ..today()
        };
        let mut net = between(of(client), of(server));
        net.open();
        net.trace.clear();
        net.write(CLIENT, 10 * MSS);
        net.run_for(MS * 50);
        assert_eq!((share(&net, CLIENT).0, share(&net, SERVER).0), (0, 0));
    }
}

#[test]
fn tcp_ecn_option_beacon_is_how_often_in_a_round_trip_an_unchanged_counter_is_told() {
    let sparing = |tcp_ecn_option_beacon| Stack {
        tcp_ecn_option: 1,
        tcp_ecn_option_beacon,
        ..today()
    };
    let told_of = |beacon| {
        let mut net = warm(&sparing(beacon));
        net.write(CLIENT, 1000 * MSS);
        net.run_for(MS * 500);
        assert!(net.delivered[SERVER] == 1400 * MSS);
        share(&net, SERVER).0
    };
    let [never, once, thrice] = [0, 1, 3].map(told_of);
    assert_eq!(never, 0);
    assert!(once > 0 && thrice > once * 3 / 2, "{once} {thrice}");
    // What changes is told at once, and once more.
    let mut net = warm(&sparing(0));
    net.judge(CLIENT, |f| match f.data_index {
        20 => Fate::Mark,
        _ => Fate::Pass,
    });
    net.write(CLIENT, 100 * MSS);
    net.run_for(MS * 50);
    let with: Vec<_> = net.acks(SERVER).filter_map(|s| told(&s.segment)).collect();
    // The mark, what follows it, and one more.
    assert_eq!(with.len(), 3, "{with:?}");
    let marked = net
        .data(CLIENT)
        .nth(20)
        .map_or(0, |s| s.segment.payload_bytes);
    assert!(with.iter().all(|counters| counters[1] == u32::from(marked)));
}

#[test]
fn what_fits_beside_sack_blocks_is_told_and_what_has_changed_may_take_the_place_of_one() {
    // Blocks that an end tells of, the code points of what came last, and what its acknowledgement then has:
    // counters, and blocks (the kernel's scripts tcp_accecn_sack_space_grab and …_with_ts).
    for (stamps, blocks, last, expected) in [
        (true, 1, Ecn::Ect1, (Some(3), 1)),
        (true, 2, Ecn::Ect1, (Some(2), 2)),
        (true, 2, Ecn::Ect0, (None, 2)),
        (true, 3, Ecn::Ect1, (Some(2), 2)),
        (true, 3, Ecn::Ect0, (None, 3)),
        (false, 3, Ecn::Ect0, (Some(3), 3)),
        (false, 4, Ecn::Ect1, (Some(1), 4)),
        (false, 4, Ecn::Ce, (Some(3), 3)),
    ] {
        let stack = Stack {
            tcp_timestamps: stamps,
            tcp_comp_sack_nr: 0,
            ..today()
        };
        let mut net = between(stack.clone(), stack);
        net.open();
        let mut segment = net.end(SERVER).plain_segment();
        let next = segment.seq;
        segment.flags = Flags::ACK.with(flags_of(5));
        segment.payload_bytes = 1000;
        let now = net.now;
        for block in 0..blocks {
            segment.seq = next + (block + 1) * 2000;
            segment.ecn = if block + 1 == blocks { last } else { Ecn::Ect1 };
            net.end(SERVER).handle_segment(now, &segment);
        }
        let ack = net.end(SERVER).poll_transmit(now);
        let mut ack = ack.expect("it is acknowledged").segment;
        while let Some(later) = net.end(SERVER).poll_transmit(now) {
            ack = later.segment;
        }
        let fields = ack.ecn_counters().map(|told| told.len());
        assert_eq!(
            (fields, ack.sack_blocks().len()),
            expected,
            "{stamps} {blocks} {last:?}"
        );
        assert!(ack.header_bytes() <= 60);
    }
}

/// Marks that the client takes an acknowledgement of twenty segments for, whose count went on by `field` and whose option
/// says that so many bytes came with CE, or that has none.
fn heard(field: u32, marked_bytes: Option<u32>) -> u32 {
    let mut net = warm(&today());
    net.judge(SERVER, |_| Fate::Drop);
    net.write(CLIENT, 20 * MSS);
    net.run_for(MS * 5);
    let mut ack = net.end(CLIENT).plain_segment();
    ack.ack += 20 * MSS as u32;
    ack.flags = Flags::ACK.with(flags_of(5 + field));
    if let Some(bytes) = marked_bytes {
        let unmarked = 1 + 420 * MSS as u32 - bytes;
        ack.set_ecn_counters(EcnCounters::new(false, &[1, bytes, unmarked]));
    }
    let now = net.now;
    net.end(CLIENT).handle_segment(now, &ack);
    net.end(CLIENT).delivered_ce
}

#[test]
fn the_bytes_say_whether_a_count_has_wrapped() {
    let mss = MSS as u32;
    // Nothing marked, or nothing said of it where nothing was marked before: three are three.
    assert_eq!(heard(3, Some(0)), 3);
    assert_eq!(heard(3, None), 3);
    // Eleven and nineteen segments' bytes were.
    assert_eq!(heard(3, Some(11 * mss)), 11);
    assert_eq!(heard(3, Some(19 * mss)), 19);
    assert_eq!(heard(4, Some(20 * mss)), 20);
}

#[test]
fn an_option_that_seems_to_be_what_loses_packets_is_sent_no_more() {
    for (tcp_ecn_option, goes_on) in [(2, false), (3, true)] {
        let mut net = warm(&Stack {
            tcp_ecn_option,
            ..today()
        });
        // The same data comes three times: the acknowledgements that told of the second was lost as well.
        let mut segment = net.end(SERVER).plain_segment();
        segment.seq = segment.seq - 1000;
        segment.payload_bytes = 1000;
        segment.ecn = Ecn::Ect0;
        segment.flags = Flags::ACK.with(flags_of(5));
        let now = net.now;
        let mut has = Vec::new();
        for _ in 0..3 {
            net.end(SERVER).handle_segment(now, &segment);
            let ack = net
                .end(SERVER)
                .poll_transmit(now)
                .expect("it is acknowledged");
            has.push(ack.segment.has_ecn_counters());
        }
        assert_eq!(has, [true, goes_on, goes_on]);
        let fails = net.end(SERVER).accurate.as_ref().map(|books| books.fails);
        assert_eq!(fails, Some(Fails::OPTION_SENT));
    }
}

#[test]
fn a_peers_first_option_shows_whether_it_is_to_be_gone_by() {
    for (ect0_first, counters, seen) in [
        (false, vec![], Seen::Empty),
        (false, vec![1, 0, 1], Seen::Counters),
        (true, vec![1, 0], Seen::Counters),
        (false, vec![0, 0, 1], Seen::Failed),
        (true, vec![1, 0, 0], Seen::Failed),
    ] {
        let told = EcnCounters::new(ect0_first, &counters);
        assert_eq!(Seen::first(&told), seen, "{told:?}");
    }
    // One whose answer's counters were cleared is not gone by, and gets the option all the same.
    let mut net = between(today(), today());
    net.connect();
    let mut answer = Segment::EMPTY;
    net.judge(SERVER, |_| Fate::Drop);
    net.run_for(MS * 2);
    for sent in net.sent(SERVER) {
        answer = sent.segment;
    }
    answer.set_ecn_counters(EcnCounters::new(false, &[0, 0, 0]));
    let now = net.now;
    net.end(CLIENT).handle_segment(now, &answer);
    let books = net.end(CLIENT).accurate.clone().expect("it is agreed on");
    assert_eq!(
        (books.option.seen, books.fails),
        (Seen::Failed, Fails::OPTION_RECEIVED)
    );
    let ack = net
        .end(CLIENT)
        .poll_transmit(now)
        .expect("it is acknowledged");
    assert_eq!(told(&ack.segment), Some(vec![1, 0, 1]));
}

#[test]
fn a_reflection_of_what_cannot_have_been_is_not_believed() {
    // The answer left without ECT and is told to have come with CE: packets are not marked any more.
    for (tcp_ecn_fallback, ecn) in [(true, Ecn::NotEct), (false, Ecn::Ect0)] {
        let stack = Stack {
            tcp_ecn_fallback,
            ..today()
        };
        let mut net = between(stack.clone(), stack);
        net.connect();
        net.judge(CLIENT, |f| {
            if f.segment.flags.intersects(Flags::SYN) {
                Fate::Pass
            } else {
                Fate::Drop
            }
        });
        net.run_for(MS * 2);
        let mut ack = net.end(SERVER).plain_segment();
        ack.ack += 1;
        ack.flags = Flags::ACK.with(flags_of(0b110));
        let now = net.now;
        net.end(SERVER).handle_segment(now, &ack);
        net.write(SERVER, 100);
        net.run_for(MS);
        let sent = net.data(SERVER).next().map(|s| s.segment.ecn);
        assert_eq!(sent, Some(ecn));
    }
}

#[test]
fn ends_that_open_at_once_show_each_other_the_option() {
    let mut net = between(today(), today());
    net.connect();
    net.connect_back();
    net.run_for(MS * 50);
    let answers = net.trace.iter().filter(|s| {
        let both = Flags::SYN.with(Flags::ACK);
        s.segment.flags.contains(both)
    });
    let told: Vec<_> = answers.map(|s| told(&s.segment)).collect();
    assert_eq!(told, [Some(vec![1, 0, 1]), Some(vec![1, 0, 1])]);
    for end in [CLIENT, SERVER] {
        let books = net
            .end(end)
            .accurate
            .as_ref()
            .map(|books| books.option.seen);
        assert_eq!(books, Some(Seen::Counters));
        net.write(end, 3000);
    }
    net.run_for(MS * 50);
    assert_eq!(net.delivered, [3000, 3000]);
    assert!(
        net.data(CLIENT)
            .chain(net.data(SERVER))
            .all(|s| s.segment.has_ecn_counters())
    );
}
