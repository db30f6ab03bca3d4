//! Reductions that turn out to be needless are undone.

use tailback_units::Duration;

use crate::testing::{CLIENT, Fate, Net, SERVER, preset, stack};
use crate::{CaState, Stack};

const MSS: u64 = 1448;

/// An open connection with a round trip of 40 ms, so that timestamps tell copies apart.
fn warm(stack: Stack) -> Net {
    let mut net = Net::of(stack);
    for wire in &mut net.wires {
        wire.delay = Duration::from_ms(20);
    }
    net.connect();
    net.run_for(Duration::from_secs(1));
    net.write(CLIENT, 400 * MSS);
    net.run_for(Duration::from_secs(10));
    assert_eq!(net.delivered[SERVER], 400 * MSS);
    assert_eq!(net.end(CLIENT).stats().retransmissions, 0);
    net.trace.clear();
    net
}

#[test]
fn timestamps_show_that_the_original_arrived() {
    let mut net = warm(stack());
    let before = net.end(CLIENT).probe();
    // Overtaken by all that follows, and longer than it takes to be sent again.
    net.judge(CLIENT, |f| match f.data_index {
        5 => Fate::Late(Duration::from_ms(5)),
        _ => Fate::Pass,
    });
    net.write(CLIENT, 200 * MSS);
    net.run_for(Duration::from_secs(5));
    assert_eq!(net.delivered[SERVER], 600 * MSS);
    let stats = *net.end(CLIENT).stats();
    assert_eq!(
        (stats.fast_recoveries, stats.undos, stats.timeouts),
        (1, 1, 0),
        "{stats:?}"
    );
    assert_eq!(net.end(CLIENT).probe().state, CaState::Open);
    assert!(net.end(CLIENT).probe().ssthresh >= before.ssthresh);
}

#[test]
fn a_partial_undo_raises_reordering_and_ends_fack() {
    let mut net = warm(stack());
    net.judge(CLIENT, |f| match f.data_index {
        // The first comes late; the second is lost, so that the acknowledgement is a partial one.
        5 => Fate::Late(Duration::from_ms(5)),
        20 => Fate::Drop,
        _ => Fate::Pass,
    });
    net.write(CLIENT, 200 * MSS);
    net.run_for(Duration::from_secs(5));
    assert_eq!(net.delivered[SERVER], 600 * MSS);
    assert!(
        net.end(CLIENT).reordering > 3,
        "{}",
        net.end(CLIENT).reordering
    );
    assert!(!net.end(CLIENT).fack);
    assert!(net.end(CLIENT).stats().undos >= 1);
}

#[test]
fn without_timestamps_a_duplicate_acknowledgement_tells() {
    let mut net = warm(Stack {
        tcp_timestamps: false,
        ..stack()
    });
    let before = net.end(CLIENT).probe();
    net.judge(CLIENT, |f| match f.data_index {
        5 => Fate::Late(Duration::from_ms(5)),
        _ => Fate::Pass,
    });
    net.write(CLIENT, 300 * MSS);
    net.run_for(Duration::from_secs(5));
    let stats = *net.end(CLIENT).stats();
    assert_eq!(net.delivered[SERVER], 700 * MSS);
    assert_eq!(
        (stats.fast_recoveries, stats.dsacks_received, stats.undos),
        (1, 1, 1)
    );
    assert!(net.end(CLIENT).probe().ssthresh >= before.ssthresh);
}

#[test]
fn a_timeout_that_came_too_early_is_undone() {
    let mut net = warm(stack());
    // The path becomes slower by more than a timeout for one window, and nothing is lost.
    let late_until = net.now + Duration::from_ms(20);
    net.judge(CLIENT, move |f| {
        if f.now < late_until {
            Fate::Late(Duration::from_ms(228))
        } else {
            Fate::Pass
        }
    });
    let cwnd = net.end(CLIENT).probe().cwnd;
    net.write(CLIENT, 20 * MSS);
    net.run_for(Duration::from_secs(3));
    let stats = *net.end(CLIENT).stats();
    assert_eq!(net.delivered[SERVER], 420 * MSS);
    assert!(stats.timeouts >= 1 && stats.undos == 1, "{stats:?}");
    // Linux 2.6.18 forgets BIC's maximum at a timeout; ssthresh is what it was, or more.
    assert!(net.end(CLIENT).probe().ssthresh >= cwnd * 3 / 4);
}

#[test]
fn a_timeout_after_one_undone_counts_the_retransmission_once() {
    let mut net = Net::of(Stack {
        tcp_sack: false,
        tcp_early_retrans: 0,
        tcp_frto: 0,
        ..preset("linux-7.2")
    });
    net.open();
    net.write(CLIENT, 100_000);
    // No window, and data that makes all that the server says next old: the head is retransmitted as a probe.
    let mut segment = net.end(CLIENT).plain_segment();
    segment.has_timestamps = false;
    segment.window = 0;
    segment.payload_bytes = 14_767;
    net.inject(CLIENT, &segment);
    net.run_for(Duration::from_ms(218));
    // A byte of it is acknowledged, and the timeout undone; the next timer finds it retransmitted.
    // What the books must say is looked at with every step.
    segment.seq += 14_767;
    segment.ack += 1;
    segment.payload_bytes = 1;
    net.inject(CLIENT, &segment);
    net.run_for(Duration::from_secs(2));
    assert!(net.end(CLIENT).stats().retransmissions > 0);
}
