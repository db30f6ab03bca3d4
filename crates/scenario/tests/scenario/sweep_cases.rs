//! Axes whose values set several places, and how an override names some of them.

use serde_json::Value;
use tailback_scenario::{Plan, Workload};

use crate::common::{STAR, plan, problem, problems};

fn star(sweep: &str) -> String {
    format!("{STAR}[sweep]\n{sweep}\n")
}

fn column(plan: &Plan, name: &str) -> Vec<Value> {
    let cell = |run: &tailback_scenario::Run| {
        let found = run.parameters.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.clone()).expect("the column")
    };
    plan.runs.iter().map(cell).collect()
}
/// Two cases that set a size and a number of servers together.
const CASES: &str = r#"iterations = [5, 6]
test = [
    { label = { test = "few" }, set = { servers = 1, "workload.size" = "2MB" } },
    { label = { test = "many" }, set = { servers = 3, "workload.size" = "1MB" } },
]"#;

#[test]
fn a_case_sets_several_places_and_its_label_is_the_column() {
    let plan = plan(&star(CASES), &[]);
    assert_eq!(column(&plan, "test"), ["few", "many", "few", "many"]);
    assert_eq!(column(&plan, "iterations"), [5, 5, 6, 6]);
    let seen = plan.runs.iter().map(|run| match &run.workload {
        Workload::Incast(incast) => (incast.servers, incast.size.get()),
        other => panic!("{other:?}"),
    });
    let expected = [(1, 2_000_000), (3, 1_000_000)].repeat(2);
    assert_eq!(seen.collect::<Vec<_>>(), expected);
}

#[test]
fn a_label_that_is_no_table_is_what_the_axis_column_says() {
    let cases = CASES.replace("{ test = \"few\" }", "\"few\"");
    let plan = plan(&star(&cases), &[]);
    assert_eq!(column(&plan, "test"), ["few", "many", "few", "many"]);
}

#[test]
fn a_list_of_tables_is_set_as_a_whole() {
    let one = r#"[{ source = "host1", destination = "host0", rate = "1Gbit" }]"#;
    let text = star(&format!(
        r#"beside = [{{ label = "none", set = {{}} }}, {{ label = "one", set = {{ background = {one} }} }}]"#
    ));
    let plan = plan(&text, &[]);
    let sources: Vec<usize> = plan.runs.iter().map(|run| run.background.len()).collect();
    assert_eq!(sources, [0, 1]);
}

#[test]
fn a_case_without_a_label_is_shown_by_its_values() {
    let text = star(r#"test = [{ set = { servers = 1, "workload.size" = "2MB" } }]"#);
    let plan = plan(&text, &[]);
    assert_eq!(column(&plan, "servers"), [1]);
    assert_eq!(column(&plan, "size"), ["2MB"]);
}

#[test]
fn what_is_wrong_with_cases_is_told() {
    let wrong = [
        (
            "label = { test = \"few\" }",
            "label = [\"few\"]",
            "a label is what the axis' column says",
        ),
        (
            "label = { test = \"many\" }",
            "label = { other = 1 }",
            "its columns are not those",
        ),
        (
            "set = { servers = 1,",
            "set = { severs = 1,",
            "did you mean \"servers\"?",
        ),
        (
            "{ label = { test = \"few\" },",
            "{ lable = 1,",
            "a case of a sweep has no such key",
        ),
    ];
    for (right, wrong, told) in wrong {
        let found = problems(&star(&CASES.replace(right, wrong)), &[]).join("\n");
        assert!(found.contains(told), "{wrong}: {found}");
    }
}

#[test]
fn cases_of_one_label_are_refused_whatever_they_set() {
    let cases = [
        (
            "label = \"a\"",
            "label = \"a\"",
            "results call another of these \"a\" too",
        ),
        (
            "label = 1",
            "label = 1.0",
            "results call another of these \"1\" too",
        ),
        (
            "label = 1",
            "label = \"1\"",
            "results call another of these \"1\" too",
        ),
        (
            "label = { a = 1, b = \"x\" }",
            "label = { a = 1, b = \"x\" }",
            "results call another of these \"1, x\" too",
        ),
        (
            "label = \"a\"",
            "label = \" \"",
            "an empty label tells nothing apart",
        ),
        (
            "label = {}",
            "label = {}",
            "an empty label tells nothing apart",
        ),
        (
            "label = { a = 1 }",
            "label = { a = \"\" }",
            "an empty label tells nothing apart",
        ),
    ];
    for (one, other, told) in cases {
        let text = star(&format!(
            "x = [{{ {one}, set = {{ servers = 1 }} }}, {{ {other}, set = {{ servers = 2 }} }}]"
        ));
        let found = problems(&text, &[]).join("\n");
        assert!(found.contains(told), "{one} {other}: {found}");
    }
    // What parts them is in no column: both say rate.
    let hidden = r#"x = [
        { set = { "network.link.rate" = "1Gbit", "background.0.rate" = "1Mbit" } },
        { set = { "network.link.rate" = "2Gbit", "background.0.rate" = "1Mbit" } },
    ]"#;
    let beside = r#"background=[{ source = "host1", destination = "host0", rate = "1Gbit" }]"#;
    let found = problem(&star(hidden), &[beside]);
    assert!(
        found.contains("results call another of these \"1Mbit\" too"),
        "{found}"
    );
    let apart = r#"x = [{ label = { a = 1, b = 1 }, set = { servers = 1 } }, { label = { a = 1, b = 2 }, set = { servers = 2 } }]"#;
    assert_eq!(plan(&star(apart), &[]).runs.len(), 2);
}

