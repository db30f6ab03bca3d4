//! The receiver of today: windows, buffer, held-back acknowledgements, ECN's echo.

use tailback_units::{Bytes, Duration};

use crate::congestion::CongestionKind;
use crate::connection::accurate_ecn::EcnMode;
use crate::segment::{Ecn, SackBlock, Segment};
use crate::testing::{CLIENT, Fate, Net, SERVER, arrival, preset, stack, with_receiver_of_today};
use crate::{Flags, SocketOption, Stack};

const MS: Duration = Duration::from_ms(1);
const MSS: u32 = 1448;

pub(super) fn today() -> Stack {
    with_receiver_of_today(stack())
}

pub(super) fn opened() -> Net {
    let mut net = Net::of(today());
    net.open();
    net
}

/// A receiver whose window does not grow, since growth acknowledges quickly.
fn steady(stack: Stack) -> Net {
    let rmem = [Bytes::new(4096), Bytes::new(100_000), Bytes::new(100_000)];
    let mut net = Net::of(Stack {
        tcp_rmem: rmem,
        ..stack
    });
    net.open();
    net.write(CLIENT, 300 * u64::from(MSS));
    net.run_for(MS * 150);
    net.end(SERVER).receive.ack.quick = 0;
    net.trace.clear();
    net
}

/// Acknowledgements of a hole that are sent at once: the first frame finds the room that the last in order took and grows
/// the window by it, for which it is acknowledged (tcp_grow_window, before skb_set_owner_r); then three.
const AT_ONCE: usize = 1 + 3;

/// A segment of the client's, `ahead` bytes after what the server expects.
pub(super) fn ahead(net: &mut Net, ahead: u32) -> Segment {
    let mut segment = net.end(SERVER).plain_segment();
    segment.seq += ahead;
    segment.payload_bytes = MSS as u16;
    segment
}

#[test]
fn a_syn_offers_half_of_the_buffer_in_whole_segments() {
    // tcp_select_initial_window: 131072 / 2, of which 16 bits can tell.
    let mut net = Net::of(today());
    net.connect();
    net.run_for(MS * 2);
    let syns: Vec<(u16, Option<u8>)> = net
        .trace
        .iter()
        .filter_map(|s| Some((s.segment.window, s.segment.syn_options()?.window_scale)))
        .collect();
    assert_eq!(syns, [(64_240, Some(10)), (65_160, Some(10))]);
}

#[test]
fn the_window_is_what_part_of_frames_is_payload() {
    let mut net = opened();
    net.write(CLIENT, u64::from(MSS));
    net.run_for(MS);
    let receive = &net.end(SERVER).receive;
    // 1448 of the 1900 bytes that a frame is charged with: 195 / 256.
    assert_eq!(receive.window_of(1 << 20), 195 << 12);
    assert_eq!(receive.window_clamp(), 131_072 * 195 / 256);
}

#[test]
fn the_fourth_acknowledgement_of_a_hole_waits_for_more() {
    let mut net = steady(today());
    for n in 1..=10 {
        let segment = ahead(&mut net, n * MSS);
        net.inject(SERVER, &segment);
    }
    assert_eq!(net.acks(SERVER).count(), AT_ONCE);
    let held = net.now;
    net.run_for(MS * 5);
    assert_eq!(
        net.acks(SERVER).count(),
        AT_ONCE + 1,
        "then one for the rest"
    );
    let last = net.acks(SERVER).last().unwrap();
    assert_eq!(
        last.segment.sack_blocks()[0].end,
        last.segment.ack + 11 * MSS
    );
    // A third of the 0.2 ms of a round trip and the slack, or a little more as it was measured.
    let waited = last.at.since(held);
    assert!(
        waited > Duration::from_us(60) && waited <= Duration::from_us(1010),
        "{waited}"
    );
}

