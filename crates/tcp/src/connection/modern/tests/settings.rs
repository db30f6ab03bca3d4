//! Each sysctl of the sender changes what it changes in Linux 7.2 (Documentation/networking/ip-sysctl.rst
//! and the functions named in the sender's files).

use tailback_units::{Bytes, Duration, Time};

use super::script::{MSS, Script, today};
use crate::{CaState, Pacing, Stack};

const RTT_US: u64 = 20_000;

fn single(stack: Stack) -> Stack {
    Stack {
        gso_max_segs: 1,
        ..stack
    }
}

#[test]
fn gso_max_segs_is_how_many_segments_a_packet_has() {
    // Without it a write fills packets of half the window that the peer has shown at most.
    for (gso_max_segs, lengths) in [
        (1, vec![1; 10]),
        (3, vec![3, 3, 3, 1]),
        (65_535, vec![5, 5]),
    ] {
        let stack = Stack {
            gso_max_segs,
            tcp_min_tso_segs: 10,
            ..today()
        };
        let mut script = Script::open(stack, 100_000);
        script.write(10);
        let sent: Vec<u32> = script.ranges().iter().map(|(a, b)| b - a).collect();
        assert_eq!(sent, lengths, "{gso_max_segs}");
    }
}

#[test]
fn tcp_pacing_ss_ratio_and_ca_ratio_set_the_rate_in_and_after_slow_start() {
    for (ss, ca) in [(200, 120), (400, 120), (200, 300)] {
        for (ssthresh, percent) in [(1000, ss), (5, ca)] {
            let mut script = Script::open(
                Stack {
                    tcp_pacing_ss_ratio: ss,
                    tcp_pacing_ca_ratio: ca,
                    ..today()
                },
                100_000,
            );
            script.tcp.window.ssthresh = ssthresh;
            script.write(10);
            script.wait(100_000);
            script.ack(10);
            let rate = u64::from(MSS * script.tcp.probe().cwnd) * 10 * u64::from(percent) / 100;
            assert_eq!(script.tcp.window.pacing_rate, rate, "{ss} {ca} {ssthresh}");
        }
    }
}

/// When segments leave that a round's acknowledgement lets go.
fn sent_at(pacing: Pacing) -> Vec<u64> {
    let stack = Stack {
        pacing,
        ..single(today())
    };
    let mut script = Script::open(stack, RTT_US);
    script.write(60);
    script.wait(RTT_US);
    script.sent();
    script.ack(10);
    script.wait(RTT_US / 2);
    script.sent().iter().map(|s| s.at_us).collect()
}

#[test]
fn packets_that_wait_in_fq_leave_as_late_as_its_timer_may_be() {
    // timer_slack of net/sched/sch_fq.c; TCP's own timer has none.
    let (internal, fq) = (sent_at(Pacing::Internal), sent_at(Pacing::Fq));
    assert_eq!(internal[0], fq[0]);
    let late: Vec<u64> = internal.iter().zip(&fq).map(|(i, f)| f - i).collect();
    assert!(
        late.len() > 10 && late[1..].iter().all(|us| *us == 10),
        "{late:?}"
    );
}

#[test]
fn fq_looks_when_a_packet_enters_and_not_at_every_acknowledgement() {
    // fq_dequeue runs for its timer and for what is enqueued; an acknowledgement alone is neither.
    let second_leaves = |meanwhile: fn(&mut Script)| {
        let stack = Stack {
            pacing: Pacing::Fq,
            ..single(today())
        };
        let mut script = Script::open(stack, RTT_US);
        script.write(25);
        script.wait(RTT_US);
        script.ack(10);
        script.sent();
        let due_us =
            script.tcp.poll_timeout().as_ps() / 1_000_000 - script.now().as_ps() / 1_000_000;
        // The time to leave is over, the timer has not gone off.
        script.wait(due_us - 4);
        meanwhile(&mut script);
        let at_us = script.now_us();
        script.wait(100);
        script.sent().first().map(|sent| sent.at_us - at_us)
    };
    assert_eq!(second_leaves(|_| {}), Some(4));
    assert_eq!(second_leaves(|script| script.ack(11)), Some(4));
    // Data is acknowledged at once, and that enters behind it.
    let data = |script: &mut Script| script.answer(10, &[], |segment| segment.payload_bytes = 1000);
    assert_eq!(second_leaves(data), Some(0));
}

/// Packets that wait in the host with this limit, the card being slow.
fn waiting(limit: Bytes) -> usize {
    waiting_of(Stack {
        tcp_limit_output_bytes: limit,
        ..today()
    })
}

