//! Timeouts: what is lost, what was spurious (RFC 5682, RFC 3522).

use super::script::{Script, today};
use crate::{CaState, Stack};

const RTT_US: u64 = 20_000;

/// Six segments are out, and the timeout has sent the first again.
fn timed_out(stack: Stack) -> Script {
    let mut script = Script::open(
        Stack {
            gso_max_segs: 1,
            tcp_early_retrans: 0,
            ..stack
        },
        RTT_US,
    );
    script.write(6);
    assert_eq!(script.ranges().len(), 6);
    script.wait(240_000);
    assert_eq!(script.ranges(), [(0, 1)]);
    let probe = script.tcp.probe();
    assert_eq!(
        (probe.state, probe.cwnd, probe.ssthresh),
        (CaState::Loss, 1, 5)
    );
    script
}

#[test]
fn without_an_answer_to_new_data_all_is_sent_again() {
    let mut script = timed_out(today());
    script.wait(RTT_US);
    script.echo_newest();
    script.ack(1);
    assert_eq!(script.ranges(), [(1, 2), (2, 3)]);
    script.wait(RTT_US);
    script.ack(3);
    assert_eq!(script.ranges(), [(3, 4), (4, 5), (5, 6)]);
    script.wait(RTT_US);
    script.ack(6);
    assert_eq!(script.tcp.probe().state, CaState::Open);
    assert_eq!(script.tcp.stats().undos, 0);
}

#[test]
fn an_acknowledgement_of_the_original_undoes_the_timeout_by_its_echo() {
    let mut script = timed_out(today());
    // The echo is that of the first flight.
    script.ack(1);
    let probe = script.tcp.probe();
    assert_eq!(probe.state, CaState::Open);
    assert_eq!(probe.cwnd, 11);
    assert_eq!(script.tcp.stats().undos, 1);
    assert_eq!(script.ranges(), []);
}

/// Without timestamps, F-RTO alone can tell.
fn timed_out_without_echo() -> Script {
    timed_out(Stack {
        tcp_timestamps: false,
        ..today()
    })
}

#[test]
fn frto_sends_new_data_and_undoes_the_timeout_when_the_originals_are_acknowledged() {
    let mut script = timed_out_without_echo();
    script.write(4);
    script.sent();
    script.ack(1);
    // Two new segments instead of retransmissions.
    assert_eq!(script.ranges(), [(6, 7), (7, 8)]);
    assert_eq!(script.tcp.probe().state, CaState::Loss);
    script.ack(2);
    assert_eq!(script.tcp.probe().state, CaState::Open);
    assert_eq!(script.tcp.stats().undos, 1);
    assert_eq!(script.tcp.stats().retransmissions, 1);
}

#[test]
fn frto_takes_a_duplicate_for_a_real_loss() {
    let mut script = timed_out_without_echo();
    script.write(4);
    script.sent();
    script.wait(RTT_US);
    script.ack(1);
    assert_eq!(script.ranges(), [(6, 7), (7, 8)]);
    script.wait(RTT_US);
    script.sack(1, &[(6, 7)]);
    let sent = script.ranges();
    assert_eq!(sent.first(), Some(&(1, 2)), "{sent:?}");
    assert_eq!(script.tcp.stats().undos, 0);
}

#[test]
fn what_was_sent_less_than_a_round_trip_ago_is_not_taken_for_lost() {
    let mut script = Script::open(
        Stack {
            gso_max_segs: 1,
            tcp_early_retrans: 0,
            ..today()
        },
        RTT_US,
    );
    script.write(2);
    script.wait(RTT_US);
    script.ack(1);
    // The second is lost; a third follows just before its timeout.
    script.wait(215_000);
    script.sent();
    script.write(1);
    assert_eq!(script.ranges(), [(2, 3)]);
    script.wait(15_000);
    assert_eq!(script.ranges(), [(1, 2)]);
    assert_eq!(script.tcp.lost_out, 1);
}

#[test]
fn a_receiver_that_reneges_is_believed_at_the_timeout() {
    let mut script = Script::open(
        Stack {
            gso_max_segs: 1,
            ..today()
        },
        RTT_US,
    );
    script.write(10);
    script.sent();
    script.wait(RTT_US);
    script.sack(0, &[(1, 6)]);
    script.sent();
    script.wait(RTT_US);
    script.echo_newest();
    // Acknowledges the hole but not what it had acknowledged selectively.
    script.ack(1);
    script.sent();
    script.wait(60_000);
    assert!(script.ranges().contains(&(1, 2)));
    assert_eq!(script.tcp.sacked_out, 0);
}
