//! Workloads whose figures are of a window of time, or of every datagram: alike on kernels and models.

use tailback_sim::{ColumnData, Control, RunOutcome, simulate};

use crate::support::{measure, run};

/// Three senders to one receiver, the first measured while the others send.
const IPERF3: &str = r#"
name = "iperf3"
[network]
topology = "star"
switch = "arista-7124s"
hosts = 4
link = { rate = "1Gbit", delay = "5us", mtu = "1500B" }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-7.2"
[workload]
kind = "iperf3"
senders = 3
measured = "first"
lead = "200ms"
duration = "300ms"
interval = "100ms"
start_skew = "1ms"
ping_interval = "10ms"
"#;

fn modelled(text: &str) -> RunOutcome {
    let plan = tailback_scenario::Plan::from_toml(text, "test.toml", &[], None);
    let plan = plan.expect("it is a scenario");
    simulate(&plan.runs[0], &Control::default()).expect("it runs")
}

fn names(outcome: &RunOutcome) -> Vec<(&str, Vec<&str>)> {
    let columns = |table: &'static str| {
        let found = outcome.tables.iter().find(|t| t.name == table);
        found.map_or(Vec::new(), |t| t.columns.iter().map(|c| &*c.name).collect())
    };
    [
        "summary",
        "flows",
        "intervals",
        "pings",
        "lost",
        "reordered",
    ]
    .map(|table| (table, columns(table)))
    .into()
}

/// Payload of full segments with timestamps over their bytes on the wire.
const GOODPUT: f64 = 1448.0 / 1538.0;

#[test]
fn measured_senders_on_kernels_give_the_simulator_s_tables() {
    let model = modelled(IPERF3);
    for outside in [
        [true; 4],
        [true, true, false, false],
        [false, false, true, true],
    ] {
        let outcome = run(IPERF3, &[], |host| outside[host]).expect("it runs");
        assert_eq!(names(&outcome), names(&model), "{outside:?}");
        let figure = |name| measure(&outcome, "summary", name)[0];
        // The receiver's link is full, whoever sends.
        assert!((figure("utilisation") - 1.0).abs() < 0.01, "{outside:?}");
        let total: f64 = measure(&outcome, "flows", "bandwidth_gbps").iter().sum();
        assert!((total / GOODPUT - 1.0).abs() < 0.01, "{outside:?}: {total}");
        let first = measure(&outcome, "flows", "measured");
        let rows = measure(&outcome, "flows", "bandwidth_gbps");
        let measured = rows.iter().zip(&first).find(|(_, m)| **m > 0.0);
        let (measured, _) = measured.expect("one is measured");
        assert!((measured - figure("bandwidth_gbps_mean")).abs() < 1e-9);
        assert!(figure("bandwidth_gbps_mean") > 0.02, "{outside:?}");
        // Three rows a flow, and they add up to the flow's.
        let flow = measure(&outcome, "intervals", "flow");
        let part = measure(&outcome, "intervals", "bandwidth_gbps");
        assert_eq!(flow.len(), 9);
        for (number, whole) in rows.iter().enumerate() {
            let parts = flow.iter().zip(&part).filter(|(f, _)| **f == number as f64);
            let mean = parts.map(|(_, bandwidth)| bandwidth).sum::<f64>() / 3.0;
            assert!(
                (mean / whole - 1.0).abs() < 1e-6,
                "{outside:?}: {mean} {whole}"
            );
        }
        // A full queue is what a ping waits for: what the queue's mean says, within a third.
        let queue_ms = figure("queue_bytes_mean") * 8.0 / 1e6;
        assert!(figure("pings") >= 30.0);
        assert!(
            (figure("ping_ms_mean") / queue_ms - 1.0).abs() < 0.34,
            "{outside:?}"
        );
        assert!(figure("switch_drops") > 0.0);
        assert!(
            measure(&outcome, "flows", "cwnd_segments")
                .iter()
                .all(|c| *c > 1.0)
        );
        if outside[0] {
            let again = run(IPERF3, &[], |host| outside[host]).expect("it runs");
            assert_eq!(again.tables, outcome.tables);
        }
    }
}

#[test]
fn a_ping_between_a_kernel_and_a_model_is_refused() {
    let refused = run(IPERF3, &[], |host| host == 0).expect_err("it is refused");
    assert!(
        refused.to_string().contains("workload.ping_interval"),
        "{refused}"
    );
    let without = ["workload.ping_interval=\"0s\""];
    let outcome = run(IPERF3, &without, |host| host == 0).expect("it runs");
    let utilisation = measure(&outcome, "summary", "utilisation")[0];
    assert!((utilisation - 1.0).abs() < 0.01, "{utilisation}");
}

