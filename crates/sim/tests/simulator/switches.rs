//! Switches of all kinds of memory: when a frame leaves, and what is marked.

use tailback_sim::RunOutcome;

use crate::support::{measure, simulated};

/// A star of four hosts without processing times, and datagrams.
fn star(switch: &str, network: &str, workload: &str) -> RunOutcome {
    let text = format!(
        r#"
name = "switches"
host = {{ preset = "ideal" }}
stack = {{ preset = "linux-7.2" }}
{network}
[network]
topology = "star"
hosts = 4
link = {{ rate = "10Gbit", delay = "500ns", mtu = "9000B" }}
[network.switch]
ports = 4
{switch}
[workload]
kind = "udp"
socket_buffer = "10MB"
{workload}
"#
    );
    run(&text)
}

fn run(text: &str) -> RunOutcome {
    simulated(text, &[])
}

const VOQ: &str = r#"kind = "voq", port_buffer = "1MB", cell = "64B""#;

#[test]
fn a_port_that_waits_for_a_busy_ingress_takes_what_comes_by_another() {
    // host0 crosses to host2 nearly all the time; what it has for host3 waits for that.
    let outcome = star(
        &format!(
            r#"
forwarding = "store-and-forward"
latency = "0s"
marking = {{ kind = "off" }}
buffer = {{ {VOQ}, speedup = 1.0 }}
"#
        ),
        r#"
[[background]]
source = "host0"
destination = "host2"
rate = "9Gbit"
datagram = "8972B"
until = "5ms"
[[background]]
source = "host0"
destination = "host3"
rate = "14.4Mbit"
datagram = "18B"
arrivals = "poisson"
until = "5ms"
"#,
        r#"
rate = "14.4Mbit"
datagram = "18B"
duration = "5ms"
pairs = { kind = "listed", list = [["host1", "host3"]] }
"#,
    );
    // 84 bytes over two links of 500 ns, and at most a few of the same length before them.
    let longest = measure(&outcome, "flows", "delay_us_max")[0];
    assert!(longest < 1.3, "{longest} us");
}

#[test]
fn a_slow_port_does_not_hold_up_what_its_senders_have_for_others() {
    let host = |name: &str, rate: &str| {
        format!(
            r#"
[[network.host]]
name = "{name}"
[[network.link]]
ends = ["{name}", "switch"]
rate = "{rate}"
delay = "500ns"
mtu = "1500B"
"#
        )
    };
    let hosts = [
        host("a", "10Gbit"),
        host("fast", "10Gbit"),
        host("slow", "1Gbit"),
    ]
    .concat();
    let outcome = run(&format!(
        r#"
name = "rates"
host = {{ preset = "ideal" }}
stack = {{ preset = "linux-7.2" }}
[network]
topology = "explicit"
{hosts}
[[network.switch]]
name = "switch"
[network.switch.model]
ports = 3
forwarding = "store-and-forward"
latency = "0s"
marking = {{ kind = "off" }}
buffer = {{ {VOQ}, speedup = 1.2 }}
[workload]
kind = "udp"
rate = "900Mbit"
datagram = "1470B"
socket_buffer = "10MB"
duration = "3ms"
pairs = {{ kind = "listed", list = [["a", "slow"], ["a", "fast"], ["a", "fast"], ["a", "fast"]] }}
"#
    ));
    // Two frames' line times and 1 us; at the slow port's rate one of its frames took ten of theirs.
    let delays = measure(&outcome, "flows", "delay_us_mean");
    assert!(
        delays[1..].iter().all(|us| (3.4..3.6).contains(us)),
        "{delays:?}"
    );
}

/// Three senders at 1.5 Gb/s to one port of a switch with a latency of 50 us: mean, least and longest delay of each.
fn delays(forwarding: &str, buffer: &str) -> [Vec<f64>; 3] {
    let switch = format!(
        r#"
forwarding = "{forwarding}"
latency = "50us"
marking = {{ kind = "off" }}
buffer = {{ {buffer} }}
"#
    );
    let workload = r#"
rate = "1.5Gbit"
datagram = "1470B"
duration = "2ms"
pairs = { kind = "to-first" }
"#;
    let outcome = star(&switch, "", workload);
    ["mean", "min", "max"].map(|of| measure(&outcome, "flows", &format!("delay_us_{of}")))
}

#[test]
fn every_frame_takes_the_latency_whatever_waits_before_it() {
    let memory = r#"shared = "2MB", segment = "64B", rx_private = "0B", tx_private = "0B", tx_limit = { kind = "none" }"#;
    let voq = format!("{VOQ}, speedup = 1.2");
    for (forwarding, alone_us) in [("store-and-forward", 53.4), ("cut-through", 52.2)] {
        let shared = delays(forwarding, &format!(r#"kind = "shared", {memory}"#));
        assert!(shared[1].iter().all(|us| *us > alone_us), "{shared:?}");
        // First in, first out, and nothing stops it: the same to the nanosecond.
        let queued = delays(forwarding, &format!(r#"kind = "queued", {memory}"#));
        assert_eq!(queued, shared, "{forwarding}");
        let crossed = delays(forwarding, &voq);
        assert!(crossed[1].iter().all(|us| *us > alone_us), "{crossed:?}");
    }
}

#[test]
fn frames_that_find_the_memory_full_are_not_marked() {
    let outcome = star(
        r#"
forwarding = "store-and-forward"
latency = "0s"
marking = { kind = "step", threshold = "1KB" }
buffer = { kind = "voq", port_buffer = "100KB", cell = "64B", speedup = 1.2 }
"#,
        "",
        r#"
rate = "6Gbit"
ecn = true
datagram = "1470B"
duration = "2ms"
pairs = { kind = "to-first" }
"#,
    );
    let figure = |name| measure(&outcome, "summary", name)[0];
    let (received, marks) = (figure("datagrams_received"), figure("marks"));
    assert!(figure("datagrams_lost") > 1000.0);
    // All but the first of the three senders' first frames find something before them.
    assert!(
        marks <= received && marks > received - 9.0,
        "{marks} of {received}"
    );
}
