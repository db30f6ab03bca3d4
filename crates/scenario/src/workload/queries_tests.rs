use std::collections::{BTreeMap, BTreeSet};

use tailback_net::random::Stream;
use tailback_units::{Bytes, Duration};

use super::{Queries, others};
use crate::workload::test_network;

fn queries() -> Queries {
    Queries {
        load: 0.1,
        fan_in: 4,
        size: Bytes::new(20_000),
        start_within: Duration::from_us(5),
        priority: 3,
    }
}

#[test]
fn answers_bring_each_host_its_load_on_average() {
    let network = test_network(r#"topology = "star", hosts = 10, "#);
    let second = Duration::from_secs(1);
    let flows = queries().flows(3, second, &network);
    // 10 hosts × 10 Gb/s × 0.1 × 1 s / 8 / 20 kB.
    let expected = 62_500.0_f64;
    let most = 4.0 * (expected / 4.0).sqrt() * 4.0;
    assert!(
        (flows.len() as f64 - expected).abs() < most,
        "{}",
        flows.len()
    );
    let told = queries().expected_flows(second, &network) as f64;
    assert!((told - expected).abs() < expected / 100.0, "{told}");
    let to_last = flows.iter().filter(|f| f.destination == 9).count() as f64;
    assert!((to_last - expected / 10.0).abs() < most, "{to_last}");
    assert_eq!(flows, queries().flows(3, second, &network));
    assert_ne!(flows, queries().flows(4, second, &network));
}

#[test]
fn a_query_is_answered_by_different_hosts_at_about_once() {
    let network = test_network(r#"topology = "star", hosts = 10, "#);
    let flows = queries().flows(1, Duration::from_ms(20), &network);
    let mut by_query: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    for flow in &flows {
        assert_eq!((flow.bytes, flow.priority), (Some(20_000), 3));
        by_query
            .entry(flow.query.expect("a query"))
            .or_default()
            .push(flow);
    }
    let numbers: Vec<u32> = by_query.keys().copied().collect();
    assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>());
    let mut lasts = Vec::new();
    for answers in by_query.values() {
        let sources: BTreeSet<usize> = answers.iter().map(|f| f.source).collect();
        let asks: BTreeSet<usize> = answers.iter().map(|f| f.destination).collect();
        assert_eq!((sources.len(), asks.len()), (4, 1));
        assert!(sources.is_disjoint(&asks));
        let first = answers.iter().map(|f| f.start).min().expect("answers");
        let last = answers.iter().map(|f| f.start).max().expect("answers");
        assert!(last.since(first) <= Duration::from_us(5));
        lasts.push(last);
    }
    assert!(lasts.len() > 100, "{}", lasts.len());
}

#[test]
fn each_set_of_others_is_as_likely() {
    let mut stream = Stream::new(1, "test", 0);
    let mut seen: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
    for _ in 0..6000 {
        let set = others(&mut stream, 2, 5, 2);
        *seen.entry(set.into_iter().collect()).or_default() += 1;
    }
    // Pairs of 0, 1, 3 and 4: six, each a thousand times, give or take four deviations.
    assert_eq!(seen.len(), 6, "{seen:?}");
    assert!(seen.keys().flatten().all(|host| *host != 2));
    assert!(seen.values().all(|n| n.abs_diff(1000) < 116), "{seen:?}");
    assert_eq!(others(&mut stream, 0, 3, 2), BTreeSet::from([1, 2]));
}

#[test]
fn what_no_host_or_no_time_is_there_for_is_told() {
    let network = test_network(r#"topology = "star", hosts = 4, "#);
    let found = queries().name_findings(&network);
    assert_eq!(found[0].path, "queries.fan_in");
    assert!(
        found[0]
            .reason
            .contains("4 hosts are to answer, and there are 3")
    );
    let enough = Queries {
        fan_in: 3,
        ..queries()
    };
    assert!(enough.name_findings(&network).is_empty());
    let empty = Queries {
        size: Bytes::new(0),
        ..queries()
    };
    let found = empty.findings(Duration::from_us(5));
    let paths: Vec<&str> = found.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(paths, ["queries.size", "queries.start_within"]);
    assert!(queries().findings(Duration::from_us(6)).is_empty());
}
