//! What is sent, how much and when: windows, Nagle, offload, the send buffer.

use tailback_units::{Bytes, Duration};

use crate::congestion::CongestionKind;
use crate::testing::{CLIENT, Fate, Net, SERVER, config, stack};
use crate::{Event, Flags, Stack};

const MSS: u64 = 1448;
const MS: Duration = Duration::from_ms(1);

fn opened(stack: Stack) -> Net {
    let mut net = Net::of(stack);
    net.open();
    net
}

/// An open connection with a round trip of 20 ms, slow enough to see each one.
fn far(stack: Stack) -> Net {
    let mut net = Net::of(stack);
    for wire in &mut net.wires {
        wire.delay = MS * 10;
    }
    net.connect();
    net.run_for(MS * 60);
    net.trace.clear();
    net
}

/// The same after so much data that the offered window is no limit any more.
fn far_and_grown(stack: Stack) -> Net {
    let mut net = far(stack);
    net.write(CLIENT, 2000 * MSS);
    net.run_until(MS * 2000, |n| n.delivered[SERVER] == 2000 * MSS);
    net.run_for(MS * 60);
    net.trace.clear();
    net
}

/// Sets the client's window, and the one the server offers so high that it is no limit.
fn with_window(net: &mut Net, cwnd: u32) {
    let client = net.end(CLIENT);
    client.window.cwnd = cwnd;
    client.snd_wnd = 1 << 20;
    client.max_window = 1 << 20;
}

/// The receiver's window and buffers are no limit.
fn roomy() -> Stack {
    Stack {
        tcp_rmem: [
            Bytes::new(4096),
            Bytes::new(8_000_000),
            Bytes::new(8_000_000),
        ],
        tcp_wmem: [
            Bytes::new(4096),
            Bytes::new(8_000_000),
            Bytes::new(8_000_000),
        ],
        ..stack()
    }
}

#[test]
fn slow_start_adds_a_segment_an_acknowledgement() {
    let mut net = far(roomy());
    let mut before = net.end(CLIENT).probe().cwnd;
    assert_eq!(before, 2, "no metrics of the route are kept");
    net.write(CLIENT, 2000 * MSS);
    for _ in 0..4 {
        let acks = net.acks(SERVER).count();
        net.run_for(MS * 21);
        let acks = (net.acks(SERVER).count() - acks) as u32;
        let now = net.end(CLIENT).probe().cwnd;
        assert!(
            now - before <= acks && now > before,
            "{before} {now} {acks}"
        );
        before = now;
    }
}

#[test]
fn slow_start_grows_by_half_a_round_trip_with_delayed_acknowledgements() {
    let mut net = far(Stack {
        quickacks: 0,
        ..roomy()
    });
    // Past the growth of the offered window, which brings quick acknowledgements with it.
    net.end(CLIENT).window.cwnd = 16;
    let rcv_wnd = net.end(SERVER).receive.rcv_wnd;
    net.end(CLIENT).snd_wnd = 1 << 20;
    assert!(rcv_wnd > 0);
    net.write(CLIENT, 3000 * MSS);
    let sent: Vec<u32> = (0..3)
        .map(|_| {
            net.run_for(MS * 20);
            net.end(CLIENT).probe().cwnd
        })
        .collect();
    for pair in sent.windows(2) {
        let growth = f64::from(pair[1]) / f64::from(pair[0]);
        assert!((1.4..=2.0).contains(&growth), "{sent:?}");
    }
}

#[test]
fn bic_leaves_slow_start_at_100_segments() {
    let mut net = far(roomy());
    assert_eq!(net.end(CLIENT).probe().ssthresh, 100);
    let mut reno = far(Stack {
        tcp_congestion_control: CongestionKind::Reno,
        ..roomy()
    });
    assert!(reno.end(CLIENT).probe().ssthresh > 1_000_000);
    for net in [&mut net, &mut reno] {
        net.write(CLIENT, 6000 * MSS);
        net.run_for(MS * 210);
    }
    let (bic, reno) = (net.end(CLIENT).probe().cwnd, reno.end(CLIENT).probe().cwnd);
    assert!(bic > 100 && reno > 2 * bic, "bic {bic} reno {reno}");
}

