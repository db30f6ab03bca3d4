//! RFC 8985's loss detection, and PRR (RFC 6937) that follows it.

use super::script::{Script, today};
use crate::{CaState, Stack};

const RTT_US: u64 = 20_000;

/// Ten segments are out, and nothing was ever lost.
fn flight() -> Script {
    let mut script = Script::open(
        Stack {
            gso_max_segs: 1,
            ..today()
        },
        RTT_US,
    );
    script.write(10);
    assert_eq!(script.ranges().len(), 10);
    script.wait(RTT_US);
    script
}

#[test]
fn three_segments_beyond_a_hole_show_it_lost() {
    let mut script = flight();
    script.sack(0, &[(1, 2)]);
    script.sack(0, &[(1, 3)]);
    assert_eq!(script.ranges(), []);
    assert_eq!(script.tcp.probe().state, CaState::Disorder);
    script.sack(0, &[(1, 4)]);
    assert_eq!(script.ranges(), [(0, 1)]);
    let probe = script.tcp.probe();
    assert_eq!((probe.state, probe.ssthresh), (CaState::Recovery, 5));
}

#[test]
fn fewer_wait_a_quarter_of_the_round_trip_for_reordering() {
    let mut script = flight();
    script.sack(0, &[(1, 2)]);
    let before = script.now_us();
    script.wait(15_000);
    let sent = script.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].from, sent[0].to), (0, 1));
    // min_rtt/4 and two milliseconds, in whole ticks (and one, since a timer waits for the next).
    let waited = sent[0].at_us - before;
    assert!((7_000..=9_000).contains(&waited), "{waited}");
}

#[test]
fn what_was_merely_late_is_not_sent_again() {
    let mut script = flight();
    script.sack(0, &[(1, 2)]);
    script.wait(3_000);
    script.ack(2);
    script.wait(15_000);
    assert_eq!(script.tcp.stats().retransmissions, 0);
    assert_eq!(script.tcp.probe().state, CaState::Open);
}

#[test]
fn what_fills_a_hole_is_one_packet_with_what_is_before_and_behind_it() {
    let mut script = flight();
    script.sack(0, &[(1, 3), (4, 10)]);
    let (one, many) = (
        script.tcp.mem_info().wmem_queued,
        script.tcp.modern.sent.len(),
    );
    assert_eq!(many, 4, "two holes, and what is behind each");
    // That block alone: a walk over what is behind it would join that by itself.
    script.sack(0, &[(3, 4)]);
    assert_eq!(script.tcp.modern.sent.len(), 2);
    let overhead = today().tx_skb_overhead.get() as u32;
    assert_eq!(one - script.tcp.mem_info().wmem_queued, 2 * overhead);
}

#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let mut script = flight();
    script.write(20);
    script.sack(0, &[(1, 10)]);
    let sent = script.ranges();
    assert_eq!(sent[0], (0, 1));
    assert!(sent.contains(&(10, 11)), "{sent:?}");
    script.wait(RTT_US);
    // New data sent after the retransmission arrives, the retransmission does not.
    script.sack(0, &[(1, 11)]);
    script.wait(10_000);
    let again = script.ranges();
    assert!(again.contains(&(0, 1)), "{again:?}");
    let stats = script.tcp.stats();
    assert_eq!((stats.lost_retransmissions, stats.timeouts), (1, 0));
}

#[test]
fn of_one_microsecond_a_retransmission_waits_for_the_data_sent_before_it() {
    let mut script = flight();
    script.write(20);
    // Acknowledgements of one instant: each of two sets a new segment free, the third shows a loss.
    script.sack(0, &[(1, 2)]);
    script.sack(0, &[(1, 3)]);
    script.sack(0, &[(1, 10)]);
    let sent = script.ranges();
    assert_eq!(sent[..3], [(10, 11), (11, 12), (0, 1)], "{sent:?}");
    script.wait(RTT_US);
    // The first of the two arrives: the walk in the order of sending ends at the second.
    script.sack(0, &[(1, 11)]);
    assert!(!script.ranges().contains(&(0, 1)));
    // With the second the retransmission is next, which by its number counts as sent before.
    script.sack(0, &[(1, 12)]);
    assert!(script.ranges().contains(&(0, 1)));
    assert_eq!(script.tcp.stats().lost_retransmissions, 1);
}