fn waiting_of(stack: Stack) -> usize {
    let mut script = Script::open(
        Stack {
            gso_max_segs: 1,
            ..stack
        },
        1000,
    );
    let mut free = script.now();
    script.host(move |now: Time| {
        free = free.max(now) + Duration::from_ms(10);
        free
    });
    script.write(10);
    script.wait(200_000);
    script.ack(10);
    script.sent();
    script.tcp.window.pacing_rate = 1 << 30;
    script.write(40);
    script.wait(1000);
    script.ranges().len()
}

#[test]
fn tcp_limit_output_bytes_bounds_what_waits_in_the_host() {
    let (few, many) = (waiting(Bytes::new(1)), waiting(Bytes::new(4 << 20)));
    // One beside what is not acknowledged always may.
    assert_eq!(few, 2);
    assert!(many > few, "{many}");
}

#[test]
fn limits_paced_output_says_whether_it_bounds_who_is_paced() {
    let of = |pacing, limits_paced_output| {
        waiting_of(Stack {
            tcp_limit_output_bytes: Bytes::new(1),
            pacing,
            limits_paced_output,
            ..today()
        })
    };
    assert_eq!(of(Pacing::Fq, true), 2);
    assert!(of(Pacing::Fq, false) > 2);
    assert_eq!(of(Pacing::None, false), 2);
}

#[test]
fn tcp_min_tso_segs_and_tcp_tso_rtt_log_size_packets() {
    let segments = |least: u32, log: u32, rtt_us: u64| {
        let stack = Stack {
            tcp_min_tso_segs: least,
            tcp_tso_rtt_log: log,
            ..today()
        };
        let mut tcp = Script::open(stack, rtt_us).tcp;
        tcp.window.pacing_rate = 0;
        tcp.tso_segments(MSS)
    };
    assert_eq!((segments(2, 9, 50_000), segments(4, 9, 50_000)), (2, 4));
    // A short round trip makes packets large, unless that is off.
    assert_eq!((segments(2, 9, 100), segments(2, 0, 100)), (45, 2));
}

#[test]
fn tcp_tso_win_divisor_says_for_how_much_window_a_packet_waits() {
    let sent = |divisor| {
        let mut script = Script::open(
            Stack {
                tcp_tso_win_divisor: divisor,
                ..today()
            },
            100,
        );
        script.write(60);
        script.wait(100);
        script.tcp.window.pacing_rate = 1 << 30;
        script.sent();
        script.ack(2);
        script.ranges().len()
    };
    // Four segments of a window of twelve are a third of it, not the whole.
    assert!(sent(3) > 0);
    assert_eq!(sent(1), 0);
}

#[test]
fn tcp_notsent_lowat_stops_a_writer() {
    let taken = |lowat| {
        let stack = Stack {
            tcp_notsent_lowat: lowat,
            ..today()
        };
        let mut script = Script::open(stack, RTT_US);
        let now = script.now();
        script.tcp.write(now, 500_000)
    };
    assert_eq!(taken(u32::MAX), 500_000);
    assert!(taken(16_384) < 100_000, "{}", taken(16_384));
}

#[test]
fn a_write_that_waits_for_room_is_not_limited_by_the_application() {
    // tcp_sendmsg_locked asks when it is called, not when it goes on.
    let mut script = Script::open(
        Stack {
            tcp_wmem: [Bytes::new(4096), Bytes::new(16_384), Bytes::new(16_384)],
            ..today()
        },
        1000,
    );
    let mut left = u64::from(30 * MSS);
    let mut acked = 0;
    while left > 0 {
        let now = script.now();
        left -= script.tcp.write(now, left);
        script.collect();
        let sent = script.sent();
        assert!(sent.len() < 10, "the congestion window limits nothing");
        // What was sent before anything was known to limit is, up to its acknowledgement.
        let limited = script.tcp.modern.rate.is_app_limited();
        assert_eq!(limited, acked == 0, "{acked}");
        script.wait(1000);
        acked = sent.last().map_or(acked, |s| s.to);
        script.ack(acked);
    }
    script.wait(1000);
    script.ack(30);
    script.write(1);
    assert!(script.tcp.modern.rate.is_app_limited());
}

#[test]
fn without_tcp_early_retrans_a_lost_tail_waits_for_its_timeout() {
    for (early, first_ms) in [(3, 42..=44), (0, 220..=240)] {
        let mut script = Script::open(
            single(Stack {
                tcp_early_retrans: early,
                ..today()
            }),
            RTT_US,
        );
        script.write(5);
        script.sent();
        script.wait(300_000);
        let at_ms = script.sent()[0].at_us / 1000;
        assert!(first_ms.contains(&at_ms), "{early}: {at_ms}");
    }
}

