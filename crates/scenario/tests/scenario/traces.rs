//! Links that change with time, traces of their capacity among it: what is refused, and what is told.

use crate::common::{STAR, plan, problem, warnings};

/// One flow from left to right over a link that follows a trace of the name `course`.
const CELL: &str = r#"name = "cell"
[network]
topology = "dumbbell"
pairs = 1
switch = "plain-queued"
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
trunk = [{ rate = "1Gbit", delay = "10ms", mtu = "1500B", trace = { forward = "course" } }]
[workload]
kind = "bulk"
pairs = { kind = "across", pairs = 1 }
duration = "10s"
[trace.course]
"#;

fn cell(trace: &str) -> String {
    format!("{CELL}{trace}\n")
}

#[test]
fn what_cannot_follow_a_trace_is_refused() {
    let text = cell("kind = \"opportunities\"\ntimes_ms = \"1\"");
    let refused = [
        (
            "network.trunk.0.trace.forward=coarse",
            "network.trunk[0].trace.forward: there is no trace \"coarse\"",
        ),
        (
            "network.switch=plain",
            "network.trunk[0].trace.forward: switch \"switch0\" sends this way, and has no queue that waits for its port",
        ),
        (
            "network.link.trace.forward=course",
            "network.link.trace.forward: host \"left0\" sends this way, and its card has the link's rate",
        ),
        (
            "trace.course.times_ms=3 1",
            "trace.course.times_ms: 1 ms comes after a later time",
        ),
        (
            "trace.course.times_ms=\"0\"",
            "trace.course.times_ms: the course begins anew at its last time, and would last for no time",
        ),
        (
            "trace.course.bytes=0B",
            "trace.course.bytes: nothing would ever go",
        ),
        (
            r#"trace.course={ kind = "rates" }"#,
            "trace.course.steps: there are none",
        ),
        (
            r#"trace.course={ kind = "rates", steps = [{ from = "1s", rate = "1Mbit" }] }"#,
            "trace.course.steps[0].from: what holds from the beginning is not said",
        ),
        (
            r#"trace.course={ kind = "rates", steps = [{ from = "0s", rate = "0bit" }] }"#,
            "trace.course.steps[0].rate: the last rate stays, and frames would wait for ever",
        ),
        (
            r#"trace.course={ kind = "rates", steps = [{ from = "0s", rate = "0bit" }], period = "1s" }"#,
            "trace.course.steps: nothing would ever go",
        ),
        (
            r#"trace.course={ kind = "rates", steps = [{ from = "0s", rate = "1Mbit" }, { from = "2s", rate = "2Mbit" }], period = "2s" }"#,
            "trace.course.period: the last step, from 2s, would never hold",
        ),
        (
            r#"network.switch.buffer.service=[{ port = 1, rate = "1Mbit", from = "0s", until = "1s" }]"#,
            "network.trunk[0].trace.forward: switch \"switch0\" serves this port at a rate of its own for a time",
        ),
    ];
    for (set, told) in refused {
        let found = problem(&text, &[set]);
        assert!(found.contains(told), "{set}: {found}");
    }
}

#[test]
fn a_trace_that_is_faster_than_its_link_is_told() {
    let text = cell("kind = \"opportunities\"\ntimes_ms = \"1*3 3\"");
    let told = |rate: &str| warnings(&text, &[&format!("network.trunk.0.rate={rate}")]);
    assert_eq!(told("36Mbit"), [""; 0]);
    let reason = "trace \"course\" has up to 36Mbit, and the link 30Mbit: what it does not carry does not go";
    assert_eq!(told("30Mbit"), [reason]);
}

#[test]
fn a_sweep_has_the_names_of_traces() {
    let text = cell("kind = \"opportunities\"\ntimes_ms = \"1\"")
        + "[trace.other]\nkind = \"opportunities\"\ntimes_ms = \"1 2\"\n"
        + "[sweep]\n\"network.trunk.0.trace.forward\" = [\"course\", \"other\"]\n";
    let plan = plan(&text, &[]);
    let labels = plan.runs.iter().map(|run| run.parameters.clone());
    let expected = ["course", "other"].map(|name| vec![("forward".to_owned(), name.into())]);
    assert_eq!(labels.collect::<Vec<_>>(), expected);
    let traces = plan.runs.iter().map(|run| {
        let of_links = run.network.links.iter().flat_map(|link| &link.traces);
        of_links.filter(|trace| trace.is_some()).count()
    });
    assert_eq!(traces.collect::<Vec<_>>(), [1, 1]);
    assert_ne!(plan.runs[0].network, plan.runs[1].network);
}

