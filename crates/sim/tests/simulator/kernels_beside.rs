//! Traffic beside the workload where hosts are kernels: between kernels, between modelled hosts, and across.

use std::collections::BTreeSet;

use tailback_sim::ColumnData;

use crate::support::{counts, measure, run};

/// `host1` asks `host0` for 40 ms, while `host2` sends to `host3`.
const ASKING: &str = r#"
name = "beside"
[network]
topology = "star"
switch = "arista-7124s"
hosts = 4
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
[host]
preset = "uml-virtio"
[stack]
preset = "linux-7.2"
[workload]
kind = "request-response"
pairs = { kind = "listed", list = [["host1", "host0"]] }
duration = "40ms"
[[background_flows]]
pairs = { kind = "listed", list = [["host2", "host3"]] }
from = "5ms"
until = "20ms"
"#;

#[test]
fn flows_beside_run_between_kernels_and_the_model() {
    for outside in [
        [false; 4],
        [true; 4],
        [true, true, true, false],
        [true, true, false, true],
        [true, true, false, false],
        [false, false, true, true],
    ] {
        let outcome = run(ASKING, &[], |host| outside[host]).expect("it runs");
        // 15 ms of a link alone, and what the socket still held.
        let bytes = measure(&outcome, "background_flows", "received_bytes");
        assert_eq!(bytes.len(), 1, "{outside:?}");
        let range = 1.7e6..4.5e6;
        assert!(range.contains(&bytes[0]), "{outside:?}: {bytes:?}");
        let sent = measure(&outcome, "background_flows", "segments_sent");
        assert!(sent[0] > 1000.0, "{outside:?}: {sent:?}");
        // The workload's flow is as it is without: the one that asks is its source.
        let asked = measure(&outcome, "flows", "received_bytes");
        assert_eq!(asked.len(), 1, "{outside:?}");
        let requests = measure(&outcome, "summary", "requests");
        assert!(
            (asked[0] - requests[0]).abs() < 2.0,
            "{outside:?}: {asked:?}"
        );
        assert!(outcome.simulated < tailback_units::Duration::from_ms(45));
    }
}

#[test]
fn programs_with_a_rate_write_as_much_on_kernels() {
    for more in ["", ", size = \"60kB\"", ", until = \"30ms\""] {
        let flows = format!(
            r#"background_flows=[{{ pairs = {{ kind = "listed", list = [["host2", "host3"]] }}, from = "5ms", rate = "50Mbit", block = "10kB"{more} }}]"#
        );
        let bytes = [[false; 4], [true; 4], [true, true, true, false]].map(|outside| {
            let outcome = run(ASKING, &[&flows], |host| outside[host]).expect("it runs");
            measure(&outcome, "background_flows", "received_bytes")[0]
        });
        // A block every 1.6 ms.
        let blocks = match more {
            "" => 22.0,
            ", size = \"60kB\"" => 6.0,
            _ => 16.0,
        };
        assert_eq!(bytes, [blocks * 1e4; 3], "{more}");
    }
}

#[test]
fn flows_that_last_as_long_as_the_run_end_with_it() {
    let set = r#"background_flows=[{ pairs = { kind = "listed", list = [["host2", "host1"], ["host3", "host0"]] } }]"#;
    for outside in [[true; 4], [true, true, false, false]] {
        let outcome = run(ASKING, &[set], |host| outside[host]).expect("it runs");
        let end = tailback_units::Duration::from_ms(60);
        assert!(outcome.simulated < end, "{:?}", outcome.simulated);
        assert_eq!(measure(&outcome, "background_flows", "end_s"), [0.04, 0.04]);
        let rates = measure(&outcome, "background_flows", "throughput_mbps");
        let range = 700.0..960.0;
        assert!(
            rates.iter().all(|r| range.contains(r)),
            "{outside:?}: {rates:?}"
        );
    }
}

#[test]
fn the_model_sends_beside_a_workload_of_kernels_alone() {
    let incast = r#"workload={ kind = "incast", servers = 1, size = "500KB", iterations = 4 }"#;
    let beside =
        r#"background_flows=[{ pairs = { kind = "listed", list = [["host2", "host3"]] } }]"#;
    let datagrams = r#"background=[{ source = "host2", destination = "host3", rate = "100Mbit" }]"#;
    let outside = |host| host < 2;
    let outcome = run(ASKING, &[incast, beside, datagrams], outside).expect("it runs");
    assert!(measure(&outcome, "background_flows", "received_bytes")[0] > 1e6);
    assert!(measure(&outcome, "background", "received_bytes")[0] > 1e5);
    // Nobody knows beforehand when an incast of kernels is over: its own flows beside it say when they are.
    let all = run(ASKING, &[incast, beside], |_| true);
    let said = all.expect_err("it has no end").to_string();
    assert!(said.contains("until = \"1s\""), "{said}");
    let sized = beside.replace(" } }]", " }, size = \"2MB\" }]");
    let outcome = run(ASKING, &[incast, &sized], |_| true).expect("it runs");
    assert_eq!(
        measure(&outcome, "background_flows", "received_bytes"),
        [2e6]
    );
    let until = beside.replace(" } }]", " }, until = \"10ms\" }]");
    let outcome = run(ASKING, &[incast, &until], |_| true).expect("it runs");
    assert!(measure(&outcome, "background_flows", "received_bytes")[0] > 1e6);
}