#[test]
fn after_idleness_the_window_is_halved_for_every_timeout_that_passed() {
    for (idle_ms, halvings) in [(100, 0), (250, 1), (450, 2)] {
        let mut net = opened(roomy());
        net.write(CLIENT, 500 * MSS);
        net.run_until(MS * 1000, |n| n.delivered[SERVER] == 500 * MSS);
        net.run_for(MS);
        let last = net.end(CLIENT).last_sent;
        assert!(last > 0);
        let cwnd = net.end(CLIENT).probe().cwnd;
        net.run_for(MS * idle_ms);
        net.write(CLIENT, MSS);
        assert_eq!(net.end(CLIENT).probe().cwnd, cwnd >> halvings, "{idle_ms}");
        if halvings > 0 {
            let ssthresh = net.end(CLIENT).probe().ssthresh;
            assert_eq!(ssthresh, ((cwnd >> 1) + (cwnd >> 2)).max(100));
        }
    }
    let mut net = opened(Stack {
        tcp_slow_start_after_idle: false,
        ..roomy()
    });
    net.write(CLIENT, 500 * MSS);
    net.run_for(MS * 1000);
    let cwnd = net.end(CLIENT).probe().cwnd;
    net.write(CLIENT, MSS);
    assert_eq!(net.end(CLIENT).probe().cwnd, cwnd);
}

