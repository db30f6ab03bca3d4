//! Whole runs: figures that arithmetic gives, repeatability, and what every run must keep.

use tailback_scenario::Plan;
use tailback_sim::{Control, RunOutcome, SimError, simulate};

use crate::support::{counts, simulated, table, value};

const STAR: &str = r#"
name = "star"
[network]
topology = "star"
switch = { preset = "arista-7124s" }
hosts = 9
link = { rate = "10Gbit", delay = "25ns", mtu = "9000B" }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-2.6.18"
[workload]
kind = "incast"
servers = 8
size = "2MB"
iterations = 5
"#;

/// Two leaves joined by two spines: four hosts, the client alone on its leaf.
const FABRIC: &str = r#"
name = "fabric"
[network]
topology = "explicit"
[[network.host]]
name = "client"
[[network.host]]
name = "a"
[[network.host]]
name = "b"
[[network.host]]
name = "c"
[[network.switch]]
name = "leaf-1"
model = "arista-7124s"
[[network.switch]]
name = "leaf-2"
model = "cisco-nexus-5010"
[[network.switch]]
name = "spine-1"
model = "arista-7124s"
[[network.switch]]
name = "spine-2"
model = "arista-7124s"
[[network.link]]
ends = ["client", "leaf-1"]
rate = "10Gbit"
delay = "1us"
mtu = "9000B"
[[network.link]]
ends = ["a", "leaf-2"]
rate = "10Gbit"
delay = "1us"
mtu = "9000B"
[[network.link]]
ends = ["b", "leaf-2"]
rate = "10Gbit"
delay = "1us"
mtu = "9000B"
[[network.link]]
ends = ["c", "leaf-2"]
rate = "10Gbit"
delay = "1us"
mtu = "9000B"
[[network.link]]
ends = ["leaf-1", "spine-1"]
rate = "40Gbit"
delay = "1us"
mtu = "9000B"
[[network.link]]
ends = ["leaf-1", "spine-2"]
rate = "40Gbit"
delay = "1us"
mtu = "9000B"
[[network.link]]
ends = ["leaf-2", "spine-1"]
rate = "40Gbit"
delay = "1us"
mtu = "9000B"
[[network.link]]
ends = ["leaf-2", "spine-2"]
rate = "40Gbit"
delay = "1us"
mtu = "9000B"
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-2.6.18"
[workload]
kind = "incast"
servers = 3
size = "1MB"
iterations = 4
"#;

fn run(text: &str, overrides: &[&str]) -> RunOutcome {
    simulated(text, overrides)
}

fn total(outcome: &RunOutcome, table: &str, column: &str) -> u64 {
    counts(outcome, table, column).iter().sum()
}

#[test]
fn one_jumbo_sender_is_bound_by_the_receiver_at_its_published_rate() {
    // 8 MB are 895 segments of 8948 bytes; each takes the client 1.18 us + 0.681 us/kB.
    let outcome = run(
        STAR,
        &[
            "workload.servers=1",
            "workload.size=8MB",
            "workload.iterations=20",
        ],
    );
    let least_ms = 8e6 / 8948.0 * (1.18 + 0.681 * 8.948) * 1e-3;
    let completion_ms = value(&outcome, "completion_ms_mean");
    assert!(
        completion_ms > least_ms,
        "{completion_ms} ms is faster than the receiver, {least_ms}"
    );
    assert!(
        completion_ms < least_ms + 0.6,
        "{completion_ms} ms is too far above {least_ms}"
    );
    assert_eq!(value(&outcome, "switch_drops_mean"), 0.0);
}

#[test]
fn a_congested_star_drops_recovers_and_delivers_everything() {
    let outcome = run(STAR, &[]);
    assert!(value(&outcome, "switch_drops_mean") > 10.0);
    assert!(value(&outcome, "retransmissions_mean") >= value(&outcome, "switch_drops_mean"));
    assert_eq!(
        total(&outcome, "flows", "received_bytes"),
        8 * 2_000_000 * 5
    );
    assert_eq!(table(&outcome, "transactions").rows(), 5);
    let dropped = (value(&outcome, "switch_drops_mean") * 5.0).round() as u64;
    assert!(total(&outcome, "drops", "frames") >= dropped);
}

