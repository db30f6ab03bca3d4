use serde_json::{Value, json};

use super::read;

const LIST: &str = "start_s,source,destination,bytes\n0,a,b,10\n";

/// What becomes of a scenario beside a file `flows.csv` with this text, and what is wrong with it.
fn given(test: &str, text: &str, mut root: Value) -> (Value, Vec<String>) {
    let folder = std::env::temp_dir().join(format!("tailback-flows-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("flows.csv"), text).expect("a file");
    let found = read(&mut root, Some(&folder));
    std::fs::remove_dir_all(&folder).expect("it is there");
    let said = found.iter().map(|f| format!("{}: {}", f.path, f.reason));
    (root, said.collect())
}

#[test]
fn a_files_text_takes_its_place_in_workload_and_sweep() {
    let listed = json!({ "kind": "flow-list", "path": "flows.csv", "drain": "1s" });
    let root = json!({
        "workload": listed,
        "sweep": {
            "workload.path": ["flows.csv"],
            "workload": [listed],
            "more": [{ "label": { "x": 1 }, "set": { "workload.path": "flows.csv" } }],
        },
    });
    let (root, found) = given("place", LIST, root);
    assert_eq!(found, [""; 0]);
    let held = json!({ "kind": "flow-list", "drain": "1s", "flows": LIST });
    assert_eq!(root["workload"], held);
    assert_eq!(root["sweep"]["workload"][0], held);
    let set = json!({ "workload.flows": LIST });
    assert_eq!(root["sweep"]["more"][0]["set"], set);
    let labelled = json!({ "label": { "path": "flows.csv" }, "set": set });
    assert_eq!(root["sweep"]["workload.path"][0], labelled);
}

#[test]
fn what_is_wrong_is_told_once_where_it_was_named() {
    let of = |workload: Value| json!({ "workload": workload });
    let named = |path: &str| of(json!({ "kind": "flow-list", "path": path }));
    for (test, text, root, told) in [
        (
            "line",
            "start_s source destination bytes\n0 a b x\n",
            named("flows.csv"),
            "workload.path: flows.csv: line 2: \"x\" is no number of bytes",
        ),
        (
            "nothing",
            "# nothing\n",
            named("flows.csv"),
            "workload.path: flows.csv: it lists no flow",
        ),
        (
            "file",
            "",
            named("others.csv"),
            "workload.path: others.csv: it cannot be read",
        ),
        (
            "both",
            LIST,
            of(json!({ "kind": "flow-list", "path": "flows.csv", "flows": LIST })),
            "workload.path: flows.csv: flows says what the file would",
        ),
        (
            "text",
            "",
            of(json!({ "kind": "flow-list", "flows": "start_s\n" })),
            "workload.flows: there is no column source",
        ),
    ] {
        let (root, found) = given(test, text, root);
        assert_eq!(found.len(), 1, "{test}: {found:?}");
        assert!(found[0].starts_with(told), "{test}: {found:?}");
        assert!(root["workload"].get("path").is_none(), "{test}");
        assert!(root["workload"]["flows"].is_string(), "{test}");
    }
    let other = json!({ "kind": "command", "path": "flows.csv" });
    let (root, found) = given("other", "", of(other.clone()));
    assert_eq!((root["workload"].clone(), found.len()), (other, 0));
}
