//! Runs in which something goes on for ever and the workload does not.

use tailback_sim::{Control, SimError, simulate};
use tailback_units::{Duration, Time};

use crate::support::{plan, run};

/// The client's program is woken by 1 MB, and an answer is a tenth of that.
const WAITS: &str = r#"
name = "still"
host = "plain"
[network]
topology = "star"
hosts = 3
switch = "plain"
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
[socket]
SO_RCVLOWAT = "1MB"
SO_KEEPALIVE = true
[workload]
kind = "incast"
servers = 2
size = "100KB"
iterations = 1
"#;

fn error(text: &str, overrides: &[&str]) -> SimError {
    let run = &plan(text, overrides).runs[0];
    simulate(run, &Control::default()).expect_err("it never ends")
}

#[test]
fn keepalives_of_connections_that_nobody_reads_are_no_reason_to_go_on() {
    // They would go on until the end of time, which is 213 days.
    let often = [
        "stack.tcp_keepalive_time=10s",
        "stack.tcp_keepalive_intvl=10s",
    ];
    let SimError::Stalled { at, done, why } = error(WAITS, &often) else {
        panic!("{}", error(WAITS, &often))
    };
    assert!(at < Time::ZERO + Duration::from_secs(22 * 86_400), "{at:?}");
    assert_eq!(done, 0);
    assert!(why.contains("nobody reads them"), "{why}");
}

#[test]
fn kernels_that_wait_for_each_other_are_not_waited_for() {
    // Their clocks tick on.
    let two = ["network.hosts=2", "workload.servers=1"];
    match run(WAITS, &two, |_| true) {
        Err(SimError::Stalled { at, done, why }) => {
            assert!(at > Time::ZERO + Duration::from_secs(86_400), "{at:?}");
            assert_eq!(done, 0);
            assert!(why.contains("for 24 hours no payload"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_that_waits_for_days_is_waited_for() {
    let late =
        ["host.service_latency=9d", "socket.SO_RCVLOWAT=1B"].map(|s| s.replace("9d", "216h"));
    let late: Vec<&str> = late.iter().map(String::as_str).collect();
    let run = &plan(WAITS, &late).runs[0];
    simulate(run, &Control::default()).expect("it ends after nine days");
}

#[test]
fn rows_at_an_interval_of_a_run_without_an_end_are_bounded() {
    for (record, key) in [
        ("record.interfaces=100us", "record.interfaces"),
        (
            "record.series={ interval = \"100us\" }",
            "record.series.interval",
        ),
    ] {
        let error = error(WAITS, &[record]);
        let said = error.to_string();
        let SimError::TooManyRows { key: told, .. } = error else {
            panic!("{said}")
        };
        assert_eq!(told, key);
        assert!(said.contains("10 million rows"), "{said}");
    }
}
