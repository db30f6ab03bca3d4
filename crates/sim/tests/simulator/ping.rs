//! Workload `ping` in a whole network, of modelled hosts and of kernels.

use tailback_sim::RunOutcome;

use crate::support::{measure, run, simulated, value};

const PING: &str = r#"
name = "pinging"
[network]
topology = "star"
hosts = 3
switch = "plain"
link = { rate = "1Gbit", delay = "100us", mtu = "1500B" }
[host]
preset = "ideal"
[workload]
kind = "ping"
pairs = { kind = "to-first" }
interval = "10ms"
count = 20
wait = "50ms"
"#;

fn modelled(overrides: &[&str]) -> RunOutcome {
    simulated(PING, overrides)
}

#[test]
fn a_round_trip_is_two_links_each_way_and_the_request_s_length() {
    let short = modelled(&[]);
    assert_eq!(value(&short, "pings"), 40.0);
    assert_eq!(value(&short, "pings_lost"), 0.0);
    assert_eq!(measure(&short, "pings", "rtt_ms").len(), 40);
    assert_eq!(value(&short, "data_bytes_total"), 40.0 * 56.0);
    // The second source's last request is sent at 195 ms.
    let seconds = value(&short, "duration_s_total");
    assert!((0.1954..0.1956).contains(&seconds), "{seconds}");
    // Four links of 100 us, and what the hosts take.
    let least = value(&short, "ping_ms_min");
    assert!((0.4..0.5).contains(&least), "{least}");
    for q in ["mean", "median", "p95", "p99", "max"] {
        assert!(value(&short, &format!("ping_ms_{q}")) >= least);
    }
    // 944 bytes more take 7.552 us longer on each of four links.
    let long = modelled(&["workload.size=\"1000B\""]);
    let longer = value(&long, "ping_ms_min") - least;
    assert!((longer - 0.030_208).abs() < 1e-6, "{longer}");
}

#[test]
fn what_links_lose_is_lost_by_its_pair() {
    let outcome = modelled(&["network.link.loss=0.05"]);
    let lost = value(&outcome, "pings_lost");
    // A request and its answer cross four links: a fifth of forty.
    assert!((2.0..20.0).contains(&lost), "{lost}");
    assert_eq!(value(&outcome, "link_losses"), lost);
    assert!((value(&outcome, "loss_percent") - 2.5 * lost).abs() < 1e-9);
    let by_pair = measure(&outcome, "flows", "pings_lost");
    assert_eq!(by_pair.iter().sum::<f64>(), lost);
    let answered = measure(&outcome, "pings", "answered");
    assert_eq!(answered.iter().sum::<f64>(), 40.0 - lost);
}

#[test]
fn what_nobody_answers_has_no_round_trip() {
    let outcome = modelled(&["network.link.loss=1.0"]);
    assert_eq!(value(&outcome, "loss_percent"), 100.0);
    for column in ["min", "mean", "median", "p95", "p99", "max"] {
        let name = format!("ping_ms_{column}");
        assert!(value(&outcome, &name).is_nan(), "{name}");
    }
    let means = measure(&outcome, "flows", "ping_ms_mean");
    assert!(means.iter().all(|ms| ms.is_nan()), "{means:?}");
}

#[test]
fn kernels_ping_and_are_answered() {
    let outcome = run(PING, &[], |_| true).expect("it runs");
    assert_eq!(value(&outcome, "pings"), 40.0);
    assert_eq!(value(&outcome, "pings_lost"), 0.0);
    assert_eq!(measure(&outcome, "flows", "pings"), [20.0, 20.0]);
    // In virtual time what kernels do takes none.
    let round_trips = measure(&outcome, "pings", "rtt_ms");
    assert!(round_trips.iter().all(|rtt| (0.4..0.5).contains(rtt)));
    let sent = measure(&outcome, "pings", "time_s");
    assert!(sent.is_sorted() && sent[0] < 0.001 && (0.19..0.2).contains(&sent[39]));
}

#[test]
fn kernels_tell_what_was_lost_and_wait_as_long_as_they_are_told() {
    let outcome = run(PING, &["network.link.loss=0.05"], |_| true).expect("it runs");
    let lost = value(&outcome, "pings_lost");
    assert!((2.0..20.0).contains(&lost), "{lost}");
    assert_eq!(value(&outcome, "link_losses"), lost);
    let end = tailback_units::Duration::from_ms(300);
    assert!(outcome.simulated < end, "{:?}", outcome.simulated);
}

#[test]
fn pings_go_between_alike_hosts_and_both_kinds_may_be_there() {
    let refused = run(PING, &[], |host| host == 0).expect_err("two hosts are modelled");
    let text = refused.to_string();
    assert!(text.contains("host1 pings host0"), "{text}");
    let pairs = "workload.pairs={ kind = \"listed\", list = [[\"host1\", \"host0\"], [\"host2\", \"host3\"]] }";
    let overrides = [pairs, "network.hosts=4"];
    let outcome = run(PING, &overrides, |host| host < 2).expect("it runs");
    assert_eq!(measure(&outcome, "flows", "pings"), [20.0, 20.0]);
    assert_eq!(measure(&outcome, "flows", "pings_lost"), [0.0, 0.0]);
}
