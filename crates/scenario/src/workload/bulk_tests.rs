use std::collections::BTreeSet;

use tailback_tcp::congestion::CongestionKind;
use tailback_units::{Bytes, Duration, Time};

use super::{Bulk, Pairs};
use crate::workload::test_network;

fn pairs(pairs: Pairs, network: &str) -> Vec<(usize, usize)> {
    pairs.of(7, 0, &test_network(network))
}

const STAR: &str = r#"topology = "star", hosts = 12, "#;

#[test]
fn all_send_to_the_first() {
    let pairs = pairs(Pairs::ToFirst {}, STAR);
    assert_eq!(pairs.len(), 11);
    assert!(pairs.iter().all(|(source, to)| *source > 0 && *to == 0));
}

#[test]
fn a_share_of_each_group_sends_to_the_next() {
    let groups = Pairs::Groups {
        hosts: 4,
        crossing: 0.34,
    };
    let expected = [
        (1, 0),
        (2, 0),
        (3, 4),
        (5, 4),
        (6, 4),
        (7, 8),
        (9, 8),
        (10, 8),
        (11, 0),
    ];
    assert_eq!(pairs(groups, STAR), expected);
}

#[test]
fn a_permutation_gives_each_one_sender_and_none_itself() {
    let pairs = pairs(Pairs::Permutation {}, STAR);
    let to: BTreeSet<usize> = pairs.iter().map(|p| p.1).collect();
    assert_eq!((pairs.len(), to.len()), (12, 12));
    assert!(pairs.iter().all(|(a, b)| a != b));
}

#[test]
fn names_that_are_not_there_are_told() {
    let list = |a: &str, b: &str| Bulk {
        pairs: Pairs::Listed {
            list: vec![[a.to_owned(), b.to_owned()]],
        },
        duration: Duration::from_ms(1),
        size: None,
        omit: Duration::ZERO,
        connections: 2,
        start_within: Duration::from_us(3),
        congestion: vec![CongestionKind::Reno, CongestionKind::Bbr],
        priority: vec![0, 3, 5],
        pair_window: None,
    };
    let network = test_network(STAR);
    let wrong = list("host1", "hots0").pairs.name_findings(&network);
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].remedy.contains("host0"), "{wrong:?}");
    assert_eq!(
        list("host1", "host1").pairs.name_findings(&network).len(),
        1
    );
    let right = list("host1", "host0");
    assert_eq!(right.pairs.name_findings(&network), []);
    let flows = right.flows(7, &network);
    // A pair's connections take turns; the list is in the order of starts.
    let asks = |kind| {
        flows
            .iter()
            .filter(move |f| f.congestion == Some(kind))
            .count()
    };
    let turns = [CongestionKind::Reno, CongestionKind::Bbr].map(asks);
    assert_eq!(turns, [1, 1]);
    assert_eq!(flows.len(), 2);
    assert!(flows[0].start < flows[1].start);
    assert!(flows[1].start <= Time::from_ps(3_000_000));
}

#[test]
fn only_flows_without_a_size_are_counted_late() {
    let endless = Bulk {
        pairs: Pairs::ToFirst {},
        duration: Duration::from_secs(3),
        size: None,
        omit: Duration::from_secs(2),
        connections: 1,
        start_within: Duration::ZERO,
        congestion: Vec::new(),
        priority: Vec::new(),
        pair_window: None,
    };
    let at = |seconds: u64| Time::ZERO + Duration::from_secs(seconds);
    assert_eq!((endless.begin(), endless.end()), (at(2), at(5)));
    let keys = |size: Option<Bytes>, start_within: Duration| -> Vec<String> {
        let bulk = Bulk {
            size,
            start_within,
            ..endless.clone()
        };
        let found = bulk.findings().into_iter();
        found.map(|finding| finding.path).collect()
    };
    // They may begin at any time of the run.
    assert!(keys(None, Duration::from_secs(4)).is_empty());
    assert_eq!(keys(None, Duration::from_secs(5)), ["start_within"]);
    assert_eq!(keys(Some(Bytes::new(1000)), Duration::ZERO), ["omit"]);
}
