use std::sync::Arc;

use tailback_units::{Duration, Time};

use super::{Connection, CwndReduction};
use crate::congestion::INFINITE_SSTHRESH;
use crate::{Config, PRESETS, Stack};

/// A connection whose window comes down in this way; the tests set its counters by hand.
fn connection_with(cwnd_reduction: CwndReduction) -> Connection {
    let stack: Stack = toml::from_str(PRESETS[0].1).expect("a preset is a stack");
    let config = Config {
        stack: Arc::new(Stack {
            cwnd_reduction,
            ..stack
        }),
        mss: 1460,
        clock_phase: Duration::ZERO,
        options: crate::SocketOptions::default().into(),
        rx_truesize_bytes: 2048,
        rx_head_bytes: 0,
        seed: 1,
    };
    Connection::connect(&config, Time::ZERO)
}

#[test]
fn rate_halving_leaves_a_segment_above_what_is_in_flight() {
    let mut connection = connection_with(CwndReduction::RateHalving);
    connection.window.cwnd = 20;
    connection.window.ssthresh = 10;
    connection.packets_out = 4;
    connection.reduce_cwnd(0, false);
    assert_eq!(connection.window.cwnd, 5);
}

#[test]
fn proportional_reduction_sends_in_proportion_and_ends_at_ssthresh() {
    let mut connection = connection_with(CwndReduction::Prr);
    connection.window.cwnd = 20;
    connection.window.ssthresh = 10;
    connection.packets_out = 20;
    connection.begin_reduction(true);
    let mut sent = 0;
    for _ in 0..20 {
        connection.packets_out -= 1;
        connection.prr.newly_delivered = 1;
        connection.reduce_cwnd(0, false);
        let may_send = connection
            .window
            .cwnd
            .saturating_sub(connection.in_flight());
        connection.packets_out += may_send;
        connection.prr.sent += may_send;
        sent += may_send;
    }
    assert_eq!(sent, 10, "half of what was delivered");
    assert_eq!(connection.in_flight(), 10);
    connection.undo_marker = Some(connection.snd_una);
    connection.end_reduction(0);
    assert_eq!(connection.window.cwnd, 10);
}

#[test]
fn what_was_undone_is_not_reduced_in_the_end() {
    let mut connection = connection_with(CwndReduction::Prr);
    connection.window.cwnd = 20;
    connection.window.ssthresh = INFINITE_SSTHRESH;
    connection.undo_marker = None;
    connection.end_reduction(0);
    assert_eq!(connection.window.cwnd, 20);
    // Nor where another recovery began without a threshold.
    connection.undo_marker = Some(connection.snd_una);
    connection.end_reduction(0);
    assert_eq!(connection.window.cwnd, 20);
}

#[test]
fn proportional_reduction_fills_up_to_ssthresh_when_little_is_in_flight() {
    let mut connection = connection_with(CwndReduction::Prr);
    connection.window.cwnd = 20;
    connection.window.ssthresh = 2;
    connection.packets_out = 1;
    connection.begin_reduction(true);
    connection.packets_out = 0;
    connection.prr.newly_delivered = 1;
    connection.reduce_cwnd(0, false);
    assert_eq!(
        connection.window.cwnd, 2,
        "two segments, which are acknowledged at once"
    );
}