#[test]
fn a_capture_shows_one_connection_with_the_port_that_the_kernel_chose() {
    let pcap = r#"record={ pcap = { links = ["host1>switch", "switch>host1"], end = "5ms" } }"#;
    // The kernel connects, and the model answers.
    let outcome = run(ASKING, &[pcap], |host| host == 1).expect("it runs");
    let capture = outcome.capture.as_deref().expect("a capture");
    let table = tailback_sim::packets(capture).expect("a pcapng file");
    let text = |name: &str| match table.column(name) {
        Some(ColumnData::Str(values)) => values.clone(),
        other => panic!("{name}: {other:?}"),
    };
    let (sources, destinations) = (text("source"), text("destination"));
    let asked: BTreeSet<_> = sources.iter().zip(&destinations).collect();
    assert_eq!(asked.len(), 2, "one connection, both ways: {asked:?}");
    // Both ends count from their SYN: what is asked and answered is a byte each.
    let Some(ColumnData::U64(acks)) = table.column("ack") else {
        panic!("no acknowledgements")
    };
    assert!(acks.iter().all(|ack| *ack < 1_000_000), "{acks:?}");
}

#[test]
fn a_switch_knows_the_classes_of_kernels_packets() {
    let classes = r#"network.switch={ preset = "plain-queued", buffer = { scheduler = { strict = 2, priomap = [0, 1] } } }"#;
    let workload = r#"workload={ kind = "bulk", pairs = { kind = "listed", list = [["host2", "host0"]] }, duration = "40ms", priority = [1] }"#;
    let beside = r#"background_flows=[{ pairs = { kind = "listed", list = [["host1", "host0"]] }, from = "5ms" }]"#;
    for outside in [[false; 4], [true; 4], [true, false, true, true]] {
        let outcome = run(ASKING, &[classes, workload, beside], |host| outside[host]);
        let outcome = outcome.expect("it runs");
        // Who is served first has the link as soon as it has begun: 35 of 40 ms.
        let first = measure(&outcome, "background_flows", "throughput_mbps")[0];
        assert!(first > 850.0, "{outside:?}: {first}");
        let other = measure(&outcome, "flows", "received_bytes")[0];
        assert!(other < 1.2e6, "{outside:?}: {other}");
    }
}

#[test]
fn tcp_runs_beside_datagrams() {
    let udp = r#"workload={ kind = "udp", pairs = { kind = "listed", list = [["host1", "host0"]] }, rate = "200Mbit", duration = "40ms", socket_buffer = "1MB" }"#;
    let beside =
        r#"background_flows=[{ pairs = { kind = "listed", list = [["host2", "host0"]] } }]"#;
    for outside in [
        [false; 4],
        [true; 4],
        [true, false, true, true],
        [false, true, true, false],
        [true, true, false, false],
    ] {
        let outcome = run(ASKING, &[udp, beside], |host| outside[host])
            .unwrap_or_else(|e| panic!("{outside:?}: {e}"));
        let count = |name: &str| measure(&outcome, "summary", name)[0];
        let lost = count("datagrams_lost");
        assert!(count("datagrams_sent") > 650.0, "{outside:?}");
        assert_eq!(count("datagrams_sent"), count("datagrams_received") + lost);
        // 40 ms beside datagrams that take 209 Mb/s of the gigabit, then half a second alone.
        let rate = measure(&outcome, "background_flows", "throughput_mbps")[0];
        assert!((850.0..945.0).contains(&rate), "{outside:?}: {rate}");
        // And the microsecond of each of four links.
        assert_eq!(measure(&outcome, "background_flows", "end_s"), [0.540_004]);
        // One clock for all. Alone it takes 12.288 us of the line and 2.6 of links and a switch that does not wait for
        // the whole; beside TCP what is in front of it too, a megabyte at most.
        let delay = |which| measure(&outcome, "summary", which)[0];
        let range = 14.8..16.5;
        let least = delay("delay_us_min");
        assert!(range.contains(&least), "{outside:?}: {least}");
        let most = delay("delay_us_max");
        assert!((1000.0..9000.0).contains(&most), "{outside:?}: {most}");
    }
}

