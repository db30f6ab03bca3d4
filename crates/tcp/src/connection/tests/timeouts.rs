//! Retransmission timeouts and zero-window probes.

use tailback_units::{Bytes, Duration, Time};

use crate::testing::{CLIENT, Fate, Net, SERVER, config, stack};
use crate::{Event, Stack};

const MS: Duration = Duration::from_ms(1);

/// An open connection over which a first round trip has been measured.
fn warm(mut net: Net) -> Net {
    net.open();
    net.write(CLIENT, 30_000);
    net.run_for(Duration::from_ms(500));
    assert_eq!(net.delivered[SERVER], 30_000);
    net.trace.clear();
    net
}

/// When the data that the client sends now, and loses for ever, is sent: spans in between.
fn spans_of_silence(net: &mut Net, count: usize) -> Vec<Duration> {
    net.judge(CLIENT, |_| Fate::Drop);
    net.write(CLIENT, 100);
    net.run_until(Duration::from_secs(400), |n| n.data(CLIENT).count() > count);
    let at: Vec<Time> = net.data(CLIENT).map(|s| s.at).collect();
    at.windows(2).map(|w| w[1].since(w[0])).collect()
}

#[test]
fn in_a_lan_the_timeout_is_201_ticks_and_doubles() {
    let mut net = warm(Net::new());
    net.run_for(Duration::from_us(400));
    let spans = spans_of_silence(&mut net, 4);
    // The first is less the part of the tick that has passed already.
    assert_eq!(spans[0], Duration::from_us(201_000 - 400));
    assert_eq!(spans[1..4], [MS * 402, MS * 804, MS * 1608]);
    assert_eq!(net.end(CLIENT).stats().timeouts, 4);
    assert_eq!(net.end(CLIENT).stats().retransmissions, 4);
}

#[test]
fn timers_fire_at_the_ticks_of_their_host() {
    let mut client = config(stack(), 1);
    client.clock_phase = Duration::from_us(300);
    let mut net = warm(Net::between(client, config(stack(), 2)));
    spans_of_silence(&mut net, 2);
    let at: Vec<u64> = net
        .data(CLIENT)
        .map(|s| s.at.as_ps() % MS.as_ps())
        .collect();
    assert_eq!(at[1..], [Duration::from_us(700).as_ps(); 2]);
}

#[test]
fn the_next_sample_ends_the_backing_off() {
    let mut net = warm(Net::new());
    spans_of_silence(&mut net, 3);
    assert_eq!(net.end(CLIENT).probe().rto, MS * 1608);
    net.judge(CLIENT, |_| Fate::Pass);
    net.run_for(Duration::from_secs(3));
    assert_eq!(net.delivered[SERVER], 30_100);
    // The retransmission's own echo is a sample of less than a tick.
    assert_eq!(net.end(CLIENT).probe().rto, MS * 201);
}

#[test]
fn randomised_timeouts_stay_in_their_range_and_differ() {
    let spans: Vec<Duration> = (0..20)
        .map(|seed| {
            let jittered = Stack {
                rto_jitter: 0.5,
                ..stack()
            };
            let net = Net::between(config(jittered.clone(), seed), config(jittered, 99));
            spans_of_silence(&mut warm(net), 1)[0]
        })
        .collect();
    assert!(
        spans.iter().all(|s| (MS * 201..=MS * 302).contains(s)),
        "{spans:?}"
    );
    assert!(spans.iter().max().unwrap().as_us() - spans.iter().min().unwrap().as_us() > 50_000);
}

#[test]
fn a_fine_clock_and_a_low_minimum_time_out_within_a_millisecond() {
    let fine = Stack {
        hz: 100_000,
        rto_min: Duration::from_us(200),
        ..stack()
    };
    let mut net = warm(Net::of(fine));
    let rto = net.end(CLIENT).probe().rto;
    let span = spans_of_silence(&mut net, 1)[0];
    // A round trip takes at least 20 ticks of 10 µs; the variance is at least the minimum.
    assert!(
        (Duration::from_us(400)..Duration::from_us(700)).contains(&rto),
        "{rto}"
    );
    assert!(
        span <= rto && rto - span < Duration::from_us(10),
        "{span} of {rto}"
    );
}

#[test]
fn a_connection_is_given_up_after_tcp_retries2_timeouts() {
    let mut net = warm(Net::of(Stack {
        tcp_retries2: 4,
        ..stack()
    }));
    spans_of_silence(&mut net, 10);
    assert!(net.happened(CLIENT, Event::Reset));
    assert_eq!(net.end(CLIENT).stats().timeouts, 4);
    assert_eq!(net.end(CLIENT).poll_timeout(), Time::NEVER);
    assert_eq!(net.data(CLIENT).count(), 5);
}

