use tailback_units::{Bytes, Duration, Time};

use super::super::test_network;
use super::{Pairs, Ping};

fn ping(count: Option<u32>, duration: Option<Duration>) -> Ping {
    Ping {
        pairs: Pairs::ToFirst {},
        interval: Duration::from_ms(200),
        count,
        duration,
        size: Bytes::new(56),
        wait: Duration::from_secs(1),
    }
}

#[test]
fn requests_are_counted_or_go_on_for_a_time() {
    let network = test_network("topology = \"star\", hosts = 3,");
    let [first, second] = ping(Some(7), None).pingers(1, &network)[..] else {
        panic!("two hosts ping the first")
    };
    assert_eq!((first.source, first.destination, first.count), (1, 0, 7));
    assert_eq!((second.source, second.destination), (2, 0));
    // They are not in step.
    assert_eq!(first.start, Time::ZERO);
    assert_eq!(second.start, Time::ZERO + Duration::from_ms(100));
    // At 0, 0.2, 0.4 s of half a second, and none at the end of a second.
    for (ms, count) in [(500, 3), (1000, 5)] {
        let lasting = ping(None, Some(Duration::from_ms(ms)));
        assert_eq!(lasting.pingers(1, &network)[0].count, count);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let paths = |ping: &Ping| -> Vec<String> {
        let found = ping.findings().into_iter();
        found.map(|finding| finding.path).collect()
    };
    assert!(paths(&ping(Some(1), None)).is_empty());
    assert_eq!(paths(&ping(None, None)), ["count"]);
    let second = Some(Duration::from_secs(1));
    assert_eq!(paths(&ping(Some(1), second)), ["duration"]);
    assert_eq!(paths(&ping(None, Some(Duration::ZERO))), ["duration"]);
    let hasty = Ping {
        interval: Duration::from_ns(999),
        wait: Duration::ZERO,
        ..ping(Some(1), None)
    };
    assert_eq!(paths(&hasty), ["interval", "wait"]);
    let endless = Ping {
        interval: Duration::from_secs(864_000),
        ..ping(Some(11), None)
    };
    assert_eq!(paths(&endless), ["interval"]);
}

#[test]
fn a_request_is_one_packet_with_its_time_and_a_row() {
    let network = test_network("topology = \"star\", hosts = 2,");
    let sized = |bytes| Ping {
        size: Bytes::new(bytes),
        ..ping(Some(1), None)
    };
    for (bytes, fits) in [(15, false), (16, true), (1472, true), (1473, false)] {
        assert_eq!(sized(bytes).name_findings(&network).is_empty(), fits);
    }
    let many = Ping {
        interval: Duration::from_us(1),
        ..ping(None, Some(Duration::from_secs(11)))
    };
    let found = many.name_findings(&network);
    assert_eq!(found[0].path, "duration");
}
