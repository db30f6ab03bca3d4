//! Parts of a workload go to the hosts that `hosts` names, in every network and on every kind of host.

use tailback_sim::RunOutcome;

use crate::support::{counts, measure, names, run, simulated};

/// Three hosts on each side; what crosses the trunk has a tenth of a host's rate.
const DUMBBELL: &str = r#"
name = "order"
[network]
topology = "dumbbell"
pairs = 3
switch = "plain"
link = { rate = "1Gbit", delay = "5us", mtu = "1500B" }
trunk = [{ rate = "100Mbit", delay = "5us", mtu = "1500B" }]
[host]
preset = "plain"
"#;

const INCAST: &str = r#"
kind = "incast"
hosts = ["right1", "left2", "left0", "right0"]
servers = 2
size = "100KB"
iterations = 2
"#;
const IPERF3: &str = r#"
kind = "iperf3"
hosts = ["right2", "left1", "left0"]
senders = 2
measured = "all"
duration = "100ms"
ping_interval = "10ms"
"#;
const FLENT: &str = r#"
kind = "flent"
hosts = ["left0", "right2"]
test = "tcp_download"
length = "100ms"
delay = "20ms"
step_size = "10ms"
"#;
const EXCHANGE: &str = r#"
kind = "exchange"
hosts = ["left1", "right2"]
duration = "100ms"
action = [{ end = "server", does = "write", size = "100KB" }]
"#;

fn text(workload: &str) -> String {
    format!("{DUMBBELL}[workload]\n{workload}")
}

/// Source and destination of each flow.
fn ways(outcome: &RunOutcome) -> Vec<[String; 2]> {
    let sources = names(outcome, "flows", "source").into_iter();
    let destinations = names(outcome, "flows", "destination");
    sources.zip(destinations).map(|(a, b)| [a, b]).collect()
}

#[test]
fn flows_go_between_the_hosts_named_over_what_lies_between_them() {
    for (workload, expected) in [
        (INCAST, vec![["left2", "right1"], ["left0", "right1"]]),
        (IPERF3, vec![["left1", "right2"], ["left0", "right2"]]),
        (FLENT, vec![["left0", "right2"]]),
        (EXCHANGE, vec![["right2", "left1"]]),
    ] {
        let outcome = simulated(&text(workload), &[]);
        assert_eq!(ways(&outcome), expected, "{workload}");
        let received: f64 = match workload {
            INCAST => counts(&outcome, "flows", "received_bytes")
                .iter()
                .sum::<u64>() as f64,
            EXCHANGE => 100_000.0,
            _ => {
                measure(&outcome, "flows", "transfer_gbytes")
                    .iter()
                    .sum::<f64>()
                    * 1e9
            }
        };
        // 100 Mb/s for a tenth of a second, but for what waits at the trunk.
        assert!((90e3..1.25e6).contains(&received), "{workload}: {received}");
    }
}

#[test]
fn what_is_used_of_a_link_is_of_the_receivers() {
    // The trunk's rate is a tenth of the receiver's.
    for workload in [IPERF3, FLENT] {
        let used = measure(&simulated(&text(workload), &[]), "summary", "utilisation")[0];
        assert!((0.05..0.101).contains(&used), "{workload}: {used}");
    }
    let outcome = simulated(&text(FLENT), &[]);
    assert!(measure(&outcome, "summary", "download_gbps")[0] > 0.05);
    assert!(measure(&outcome, "summary", "upload_gbps")[0].abs() < 1e-9);
}

#[test]
fn hosts_on_one_side_do_not_share_the_trunk() {
    let aside = text(&IPERF3.replace(
        r#"["right2", "left1", "left0"]"#,
        r#"["left2", "left1", "left0"]"#,
    ));
    let used = measure(&simulated(&aside, &[]), "summary", "utilisation")[0];
    assert!(used > 0.8, "{used}");
}

#[test]
fn kernels_have_the_parts_of_their_names() {
    for (workload, flows) in [(INCAST, 2), (IPERF3, 2), (EXCHANGE, 1)] {
        let ended = [
            run(&text(workload), &[], |_| true),
            // The first host alone: left1, which is exchange's client, or those of the right.
            run(
                &text(workload),
                &["workload.ping_interval=\"0s\""][usize::from(workload != IPERF3)..],
                |host| {
                    if workload == EXCHANGE {
                        host == 1
                    } else {
                        host > 2
                    }
                },
            ),
        ];
        for outcome in ended {
            let outcome = outcome.expect("it runs");
            let modelled = simulated(&text(workload), &[]);
            assert_eq!(ways(&outcome), ways(&modelled));
            assert_eq!(counts(&outcome, "flows", "flow").len(), flows);
            let bytes = measure(&outcome, "summary", "data_bytes_total")[0];
            assert!((90e3..1.25e6).contains(&bytes), "{workload}: {bytes}");
        }
    }
}