#[test]
fn forty_four_are_not_held_back() {
    let mut net = steady(Stack {
        tcp_comp_sack_delay_ns: 100_000_000,
        tcp_comp_sack_rtt_percent: 1000,
        ..today()
    });
    let before = net.now;
    for n in 1..=AT_ONCE as u32 + 44 {
        let segment = ahead(&mut net, n * 700);
        net.inject(SERVER, &segment);
    }
    assert_eq!(net.acks(SERVER).count(), AT_ONCE);
    let segment = ahead(&mut net, 50 * 700);
    net.inject(SERVER, &segment);
    assert_eq!((net.acks(SERVER).count(), net.now), (AT_ONCE + 1, before));
}

#[test]
fn a_filled_hole_is_told_at_once() {
    // RFC 5681 section 4.2.
    let mut net = opened();
    net.write(CLIENT, u64::from(MSS));
    net.run_for(MS * 100);
    net.end(SERVER).receive.ack.quick = 0;
    net.trace.clear();
    let segment = ahead(&mut net, MSS);
    net.inject(SERVER, &segment);
    let segment = ahead(&mut net, 0);
    net.inject(SERVER, &segment);
    let last = net.acks(SERVER).last().unwrap();
    assert_eq!(last.at, net.now);
    assert_eq!(last.segment.ack, segment.seq + 2 * MSS);
    assert!(!last.segment.has_sack());
}

#[test]
fn four_blocks_are_told_without_timestamps() {
    let mut net = Net::of(Stack {
        tcp_timestamps: false,
        tcp_comp_sack_nr: 0,
        ..today()
    });
    net.open();
    for n in [2, 4, 6, 8, 10] {
        let segment = ahead(&mut net, n * MSS);
        net.inject(SERVER, &segment);
    }
    let last = net.acks(SERVER).last().unwrap().segment;
    let starts: Vec<u32> = last
        .sack_blocks()
        .iter()
        .map(|b| (b.start - last.ack) / MSS)
        .collect();
    assert_eq!(starts, [10, 8, 6, 4]);
}

#[test]
fn a_full_buffer_is_told_before_it_overflows_and_its_end_at_once() {
    let rmem = [Bytes::new(4096), Bytes::new(60_000), Bytes::new(60_000)];
    let mut net = Net::of(Stack {
        tcp_rmem: rmem,
        tcp_moderate_rcvbuf: false,
        ..today()
    });
    net.reads[SERVER] = false;
    net.open();
    net.write(CLIENT, 200_000);
    net.run_for(MS * 300);
    assert_eq!(net.end(CLIENT).snd_wnd, 0);
    assert_eq!(net.end(SERVER).shortage().ofo_pruned, 0);
    net.trace.clear();
    net.read(SERVER, u64::MAX);
    assert!(
        net.acks(SERVER)
            .next()
            .is_some_and(|a| a.at == net.now && a.segment.window > 0)
    );
    net.reads[SERVER] = true;
    assert!(net.run_until(Duration::from_secs(20), |n| n.delivered[SERVER] == 200_000));
}

#[test]
fn what_is_furthest_out_of_order_is_thrown_away_first() {
    let mut net = opened();
    let receive = &mut net.end(SERVER).receive;
    receive.lock_buffer(20_000);
    for n in 2..13 {
        let segment = ahead(&mut net, n * MSS);
        net.inject(SERVER, &segment);
    }
    let kept = net.end(SERVER).receive.reassembly.memory();
    let segment = ahead(&mut net, MSS);
    net.inject(SERVER, &segment);
    let receive = &net.end(SERVER).receive;
    assert!(receive.reassembly.memory() < kept, "{kept}");
    assert!(net.end(SERVER).shortage().ofo_pruned > 0);
    // What came last is nearest to what is expected, and is kept.
    let end = net.end(SERVER).receive.reassembly.last_end().unwrap();
    assert!(end.after(segment.end_seq()));
}