#[test]
fn labels_cannot_be_named_as_results_are() {
    for column in [
        "completion_ms_mean",
        "goodput_mbps_mean",
        "utilisation",
        "start_s",
    ] {
        let text = star(&format!(
            "x = [{{ label = {{ {column} = \"a\" }}, set = {{}} }}]"
        ));
        let found = problem(&text, &[]);
        let told = format!("the results have a column {column:?} of their own");
        assert!(found.contains(&told), "{found}");
    }
    // A bare label's column is the axis' key.
    let bare = star("completion_ms = [{ label = \"a\", set = {} }]");
    assert!(problem(&bare, &[]).contains("a column \"completion_ms\""));
    let varied = star("x = [{ label = { iterations = 5 }, set = { iterations = 5 } }]");
    assert_eq!(plan(&varied, &[]).runs.len(), 1);
}

#[test]
fn cases_and_axes_that_clash_are_refused() {
    let clashes = [
        ("servers = [2]\n", "workload.servers is swept by"),
        (
            "more = [{ label = { x = 1 }, set = { servers = 2 } }]\n",
            "workload.servers is swept by",
        ),
        (
            "more = [{ label = { test = 1 }, set = { request = \"1KB\" } }]\n",
            "has a column \"test\" already",
        ),
        (
            "more = [{ label = { run = 1 }, set = { request = \"1KB\" } }]\n",
            "every table has a column \"run\" of its own",
        ),
    ];
    for (more, told) in clashes {
        let found = problems(&star(&format!("{CASES}\n{more}")), &[]).join("\n");
        assert!(found.contains(told), "{more}: {found}");
    }
}

#[test]
fn what_every_case_sets_cannot_be_set_beside_them() {
    let found = problems(&star(CASES), &["workload.servers=2"]).join("\n");
    assert!(found.contains("the sweep gives this its values"), "{found}");
    let allowed = plan(&star(CASES), &["workload.request=1KB"]);
    assert_eq!(allowed.runs.len(), 4);
}

#[test]
fn an_override_names_cases_by_their_labels() {
    let text = star(CASES);
    let tests = |overrides: &[&str]| column(&plan(&text, overrides), "test");
    for wanted in [
        "sweep.test=many",
        "sweep.test=[\"many\"]",
        "sweep.test={test=\"many\"}",
    ] {
        assert_eq!(
            tests(&[wanted, "sweep.iterations=[5]"]),
            ["many"],
            "{wanted}"
        );
    }
    // The axis' name is enough where no value has it.
    assert_eq!(tests(&["test=many", "sweep.iterations=[5]"]), ["many"]);
    // In the order asked for, each once.
    let both = [
        "sweep.test=[\"many\", \"few\", \"many\"]",
        "sweep.iterations=[5]",
    ];
    assert_eq!(tests(&both), ["many", "few"]);
    // A run is the same among fewer.
    let (all, few) = (plan(&text, &[]), plan(&text, &["sweep.test=many"]));
    assert_eq!(all.runs[1].seed, few.runs[0].seed);
    assert_eq!(
        problem(&text, &["sweep.test=[\"mny\"]"]),
        "--set sweep.test=[\"mny\"]: sweep.test: none of its cases is mny; did you mean \"many\"?"
    );
}

#[test]
fn one_column_of_several_names_all_cases_that_say_so() {
    let cases = r#"test = [
    { label = { size = "small", servers = 1 }, set = { "workload.servers" = 1 } },
    { label = { size = "small", servers = 2 }, set = { "workload.servers" = 2 } },
    { label = { size = "large", servers = 2 }, set = { "workload.servers" = 2, "workload.size" = "9MB" } },
]"#;
    let text = star(cases);
    let runs = |wanted: &str| {
        let plan = plan(&text, &[&format!("sweep.test={wanted}")]);
        let say = |name| column(&plan, name);
        say("size")
            .into_iter()
            .zip(say("servers"))
            .map(|(a, b)| format!("{a}{b}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(runs("small"), ["\"small\"1", "\"small\"2"]);
    assert_eq!(runs("[2]"), ["\"small\"2", "\"large\"2"]);
    assert_eq!(runs("{ size = \"small\", servers = 2 }"), ["\"small\"2"]);
    let found = problem(&text, &["sweep.test=medium"]);
    let wanted = "none of its cases is medium; one of small 1, small 2, large 2";
    assert!(found.ends_with(wanted), "{found}");
}
