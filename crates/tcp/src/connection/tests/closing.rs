//! FIN in both directions, and resets.

use tailback_units::Duration;

use crate::segment::Ecn;
use crate::testing::{CLIENT, Fate, Net, SERVER, preset};
use crate::{Event, Failure, Flags, Life, Segment, SocketOption, Stack};

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
    net.shut(CLIENT);
    net.run_for(Duration::from_ms(100));
    assert!(net.happened(SERVER, Event::PeerClosed) && !net.happened(SERVER, Event::Closed));
    assert_eq!(net.delivered[SERVER], 50_000, "the FIN is no byte");
    assert_eq!(net.end(SERVER).readable(), 0);
    net.write(SERVER, 70_000);
    net.run_for(Duration::from_ms(500));
    assert_eq!(net.delivered[CLIENT], 70_000);
    net.shut(SERVER);
    assert!(net.run_until(Duration::from_secs(1), closed));
    assert!(net.run_out(Duration::from_secs(70)));
}

#[test]
fn the_fin_rides_on_the_last_data() {
    let mut net = opened();
    net.end(CLIENT).window.cwnd = 1;
    net.write(CLIENT, 4000);
    net.shut(CLIENT);
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
    net.shut(CLIENT);
    let at = net.now;
    net.run_for(Duration::from_ms(100));
    let ack = net.acks(SERVER).next().unwrap().at;
    assert!(
        (39..=41).contains(&(ack.since(at).as_us() / 1000)),
        "{}",
        ack.since(at)
    );
    net.trace.clear();
    net.shut(SERVER);
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
    net.shut(CLIENT);
    net.shut(SERVER);
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
    net.shut(CLIENT);
    net.run_for(Duration::from_ms(20));
    assert!(net.happened(SERVER, Event::PeerClosed));
    assert_eq!(net.delivered[SERVER], 2000);
    assert_eq!(net.end(CLIENT).stats().retransmissions, 0);
}

#[test]
fn a_lost_last_acknowledgement_is_repeated() {
    let mut net = opened();
    net.shut(SERVER);
    net.run_for(Duration::from_ms(100));
    net.lose_first(SERVER, 1);
    net.shut(CLIENT);
    assert!(net.run_until(Duration::from_secs(5), closed));
    assert!(net.run_out(Duration::from_secs(70)));
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
    net.shut(CLIENT);
    net.run_for(Duration::from_ms(100));
    let mut more = net.end(SERVER).plain_segment();
    more.payload_bytes = 100;
    net.inject(SERVER, &more);
    assert_eq!(net.delivered[SERVER], 0);
    more.seq = more.seq - 1;
    net.inject(SERVER, &more);
    assert!(net.happened(SERVER, Event::Reset));
}

/// The same network between two hosts of today.
fn opened_today() -> Net {
    let mut net = Net::of(crate::testing::preset("linux-7.2"));
    net.open();
    net
}

#[test]
fn who_closes_first_rests_for_a_minute_the_other_not_at_all() {
    let mut net = opened();
    net.close(CLIENT);
    net.run_for(Duration::from_ms(50));
    // FIN-WAIT-2 without an application is TIME-WAIT's small state already.
    assert_eq!(net.end(CLIENT).life(), Life::TimeWait);
    assert_eq!(net.end(SERVER).life(), Life::CloseWait);
    net.close(SERVER);
    net.run_for(Duration::from_ms(50));
    assert_eq!(net.end(CLIENT).life(), Life::TimeWait);
    assert_eq!(net.end(SERVER).life(), Life::Closed);
    assert!(closed(&net));
    net.run_for(Duration::from_secs(59));
    assert_eq!(net.end(CLIENT).life(), Life::TimeWait);
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.end(CLIENT).life(), Life::Closed);
    assert_eq!(net.end(CLIENT).failure(), None);
}

#[test]
fn both_close_at_once_and_both_rest() {
    let mut net = opened();
    net.shut(CLIENT);
    net.shut(SERVER);
    assert_eq!(net.end(CLIENT).life(), Life::FinWait1);
    net.run_for(Duration::from_us(150));
    assert_eq!(net.end(CLIENT).life(), Life::Closing);
    net.run_for(Duration::from_ms(10));
    assert_eq!(net.end(CLIENT).life(), Life::TimeWait);
    assert_eq!(net.end(SERVER).life(), Life::TimeWait);
}

