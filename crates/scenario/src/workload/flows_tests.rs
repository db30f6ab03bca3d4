use tailback_units::{Bytes, Duration};

use super::{Flows, Sizes};
use crate::workload::test_network;

#[test]
fn hosts_send_their_load_on_average() {
    let network = test_network(r#"topology = "star", hosts = 10, "#);
    let flows = Flows {
        load: 0.4,
        sizes: Sizes::Fixed {
            bytes: Bytes::new(50_000),
        },
        duration: Duration::from_ms(200),
        drain: Duration::from_secs(1),
        congestion: Vec::new(),
        priority: Vec::new(),
        queries: None,
    };
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
