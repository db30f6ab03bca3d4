//! Tables of networks whose hosts are kernels, all or some, hold what those of modelled hosts do.

use crate::support::{measure, run, simulated, sum, value};

/// Hosts in one star of 100 Mbit/s, with a workload.
fn star(hosts: usize, workload: &str) -> String {
    format!(
        r#"
name = "tables"
host = "uml-virtio"
stack = "linux-7.2"
[network]
topology = "star"
switch = "plain"
hosts = {hosts}
link = {{ rate = "100Mbit", delay = "500us", mtu = "1500B" }}
[workload]
{workload}
"#
    )
}

/// As far apart as the kinds of hosts may be.
fn near(one: f64, other: f64, share: f64) -> bool {
    (one / other - 1.0).abs() < share
}

#[test]
fn a_run_lasts_until_the_flows_between_kernels_are_over() {
    let pairs = r#"pairs = { kind = "listed", list = [["host0", "host1"]] }"#;
    let endless = format!("kind = \"bulk\"\n{pairs}\nduration = \"50ms\"");
    let text = star(3, &endless);
    let model = simulated(&text, &[]);
    for outside in [[true, true, false], [true; 3]] {
        let outcome = run(&text, &[], |host| outside[host]).expect("it runs");
        let span = value(&outcome, "duration_s_total");
        assert!((0.05..0.0502).contains(&span), "{outside:?}: {span}");
        let rates = [&outcome, &model].map(|outcome| value(outcome, "goodput_mbps_mean"));
        assert!(near(rates[0], rates[1], 0.05), "{outside:?}: {rates:?}");
        assert_eq!(measure(&outcome, "flows", "complete"), [0.0]);
    }
    // The two flows between kernels take twice as long as that beside them.
    let pairs = r#"pairs = { kind = "listed", list = [["host0", "host1"], ["host0", "host1"], ["host2", "host3"]] }"#;
    let sized = format!("kind = \"bulk\"\n{pairs}\nsize = \"1MB\"\nduration = \"2s\"");
    let text = star(4, &sized);
    let model = simulated(&text, &[]);
    for outside in [[true, true, false, false], [true; 4]] {
        let outcome = run(&text, &[], |host| outside[host]).expect("it runs");
        let spans = [&outcome, &model].map(|outcome| value(outcome, "duration_s_total"));
        assert!(near(spans[0], spans[1], 0.02), "{outside:?}: {spans:?}");
        let starts = measure(&outcome, "flows", "start_s");
        let took = measure(&outcome, "flows", "completion_ms");
        let ends = starts.iter().zip(&took).map(|(start, ms)| start + ms / 1e3);
        let last = ends.fold(0.0, f64::max);
        assert!((last - spans[0]).abs() < 1e-9, "{last} {spans:?}");
        assert_eq!(measure(&outcome, "flows", "complete"), [1.0; 3]);
    }
}

#[test]
fn tables_over_time_end_with_the_run() {
    let record = r#"
[record]
sample_interval = "2ms"
series = { interval = "2ms" }
interfaces = "2ms""#;
    let endless = r#"kind = "bulk"
pairs = { kind = "to-first" }
duration = "20ms""#;
    let asked = r#"kind = "request-response"
pairs = { kind = "to-first" }
request = "200B"
response = "20kB"
duration = "20ms""#;
    for workload in [endless, asked] {
        let text = star(3, &format!("{workload}{record}"));
        let model = simulated(&text, &["network.clock_ppm=50"]);
        for outside in [[true, true, true], [true, true, false]] {
            let outcome = run(&text, &["network.clock_ppm=50"], |host| outside[host]);
            let outcome = outcome.expect("it runs");
            for (table, column) in [
                ("network", "time_ms"),
                ("interfaces", "time_s"),
                ("queue_samples", "time_s"),
            ] {
                let [real, modelled] = [&outcome, &model].map(|o| {
                    let mut times = measure(o, table, column);
                    times.dedup();
                    times
                });
                assert_eq!(real, modelled, "{table} {outside:?} {workload}");
            }
            let samples = measure(&outcome, "samples", "time_s");
            let last = samples.into_iter().fold(0.0, f64::max);
            assert!((last - 0.02).abs() < 1e-9, "{last} {outside:?} {workload}");
        }
    }
}