#[test]
fn kernels_ask_for_and_answer_the_sizes_that_the_model_draws() {
    let text = ASKING.split("[[background_flows]]").next().expect("text");
    let text = format!(
        "{text}connections = 2\nrequest_sizes = {{ kind = \"pareto\", least = \"300B\", most = \"9kB\", shape = 0.5 }}\n\
         response_sizes = {{ kind = \"pareto\", least = \"300B\", most = \"200kB\", shape = 0.5 }}\n\
         [record]\nrequests = true\n"
    );
    let told = |how: &str, outside: [bool; 4]| {
        let outcome = run(&text, &[how], |host| outside[host]).expect("it runs");
        let all = ["request_bytes", "response_bytes"].map(|n| counts(&outcome, "requests", n));
        let total: u64 = all.iter().flatten().sum();
        assert_eq!(
            total as f64,
            measure(&outcome, "summary", "data_bytes_total")[0]
        );
        let slowdowns = measure(&outcome, "requests", "slowdown");
        assert!(slowdowns.iter().all(|s| *s >= 1.0), "{how} {outside:?}");
        let dues = measure(&outcome, "requests", "due_s");
        assert!(dues.is_sorted() && dues[0] < 0.012, "{how} {outside:?}");
        let mut flows: [Vec<(u64, u64)>; 2] = Default::default();
        let numbers = counts(&outcome, "requests", "flow");
        for (i, flow) in numbers.into_iter().enumerate() {
            flows[flow as usize].push((all[0][i], all[1][i]));
        }
        flows
    };
    for how in [
        "workload.outstanding=1",
        "workload.outstanding=3",
        "workload.every=1ms",
        "workload.omit=10ms",
    ] {
        let model = told(how, [false; 4]);
        for outside in [
            [true; 4],
            [true, false, true, true],
            [false, true, true, true],
        ] {
            let kernel = told(how, outside);
            for (kernel, model) in kernel.iter().zip(&model) {
                let both = kernel.len().min(model.len());
                assert!(both > 5, "{how} {outside:?}: {both}");
                // Of a run whose beginning is left out, the first that is counted may be another one.
                if how != "workload.omit=10ms" {
                    assert_eq!(kernel[..both], model[..both], "{how} {outside:?}");
                } else {
                    let within = |all: &[(u64, u64)], part: &[(u64, u64)]| {
                        all.windows(5).any(|some| some == &part[..5])
                    };
                    assert!(
                        within(kernel, model) || within(model, kernel),
                        "{outside:?}: {kernel:?} {model:?}"
                    );
                }
            }
        }
    }
}

/// Three hosts, of which two ask the third at a rate, over lines on which small requests wait for each other.
const GATHERED: &str = r#"
name = "gathered"
host = "uml-virtio"
stack = "linux-7.2"
[network]
topology = "star"
hosts = 3
switch = "plain"
link = { rate = "100Mbit", delay = "1ms", mtu = "1500B" }
[workload]
kind = "request-response"
pairs = { kind = "to-first" }
request_sizes = { kind = "pareto", least = "20B", most = "20kB", shape = 0.6 }
response_sizes = { kind = "pareto", least = "20B", most = "300kB", shape = 0.6 }
duration = "2s"
every = "8ms"
[record]
requests = true
"#;

/// A server reads one request at a time, and none while it writes; what came together is answered one after the other.
/// Acknowledgements, and with them what waits for them, depend on that.
#[test]
fn requests_that_came_together_are_answered_when_kernels_answer_them() {
    for setting in [
        "stack.tcp_slow_start_after_idle=false",
        "socket.SO_RCVBUF=8kB",
    ] {
        let told = |outside: bool| {
            let outcome = run(GATHERED, &[setting], |_| outside).expect("it runs");
            let flows = counts(&outcome, "requests", "flow");
            let latencies = measure(&outcome, "requests", "latency_us");
            let of = |flow: u64| {
                let rows = flows.iter().zip(&latencies).filter(|row| *row.0 == flow);
                rows.map(|row| *row.1).collect::<Vec<f64>>()
            };
            [of(0), of(1)]
        };
        for (model, kernel) in told(false).iter().zip(told(true)) {
            let both = model.len().min(kernel.len());
            assert!(both > 200, "{setting}: {both}");
            let latest = model[..both].iter().zip(&kernel).enumerate();
            let apart = latest.filter(|(_, (model, kernel))| (*model - *kernel).abs() > 60.0);
            assert_eq!(apart.collect::<Vec<_>>(), [], "{setting}");
        }
    }
}
