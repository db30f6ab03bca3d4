use serde_json::{Value, json};

use super::read;

/// What becomes of a scenario that names a file with this text, and what is wrong with it.
fn given(test: &str, text: &str) -> (Value, Vec<String>) {
    let folder = std::env::temp_dir().join(format!("tailback-sizes-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("sizes.txt"), text).expect("a file");
    let sizes = json!({ "kind": "file", "path": "sizes.txt" });
    let mut root = json!({
        "workload": { "kind": "flows", "sizes": sizes },
        "sweep": { "workload.sizes": [sizes, { "kind": "web-search" }] },
    });
    let found = read(&mut root, Some(&folder));
    std::fs::remove_dir_all(&folder).expect("it is there");
    let said = found.iter().map(|f| format!("{}: {}", f.path, f.reason));
    (root, said.collect())
}

#[test]
fn points_take_the_files_place_in_workload_and_sweep() {
    let text = "# HPCC's form: bytes, percent\n0 0\n10000 15.5\n30000\t20\n\n1000000,100 # most\n";
    let (root, found) = given("percent", text);
    assert_eq!(found, [""; 0]);
    let points = json!({ "kind": "points", "points": [
        { "bytes": "1B", "share": 0.0 },
        { "bytes": "10000B", "share": 0.155 },
        { "bytes": "30000B", "share": 0.2 },
        { "bytes": "1000000B", "share": 1.0 },
    ] });
    assert_eq!(root["workload"]["sizes"], points);
    assert_eq!(root["sweep"]["workload.sizes"][0], points);
    assert_eq!(root["sweep"]["workload.sizes"][1]["kind"], "web-search");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let (root, found) = given("mark", "\u{feff}1000 0.25\n2000 1.0\n");
    assert_eq!(found, [""; 0]);
    assert_eq!(root["workload"]["sizes"]["points"][0]["bytes"], "1000B");
}

#[test]
fn shares_up_to_one_stay_as_they_are() {
    let (root, _) = given("shares", "1000 0.25\n2000 1.0\n");
    assert_eq!(root["workload"]["sizes"]["points"][0]["share"], 0.25);
}

#[test]
fn a_line_that_is_no_point_is_told_with_its_number() {
    let (_, found) = given("wrong", "1000 0.5\n2000 all\n");
    assert_eq!(found.len(), 2);
    assert!(found[0].starts_with("workload.sizes.path: line 2 of sizes.txt is no point"));
    assert!(
        found[1].starts_with("sweep.\"workload.sizes\"[0].path: line 2"),
        "{found:?}"
    );
}

#[test]
fn flows_of_no_bytes_are_told_with_their_line() {
    for text in ["0 0\n0 1\n", "0.5 0.1\n100 1\n", "0 50\n1460 100\n"] {
        let (_, found) = given("none", text);
        assert!(
            found[0].contains("of sizes.txt has flows of no bytes"),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let mut root = json!({ "workload": { "sizes": { "kind": "file", "path": "nowhere.txt" } } });
    let found = read(&mut root, None);
    assert!(found[0].reason.contains("nowhere.txt cannot be read"));
}
