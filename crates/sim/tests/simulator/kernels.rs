//! Kernels and modelled hosts in one network.

use tailback_sim::{ColumnData, RunOutcome};

use crate::support::{counter, counters, measure, run};

fn incast() -> String {
    tailback_scenario::BUILT_IN
        .iter()
        .find(|(name, _, _)| *name == "incast-8mb")
        .map(|(_, _, text)| (*text).to_owned())
        .expect("the scenario is built in")
}

const SMALL: [&str; 3] = [
    "sweep.servers=[3]",
    "workload.size=\"1MB\"",
    "workload.iterations=4",
];

fn small(more: &[&str], outside: impl Fn(usize) -> bool) -> RunOutcome {
    let overrides: Vec<&str> = SMALL.iter().chain(more).copied().collect();
    let outcome = run(&incast(), &overrides, outside).expect("it runs");
    let completions = measure(&outcome, "transactions", "completion_ms");
    assert_eq!(completions.len(), 4);
    // 3 MB at 10 Gbit/s take 2.4 ms; a timeout of 200 ms may come to it, or two.
    let range = 2.4..700.0;
    assert!(
        completions.iter().all(|c| range.contains(c)),
        "{completions:?}"
    );
    assert_eq!(measure(&outcome, "summary", "data_bytes_total"), [12e6]);
    outcome
}

#[test]
fn an_incast_among_kernels_gives_the_tables_of_any_run() {
    let outcome = small(&[], |_| true);
    let received = measure(&outcome, "flows", "received_bytes");
    assert_eq!(received, [4e6; 3]);
    let again = small(&[], |_| true);
    assert_eq!(again.trajectory, outcome.trajectory);
    assert_eq!(again.tables, outcome.tables);
    let other = small(&["run.seed=99"], |_| true);
    assert_ne!(other.trajectory, outcome.trajectory);
}

#[test]
fn a_kernel_reads_from_modelled_servers() {
    small(&[], |host| host == 0);
    let lossy = small(&["network.link.loss=0.002"], |host| host == 0);
    assert!(measure(&lossy, "summary", "link_losses_mean")[0] > 0.0);
}

#[test]
fn a_modelled_client_reads_from_kernels() {
    small(&[], |host| host != 0);
    let lossy = small(&["network.link.loss=0.002"], |host| host != 0);
    assert!(measure(&lossy, "summary", "link_losses_mean")[0] > 0.0);
}

#[test]
fn a_mix_of_servers_is_served_alike() {
    let outcome = small(&[], |host| host == 1);
    let again = small(&[], |host| host == 1);
    assert_eq!(again.trajectory, outcome.trajectory);
}

/// Two pairs over one switch, one flow each for 20 ms.
const BULK: &str = r#"
name = "bulk"
[network]
topology = "star"
switch = "arista-7124s"
hosts = 4
link = { rate = "10Gbit", delay = "1us", mtu = "9000B" }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-2.6.18"
[workload]
kind = "bulk"
pairs = { kind = "permutation" }
duration = "20ms"
"#;

#[test]
fn bulk_flows_run_between_kernels_and_the_model() {
    for outside in [
        [true; 4],
        [true, false, true, false],
        [false, true, false, true],
    ] {
        let outcome = run(BULK, &[], |host| outside[host]).expect("it runs");
        let bytes = measure(&outcome, "summary", "data_bytes_total")[0];
        let by_flow = measure(&outcome, "flows", "received_bytes");
        assert_eq!(by_flow.iter().sum::<f64>(), bytes);
        // A link carries 25 MB in that time at the most, and nobody waits for what is in the buffers then.
        let range = 5e6..25e6;
        assert!(
            by_flow.iter().all(|b| range.contains(b)),
            "{outside:?}: {by_flow:?}"
        );
        let end = tailback_units::Duration::from_ms(21);
        assert!(outcome.simulated < end, "{:?}", outcome.simulated);
    }
}

#[test]
fn connections_between_kernels_and_the_model_close_cleanly() {
    let overrides = ["workload.size=\"3MB\"", "workload.duration=\"5s\""];
    for loss in ["0", "0.001"] {
        let loss = format!("network.link.loss={loss}");
        let overrides = [overrides[0], overrides[1], &loss];
        // Every host sends and receives once: half of the flows go each way between the kinds.
        let outcome = run(BULK, &overrides, |host| host < 2).expect("it runs");
        assert_eq!(measure(&outcome, "flows", "received_bytes"), [3e6; 4]);
        let Some(ColumnData::Bool(complete)) = outcome.tables[2].column("complete") else {
            panic!("flows are complete or not");
        };
        assert_eq!(complete, &[true; 4]);
    }
}

const EXCHANGE: &str = r#"
name = "exchange"
[network]
topology = "star"
switch = "arista-7124s"
hosts = 2
link = { rate = "1Gbit", delay = "1ms", mtu = "1500B" }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-7.2"
[workload]
kind = "exchange"
duration = "2s"
action = [
  { end = "client", does = "write", size = "300kB" },
  { end = "server", does = "hold" },
  { at = "1s", end = "server", does = "read" },
  { at = "1.2s", end = "client", does = "shutdown" },
  { at = "1.3s", end = "server", does = "write", size = "20kB" },
  { at = "1.3s", end = "server", does = "close" },
]
"#;

