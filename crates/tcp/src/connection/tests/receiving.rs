//! The offered window and the receive buffer.

use tailback_units::{Bytes, Duration};

use crate::testing::{CLIENT, Fate, Net, SERVER, config, stack, with_receiver_of_today};
use crate::{Config, Stack};

const MS: Duration = Duration::from_ms(1);

fn jumbo(stack: Stack, seed: u64) -> Config {
    Config {
        mss: 8960,
        rx_truesize_bytes: 9500,
        ..config(stack, seed)
    }
}

#[test]
fn the_window_grows_by_two_segments_for_each_that_comes() {
    let mut net = Net::between(jumbo(stack(), 1), jumbo(stack(), 2));
    net.open();
    assert_eq!(net.end(SERVER).probe().receive_window_bytes, 2 * 8948);
    for segments in 1..4 {
        net.write(CLIENT, 8948);
        net.run_for(MS);
        // The clamp: three quarters of the buffer less a segment.
        let clamp = 87_380 - 87_380 / 4 - 8948;
        assert_eq!(
            net.end(SERVER).receive.rcv_ssthresh(),
            ((2 + 2 * segments) * 8948).min(clamp)
        );
    }
}

#[test]
fn wasteful_frames_let_it_grow_less_or_not_at_all() {
    // A frame of 100 bytes in a buffer of 16 KB says nothing good of what will fit.
    let host = |seed| Config {
        rx_truesize_bytes: 16_384,
        ..config(stack(), seed)
    };
    let mut net = Net::between(host(1), host(2));
    net.open();
    let before = net.end(SERVER).receive.rcv_ssthresh();
    for _ in 0..5 {
        net.write(CLIENT, 100);
        net.run_for(MS * 5);
    }
    assert_eq!(net.end(SERVER).receive.rcv_ssthresh(), before);
    net.write(CLIENT, 1448);
    net.run_for(MS * 5);
    assert!(net.end(SERVER).receive.rcv_ssthresh() > before);
}

#[test]
fn the_buffer_grows_to_twice_what_is_read_in_a_round_trip() {
    let mut net = Net::new();
    for wire in &mut net.wires {
        wire.delay = MS * 20;
    }
    net.connect();
    net.run_for(MS * 100);
    let first = net.end(SERVER).receive.rcvbuf();
    net.write(CLIENT, 60_000_000);
    net.run_for(MS * 3000);
    let tuned = net.end(SERVER).receive.rcvbuf();
    assert!(tuned > 10 * first, "{first} {tuned}");
    assert!(tuned <= 4 << 20);
    let fixed = Stack {
        tcp_moderate_rcvbuf: false,
        ..stack()
    };
    let mut net = Net::of(fixed);
    net.open();
    let first = net.end(SERVER).receive.rcvbuf();
    net.write(CLIENT, 5_000_000);
    net.run_for(MS * 500);
    assert_eq!(net.end(SERVER).receive.rcvbuf(), first);
}

#[test]
fn the_window_offered_never_shrinks() {
    let mut net = Net::new();
    net.reads[SERVER] = false;
    net.open();
    net.write(CLIENT, 3_000_000);
    net.run_for(Duration::from_secs(2));
    let mut right = None;
    for sent in net.sent(SERVER) {
        let edge = sent.segment.ack + (u32::from(sent.segment.window) << 7);
        // To within the scale's unit: what is cut off by scaling may come back.
        assert!(right.is_none_or(|r| !(edge + 128).before(r)));
        right = Some(edge);
    }
    assert_eq!(net.end(CLIENT).snd_wnd, 0);
    net.reads[SERVER] = true;
    net.read(SERVER, u64::MAX);
    assert!(
        net.run_until(Duration::from_secs(20), |n| n.delivered[SERVER]
            == 3_000_000)
    );
}

#[test]
fn a_read_that_frees_much_tells_the_peer() {
    let rmem = [Bytes::new(4096), Bytes::new(60_000), Bytes::new(60_000)];
    let mut net = Net::of(Stack {
        tcp_rmem: rmem,
        tcp_moderate_rcvbuf: false,
        ..stack()
    });
    net.reads[SERVER] = false;
    net.open();
    net.write(CLIENT, 100_000);
    net.run_for(MS * 150);
    assert_eq!(net.end(CLIENT).snd_wnd, 0);
    net.trace.clear();
    net.read(SERVER, u64::MAX);
    let update = net.acks(SERVER).next().expect("a window update");
    assert!(u32::from(update.segment.window) << net.end(CLIENT).send_shift > 10_000);
}

#[test]
fn out_of_order_data_is_thrown_away_for_want_of_memory_and_sent_again() {
    // Frames charged with far more than they carry overrun the buffer before the window.
    let rmem = [Bytes::new(4096), Bytes::new(15_000), Bytes::new(20_000)];
    let narrow = Stack {
        tcp_rmem: rmem,
        tcp_moderate_rcvbuf: false,
        ..stack()
    };
    let server = Config {
        rx_truesize_bytes: 6000,
        ..config(narrow, 2)
    };
    let mut net = Net::between(config(stack(), 1), server);
    net.open();
    let client = net.end(CLIENT);
    (client.window.cwnd, client.snd_wnd, client.max_window) = (60, 60_000, 60_000);
    net.end(SERVER).receive.rcv_wnd = 60_000;
    net.judge(CLIENT, |f| {
        if f.data_index == 0 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    net.write(CLIENT, 60_000);
    assert!(net.run_until(Duration::from_secs(20), |n| n.delivered[SERVER] == 60_000));
    assert!(net.end(SERVER).shortage().ofo_pruned >= 1);
}

#[test]
fn the_largest_tso_burst_fits_a_segment_field() {
    let mut net = Net::between(jumbo(stack(), 1), jumbo(stack(), 2));
    net.open();
    net.write(CLIENT, 8_000_000);
    net.run_for(MS * 1000);
    assert_eq!(net.delivered[SERVER], 8_000_000);
    assert!(net.data(CLIENT).all(|s| s.segment.payload_bytes <= 8948));
}

#[test]
fn a_late_read_is_measured_at_what_came_before_it() {
    // tcp_rcv_space_adjust of 7.2 takes the last look at the clock.
    let mut net = Net::of(with_receiver_of_today(stack()));
    net.open();
    net.write(CLIENT, 20 * 1448);
    net.run_for(MS * 300);
    net.reads[SERVER] = false;
    net.write(CLIENT, 4 * 1448);
    net.run_for(MS * 5);
    let came = net.now;
    net.run_for(MS * 500);
    net.read(SERVER, u64::MAX);
    let measured_us = u64::from(net.end(SERVER).receive.measured_at());
    let came_us = came.as_ps() / 1_000_000;
    // An acknowledgement may have been sent 40 ms later.
    assert!(
        (came_us - 5000..came_us + 41_000).contains(&measured_us),
        "{measured_us} for {came_us}"
    );
}
