//! Finding and repairing losses.

use tailback_units::Duration;

use crate::segment::SackBlock;
use crate::testing::{CLIENT, Fate, Net, SERVER, Sent, stack};
use crate::{CaState, FastRecovery, Seq, Stack};

const MSS: u64 = 1448;

/// An open connection whose window has grown to some forty segments.
fn warm(stack: Stack) -> Net {
    let mut net = Net::of(stack);
    net.open();
    net.write(CLIENT, 400 * MSS);
    // Not so long that the window restarts after idleness.
    net.run_for(Duration::from_ms(150));
    assert_eq!(net.delivered[SERVER], 400 * MSS);
    assert!(net.end(CLIENT).probe().cwnd >= 30);
    assert_eq!(net.end(CLIENT).stats().retransmissions, 0);
    net.trace.clear();
    net
}

/// Sends `segments` segments and loses the first copies of those at `lost`.
fn transfer(net: &mut Net, segments: u64, lost: &'static [usize]) {
    net.judge(CLIENT, |f| {
        if lost.contains(&f.data_index) {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    let before = net.delivered[SERVER];
    net.write(CLIENT, segments * MSS);
    net.run_for(Duration::from_secs(5));
    assert_eq!(net.delivered[SERVER] - before, segments * MSS);
}

#[test]
fn one_loss_among_many_is_repaired_without_a_timeout() {
    let mut net = warm(stack());
    let (cwnd, ssthresh) = (
        net.end(CLIENT).probe().cwnd,
        net.end(CLIENT).probe().ssthresh,
    );
    transfer(&mut net, 30, &[5]);
    let stats = *net.end(CLIENT).stats();
    assert_eq!(
        (stats.timeouts, stats.fast_recoveries, stats.retransmissions),
        (0, 1, 1)
    );
    let probe = net.end(CLIENT).probe();
    assert!(probe.ssthresh < ssthresh && probe.cwnd < cwnd);
    // It was sent again when three segments beyond it had been acknowledged selectively.
    let again = *net
        .data(CLIENT)
        .filter(|s| {
            net.data(CLIENT)
                .any(|o| o.lost && o.segment.seq == s.segment.seq)
        })
        .last()
        .unwrap();
    let here = |s: &&Sent| s.at + Duration::from_us(100) < again.at;
    let sack = net.acks(SERVER).filter(here).last().unwrap().segment;
    let block = sack.sack_blocks()[0];
    assert_eq!(block.end - block.start, 3 * MSS as u32);
}

#[test]
fn a_loss_among_the_last_three_waits_for_the_timeout() {
    for (lost, timeouts) in [(29, 1), (28, 1), (27, 1), (26, 0)] {
        let mut net = warm(stack());
        let lost: &'static [usize] = Box::leak(Box::new([lost]));
        transfer(&mut net, 30, lost);
        let stats = net.end(CLIENT).stats();
        assert_eq!(
            (stats.timeouts, stats.retransmissions),
            (timeouts, 1),
            "{lost:?}"
        );
        assert_eq!(stats.fast_recoveries, 1 - timeouts);
    }
}

#[test]
fn a_timeout_begins_with_one_segment_and_the_congestion_control_from_scratch() {
    let mut net = warm(stack());
    net.judge(CLIENT, |f| {
        if f.data_index < 30 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    let cwnd = net.end(CLIENT).probe().cwnd;
    net.write(CLIENT, 30 * MSS);
    net.run_until(Duration::from_secs(1), |n| {
        n.ends[CLIENT].as_ref().unwrap().stats().timeouts == 1
    });
    let probe = net.end(CLIENT).probe();
    assert_eq!(
        (probe.cwnd, probe.in_flight, probe.state),
        (1, 1, CaState::Loss)
    );
    assert_eq!(probe.ssthresh, cwnd * 819 / 1024);
    assert_eq!(net.end(CLIENT).lost_out, 30);
    net.run_for(Duration::from_secs(2));
    let stats = net.end(CLIENT).stats();
    assert_eq!((stats.timeouts, stats.retransmissions), (1, 30));
}

/// Loses the sixth segment twice, and the first copies of those at `also`.
fn lose_a_retransmission(also: &'static [usize]) -> crate::Stats {
    let mut net = warm(stack());
    let lost: std::cell::Cell<Option<Seq>> = std::cell::Cell::new(None);
    let mut copies = 0;
    net.judge(CLIENT, move |f| {
        if f.data_index == 5 {
            lost.set(Some(f.segment.seq));
        }
        let hit = lost.get() == Some(f.segment.seq) && f.segment.payload_bytes > 0;
        copies += usize::from(hit);
        let drop = (hit && copies <= 2) || also.contains(&f.data_index);
        if drop { Fate::Drop } else { Fate::Pass }
    });
    net.write(CLIENT, 300 * MSS);
    net.run_for(Duration::from_secs(3));
    assert_eq!(net.delivered[SERVER], 700 * MSS);
    *net.end(CLIENT).stats()
}

#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let stats = lose_a_retransmission(&[150]);
    assert_eq!((stats.timeouts, stats.retransmissions), (0, 3), "{stats:?}");
}

#[test]
fn while_one_block_only_grows_a_lost_retransmission_is_not_looked_for() {
    let stats = lose_a_retransmission(&[]);
    assert_eq!((stats.timeouts, stats.fast_recoveries), (1, 1), "{stats:?}");
}

#[test]
fn recovery_takes_a_segment_off_the_window_every_second_acknowledgement() {
    let mut net = warm(stack());
    net.judge(CLIENT, |f| {
        if f.data_index == 5 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    net.write(CLIENT, 400 * MSS);
    let mut windows = Vec::new();
    net.watch(1000, |n| {
        let arrived = n.trace.iter().filter(|s| s.from == SERVER).count();
        let probe = n.end(CLIENT).probe();
        if probe.state == CaState::Recovery {
            windows.push((arrived, probe.cwnd, probe.ssthresh, probe.in_flight));
        }
    });
    windows.dedup_by_key(|w| w.1);
    assert!(windows.len() > 3, "{windows:?}");
    for pair in windows.windows(2) {
        assert!(pair[1].1 < pair[0].1, "never up: {windows:?}");
        assert!(
            pair[1].1 >= pair[1].2.min(pair[1].3 + 1),
            "not below ssthresh: {windows:?}"
        );
    }
    // After the first bound to what is in flight, one at a time.
    assert!(
        windows[2..].windows(2).all(|p| p[0].1 - p[1].1 <= 1),
        "{windows:?}"
    );
}

#[test]
fn dubious_acknowledgements_allow_bursts_of_three_only() {
    let mut net = warm(stack());
    net.judge(CLIENT, |f| {
        if f.data_index == 25 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    net.write(CLIENT, 30 * MSS);
    let mut disorder = Vec::new();
    net.watch(200, |n| {
        let probe = n.end(CLIENT).probe();
        if probe.state == CaState::Disorder {
            disorder.push(probe);
        }
    });
    assert!(!disorder.is_empty());
    assert!(
        disorder.iter().all(|p| p.cwnd <= p.in_flight + 3),
        "{disorder:?}"
    );
}

#[test]
fn with_reordering_few_segments_and_nothing_to_send_three_are_enough() {
    for (reordering, state) in [(10, CaState::Recovery), (4, CaState::Recovery)] {
        let mut net = warm(stack());
        net.end(CLIENT).reordering = reordering;
        net.end(CLIENT).fack = false;
        net.judge(CLIENT, |f| {
            if f.data_index == 0 {
                Fate::Drop
            } else {
                Fate::Pass
            }
        });
        net.write(CLIENT, 4 * MSS);
        net.run_for(Duration::from_us(1500));
        assert_eq!(
            net.end(CLIENT).stats().fast_recoveries,
            1,
            "{reordering} {state:?}"
        );
        assert_eq!(net.end(CLIENT).stats().timeouts, 0);
    }
    // Two beyond the hole are not enough, whatever is left to send.
    let mut net = warm(stack());
    net.end(CLIENT).reordering = 10;
    net.judge(CLIENT, |f| {
        if f.data_index == 0 {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    net.write(CLIENT, 3 * MSS);
    net.run_for(Duration::from_ms(100));
    assert_eq!(net.end(CLIENT).probe().state, CaState::Disorder);
}

#[test]
fn without_sack_three_duplicates_repair_one_loss_a_round_trip() {
    let mut net = warm(Stack {
        tcp_sack: false,
        tso: false,
        ..stack()
    });
    transfer(&mut net, 60, &[5, 9]);
    let stats = net.end(CLIENT).stats();
    assert_eq!((stats.timeouts, stats.fast_recoveries), (0, 1));
    assert_eq!(
        stats.retransmissions, 2,
        "NewReno: the partial acknowledgement shows the second"
    );
}

#[test]
fn reno_halves_once_for_each_loss_of_a_window_where_newreno_halves_once() {
    let ssthresh_after = |fast_recovery| {
        let mut net = warm(Stack {
            tcp_sack: false,
            tso: false,
            fast_recovery,
            ..stack()
        });
        transfer(&mut net, 60, &[5, 9]);
        let stats = *net.end(CLIENT).stats();
        assert_eq!(stats.retransmissions, 2, "{fast_recovery:?}");
        (
            stats.fast_recoveries + stats.timeouts,
            net.end(CLIENT).probe().ssthresh,
        )
    };
    let (once, newreno) = ssthresh_after(FastRecovery::NewReno);
    let (twice, reno) = ssthresh_after(FastRecovery::Reno);
    assert_eq!((once, twice), (1, 2));
    assert!(reno < newreno, "{reno}, {newreno}");
}

#[test]
fn without_sack_a_packet_of_several_segments_is_never_marked_lost() {
    // tcp_mark_head_lost wants to mark one segment, and does not divide the packet for it.
    let mut net = warm(Stack {
        tcp_sack: false,
        ..stack()
    });
    transfer(&mut net, 60, &[5]);
    let stats = net.end(CLIENT).stats();
    assert_eq!((stats.timeouts, stats.fast_recoveries), (1, 1));
}

#[test]
fn a_receiver_that_takes_back_what_it_acknowledged_starts_it_all_anew() {
    let mut net = warm(stack());
    net.judge(CLIENT, |_| Fate::Drop);
    net.write(CLIENT, 10 * MSS);
    let una = net.end(CLIENT).snd_una;
    let mut sack = net.end(CLIENT).plain_segment();
    sack.push_sack(SackBlock {
        start: una + MSS as u32,
        end: una + 3 * MSS as u32,
    });
    net.inject(CLIENT, &sack);
    assert_eq!(net.end(CLIENT).sacked_out, 2);
    // Now the first is acknowledged, and the second, which was there, is not.
    let mut ack = net.end(CLIENT).plain_segment();
    ack.ack = una + MSS as u32;
    net.inject(CLIENT, &ack);
    let probe = net.end(CLIENT).probe();
    assert_eq!((probe.state, probe.cwnd), (CaState::Loss, 1));
    assert_eq!(
        (net.end(CLIENT).sacked_out, net.end(CLIENT).lost_out),
        (0, 9)
    );
    assert_eq!(net.end(CLIENT).stats().timeouts, 0);
}

#[test]
fn blocks_in_falling_order_are_sorted_as_the_kernel_sorts_them() {
    let block = |n: u32| SackBlock {
        start: Seq(n),
        end: Seq(n + 10),
    };
    let sorted = |numbers: [u32; 3]| {
        let received = numbers.map(block);
        let mut blocks = received;
        super::super::sack::sort_as_the_kernel_does(&mut blocks, &received);
        blocks.map(|b| b.start.0)
    };
    assert_eq!(sorted([1, 2, 3]), [1, 2, 3]);
    assert_eq!(sorted([2, 1, 3]), [1, 2, 3]);
    // The first is put in place twice, the last is lost.
    assert_eq!(sorted([3, 2, 1]), [2, 3, 2]);
}

#[test]
fn tcp_fack_takes_what_lies_far_behind_the_highest_block_for_lost() {
    // Of the last ten only one arrives: with FACK all but three are lost at once, without, the head alone
    // is known to be.
    for (fack, known) in [(true, 7), (false, 1)] {
        let mut net = warm(Stack {
            tcp_fack: fack,
            tso: false,
            ..stack()
        });
        net.judge(CLIENT, |f| match f.data_index {
            20..=28 => Fate::Drop,
            _ => Fate::Pass,
        });
        net.write(CLIENT, 30 * MSS);
        assert!(net.run_until(Duration::from_secs(1), |n| {
            n.ends[CLIENT].as_ref().is_some_and(|end| end.lost_out > 0)
        }));
        assert_eq!(net.end(CLIENT).lost_out, known, "{fack}");
    }
}