#[test]
fn early_calls_are_harmless() {
    let mut net = warm(Net::new());
    net.judge(CLIENT, |_| Fate::Drop);
    net.write(CLIENT, 100);
    let (now, before) = (net.now, net.data(CLIENT).count());
    for us in [0, 1, 100_000, 200_000] {
        net.end(CLIENT).handle_timeout(now + Duration::from_us(us));
    }
    assert!(net.end(CLIENT).poll_transmit(now).is_none());
    assert_eq!(net.data(CLIENT).count(), before);
}

fn small_buffer() -> Stack {
    let fixed = [Bytes::new(4096), Bytes::new(40_000), Bytes::new(40_000)];
    Stack {
        tcp_rmem: fixed,
        tcp_moderate_rcvbuf: false,
        ..stack()
    }
}

#[test]
fn a_closed_window_is_probed_with_doubling_pauses_and_opens_again() {
    let mut net = warm(Net::of(small_buffer()));
    net.reads[SERVER] = false;
    net.write(CLIENT, 200_000);
    net.run_for(Duration::from_secs(4));
    assert_eq!(net.end(CLIENT).snd_wnd, 0);
    let una = net.end(CLIENT).snd_una;
    let probes: Vec<Time> = net
        .acks(CLIENT)
        .filter(|s| s.segment.seq == una - 1)
        .map(|s| s.at)
        .collect();
    let spans: Vec<Duration> = probes.windows(2).map(|w| w[1].since(w[0])).collect();
    // The answer to a probe starts the timer anew, a moment after the probe.
    assert!(spans.len() >= 3, "{spans:?}");
    let rto = net.end(CLIENT).probe().rto;
    for (span, times) in spans.iter().zip([2, 4, 8]) {
        assert!(
            span.as_us().abs_diff((rto * times).as_us()) <= 1000,
            "{spans:?}"
        );
    }
    assert!(
        !net.happened(CLIENT, Event::Reset),
        "answered probes go on for ever"
    );
    net.reads[SERVER] = true;
    net.read(SERVER, u64::MAX);
    assert!(net.run_until(Duration::from_secs(2), |n| n.delivered[SERVER] == 230_000));
}

#[test]
fn unanswered_probes_end_the_connection() {
    let mut net = warm(Net::of(Stack {
        tcp_retries2: 3,
        ..small_buffer()
    }));
    net.reads[SERVER] = false;
    net.write(CLIENT, 200_000);
    net.run_for(MS * 150);
    assert_eq!(net.end(CLIENT).packets_out, 0);
    net.judge(CLIENT, |_| Fate::Drop);
    assert!(net.run_until(Duration::from_secs(60), |n| {
        n.happened(CLIENT, Event::Reset)
    }));
    assert_eq!(net.end(CLIENT).stats().timeouts, 0);
}

#[test]
fn a_window_too_small_for_a_segment_is_filled_when_the_probe_is_due() {
    let mut net = warm(Net::new());
    let mut shrink = net.end(CLIENT).plain_segment();
    shrink.window = 4; // 512 bytes, scaled by 7
    shrink.seq += 1;
    net.end(CLIENT).snd_wl1 = shrink.seq - 1;
    net.inject(CLIENT, &shrink);
    assert_eq!(net.end(CLIENT).snd_wnd, 512);
    net.write(CLIENT, 2000);
    assert_eq!(net.data(CLIENT).count(), 0, "silly window avoidance");
    net.run_for(MS * 250);
    let first = net.data(CLIENT).next().map(|s| s.segment.payload_bytes);
    assert_eq!(first, Some(512));
}

#[test]
fn a_window_shrunk_to_nothing_is_retried_without_counting() {
    let mut net = warm(Net::of(Stack {
        tcp_retries2: 2,
        ..stack()
    }));
    net.judge(CLIENT, |_| Fate::Drop);
    net.write(CLIENT, 100);
    let mut shrink = net.end(CLIENT).plain_segment();
    shrink.window = 0;
    shrink.seq += 1;
    net.end(CLIENT).snd_wl1 = shrink.seq - 1;
    net.inject(CLIENT, &shrink);
    net.run_for(Duration::from_secs(30));
    assert!(net.end(CLIENT).stats().timeouts > 4);
    assert!(!net.happened(CLIENT, Event::Reset));
    // After TCP_RTO_MAX without an acknowledgement it is over all the same.
    net.run_for(Duration::from_secs(300));
    assert!(net.happened(CLIENT, Event::Reset));
}
