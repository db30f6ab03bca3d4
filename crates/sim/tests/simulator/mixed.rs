//! Models as they come together by chance: every run keeps its books (conservation is an error of the run),
//! comes to an end and repeats exactly; what is refused is refused with path, reason and remedy.

use proptest::prelude::*;
use proptest::sample::select;
use tailback_scenario::Plan;
use tailback_sim::{Control, SimError, simulate};

const MEMORY: &str =
    r#"segment = "64B", rx_private = "0B", tx_private = "0B", tx_limit = { kind = "none" }"#;

const QUEUES: &[&str] = &[
    r#"kind = "fifo""#,
    r#"kind = "codel", ecn = true"#,
    r#"kind = "fq-codel", target = "100us", interval = "1ms""#,
    r#"kind = "pie", tupdate = "1ms""#,
    r#"kind = "dualpi2""#,
    r#"kind = "cobalt", sce = 64"#,
];

/// Disciplines of the hosts' own interfaces.
const AT_HOSTS: &[&str] = &[
    "",
    "",
    r#", qdisc = { forward = { kind = "fifo" } }"#,
    r#", qdisc = { forward = { kind = "codel", target = "20us", interval = "1ms", ecn = true } }"#,
    r#", qdisc = { forward = { kind = "fq-codel", limit = 20 } }"#,
    r#", qdisc = { forward = { kind = "pie", target = "100us", tupdate = "1ms" } }"#,
    r#", qdisc = { forward = { kind = "dualpi2", target = "100us" } }"#,
    r#", qdisc = { forward = { kind = "cobalt", memlimit = "50KB" } }"#,
    r#", qdisc = { forward = { kind = "cake", bandwidth = "600Mbit", ack_filter = "ack-filter", memlimit = "50KB" } }"#,
];

const MARKING: &[&str] = &[
    r#"kind = "off""#,
    r#"kind = "step", threshold = "20KB""#,
    r#"kind = "red", min = "10KB", max = "50KB", probability = 0.1, avpkt = "1000B", burst = 20, bandwidth = "1Gbit", ecn = true"#,
    r#"kind = "linear", probability_rise = 2.0, mem_start_point = 5.0, mark = "sce""#,
];

const CONTROLS: &[&str] = &[
    "",
    r#"flow_control = { kind = "pause", high_watermark = "30KB", low_watermark = "10KB" }"#,
    r#"flow_control = { kind = "pfc", classes = [{ class = 0, high_watermark = "30KB", low_watermark = "10KB" }] }"#,
    r#"congestion_management = { kind = "qcn", r_min = "2Gbit" }"#,
    r#"congestion_management = { kind = "ecm" }"#,
];

const IMPAIRMENTS: &[&str] = &[
    "",
    ", loss = 0.01",
    r#", impairment = { duplicate = 0.1, jitter = "3us" }"#,
    r#", impairment = { reorder = { probability = 0.05, delay = "30us" }, bit_error_rate = 1e-7 }"#,
    r#", impairment = { gilbert_elliott = { p = 0.01, r = 0.3 }, batch = "50us" }"#,
    r#", impairment = { ecn_field = "not-ect", direction = "forward" }"#,
    r#", impairment = { ecn_field = "ce" }"#,
];

const HOSTS: &[&str] = &[
    "das2-p3-gbe",
    "rhel-5.4-x5540-ne020",
    "server-25g",
    "uml-virtio",
    "xeon-e7330-ixgbe",
];

const RX_QUEUES: &[&str] = &["", ", rx_queues = 3"];

const STACKS: &[&str] = &[
    "linux-2.4-web100",
    "linux-2.6.18",
    "linux-7.2",
    "linux-sce",
    "windows-xp",
];

const CONGESTION: &[&str] = &[
    "reno", "bic", "cubic", "vegas", "nv", "cdg", "dctcp", "prague", "bbr", "bbr3", "compound",
    "illinois",
];

