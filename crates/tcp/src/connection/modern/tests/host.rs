//! TCP small queues, pacing and autocorking: what waits in the sender's own host.

use tailback_units::{Bytes, Duration, Time};

use super::script::{MSS, Script, today};
use crate::{Event, Flags, Pacing, Segment, SocketOption, Stack};

#[test]
fn internal_pacing_spreads_a_round_trip_at_twice_the_window_in_slow_start() {
    let mut script = Script::open(
        Stack {
            pacing: Pacing::Internal,
            ..today()
        },
        100_000,
    );
    script.write(40);
    // The first ten segments are not paced.
    assert_eq!(script.ranges().last(), Some(&(8, 10)));
    script.wait(100_000);
    script.ack(10);
    script.sent();
    script.wait(99_000);
    let sent = script.sent();
    // 20 segments a round trip of 100 ms, twice as fast: a packet of two every 5 ms.
    let gaps: Vec<u64> = sent.windows(2).map(|w| w[1].at_us - w[0].at_us).collect();
    assert!(gaps.len() >= 6, "{sent:?}");
    assert!(gaps.iter().all(|g| (4_900..=5_100).contains(g)), "{gaps:?}");
}

#[test]
fn the_pacing_rate_is_120_percent_of_the_window_after_slow_start() {
    let mut script = Script::open(today(), 100_000);
    script.tcp.window.ssthresh = 5;
    script.write(10);
    script.wait(100_000);
    script.ack(10);
    let cwnd = u64::from(script.tcp.probe().cwnd);
    let rate = script.tcp.window.pacing_rate;
    assert_eq!(rate, u64::from(MSS) * cwnd * 12);
}

#[test]
fn so_max_pacing_rate_paces_who_is_not_paced_else() {
    // Two segments every 10 ms: less than the window would give.
    let rate = u64::from(MSS) * 200;
    let mut script = Script::open(today(), 100_000);
    assert!(!script.tcp.is_paced());
    let now = script.now();
    let limited = script
        .tcp
        .set_option(now, SocketOption::MaxPacingRate(rate));
    assert_eq!(limited, Ok(()));
    script.write(40);
    script.wait(100_000);
    script.ack(10);
    script.sent();
    let info = |script: &mut Script| {
        let now = script.now();
        let info = script.tcp.tcp_info(now);
        (info.pacing_rate, info.max_pacing_rate)
    };
    assert_eq!(info(&mut script), (rate, rate));
    script.wait(99_000);
    let sent = script.sent();
    let gaps: Vec<u64> = sent.windows(2).map(|w| w[1].at_us - w[0].at_us).collect();
    assert!(gaps.len() >= 6, "{sent:?}");
    assert!(
        gaps.iter().all(|g| (9_900..=10_100).contains(g)),
        "{gaps:?}"
    );
    let now = script.now();
    let free = script
        .tcp
        .set_option(now, SocketOption::MaxPacingRate(u64::MAX));
    assert_eq!(free, Ok(()));
    script.ack(30);
    let (paced, most) = info(&mut script);
    assert!(paced > 2 * rate && most == u64::MAX, "{paced}");
}

#[test]
fn packets_for_offload_shrink_with_the_round_trip() {
    // 64 KB less headers within 512 us, half of that for each 512 us more; a window of 400
    // segments in 300 us is far above a millisecond's worth.
    for (rtt_us, segments) in [(100, 45), (600, 22), (1_100, 11), (50_000, 2)] {
        let script = Script::open(today(), rtt_us);
        let mut tcp = script.tcp.clone();
        tcp.window.pacing_rate = 0;
        assert_eq!(tcp.tso_segments(MSS), segments, "{rtt_us} us");
    }
}