#[test]
fn without_room_for_what_is_in_order_the_window_is_zero() {
    let mut net = opened();
    net.reads[SERVER] = false;
    net.end(SERVER).receive.lock_buffer(5000);
    for _ in 0..5 {
        let segment = ahead(&mut net, 0);
        net.inject(SERVER, &segment);
    }
    let last = net.acks(SERVER).last().unwrap().segment;
    assert_eq!(last.window, 0, "ICSK_ACK_NOMEM");
    assert_eq!(net.end(SERVER).readable(), 3 * u64::from(MSS));
}

#[test]
fn the_first_mark_is_told_at_once_and_a_reduced_window_too() {
    let mut net = Net::of(Stack {
        tcp_ecn: 1,
        ..today()
    });
    net.open();
    net.write(CLIENT, 60 * u64::from(MSS));
    net.run_for(MS * 100);
    net.end(SERVER).receive.ack.quick = 0;
    net.trace.clear();
    let mut marked = ahead(&mut net, 0);
    marked.ecn = Ecn::Ce;
    net.inject(SERVER, &marked);
    let told = net.acks(SERVER).last().unwrap();
    assert_eq!(told.at, net.now);
    assert!(told.segment.flags.contains(Flags::ECE));
    net.end(SERVER).receive.ack.quick = 0;
    let mut reduced = ahead(&mut net, 0);
    reduced.ecn = Ecn::Ect0;
    reduced.flags = reduced.flags.with(Flags::CWR);
    net.inject(SERVER, &reduced);
    let told = net.acks(SERVER).last().unwrap();
    assert_eq!(told.at, net.now);
    assert!(!told.segment.flags.contains(Flags::ECE));
}

#[test]
fn segments_that_the_host_has_joined_are_counted_one_by_one() {
    let mut net = opened();
    let before = *net.end(SERVER).stats();
    let mut joined = ahead(&mut net, 0);
    joined.payload_bytes = (2 * MSS + 100) as u16;
    let now = net.now;
    net.end(SERVER)
        .handle_aggregate(now, &joined, arrival(MSS, 8192));
    let info = net.end(SERVER).tcp_info(now);
    let counted = [before.segments_received, before.data_segments_received].map(|n| n as u32 + 3);
    assert_eq!([info.segs_in, info.data_segs_in], counted);
    // One that was not joined has no segment size.
    let alone = ahead(&mut net, 0);
    net.end(SERVER)
        .handle_aggregate(now, &alone, arrival(0, 2048));
    let info = net.end(SERVER).tcp_info(now);
    assert_eq!([info.segs_in, info.data_segs_in], counted.map(|n| n + 1));
}

#[test]
fn a_second_syn_asks_for_no_ecn() {
    // RFC 3168 section 6.1.1.1.
    let mut net = Net::of(Stack {
        tcp_ecn: 1,
        tcp_ecn_fallback: true,
        ..today()
    });
    net.lose_first(CLIENT, 1);
    net.connect();
    net.run_for(Duration::from_secs(4));
    let asks: Vec<bool> = net
        .sent(CLIENT)
        .filter(|s| s.segment.flags.contains(Flags::SYN))
        .map(|s| s.segment.flags.contains(Flags::ECE.with(Flags::CWR)))
        .collect();
    assert_eq!(asks, [true, false]);
    let ends = [CLIENT, SERVER].map(|end| net.end(end).ecn);
    assert_eq!(ends, [EcnMode::Off; 2]);
}

