//! Each sysctl of the receiver and of a connection's life changes what it changes in Linux
//! (Documentation/networking/ip-sysctl.rst and the functions named in the files).

use std::sync::Arc;

use tailback_units::{Bytes, Duration};

use crate::testing::{CLIENT, Fate, Net, SERVER, config, preset};
use crate::{Event, Flags, Life, Segment, SocketOption, Stack};

const MS: Duration = Duration::from_ms(1);
const SECOND: Duration = Duration::from_secs(1);

fn today() -> Stack {
    preset("linux-7.2")
}

fn old() -> Stack {
    preset("linux-2.6.18")
}

fn opened(stack: Stack) -> Net {
    let mut net = Net::of(stack);
    net.connect();
    net.run_for(MS * 5);
    assert!(net.happened(CLIENT, Event::Connected));
    net.trace.clear();
    net
}

#[test]
fn tcp_adv_win_scale_keeps_a_part_of_the_buffer_for_overhead() {
    for (scale, window) in [(1, 32_768), (2, 49_152), (3, 57_344)] {
        let mut net = opened(Stack {
            tcp_adv_win_scale: scale,
            ..old()
        });
        assert_eq!(net.end(CLIENT).receive.window_of(65_536), window);
    }
}

#[test]
fn tcp_app_win_keeps_a_part_of_the_window_for_the_application() {
    let clamp = |app_win| {
        let mut net = opened(Stack {
            tcp_app_win: app_win,
            ..old()
        });
        net.end(CLIENT).receive.window_clamp()
    };
    // A quarter; with 31 nothing but a segment.
    assert_eq!(clamp(2), 3 * (clamp(31) + 1448).div_ceil(4));
}

/// A segment of the peer's, in the window but not where it should be.
fn astray(net: &mut Net, flags: Flags) -> Segment {
    let mut segment = Segment::EMPTY;
    segment.seq = net.end(CLIENT).receive.rcv_nxt + 10;
    segment.ack = net.end(CLIENT).snd_nxt;
    segment.flags = flags;
    segment
}

#[test]
fn tcp_challenge_ack_limit_bounds_challenges_a_second() {
    let challenges = |limit| {
        let mut net = opened(Stack {
            tcp_challenge_ack_limit: limit,
            tcp_invalid_ratelimit: Duration::ZERO,
            ..today()
        });
        let reset = astray(&mut net, Flags::RST);
        for _ in 0..20 {
            net.inject(CLIENT, &reset);
        }
        net.acks(CLIENT).count()
    };
    assert_eq!(challenges(i32::MAX as u32), 20);
    // From half of the limit on, at random.
    assert!((4..=8).contains(&challenges(8)), "{}", challenges(8));
}

#[test]
fn tcp_invalid_ratelimit_spaces_answers_to_invalid_segments() {
    for (limit, answers) in [(MS * 500, 1), (Duration::ZERO, 2)] {
        let mut net = opened(Stack {
            tcp_invalid_ratelimit: limit,
            ..today()
        });
        let reset = astray(&mut net, Flags::RST);
        net.inject(CLIENT, &reset);
        net.run_for(MS * 100);
        net.inject(CLIENT, &reset);
        assert_eq!(net.acks(CLIENT).count(), answers, "{limit}");
    }
}