#[test]
fn the_window_comes_down_in_proportion_to_what_arrives_rfc_6937() {
    let mut script = flight();
    script.write(30);
    script.sack(0, &[(1, 4)]);
    // Nine of ten are in the network less those three; the lost one is sent.
    script.sent();
    let mut cwnds = Vec::new();
    for to in 5..=10 {
        script.sack(0, &[(1, to)]);
        cwnds.push(script.tcp.probe().cwnd);
    }
    assert!(cwnds.windows(2).all(|w| w[1] <= w[0]), "{cwnds:?}");
    assert_eq!(cwnds.last(), Some(&5));
    script.wait(RTT_US);
    script.echo_newest();
    script.ack(11);
    assert_eq!(script.tcp.probe().cwnd, 5);
    assert_eq!(script.tcp.probe().state, CaState::Open);
}

#[test]
fn without_sack_three_duplicates_start_newreno_rfc_6582() {
    let mut script = Script::open(
        Stack {
            tcp_sack: false,
            gso_max_segs: 1,
            ..today()
        },
        RTT_US,
    );
    script.write(10);
    script.sent();
    script.wait(RTT_US);
    script.ack(0);
    script.ack(0);
    assert_eq!(script.ranges(), []);
    script.ack(0);
    assert_eq!(script.ranges(), [(0, 1)]);
    script.wait(RTT_US);
    script.echo_newest();
    // A partial acknowledgement shows the next hole.
    script.ack(6);
    assert_eq!(script.ranges(), [(6, 7)]);
    script.wait(RTT_US);
    script.ack(10);
    assert_eq!(script.tcp.stats().timeouts, 0);
}

#[test]
fn limited_transmit_sends_new_data_on_the_first_duplicates_rfc_3042() {
    let mut script = flight();
    script.write(20);
    assert_eq!(script.ranges(), []);
    script.sack(0, &[(1, 2)]);
    assert_eq!(script.ranges(), [(10, 11)]);
    script.sack(0, &[(1, 3)]);
    assert_eq!(script.ranges(), [(11, 12)]);
}

#[test]
fn a_duplicate_told_of_undoes_the_reduction_rfc_3708() {
    let mut script = flight();
    script.sack(0, &[(1, 4)]);
    assert_eq!(script.ranges(), [(0, 1)]);
    assert_eq!(script.tcp.probe().ssthresh, 5);
    // The original was late, and the retransmission arrives too.
    script.wait(1_000);
    script.answer(10, &[(0, 1)], |s| s.ts_ecr = 0);
    let probe = script.tcp.probe();
    assert_eq!(probe.state, CaState::Open);
    assert!(probe.ssthresh > 10, "{probe:?}");
    // As it was, and grown by the seven that arrived and the one that arrived twice.
    assert_eq!(probe.cwnd, 18);
    assert_eq!(script.tcp.stats().undos, 1);
}

#[test]
fn an_echo_from_before_the_retransmission_undoes_the_reduction_rfc_3522() {
    let mut script = flight();
    script.wait(5_000);
    script.sack(0, &[(1, 4)]);
    assert_eq!(script.ranges(), [(0, 1)]);
    // All is acknowledged, with the echo of a segment of the first flight.
    script.wait(1_000);
    script.ack(10);
    let probe = script.tcp.probe();
    // As it was, and grown by the seven that arrived.
    assert_eq!((probe.state, probe.cwnd), (CaState::Open, 17));
    assert_eq!(script.tcp.stats().undos, 1);
}

#[test]
fn the_reordering_window_widens_with_duplicates_on_a_path_that_reorders() {
    let mut script = flight();
    // Reordering is seen: the hole is filled by the original.
    script.sack(0, &[(1, 2)]);
    script.ack(2);
    assert_eq!(script.tcp.modern.reord_seen, 1);
    // From now on three beyond a hole are not enough.
    script.sack(2, &[(3, 6)]);
    assert_eq!(script.ranges(), []);
    script.wait(12_000);
    assert_eq!(script.ranges(), [(2, 3)]);
}
