//! Background traffic: what is offered comes, it takes its share, and it stops when told to.

use tailback_scenario::Plan;
use tailback_sim::{Control, RunOutcome, simulate};

use crate::support::{counts, simulated};

/// One flow from `host1` to `host0` for 50 ms, as payload about 9.4 Gb/s when alone.
const SCENARIO: &str = r#"
name = "background"
[network]
topology = "star"
switch = { preset = "arista-7124s" }
hosts = 4
link = { rate = "10Gbit", delay = "1us", mtu = "1500B" }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-7.2"
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["host1", "host0"]] }
duration = "50ms"
"#;

fn run(background: &str) -> RunOutcome {
    let text = SCENARIO.replace("[workload]", &format!("{background}\n[workload]"));
    simulated(&text, &[])
}

fn flow_bytes(outcome: &RunOutcome) -> f64 {
    counts(outcome, "flows", "received_bytes")[0] as f64
}

const CROSS: &str = r#"[[background]]
source = "host2"
destination = "host0"
rate = "3Gbit""#;

#[test]
fn cross_traffic_takes_its_share() {
    let alone = run("");
    let beside = run(CROSS);
    assert!(alone.tables.iter().all(|t| t.name != "background"));
    // 3 Gb/s of payload for 50 ms are 12 755 datagrams of 1470 bytes.
    let sent = counts(&beside, "background", "datagrams_sent")[0];
    assert!((12_754..=12_756).contains(&sent), "{sent}");
    let came = counts(&beside, "background", "received_bytes")[0];
    assert!(came * 8 > 2_500_000_000 / 20, "{came}");
    // What is left of the line is the flow's, as far as TCP takes it after losses.
    let share = flow_bytes(&beside) / flow_bytes(&alone);
    assert!((0.3..0.75).contains(&share), "{share}");
    assert_eq!(run(CROSS).trajectory, beside.trajectory);
}

#[test]
fn reverse_traffic_meets_acknowledgements_only() {
    let alone = run("");
    let reverse = run(&CROSS
        .replace("host2", "host3")
        .replace("destination = \"host0\"", "destination = \"host1\""));
    let share = flow_bytes(&reverse) / flow_bytes(&alone);
    assert!((0.95..1.05).contains(&share), "{share}");
    let refused = counts(&reverse, "background", "datagrams_refused")[0];
    assert_eq!(refused, 0);
}

#[test]
fn poisson_arrivals_have_the_mean_and_spans_have_ends() {
    let poisson = run(&format!("{CROSS}\narrivals = \"poisson\""));
    let sent = counts(&poisson, "background", "datagrams_sent")[0] as f64;
    // Its standard deviation is the root of the mean: 113.
    assert!((sent - 12_755.0).abs() < 4.0 * 113.0, "{sent}");
    let span = run(&format!("{CROSS}\nfrom = \"10ms\"\nuntil = \"20ms\""));
    let sent = counts(&span, "background", "datagrams_sent")[0];
    assert!((2550..=2552).contains(&sent), "{sent}");
}

#[test]
fn what_cannot_be_is_refused() {
    let text = SCENARIO.replace(
        "[workload]",
        "[[background]]\nsource = \"host9\"\ndestination = \"host0\"\nrate = \"0bit\"\n\
         datagram = \"4000B\"\nfrom = \"2s\"\nuntil = \"1s\"\n[workload]",
    );
    let problems = Plan::from_toml(&text, "background.toml", &[], None).expect_err("refused");
    let paths: Vec<&str> = problems.iter().map(|p| p.path.as_str()).collect();
    for name in ["source", "rate", "datagram", "until"] {
        let path = format!("background[0].{name}");
        assert!(paths.contains(&path.as_str()), "{path}: {paths:?}");
    }
}

#[test]
fn a_workload_whose_connections_are_gone_is_not_kept_going_by_what_is_beside_it() {
    let incast = "kind = \"incast\"\nservers = 2\nsize = \"100KB\"\niterations = 2";
    let text = SCENARIO
        .split("[workload]")
        .next()
        .map(|head| format!("{head}{CROSS}\n[workload]\n{incast}"))
        .expect("a scenario");
    let dead = ["network.link.loss=1.0", "stack.tcp_syn_retries=1"].map(str::to_owned);
    let plan = Plan::from_toml(&text, "background.toml", &dead, None).expect("valid");
    let error = simulate(&plan.runs[0], &Control::default()).expect_err("it cannot be done");
    let said = error.to_string();
    assert!(said.contains("got no answer and gave up"), "{said}");
}