/// Two senders to one receiver at more than its link takes, over a link that loses and reorders.
const UDP: &str = r#"
name = "udp"
[network]
topology = "explicit"
host = [{ name = "a" }, { name = "b" }, { name = "c" }]
[[network.switch]]
name = "s"
model = "arista-7124s"
[[network.link]]
ends = ["a", "s"]
rate = "1Gbit"
delay = "5us"
mtu = "1500B"
impairment = { script = [
  { direction = "forward", frames = [10, 11, 50], action = "drop" },
  { direction = "forward", frames = [30], action = "delay", by = "1ms" },
] }
[[network.link]]
ends = ["b", "s"]
rate = "1Gbit"
delay = "5us"
mtu = "1500B"
[[network.link]]
ends = ["c", "s"]
rate = "100Mbit"
delay = "5us"
mtu = "1500B"
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-7.2"
[workload]
kind = "udp"
pairs = { kind = "listed", list = [["a", "c"], ["b", "c"]] }
rate = "60Mbit"
duration = "800ms"
socket_buffer = "1MiB"
"#;

#[test]
fn datagrams_on_kernels_are_told_one_by_one() {
    let model = modelled(UDP);
    for outside in [[true; 3], [true, false, true], [false, true, false]] {
        let outcome = run(UDP, &[], |host| outside[host]).expect("it runs");
        assert_eq!(names(&outcome), names(&model), "{outside:?}");
        let count = |table, name| measure(&outcome, table, name);
        // 800 ms of 60 Mbit/s, the second from half a gap on.
        let gap_s = 1470.0 * 8.0 / 60e6;
        let sent = count("flows", "datagrams_sent");
        assert_eq!(
            sent,
            [(0.8_f64 / gap_s).ceil(), (0.8_f64 / gap_s - 0.5).ceil()]
        );
        assert_eq!(sent, measure(&model, "flows", "datagrams_sent"));
        let received = count("flows", "datagrams_received");
        let lost = count("flows", "lost_switch");
        assert_eq!(count("flows", "lost_link"), [3.0, 0.0]);
        for flow in 0..2 {
            let link = count("flows", "lost_link")[flow];
            let late = received[flow] + lost[flow] + link;
            assert_eq!(late, sent[flow], "{outside:?}: nothing else is lost");
        }
        // 120 Mbit/s of payload into 100 Mbit/s with headers: the buffer fills, the rest is dropped.
        assert!(lost.iter().sum::<f64>() > 0.0);
        assert_eq!(
            count("summary", "datagrams_lost")[0],
            lost.iter().sum::<f64>() + 3.0
        );
        assert_eq!(count("flows", "datagrams_reordered"), [1.0, 0.0]);
        assert_eq!(count("reordered", "datagram"), [29.0]);
        let places = outcome.tables.iter().find(|t| t.name == "lost");
        let Some(ColumnData::Str(places)) = places.and_then(|t| t.column("place")) else {
            panic!("places have names")
        };
        let firsts = count("lost", "first_datagram");
        let on_link = places
            .iter()
            .zip(&firsts)
            .filter(|(place, _)| *place == "link");
        assert_eq!(
            on_link.map(|(_, first)| *first).collect::<Vec<_>>(),
            [9.0, 49.0]
        );
        if outside[0] {
            let again = run(UDP, &[], |host| outside[host]).expect("it runs");
            assert_eq!(again.tables, outcome.tables);
        }
    }
}

#[test]
fn datagrams_that_a_slow_reader_s_socket_has_no_room_for_are_lost_there() {
    // Two datagrams of 2304 bytes of memory each are all that a socket of the least size takes, and
    // an interrupt brings many.
    let overrides = [
        "workload.socket_buffer=\"1kB\"",
        "kernel.interrupt_moderation=\"5ms\"",
    ];
    let outcome = run(UDP, &overrides, |_| true).expect("it runs");
    assert!(measure(&outcome, "summary", "lost_socket")[0] > 0.0);
    let [sent, received, lost] = ["datagrams_sent", "datagrams_received", "datagrams_lost"]
        .map(|name| measure(&outcome, "summary", name)[0]);
    assert_eq!(sent, received + lost);
}