#[test]
fn no_more_than_two_packets_wait_in_the_host_tsq() {
    let mut script = Script::open(today(), 50_000);
    // The card needs ten milliseconds a packet.
    let mut free = script.now();
    script.host(move |now: Time| {
        free = free.max(now) + Duration::from_ms(10);
        free
    });
    script.write(10);
    script.wait(60_000);
    script.ack(10);
    script.sent();
    script.write(40);
    // Two segments each; two packets' memory is the limit, and all that may wait.
    let first = script.ranges().len();
    assert_eq!(first, 2);
    script.wait(10_000);
    assert_eq!(script.ranges().len(), 1);
    script.wait(10_000);
    assert_eq!(script.ranges().len(), 1);
}

#[test]
fn without_tso_packets_are_cut_before_the_card_and_leave_frame_by_frame() {
    // Packets of two segments, 10 ms each; 832 bytes beside a whole packet's payload, or beside each frame's. The limit is two
    // whole packets: 7456. Two that are cut take 9120, and 6840 when the first frame of four has left; of two that are whole
    // one must have left.
    for (tso, each_ms, third_ms) in [(true, 20, 20), (false, 10, 10)] {
        let stack = Stack {
            tso,
            tcp_tso_rtt_log: 0,
            ..today()
        };
        let mut script = Script::open(stack, 60_000);
        let mut free = script.now();
        script.host(move |now: Time| {
            free = free.max(now) + Duration::from_ms(each_ms);
            free
        });
        script.tcp.expect_host_queue();
        script.write(8);
        assert_eq!(script.ranges(), [(0, 2), (2, 4)], "with or without");
        script.wait(third_ms * 1000 - 10);
        assert_eq!(script.ranges(), []);
        script.wait(20);
        assert_eq!(script.ranges(), [(4, 6)], "tso {tso}");
    }
}

#[test]
fn what_the_kernel_cuts_counts_with_headers_for_each_frame_as_soon_as_it_is_sent() {
    // A millisecond of the pace is 13 000 bytes: three packets of two segments are 3 * 3728 whole, and 3 * 4560 cut.
    for (tso, packets) in [(true, 4), (false, 3)] {
        let stack = Stack {
            tso,
            gso_max_segs: 2,
            ..today()
        };
        let mut script = Script::open(stack, 60_000);
        script.host(|now: Time| now + Duration::from_ms(10));
        script.tcp.expect_host_queue();
        script.tcp.window.pacing_rate = 13_000 << 10;
        script.write(10);
        assert_eq!(script.ranges().len(), packets, "tso {tso}");
    }
}

#[test]
fn a_writer_in_a_call_goes_on_with_any_room_when_something_comes_to_read() {
    // sk_stream_wait_memory: whatever wakes those who wait for the socket, the writer looks again; room alone wakes it
    // when a third is free.
    let full = |edit: fn(&mut Segment)| {
        let stack = Stack {
            gso_max_segs: 1,
            ..today()
        };
        let mut script = Script::open(stack, 50_000);
        let size = SocketOption::SndBuf(Bytes::new(20_000));
        let now = script.now();
        assert_eq!(script.tcp.set_option(now, size), Ok(()));
        let wanted = 100 * u64::from(MSS);
        let taken = script.tcp.write(now, wanted);
        script.collect();
        assert!(taken < wanted);
        script.answer(2, &[], edit);
        (script, wanted - taken)
    };
    let (mut script, _) = full(|_| {});
    assert_eq!(script.tcp.poll_event(), None);
    let data: (fn(&mut Segment), _) = (|segment| segment.payload_bytes = 1, Event::Readable);
    let end: (fn(&mut Segment), _) = (
        |segment| segment.flags = Flags::FIN.with(Flags::ACK),
        Event::PeerClosed,
    );
    for (edit, event) in [data, end] {
        let (mut script, rest) = full(edit);
        let told = [script.tcp.poll_event(), script.tcp.poll_event()];
        assert!(told.contains(&Some(event)), "{told:?}");
        assert!(told.contains(&Some(Event::Writable)), "{told:?}");
        assert!(!script.tcp.writable());
        let now = script.now();
        assert!(script.tcp.write(now, rest) > 0);
    }
}