#[test]
fn the_same_run_takes_the_same_course_and_another_seed_another() {
    let first = run(STAR, &[]);
    assert_eq!(first, run(STAR, &[]));
    assert_ne!(first.trajectory, run(STAR, &["run.seed=2"]).trajectory);
}

#[test]
fn recording_does_not_change_the_course() {
    let plain = run(STAR, &[]);
    let recorded = run(STAR, &["record.anatomy_iteration=3"]);
    assert_eq!(plain.trajectory, recorded.trajectory);
    assert!(table(&recorded, "queues").rows() > 10);
    assert_eq!(
        table(&recorded, "progress").rows() % 8,
        0,
        "as many rows for every flow"
    );
}

#[test]
fn a_larger_memory_drops_less_and_an_endless_one_nothing() {
    let drops = |shared: &str| {
        let shared = format!("network.switch.buffer.shared={shared}");
        value(&run(STAR, &[&shared]), "switch_drops_mean")
    };
    let (small, large, endless) = (drops("300KB"), drops("1200KB"), drops("500MB"));
    assert!(
        small > large,
        "{small} drops with 300 KB, {large} with 1200 KB"
    );
    assert_eq!(endless, 0.0);
}

#[test]
fn a_fabric_with_both_kinds_of_switch_delivers_everything() {
    let outcome = run(FABRIC, &[]);
    assert_eq!(
        total(&outcome, "flows", "received_bytes"),
        3 * 1_000_000 * 4
    );
    // Host, leaf, spine, leaf: four links each way; two frames in three carry data.
    let frames = total(&outcome, "flows", "segments_sent");
    assert!(
        outcome.hops > 4 * frames,
        "{} hops for {frames} data segments",
        outcome.hops
    );
}

#[test]
fn lost_frames_are_counted_and_made_good() {
    let outcome = run(STAR, &["workload.servers=1", "network.link.loss=0.001"]);
    assert!(value(&outcome, "link_losses_mean") > 0.0);
    assert_eq!(total(&outcome, "flows", "received_bytes"), 2_000_000 * 5);
}

#[test]
fn dctcp_behind_step_marking_keeps_the_queue_short_without_drops() {
    let overrides = [
        "workload.servers=4",
        "workload.size=4MB",
        "stack.tcp_congestion_control=dctcp",
        "stack.tcp_ecn=1",
        "network.switch.marking={ kind = \"step\", threshold = \"300KB\" }",
    ];
    let outcome = run(STAR, &overrides);
    assert!(value(&outcome, "marks_mean") > 100.0);
    assert_eq!(value(&outcome, "switch_drops_mean"), 0.0);
    let unmarked = run(STAR, &overrides[..2]);
    assert!(value(&outcome, "queue_bytes_max") < value(&unmarked, "queue_bytes_max"));
}

#[test]
fn a_run_can_be_given_up() {
    let plan = Plan::from_toml(STAR, "test.toml", &[], None).expect("a good scenario");
    let control = Control::default();
    control
        .cancel
        .store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(simulate(&plan.runs[0], &control), Err(SimError::Cancelled));
}

/// One server on an impaired star; 2 MB are 224 segments an iteration, one iteration.
fn impaired(impairment: &str) -> RunOutcome {
    let setting = format!("network.link.impairment={impairment}");
    let one = ["workload.servers=1", "workload.iterations=1"];
    let outcome = run(STAR, &[one[0], one[1], &setting]);
    assert_eq!(total(&outcome, "flows", "received_bytes"), 2_000_000);
    assert_eq!(outcome, run(STAR, &[one[0], one[1], &setting]));
    outcome
}

