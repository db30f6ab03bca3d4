use super::{nearest, suggest, suggest_key};

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

#[test]
fn of_more_keys_than_anybody_reads_the_most_like_it_are_said() {
    assert_eq!(
        suggest_key("colour", &KEYS),
        "the keys here are iterations, servers, port_buffer, rto_min"
    );
    let many: Vec<String> = (0..40).map(|i| format!("value_{i}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).chain(KEYS).collect();
    assert_eq!(suggest_key("rto_mni", &many), "did you mean \"rto_min\"?");
    let said = suggest_key("rto_of_it", &many);
    assert!(
        said.starts_with("of the 44 keys here the most like it are rto_min, "),
        "{said}"
    );
    assert!(said.len() < 200, "{said}");
}
