//! FIN in both directions, and resets.

use tailback_units::Duration;

use crate::testing::{CLIENT, Fate, Net, SERVER};
use crate::{Event, Flags, Segment};

fn opened() -> Net {
    let mut net = Net::new();
    net.open();
    net
}

fn closed(net: &Net) -> bool {
    net.happened(CLIENT, Event::Closed) && net.happened(SERVER, Event::Closed)
}

#[test]
fn one_side_closes_the_other_goes_on_and_closes_later() {
    let mut net = opened();
    net.write(CLIENT, 50_000);
    net.run_for(Duration::from_ms(100));
    net.close(CLIENT);
    net.run_for(Duration::from_ms(100));
    assert!(net.happened(SERVER, Event::PeerClosed) && !net.happened(SERVER, Event::Closed));
    assert_eq!(net.delivered[SERVER], 50_000, "the FIN is no byte");
    assert_eq!(net.end(SERVER).readable(), 0);
    net.write(SERVER, 70_000);
    net.run_for(Duration::from_ms(500));
    assert_eq!(net.delivered[CLIENT], 70_000);
    net.close(SERVER);
    assert!(net.run_until(Duration::from_secs(1), closed));
    assert!(net.run_out(Duration::from_secs(1)));
}

#[test]
fn the_fin_rides_on_the_last_data() {
    let mut net = opened();
    net.end(CLIENT).window.cwnd = 1;
    net.write(CLIENT, 4000);
    net.close(CLIENT);
    // Not held back by cwnd: the packet with the FIN always has room for one segment more.
    let fins: Vec<(u16, bool)> = net
        .data(CLIENT)
        .map(|s| {
            (
                s.segment.payload_bytes,
                s.segment.flags.contains(Flags::FIN),
            )
        })
        .collect();
    assert_eq!(fins, [(1448, false), (1448, false), (1104, true)]);
}

#[test]
fn a_fin_alone_is_acknowledged_late_unless_both_close() {
    let mut net = opened();
    net.write(CLIENT, 1000);
    net.run_for(Duration::from_ms(100));
    net.trace.clear();
    net.close(CLIENT);
    let at = net.now;
    net.run_for(Duration::from_ms(100));
    let ack = net.acks(SERVER).next().unwrap().at;
    assert!(
        (39..=41).contains(&(ack.since(at).as_us() / 1000)),
        "{}",
        ack.since(at)
    );
    net.trace.clear();
    net.close(SERVER);
    let at = net.now;
    net.run_for(Duration::from_ms(100));
    assert!(net.acks(CLIENT).next().unwrap().at.since(at) < Duration::from_ms(1));
}

#[test]
fn lost_fins_are_sent_again() {
    let mut net = opened();
    let mut count = 0;
    net.judge(CLIENT, move |f| {
        count += usize::from(f.segment.flags.contains(Flags::FIN));
        if f.segment.flags.contains(Flags::FIN) && count < 3 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    net.write(CLIENT, 3000);
    net.close(CLIENT);
    net.close(SERVER);
    assert!(net.run_until(Duration::from_secs(5), closed));
    assert!(net.run_out(Duration::from_secs(100)));
}

#[test]
fn a_fin_that_overtakes_data_is_kept() {
    let mut net = opened();
    net.judge(CLIENT, |f| {
        if f.data_index == 0 {
            Fate::Late(Duration::from_ms(2))
        } else {
            Fate::Pass
        }
    });
    net.write(CLIENT, 2000);
    net.close(CLIENT);
    net.run_for(Duration::from_ms(20));
    assert!(net.happened(SERVER, Event::PeerClosed));
    assert_eq!(net.delivered[SERVER], 2000);
    assert_eq!(net.end(CLIENT).stats().retransmissions, 0);
}

#[test]
fn a_lost_last_acknowledgement_is_repeated() {
    let mut net = opened();
    net.close(SERVER);
    net.run_for(Duration::from_ms(100));
    let mut first = true;
    net.judge(SERVER, move |_| {
        if std::mem::take(&mut first) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    net.close(CLIENT);
    assert!(net.run_until(Duration::from_secs(5), closed));
    assert!(net.run_out(Duration::from_secs(5)));
}

#[test]
fn a_reset_inside_the_window_ends_it_one_outside_does_not() {
    let mut net = opened();
    let mut reset = net.end(CLIENT).plain_segment();
    reset.flags = Flags::RST;
    reset.seq = reset.seq - 5;
    net.inject(CLIENT, &reset);
    assert!(!net.happened(CLIENT, Event::Reset));
    reset.seq += 5;
    net.inject(CLIENT, &reset);
    assert!(net.happened(CLIENT, Event::Reset));
    let now = net.now;
    assert_eq!(net.end(CLIENT).write(now, 100), 0);
    assert_eq!(net.end(CLIENT).poll_timeout(), tailback_units::Time::NEVER);
}

#[test]
fn what_comes_after_a_reset_is_answered_with_one() {
    let mut net = opened();
    let mut syn = Segment::EMPTY;
    syn.flags = Flags::SYN;
    syn.seq = net.end(CLIENT).receive.rcv_nxt;
    net.inject(CLIENT, &syn);
    assert!(
        net.happened(CLIENT, Event::Reset),
        "a SYN inside the window"
    );
    assert!(
        net.sent(CLIENT)
            .any(|s| s.segment.flags.contains(Flags::RST))
    );
    net.write(SERVER, 100);
    net.run_for(Duration::from_ms(1));
    assert!(net.happened(SERVER, Event::Reset));
}

#[test]
fn data_after_the_peers_fin_is_not_taken() {
    let mut net = opened();
    net.close(CLIENT);
    net.run_for(Duration::from_ms(100));
    let mut more = net.end(SERVER).plain_segment();
    more.payload_bytes = 100;
    net.inject(SERVER, &more);
    assert_eq!(net.delivered[SERVER], 0);
    more.seq = more.seq - 1;
    net.inject(SERVER, &more);
    assert!(net.happened(SERVER, Event::Reset));
}
