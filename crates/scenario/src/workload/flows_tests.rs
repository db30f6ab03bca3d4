use tailback_units::{Bytes, Duration};

use super::{Flows, Sizes};
use crate::workload::test_network;

fn flows(local_share: Option<f64>) -> Flows {
    Flows {
        load: 0.4,
        sizes: Sizes::Fixed {
            bytes: Bytes::new(50_000),
        },
        duration: Duration::from_ms(200),
        drain: Duration::from_secs(1),
        congestion: Vec::new(),
        priority: Vec::new(),
        local_share,
        queries: None,
    }
}

#[test]
fn hosts_send_their_load_on_average() {
    let network = test_network(r#"topology = "star", hosts = 10, "#);
    let flows = flows(None);
    let list = flows.flows(3, &network);
    // 10 hosts × 10 Gb/s × 0.4 × 0.2 s / 8 / 50 kB.
    let expected = 20_000.0_f64;
    assert!((list.len() as f64 - expected).abs() < 4.0 * expected.sqrt());
    assert!(list.is_sorted_by_key(|f| f.start));
    assert!(list.iter().all(|f| f.source != f.destination));
    let to_last = list.iter().filter(|f| f.destination == 9).count() as f64;
    assert!(
        (to_last - 2000.0).abs() < 4.0 * 2000.0_f64.sqrt(),
        "{to_last}"
    );
    assert_eq!(list, flows.flows(3, &network));
    assert_ne!(list, flows.flows(4, &network));
}

/// Share of the flows on two leaves of five hosts whose ends are at one leaf, and how many each host got.
fn local(share: f64) -> (f64, Vec<usize>) {
    let network = test_network(r#"topology = "leaf-spine", leaves = 2, spines = 1, hosts = 5, "#);
    let flows = flows(Some(share));
    let list = flows.flows(3, &network);
    assert!(list.iter().all(|f| f.source != f.destination));
    let within = list.iter().filter(|f| f.source / 5 == f.destination / 5);
    let got = |host| list.iter().filter(|f| f.destination == host).count();
    (
        within.count() as f64 / list.len() as f64,
        (0..10).map(got).collect(),
    )
}

#[test]
fn a_share_of_the_flows_stays_at_the_switch() {
    for share in [0.0, 0.3, 1.0] {
        let (within, got) = local(share);
        // Some 20 000 flows: a deviation of 0.003.
        assert!((within - share).abs() < 0.012, "{share}: {within}");
        assert!(share > 0.0 || within == 0.0);
        assert!(share < 1.0 || within == 1.0);
        let (least, most) = (got.iter().min().unwrap(), got.iter().max().unwrap());
        // Hosts are alike: 2000 each, with a deviation of 45.
        assert!(most - least < 400, "{share}: {got:?}");
    }
}

#[test]
fn a_share_that_nobody_could_keep_is_refused() {
    let finding = |values: &str, share: f64| {
        let flows = flows(Some(share));
        let found = flows.name_findings(&test_network(values));
        found.into_iter().map(|f| f.reason).collect::<Vec<_>>()
    };
    let star = r#"topology = "star", hosts = 3, "#;
    assert!(finding(star, 0.5)[0].contains("all hosts are at one switch"));
    assert!(finding(star, 1.0).is_empty());
    let alone = r#"topology = "leaf-spine", leaves = 3, spines = 1, hosts = 1, "#;
    assert!(finding(alone, 0.1)[0].contains("host0 is alone at its switch"));
    assert!(finding(alone, 0.0).is_empty());
}
