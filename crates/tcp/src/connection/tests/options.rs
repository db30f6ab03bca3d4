//! Socket options, and how long a connection is kept trying.

use std::sync::Arc;

use tailback_units::{Bytes, Duration};

use crate::congestion::CongestionKind;
use crate::testing::{CLIENT, Fate, Net, SERVER, config, preset, stack};
use crate::{Event, Failure, Flags, Life, SocketOption, SocketOptions, Stack};

const MS: Duration = Duration::from_ms(1);

fn with(options: SocketOptions) -> Net {
    let mut client = config(stack(), 1);
    client.options = options.into();
    Net::between(client, config(stack(), 2))
}

#[test]
fn buffers_are_doubled_and_bounded() {
    let stack = Stack {
        wmem_max: Bytes::new(50_000),
        rmem_max: Bytes::new(60_000),
        ..stack()
    };
    let mut options = SocketOptions::default();
    options
        .set(SocketOption::SndBuf(Bytes::new(20_000)))
        .unwrap();
    options.set(SocketOption::RcvBuf(Bytes::new(1))).unwrap();
    assert_eq!(options.sndbuf_bytes(&stack), Some(40_000));
    assert_eq!(options.rcvbuf_bytes(&stack), Some(2304));
    options
        .set(SocketOption::SndBuf(Bytes::new(90_000)))
        .unwrap();
    assert_eq!(options.sndbuf_bytes(&stack), Some(100_000));
}

#[test]
fn values_out_of_range_are_refused() {
    let mut options = SocketOptions::default();
    for option in [
        SocketOption::MaxSeg(87),
        SocketOption::MaxSeg(40_000),
        SocketOption::SynCnt(0),
        SocketOption::KeepCnt(128),
        SocketOption::KeepIdle(Duration::ZERO),
    ] {
        assert!(options.set(option).is_err(), "{option:?}");
    }
    assert_eq!(options, SocketOptions::default());
}

#[test]
fn maxseg_bounds_both_directions() {
    let mut net = with(SocketOptions {
        maxseg: 1000,
        ..SocketOptions::default()
    });
    net.open();
    net.write(CLIENT, 10_000);
    net.write(SERVER, 10_000);
    net.run_for(MS * 50);
    assert!(net.data(CLIENT).all(|s| s.segment.payload_bytes <= 988));
    assert!(net.data(SERVER).all(|s| s.segment.payload_bytes <= 988));
    assert_eq!(net.delivered, [10_000, 10_000]);
}

#[test]
fn a_clamped_window_is_never_exceeded() {
    // Auto-tuning would take the clamp along (tcp_rcv_space_adjust).
    let mut client = config(
        Stack {
            tcp_moderate_rcvbuf: false,
            ..stack()
        },
        1,
    );
    Arc::make_mut(&mut client.options).window_clamp = 20_000;
    let mut net = Net::between(client, config(stack(), 2));
    net.open();
    net.write(SERVER, 500_000);
    net.run_for(MS * 200);
    let shift = net.end(CLIENT).receive.window_shift;
    assert!(
        net.sent(CLIENT)
            .all(|s| u32::from(s.segment.window) << shift < 20_000 + 128)
    );
}

#[test]
fn quickack_acknowledges_what_is_owed_and_its_contrary_waits() {
    let mut net = Net::new();
    net.open();
    net.set(SERVER, SocketOption::QuickAck(false));
    net.write(CLIENT, 100);
    net.run_for(MS * 5);
    assert_eq!(net.acks(SERVER).count(), 0);
    net.set(SERVER, SocketOption::QuickAck(true));
    net.run_for(MS);
    assert_eq!(net.acks(SERVER).count(), 1);
}

#[test]
fn nodelay_sends_short_segments_at_once() {
    for (nodelay, sent) in [(false, 2), (true, 3)] {
        let mut net = with(SocketOptions {
            nodelay,
            ..SocketOptions::default()
        });
        net.open();
        // The second short one waits for the first, and what follows is put behind it.
        for bytes in [100, 101, 102] {
            net.write(CLIENT, bytes);
        }
        net.run_for(Duration::from_us(300));
        assert_eq!(net.data(CLIENT).count(), sent, "{nodelay}");
    }
}

