//! Queries that many hosts answer at once, among flows.

use tailback_sim::{Control, RunOutcome, simulate_on};

use crate::support::{counts, measure, plan, run, simulated};

/// Two racks of four hosts.
const RACKS: &str = r#"
name = "queries"
host = "plain"
[network]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts = 4
switch = "plain"
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
uplink = { rate = "40Gbit" }
[workload]
kind = "flows"
load = 0.2
sizes = { kind = "fixed", bytes = "30KB" }
duration = "5ms"
queries = { load = 0.1, fan_in = 5, size = "10KB" }
"#;

/// What `queries` says of a query, from the rows of `flows`.
fn from_flows(outcome: &RunOutcome, query: u64) -> (u64, f64, f64) {
    let numbers = counts(outcome, "flows", "query");
    let starts = measure(outcome, "flows", "start_s");
    let took = measure(outcome, "flows", "completion_ms");
    let own = numbers.iter().enumerate().filter(|(_, n)| **n == query);
    let own: Vec<usize> = own.map(|(row, _)| row).collect();
    let start = own.iter().map(|row| starts[*row]).fold(f64::MAX, f64::min);
    let end = own.iter().map(|row| starts[*row] + took[*row] / 1e3);
    let end = end.fold(0.0, f64::max);
    (own.len() as u64, start, (end - start) * 1e3)
}

#[test]
fn a_query_takes_from_its_first_answer_s_start_to_its_last_one_s_end() {
    let outcome = simulated(RACKS, &[]);
    let numbers = counts(&outcome, "queries", "query");
    // 8 hosts × 10 Gb/s × 0.1 × 5 ms / 8 / 50 kB.
    assert!((70..140).contains(&numbers.len()), "{}", numbers.len());
    let starts = measure(&outcome, "queries", "start_s");
    let took = measure(&outcome, "queries", "completion_ms");
    let answers = counts(&outcome, "queries", "answers");
    for (row, number) in numbers.iter().enumerate() {
        let (flows, start, completion) = from_flows(&outcome, *number);
        assert_eq!((flows, start), (answers[row], starts[row]));
        assert!((completion - took[row]).abs() < 1e-6, "query {number}");
    }
    assert!(answers.iter().all(|n| *n == 5));
    let slowdowns = measure(&outcome, "queries", "slowdown");
    assert!(slowdowns.iter().all(|slowdown| *slowdown > 1.0));
    let mean = took.iter().sum::<f64>() / took.len() as f64;
    assert!((measure(&outcome, "summary", "query_ms_mean")[0] - mean).abs() < 1e-9);
    assert_eq!(counts(&outcome, "summary", "queries"), [took.len() as u64]);
    assert_eq!(
        counts(&outcome, "summary", "queries_complete"),
        [took.len() as u64]
    );
}

#[test]
fn answers_are_no_flows_by_themselves() {
    let with = simulated(RACKS, &[]);
    let rows = counts(&with, "flows", "query");
    let own = rows.iter().filter(|query| **query == 0).count() as u64;
    assert_eq!(counts(&with, "summary", "flows"), [own]);
    assert_eq!(counts(&with, "slowdowns", "flows").iter().sum::<u64>(), own);
    // What flows draw is the same without queries.
    let without = simulated(&RACKS.replace("queries = {", "#"), &[]);
    assert_eq!(counts(&without, "summary", "flows"), [own]);
    assert!(without.tables.iter().all(|table| table.name != "queries"));
}

#[test]
fn that_none_came_is_told_too() {
    let rare = ["workload.queries.load=0.000001", "workload.duration=1ms"];
    let outcome = simulated(RACKS, &rare);
    assert_eq!(counts(&outcome, "summary", "queries"), [0]);
    assert!(measure(&outcome, "summary", "query_ms_mean")[0].is_nan());
    assert!(counts(&outcome, "flows", "query").iter().all(|n| *n == 0));
}

#[test]
fn alone_a_query_takes_its_bytes_on_the_line_of_who_asks() {
    // The window of three answers holds them: nothing waits for acknowledgements.
    let lone = [
        "workload.load=0.000001",
        "workload.queries={ load = 0.001, fan_in = 3, size = \"10KB\" }",
        "workload.duration=200ms",
        "host.preset=ideal",
    ];
    let outcome = simulated(RACKS, &lone);
    let slowdowns = measure(&outcome, "queries", "slowdown");
    assert!(slowdowns.len() > 10);
    // A handshake of some 10 us beside 30 us.
    let mean = slowdowns.iter().sum::<f64>() / slowdowns.len() as f64;
    assert!((1.0..1.6).contains(&mean), "{mean}");
}

#[test]
fn two_threads_see_the_same_queries() {
    let run = &plan(RACKS, &[]).runs[0];
    let [one, two] = [1, 2].map(|threads| {
        simulate_on(threads, run, &Control::default()).expect("a run that ends and adds up")
    });
    assert_eq!(one.tables, two.tables);
    assert_eq!(one.trajectory, two.trajectory);
}

#[test]
fn kernels_answer_too() {
    let small = [
        "network.hosts=2",
        "workload.queries.fan_in=3",
        "workload.duration=2ms",
    ];
    let outcome = run(RACKS, &small, |_| true).expect("it runs");
    let modelled = simulated(RACKS, &small);
    for column in ["query", "answers"] {
        assert_eq!(
            counts(&outcome, "queries", column),
            counts(&modelled, "queries", column)
        );
    }
    let took = measure(&outcome, "summary", "query_ms_mean")[0];
    assert!((0.02..5.0).contains(&took), "{took}");
}