#[test]
fn outages_and_delays_that_are_none_are_told() {
    let link = |key: &str| format!("network.link.impairment={{ {key} }}");
    let outage = |times: &str| link(&format!("outages = [{{ {times} }}]"));
    let steps = |more: &str| {
        let step = |from: &str| format!(r#"{{ from = "{from}", by = "5ms" }}"#);
        let steps = format!(
            "steps = [{}, {}]",
            step("1s"),
            step(if more.is_empty() { "1s" } else { "2s" })
        );
        link(&format!("delay_steps = {{ {steps}{more} }}"))
    };
    let told = [
        (
            outage(r#"from = "2s", until = "2s""#),
            "impairment.outages[0].until: from 2s until 2s is no time",
        ),
        (
            outage(r#"from = "2s", until = "3s", every = "1s""#),
            "impairment.outages[0].every: the link would never be up: it is down for 1s each time",
        ),
        (
            steps(""),
            "impairment.delay_steps.steps[1].from: 1s is not after 1s",
        ),
        (
            outage(r#"from = "2s", until = "2000000001ns", every = "500ns""#),
            "impairment.outages[0].every: every 500ns there is time for nothing else",
        ),
        (
            steps(r#", period = "2s""#),
            "impairment.delay_steps.period: the last step, from 2s, would never hold",
        ),
    ];
    for (set, told) in told {
        let found = problem(STAR, &[&set]);
        assert!(found.contains(told), "{found}");
    }
    assert_eq!(plan(STAR, &[&steps(r#", period = "3s""#)]).runs.len(), 1);
}

#[test]
fn buckets_that_let_nothing_go_are_refused() {
    let policer = |keys: &str| format!("network.link.impairment={{ policer = {{ {keys} }} }}");
    let told = [
        (
            policer(r#"rate = "0bit", burst = "1MB""#),
            "network.link.impairment.policer.rate: nothing would ever go",
        ),
        (
            policer(r#"rate = "1Gbit", burst = "1517B""#),
            "network.link.impairment.policer.burst: frames of up to 1518B would never go: no more than 1517B do at once",
        ),
        (
            policer(r#"rate = "1Gbit", burst = "1518B", overhead_bytes = 20"#),
            "frames of up to 1538B would never go",
        ),
    ];
    for (set, told) in told {
        let found = problem(STAR, &["network.link.mtu=1500B", &set]);
        assert!(found.contains(told), "{set}: {found}");
    }
    let shaped = cell("kind = \"shaper\"\nrate = \"100Mbit\"\nburst = \"1518B\"");
    assert_eq!(plan(&shaped, &[]).runs.len(), 1);
    let found = problem(&shaped, &["trace.course.burst=0B"]);
    assert!(
        found.contains("trace.course.burst: nothing would ever go"),
        "{found}"
    );
    let found = problem(&shaped, &["trace.course.burst=1500B"]);
    let told = "network.trunk[0].trace.forward: frames of up to 1518B would never go";
    assert!(found.contains(told), "{found}");
}

#[test]
fn buckets_that_are_never_empty_are_told_of() {
    let warned = |text: &str, overrides: &[&str]| {
        let plan = plan(text, overrides);
        let warnings = plan.warnings.iter().map(ToString::to_string);
        warnings.collect::<Vec<_>>().join("\n")
    };
    let policer = |rate: &str, more: &str| {
        let keys = format!(r#"rate = "{rate}", burst = "1MB"{more}"#);
        warned(
            STAR,
            &[&format!(
                "network.link.impairment={{ policer = {{ {keys} }} }}"
            )],
        )
    };
    let found = policer("10Gbit", "");
    let told =
        "network.link.impairment.policer.rate: the link itself has 10Gbit: nothing is ever dropped";
    assert!(found.contains(told), "{found}");
    for (rate, more) in [("9Gbit", ""), ("10Gbit", ", overhead_bytes = 21")] {
        assert!(!policer(rate, more).contains("policer"), "{rate}{more}");
    }
    let shaped = cell("kind = \"shaper\"\nrate = \"2Gbit\"\nburst = \"1MB\"");
    let found = warned(&shaped, &[]);
    assert!(
        found.contains("trace \"course\" has up to 2Gbit, and the link 1Gbit"),
        "{found}"
    );
}