#[test]
fn the_user_timeout_ends_what_is_not_acknowledged() {
    // RFC 5482.
    let mut net = with(SocketOptions {
        user_timeout: Duration::from_secs(3),
        ..SocketOptions::default()
    });
    net.open();
    net.judge(CLIENT, |_| Fate::Drop);
    net.write(CLIENT, 1000);
    let start = net.now;
    assert!(net.run_until(Duration::from_secs(20), |n| {
        n.happened(CLIENT, Event::Reset)
    }));
    let waited = net.now.since(start);
    assert!(
        waited > Duration::from_secs(3) && waited < Duration::from_secs(7),
        "{waited}"
    );
    assert_eq!(net.end(CLIENT).failure(), Some(Failure::TimedOut));
}

#[test]
fn retries_stand_for_time_or_number() {
    for (by_time, least_s, most_s) in [(false, 600, 1600), (true, 103, 400)] {
        let mut net = Net::of(Stack {
            retries_by_time: by_time,
            tcp_retries2: 8,
            rto_max: Duration::from_secs(120),
            ..stack()
        });
        for wire in &mut net.wires {
            wire.delay = MS * 700;
        }
        net.connect();
        net.run_for(Duration::from_secs(5));
        net.judge(CLIENT, |_| Fate::Drop);
        net.write(CLIENT, 1000);
        let start = net.now;
        assert!(net.run_until(Duration::from_secs(2000), |n| {
            n.happened(CLIENT, Event::Reset)
        }));
        let waited = net.now.since(start).as_us() / 1_000_000;
        assert!((least_s..=most_s).contains(&waited), "{by_time} {waited}");
    }
}

#[test]
fn the_first_syns_wait_no_longer_than_the_first() {
    // tcp_syn_linear_timeouts: 1, 1, 1, 1, then doubling; six more at most after those.
    let mut net = Net::of(Stack {
        tcp_syn_linear_timeouts: 4,
        tcp_syn_retries: 2,
        rto_initial: Duration::from_secs(1),
        ..stack()
    });
    net.judge(CLIENT, |_| Fate::Drop);
    net.connect();
    net.run_for(Duration::from_secs(100));
    let at: Vec<u64> = net
        .sent(CLIENT)
        .map(|s| s.at.since(net.trace[0].at).as_us() / 1_000_000)
        .collect();
    assert_eq!(at, [0, 1, 2, 3, 4, 5, 7]);
    assert_eq!(net.end(CLIENT).failure(), Some(Failure::TimedOut));
}

#[test]
fn user_timeout_does_not_cut_the_first_syns_timeout_short() {
    // tcp_connect goes by the timeout itself, tcp_retransmit_timer by what is left of TCP_USER_TIMEOUT.
    let stack = || Stack {
        rto_initial: Duration::from_secs(1),
        ..preset("linux-7.2")
    };
    let mut client = config(stack(), 1);
    client.options = Arc::new(SocketOptions {
        user_timeout: MS * 700,
        ..SocketOptions::default()
    });
    let mut net = Net::between(client, config(stack(), 2));
    net.judge(CLIENT, |_| Fate::Drop);
    net.connect();
    net.run_for(Duration::from_secs(10));
    let at: Vec<u64> = net
        .sent(CLIENT)
        .map(|s| s.at.since(net.trace[0].at).as_us() / 100_000)
        .collect();
    assert_eq!(at, [0, 10]);
    assert_eq!(net.end(CLIENT).failure(), Some(Failure::TimedOut));
}

