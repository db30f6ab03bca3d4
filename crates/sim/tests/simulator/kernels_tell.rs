//! What kernels tell stands in the tables as what models do.

use crate::support::{measure, names, run, simulated, sum};

/// Two hosts and a link; `workload` is set.
const LINK: &str = r#"
name = "told"
host = "uml-virtio"
stack = "linux-7.2"
[network]
topology = "explicit"
[[network.host]]
name = "a"
[[network.host]]
name = "b"
[[network.link]]
ends = ["a", "b"]
rate = "100Mbit"
delay = "1ms"
mtu = "1500B"
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["a", "b"]] }
duration = "20ms"
"#;

const OUTSIDE: [[bool; 2]; 4] = [[false; 2], [true; 2], [true, false], [false, true]];

#[test]
fn both_ends_of_an_exchange_have_read() {
    let exchange = r#"workload={ kind = "exchange", duration = "100ms", action = [
        { end = "client", at = "10ms", does = "write", size = "200kB" },
        { end = "server", at = "20ms", does = "write", size = "30kB" } ] }"#
        .replace('\n', " ");
    for outside in OUTSIDE {
        let outcome = run(LINK, &[&exchange], |host| outside[host]).expect("it runs");
        let read = measure(&outcome, "summary", "data_bytes_total");
        assert_eq!(read, [230_000.0], "{outside:?}");
    }
}

#[test]
fn what_the_network_doubles_is_read_twice() {
    let udp = r#"workload={ kind = "udp", pairs = { kind = "listed", list = [["a", "b"]] }, rate = "10Mbit", duration = "100ms", socket_buffer = "256KiB" }"#;
    let doubled = r#"network.link.0.impairment={ script = [{ direction = "forward", frames = [10, 20, 30], action = "duplicate" }] }"#;
    for outside in OUTSIDE {
        let outcome = run(LINK, &[udp, doubled], |host| outside[host]).expect("it runs");
        let count = |name| measure(&outcome, "summary", name)[0];
        assert_eq!(count("datagrams_sent"), 86.0, "{outside:?}");
        assert_eq!(count("datagrams_received"), 89.0, "{outside:?}");
        assert_eq!(count("datagrams_reordered"), 3.0, "{outside:?}");
        assert_eq!(count("datagrams_lost"), 0.0, "{outside:?}");
    }
}

#[test]
fn a_sender_has_the_control_that_its_socket_or_its_kernel_says() {
    let control = |set: &[&str], kernels: bool| {
        let outcome = run(LINK, set, |_| kernels).expect("it runs");
        names(&outcome, "flows", "sender_congestion_control").to_vec()
    };
    let socket = r#"socket={ TCP_CONGESTION = "reno" }"#;
    let sysctl = r#"kernel={ sysctl = { "net.ipv4.tcp_congestion_control" = "vegas" } }"#;
    for kernels in [false, true] {
        assert_eq!(control(&[], kernels), ["cubic"]);
        assert_eq!(control(&[socket, sysctl], kernels), ["reno"]);
    }
    assert_eq!(control(&[sysctl], true), ["vegas"]);
}

#[test]
fn a_program_on_a_modelled_host_is_refused() {
    let programs = r#"workload={ kind = "command", command = [{ host = "a", run = "echo hi" }, { host = "b", run = "false" }] }"#;
    let refused = run(LINK, &[programs], |host| host == 0).expect_err("b is modelled");
    assert!(
        refused
            .to_string()
            .contains("to run on b, which is modelled")
    );
}

