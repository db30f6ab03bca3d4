//! TCP flows beside the workload: they take their share, begin and end when told to, and are counted apart.

use tailback_sim::{ColumnData, RunOutcome};

use crate::support::{column, counts, measure, simulated};

/// One flow from `host1` to `host0` for 50 ms, about 9.4 Gb/s when alone.
const BULK: &str = r#"kind = "bulk"
pairs = { kind = "listed", list = [["host1", "host0"]] }
duration = "50ms""#;

fn outcome(host: &str, workload: &str, beside: &str) -> RunOutcome {
    let text = format!(
        r#"
name = "background-flows"
[network]
topology = "star"
switch = {{ preset = "arista-7124s" }}
hosts = 4
link = {{ rate = "10Gbit", delay = "1us", mtu = "1500B" }}
[host]
preset = "{host}"
[stack]
preset = "linux-7.2"
[workload]
{workload}
{beside}"#
    );
    simulated(&text, &[])
}

fn run(workload: &str, beside: &str) -> RunOutcome {
    outcome("plain", workload, beside)
}

fn received(outcome: &RunOutcome) -> Vec<u64> {
    counts(outcome, "background_flows", "received_bytes")
}

/// An entry of `background_flows` from one host to another, with more lines behind it.
fn beside(source: &str, destination: &str, more: &str) -> String {
    format!(
        r#"[[background_flows]]
pairs = {{ kind = "listed", list = [["{source}", "{destination}"]] }}
{more}"#
    )
}

#[test]
fn a_flow_beside_shares_the_link_and_is_no_flow_of_the_workload() {
    let alone = run(BULK, "");
    assert!(alone.tables.iter().all(|t| t.name != "background_flows"));
    let cross = beside("host2", "host0", "");
    let shared = run(BULK, &cross);
    let own = counts(&shared, "flows", "received_bytes");
    assert_eq!(own.len(), 1);
    assert_eq!(counts(&shared, "summary", "data_bytes_total"), own);
    let both = own[0] + received(&shared)[0];
    let before = counts(&alone, "flows", "received_bytes")[0];
    let share = both as f64 / before as f64;
    assert!((0.97..1.01).contains(&share), "{share}");
    assert!(own[0] < before * 3 / 4, "{} of {before}", own[0]);
    assert_eq!(run(BULK, &cross).trajectory, shared.trajectory);
}