#[test]
fn what_a_reader_waits_for_fits_into_the_buffer() {
    // SO_RCVBUF asked for, tcp_rmem's last, SO_RCVLOWAT; what is waited for.
    for (locked, rmem_max, asked, waits) in [
        (None, 6 << 20, 1_000_000, 1_000_000),
        (None, 1 << 20, 1_000_000, 1 << 19),
        (Some(65_536), 6 << 20, 1_000_000, 65_536),
    ] {
        let rmem = [4096, 131_072, rmem_max].map(Bytes::new);
        let mut net = Net::of(Stack {
            tcp_rmem: rmem,
            ..preset("linux-7.2")
        });
        net.open();
        if let Some(bytes) = locked {
            net.set(SERVER, SocketOption::RcvBuf(Bytes::new(bytes)));
        }
        net.set(SERVER, SocketOption::RcvLowat(asked));
        let receive = &net.end(SERVER).receive;
        assert_eq!(receive.rcvlowat, waits);
        if locked.is_some() {
            assert_eq!(receive.rcvbuf(), 131_072);
        } else {
            assert!(receive.window_of(receive.rcvbuf()) >= waits);
            net.reads[SERVER] = false;
            net.write(CLIENT, u64::from(waits));
            net.run_for(MS * 400);
            assert!(net.end(SERVER).readable() + u64::from(MSS) >= waits.into());
        }
    }
}

#[test]
fn a_packet_takes_memory_until_all_of_it_is_read() {
    let mut net = opened();
    net.reads[SERVER] = false;
    net.write(CLIENT, 10 * u64::from(MSS));
    net.run_for(MS * 50);
    let whole = net.end(SERVER).receive.queued_memory();
    let each = whole / 10;
    net.read(SERVER, u64::from(MSS) - 1);
    assert_eq!(net.end(SERVER).receive.queued_memory(), whole);
    net.read(SERVER, 1);
    assert_eq!(net.end(SERVER).receive.queued_memory(), whole - each);
    net.read(SERVER, 2 * u64::from(MSS) + 1);
    assert_eq!(net.end(SERVER).receive.queued_memory(), whole - 3 * each);
    net.read(SERVER, u64::MAX);
    assert_eq!(net.end(SERVER).receive.queued_memory(), 0);
}

#[test]
fn a_lone_fin_takes_no_memory_behind_data_out_of_order() {
    // No byte is no more than the packet before has room for (skb_try_coalesce).
    for apart in [false, true] {
        let mut net = opened();
        net.reads[SERVER] = false;
        net.end(SERVER).receive.set_head(832);
        let data = ahead(&mut net, MSS);
        net.inject(SERVER, &data);
        let held = net.end(SERVER).receive.queued_memory();
        let mut fin = ahead(&mut net, if apart { 3 * MSS } else { 2 * MSS });
        fin.payload_bytes = 0;
        fin.flags = Flags::ACK.with(Flags::FIN);
        net.inject(SERVER, &fin);
        let more = net.end(SERVER).receive.queued_memory() - held;
        assert_eq!(more > 0, apart, "{more}");
        let receive = &net.end(SERVER).receive;
        assert_eq!(receive.reassembly.memory(), receive.queued_memory());
    }
}

#[test]
fn a_lone_fin_takes_memory_until_it_is_acknowledged() {
    let mut net = Net::of(Stack {
        tcp_window_scaling: false,
        ..today()
    });
    net.open();
    net.end(SERVER).receive.set_head(832);
    let mut fin = ahead(&mut net, 0);
    fin.payload_bytes = 0;
    fin.flags = Flags::ACK.with(Flags::FIN);
    // The buffer has room for the window that was offered, and no more: with the FIN in it the window's end stays.
    let offered = 30_000;
    net.end(SERVER).receive.rcv_wnd = offered;
    net.end(SERVER).receive.lock_buffer(2 * offered);
    net.end(SERVER).receive.ack.now = true;
    net.inject(SERVER, &fin);
    let answer = net.sent(SERVER).last().unwrap().segment;
    assert_eq!(u32::from(answer.window), offered - 1);
    assert!(net.end(SERVER).receive.is_empty());
}