#[test]
fn a_scripted_loss_costs_its_retransmissions() {
    // Data goes from the server's link forward to the switch, and backward on the client's.
    let lost = r#"{ script = [{ direction = "backward", frames = [50, 120], action = "drop" }] }"#;
    let outcome = impaired(lost);
    assert_eq!(value(&outcome, "link_losses_mean"), 2.0);
    assert_eq!(value(&outcome, "retransmissions_mean"), 2.0);
    assert_eq!(value(&outcome, "timeouts_mean"), 0.0);
}

#[test]
fn a_late_frame_is_overtaken_and_delivered() {
    let plain =
        impaired(r#"{ script = [{ direction = "forward", frames = [1], action = "mark" }] }"#);
    let late = r#"{ script = [{ direction = "backward", frames = [100], action = "delay", by = "90us" }] }"#;
    let outcome = impaired(late);
    assert_eq!(value(&outcome, "link_losses_mean"), 0.0);
    assert_ne!(outcome.trajectory, plain.trajectory);
    assert!(
        value(&outcome, "retransmissions_mean") >= 1.0,
        "more than three overtook it"
    );
}

#[test]
fn a_duplicate_is_counted_and_its_bytes_are_read_once() {
    let twice = r#"{ script = [{ direction = "backward", frames = [60], action = "duplicate" }] }"#;
    let outcome = impaired(twice);
    assert_eq!(value(&outcome, "link_losses_mean"), 0.0);
    assert_eq!(value(&outcome, "retransmissions_mean"), 0.0);
}

#[test]
fn periodic_and_burst_loss_are_made_good() {
    let periodic = impaired("{ periodic_loss_frames = 50 }");
    assert!(value(&periodic, "link_losses_mean") >= 4.0);
    let bursts = impaired("{ gilbert_elliott = { p = 0.01, r = 0.3 } }");
    assert!(value(&bursts, "link_losses_mean") >= 1.0);
}

fn exchange(actions: &str) -> RunOutcome {
    let workload =
        format!(r#"workload={{ kind = "exchange", duration = "3s", action = [{actions}] }}"#);
    let text = &STAR[..STAR.find("[workload]").expect("it has one")];
    run(text, &[&workload])
}

#[test]
fn a_reader_that_holds_closes_the_window_and_opens_it_again() {
    let write = r#"{ end = "server", does = "write", size = "8MB" }"#;
    let hold = r#"{ end = "client", does = "hold" }"#;
    let read = r#"{ at = "2s", end = "client", does = "read" }"#;
    let held = exchange(&format!("{hold}, {write}"));
    assert_eq!(total(&held, "flows", "received_bytes"), 0);
    let resumed = exchange(&format!("{hold}, {write}, {read}"));
    assert_eq!(total(&resumed, "flows", "received_bytes"), 8_000_000);
}

#[test]
fn what_was_written_before_a_close_arrives_and_what_is_reset_does_not() {
    let write = r#"{ end = "server", does = "write", size = "8MB" }"#;
    let close = r#"{ at = "1ms", end = "server", does = "shutdown" }"#;
    let whole = exchange(&format!("{write}, {close}"));
    assert_eq!(total(&whole, "flows", "received_bytes"), 8_000_000);
    // A program resets when its write is done: TCP has all of it then, and the peer not yet.
    let abort = r#"{ at = "1ms", end = "server", does = "abort" }"#;
    let cut = exchange(&format!("{write}, {abort}"));
    let received = total(&cut, "flows", "received_bytes");
    assert!((4_000_000..8_000_000).contains(&received), "{received}");
}

#[test]
fn a_reader_that_reads_so_much_holds_after_it() {
    let write = r#"{ end = "server", does = "write", size = "8MB" }"#;
    let hold = r#"{ end = "client", does = "hold" }"#;
    let part = r#"{ at = "1s", end = "client", does = "read", size = "10kB" }"#;
    let more = r#"{ at = "2s", end = "client", does = "read", size = "1B" }"#;
    let held = exchange(&format!("{hold}, {write}, {part}, {more}"));
    assert_eq!(total(&held, "flows", "received_bytes"), 10_001);
}

#[test]
fn socket_options_are_set_by_their_names_for_all_hosts_or_one() {
    let hops = |socket: &str| {
        let text = STAR.replace("[workload]", &format!("{socket}\n[workload]"));
        run(&text, &["workload.iterations=1"]).hops
    };
    // Eight to nine frames where there was one, either end asking for them.
    assert!(hops("[socket]\nTCP_MAXSEG = \"1000B\"") > 4 * hops(""));
    let text = FABRIC.replace(
        "name = \"client\"\n",
        "name = \"client\"\nsocket = { TCP_MAXSEG = \"1000B\" }\n",
    );
    assert!(run(&text, &[]).hops > 4 * run(FABRIC, &[]).hops);
    let text = STAR.replace("[workload]", "[socket]\nSO_RCVBUF = \"8KB\"\n[workload]");
    let alone = ["workload.iterations=1", "workload.servers=1"];
    let slow = value(&run(&text, &alone), "completion_ms_mean");
    assert!(
        slow > 1.5 * value(&run(STAR, &alone), "completion_ms_mean"),
        "{slow}"
    );
}

#[test]
fn a_host_remembers_its_peers_unless_tcp_no_metrics_save() {
    // Flows that follow one another between two hosts: with a threshold left by those before, slow
    // start ends early, so the course is another.
    let text = r#"
name = "followers"
[network]
topology = "star"
switch = { preset = "arista-7124s" }
hosts = 2
link = { rate = "1Gbit", delay = "5ms", mtu = "1500B", loss = 0.002 }
[host]
preset = "rhel-5.4-x5540-ne020"
[workload]
kind = "flows"
sizes = { kind = "fixed", bytes = "2MB" }
load = 0.05
duration = "3s"
drain = "2s"
"#;
    let course = |overrides: &[&str]| run(text, overrides).trajectory;
    let saves = "stack.tcp_no_ssthresh_metrics_save=false";
    let forgets = "stack.tcp_no_metrics_save=true";
    assert_eq!(course(&[saves, forgets]), course(&[forgets]));
    assert_ne!(course(&[saves]), course(&[saves, forgets]));
}

#[test]
fn where_no_flow_began_there_is_no_time_and_no_goodput() {
    let text = r#"
name = "none"
[network]
topology = "star"
switch = { preset = "arista-7124s" }
hosts = 2
link = { rate = "1Gbit", delay = "5us", mtu = "1500B" }
[host]
preset = "rhel-5.4-x5540-ne020"
[workload]
kind = "flows"
sizes = { kind = "fixed", bytes = "1GB" }
load = 0.001
duration = "1ms"
"#;
    let none = run(text, &[]);
    let some = run(text, &["workload.sizes.bytes=1KB", "workload.load=0.5"]);
    for column in [
        "completion_ms_mean",
        "completion_ms_p99",
        "goodput_mbps_mean",
    ] {
        assert!(value(&none, column).is_nan(), "{column} of nothing");
        assert!(value(&some, column) > 0.0, "{column}");
    }
}

#[test]
fn a_workload_whose_connection_is_gone_says_so() {
    let stalled = |set: &str| {
        let overrides = [
            "workload.servers=1".to_owned(),
            "workload.iterations=1".to_owned(),
            set.to_owned(),
        ];
        let plan = Plan::from_toml(STAR, "test.toml", &overrides, None).expect("a scenario");
        let told = simulate(&plan.runs[0], &Control::default());
        told.expect_err("nothing comes through").to_string()
    };
    let lost = stalled("network.link.loss=1.0");
    assert!(
        lost.contains("host0's end of its connection with host1 got no answer and gave up"),
        "{lost}"
    );
    let unread = stalled("socket.SO_RCVLOWAT=1000B");
    assert!(
        unread.contains("64 bytes from host0 wait at host1"),
        "{unread}"
    );
}

#[test]
fn a_paced_head_may_be_stamped_with_a_time_to_come() {
    // An acknowledgement in disorder finds the head sent again, by its pace a little later than now.
    let text = r#"
name = "paced"
host = "server-25g"
stack = { pacing = "fq" }
[network]
topology = "fat-tree"
k = 4
switch = { ports = 6, forwarding = "store-and-forward", latency = "1us", buffer = { kind = "shared", shared = "8MB", segment = "1B", rx_private = "0B", tx_private = "0B", tx_limit = { kind = "none" } }, marking = { kind = "off" } }
link = { rate = "25Gbit", delay = "1us", mtu = "1500B", impairment = { script = [{ direction = "backward", frames = [40], action = "delay", by = "4530ns" }] } }
[workload]
kind = "iperf3"
senders = 1
measured = "all"
duration = "2ms"
interval = "1ms"
"#;
    let plan = Plan::from_toml(text, "test.toml", &[], None).expect("a scenario");
    simulate(&plan.runs[0], &Control::default()).expect("a good run");
}

/// Four leaves of three hosts at 10 Gb/s, and as many spines as are said.
fn leaf_spine(spines: u32, workload: &str) -> String {
    format!(
        r#"
name = "leaf-spine"
[network]
topology = "leaf-spine"
leaves = 4
spines = {spines}
hosts = 3
switch = {{ preset = "plain", buffer = {{ shared = "4MB" }} }}
link = {{ rate = "10Gbit", delay = "1us", mtu = "9000B" }}
[host]
preset = "ideal"
[stack]
preset = "linux-7.2"
[workload]
{workload}
"#
    )
}

/// Each host of leaves 0 and 1 to one of leaves 2 and 3: all of it crosses the spines.
const ACROSS: &str = r#"
kind = "udp"
pairs = { kind = "across", pairs = 6 }
rate = "9.9Gbit"
datagram = "8972B"
socket_buffer = "1MiB"
duration = "5ms"
"#;

#[test]
fn uplinks_that_are_a_third_of_the_hosts_let_a_third_through() {
    let text = leaf_spine(1, ACROSS);
    let payload = 8972.0 / (8972.0 + 28.0 + 38.0);
    let goodput = |overrides: &[&str]| value(&run(&text, overrides), "goodput_mbps_mean");
    // Two leaves send over one uplink each; what waits at the end is read too, over the time that takes.
    let third = goodput(&[]) / 1e3;
    assert!(
        (third / (2.0 * 10.0 * payload) - 1.0).abs() < 0.01,
        "{third}"
    );
    // Three times as fast a spine: all of it, and not a frame is lost.
    let wide = run(&text, &["network.uplink={ rate = \"30Gbit\" }"]);
    assert_eq!(value(&wide, "datagrams_lost"), 0.0);
    let whole = value(&wide, "goodput_mbps_mean") / 1e3;
    assert!((whole / (6.0 * 9.9) - 1.0).abs() < 0.01, "{whole}");
    assert!(whole > 2.9 * third);
}

#[test]
fn without_oversubscription_a_permutation_fills_the_hosts_links() {
    // One spine with an uplink of all three hosts' rates: no two flows can meet but at their hosts.
    let workload = ACROSS.replace(
        r#"{ kind = "across", pairs = 6 }"#,
        r#"{ kind = "permutation" }"#,
    );
    let gbps = |network: &str| {
        let outcome = run(&leaf_spine(1, &workload), &[network]);
        let lost = value(&outcome, "datagrams_lost");
        (value(&outcome, "goodput_mbps_mean") / 1e3, lost)
    };
    let (all, lost) = gbps(r#"network.uplink.rate="30Gbit""#);
    assert_eq!(lost, 0.0);
    assert!((all / (12.0 * 9.9) - 1.0).abs() < 0.01, "{all} Gb/s");
    // A third less of an uplink is lost where three hosts of a leaf share it.
    let (less, lost) = gbps(r#"network.uplink.rate="20Gbit""#);
    assert!(lost > 0.0);
    assert!(less < all, "{less} Gb/s");
}
