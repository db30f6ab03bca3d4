//! Tail loss probes (RFC 8985 section 7).

use super::script::{Script, today};
use crate::{CaState, Stack};

const RTT_US: u64 = 20_000;

fn flight(segments: u32) -> Script {
    let mut script = Script::open(
        Stack {
            gso_max_segs: 1,
            ..today()
        },
        RTT_US,
    );
    script.write(segments);
    script.sent();
    script
}

#[test]
fn two_round_trips_after_the_last_segment_it_is_sent_again() {
    let mut script = flight(5);
    script.wait(100_000);
    let sent = script.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!((sent[0].from, sent[0].to), (4, 5));
    // Twice 20 ms and two, in whole ticks, and one.
    let at = sent[0].at_us;
    assert!((42_000..=44_000).contains(&at), "{at}");
    assert_eq!(script.tcp.stats().timeouts, 0);
}

#[test]
fn a_lone_segment_allows_for_a_delayed_acknowledgement() {
    let mut script = flight(1);
    script.wait(1_000_000);
    // Two round trips and 200 ms are later than the timeout: that is what fires.
    let first = script.sent()[0];
    assert!((220_000..=232_000).contains(&first.at_us), "{first:?}");
}

#[test]
fn new_data_is_probed_with_first() {
    let mut script = flight(10);
    script.write(3);
    assert_eq!(script.ranges(), []);
    script.wait(60_000);
    assert_eq!(script.ranges(), [(10, 11)]);
}

#[test]
fn the_probes_selective_acknowledgement_shows_the_tail_lost() {
    let mut script = flight(10);
    script.wait(RTT_US);
    script.ack(4);
    script.wait(60_000);
    assert_eq!(script.ranges(), [(9, 10)]);
    script.wait(RTT_US);
    script.sack(4, &[(9, 10)]);
    script.wait(12_000);
    assert_eq!(script.ranges()[0], (4, 5));
    assert_eq!(script.tcp.probe().state, CaState::Recovery);
    assert_eq!(script.tcp.stats().timeouts, 0);
}

#[test]
fn a_loss_repaired_by_the_probe_alone_halves_the_window() {
    let mut script = flight(10);
    script.wait(RTT_US);
    script.ack(9);
    let cwnd = script.tcp.probe().cwnd;
    script.wait(400_000);
    assert!(script.ranges().contains(&(9, 10)));
    script.write(1);
    script.wait(RTT_US);
    script.ack(11);
    assert!(script.tcp.probe().cwnd < cwnd);
}

#[test]
fn a_duplicate_told_of_says_that_nothing_was_lost() {
    let mut script = flight(10);
    script.wait(60_000);
    assert_eq!(script.ranges(), [(9, 10)]);
    let cwnd = script.tcp.probe().cwnd;
    script.sack(10, &[(9, 10)]);
    assert!(script.tcp.probe().cwnd >= cwnd);
    assert!(script.tcp.modern.tlp_high_seq.is_none());
    assert_eq!(script.tcp.probe().state, CaState::Open);
}