#[test]
fn closing_with_unread_data_resets() {
    let mut net = opened();
    net.reads[SERVER] = false;
    net.write(CLIENT, 1000);
    net.run_for(Duration::from_ms(5));
    net.close(SERVER);
    assert_eq!(net.end(SERVER).life(), Life::Closed);
    net.run_for(Duration::from_ms(5));
    assert_eq!(net.end(CLIENT).failure(), Some(Failure::Reset));
}

#[test]
fn what_was_not_read_takes_no_room_in_the_window_of_its_reset() {
    // __tcp_close frees it before tcp_send_active_reset, whatever the linger time is.
    for hard in [false, true] {
        let mut net = opened_today();
        net.reads[SERVER] = false;
        net.write(CLIENT, 60_000);
        net.run_for(Duration::from_ms(100));
        net.end(SERVER).receive.lock_buffer(80_000);
        let now = net.now;
        if hard {
            net.end(SERVER).close_hard(now);
        } else {
            net.end(SERVER).close(now);
        }
        let sent = std::iter::from_fn(|| net.end(SERVER).poll_transmit(now)).last();
        let reset = sent.unwrap().segment;
        assert!(reset.flags.contains(Flags::RST));
        let shift = net.end(SERVER).receive.window_shift;
        let (window, left) = (
            u32::from(reset.window) << shift,
            net.end(SERVER).receive.window_clamp(),
        );
        assert!(window > left - (1 << shift), "{window} of {left}");
    }
}

#[test]
fn a_hard_close_resets_like_one_without_linger_time() {
    let resets = [false, true].map(|hard| {
        let mut net = opened_today();
        net.write(CLIENT, 60_000);
        let now = net.now;
        if hard {
            net.end(CLIENT).close_hard(now);
        } else {
            net.set(CLIENT, SocketOption::Linger(Some(Duration::ZERO)));
            net.end(CLIENT).close(now);
        }
        assert_eq!(net.end(CLIENT).life(), Life::Closed);
        std::iter::from_fn(|| net.end(CLIENT).poll_transmit(now))
            .last()
            .unwrap()
            .segment
    });
    assert!(resets[0].flags.contains(Flags::RST));
    assert_eq!(resets[0], resets[1]);
}

#[test]
fn a_fin_that_waited_out_of_order_is_acknowledged_with_its_block_by_who_has_closed() {
    // tcp_fin sends it before tcp_sack_remove; who has not closed acknowledges later, by tcp_ack_snd_check.
    for (closed, told) in [(true, 1), (false, 0)] {
        let mut net = opened();
        if closed {
            net.shut(SERVER);
            net.run_for(Duration::from_ms(50));
            assert_eq!(net.end(SERVER).life(), Life::FinWait2);
        }
        net.judge(CLIENT, |f| match f.data_index {
            0 => Fate::Drop,
            _ => Fate::Pass,
        });
        net.write(CLIENT, 2000);
        net.shut(CLIENT);
        net.run_for(Duration::from_secs(2));
        let done = net.end(CLIENT).snd_nxt;
        let last = net.acks(SERVER).find(|s| s.segment.ack == done).unwrap();
        assert_eq!(last.segment.sack_blocks().len(), told, "{closed}");
    }
}

#[test]
fn a_reset_bears_the_echo_that_is_owed() {
    // tcp_send_active_reset goes by tcp_transmit_skb, and that by tcp_ecn_send.
    let mut net = opened_today();
    net.set(CLIENT, SocketOption::Linger(Some(Duration::ZERO)));
    net.end(CLIENT).demand_cwr = true;
    net.close(CLIENT);
    let reset = net.sent(CLIENT).last().unwrap().segment;
    assert_eq!(reset.flags, Flags::RST.with(Flags::ACK).with(Flags::ECE));
}