#[test]
fn what_flows_beside_send_again_is_not_the_workloads() {
    // Flows of two hosts meet at a port; the workload asks somewhere else.
    let workload = r#"kind = "request-response"
pairs = { kind = "listed", list = [["host1", "host3"]] }
duration = "30ms""#;
    let more = "connections = 3\ncongestion = [\"bbr\"]";
    let cross = [
        beside("host2", "host0", more),
        beside("host3", "host0", more),
    ]
    .join("\n");
    let outcome = run(workload, &cross);
    let again: u64 = counts(&outcome, "background_flows", "retransmissions")
        .iter()
        .sum();
    assert!(again > 0);
    let own = measure(&outcome, "summary", "retransmissions_mean");
    assert_eq!(own, [0.0]);
    match column(&outcome, "background_flows", "sender_congestion_control") {
        ColumnData::Str(names) => assert_eq!(names, &["bbr"; 6]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_flow_begins_and_ends_when_it_is_told_to() {
    let part = run(
        BULK,
        &beside("host2", "host3", "from = \"10ms\"\nuntil = \"30ms\""),
    );
    // Nobody is in its way: 20 ms at 9.4 Gb/s, and what its socket still held, 4 MB at the most.
    let mb = received(&part)[0] as f64 / 1e6;
    assert!((22.0..28.0).contains(&mb), "{mb}");
    let start = measure(&part, "background_flows", "start_s")[0];
    assert!((0.01..0.0102).contains(&start), "{start}");
    // It ends when that has been read: no rate is above the link's.
    let end = measure(&part, "background_flows", "end_s")[0];
    assert!((0.03..0.034).contains(&end), "{end}");
    let rate = |o: &RunOutcome| measure(o, "background_flows", "throughput_mbps")[0];
    assert!((9000.0..9420.0).contains(&rate(&part)), "{}", rate(&part));
    // All that it sent has come: the rest of the run was time enough.
    let given = run(BULK, &beside("host2", "host3", "size = \"3MB\""));
    assert_eq!(received(&given), [3_000_000]);
    let end = measure(&given, "background_flows", "end_s")[0];
    assert!((0.0025..0.004).contains(&end), "{end}");
    assert!((6000.0..9420.0).contains(&rate(&given)), "{}", rate(&given));
    // One that never begins has no rate: nobody knows beforehand when an incast is over.
    let incast = "kind = \"incast\"\nservers = 1\nsize = \"30KB\"\niterations = 2";
    let never = run(incast, &beside("host2", "host3", "from = \"1s\""));
    assert!(rate(&never).is_nan());
    let times = |name| measure(&never, "background_flows", name)[0];
    assert_eq!(times("start_s"), times("end_s"));
}

#[test]
fn a_program_with_a_rate_writes_no_faster() {
    let alone = |more: &str| run(BULK, &beside("host2", "host3", more));
    // A block of 131 072 bytes at once, and each 10.48 ms, of which four are there before the run ends.
    let slow = alone("rate = \"100Mbit\"");
    assert_eq!(received(&slow), [5 * 131_072]);
    // Smaller ones are nearer to the rate: 500 KB in 40 ms.
    let even = alone("rate = \"100Mbit\"\nblock = \"1250B\"\nfrom = \"5ms\"\nuntil = \"45ms\"");
    assert_eq!(received(&even), [400 * 1250]);
    // The last is what is left of the size, and then the connection is over.
    let sized = alone("rate = \"1Gbit\"\nsize = \"1MB\"\nblock = \"300kB\"");
    assert_eq!(received(&sized), [1_000_000]);
    let end = measure(&sized, "background_flows", "end_s")[0];
    assert!((0.0072..0.0078).contains(&end), "{end}");
    // More than the link carries is what it carries.
    let rate = |o: &RunOutcome| measure(o, "background_flows", "throughput_mbps")[0];
    let [fast, full] = ["rate = \"40Gbit\"", ""].map(|more| rate(&alone(more)));
    assert!((fast - full).abs() < 0.01 * full, "{fast} {full}");
    // A machine's program writes as much.
    let machine = outcome(
        "rhel-5.4-x5540-ne020",
        BULK,
        &beside("host2", "host3", "rate = \"100Mbit\""),
    );
    assert_eq!(received(&machine), [5 * 131_072]);
}

#[test]
fn a_machine_whose_program_is_stopped_sends_what_its_socket_holds() {
    let flow = beside("host2", "host3", "from = \"5ms\"\nuntil = \"20ms\"");
    let longer = BULK.replace("50ms", "70ms");
    let [first, later] =
        [BULK, longer.as_str()].map(|workload| outcome("xeon-e7330-ixgbe", workload, &flow));
    assert!(received(&first)[0] > 5_000_000, "{:?}", received(&first));
    // All had come before the end.
    assert_eq!(received(&first), received(&later));
}

#[test]
fn windows_that_the_workload_asks_for_are_its_own() {
    let workload = format!("{BULK}\npair_window = \"3KB\"");
    let outcome = run(&workload, &beside("host2", "host3", ""));
    // Twice 3 KB hold a few frames of what is on its way; the other has automatic buffers, and its link for itself.
    let rate = measure(&outcome, "background_flows", "throughput_mbps")[0];
    assert!(rate > 9000.0, "{rate}");
    let own = counts(&outcome, "flows", "received_bytes")[0];
    assert!(own < 45_000_000, "{own}");
}

#[test]
fn an_incast_ends_when_it_is_done_whoever_else_sends() {
    let workload = "kind = \"incast\"\nservers = 3\nsize = \"300KB\"\niterations = 5";
    let alone = run(workload, "");
    let shared = run(workload, &beside("host0", "host3", ""));
    for outcome in [&alone, &shared] {
        assert_eq!(counts(outcome, "summary", "iterations"), [5]);
        assert_eq!(counts(outcome, "flows", "flow"), [0, 1, 2]);
    }
    // It shares nothing with the answers but the client's acknowledgements' way.
    assert!(received(&shared)[0] > 0);
    let flows = counts(&shared, "flows", "received_bytes");
    assert_eq!(flows, counts(&alone, "flows", "received_bytes"));
}

#[test]
fn drawn_pairs_are_the_same_for_the_same_seed() {
    let drawn = r#"[[background_flows]]
pairs = { kind = "permutation" }
size = "100KB""#;
    let first = run(BULK, drawn);
    assert_eq!(received(&first), [100_000; 4]);
    assert_eq!(first.tables, run(BULK, drawn).tables);
}

#[test]
fn datagrams_keep_their_rate_and_tcp_beside_them_gets_the_rest() {
    // 3 Gb/s of 1470 bytes, 1536 with all that a frame takes: 3.13 of the port's 10 Gb/s.
    let udp = r#"kind = "udp"
pairs = { kind = "listed", list = [["host1", "host0"]] }
rate = "3Gbit"
duration = "50ms"
socket_buffer = "1MB""#;
    // Reno's slow start fills the port's queue, and what finds no room in it is all that is lost.
    let reno = "connections = 2\ncongestion = [\"reno\"]\nuntil = \"50ms\"";
    let shared = run(udp, &beside("host2", "host0", reno));
    let sent = counts(&shared, "summary", "datagrams_sent")[0];
    assert_eq!(counts(&shared, "summary", "datagrams_due"), [sent]);
    let count = |name: &str| counts(&shared, "summary", name)[0];
    assert!(count("lost_switch") > 0);
    assert_eq!(count("datagrams_lost"), count("lost_switch"));
    assert_eq!(sent, count("datagrams_received") + count("datagrams_lost"));
    assert_eq!(counts(&shared, "flows", "flow"), [0]);
    // TCP has the rest, 6.5 Gb/s of 1448 bytes in 1538, and afterwards what two sockets of 4 MB still held.
    let mb: f64 = received(&shared)
        .iter()
        .map(|bytes| *bytes as f64 / 1e6)
        .sum();
    assert!((33.0..50.0).contains(&mb), "{mb}");
    // Where they share nothing, each is as it would be alone, on hosts of every kind.
    for host in ["plain", "server-25g", "xeon-e7330-ixgbe"] {
        let apart = beside("host2", "host3", "size = \"2MB\"");
        let slow = udp.replace("3Gbit", "300Mbit");
        let [alone, apart] = ["", &apart].map(|beside| outcome(host, &slow, beside));
        let read = |o: &RunOutcome| counts(o, "flows", "datagrams_received")[0];
        assert_eq!(read(&apart), read(&alone), "{host}");
        assert_eq!(read(&apart), sent.div_ceil(10), "{host}");
        assert_eq!(received(&apart), [2_000_000], "{host}");
    }
}

#[test]
fn a_datagram_waits_for_what_is_in_front_of_it() {
    let udp = r#"kind = "udp"
pairs = { kind = "listed", list = [["host1", "host0"]] }
rate = "100Mbit"
datagram = "200B"
duration = "50ms"
socket_buffer = "1MB""#;
    let delay = |o: &RunOutcome, which: &str| {
        let [all, flow] = ["summary", "flows"].map(|table| measure(o, table, which)[0]);
        assert_eq!(all.to_bits(), flow.to_bits(), "{which}");
        all
    };
    // 200 bytes are 266 on the line, 0.2128 us; 2 us of links, 0.6 of a switch that does not wait for the whole.
    let alone = outcome("ideal", udp, "");
    for which in [
        "delay_us_min",
        "delay_us_mean",
        "delay_us_p99",
        "delay_us_max",
    ] {
        assert_eq!(delay(&alone, which), 2.812, "{which}");
    }
    // What the switch has room for, 2 MB, is 1.6 ms of the port.
    let flow = beside("host2", "host0", "from = \"10ms\"\nconnections = 4");
    let shared = outcome("ideal", udp, &flow);
    let [least, median, p99, most] = ["min", "median", "p99", "max"]
        .map(|statistic| delay(&shared, &format!("delay_us_{statistic}")));
    assert_eq!(least, 2.812);
    assert!(
        least < median && median < p99 && p99 <= most,
        "{median} {p99}"
    );
    assert!((200.0..1603.0).contains(&most), "{most}");
    // Number and time do not fit.
    let short = outcome(
        "ideal",
        &udp.replace("200B", "12B").replace("100M", "5M"),
        "",
    );
    assert!(delay(&short, "delay_us_mean").is_nan());
}

#[test]
fn a_machine_has_datagrams_and_tcp_at_once() {
    let udp = r#"kind = "udp"
pairs = { kind = "listed", list = [["host1", "host0"]] }
rate = "1Gbit"
duration = "50ms"
socket_buffer = "1MB""#;
    // Both come to one machine, and one goes out of it, with datagrams' numbers in the books.
    let flows = [beside("host2", "host0", ""), beside("host0", "host3", "")].join("\n");
    let outcome = outcome("xeon-e7330-ixgbe", udp, &flows);
    let count = |name: &str| counts(&outcome, "summary", name)[0];
    let lost = count("datagrams_lost");
    assert_eq!(count("datagrams_sent"), count("datagrams_received") + lost);
    // One core handles what two interrupts bring (3.1 Gb/s alone): nobody gets all he had alone, each a good part.
    for bytes in received(&outcome) {
        assert!(bytes > 3_000_000, "{bytes}");
    }
    assert!(count("datagrams_received") > 2000);
}

#[test]
fn all_hosts_read_no_less_than_one_of_them() {
    let series = "[record]\nseries = { interval = \"1ms\", host = \"host3\" }";
    let flow = beside("host2", "host3", "");
    let outcome = run(BULK, &format!("{flow}\n{series}"));
    let [all, one] = ["goodput_gbps", "host_goodput_gbps"].map(|c| measure(&outcome, "network", c));
    assert!(all.len() > 40);
    // Both links are full, from soon after the beginning on.
    for (all, one) in all.iter().zip(one).skip(5) {
        assert!((18.0..19.0).contains(all), "{all}");
        assert!((9.0..9.6).contains(&one), "{one}");
    }
}
