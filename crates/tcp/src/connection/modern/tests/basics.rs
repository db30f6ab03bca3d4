//! Sending as it is without losses: the initial window, growth, the timeout.

use super::script::{MSS, Script, today};
use crate::Stack;

#[test]
fn the_initial_window_is_ten_segments_rfc_6928() {
    let mut script = Script::open(today(), 10_000);
    script.write(20);
    // In packets of a millisecond's worth of the pacing rate, but two segments at least.
    assert_eq!(script.ranges(), [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]);
    script.wait(10_000);
    script.ack(2);
    // Slow start: two acknowledged, four sent.
    assert_eq!(script.ranges(), [(10, 12), (12, 14)]);
    assert_eq!(script.tcp.probe().cwnd, 12);
}

#[test]
fn after_a_lost_syn_the_window_is_the_same_and_after_two_it_is_one() {
    // With timestamps the peer echoes the first answer's: nothing was lost.
    for (lost_ms, tcp_timestamps, cwnd) in [
        (0, false, 10),
        (1_100, false, 10),
        (3_200, false, 1),
        (3_200, true, 10),
    ] {
        let stack = Stack {
            tcp_timestamps,
            ..today()
        };
        let mut script = Script::open(stack, lost_ms * 1000 + 100);
        assert_eq!(script.tcp.probe().cwnd, cwnd, "{lost_ms} ms");
        script.sent();
    }
}

#[test]
fn without_offload_every_packet_is_a_segment() {
    let mut script = Script::open(
        Stack {
            gso_max_segs: 1,
            ..today()
        },
        10_000,
    );
    script.write(3);
    assert_eq!(script.ranges(), [(0, 1), (1, 2), (2, 3)]);
}

#[test]
fn a_short_segment_waits_for_the_acknowledgement_of_an_earlier_one() {
    // Nagle's rule with Minshall's variant: a full segment in flight holds nothing back.
    let mut script = Script::open(today(), 10_000);
    script.write(1);
    script.write_bytes(10);
    assert_eq!(script.sent().len(), 2);
    script.write_bytes(10);
    assert_eq!(script.sent().len(), 0);
    script.wait(10_000);
    script.answer(1, &[], |s| s.ack += 10);
    assert_eq!(script.sent().len(), 1);
}

#[test]
fn the_timeout_is_the_round_trip_and_the_least_timeout_in_whole_ticks() {
    let mut script = Script::open(
        Stack {
            tcp_early_retrans: 0,
            ..today()
        },
        10_000,
    );
    script.write(1);
    assert_eq!(script.sent().len(), 1);
    // 210 ms, in a wheel whose buckets of that level are eight ticks.
    script.wait(2_000_000);
    let times: Vec<u64> = script.sent().iter().map(|s| s.at_us / 1000).collect();
    assert_eq!(times.len(), 3);
    assert!((211..=218).contains(&times[0]), "{times:?}");
    assert!((421..=428).contains(&(times[1] - times[0])), "{times:?}");
    assert!((841..=904).contains(&(times[2] - times[1])), "{times:?}");
    let stats = script.tcp.stats();
    assert_eq!((stats.timeouts, stats.retransmissions), (3, 3));
    assert_eq!(stats.bytes_sent, u64::from(4 * MSS));
}

#[test]
fn the_window_is_halved_for_every_timeout_of_idleness_rfc_2861() {
    let mut script = Script::open(today(), 10_000);
    script.write(10);
    script.wait(10_000);
    script.ack(10);
    script.write(20);
    script.wait(10_000);
    script.ack(30);
    assert_eq!(script.tcp.probe().cwnd, 40);
    script.wait(300_000);
    script.sent();
    script.write(30);
    // 300 ms of idleness with a timeout of 210 ms: halved once.
    assert_eq!(script.tcp.probe().cwnd, 20);
    assert_eq!(script.ranges().last().map(|r| r.1), Some(50));
}
