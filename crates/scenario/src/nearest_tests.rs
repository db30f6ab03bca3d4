use super::{nearest, suggest};

const KEYS: [&str; 4] = ["iterations", "servers", "port_buffer", "rto_min"];

#[test]
fn slips_of_the_finger_find_their_word() {
    for (wrong, right) in [
        ("itterations", "iterations"),
        ("Servers", "servers"),
        ("severs", "servers"),
        ("buffer", "port_buffer"),
        ("rto-min", "rto_min"),
    ] {
        assert_eq!(nearest(wrong, KEYS), Some(right), "{wrong}");
    }
}

#[test]
fn underscores_and_hyphens_are_alike() {
    let queues = ["codel", "fq-codel", "pie"];
    assert_eq!(nearest("fq_codel", queues), Some("fq-codel"));
}

#[test]
fn other_words_find_none_and_get_the_list() {
    assert_eq!(nearest("colour", KEYS), None);
    assert_eq!(nearest("", KEYS), None);
    assert_eq!(nearest("foo", ["f", "o"]), None);
    assert_eq!(
        suggest("colour", KEYS),
        "one of iterations, servers, port_buffer, rto_min"
    );
    assert_eq!(suggest("server", KEYS), "did you mean \"servers\"?");
}