#[test]
fn who_has_closed_measures_no_round_trip_of_its_receiver() {
    // tcp_rcv_rtt_measure_ts is tcp_rcv_established's.
    for closed in [false, true] {
        let mut net = opened();
        if closed {
            net.shut(SERVER);
            net.run_for(MS * 50);
        }
        let before = net.end(SERVER).receive.rtt_us_8();
        net.write(CLIENT, 20 * u64::from(MSS));
        net.run_for(MS * 100);
        let measured = net.end(SERVER).receive.rtt_us_8() != before;
        assert_eq!(measured, !closed);
    }
}

#[test]
fn data_that_opens_a_connection_grows_no_buffer_that_nobody_has_accepted() {
    // Without the handshake's last acknowledgement and the first segment the second one opens the connection, out of order.
    let opened_by_disorder = |lost: [u32; 2]| {
        let rmem = [Bytes::new(4096), Bytes::new(8192), Bytes::new(1_000_000)];
        let mut net = Net::of(Stack {
            tcp_rmem: rmem,
            ..preset("linux-7.2")
        });
        let mut frames = 0;
        net.judge(CLIENT, move |_| {
            frames += 1;
            if lost.contains(&frames) {
                Fate::Drop
            } else {
                Fate::Pass
            }
        });
        net.connect();
        net.write(CLIENT, 2 * u64::from(MSS));
        assert!(net.run_until(MS * 50, |n| {
            let server = n.ends[SERVER].as_ref();
            server.is_some_and(|end| !end.receive.reassembly.is_empty())
        }));
        net.end(SERVER).receive.rcvbuf()
    };
    assert_eq!(opened_by_disorder([2, 3]), 8192);
    // Where the handshake was done before, it grows.
    assert!(opened_by_disorder([3, 3]) > 8192);
}

#[test]
fn a_window_that_changes_is_no_header_that_was_predicted() {
    let mut net = Net::of(preset("linux-7.2"));
    net.open();
    net.write(CLIENT, 20 * u64::from(MSS));
    net.run_for(MS * 20);
    let last = net.acks(SERVER).last().unwrap().segment;
    let client = net.end(CLIENT);
    assert!(!client.is_slow_path(&last));
    let mut update = last;
    update.window += 1;
    assert!(client.is_slow_path(&update));
    let mut marked = last;
    marked.flags = marked.flags.with(Flags::ECE);
    assert!(client.is_slow_path(&marked));
    let mut selective = last;
    selective.push_sack(SackBlock {
        start: last.ack + MSS,
        end: last.ack + 2 * MSS,
    });
    assert!(client.is_slow_path(&selective));
    // Nothing is predicted while data is out of order.
    let ahead = ahead(&mut net, MSS);
    net.inject(SERVER, &ahead);
    let from_client = net.sent(CLIENT).last().unwrap().segment;
    assert!(net.end(SERVER).is_slow_path(&from_client));
}

#[test]
fn westwood_counts_a_segment_for_a_change_of_the_window_alone() {
    let mut net = Net::of(Stack {
        tcp_congestion_control: CongestionKind::Westwood,
        ..preset("linux-7.2")
    });
    let accounted = |net: &mut Net, end: usize| {
        let state = format!("{:?}", net.end(end).congestion);
        let (_, rest) = state.split_once("accounted: ").unwrap();
        rest.split(',').next().unwrap().parse::<u32>().unwrap()
    };
    net.open();
    // Nothing is left of the handshake, whose windows are not scaled alike.
    assert_eq!(
        [accounted(&mut net, CLIENT), accounted(&mut net, SERVER)],
        [0, 0]
    );
    net.write(CLIENT, 20 * u64::from(MSS));
    net.run_for(MS * 20);
    let last = net.acks(SERVER).last().unwrap().segment;
    // What says nothing new is no slow path.
    assert_eq!(accounted(&mut net, CLIENT), 0);
    net.inject(CLIENT, &last);
    assert_eq!(accounted(&mut net, CLIENT), 0);
    let mut update = last;
    update.window += 1;
    net.inject(CLIENT, &update);
    assert_eq!(accounted(&mut net, CLIENT), MSS);
}