/// Two clients that ask one server.
const ASK: &str = r#"
name = "ask"
[network]
topology = "star"
switch = "arista-7124s"
hosts = 3
link = { rate = "1Gbit", delay = "50us", mtu = "1500B" }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-7.2"
[kernel]
interrupt_moderation = "0s"
[workload]
kind = "request-response"
pairs = { kind = "to-first" }
request = "100B"
response = "3kB"
connections = 2
duration = "50ms"
"#;

#[test]
fn questions_of_kernels_are_answered_in_the_network_s_time() {
    // The server's answer is three frames; links and switch are crossed twice.
    let least_us = 2.0 * 2.0 * 50.0 + (2.0 * 190.0 + 4.0 * 1538.0) * 8.0 / 1e3;
    for outside in [[true; 3], [true, false, false], [false, true, true]] {
        let outcome = run(ASK, &[], |host| outside[host]).expect("it runs");
        let figure = |name| measure(&outcome, "summary", name)[0];
        let latency_us = figure("latency_us_min");
        assert!(
            latency_us > 200.0 && latency_us < 2.0 * least_us,
            "{outside:?}: {latency_us}"
        );
        // Four connections, each with one question at a time until the end.
        let possible = 4.0 * 50_000.0 / figure("latency_us_mean");
        let requests = figure("requests");
        assert!(
            (requests / possible - 1.0).abs() < 0.05,
            "{outside:?}: {requests} {possible}"
        );
        let again = run(ASK, &[], |host| outside[host]).expect("it runs");
        assert_eq!(again.tables, outcome.tables);
    }
}

#[test]
fn a_link_is_full_at_most_whatever_segments_carry_and_links_put_around_them() {
    let mtu = "mtu = \"1500B\"";
    for (from, to) in [
        (
            "preset = \"linux-7.2\"",
            "preset = \"linux-7.2\"\ntcp_timestamps = false",
        ),
        (mtu, "mtu = \"1500B\", framing = \"pos\""),
        (mtu, "mtu = \"1500B\", framing = \"vlan\""),
    ] {
        assert!(IPERF3.contains(from), "{from}");
        let outcome = modelled(&IPERF3.replace(from, to));
        let utilisation = measure(&outcome, "summary", "utilisation")[0];
        // What lay behind a hole when the window opened is read within it.
        assert!((0.99..1.005).contains(&utilisation), "{to}: {utilisation}");
    }
}

const PLAIN: &str = "switch = \"arista-7124s\"";
/// The same with hardly any memory.
const SMALL: &str = "switch = { preset = \"arista-7124s\", buffer = { shared = \"20KB\" } }";

#[test]
fn timeouts_of_a_flow_are_of_the_measured_window() {
    // Eleven senders begin at once and have timeouts before the window, and in it.
    let text = IPERF3
        .replace("hosts = 4", "hosts = 13")
        .replace("senders = 3", "senders = 12")
        .replace("lead = \"200ms\"", "lead = \"600ms\"")
        .replace("start_skew = \"1ms\"", "start_skew = \"0s\"")
        .replace(PLAIN, SMALL);
    let outcome = modelled(&text);
    let flows: f64 = measure(&outcome, "flows", "timeouts").iter().sum();
    assert!(flows > 0.0);
    assert_eq!([flows], *measure(&outcome, "summary", "timeouts"));
}

#[test]
fn an_interval_s_counts_are_its_own() {
    let text = IPERF3.replace("\"first\"", "\"all\"").replace(PLAIN, SMALL);
    let outcome = modelled(&text);
    let flow = measure(&outcome, "intervals", "flow");
    let of_flow = |name, number: f64| -> Vec<f64> {
        let all = measure(&outcome, "intervals", name);
        let own = all.iter().zip(&flow).filter(|(_, f)| **f == number);
        own.map(|(value, _)| *value).collect()
    };
    // Three intervals, and with them all of the window.
    for (number, sent) in measure(&outcome, "flows", "retransmissions")
        .iter()
        .enumerate()
    {
        let own = of_flow("retransmissions", number as f64);
        assert_eq!(own.iter().sum::<f64>(), *sent, "{own:?}");
    }
    let drops = of_flow("switch_drops", 0.0);
    assert_eq!(
        drops,
        of_flow("switch_drops", 2.0),
        "they are of the network"
    );
    let all = measure(&outcome, "summary", "switch_drops")[0];
    assert!(drops.iter().filter(|drops| **drops > 0.0).count() > 1);
    assert_eq!(drops.iter().sum::<f64>(), all, "{drops:?}");
}
