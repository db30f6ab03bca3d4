//! The handshake and what it settles.

use tailback_units::{Duration, Time};

use crate::testing::{CLIENT, Fate, Net, SERVER, config, preset, stack};
use crate::{Connection, Event, Flags, Stack};

#[test]
fn options_are_settled_by_both() {
    let mut net = Net::between(
        config(stack(), 1),
        config(
            Stack {
                tcp_sack: false,
                tcp_window_scaling: false,
                ..stack()
            },
            2,
        ),
    );
    net.open();
    for end in [CLIENT, SERVER] {
        let connection = net.end(end);
        assert!(!connection.sack && !connection.fack && connection.timestamps);
        assert_eq!(connection.send_shift, 0);
        assert_eq!(connection.mss, 1448);
        assert!(connection.receive.rcv_wnd <= 65_535);
    }
}

#[test]
fn the_window_offered_begins_with_a_few_segments() {
    for (mss, client, server) in [(1460, 4 * 1460, 4 * 1448), (8960, 2 * 8960, 2 * 8948)] {
        let host = |seed| {
            let mut host = config(stack(), seed);
            host.mss = mss;
            host
        };
        let mut net = Net::between(host(1), host(2));
        net.connect();
        net.run_for(Duration::from_ms(2));
        let syns: Vec<u16> = net
            .trace
            .iter()
            .filter(|s| s.segment.flags.contains(Flags::SYN))
            .map(|s| s.segment.window)
            .collect();
        assert_eq!(syns, [client, server], "the answer knows of the timestamps");
        let offer = net.trace[1].segment.syn_options().unwrap();
        assert_eq!((offer.mss, offer.window_scale), (mss, Some(7)));
    }
}

#[test]
fn a_lost_syn_is_sent_again_after_three_seconds_and_costs_a_segment() {
    let mut net = Net::new();
    net.lose_first(CLIENT, 1);
    net.connect();
    assert!(net.run_until(Duration::from_secs(4), |n| {
        n.happened(CLIENT, Event::Connected)
    }));
    let at: Vec<Time> = net.sent(CLIENT).map(|s| s.at).collect();
    assert_eq!(at[1].since(at[0]), Duration::from_secs(3));
    assert_eq!(net.end(CLIENT).probe().cwnd, 1);
    assert_eq!(net.end(SERVER).probe().cwnd, 2);
}

#[test]
fn a_lost_answer_is_sent_again() {
    let mut net = Net::new();
    net.lose_first(SERVER, 1);
    net.connect();
    net.run_for(Duration::from_secs(5));
    assert!(net.happened(CLIENT, Event::Connected) && net.happened(SERVER, Event::Connected));
}

#[test]
fn nobody_there_is_noticed_after_five_more_syns() {
    let mut net = Net::new();
    net.judge(CLIENT, |_| Fate::Drop);
    net.connect();
    assert!(net.run_until(Duration::from_secs(400), |n| {
        n.happened(CLIENT, Event::Reset)
    }));
    assert_eq!(net.sent(CLIENT).count(), 6);
}

#[test]
fn the_handshake_gives_the_first_sample() {
    let mut net = Net::new();
    net.open();
    for end in [CLIENT, SERVER] {
        assert_eq!(net.end(end).probe().rto, Duration::from_ms(201));
    }
    let mut net = Net::of(Stack {
        tcp_timestamps: false,
        ..stack()
    });
    net.open();
    assert_eq!(
        net.end(CLIENT).probe().rto,
        Duration::from_secs(3),
        "not without timestamps"
    );
}

#[test]
fn the_same_seed_gives_the_same_segments() {
    let trace = |seed| {
        let jittered = Stack {
            rto_jitter: 0.5,
            ..stack()
        };
        let mut net = Net::between(config(jittered.clone(), seed), config(jittered, 2));
        net.judge(CLIENT, |f| {
            if f.data_index % 9 == 8 {
                Fate::Drop
            } else {
                Fate::Pass
            }
        });
        net.connect();
        net.run_for(Duration::from_ms(2));
        net.write(CLIENT, 200_000);
        net.run_for(Duration::from_secs(20));
        assert_eq!(net.delivered[SERVER], 200_000);
        net.trace
            .iter()
            .map(|s| (s.at, s.segment))
            .collect::<Vec<_>>()
    };
    assert_eq!(trace(7), trace(7));
    assert_ne!(trace(7), trace(8));
}

#[test]
fn a_tiny_mss_is_taken_for_48_bytes() {
    let mut syn = crate::Segment::EMPTY;
    syn.set_syn_options(crate::SynOptions {
        mss: 1,
        window_scale: Some(200),
        sack_permitted: true,
    });
    let connection = Connection::accept(&config(stack(), 1), Time::ZERO, &syn);
    assert_eq!(connection.mss_most, 48);
    assert_eq!(connection.send_shift, 14);
}

