//! Queue disciplines at the interfaces of hosts.

use tailback_sim::RunOutcome;

use crate::support::{measure, names, run, simulated, sum};

/// A host that uploads and is pinged, over a line as slow as its own interface.
const SLOW: &str = r#"
name = "slow"
host = "uml-virtio"
stack = "linux-7.2"
[network]
topology = "star"
hosts = 2
switch = { preset = "plain-queued" }
link = { rate = "20Mbit", delay = "100us", mtu = "1500B" }
[workload]
kind = "flent"
test = "rrul"
length = "2s"
delay = "100ms"
step_size = "50ms"
"#;

fn under(discipline: &str) -> RunOutcome {
    simulated(
        SLOW,
        &[&format!("network.link.qdisc={{ forward = {discipline} }}")],
    )
}

#[test]
fn a_fifo_is_what_hosts_have_without() {
    let fifo = under(r#"{ kind = "fifo" }"#);
    let none = simulated(SLOW, &[]);
    for column in [
        "upload_gbps",
        "download_gbps",
        "ping_ms_mean",
        "retransmissions",
    ] {
        let of = |outcome: &RunOutcome| measure(outcome, "summary", column).to_vec();
        assert_eq!(of(&fifo), of(&none), "{column}");
    }
    // Eight connections' packets for offload wait in turn.
    assert!(measure(&none, "summary", "ping_ms_mean")[0] > 20.0);
}

#[test]
fn hosts_without_one_go_their_way_beside_it() {
    let star = r#"topology = "star"
hosts = 2
switch = { preset = "plain-queued" }
link = { rate = "20Mbit", delay = "100us", mtu = "1500B" }"#;
    let explicit = r#"topology = "explicit"
host = [{ name = "host0" }, { name = "host1" }]
switch = [{ name = "switch", model = { preset = "plain-queued" } }]
link = [
  { ends = ["host0", "switch"], rate = "20Mbit", delay = "100us", mtu = "1500B" },
  { ends = ["host1", "switch"], rate = "20Mbit", delay = "100us", mtu = "1500B" },
]"#;
    let text = SLOW.replace(star, explicit);
    assert_ne!(text, SLOW);
    let fifo = r#"network.link.1.qdisc={ forward = { kind = "fifo" } }"#;
    let (none, one) = (simulated(&text, &[]), simulated(&text, &[fifo]));
    for (table, column) in [
        ("summary", "ping_ms_mean"),
        ("flows", "bandwidth_gbps"),
        ("intervals", "cwnd_segments"),
    ] {
        let of = |outcome: &RunOutcome| measure(outcome, table, column).to_vec();
        assert_eq!(of(&one), of(&none), "{table}.{column}");
    }
    assert!(!names(&one, "ports", "place").contains(&"host0".to_owned()));
}

#[test]
fn flows_of_their_own_let_pings_pass() {
    let fair = under(r#"{ kind = "fq-codel" }"#);
    let none = simulated(SLOW, &[]);
    let ping = |outcome: &RunOutcome| measure(outcome, "summary", "ping_ms_mean")[0];
    assert!(
        ping(&fair) < 0.6 * ping(&none),
        "{} {}",
        ping(&fair),
        ping(&none)
    );
    let upload = measure(&fair, "summary", "upload_gbps")[0];
    assert!(upload > 0.9 * 0.02 * 1448.0 / 1538.0, "{upload}");
}

#[test]
fn what_a_discipline_drops_is_lost_at_the_host() {
    let codel = under(r#"{ kind = "codel", target = "1ms", interval = "10ms" }"#);
    let causes = names(&codel, "drops", "cause");
    let places = names(&codel, "drops", "place");
    let mut rows = causes.iter().zip(places);
    assert!(rows.any(|(cause, place)| cause == "early-drop" && place.starts_with("host")));
    assert_eq!(sum(&codel, "summary", "switch_drops"), 0.0);
    let lost = sum(&codel, "summary", "host_drops");
    assert!(lost > 0.0);
    // Whole packets are: each is several frames, which TCP sends again.
    assert!(sum(&codel, "summary", "retransmissions") >= 0.5 * lost);
    let ports = names(&codel, "ports", "place");
    let host = ports
        .iter()
        .position(|place| place == "host0")
        .expect("it has a row");
    assert!(measure(&codel, "ports", "queue_bytes_max")[host] > 1500.0);
}

#[test]
fn marks_of_a_discipline_are_counted() {
    let text = SLOW.replace(
        "stack = \"linux-7.2\"",
        "stack = { preset = \"linux-7.2\", tcp_ecn = 1 }",
    );
    let codel = r#"network.link.qdisc={ forward = { kind = "codel", target = "1ms", interval = "10ms", ecn = true } }"#;
    let outcome = simulated(&text, &[codel]);
    assert!(sum(&outcome, "summary", "marks") > 0.0);
}

#[test]
fn what_kernels_do_not_have_is_refused() {
    let cobalt = r#"network.link.qdisc={ forward = { kind = "cobalt" } }"#;
    let refused = run(SLOW, &[cobalt], |_| true).expect_err("kernels have none");
    assert!(
        refused
            .to_string()
            .contains("kernels have COBALT in CAKE alone"),
        "{refused}"
    );
}