#[test]
fn an_exchange_does_what_its_list_says_whatever_its_ends_are() {
    for outside in [[true, true], [true, false], [false, true]] {
        let outcome = run(EXCHANGE, &[], |host| outside[host]).expect("it runs");
        let received = measure(&outcome, "flows", "received_bytes");
        assert_eq!(received, [300e3], "{outside:?}");
        let again = run(EXCHANGE, &[], |host| outside[host]).expect("it runs");
        assert_eq!(again.trajectory, outcome.trajectory);
    }
}

/// Both ends write; frames of both directions are lost, late, doubled and marked.
const HOSTILE: &str = r#"
name = "hostile"
[network]
topology = "explicit"
host = [{ name = "client" }, { name = "server" }]
[[network.link]]
ends = ["client", "server"]
rate = "1Gbit"
delay = "1ms"
mtu = "1500B"
impairment = { script = [
  { direction = "forward", frames = [40, 41, 90, 200], action = "drop" },
  { direction = "forward", frames = [60, 120, 160], action = "delay", by = "4ms" },
  { direction = "forward", frames = [70, 170], action = "duplicate" },
  { direction = "forward", of = "acks", frames = [30], action = "drop" },
  { direction = "backward", frames = [50, 51, 110], action = "drop" },
  { direction = "backward", frames = [75, 130], action = "delay", by = "4ms" },
  { direction = "backward", frames = [80], action = "duplicate" },
] }
[host]
preset = "rhel-5.4-x5540-ne020"
[stack]
preset = "linux-7.2"
tcp_ecn = 1
[kernel]
sample_interval = "10ms"
[workload]
kind = "exchange"
duration = "4s"
action = [
  { end = "client", does = "write", size = "500kB" },
  { end = "server", does = "write", size = "400kB" },
  { at = "2s", end = "client", does = "shutdown" },
  { at = "2.2s", end = "server", does = "close" },
]
"#;

fn last(outcome: &RunOutcome, field: &str) -> u64 {
    let values = measure(outcome, "samples", field);
    *values.last().expect("there are samples") as u64
}

// include/uapi/linux/tcp.h, TCPI_OPT_*
const TIMESTAMPS: u64 = 1;
const SACK: u64 = 2;
const WINDOW_SCALE: u64 = 4;
const ECN: u64 = 8;

#[test]
fn model_and_kernel_understand_one_another_under_loss_and_reordering() {
    for kernel_is_client in [true, false] {
        let outside = |host| (host == 0) == kernel_is_client;
        let outcome = run(HOSTILE, &[], outside).expect("it runs");
        let options = last(&outcome, "options");
        assert_eq!(
            options & (TIMESTAMPS | SACK | WINDOW_SCALE | ECN),
            TIMESTAMPS | SACK | WINDOW_SCALE | ECN,
            "{options:#x}"
        );
        let (sent, got) = match kernel_is_client {
            true => (500_000, 400_000),
            false => (400_000, 500_000),
        };
        // Its bytes are all acknowledged, and the model's have all come: once, in order.
        let acked = last(&outcome, "bytes_acked");
        assert!((sent..=sent + 2).contains(&acked), "{acked}");
        let came = last(&outcome, "bytes_received");
        assert!((got..=got + 1).contains(&came), "{came}");
        // What was late or lost on the way to the kernel.
        assert!(last(&outcome, "rcv_ooopack") > 3);
        assert!(last(&outcome, "total_retrans") > 0);
        assert!(counter(&outcome, "TcpExt.TCPSackRecovery") > 0);
        assert!(
            counter(&outcome, "TcpExt.TCPDSACKOldSent") > 0,
            "a doubled frame"
        );
        // Both directions end with FIN, none with RST, and nobody times out.
        for reset in ["Tcp.OutRsts", "Tcp.EstabResets", "TcpExt.TCPAbortOnTimeout"] {
            assert_eq!(counter(&outcome, reset), 0, "{reset}");
        }
        assert_eq!(counter(&outcome, "Tcp.CurrEstab"), 0, "it is closed");
        assert_eq!(measure(&outcome, "flows", "received_bytes"), [500e3]);
        let again = run(HOSTILE, &[], outside).expect("it runs");
        assert_eq!(again.trajectory, outcome.trajectory);
    }
}

