use super::{count, findings, hosts};
use crate::workload::test_network;

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn parts_go_by_the_names_order_and_without_names_by_the_topologys() {
    let network = test_network(r#"topology = "star", hosts = 4,"#);
    assert_eq!(hosts(&[], &network), [0, 1, 2, 3]);
    let two = named(&["host3", "host1"]);
    assert_eq!(hosts(&two, &network), [3, 1]);
    assert_eq!((count(&[], 4).0, count(&two, 4).0), (4, 2));
    assert!(findings(&two, &network).is_empty());
}

#[test]
fn wrong_names_are_told_with_their_places() {
    let network = test_network(r#"topology = "star", hosts = 4,"#);
    let found = findings(&named(&["host3", "hots1", "host3"]), &network);
    let told: Vec<String> = found
        .iter()
        .map(|f| format!("{}: {}", f.path, f.reason))
        .collect();
    assert_eq!(
        told,
        [
            "hosts[1]: there is no host \"hots1\"",
            "hosts[2]: \"host3\" is named twice"
        ]
    );
    assert!(found[0].remedy.contains("host1"), "{}", found[0].remedy);
}
