//! When the receiver acknowledges.

use tailback_units::{Bytes, Duration};

use crate::Stack;
use crate::testing::{CLIENT, Fate, Net, SERVER, stack};

const MSS: u64 = 1448;
const MS: Duration = Duration::from_ms(1);

/// A receiver whose window does not grow, since growth acknowledges quickly.
fn steady() -> Net {
    let rmem = [Bytes::new(4096), Bytes::new(60_000), Bytes::new(60_000)];
    let mut net = Net::of(Stack {
        tcp_rmem: rmem,
        tcp_moderate_rcvbuf: false,
        ..stack()
    });
    net.open();
    net.write(CLIENT, 300 * MSS);
    net.run_for(MS * 150);
    assert_eq!(net.delivered[SERVER], 300 * MSS);
    net.trace.clear();
    net
}

#[test]
fn the_first_segments_are_acknowledged_one_by_one() {
    let mut net = Net::new();
    net.open();
    net.write(CLIENT, 20 * MSS);
    net.run_for(MS * 30);
    let (data, acks) = (net.data(CLIENT).count(), net.acks(SERVER).count());
    assert_eq!((data, acks), (20, 20));
}

#[test]
fn later_every_second_segment_is() {
    let mut net = steady();
    net.write(CLIENT, 200 * MSS);
    net.run_for(MS * 100);
    let (data, acks) = (net.data(CLIENT).count(), net.acks(SERVER).count());
    assert_eq!(data, 200);
    assert!((100..=102).contains(&acks), "{acks}");
}

#[test]
fn a_single_full_segment_waits_40_ms() {
    let mut net = steady();
    net.run_for(Duration::from_us(250));
    net.write(CLIENT, MSS);
    let sent = net.now;
    net.run_for(MS * 100);
    let ack = net.acks(SERVER).next().unwrap().at;
    assert_eq!(net.acks(SERVER).count(), 1);
    // Forty ticks from the one in which it came.
    assert_eq!(ack.since(sent), MS * 40 - Duration::from_us(250));
}

#[test]
fn a_short_segment_is_acknowledged_when_it_has_been_read() {
    let mut net = steady();
    net.reads[SERVER] = false;
    net.write(CLIENT, 600);
    net.run_for(MS * 10);
    assert_eq!(net.acks(SERVER).count(), 0);
    net.read(SERVER, u64::MAX);
    assert_eq!(net.acks(SERVER).count(), 1);
}

#[test]
fn an_answer_carries_the_acknowledgement() {
    let mut net = steady();
    for _ in 0..3 {
        net.write(CLIENT, MSS);
        net.run_for(MS * 5);
        net.write(SERVER, MSS);
        net.run_for(MS * 5);
    }
    assert_eq!(net.acks(SERVER).count(), 0);
    assert!(net.end(SERVER).receive.ack.in_pingpong());
}

#[test]
fn a_pause_longer_than_the_timeout_brings_quick_acknowledgements() {
    let mut net = steady();
    net.run_for(MS * 400);
    net.write(CLIENT, 10 * MSS);
    net.run_for(MS * 20);
    assert_eq!(net.acks(SERVER).count(), 10);
}

#[test]
fn out_of_order_data_is_acknowledged_at_once_and_so_is_what_fills_the_hole() {
    let mut net = steady();
    net.judge(CLIENT, |f| {
        if f.data_index == 2 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    net.write(CLIENT, 8 * MSS);
    net.run_for(MS * 30);
    let selective = net
        .acks(SERVER)
        .filter(|s| !s.segment.sack_blocks().is_empty())
        .count();
    assert_eq!(selective, 5);
    assert_eq!(net.end(CLIENT).stats().timeouts, 0);
    assert_eq!(net.delivered[SERVER], 308 * MSS);
}

#[test]
fn data_that_was_there_is_told_as_a_duplicate() {
    let mut net = steady();
    net.judge(CLIENT, |f| {
        if f.data_index == 1 {
            Fate::Duplicate
        } else {
            Fate::Pass
        }
    });
    let second = net.end(CLIENT).snd_nxt + MSS as u32;
    net.write(CLIENT, 2 * MSS);
    net.run_for(MS * 30);
    let told = net
        .acks(SERVER)
        .find(|s| !s.segment.sack_blocks().is_empty())
        .unwrap();
    let block = told.segment.sack_blocks()[0];
    assert_eq!((block.start, block.end), (second, second + MSS as u32));
    assert_eq!(told.segment.ack, block.end);
    assert_eq!(net.end(CLIENT).stats().dsacks_received, 1);
}

#[test]
fn an_old_timestamp_is_refused_one_tick_is_not() {
    let mut net = steady();
    for (back, accepted) in [(1, true), (2, false)] {
        let mut data = net.end(SERVER).plain_segment();
        data.ts_val = data.ts_val.wrapping_sub(back);
        data.payload_bytes = 10;
        let (before, recent) = (net.delivered[SERVER], net.end(SERVER).ts_recent);
        net.inject(SERVER, &data);
        assert_eq!(net.delivered[SERVER] > before, accepted);
        assert_eq!(net.end(SERVER).ts_recent, recent, "it never goes back");
    }
}