#[test]
fn a_ping_that_is_on_its_way_is_not_lost() {
    let iperf3 = r#"workload={ kind = "iperf3", senders = 1, measured = "all", duration = "300ms", lead = "0s", ping_interval = "20ms" }"#;
    let far = r#"network.link.0.delay="15ms""#;
    for outside in [[false; 2], [true; 2]] {
        let outcome = run(LINK, &[iperf3, far], |host| outside[host]).expect("it runs");
        assert!(
            measure(&outcome, "summary", "pings")[0] >= 15.0,
            "{outside:?}"
        );
        assert_eq!(sum(&outcome, "summary", "pings_lost"), 0.0, "{outside:?}");
        assert!(
            measure(&outcome, "summary", "ping_ms_mean")[0] >= 30.0,
            "{outside:?}"
        );
    }
    let lossy = "network.link.0.loss=0.3";
    let outcome = simulated(LINK, &[iperf3, far, lossy]);
    assert!(sum(&outcome, "summary", "pings_lost") > 0.0);
    let none = iperf3.replace("20ms", "0s");
    let outcome = simulated(LINK, &[&none]);
    assert!(measure(&outcome, "summary", "ping_ms_mean")[0].is_nan());
    assert!(measure(&outcome, "summary", "ping_ms_max")[0].is_nan());
}

/// Flent's busiest test, in a network whose switches send what is marked CS5 and EF first.
const RRUL: &str = r#"
name = "rrul"
host = "uml-virtio"
stack = "linux-7.2"
[network]
topology = "dumbbell"
pairs = 1
link = { rate = "100Mbit", delay = "1us", mtu = "1500B" }
trunk = [{ rate = "10Mbit", delay = "10ms", mtu = "1500B" }]
[network.switch]
preset = "plain-queued"
buffer = { scheduler = { strict = 2, priomap = [1, 1, 1, 1, 1, 0, 0, 0] } }
[workload]
kind = "flent"
test = "rrul"
length = "1s"
delay = "100ms"
step_size = "50ms"
"#;

#[test]
fn flents_tests_are_told_as_those_of_models() {
    let told = [false, true].map(|kernels| {
        let outcome = run(RRUL, &[], |_| kernels).expect("it runs");
        let each = |table: &str, name: &str| measure(&outcome, table, name).to_vec();
        // Load is from 100 ms on; what is under way as it ends comes a while later.
        let rows = || each("intervals", "time_s").into_iter();
        let within = |from: f64, until: f64| -> f64 {
            let rows = rows().zip(each("intervals", "bandwidth_gbps"));
            let rows = rows.filter(|(at, _)| *at > from && *at < until);
            rows.map(|(_, gbps)| gbps).sum()
        };
        assert_eq!(within(0.0, 0.11), 0.0, "{kernels}");
        assert!(within(0.11, 1.11) > 0.1, "{kernels}");
        assert!(within(1.11, 1.16) > 0.0, "{kernels}");
        assert_eq!(rows().count(), 8 * 23, "{kernels}");
        // First what is marked so, pings too.
        let by_mark = |mark: &str| -> f64 {
            let series = names(&outcome, "flows", "series");
            let flows = series.iter().zip(each("flows", "bandwidth_gbps"));
            let marked = flows.filter(|(series, _)| series.ends_with(mark));
            marked.map(|(_, gbps)| gbps).sum()
        };
        let first = by_mark("EF") + by_mark("CS5");
        let rest = by_mark("BE") + by_mark("BK");
        assert!(first > 4.0 * rest, "{kernels}: {first} {rest}");
        let answered = |wanted: &str| {
            let series = names(&outcome, "pings", "series");
            series.iter().filter(|one| *one == wanted).count()
        };
        assert_eq!(answered("Ping (ms) UDP EF"), 24, "{kernels}");
        assert!(answered("Ping (ms) ICMP") < 24, "{kernels}");
        assert_eq!(sum(&outcome, "summary", "pings"), 4.0 * 24.0, "{kernels}");
        ["upload_gbps", "download_gbps"].map(|way| each("summary", way)[0])
    });
    let [models, kernels] = told;
    for (model, kernel) in models.into_iter().zip(kernels) {
        assert!((kernel / model - 1.0).abs() < 0.1, "{told:?}");
    }
}

#[test]
fn pings_between_a_kernel_and_a_model_are_refused() {
    let refused = run(RRUL, &[], |host| host == 0).expect_err("one is modelled");
    let wanted = "of which one is a kernel and one is modelled: make both alike";
    assert!(refused.to_string().ends_with(wanted), "{refused}");
}