#[test]
fn what_leaves_the_host_lets_a_writer_go_on_without_an_acknowledgement() {
    // Linux looks for room with each packet sent (tcp_event_new_data_sent), not with
    // acknowledgements alone.
    let stack = Stack {
        tcp_notsent_lowat: 4096,
        ..today()
    };
    let mut script = Script::open(stack, 50_000);
    let mut free = script.now();
    script.host(move |now: Time| {
        free = free.max(now) + Duration::from_ms(1);
        free
    });
    script.write(1);
    script.wait(50_000);
    script.ack(1);
    script.tcp.window.cwnd = 100;
    let wanted = 100 * u64::from(MSS);
    let taken = script.tcp.write(script.now(), wanted);
    script.collect();
    assert!(taken < wanted && script.tcp.unsent >= 4096);
    assert_eq!(script.tcp.poll_event(), None);
    // One packet after another leaves, and then less than half of the mark waits.
    script.wait(30_000);
    assert!(script.tcp.unsent < 2048);
    assert_eq!(script.tcp.poll_event(), Some(Event::Writable));
}

#[test]
fn a_short_write_waits_while_a_packet_is_in_the_host_autocork() {
    for (autocorking, lengths) in [(true, vec![1448, 200]), (false, vec![1448, 100, 100])] {
        let mut script = Script::open(
            Stack {
                tcp_autocorking: autocorking,
                ..today()
            },
            1_000,
        );
        script.host(|now: Time| now + Duration::from_us(100));
        script.set_nodelay();
        script.write(1);
        script.wait(1_000);
        script.write(1);
        script.write_bytes(100);
        script.write_bytes(100);
        // What is short is joined until the packet before it has left the host.
        script.wait(200);
        let frames: Vec<u16> = script.frames.iter().map(|f| f.payload_bytes).collect();
        assert_eq!(frames[1..], lengths);
    }
}

#[test]
fn what_the_host_drops_is_not_in_flight_and_is_tried_every_500_ms() {
    // tcp_send_probe0: after local congestion the next try comes after
    // TCP_RESOURCE_PROBE_INTERVAL, without back-off.
    let mut script = Script::open(today(), 10_000);
    script.tcp.set_host_refuses(true);
    script.write(4);
    assert_eq!(script.sent(), []);
    let probe = script.tcp.probe();
    assert_eq!((probe.in_flight, probe.state), (0, crate::CaState::Cwr));
    script.wait(1_900_000);
    assert_eq!(script.sent(), []);
    let info = script.tcp.tcp_info(script.now());
    assert_eq!((info.probes, info.backoff), (4, 0));
    script.tcp.set_host_refuses(false);
    script.wait(500_000);
    assert_eq!(script.ranges().first(), Some(&(0, 1)));
    script.wait(10_000);
    script.ack(1);
    assert_eq!(script.ranges().last().map(|r| r.1), Some(4));
}

#[test]
fn a_retransmission_that_the_host_drops_is_still_to_be_sent() {
    let mut script = Script::open(today(), 10_000);
    script.write(10);
    script.wait(10_000);
    script.sent();
    script.tcp.set_host_refuses(true);
    script.sack(0, &[(1, 10)]);
    let info = script.tcp.tcp_info(script.now());
    assert_eq!((info.lost, info.retrans), (1, 0));
    assert_eq!(script.sent(), []);
    // A timeout that is refused too is repeated after 500 ms, not backed off.
    script.wait(1_300_000);
    let info = script.tcp.tcp_info(script.now());
    assert_eq!((info.retrans, info.backoff), (0, 0));
    assert!(info.retransmits >= 2, "{info:?}");
    script.tcp.set_host_refuses(false);
    script.wait(500_000);
    assert_eq!(script.ranges(), [(0, 1)]);
}
