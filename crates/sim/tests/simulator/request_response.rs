//! Questions and answers, end to end.

use tailback_sim::{ColumnData, RunOutcome};

use crate::support::{simulated, value};

fn run(workload: &str) -> RunOutcome {
    run_with(workload, &[])
}

fn run_with(workload: &str, overrides: &[&str]) -> RunOutcome {
    let text = format!(
        r#"
        name = "asking"
        host = "rhel-5.4-x5540-ne020"
        [stack]
        preset = "linux-7.2"
        [network]
        topology = "explicit"
        host = [{{ name = "a" }}, {{ name = "b" }}]
        switch = []
        link = [{{ ends = ["a", "b"], rate = "10Gbit", delay = "100us", mtu = "1500B" }}]
        [workload]
        kind = "request-response"
        pairs = {{ kind = "listed", list = [["a", "b"]] }}
        duration = "1s"
        start_within = "0s"
        {workload}
        "#
    );
    simulated(&text, overrides)
}

#[test]
fn a_connection_asks_again_as_soon_as_it_is_answered() {
    let outcome = run("");
    let (requests, mean) = (
        value(&outcome, "requests"),
        value(&outcome, "latency_us_mean"),
    );
    // The way there and back, and what the hosts take.
    assert!((200.0..300.0).contains(&mean), "{mean}");
    // The handshake is a round trip too.
    let busy = requests * mean / 1e6;
    assert!((0.998..=1.0).contains(&busy), "{busy}");
    assert_eq!(value(&outcome, "data_bytes_total"), 2.0 * requests);
}

#[test]
fn connections_ask_side_by_side_and_long_answers_take_their_time() {
    let one = value(&run(""), "requests");
    let four = value(&run("connections = 4"), "requests");
    // More than twice as many, not four times: with more to do the card moderates its interrupts.
    assert!((2.0..4.0).contains(&(four / one)), "{four} of {one}");
    let long = run("response = \"1MB\"");
    // 1 MB takes 800 us of a 10 Gb/s link, and a window that grows several round trips at first.
    let least = value(&long, "latency_us_min");
    assert!((1000.0..2000.0).contains(&least), "{least}");
    assert!(value(&long, "latency_us_max") > least);
}

#[test]
fn what_nobody_answers_has_no_latency() {
    let outcome = run_with("", &["network.link.0.loss=1.0"]);
    assert_eq!(value(&outcome, "requests"), 0.0);
    for column in ["min", "mean", "median", "p95", "p99", "max"] {
        let name = format!("latency_us_{column}");
        assert!(value(&outcome, &name).is_nan(), "{name}");
    }
}

#[test]
fn the_table_of_flows_is_about_the_end_that_writes_more() {
    let written = 20_000.0;
    for (sizes, source, share) in [
        ("response = \"20kB\"", "b", 0.9),
        ("request = \"20kB\"", "a", 0.9),
        ("request = \"20kB\"\nresponse = \"20kB\"", "a", 0.2),
    ] {
        let outcome = run_with(sizes, &["network.link.0.loss=0.001"]);
        let flows = outcome.tables.iter().find(|t| t.name == "flows");
        let flows = flows.expect("there is a table of flows");
        let column = |name: &str| match flows.column(name) {
            Some(ColumnData::U64(values)) => values[0] as f64,
            other => panic!("{name}: {other:?}"),
        };
        let Some(ColumnData::Str(sources)) = flows.column("source") else {
            panic!("a flow has a source");
        };
        assert_eq!(sources[0], source, "{sizes}");
        // The last of them may be under way.
        let least = written * value(&outcome, "requests");
        let got = column("received_bytes");
        assert!((least..=least + written).contains(&got), "{sizes}: {got}");
        let (own, all) = (
            column("retransmissions"),
            value(&outcome, "retransmissions_mean"),
        );
        assert!(own > share * all, "{sizes}: {own} of {all}");
    }
}