#[test]
fn what_is_left_when_a_run_ends_is_not_complete() {
    let workload = r#"kind = "bulk"
pairs = { kind = "to-first" }
size = "100MB"
duration = "100ms""#;
    let text = star(3, workload);
    for outside in [
        [true; 3],
        [true, true, false],
        [false, true, false],
        [true, false, false],
    ] {
        let outcome = run(&text, &[], |host| outside[host]).expect("it runs");
        let span = value(&outcome, "duration_s_total");
        assert!((0.1..0.1002).contains(&span), "{outside:?}: {span}");
        assert_eq!(measure(&outcome, "flows", "complete"), [0.0; 2]);
        assert_eq!(value(&outcome, "flows_complete"), 0.0);
        let rate = value(&outcome, "goodput_mbps_mean");
        assert!((80.0..95.0).contains(&rate), "{outside:?}: {rate}");
        // Nobody waits for what is in sockets then.
        let end = tailback_units::Duration::from_ms(103);
        assert!(outcome.simulated < end, "{:?}", outcome.simulated);
    }
}

#[test]
fn flows_on_kernels_have_the_columns_of_modelled_ones() {
    let workload = r#"kind = "flows"
load = 0.3
sizes = { kind = "pareto", least = "2kB", most = "200kB", shape = 1.2 }
duration = "50ms"
priority = [0, 3]"#;
    let text = star(3, workload);
    let overrides = ["network.clock_ppm=50"];
    let model = simulated(&text, &overrides);
    let outcome = run(&text, &overrides, |_| true).expect("it runs");
    for same in ["flow", "received_bytes", "priority", "start_s", "complete"] {
        let both = [&outcome, &model].map(|outcome| measure(outcome, "flows", same));
        assert_eq!(both[0], both[1], "{same}");
    }
    // Both from the time that a flow is asked for: the handshake is in it.
    for (name, share) in [("completion_ms", 0.05), ("slowdown", 0.05)] {
        let sums = [&outcome, &model].map(|o| measure(o, "flows", name).iter().sum::<f64>());
        assert!(near(sums[0], sums[1], share), "{name}: {sums:?}");
    }
    // A receiver's acknowledgements are no segments of the sender's.
    let sums = [&outcome, &model].map(|o| measure(o, "flows", "segments_sent").iter().sum());
    assert!(near(sums[0], sums[1], 0.02), "{sums:?}");
}

#[test]
fn nobody_asks_when_the_time_of_asking_is_over() {
    let workload = r#"kind = "request-response"
pairs = { kind = "listed", list = [["host0", "host1"], ["host2", "host1"]] }
request = "200B"
response = "20kB"
connections = 4
duration = "20ms""#;
    let text = star(3, workload);
    let overrides = ["network.clock_ppm=50"];
    let model = value(&simulated(&text, &overrides), "requests");
    for kernel in 0..3 {
        let outcome = run(&text, &overrides, |host| host == kernel).expect("it runs");
        let requests = value(&outcome, "requests");
        assert!((requests - model).abs() <= 1.0, "{kernel}: {requests}");
        // The answers are more than the questions.
        let read = sum(&outcome, "flows", "received_bytes");
        assert!(read >= 20e3 * requests, "{kernel}: {read}");
    }
}

#[test]
fn an_answer_that_never_comes_does_not_hold_up_the_end() {
    // Its server reads nothing before there are 4 KiB.
    let workload = r#"kind = "request-response"
pairs = { kind = "listed", list = [["host0", "host1"], ["host2", "host1"]] }
request = "200B"
response = "20kB"
duration = "20ms"
[socket]
SO_RCVLOWAT = "4KiB""#;
    let text = star(3, workload);
    for outside in [[true; 3], [false, true, true], [true, false, true]] {
        let outcome = run(&text, &[], |host| outside[host]).expect("it runs");
        assert_eq!(value(&outcome, "requests"), 0.0, "{outside:?}");
        assert_eq!(
            measure(&outcome, "flows", "received_bytes"),
            [0.0; 2],
            "{outside:?}"
        );
    }
}