#[test]
fn without_tcp_frto_a_timeout_is_believed() {
    // RFC 5682: two acknowledgements of new data after a timeout tell that it was spurious.
    for (frto, undone) in [(2, true), (0, false)] {
        let mut script = Script::open(
            single(Stack {
                tcp_early_retrans: 0,
                tcp_timestamps: false,
                tcp_frto: frto,
                ..today()
            }),
            RTT_US,
        );
        script.write(6);
        script.wait(240_000);
        script.write(4);
        script.ack(1);
        script.ack(2);
        assert_eq!(script.tcp.probe().state == CaState::Open, undone, "{frto}");
    }
}

/// What is sent again at once when three segments after a hole have come.
fn after_three(stack: Stack) -> Vec<(u32, u32)> {
    let mut script = Script::open(single(stack), RTT_US);
    script.write(10);
    script.sent();
    script.wait(RTT_US);
    script.sack(0, &[(1, 4)]);
    script.ranges()
}

#[test]
fn tcp_recovery_4_takes_three_segments_out_of_order_for_no_loss() {
    for (recovery, at_once) in [(1, true), (1 | 4, false)] {
        let sent = after_three(Stack {
            tcp_recovery: recovery,
            ..today()
        });
        assert_eq!(sent.contains(&(0, 1)), at_once, "{recovery}: {sent:?}");
    }
}

#[test]
fn tcp_reordering_is_how_many_segments_out_of_order_are_a_loss() {
    for (reordering, at_once) in [(3, true), (4, false)] {
        let sent = after_three(Stack {
            tcp_reordering: reordering,
            ..today()
        });
        assert_eq!(sent.contains(&(0, 1)), at_once, "{reordering}: {sent:?}");
    }
}

#[test]
fn tcp_max_reordering_bounds_what_reordering_teaches() {
    let learned = |most| {
        let mut script = Script::open(
            single(Stack {
                tcp_max_reordering: most,
                tcp_recovery: 1 | 4,
                ..today()
            }),
            RTT_US,
        );
        script.write(10);
        script.wait(RTT_US);
        script.sack(0, &[(1, 9)]);
        // The first comes late, not again.
        script.sack(9, &[]);
        let now = script.now();
        script.tcp.tcp_info(now).reordering
    };
    assert_eq!((learned(300), learned(5)), (9, 5));
}

#[test]
fn tcp_retrans_collapse_joins_short_packets_sent_again() {
    for (collapses, bytes) in [(true, 300), (false, 100)] {
        let mut script = Script::open(
            single(Stack {
                tcp_retrans_collapse: collapses,
                tcp_early_retrans: 0,
                tcp_autocorking: false,
                ..today()
            }),
            RTT_US,
        );
        script.set_nodelay();
        for _ in 0..3 {
            script.write_bytes(100);
        }
        script.frames.clear();
        script.wait(240_000);
        assert_eq!(script.frames[0].payload_bytes, bytes, "{collapses}");
    }
}

#[test]
fn tcp_min_rtt_wlen_is_how_long_the_least_round_trip_is_believed() {
    for (seconds, rtt_ms) in [(300, 20), (1, 50)] {
        let mut script = Script::open(
            single(Stack {
                tcp_min_rtt_wlen: seconds,
                ..today()
            }),
            RTT_US,
        );
        for done in 1..60 {
            script.write(1);
            script.wait(50_000);
            script.echo_newest();
            script.ack(done);
        }
        let now = script.now();
        let least_ms = script.tcp.tcp_info(now).min_rtt / 1000;
        assert_eq!(least_ms, rtt_ms, "{seconds}");
    }
}

#[test]
fn tcp_thin_linear_timeouts_keeps_timeouts_of_few_packets_short() {
    for (linear, segments, doubles) in [(false, 2, true), (true, 2, false), (true, 6, true)] {
        let mut script = Script::open(
            single(Stack {
                tcp_thin_linear_timeouts: linear,
                tcp_early_retrans: 0,
                ..today()
            }),
            RTT_US,
        );
        script.write(segments);
        script.sent();
        script.wait(20_000_000);
        let at: Vec<u64> = script.sent().iter().map(|s| s.at_us).collect();
        let gaps: Vec<u64> = at.windows(2).map(|w| (w[1] - w[0]) / 1000).collect();
        // After six the waits double all the same.
        let first_six = gaps[..5].iter().all(|gap| *gap < 260);
        assert_eq!(first_six, !doubles, "{gaps:?}");
        assert!(gaps.iter().any(|gap| *gap > 400), "{gaps:?}");
    }
}