/// When the client acknowledges segments after a hole, in microseconds after they came.
fn compressed_acks(stack: Stack) -> Vec<u64> {
    let mut net = Net::of(stack);
    for wire in &mut net.wires {
        wire.delay = MS * 20;
    }
    net.connect();
    net.run_for(MS * 100);
    // Quick acknowledgements are over, and the round trip is known.
    net.write(SERVER, 400_000);
    net.run_for(MS * 400);
    net.trace.clear();
    let mut first = true;
    net.judge(SERVER, move |f| {
        if f.segment.payload_bytes > 0 && std::mem::take(&mut first) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    let start = net.now;
    net.write(SERVER, 1448 * 10);
    net.run_for(MS * 35);
    net.acks(CLIENT)
        .map(|s| s.at.since(start).as_us())
        .collect()
}

#[test]
fn tcp_comp_sack_slack_ns_lets_held_back_acknowledgements_wait_longer() {
    let with = |slack_us: u64| {
        compressed_acks(Stack {
            tcp_comp_sack_slack_ns: slack_us * 1000,
            ..today()
        })
    };
    let (prompt, late) = (with(0), with(700));
    assert_eq!(prompt.len(), late.len());
    let (prompt_last, late_last) = (prompt.last().unwrap(), late.last().unwrap());
    assert_eq!(late_last - prompt_last, 700, "{prompt:?} {late:?}");
}

#[test]
fn of_segments_that_lie_apart_every_other_one_is_acknowledged() {
    // tcp_sack_new_ofo_skb sends what compression holds back before a third block comes, and with that no
    // acknowledgement is owed for the segment that brought it.
    let mut net = Net::of(today());
    for wire in &mut net.wires {
        wire.delay = MS * 20;
    }
    net.connect();
    net.run_for(MS * 100);
    net.write(SERVER, 400_000);
    net.run_for(MS * 400);
    net.trace.clear();
    let mut number = 0;
    net.judge(SERVER, move |f| {
        number += u32::from(f.segment.payload_bytes > 0);
        if number % 2 == 1 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    net.write(SERVER, 1448 * 40);
    net.run_for(MS * 21);
    let newest = |s: &Segment| s.sack_blocks().first().map(|block| block.start);
    let told: Vec<_> = net
        .acks(CLIENT)
        .filter_map(|s| newest(&s.segment))
        .collect();
    // Three at once, the next when another block comes, and from then on every other one.
    let steps: Vec<u32> = told.windows(2).map(|w| (w[1] - w[0]) / 1448).collect();
    assert_eq!(steps[..8], [2, 2, 2, 2, 4, 4, 4, 4], "{told:?}");
}

#[test]
fn tcp_dsack_tells_of_what_came_twice() {
    // RFC 2883: the first block lies below the acknowledgement.
    for (tells, blocks) in [(true, 1), (false, 0)] {
        let mut net = opened(Stack {
            tcp_dsack: tells,
            ..today()
        });
        net.judge(CLIENT, |_| Fate::Duplicate);
        net.write(CLIENT, 1000);
        net.run_for(MS * 10);
        let told = net.acks(SERVER).filter(|s| {
            let first = s.segment.sack_blocks().first().copied();
            first.is_some_and(|block| block.end == s.segment.ack)
        });
        assert_eq!(told.count(), blocks, "{tells}");
    }
}

#[test]
fn tcp_fin_timeout_bounds_fin_wait_2() {
    for timeout in [SECOND * 20, SECOND * 5] {
        let mut net = opened(Stack {
            tcp_fin_timeout: timeout,
            ..today()
        });
        net.close(CLIENT);
        net.run_for(MS * 100);
        let start = net.now;
        assert!(net.run_until(SECOND * 100, |n| n.happened(CLIENT, Event::Closed)));
        let waited = net.now.since(start);
        assert!(
            waited + SECOND > timeout && waited < timeout + SECOND,
            "{waited}"
        );
    }
}

#[test]
fn tcp_keepalive_time_intvl_and_probes_pace_questions() {
    let mut client = config(
        Stack {
            tcp_keepalive_time: SECOND * 10,
            tcp_keepalive_intvl: SECOND * 3,
            tcp_keepalive_probes: 4,
            ..today()
        },
        1,
    );
    Arc::make_mut(&mut client.options).keepalive = true;
    let mut net = Net::between(client, config(today(), 2));
    net.connect();
    net.run_for(MS * 5);
    let start = net.now;
    net.trace.clear();
    net.judge(CLIENT, |_| Fate::Drop);
    assert!(net.run_until(SECOND * 100, |n| n.happened(CLIENT, Event::Reset)));
    let at: Vec<u64> = net
        .sent(CLIENT)
        .filter(|s| !s.segment.flags.contains(Flags::RST))
        .map(|s| (s.at.since(start).as_us() + 500_000) / 1_000_000)
        .collect();
    assert_eq!(at, [10, 13, 16, 19]);
}

#[test]
fn tcp_min_snd_mss_is_the_least_that_a_peer_can_ask_for() {
    for (least, payload) in [(48, 88), (500, 488)] {
        let mut client = config(today(), 1);
        client.stack = Arc::new(Stack {
            tcp_min_snd_mss: least,
            ..today()
        });
        let mut server = config(today(), 2);
        Arc::make_mut(&mut server.options)
            .set(SocketOption::MaxSeg(100))
            .unwrap();
        let mut net = Net::between(client, server);
        net.connect();
        net.run_for(MS * 5);
        net.write(CLIENT, 3000);
        net.run_for(MS * 50);
        let most = net.data(CLIENT).map(|s| s.segment.payload_bytes).max();
        assert_eq!(most, Some(payload), "{least}");
    }
}

#[test]
fn tcp_orphan_retries_gives_a_closed_connection_up() {
    let waited = |retries| {
        let mut net = opened(Stack {
            tcp_orphan_retries: retries,
            ..today()
        });
        net.judge(CLIENT, |_| Fate::Drop);
        net.write(CLIENT, 1000);
        net.close(CLIENT);
        let start = net.now;
        assert!(net.run_until(SECOND * 3000, |n| n.happened(CLIENT, Event::Reset)));
        net.now.since(start)
    };
    let (few, as_usual) = (waited(2), waited(0));
    assert!(few < SECOND * 4, "{few}");
    assert!(as_usual > SECOND * 20, "{as_usual}");
}

#[test]
fn tcp_pingpong_thresh_is_how_many_answers_make_a_conversation() {
    // In a conversation an acknowledgement waits for the answer that carries it.
    let bare_acks = |thresh| {
        let mut net = opened(Stack {
            tcp_pingpong_thresh: thresh,
            ..today()
        });
        for _ in 0..12 {
            net.write(CLIENT, 500);
            net.run_for(MS * 3);
            net.write(SERVER, 500);
            net.run_for(MS * 3);
        }
        net.acks(SERVER).count()
    };
    let (soon, late) = (bare_acks(1), bare_acks(8));
    assert!(soon < late, "{soon} {late}");
}

#[test]
fn tcp_rfc1337_keeps_time_wait_from_resets() {
    for (keeps, life) in [(true, Life::TimeWait), (false, Life::Closed)] {
        let mut net = opened(Stack {
            tcp_rfc1337: keeps,
            ..today()
        });
        net.shut(CLIENT);
        net.run_for(MS * 10);
        net.shut(SERVER);
        net.run_for(MS * 10);
        assert_eq!(net.end(CLIENT).life(), Life::TimeWait);
        let mut reset = astray(&mut net, Flags::RST);
        reset.seq = net.end(CLIENT).receive.rcv_nxt;
        net.inject(CLIENT, &reset);
        assert_eq!(net.end(CLIENT).life(), life, "{keeps}");
    }
}

#[test]
fn tcp_shrink_window_lets_the_right_edge_come_back() {
    for shrinks in [false, true] {
        let mut net = opened(Stack {
            tcp_shrink_window: shrinks,
            tcp_rmem: [Bytes::new(4096), Bytes::new(131_072), Bytes::new(131_072)],
            ..today()
        });
        net.reads[SERVER] = false;
        net.set(CLIENT, SocketOption::NoDelay(true));
        // Short segments cost far more memory than window.
        for _ in 0..60 {
            net.write(CLIENT, 100);
            net.run_for(MS * 60);
        }
        let shift = net.end(SERVER).receive.window_shift;
        let edges: Vec<_> = net
            .sent(SERVER)
            .map(|s| s.segment.ack + (u32::from(s.segment.window) << shift))
            .collect();
        let back = edges.windows(2).any(|e| e[1].before(e[0]));
        assert_eq!(back, shrinks, "{edges:?}");
    }
}

#[test]
fn tcp_synack_retries_is_how_often_a_syn_is_answered_again() {
    for retries in [1, 3] {
        let mut net = Net::of(Stack {
            tcp_synack_retries: retries,
            ..today()
        });
        net.judge(SERVER, |_| Fate::Drop);
        let mut syns = 0;
        net.judge(CLIENT, move |_| {
            syns += 1;
            if syns == 1 { Fate::Pass } else { Fate::Drop }
        });
        net.connect();
        net.run_for(SECOND * 100);
        assert_eq!(net.sent(SERVER).count() as u32, 1 + retries);
    }
}

#[test]
fn tcp_workaround_signed_windows_bounds_a_window_without_scaling() {
    for (signed, window) in [(true, 32_767), (false, 65_535)] {
        let net = {
            let mut net = Net::of(Stack {
                tcp_workaround_signed_windows: signed,
                tcp_window_scaling: false,
                tcp_rmem: [Bytes::new(4096), Bytes::new(1 << 20), Bytes::new(1 << 20)],
                ..today()
            });
            net.connect();
            net
        };
        let most = net.sent(CLIENT).map(|s| s.segment.window).max();
        assert_eq!(most, Some(window), "{signed}");
    }
}

#[test]
fn patience_does_not_follow_rto_min() {
    for rto_min_ms in [5, 200] {
        let mut net = Net::of(Stack {
            rto_min: MS * rto_min_ms,
            tcp_retries2: 3,
            ..preset("linux-7.2")
        });
        net.open();
        net.judge(CLIENT, |_| Fate::Drop);
        net.write(CLIENT, 1000);
        let start = net.now;
        assert!(net.run_until(SECOND * 100, |n| n.happened(CLIENT, Event::Reset)));
        // Four timeouts from 200 ms on are three seconds.
        let waited = net.now.since(start);
        assert!(waited >= MS * 3000, "{rto_min_ms}: {waited}");
        assert!(waited < MS * 7000, "{rto_min_ms}: {waited}");
    }
}