#[test]
fn a_reset_with_the_wrong_number_does_not_end_an_attempt() {
    let mut net = Net::new();
    net.judge(CLIENT, |_| Fate::Drop);
    net.connect();
    let mut reset = crate::Segment::EMPTY;
    reset.flags = Flags::RST.with(Flags::ACK);
    reset.ack = net.end(CLIENT).snd_nxt + 1;
    net.inject(CLIENT, &reset);
    assert!(!net.happened(CLIENT, Event::Reset));
    reset.ack = net.end(CLIENT).snd_nxt;
    net.inject(CLIENT, &reset);
    assert!(net.happened(CLIENT, Event::Reset));
}

#[test]
fn a_server_whose_answer_was_lost_has_a_round_trip_by_the_echo() {
    let mut net = Net::of(preset("linux-7.2"));
    net.lose_first(SERVER, 1);
    net.connect();
    assert!(net.run_until(Duration::from_secs(4), |n| {
        n.happened(SERVER, Event::Connected)
    }));
    let probe = net.end(SERVER).probe();
    assert!(probe.srtt > Duration::ZERO);
    // Not the three seconds of a connection that has none.
    assert!(probe.rto < Duration::from_ms(300), "{}", probe.rto);
}

#[test]
fn syns_sent_again_for_nothing_do_not_cost_the_initial_window() {
    for (delay_ms, lost, cwnd) in [(1, 0, 10), (1250, 0, 10), (1, 2, 1)] {
        let mut net = Net::of(preset("linux-7.2"));
        for wire in &mut net.wires {
            wire.delay = Duration::from_ms(delay_ms);
        }
        net.lose_first(CLIENT, lost);
        net.connect();
        assert!(net.run_until(Duration::from_secs(9), |n| {
            n.happened(CLIENT, Event::Connected)
        }));
        assert_eq!(
            net.end(CLIENT).probe().cwnd,
            cwnd,
            "{delay_ms} ms, {lost} lost"
        );
    }
}

#[test]
fn segments_are_half_of_the_window_and_today_all_of_a_tiny_one() {
    for (name, window, mss) in [
        ("linux-7.2", 1000, 500),
        ("linux-7.2", 536, 536),
        ("linux-7.2", 400, 400),
        ("linux-2.6.18", 400, 200),
    ] {
        let mut net = Net::of(preset(name));
        net.open();
        let end = net.end(CLIENT);
        end.max_window = window;
        end.bound_mss();
        assert_eq!(end.mss, mss, "{name} {window}");
    }
}

#[test]
fn a_syn_answered_again_does_not_keep_back_a_challenge() {
    // Answers of a request and those of its connection are limited apart.
    let mut net = Net::of(preset("linux-7.2"));
    net.judge(SERVER, |_| Fate::Drop);
    net.connect();
    net.run_for(Duration::from_ms(100));
    net.judge(SERVER, |_| Fate::Pass);
    net.run_for(Duration::from_ms(1000));
    assert!(net.happened(SERVER, Event::Connected));
    assert!(net.sent(SERVER).count() > 1, "the SYN was answered again");
    let mut reset = net.end(SERVER).plain_segment();
    reset.flags = Flags::RST;
    reset.seq += 1000;
    net.trace.clear();
    net.inject(SERVER, &reset);
    assert_eq!(net.acks(SERVER).count(), 1);
}

#[test]
fn the_first_pacing_rate_after_a_lost_syn_is_that_of_a_window_of_one() {
    let rate_of_windows = |lost: bool| {
        let today = || config(preset("linux-7.2"), 1);
        let mut net = Net::between(today(), today());
        if lost {
            net.judge(CLIENT, |_| Fate::Drop);
        }
        net.connect();
        net.run_for(Duration::from_ms(500));
        net.judge(CLIENT, |_| Fate::Pass);
        net.run_for(Duration::from_secs(2));
        let now = net.now;
        let client = net.end(CLIENT);
        let (window, mss) = (client.window, u64::from(client.mss));
        assert_eq!(window.cwnd, 10);
        // In slow start 200 % of it a round trip.
        let of_one = mss * 2 * 1_000_000 / u64::from(client.tcp_info(now).rtt.max(1));
        window.pacing_rate as f64 / of_one as f64
    };
    assert!((rate_of_windows(false) - 10.0).abs() < 0.1);
    assert!((rate_of_windows(true) - 1.0).abs() < 0.01);
}
