//! Questions and answers, end to end.

use tailback_sim::{ColumnData, RunOutcome};

use crate::support::{counts, measure, simulated, sum, table, value};

fn run(workload: &str) -> RunOutcome {
    run_with(workload, &[])
}

/// Between hosts that take no time.
fn run_plain(workload: &str) -> RunOutcome {
    run_with(workload, &["host=plain"])
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

#[test]
fn requests_come_when_they_are_due_whatever_has_been_answered() {
    let answered = value(&run_plain(""), "latency_us_mean");
    let even = run_plain("every = \"1ms\"");
    assert_eq!(value(&even, "requests_due"), 1000.0);
    assert_eq!(value(&even, "requests"), 1000.0);
    let mean = value(&even, "latency_us_mean");
    assert!((mean - answered).abs() < 0.1 * answered, "{mean}");
    // Several are under way at once.
    let often = run_with(
        "every = \"20us\"",
        &["host=plain", "socket.TCP_NODELAY=true"],
    );
    // From when the connection is up on.
    assert_eq!(value(&often, "requests_due"), 49_990.0);
    assert!(value(&often, "requests") >= 49_970.0);
    let drawn = run_plain("every = \"1ms\"\ngaps = \"exponential\"");
    let due = value(&drawn, "requests_due");
    assert!((900.0..1100.0).contains(&due) && due != 1000.0, "{due}");
    assert!(value(&drawn, "requests") >= due - 2.0);
}

#[test]
fn who_cannot_be_answered_waits_longer_and_longer() {
    // 1 MB takes 800 us of the link, and is asked for every 500 us.
    let outcome = run_plain("response = \"1MB\"\nevery = \"500us\"");
    let (due, requests) = (value(&outcome, "requests_due"), value(&outcome, "requests"));
    assert_eq!(due, 2000.0);
    assert!((1000.0..1250.0).contains(&requests), "{requests}");
    // The last answer that came belongs to a request of then.
    let waited = value(&outcome, "latency_us_max") / 1e6;
    let asked = requests / due;
    assert!((waited - (1.0 - asked)).abs() < 0.01, "{waited} {asked}");
}

#[test]
fn several_are_under_way_or_nobody_asks_while_he_thinks() {
    let at_once = |outstanding: u32, nodelay: &str| {
        let asking = format!("workload.outstanding={outstanding}");
        let outcome = run_with("", &["host=plain", &asking, nodelay]);
        value(&outcome, "requests")
    };
    let nodelay = "socket.TCP_NODELAY=true";
    let times = at_once(8, nodelay) / at_once(1, nodelay);
    assert!((7.5..=8.0).contains(&times), "{times}");
    // Nagle's algorithm puts small ones together, and they wait for each other.
    let delayed = at_once(8, "socket.TCP_NODELAY=false") / at_once(1, nodelay);
    assert!((1.0..4.0).contains(&delayed), "{delayed}");
    for outstanding in [1.0, 3.0] {
        let outcome = run_plain(&format!("think = \"2ms\"\noutstanding = {outstanding}"));
        let each_s = 2e-3 + value(&outcome, "latency_us_mean") / 1e6;
        let (requests, expected) = (value(&outcome, "requests"), outstanding / each_s);
        assert!(
            (requests - expected).abs() <= outstanding,
            "{requests} {expected}"
        );
    }
}

#[test]
fn what_is_answered_before_its_time_is_not_counted() {
    for how in ["", "every = \"500us\"", "think = \"1ms\"\noutstanding = 2"] {
        let sizes = format!("response = \"20kB\"\n{how}");
        let [whole, beginning, late] = [
            &[][..],
            &["workload.duration=300ms"],
            &["workload.omit=300ms", "workload.duration=700ms"],
        ]
        .map(|overrides| run_with(&sizes, &[&["host=plain"], overrides].concat()));
        assert_eq!(late.hops, whole.hops, "{how}");
        let names = ["requests", "data_bytes_total"];
        for name in names
            .into_iter()
            .chain((how.len() == 15).then_some("requests_due"))
        {
            let [all, before, after] =
                [&whole, &beginning, &late].map(|outcome| value(outcome, name));
            assert_eq!(all, before + after, "{how}: {name}");
        }
        let per_s = value(&late, "requests") / 0.7;
        assert!((value(&late, "requests_per_s") - per_s).abs() < 1e-6);
        let received = [&whole, &beginning, &late].map(|o| sum(o, "flows", "received_bytes"));
        assert_eq!(received[0], received[1] + received[2], "{how}");
    }
}

#[test]
fn both_ends_have_the_congestion_control_that_is_asked_for() {
    let asked = "connections = 3\ncongestion = [\"bbr\", \"reno\"]";
    for response in ["1B", "20kB"] {
        let outcome = run_plain(&format!("{asked}\nresponse = \"{response}\""));
        let flows = outcome.tables.iter().find(|t| t.name == "flows");
        let Some(ColumnData::Str(controls)) =
            flows.and_then(|t| t.column("sender_congestion_control"))
        else {
            panic!("a flow has a congestion control");
        };
        let mut controls = controls.clone();
        controls.sort();
        assert_eq!(controls, ["bbr", "bbr", "reno"]);
    }
    // Who answers has it, too: bbr's answers leave paced.
    let longest = |congestion: &str| {
        let sizes = format!("response = \"100kB\"\ncongestion = [\"{congestion}\"]");
        value(&run_plain(&sizes), "latency_us_max")
    };
    let [paced, not] = ["bbr", "reno"].map(longest);
    assert!(paced != not, "{paced} {not}");
}

/// Nine of ten answers small, the others not.
const DRAWN: &str = r#"
request_sizes = { kind = "pareto", least = "100B", most = "20kB", shape = 1.2 }
response_sizes = { kind = "points", points = [
  { bytes = "1kB", share = 0.0 }, { bytes = "9kB", share = 0.9 }, { bytes = "500kB", share = 1.0 },
] }
"#;

const EACH: &[&str] = &["host=plain", "record.requests=true"];

#[test]
fn sizes_that_are_drawn_are_told_request_by_request() {
    for how in [
        "",
        "every = \"500us\"",
        "outstanding = 3",
        "connections = 3",
    ] {
        let workload = format!("{DRAWN}\n{how}");
        let outcome = run_with(&workload, EACH);
        let requests = value(&outcome, "requests") as usize;
        assert!(requests > 300, "{how}: {requests}");
        let sizes = ["request_bytes", "response_bytes"].map(|n| counts(&outcome, "requests", n));
        let all: u64 = sizes.iter().flatten().sum();
        assert_eq!(all as f64, value(&outcome, "data_bytes_total"), "{how}");
        assert!(sizes[0].iter().all(|bytes| (100..=20_000).contains(bytes)));
        assert!(
            sizes[1]
                .iter()
                .all(|bytes| (1000..=500_000).contains(bytes))
        );
        let small = sizes[1].iter().filter(|bytes| **bytes <= 9000).count() as f64;
        assert!(
            (0.85..0.95).contains(&(small / requests as f64)),
            "{how}: {small}"
        );
        let slowdowns = measure(&outcome, "requests", "slowdown");
        assert!(slowdowns.iter().all(|slowdown| *slowdown >= 1.0), "{how}");
        // The tables tell of the same requests.
        let classes = counts(&outcome, "slowdowns", "requests");
        assert_eq!(classes.iter().sum::<u64>(), requests as u64, "{how}");
        assert_eq!(
            classes[0] as f64,
            small + between(&sizes[1], 9001, 10_000),
            "{how}"
        );
        let worst = slowdowns.iter().fold(0.0, |most: f64, one| most.max(*one));
        assert!(value(&outcome, "slowdown_p99") <= worst);
        let latencies = measure(&outcome, "requests", "latency_us");
        let longest = latencies.iter().fold(0.0, |most: f64, one| most.max(*one));
        assert_eq!(longest, value(&outcome, "latency_us_max"), "{how}");
        // Late or early, the same sizes are asked for.
        let slow = run_with(&workload, &[EACH, &["network.link.0.delay=2ms"]].concat());
        for (flow, of_flow) in by_flow(&slow) {
            let fast = &by_flow(&outcome)[&flow];
            let both = fast.len().min(of_flow.len());
            assert!(both > 20, "{how}: {both}");
            assert_eq!(fast[..both], of_flow[..both], "{how}");
        }
    }
}

fn between(sizes: &[u64], least: u64, most: u64) -> f64 {
    let range = least..=most;
    sizes.iter().filter(|bytes| range.contains(bytes)).count() as f64
}

/// Sizes of each connection's requests and answers.
fn by_flow(outcome: &RunOutcome) -> std::collections::BTreeMap<u64, Vec<(u64, u64)>> {
    let mut all = std::collections::BTreeMap::<_, Vec<_>>::new();
    let [flows, requests, responses] =
        ["flow", "request_bytes", "response_bytes"].map(|name| counts(outcome, "requests", name));
    for ((flow, request), response) in flows.into_iter().zip(requests).zip(responses) {
        all.entry(flow).or_default().push((request, response));
    }
    all
}

#[test]
fn alone_a_request_takes_what_its_bytes_take() {
    let outcome = run_with("request = \"1000B\"\nresponse = \"1448B\"", EACH);
    let slowdowns = measure(&outcome, "requests", "slowdown");
    assert!(
        slowdowns.iter().all(|s| (1.0..1.03).contains(s)),
        "{slowdowns:?}"
    );
    // What is drawn of one size is that size.
    let all = run_with("response = \"100kB\"", EACH);
    let drawn = run_with(
        "response_sizes = { kind = \"fixed\", bytes = \"100kB\" }",
        EACH,
    );
    assert_eq!(
        table(&all, "requests").columns,
        table(&drawn, "requests").columns
    );
    assert_eq!(all.trajectory, drawn.trajectory);
    let tables = |outcome: &RunOutcome| outcome.tables.iter().any(|t| t.name == "slowdowns");
    assert!(tables(&drawn) && !tables(&all));
}
