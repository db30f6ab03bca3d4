//! Explicit congestion notification: RFC 3168, and DCTCP's echo.

use tailback_units::Duration;

use crate::congestion::CongestionKind;
use crate::connection::accurate_ecn::EcnMode;
use crate::segment::Ecn;
use crate::testing::{CLIENT, Fate, Net, SERVER, Sent, config, stack};
use crate::{CaState, Flags, Stack};

const MSS: u64 = 1448;

fn ecn() -> Stack {
    Stack {
        tcp_ecn: 1,
        ..stack()
    }
}

fn dctcp() -> Stack {
    Stack {
        tcp_congestion_control: CongestionKind::Dctcp,
        ..ecn()
    }
}

/// An open connection whose window has grown.
fn warm(stack: Stack) -> Net {
    let mut net = Net::of(stack);
    net.open();
    net.write(CLIENT, 400 * MSS);
    net.run_for(Duration::from_ms(150));
    assert_eq!(net.delivered[SERVER], 400 * MSS);
    net.trace.clear();
    net
}

#[test]
fn the_handshake_asks_and_grants() {
    for (client, server, agreed) in [(1, 1, true), (1, 0, false), (0, 1, false)] {
        let side = |tcp_ecn, seed| config(Stack { tcp_ecn, ..stack() }, seed);
        let mut net = Net::between(side(client, 1), side(server, 2));
        net.connect();
        net.run_for(Duration::from_ms(2));
        let mode = if agreed {
            EcnMode::Classic
        } else {
            EcnMode::Off
        };
        assert_eq!((net.end(CLIENT).ecn, net.end(SERVER).ecn), (mode, mode));
        net.write(CLIENT, 100);
        let codepoint = net.data(CLIENT).next().unwrap().segment.ecn;
        assert_eq!(codepoint == Ecn::Ect0, agreed);
    }
}

#[test]
fn a_mark_is_echoed_until_the_window_is_reduced() {
    let mut net = warm(ecn());
    net.judge(CLIENT, |f| {
        if f.data_index == 30 {
            Fate::Mark
        } else {
            Fate::Pass
        }
    });
    let cwnd = net.end(CLIENT).probe().cwnd;
    net.write(CLIENT, 300 * MSS);
    let mut lowest = u32::MAX;
    net.watch(400, |n| {
        let probe = n.end(CLIENT).probe();
        if probe.state == CaState::Cwr {
            lowest = lowest.min(probe.ssthresh);
        }
    });
    net.run_for(Duration::from_ms(100));
    assert!(lowest < cwnd, "a reduction without a loss");
    let stats = net.end(CLIENT).stats();
    assert_eq!(
        (stats.retransmissions, stats.fast_recoveries, stats.timeouts),
        (0, 0, 0)
    );
    let echoes = |s: &&Sent| s.segment.flags.contains(Flags::ECE);
    assert!(net.acks(SERVER).filter(echoes).count() > 1, "latched");
    let cwr: Vec<usize> = net
        .data(CLIENT)
        .enumerate()
        .filter(|(_, s)| s.segment.flags.contains(Flags::CWR))
        .map(|(index, _)| index)
        .collect();
    assert_eq!(cwr.len(), 1, "answered once");
    assert!(
        !net.acks(SERVER)
            .last()
            .unwrap()
            .segment
            .flags
            .contains(Flags::ECE)
    );
    assert_eq!(net.end(CLIENT).probe().state, CaState::Open);
}

#[test]
fn an_answer_sent_again_twice_grants_no_more_where_accurate_ecn_is_known() {
    for accurate_ecn in [false, true] {
        let mut net = Net::of(Stack {
            accurate_ecn,
            ..ecn()
        });
        let mut answers = 0;
        net.judge(SERVER, move |_| {
            answers += 1;
            if answers < 3 { Fate::Drop } else { Fate::Pass }
        });
        let start = net.now;
        net.connect();
        // The client's SYN is lost on its way the second time: none but timeouts make the server answer again.
        net.judge(CLIENT, move |f| {
            if f.segment.flags.contains(Flags::SYN) && f.now > start + Duration::from_ms(900) {
                Fate::Drop
            } else {
                Fate::Pass
            }
        });
        net.run_for(Duration::from_secs(12));
        let granted: Vec<bool> = net
            .sent(SERVER)
            .filter(|s| s.segment.flags.contains(Flags::SYN))
            .map(|s| s.segment.flags.contains(Flags::ECE))
            .collect();
        assert_eq!(granted, [true, true, !accurate_ecn]);
    }
}

#[test]
fn retransmissions_cannot_be_marked_but_with_dctcp() {
    for (stack, codepoint) in [(ecn(), Ecn::NotEct), (dctcp(), Ecn::Ect0)] {
        let mut net = warm(stack);
        net.judge(CLIENT, |f| {
            if f.data_index == 5 {
                Fate::Drop
            } else {
                Fate::Pass
            }
        });
        net.write(CLIENT, 30 * MSS);
        net.run_for(Duration::from_ms(50));
        let lost = net.data(CLIENT).find(|s| s.lost).unwrap().segment.seq;
        let again = net
            .data(CLIENT)
            .filter(|s| s.segment.seq == lost)
            .nth(1)
            .unwrap();
        assert_eq!(again.segment.ecn, codepoint);
        assert_eq!(net.acks(SERVER).last().unwrap().segment.ecn, codepoint);
    }
}

#[test]
fn dctcp_echoes_every_change_at_once() {
    let mut net = warm(dctcp());
    net.judge(CLIENT, |f| {
        if (10..13).contains(&f.data_index) {
            Fate::Mark
        } else {
            Fate::Pass
        }
    });
    let start = net.end(CLIENT).snd_nxt;
    net.write(CLIENT, 24 * MSS);
    net.run_for(Duration::from_ms(100));
    // What each acknowledgement with ECE newly acknowledges are the marked segments, exactly.
    let mut previous = start;
    let mut marked = 0;
    for ack in net.acks(SERVER) {
        if ack.segment.flags.contains(Flags::ECE) {
            marked += ack.segment.ack - previous;
        }
        previous = ack.segment.ack;
    }
    assert_eq!(marked, 3 * MSS as u32);
}

#[test]
fn dctcp_reduces_by_half_the_share_of_marks_and_by_half_for_a_loss() {
    let mut net = warm(Stack {
        dctcp: crate::congestion::DctcpParameters {
            dctcp_alpha_on_init: 256,
            ..Default::default()
        },
        ..dctcp()
    });
    net.judge(CLIENT, |f| {
        if f.data_index == 3 {
            Fate::Mark
        } else {
            Fate::Pass
        }
    });
    net.end(CLIENT).window.cwnd = 80;
    net.write(CLIENT, 100 * MSS);
    net.run_for(Duration::from_ms(50));
    // Alpha was a quarter at the connection's start, and less by now: less than an eighth.
    let marked = net.end(CLIENT).probe().ssthresh;
    assert!((71..=80).contains(&marked), "{marked}");
    net.end(CLIENT).window.cwnd = 80;
    net.end(CLIENT).window.ssthresh = 80;
    net.judge(CLIENT, |f| {
        if f.data_index == 3 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    net.write(CLIENT, 100 * MSS);
    net.run_for(Duration::from_ms(50));
    let lost = net.end(CLIENT).probe().ssthresh;
    assert!((37..=41).contains(&lost), "{lost}");
}