#[test]
fn a_run_in_which_no_flow_was_drawn_is_an_empty_one() {
    let workload = r#"kind = "flows"
load = 0.1
sizes = { kind = "data-mining" }
duration = "10us""#;
    let text = star(3, workload);
    let model = simulated(&text, &[]);
    let outcome = run(&text, &[], |_| true).expect("it runs");
    let mixed = run(&text, &[], |host| host == 1).expect("it runs");
    for each in [&model, &outcome, &mixed] {
        assert_eq!(value(each, "flows"), 0.0);
        assert!(measure(each, "flows", "flow").is_empty());
    }
}

#[test]
fn more_flows_than_a_program_may_have_files_open_run() {
    let workload = r#"kind = "bulk"
pairs = { kind = "listed", list = [["host1", "host0"]] }
connections = 1200
size = "1kB"
duration = "3s""#;
    let text = star(2, workload);
    let outcome = run(&text, &["kernel.memory=512MiB"], |_| true).expect("it runs");
    assert_eq!(value(&outcome, "flows_complete"), 1200.0);
}

#[test]
fn who_is_connecting_when_its_time_is_over_has_not_failed() {
    // Nobody gets through, and the time is no whole number of milliseconds.
    let workload = r#"kind = "bulk"
pairs = { kind = "listed", list = [["host1", "host0"]] }
duration = "3500us""#;
    let text = star(2, workload);
    let lost = ["network.link.loss=1.0"];
    for outcome in [
        simulated(&text, &lost),
        run(&text, &lost, |_| true).expect("it runs"),
    ] {
        assert_eq!(measure(&outcome, "flows", "received_bytes"), [0.0]);
        assert_eq!(measure(&outcome, "flows", "complete"), [0.0]);
    }
}

#[test]
fn a_sender_of_datagrams_waits_for_its_link_as_a_kernel_does() {
    for datagram in ["1470B", "100B"] {
        let workload = format!(
            r#"kind = "udp"
pairs = {{ kind = "listed", list = [["host1", "host0"]] }}
rate = "200Mbit"
duration = "100ms"
datagram = "{datagram}"
socket_buffer = "1MB""#
        );
        let text = star(2, &workload);
        let model = simulated(&text, &[]);
        let outcome = run(&text, &[], |_| true).expect("it runs");
        for (name, share) in [("datagrams_sent", 0.01), ("delay_us_median", 0.05)] {
            let both = [&outcome, &model].map(|each| value(each, name));
            assert!(near(both[0], both[1], share), "{datagram} {name}: {both:?}");
        }
        // A guest may be off before its last has left.
        for each in [&outcome, &model] {
            assert!(value(each, "datagrams_lost") <= 1.0, "{datagram}");
        }
    }
}

#[test]
fn a_kernel_that_reads_knows_what_modelled_servers_sent_again() {
    let text = r#"
name = "again"
host = "uml-virtio"
stack = "linux-7.2"
[network]
topology = "explicit"
host = [{ name = "client" }, { name = "server" }]
[[network.link]]
ends = ["server", "client"]
rate = "100Mbit"
delay = "500us"
mtu = "1500B"
impairment = { script = [{ direction = "forward", frames = [10], action = "drop" }] }
[workload]
kind = "incast"
servers = 1
size = "100kB"
iterations = 2
"#;
    for outside in [[true, false], [false, true], [true; 2], [false; 2]] {
        let outcome = match outside {
            [false, false] => simulated(text, &[]),
            _ => run(text, &[], |host| outside[host]).expect("it runs"),
        };
        let again = measure(&outcome, "transactions", "retransmissions");
        assert_eq!(again, [1.0, 0.0], "{outside:?}");
        assert_eq!(value(&outcome, "retransmissions_mean"), 0.5);
        assert_eq!(measure(&outcome, "flows", "retransmissions"), [1.0]);
        assert_eq!(measure(&outcome, "flows", "received_bytes"), [200e3]);
    }
}