const WORKLOADS: &[&str] = &[
    r#"kind = "incast", servers = 3, size = "60KB", iterations = 2"#,
    r#"kind = "bulk", pairs = { kind = "across", pairs = 2 }, duration = "10ms""#,
    r#"kind = "flows", load = 0.3, sizes = { kind = "fixed", bytes = "20KB" }, duration = "3ms", drain = "20ms""#,
    r#"kind = "request-response", pairs = { kind = "permutation" }, response = "3KB", duration = "10ms""#,
    r#"kind = "request-response", pairs = { kind = "permutation" }, connections = 2, request_sizes = { kind = "pareto", least = "1B", most = "20kB", shape = 0.8 }, response_sizes = { kind = "pareto", least = "1B", most = "90kB", shape = 0.8 }, every = "700us", gaps = "exponential", duration = "10ms""#,
    r#"kind = "flow-list", drain = "20ms", flows = "start_us source destination bytes\n700 0 3 40000\n0 1 2 90000\n0 3 1 1\n900 1 3 30000""#,
    r#"kind = "udp", pairs = { kind = "mesh" }, rate = "300Mbit", duration = "3ms", socket_buffer = "100KB""#,
    r#"kind = "iperf3", senders = 2, measured = "all", duration = "10ms", lead = "2ms", interval = "1ms""#,
    r#"kind = "flent", test = "rrul", clients = 2, length = "10ms", delay = "1ms", step_size = "1ms""#,
    r#"kind = "bernoulli", load = 0.3, duration = "2ms""#,
    r#"kind = "collective", operation = "all-reduce", size = "60KB", iterations = 2, slices = 2, compute_jitter = "100us""#,
    r#"kind = "collective", operation = "all-to-all", size = "60KB", iterations = 2, priority = 1"#,
];

const BESIDE: &[&str] = &[
    "",
    "",
    r#"background_flows = [{ pairs = { kind = "permutation" }, connections = 2, from = "1ms" }]"#,
    r#"background_flows = [{ pairs = { kind = "listed", list = [["left1", "right0"], ["right1", "left0"]] }, until = "4ms", congestion = ["cubic", "vegas"], priority = [0, 3] }]"#,
    r#"background_flows = [{ pairs = { kind = "across", pairs = 2 }, size = "50KB" }]"#,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn models_fit_together(
        seed in 0_u32..1000,
        (buffer, queue) in (0_usize..3, select(QUEUES)),
        (memory_kb, delay_ns) in (20_u32..200, 0_u32..200_000),
        (marking, control) in (select(MARKING), select(CONTROLS)),
        impairment in select(IMPAIRMENTS),
        (host, queues) in (select(HOSTS), select(RX_QUEUES)),
        (stack, congestion) in (select(STACKS), select(CONGESTION)),
        (pacing, ecn) in (select(&["none", "fq"][..]), 0_u8..2),
        (workload, background, beside) in (select(WORKLOADS), any::<bool>(), select(BESIDE)),
        (clock_ppm, at_hosts) in (select(&[0, 100][..]), select(AT_HOSTS)),
    ) {
        let shared = format!(r#"shared = "{memory_kb}KB", {MEMORY}"#);
        let buffer = match buffer {
            0 => format!(r#"kind = "shared", {shared}"#),
            1 => format!(r#"kind = "voq", port_buffer = "{memory_kb}KB", cell = "64B", speedup = 2.0"#),
            _ => format!(r#"kind = "queued", {shared}, queue = {{ {queue} }}"#),
        };
        let background = match background {
            true => r#"background = [{ source = "left0", destination = "right1", rate = "50Mbit", arrivals = "poisson", until = "5ms" }]"#,
            false => "",
        };
        let text = format!(
            r#"
name = "mixed"
host = {{ preset = "{host}"{queues} }}
workload = {{ {workload} }}
{background}
{beside}
[stack]
preset = "{stack}"
tcp_congestion_control = "{congestion}"
tcp_ecn = {ecn}
pacing = "{pacing}"
[network]
topology = "dumbbell"
pairs = 2
clock_ppm = {clock_ppm}
link = {{ rate = "1Gbit", delay = "1us", mtu = "1500B"{at_hosts} }}
trunk = [{{ rate = "1Gbit", delay = "{delay_ns}ns", mtu = "1500B"{impairment} }}]
[network.switch]
ports = 4
forwarding = "cut-through"
latency = "500ns"
buffer = {{ {buffer} }}
marking = {{ {marking} }}
{control}
[record]
sample_interval = "1ms"
series = {{ interval = "1ms" }}
[run]
seed = {seed}
"#
        );
        let plan = match Plan::from_toml(&text, "mixed.toml", &[], None) {
            Ok(plan) => plan,
            Err(problems) => {
                for problem in problems {
                    let told = [&problem.path, &problem.reason, &problem.remedy];
                    prop_assert!(told.iter().all(|part| !part.is_empty()), "{problem:?}");
                }
                return Ok(());
            }
        };
        let run = || simulate(&plan.runs[0], &Control::default());
        let first = run();
        prop_assert_eq!(&first, &run());
        match first {
            Ok(_) | Err(SimError::Deadlock { .. }) => {}
            Err(SimError::Stalled { why, .. }) if !why.contains("defect") => {}
            Err(other) => prop_assert!(false, "{}\n{}", other, text),
        }
    }
}
