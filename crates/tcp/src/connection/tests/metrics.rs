//! What one connection leaves to the next (net/ipv4/tcp_metrics.c of Linux 7.2, tcp_update_metrics and
//! tcp_init_metrics of 2.6.18).

use tailback_units::{Duration, Time};

use crate::congestion::CongestionKind;
use crate::connection::metrics::{Learned, Metrics, MetricsCache};
use crate::testing::{CLIENT, Fate, Net, SERVER, preset};
use crate::{Event, Stack};

const MS: Duration = Duration::from_ms(1);

/// What the client of a connection with this round trip leaves; the `loss`th frame is lost.
fn left_by(stack: Stack, rtt: Duration, loss: usize) -> Option<Learned> {
    let mut net = Net::of(stack);
    for wire in &mut net.wires {
        wire.delay = rtt / 2;
    }
    net.connect();
    net.run_for(rtt * 2);
    let mut frames = 0;
    net.judge(CLIENT, move |_| {
        frames += 1;
        if frames == loss {
            Fate::Drop
        } else {
            Fate::Pass
        }
    });
    net.write(CLIENT, 600_000);
    assert!(net.run_until(rtt * 200, |n| n.delivered[SERVER] == 600_000));
    net.shut(CLIENT);
    net.run_for(rtt * 2);
    net.shut(SERVER);
    assert!(net.run_until(Duration::from_secs(200), |n| {
        n.happened(CLIENT, Event::Closed) && n.happened(SERVER, Event::Closed)
    }));
    let learned = net.end(CLIENT).take_learned();
    assert_eq!(net.end(CLIENT).take_learned(), None, "it is left once");
    learned
}

/// What is known after these.
fn known(left: &[Option<Learned>]) -> Option<Metrics> {
    let mut cache = MetricsCache::default();
    for learned in left.iter().flatten() {
        cache.learn((), Time::ZERO, learned);
    }
    cache.get(&(), Time::ZERO)
}

/// A connection over a short way that begins with what is known, open.
fn opened(stack: Stack, known: Option<Metrics>) -> Net {
    let mut net = Net::of(stack);
    net.connect();
    if let Some(known) = known {
        net.end(CLIENT).recall(known);
    }
    net.run_for(MS * 5);
    assert!(net.happened(CLIENT, Event::Connected));
    net
}

#[test]
fn todays_first_timeout_waits_as_long_as_the_way_once_took() {
    let stack = || preset("linux-7.2");
    let metrics = known(&[left_by(stack(), MS * 100, 0)]).expect("something is known");
    assert!((800_000..900_000).contains(&metrics.rtt_8), "{metrics:?}");
    let fresh = opened(stack(), None).end(CLIENT).probe();
    let mut net = opened(stack(), Some(metrics));
    let told = net.end(CLIENT).probe();
    // 200 ms and what the SYN took, and three round trips.
    assert!(
        (200..210).contains(&(fresh.rto.as_us() / 1000)),
        "{fresh:?}"
    );
    assert!((300..330).contains(&(told.rto.as_us() / 1000)), "{told:?}");
    assert_eq!(
        (told.cwnd, told.ssthresh, told.srtt),
        (10, fresh.ssthresh, fresh.srtt)
    );
    // The first sample of data ends that.
    net.write(CLIENT, 1000);
    net.run_for(MS * 60);
    assert!(net.end(CLIENT).probe().rto < MS * 210);
}

#[test]
fn tcp_no_metrics_save_leaves_nothing() {
    for name in ["linux-2.6.18", "linux-7.2"] {
        let stack = Stack {
            tcp_no_metrics_save: true,
            ..preset(name)
        };
        assert_eq!(left_by(stack, MS, 0), None, "{name}");
    }
}

#[test]
fn the_threshold_is_left_unless_tcp_no_ssthresh_metrics_save() {
    for (saves, name) in [
        (true, "linux-7.2"),
        (false, "linux-7.2"),
        (true, "linux-2.6.18"),
    ] {
        let stack = || Stack {
            tcp_no_ssthresh_metrics_save: !saves,
            // BIC of 2.6.18 begins with a threshold of its own, whatever is known.
            tcp_congestion_control: CongestionKind::Reno,
            ..preset(name)
        };
        let fresh = opened(stack(), None).end(CLIENT).probe();
        let metrics = known(&[left_by(stack(), MS * 10, 60)]).expect("something is known");
        let told = opened(stack(), Some(metrics)).end(CLIENT).probe();
        assert_eq!(metrics.ssthresh > 0, saves, "{name}: {metrics:?}");
        if saves {
            assert_eq!(told.ssthresh, metrics.ssthresh, "{name}");
        } else {
            assert_eq!(told.ssthresh, fresh.ssthresh, "{name}");
        }
    }
}

#[test]
fn linux_2_6_begins_with_the_round_trip_and_rfc_3390s_window() {
    let stack = || preset("linux-2.6.18");
    let metrics = known(&[left_by(stack(), MS * 100, 0)]).expect("something is known");
    let fresh = opened(stack(), None).end(CLIENT).probe();
    let told = opened(stack(), Some(metrics)).end(CLIENT).probe();
    assert_eq!((fresh.cwnd, told.cwnd), (2, 3));
    assert!(told.srtt >= MS * 90 && fresh.srtt < MS * 5, "{told:?}");
    assert!(told.rto >= MS * 290, "{told:?}");
}

#[test]
fn what_is_reset_leaves_nothing() {
    let mut net = opened(preset("linux-7.2"), None);
    net.write(CLIENT, 10_000);
    net.run_for(MS * 20);
    let now = net.now;
    net.end(CLIENT).abort(now);
    assert_eq!(net.end(CLIENT).take_learned(), None);
}

#[test]
fn a_longer_round_trip_counts_at_once_and_a_shorter_one_by_an_eighth() {
    let stack = || preset("linux-7.2");
    let (long, short) = (left_by(stack(), MS * 100, 0), left_by(stack(), MS * 20, 0));
    let [first, raised, lowered] = [[short, None], [short, long], [long, short]]
        .map(|left| known(&left).expect("something is known").rtt_8);
    let alone = known(&[long]).expect("something is known").rtt_8;
    assert_eq!(raised, alone);
    assert_eq!(lowered, alone - ((alone - first) >> 3));
}

#[test]
fn after_an_hour_without_news_nothing_is_known() {
    let mut cache = MetricsCache::default();
    let learned = left_by(preset("linux-7.2"), MS, 0).expect("something is left");
    cache.learn(7, Time::ZERO, &learned);
    assert!(
        cache
            .get(&7, Time::ZERO + Duration::from_secs(3600))
            .is_some()
    );
    assert_eq!(cache.get(&7, Time::ZERO + Duration::from_secs(3601)), None);
    assert_eq!(cache.get(&8, Time::ZERO), None);
}