#[test]
fn a_guest_that_fails_is_named_while_others_wait_for_it() {
    let workload = r#"kind = "bulk"
pairs = { kind = "to-first" }
duration = "100ms""#;
    let text = star(2, workload);
    for (setting, kernels) in [
        ("kernel.sysctl.net.ipv4.tcp_foo=1", [true; 2]),
        (
            "kernel.tc=[\"qdisc add dev eth0 root nonsense\"]",
            [true; 2],
        ),
        ("kernel.sysctl.net.ipv4.tcp_foo=1", [true, false]),
    ] {
        let failed = run(&text, &[setting], |host| kernels[host]).expect_err("it fails");
        let said = failed.to_string();
        let named = said.contains("the guest of host host0 failed");
        assert!(named && !said.contains("stalled"), "{kernels:?}: {said}");
    }
}

#[test]
fn pings_of_kernels_last_until_they_are_answered() {
    let workload = r#"kind = "ping"
pairs = { kind = "listed", list = [["host0", "host1"]] }
interval = "10ms"
count = 10
[[background_flows]]
pairs = { kind = "listed", list = [["host2", "host3"]] }"#;
    let text = star(4, workload);
    for outside in [
        [true; 4],
        [true, true, false, false],
        [false, false, true, true],
    ] {
        let outcome = run(&text, &[], |host| outside[host]).expect("it runs");
        let span = value(&outcome, "duration_s_total");
        assert!((0.092..0.0925).contains(&span), "{outside:?}: {span}");
        let took = measure(&outcome, "transactions", "completion_ms");
        assert!((took[0] - 1e3 * span).abs() < 1e-9, "{outside:?}: {took:?}");
        // An agent knows beforehand when the last answer has been waited for.
        assert_eq!(measure(&outcome, "background_flows", "end_s"), [1.1]);
    }
}

#[test]
fn an_exchange_whose_ends_never_meet_is_over_in_time() {
    let text = r#"
name = "never"
host = "uml-virtio"
stack = "linux-7.2"
[network]
topology = "explicit"
host = [{ name = "client" }, { name = "server" }]
[[network.link]]
ends = ["client", "server"]
rate = "100Mbit"
delay = "500us"
mtu = "1500B"
loss = 1.0
[workload]
kind = "exchange"
duration = "500ms"
[[workload.action]]
end = "client"
does = "write"
size = "30kB"
"#;
    let model = simulated(text, &[]);
    let outcome = run(text, &[], |_| true).expect("it runs");
    for name in ["duration_s_total", "data_bytes_total"] {
        assert_eq!(value(&outcome, name), value(&model, name), "{name}");
    }
    let end = tailback_units::Duration::from_ms(510);
    assert!(outcome.simulated < end, "{:?}", outcome.simulated);
}

#[test]
fn requests_that_do_not_wait_for_answers_are_the_same_of_kernels() {
    let workload = |how: &str| {
        format!(
            r#"kind = "request-response"
pairs = {{ kind = "listed", list = [["host0", "host1"], ["host2", "host1"]] }}
request = "200B"
response = "20kB"
connections = 2
omit = "10ms"
duration = "30ms"
congestion = ["reno", "cubic"]
priority = [0, 3]
{how}"#
        )
    };
    for how in [
        "every = \"1ms\"",
        "every = \"1ms\"\ngaps = \"exponential\"",
        "outstanding = 3\nthink = \"1ms\"",
        "think = \"1ms\"",
    ] {
        let text = star(3, &workload(how));
        let model = simulated(&text, &[]);
        let due = how.starts_with("every");
        for outside in [[true; 3], [true, false, true], [false, true, false]] {
            let outcome = run(&text, &[], |host| outside[host]).expect("it runs");
            if due {
                // Connections are up some microseconds later: one at an end of the time may not be due in it.
                let asked = [&outcome, &model].map(|o| value(o, "requests_due"));
                assert!(
                    (asked[0] - asked[1]).abs() <= 1.0,
                    "{asked:?} {how} {outside:?}"
                );
            }
            for (name, share) in [("requests", 0.04), ("latency_us_mean", 0.15)] {
                let [kernels, models] = [&outcome, &model].map(|o| value(o, name));
                assert!(
                    near(kernels, models, share),
                    "{name}: {kernels} {models} {how} {outside:?}"
                );
            }
            let bytes = sum(&outcome, "flows", "received_bytes");
            // Of those that were answered first some bytes had come before.
            let least = 20e3 * (value(&outcome, "requests") - 12.0);
            assert!(bytes >= least, "{bytes} {least} {how} {outside:?}");
        }
    }
}