#[test]
fn a_window_that_is_less_by_what_scaling_rounds_off_holds_no_number_back() {
    // tcp_acceptable_seq.
    for (more, today, held) in [(0, true, false), (1, true, true), (0, false, true)] {
        let mut net = if today { opened_today() } else { opened() };
        net.write(CLIENT, 20_000);
        let client = net.end(CLIENT);
        let rounded = 1 << client.receive.window_shift;
        client.snd_wnd = client.snd_nxt - client.snd_una - (rounded - 1) - more;
        let numbers = [client.snd_nxt, client.snd_una + client.snd_wnd];
        client.send_ack();
        let now = net.now;
        let sent = std::iter::from_fn(|| net.end(CLIENT).poll_transmit(now)).last();
        let seq = sent.unwrap().segment.seq;
        assert_eq!(seq, numbers[usize::from(held)], "{more} {today}");
    }
}

#[test]
fn a_linger_time_of_zero_resets() {
    let mut net = opened();
    let now = net.now;
    let linger = SocketOption::Linger(Some(Duration::ZERO));
    net.end(CLIENT).set_option(now, linger).unwrap();
    net.close(CLIENT);
    let last = net.sent(CLIENT).last().unwrap().segment;
    assert!(last.flags.contains(Flags::RST.with(Flags::ACK)));
    assert_eq!(net.end(CLIENT).failure(), Some(Failure::Aborted));
}

#[test]
fn data_for_nobody_is_refused() {
    // RFC 1122 section 4.2.2.13.
    let mut net = opened();
    net.close(CLIENT);
    net.run_for(Duration::from_ms(5));
    net.write(SERVER, 100);
    net.run_for(Duration::from_ms(5));
    assert_eq!(net.end(CLIENT).life(), Life::Closed);
    assert_eq!(net.end(SERVER).failure(), Some(Failure::BrokenPipe));
}

#[test]
fn a_peer_that_never_closes_is_waited_for_a_minute() {
    let mut net = opened();
    net.close(CLIENT);
    net.run_for(Duration::from_secs(59));
    assert_eq!(net.end(CLIENT).life(), Life::TimeWait);
    net.run_for(Duration::from_secs(2));
    assert_eq!(net.end(CLIENT).life(), Life::Closed);
    assert!(net.happened(CLIENT, Event::Closed));
}

#[test]
fn linger2_sets_that_time_or_does_without() {
    for (linger2, after_s, life) in [
        (Some(Duration::from_secs(5)), 6, Life::Closed),
        (Some(Duration::from_secs(90)), 61, Life::TimeWait),
        (None, 0, Life::Closed),
    ] {
        let mut net = opened();
        let now = net.now;
        let option = SocketOption::Linger2(linger2);
        net.end(CLIENT).set_option(now, option).unwrap();
        net.close(CLIENT);
        net.run_for(Duration::from_ms(50));
        net.run_for(Duration::from_secs(after_s));
        assert_eq!(net.end(CLIENT).life(), life, "{linger2:?}");
    }
}

#[test]
fn time_wait_answers_what_is_late_and_is_not_ended_by_old_resets() {
    let mut net = opened();
    net.write(CLIENT, 1000);
    net.run_for(Duration::from_ms(50));
    net.close(CLIENT);
    net.run_for(Duration::from_ms(50));
    net.close(SERVER);
    net.run_for(Duration::from_ms(50));
    net.trace.clear();
    let mut late = net.end(CLIENT).plain_segment();
    late.seq = late.seq - 1;
    late.flags = Flags::ACK.with(Flags::FIN);
    net.inject(CLIENT, &late);
    let answer = net.acks(CLIENT).last().unwrap().segment;
    assert_eq!(answer.ack, late.seq + 1);
    late.flags = Flags::RST;
    net.inject(CLIENT, &late);
    assert_eq!(net.end(CLIENT).life(), Life::TimeWait);
    late.seq += 1;
    net.inject(CLIENT, &late);
    assert_eq!(net.end(CLIENT).life(), Life::Closed, "RFC 1337 is off");
}

