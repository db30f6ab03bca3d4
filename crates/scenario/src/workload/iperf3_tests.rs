use tailback_units::{Duration, Time};

use super::{Iperf3, Measured};

/// The receiver, and three senders.
const ORDER: [usize; 4] = [0, 1, 2, 3];

fn iperf3(measured: Measured) -> Iperf3 {
    Iperf3 {
        senders: 3,
        measured,
        duration: Duration::from_secs(20),
        lead: Duration::from_secs(2),
        start_skew: Duration::from_ms(5),
        parallel: 2,
        reverse: false,
        ping_interval: Duration::from_ms(20),
        interval: Duration::from_ms(200),
        hosts: Vec::new(),
    }
}

#[test]
fn the_measured_sender_comes_last_and_exactly_on_time() {
    let spec = iperf3(Measured::First);
    let flows = spec.flows(1, &ORDER);
    let senders: Vec<u32> = flows.iter().map(|one| one.sender).collect();
    assert_eq!(senders.len(), 6);
    assert_eq!(senders[4..], [1, 1]);
    assert!(
        flows[..4]
            .iter()
            .all(|one| one.flow.start <= Time::ZERO + spec.start_skew)
    );
    assert!(flows[4..].iter().all(|one| one.flow.start == spec.begin()));
    assert_eq!(spec.begin(), Time::ZERO + Duration::from_secs(2));
    assert_eq!(spec.end(), Time::ZERO + Duration::from_secs(22));
    assert!(flows.iter().all(|one| one.measured == (one.sender == 1)));
}

#[test]
fn together_all_are_measured_from_the_start() {
    let spec = iperf3(Measured::All);
    assert_eq!(spec.begin(), Time::ZERO);
    let flows = spec.flows(1, &ORDER);
    assert!(
        flows
            .iter()
            .all(|one| one.flow.start <= Time::ZERO + spec.start_skew)
    );
    assert!(flows.is_sorted_by_key(|one| one.flow.start));
    assert!(
        flows
            .iter()
            .all(|one| one.flow.source == one.sender as usize && one.flow.destination == 0)
    );
    assert_ne!(flows, spec.flows(2, &ORDER), "another seed, other starts");
    assert!(flows.iter().all(|one| one.measured));
    assert_eq!(spec.measurement(1, &ORDER).senders_measured(), 3);
}

#[test]
fn one_sender_alone_needs_no_lead() {
    let alone = Iperf3 {
        senders: 1,
        ..iperf3(Measured::First)
    };
    assert_eq!(alone.begin(), Time::ZERO);
}

#[test]
fn the_other_way_round_the_receiver_sends() {
    let download = Iperf3 {
        reverse: true,
        ..iperf3(Measured::All)
    };
    let flows = download.flows(1, &ORDER);
    assert!(
        flows
            .iter()
            .all(|one| one.flow.source == 0 && one.flow.destination == one.sender as usize)
    );
}

#[test]
fn an_interval_ends_with_the_measurement() {
    let spec = |ms| Iperf3 {
        duration: Duration::from_ms(ms),
        ..iperf3(Measured::All)
    };
    for (ms, interval_ms) in [(199, 199), (201, 200)] {
        assert_eq!(spec(ms).findings(4), []);
        let interval = spec(ms).measurement(7, &ORDER).interval;
        assert_eq!(interval, Duration::from_ms(interval_ms));
    }
}

#[test]
fn hosts_have_the_parts_that_their_order_gives_them() {
    let run = iperf3(Measured::All).measurement(1, &[7, 2, 9, 4]);
    let mut senders: Vec<_> = run
        .flows
        .iter()
        .map(|one| (one.sender, one.flow.source))
        .collect();
    senders.sort_unstable();
    senders.dedup();
    assert_eq!(senders, [(1, 2), (2, 9), (3, 4)]);
    assert!(run.flows.iter().all(|one| one.flow.destination == 7));
    assert_eq!((run.receiver, run.pings[0].source), (7, 2));
    assert_eq!(run.pings[0].destination, 7);
}