#[test]
fn marks_are_echoed_between_model_and_kernel() {
    let mut text = HOSTILE.to_owned();
    let from = text.find("impairment").expect("it has one");
    let to = text.find("[host]").expect("it has one");
    text.replace_range(
        from..to,
        "impairment = { script = [\n\
           { direction = \"forward\", frames = [40, 140], action = \"mark\" },\n\
           { direction = \"backward\", frames = [45, 145], action = \"mark\" },\n\
         ] }\n",
    );
    for kernel_is_client in [true, false] {
        let outside = |host| (host == 0) == kernel_is_client;
        let outcome = run(&text, &[], outside).expect("it runs");
        // Marks that the kernel saw, and those of its own that the model told it of (RFC 3168: it
        // reduces once a round trip).
        assert_eq!(counter(&outcome, "IpExt.InCEPkts"), 2);
        assert!(last(&outcome, "delivered_ce") > 0);
        assert_eq!(last(&outcome, "total_retrans"), 0, "nothing was lost");
    }
    // SCE: what is marked CE comes to TCP as ECT(1).
    let text = text.replace("[host]\n", "[host]\nce_to_ect1 = true\n");
    let outcome = run(&text, &[], |_| true).expect("it runs");
    let all = |name: &str| {
        let counts = counters(&outcome, name);
        counts.iter().sum::<u64>()
    };
    assert_eq!(all("IpExt.InCEPkts"), 0);
    assert_eq!(all("IpExt.InECT1Pkts"), 4);
}

#[test]
fn iterations_of_kernels_tell_their_retransmissions() {
    let outcome = small(&["network.link.loss=0.002"], |_| true);
    let rows = measure(&outcome, "transactions", "retransmissions");
    assert_eq!(rows.len(), 4);
    let mean = measure(&outcome, "summary", "retransmissions_mean")[0];
    assert!(mean > 0.0);
    assert_eq!(rows.iter().sum::<f64>() / 4.0, mean);
}

#[test]
fn the_card_offers_what_the_scenario_says() {
    // Packets that the driver gave to the card: with segmentation by card or kernel's last step a
    // packet is many frames, without it is one.
    let packets = |settings: &[&str]| {
        let outcome = small(settings, |_| true);
        let table = outcome.tables.iter().find(|t| t.name == "counters");
        let columns = table.and_then(|t| Some((t.column("counter")?, t.column("value")?)));
        let Some((ColumnData::Str(names), ColumnData::U64(values))) = columns else {
            panic!("kernels tell their counters")
        };
        let mut rows = names.iter().zip(values);
        // The hosts' rows are in order: after the client comes the first server.
        let of_the_server = rows
            .by_ref()
            .filter(|(n, _)| *n == "eth0.tx_packets")
            .nth(1);
        *of_the_server.expect("it has sent").1
    };
    // 4 MB in frames of 9000 bytes.
    let frames = 4_000_000 / 8948;
    let segmented = packets(&["kernel.offloads.tso=true"]);
    assert!(segmented < frames / 2, "{segmented}");
    assert!(packets(&["kernel.offloads.tso=false"]) >= frames);
    assert!(packets(&["kernel.offloads.tx_checksum=false"]) >= frames);
}

#[test]
fn both_ends_go_through_the_states_of_a_clean_close() {
    // Linux include/net/tcp_states.h.
    const ESTABLISHED: f64 = 1.0;
    const FIN_WAIT1: f64 = 4.0;
    const FIN_WAIT2: f64 = 5.0;
    const TIME_WAIT: f64 = 6.0;
    const CLOSE: f64 = 7.0;
    const CLOSE_WAIT: f64 = 8.0;
    let sampled = ["record.sample_interval=\"10ms\""];
    for kernel_is_client in [true, false] {
        let outside = |host| (host == 0) == kernel_is_client;
        let outcome = run(HOSTILE, &sampled, outside).expect("it runs");
        let table = outcome.tables.iter().find(|t| t.name == "samples");
        let Some(ColumnData::Str(hosts)) = table.and_then(|t| t.column("host")) else {
            panic!("both ends are sampled")
        };
        let states = measure(&outcome, "samples", "state");
        let course = |host: &str| {
            let of_host = hosts.iter().zip(&states).filter(|(h, _)| *h == host);
            let mut course: Vec<f64> = of_host.map(|(_, state)| *state).collect();
            course.dedup();
            course.retain(|state| *state >= ESTABLISHED && *state != 2.0);
            course
        };
        // The client closes first. A kernel's socket is closed while what is left of it waits, and is
        // gone from sight once its program has closed it.
        let (client, server) = match kernel_is_client {
            true => (CLOSE, vec![ESTABLISHED, CLOSE_WAIT, CLOSE]),
            false => (TIME_WAIT, vec![ESTABLISHED, CLOSE_WAIT]),
        };
        assert_eq!(
            course("client"),
            [ESTABLISHED, FIN_WAIT1, FIN_WAIT2, client]
        );
        assert_eq!(course("server"), server);
    }
}

#[test]
fn kernel_servers_of_a_modelled_client_tell_their_retransmissions() {
    let outcome = small(&["network.link.loss=0.002"], |host| host != 0);
    let rows = measure(&outcome, "transactions", "retransmissions");
    let mean = measure(&outcome, "summary", "retransmissions_mean")[0];
    assert!(mean > 0.0);
    assert_eq!(rows.iter().sum::<f64>() / 4.0, mean);
    let by_flow: f64 = measure(&outcome, "flows", "retransmissions").iter().sum();
    assert_eq!(by_flow, 4.0 * mean);
    assert!(
        measure(&outcome, "flows", "cwnd_segments")
            .iter()
            .all(|cwnd| *cwnd > 0.0)
    );
}