#[test]
fn the_last_acknowledgement_has_the_ecn_field_of_what_was_sent_before() {
    // The socket's, which new data sets and all else takes back (tcp_ecn_send, tw_tos).
    for (bytes, ecn) in [(0, Ecn::NotEct), (40_000, Ecn::Ect0)] {
        let mut stack = preset("linux-7.2");
        stack.tcp_ecn = 1;
        let mut net = Net::of(stack);
        net.open();
        net.write(CLIENT, bytes);
        net.close(CLIENT);
        net.run_for(Duration::from_ms(50));
        assert_eq!(net.delivered[SERVER], bytes);
        net.trace.clear();
        net.close(SERVER);
        net.run_for(Duration::from_ms(50));
        let last: Vec<Ecn> = net.acks(CLIENT).map(|s| s.segment.ecn).collect();
        assert_eq!(last, [ecn], "{bytes} bytes");
    }
}

#[test]
fn a_new_syn_may_take_the_place_of_one_that_rests() {
    let mut net = opened();
    net.close(CLIENT);
    net.run_for(Duration::from_ms(50));
    net.close(SERVER);
    net.run_for(Duration::from_ms(50));
    let mut syn = net.end(CLIENT).plain_segment();
    syn.flags = Flags::SYN;
    syn.seq += 1000;
    syn.ts_val += 1;
    assert!(net.end(CLIENT).reopened_by(&syn).is_some());
    syn.ts_val -= 5;
    assert!(net.end(CLIENT).reopened_by(&syn).is_none(), "RFC 6191");
    assert!(net.end(SERVER).reopened_by(&syn).is_none());
}

#[test]
fn a_reset_or_syn_inside_the_window_is_challenged() {
    // RFC 5961 sections 3.2 and 4.2.
    let mut net = opened_today();
    net.trace.clear();
    let exact = net.end(CLIENT).plain_segment();
    for flags in [Flags::RST, Flags::SYN] {
        let mut blind = exact;
        blind.flags = flags;
        blind.seq += 100;
        net.inject(CLIENT, &blind);
        assert_eq!(net.end(CLIENT).life(), Life::Established);
        assert_eq!(net.acks(CLIENT).count(), 1, "one challenge, then a pause");
        assert_eq!(net.acks(CLIENT).last().unwrap().segment.flags, Flags::ACK);
    }
    net.run_for(Duration::from_ms(600));
    let mut unsent = exact;
    unsent.ack += 5000;
    net.inject(CLIENT, &unsent);
    assert_eq!(net.acks(CLIENT).count(), 2, "RFC 5961 section 5.2");
    let mut reset = exact;
    reset.flags = Flags::RST;
    net.inject(CLIENT, &reset);
    assert_eq!(net.end(CLIENT).failure(), Some(Failure::Reset));
}

#[test]
fn what_a_reset_left_unread_is_read_and_not_acknowledged() {
    let mut net = Net::of(preset("linux-7.2"));
    net.open();
    net.reads[SERVER] = false;
    net.write(CLIENT, 200_000);
    net.run_for(Duration::from_secs(1));
    let mut reset = net.end(SERVER).plain_segment();
    reset.flags = Flags::RST;
    net.inject(SERVER, &reset);
    assert_eq!(net.end(SERVER).life(), Life::Closed);
    net.trace.clear();
    assert!(net.read(SERVER, u64::MAX) > 0);
    assert_eq!(net.sent(SERVER).count(), 0);
}

#[test]
fn a_reset_at_the_end_of_what_was_selectively_acknowledged_counts() {
    for (sack, failure) in [(true, Some(Failure::Reset)), (false, None)] {
        let mut net = Net::of(Stack {
            tcp_sack: sack,
            ..preset("linux-7.2")
        });
        net.open();
        let mut ahead = net.end(CLIENT).plain_segment();
        ahead.seq += 1000;
        ahead.payload_bytes = 500;
        net.inject(CLIENT, &ahead);
        let mut reset = net.end(CLIENT).plain_segment();
        reset.flags = Flags::RST;
        reset.seq += 1500;
        let before = net.end(CLIENT).stats().acks_sent;
        net.inject(CLIENT, &reset);
        assert_eq!(net.end(CLIENT).failure(), failure);
        // Else it is challenged.
        let challenges = net.end(CLIENT).stats().acks_sent - before;
        assert_eq!(challenges, u64::from(!sack));
    }
}