#[test]
fn a_retransmission_starts_the_idle_clock_anew() {
    let mut net = opened(roomy());
    net.write(CLIENT, 300 * MSS);
    net.run_for(MS * 50);
    net.judge(CLIENT, |f| {
        if f.data_index == 0 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    net.write(CLIENT, MSS);
    net.run_for(MS * 203);
    assert_eq!(net.end(CLIENT).stats().timeouts, 1);
    net.end(CLIENT).window.cwnd = 50;
    net.run_for(MS * 50);
    net.write(CLIENT, MSS);
    assert_eq!(net.end(CLIENT).probe().cwnd, 50);
}

#[test]
fn a_window_not_in_use_shrinks_towards_what_is_used() {
    let mut net = opened(roomy());
    net.write(CLIENT, 400 * MSS);
    net.run_for(MS * 70);
    assert_eq!(net.end(CLIENT).packets_out, 0);
    let cwnd = net.end(CLIENT).probe().cwnd;
    assert!(cwnd > 50);
    // Every acknowledgement starts the clock anew, so it takes a timeout without any.
    net.judge(SERVER, |_| Fate::Drop);
    net.run_for(MS * 90);
    net.write(CLIENT, MSS);
    assert_eq!(net.end(CLIENT).probe().cwnd, cwnd);
    let used = net.end(CLIENT).cwnd_used;
    net.run_for(MS * 130);
    net.write(CLIENT, MSS);
    assert_eq!(net.end(CLIENT).stats().timeouts, 0);

    assert_eq!(net.end(CLIENT).probe().cwnd, (cwnd + used) / 2);
    assert!(
        (3..cwnd).contains(&used),
        "the most there was out since the window was full"
    );
    assert_eq!(
        net.end(CLIENT).probe().ssthresh,
        ((cwnd >> 1) + (cwnd >> 2)).max(100)
    );
}

#[test]
fn a_window_that_is_not_full_does_not_grow() {
    let mut net = opened(roomy());
    net.write(CLIENT, 40 * MSS);
    net.run_for(MS * 20);
    let cwnd = net.end(CLIENT).probe().cwnd;
    for _ in 0..20 {
        net.write(CLIENT, 3 * MSS);
        net.run_for(MS * 2);
    }
    assert_eq!(net.end(CLIENT).probe().cwnd, cwnd);
}

#[test]
fn a_second_short_segment_waits_for_the_first_to_be_acknowledged() {
    let mut net = far(roomy());
    net.write(CLIENT, 100);
    net.write(CLIENT, 50);
    net.write(CLIENT, 50);
    assert_eq!(net.data(CLIENT).count(), 1);
    net.run_for(MS * 25);
    let sizes: Vec<u16> = net.data(CLIENT).map(|s| s.segment.payload_bytes).collect();
    assert_eq!(sizes, [100, 100]);
    // Minshall: a short one after full ones goes at once.
    net.run_for(MS * 100);
    net.trace.clear();
    net.end(CLIENT).window.cwnd = 10;
    net.write(CLIENT, 2 * MSS + 100);
    assert_eq!(net.data(CLIENT).count(), 3);
}

#[test]
fn the_first_packets_of_a_write_take_the_whole_window() {
    let mut net = opened(roomy());
    with_window(&mut net, 100);
    net.write(CLIENT, 1000 * MSS);
    assert_eq!(net.data(CLIENT).count(), 100);
}

#[test]
fn an_offloaded_packet_waits_until_a_third_of_the_window_may_be_sent() {
    let mut net = far_and_grown(roomy());
    with_window(&mut net, 30);
    net.end(CLIENT).window.ssthresh = 2;
    net.write(CLIENT, 1000 * MSS);
    assert_eq!(net.data(CLIENT).count(), 30);
    let mut most = 0;
    net.watch(60, |n| {
        let connection = n.end(CLIENT);
        let held = connection
            .window
            .cwnd
            .saturating_sub(connection.in_flight());
        assert!(held <= connection.window.cwnd / 3);
        most = most.max(held);
    });
    assert!(most >= 8, "{most}");
    let mut eager = far_and_grown(Stack {
        tso: false,
        ..roomy()
    });
    with_window(&mut eager, 30);
    eager.write(CLIENT, 1000 * MSS);
    eager.watch(60, |n| {
        let connection = n.end(CLIENT);
        assert!(connection.in_flight() >= connection.window.cwnd);
    });
}

#[test]
fn the_send_buffer_grows_with_the_window_and_the_writer_is_woken() {
    let mut net = far(stack());
    assert_eq!(net.end(CLIENT).sndbuf, 16_384);
    net.write(CLIENT, 3000 * MSS);
    assert!(net.backlog[CLIENT] > 0);
    assert!(
        !net.happened(CLIENT, Event::Writable),
        "only an acknowledgement makes room"
    );
    net.run_for(MS * 400);
    assert!(net.happened(CLIENT, Event::Writable));
    let (cwnd, sndbuf) = (net.end(CLIENT).window.cwnd, net.end(CLIENT).sndbuf);
    assert!(sndbuf > 16_384 && u64::from(sndbuf) <= 2 * u64::from(cwnd) * (1460 + 512));
    let most = Stack {
        tcp_wmem: [Bytes::new(4096), Bytes::new(16_384), Bytes::new(50_000)],
        ..stack()
    };
    let mut net = far(most);
    net.write(CLIENT, 3000 * MSS);
    net.run_for(MS * 2000);
    assert_eq!(net.end(CLIENT).sndbuf, 50_000);
}

#[test]
fn a_waiting_writer_goes_on_with_any_room_when_something_comes_to_read() {
    // sk_stream_wait_memory of 2.6.18: whatever wakes those who wait for the socket.
    for server_writes in [false, true] {
        let most = Stack {
            tcp_wmem: [Bytes::new(4096), Bytes::new(40_000), Bytes::new(40_000)],
            ..stack()
        };
        let mut net = far(most);
        net.write(CLIENT, 3000 * MSS);
        // The first acknowledgement comes after 20 ms, of less than a third of what the buffer holds.
        net.run_for(MS * 25);
        assert!(!net.happened(CLIENT, Event::Writable));
        if server_writes {
            net.write(SERVER, 1);
        }
        net.run_for(MS * 13);
        assert_eq!(net.happened(CLIENT, Event::Writable), server_writes);
    }
}

#[test]
fn sequence_numbers_wrap() {
    // More than 2^32 bytes, in large segments to be quick.
    let total = 4_400_000_000_u64;
    let mut client = config(roomy(), 1);
    let mut server = config(roomy(), 2);
    (client.mss, server.mss) = (60_000, 60_000);
    (client.rx_truesize_bytes, server.rx_truesize_bytes) = (61_000, 61_000);
    let mut net = Net::between(client, server);
    net.keep_trace = false;
    net.connect();
    net.run_for(MS * 2);
    net.write(CLIENT, total);
    assert!(net.run_until(Duration::from_secs(60), |n| n.delivered[SERVER] == total));
    net.run_for(MS * 100);
    assert_eq!(net.end(CLIENT).stats().retransmissions, 0);
    assert_eq!(net.end(CLIENT).stats().bytes_acked, total);
}

#[test]
fn a_segment_is_at_most_half_of_the_largest_window() {
    let small = [Bytes::new(2000), Bytes::new(3000), Bytes::new(3000)];
    let mut server = config(
        Stack {
            tcp_rmem: small,
            tcp_moderate_rcvbuf: false,
            ..stack()
        },
        2,
    );
    server.mss = 8960;
    server.rx_truesize_bytes = 300;
    let mut client = config(stack(), 1);
    client.mss = 8960;
    let mut net = Net::between(client, server);
    net.open();
    net.write(CLIENT, 100_000);
    net.run_for(Duration::from_secs(20));
    assert_eq!(net.delivered[SERVER], 100_000);
    let most = net.end(CLIENT).max_window;
    assert!(most < 8960);
    assert!(
        net.data(CLIENT)
            .all(|s| u32::from(s.segment.payload_bytes) <= most / 2)
    );
}

#[test]
fn the_last_bytes_of_a_write_are_pushed() {
    let mut net = opened(roomy());
    with_window(&mut net, 20);
    net.write(CLIENT, 10 * MSS);
    let pushed: Vec<bool> = net
        .data(CLIENT)
        .map(|s| s.segment.flags.contains(Flags::PSH))
        .collect();
    assert_eq!(pushed.iter().filter(|p| **p).count(), 1);
    assert_eq!(pushed.last(), Some(&true));
}

/// A window of 20 segments and more to send, of which the host's queue takes so many.
fn refused_from(taken: usize) -> Net {
    let mut net = opened(Stack {
        tso: false,
        ..roomy()
    });
    with_window(&mut net, 20);
    net.wires[CLIENT].admits = taken;
    net.write(CLIENT, 100 * MSS);
    net
}

#[test]
fn what_the_hosts_queue_drops_was_not_sent() {
    let mut net = refused_from(5);
    assert_eq!(net.wires[CLIENT].refused, 1, "nothing is tried after it");
    let probe = net.end(CLIENT).probe();
    assert_eq!(probe.in_flight, 5);
    assert_eq!(probe.state, crate::CaState::Cwr);
    assert!(probe.ssthresh < 20 && probe.cwnd <= 6, "{probe:?}");
    net.wires[CLIENT].admits = usize::MAX;
    net.run_for(MS * 100);
    assert_eq!(net.delivered[SERVER], 100 * MSS);
    assert_eq!(net.end(CLIENT).stats().retransmissions, 0);
    assert_eq!(net.end(CLIENT).stats().bytes_sent, 100 * MSS);
}

#[test]
fn with_nothing_under_way_the_probe_timer_tries_again() {
    let mut net = refused_from(0);
    assert_eq!(net.end(CLIENT).probe().in_flight, 0);
    net.wires[CLIENT].admits = usize::MAX;
    net.run_for(MS * 150);
    assert_eq!(net.delivered[SERVER], 0, "the timeout is 200 ms");
    net.run_for(MS * 400);
    assert_eq!(net.delivered[SERVER], 100 * MSS);
    assert_eq!(net.end(CLIENT).stats().retransmissions, 0);
}

#[test]
fn a_fin_that_is_refused_comes_later() {
    let mut net = opened(roomy());
    net.wires[CLIENT].admits = 0;
    net.write(CLIENT, MSS);
    net.close(CLIENT);
    net.wires[CLIENT].admits = usize::MAX;
    net.run_for(MS * 600);
    assert_eq!(net.delivered[SERVER], MSS);
    assert!(net.happened(SERVER, Event::PeerClosed), "{:?}", net.events);
}

#[test]
fn a_retransmission_that_is_refused_is_lost() {
    let mut net = opened(roomy());
    net.judge(CLIENT, |frame| match frame.data_index {
        0 => Fate::Drop,
        _ => Fate::Pass,
    });
    net.write(CLIENT, MSS);
    net.wires[CLIENT].admits = 0;
    net.run_for(MS * 250);
    assert_eq!(net.wires[CLIENT].refused, 1);
    assert_eq!(net.end(CLIENT).probe().in_flight, 1);
    net.wires[CLIENT].admits = usize::MAX;
    net.run_for(MS * 1000);
    assert_eq!(net.delivered[SERVER], MSS);
}