#[test]
fn keep_alive_asks_and_gives_up() {
    let mut net = with(SocketOptions {
        keepalive: true,
        keepidle: Duration::from_secs(10),
        keepintvl: Duration::from_secs(5),
        keepcnt: 3,
        ..SocketOptions::default()
    });
    net.open();
    net.run_for(Duration::from_secs(25));
    assert_eq!(net.sent(CLIENT).count(), 2, "a question every ten seconds");
    assert_eq!(net.end(CLIENT).life(), Life::Established);
    net.trace.clear();
    net.judge(CLIENT, |_| Fate::Drop);
    net.run_for(Duration::from_secs(60));
    assert_eq!(net.sent(CLIENT).count(), 4, "three questions and a reset");
    assert!(
        net.sent(CLIENT)
            .last()
            .unwrap()
            .segment
            .flags
            .contains(Flags::RST)
    );
    assert_eq!(net.end(CLIENT).failure(), Some(Failure::TimedOut));
}

#[test]
fn keep_alive_of_today_waits_in_the_wheel() {
    // A minute is in the level whose buckets are of 4096 ticks, and fires with the end of one.
    for (name, least_ms, most_ms) in [
        ("linux-2.6.18", 59_900, 60_010),
        ("linux-7.2", 60_100, 64_100),
    ] {
        let asks = |seed| {
            let mut config = config(preset(name), seed);
            let options = Arc::make_mut(&mut config.options);
            options.keepalive = seed == 1;
            options.keepidle = Duration::from_secs(60);
            config
        };
        let mut net = Net::between(asks(1), asks(2));
        net.open();
        let opened = net.now;
        net.trace.clear();
        net.run_for(Duration::from_secs(70));
        let asked = net.sent(CLIENT).next();
        let waited = asked
            .unwrap_or_else(|| panic!("{name} asked nothing"))
            .at
            .since(opened);
        assert!(
            (MS * least_ms..MS * most_ms).contains(&waited),
            "{name}: {waited}"
        );
    }
}

#[test]
fn syns_that_cross_make_one_connection() {
    // RFC 9293 section 3.5, figure 7.
    for name in ["linux-2.6.18", "linux-7.2"] {
        let mut net = Net::of(preset(name));
        net.connect();
        net.connect_back();
        net.run_for(MS * 50);
        for end in [CLIENT, SERVER] {
            assert_eq!(net.end(end).life(), Life::Established, "{name}");
        }
        net.write(CLIENT, 100_000);
        net.write(SERVER, 50_000);
        net.run_for(Duration::from_secs(2));
        assert_eq!(net.delivered, [50_000, 100_000], "{name}");
    }
}

#[test]
fn tcp_info_tells_what_linux_tells() {
    let mut net = Net::new();
    net.open();
    net.write(CLIENT, 100_000);
    net.run_for(MS * 100);
    let now = net.now;
    let info = net.end(CLIENT).tcp_info(now);
    assert_eq!((info.state, info.ca_state), (1, 0));
    assert_eq!(info.options, 1 | 2 | 4);
    assert_eq!((info.snd_wscale, info.rcv_wscale), (7, 7));
    assert_eq!((info.snd_mss, info.advmss), (1448, 1448));
    assert_eq!(info.bytes_acked, 100_001, "the SYN counts");
    assert_eq!(info.unacked, 0);
    let info = net.end(SERVER).tcp_info(now);
    assert_eq!(info.bytes_received, 100_000);
    assert_eq!(
        u64::from(info.data_segs_in),
        net.end(SERVER).stats().data_segments_received
    );
    assert!(info.last_data_recv >= 90);
}

#[test]
fn cork_holds_a_short_segment_until_it_is_taken_away() {
    for name in ["linux-2.6.18", "linux-7.2"] {
        let mut client = config(preset(name), 1);
        Arc::make_mut(&mut client.options).cork = true;
        let mut net = Net::between(client, config(preset(name), 2));
        net.open();
        net.write(CLIENT, 1448 + 100);
        net.run_for(MS * 20);
        assert_eq!(net.delivered[SERVER], 1448, "{name}");
        net.set(CLIENT, SocketOption::Cork(false));
        net.run_for(MS * 5);
        assert_eq!(net.delivered[SERVER], 1548, "{name}");
        // Forgotten, it is sent after 200 ms or a timeout (tcp_check_probe_timer).
        net.set(CLIENT, SocketOption::Cork(true));
        net.write(CLIENT, 100);
        net.run_for(MS * 100);
        assert_eq!(net.delivered[SERVER], 1548, "{name}");
        net.run_for(MS * 300);
        assert_eq!(net.delivered[SERVER], 1648, "{name}");
    }
}

