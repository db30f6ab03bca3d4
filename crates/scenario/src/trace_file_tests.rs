use serde_json::{Value, json};

use super::read;

/// What becomes of a trace of this kind whose file has this text, and what is wrong with it.
fn given(test: &str, kind: &str, text: &str) -> (Value, Vec<String>) {
    let folder = std::env::temp_dir().join(format!("tailback-trace-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("cell.down"), text).expect("a file");
    let mut root = json!({ "trace": { "cell": { "kind": kind, "path": "cell.down" } } });
    let found = read(&mut root, Some(&folder));
    std::fs::remove_dir_all(&folder).expect("it is there");
    let said = found.iter().map(|f| format!("{}: {}", f.path, f.reason));
    (root["trace"]["cell"].clone(), said.collect())
}

#[test]
fn times_take_the_files_place() {
    let (trace, found) = given(
        "times",
        "opportunities",
        "\u{feff}0\r\n1\r\n1\n 1 # thrice\n\n7\n",
    );
    assert_eq!(found, [""; 0]);
    assert_eq!(
        trace,
        json!({ "kind": "opportunities", "times_ms": "0 1*3 7" })
    );
}

#[test]
fn steps_take_the_files_place() {
    let (trace, found) = given("steps", "rates", "# s Mbit/s\n0 48\n1.5,0\n2.25\t0.064\n");
    assert_eq!(found, [""; 0]);
    let steps = json!([
        { "from": "0ns", "rate": "48000000bit" },
        { "from": "1500000000ns", "rate": "0bit" },
        { "from": "2250000000ns", "rate": "64000bit" },
    ]);
    assert_eq!(trace, json!({ "kind": "rates", "steps": steps }));
}

#[test]
fn a_line_that_is_wrong_is_told_with_its_number() {
    let wrong = |kind, text| given("wrong", kind, text).1.join("; ");
    assert_eq!(
        wrong("opportunities", "1\n2.5\n"),
        "trace.cell.path: line 2 of cell.down is no time: \"2.5\""
    );
    assert_eq!(
        wrong("opportunities", "1\n5\n\n4\n"),
        "trace.cell.path: line 4 of cell.down goes back, from 5 to 4 ms"
    );
    for text in ["0 1\n1 -1\n", "0 1\n1\n", "0 1\n1 2 3\n", "0 1\n1 inf\n"] {
        let said = wrong("rates", text);
        assert!(
            said.starts_with("trace.cell.path: line 2 of cell.down is no step"),
            "{said}"
        );
    }
    assert_eq!(
        wrong("rates", "# nothing\n"),
        "trace.cell.path: cell.down says nothing"
    );
}

#[test]
fn a_file_and_its_content_are_not_both_given() {
    let mut root = json!({ "trace": { "cell": {
        "kind": "opportunities", "path": "cell.down", "times_ms": "1" } } });
    let found = read(&mut root, None);
    assert_eq!(found[0].reason, "times_ms says what the file would");
}

#[test]
fn a_text_of_times_that_is_none_is_told_with_its_place() {
    let mut root = json!({ "trace": { "cell": { "kind": "opportunities", "times_ms": "1 2 x" } } });
    let found = read(&mut root, None);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path, "trace.cell.times_ms");
    assert_eq!(found[0].reason, "\"x\" is no time in milliseconds");
}