#[test]
fn notsent_lowat_and_sndbuf_stop_a_writer() {
    let taken = |options: SocketOptions| {
        let mut client = config(preset("linux-7.2"), 1);
        client.stack = Arc::new(Stack {
            tcp_wmem: [Bytes::new(4096), Bytes::new(1 << 20), Bytes::new(1 << 22)],
            ..preset("linux-7.2")
        });
        client.options = options.into();
        let mut net = Net::between(client, config(preset("linux-7.2"), 2));
        net.open();
        let now = net.now;
        net.end(CLIENT).write(now, 1 << 19)
    };
    let free = taken(SocketOptions::default());
    let lowat = taken(SocketOptions {
        notsent_lowat: 16_384,
        ..SocketOptions::default()
    });
    let small = taken(SocketOptions {
        sndbuf: Some(Bytes::new(20_000)),
        ..SocketOptions::default()
    });
    assert_eq!(free, 1 << 19);
    assert!(lowat < 100_000, "{lowat}");
    assert!(small < 80_000, "{small}");
}

#[test]
fn syncnt_is_how_often_a_syn_is_sent_again() {
    let mut client = config(stack(), 1);
    Arc::make_mut(&mut client.options)
        .set(SocketOption::SynCnt(2))
        .unwrap();
    let mut net = Net::between(client, config(stack(), 2));
    net.judge(CLIENT, |_| Fate::Drop);
    net.connect();
    net.run_for(Duration::from_secs(100));
    assert_eq!(net.sent(CLIENT).count(), 3);
}

#[test]
fn congestion_names_the_control_before_and_while_the_connection_lives() {
    let mut client = config(preset("linux-7.2"), 1);
    Arc::make_mut(&mut client.options).congestion = Some(CongestionKind::Bbr);
    let mut net = Net::between(client, config(preset("linux-7.2"), 2));
    net.open();
    assert_eq!(net.end(CLIENT).congestion(), CongestionKind::Bbr);
    assert_eq!(net.end(SERVER).congestion(), CongestionKind::Cubic);
    net.set(CLIENT, SocketOption::Congestion(CongestionKind::Reno));
    assert_eq!(net.end(CLIENT).congestion(), CongestionKind::Reno);
}

#[test]
fn rcvlowat_wakes_a_reader_when_so_much_is_there() {
    let mut server = config(preset("linux-7.2"), 2);
    Arc::make_mut(&mut server.options).rcvlowat = 5000;
    let mut net = Net::between(config(preset("linux-7.2"), 1), server);
    net.open();
    net.write(CLIENT, 3000);
    net.run_for(MS * 20);
    assert_eq!(net.delivered[SERVER], 0);
    net.write(CLIENT, 2000);
    net.run_for(MS * 20);
    assert_eq!(net.delivered[SERVER], 5000);
}

#[test]
fn rcvbuf_bounds_what_is_on_its_way() {
    let mut server = config(preset("linux-7.2"), 2);
    Arc::make_mut(&mut server.options)
        .set(SocketOption::RcvBuf(Bytes::new(10_000)))
        .unwrap();
    let mut net = Net::between(config(preset("linux-7.2"), 1), server);
    net.open();
    net.write(CLIENT, 300_000);
    net.run_for(MS * 300);
    let shift = net.end(SERVER).receive.window_shift;
    let most = net
        .sent(SERVER)
        .map(|s| u32::from(s.segment.window) << shift)
        .max();
    // Doubled, and by the part of frames that is payload: never above the buffer itself.
    assert!(most.is_some_and(|most| most <= 20_000), "{most:?}");
}

#[test]
fn the_least_window_clamp_holds_before_opening_too() {
    let mut client = config(stack(), 1);
    Arc::make_mut(&mut client.options).window_clamp = 1;
    let mut net = Net::between(client, config(stack(), 2));
    net.connect();
    net.run_for(Duration::from_ms(2));
    assert_eq!(net.end(CLIENT).receive.window_clamp(), 1152);
}
