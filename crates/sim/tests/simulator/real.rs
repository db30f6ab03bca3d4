//! Real hosts: what they are told, what they cannot do, and the tables of what they tell.

use std::collections::BTreeMap;

use tailback_scenario::Plan;
use tailback_sim::{ColumnData, Counted, CountedPort, Seen, SimError};
use tailback_sim::{kernels_can, real_hosts, tables_of_real_hosts};

use crate::support::{table, value};

const INCAST: &str = r#"
name = "real"
host = "ideal"
stack = "linux-7.2"
[network]
topology = "star"
hosts = 4
switch = "arista-7124s"
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
[workload]
kind = "incast"
servers = 1
size = "125kB"
iterations = 2
"#;

fn plan(overrides: &[&str]) -> Plan {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    Plan::from_toml(INCAST, "test", &overrides, None).expect("a good scenario")
}

fn refused(overrides: &[&str]) -> String {
    match real_hosts(&plan(overrides).runs[0]) {
        Err(SimError::RealHosts(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_hosts_with_tasks_are_there() {
    let hosts = real_hosts(&plan(&[]).runs[0]).unwrap();
    let names: Vec<&str> = hosts.hosts.iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["host0", "host1"]);
    assert_eq!(hosts.links.len(), 2);
    let ports = hosts.links.iter().map(|link| link.ends[1].port);
    assert_eq!(ports.collect::<Vec<_>>(), [Some(0), Some(1)]);
    // Two answers of a millisecond each, after the start.
    assert!((hosts.least_s - 0.102).abs() < 1e-9, "{}", hosts.least_s);
}

#[test]
fn datagrams_of_agents_have_room_for_their_number() {
    let tiny = [
        "workload={kind=\"udp\",pairs={kind=\"to-first\"},rate=\"1Mbit\",datagram=\"7B\",duration=\"1ms\",\
         socket_buffer=\"64KiB\"}",
    ];
    assert!(refused(&tiny).contains("workload.datagram: the agent's datagrams carry their number"));
    let run = &plan(&tiny).runs[0];
    let on_kernels = kernels_can(run, &[true; 4]).unwrap_err().to_string();
    assert!(
        on_kernels.contains("one of 7B has no room for it: at least 8B"),
        "{on_kernels}"
    );
    kernels_can(run, &[false; 4]).unwrap();
}

#[test]
fn a_link_counts_what_ethernet_takes_on_the_line() {
    let hosts = real_hosts(&plan(&["network.link.framing=vlan"]).runs[0]).unwrap();
    let link = &hosts.links[0];
    // 1500 bytes of IP are 1514 for tc, and 1542 with a tag, FCS, preamble and gap.
    assert_eq!(link.overhead_bytes, 28);
    assert_eq!(link.least_bytes, 88);
    assert_eq!(link.delay_ns, 0, "1 us is nothing beside a wake-up");
    let long = real_hosts(&plan(&["network.link.delay=2ms"]).runs[0]).unwrap();
    assert_eq!(long.links[0].delay_ns, 2_000_000);
}

#[test]
fn a_port_holds_what_one_queue_of_the_memory_can() {
    let overrides = [
        "network.switch.buffer.shared=10kB",
        "network.switch.buffer.tx_private=5kB",
        "network.switch.buffer.tx_limit.kind=none",
    ];
    let hosts = real_hosts(&plan(&overrides).runs[0]).unwrap();
    assert_eq!(hosts.links[0].ends[1].queue_bytes, 15_000);
    assert!(
        hosts
            .not_applied
            .iter()
            .any(|text| text.contains("15000 bytes"))
    );
}

#[test]
fn all_that_cannot_be_done_is_said_at_once() {
    let why = refused(&[
        "kernel.hz=100",
        "record.pcap.hosts=[]",
        "kernel.sysctl.vm.swappiness=1",
        "network.switch.marking={ kind = \"step\", threshold = \"30kB\" }",
        "network.link.impairment={ duplicate = 0.1 }",
    ]);
    for part in [
        "record.pcap",
        "kernel.hz",
        "vm.swappiness",
        "switch switch: marking",
        "link host0 – switch: impairment",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn paths_that_part_are_refused() {
    let why = refused(&[
        "network={ topology = \"fat-tree\", k = 4, switch = \"arista-7124s\", link = { rate = \"1Gbit\", \
         delay = \"1us\", mtu = \"1500B\" } }",
    ]);
    assert!(why.contains("several paths"), "{why}");
    let why = refused(&[
        "network={ topology = \"leaf-spine\", leaves = 2, spines = 2, hosts = 2, switch = \"arista-7124s\", \
         link = { rate = \"1Gbit\", delay = \"1us\", mtu = \"1500B\" } }",
    ]);
    assert!(why.contains("several paths"), "{why}");
}

/// What the two hosts of the incast tell, in which host 1 wrote so many bytes.
fn told(written_bytes: u64) -> BTreeMap<usize, String> {
    let flow = |local: &str, peer: &str, sends: bool, written: u64, read: u64| {
        format!(
            r#"{{"kind":"flow","local":"{local}","peer":"{peer}","sends":{sends},"written_bytes":{written},"read_bytes":{read},"started_ns":100000000,"first_byte_ns":101000000,"last_byte_ns":105000000,"tcp_info":{{"segs_out":180,"total_retrans":3}}}}"#
        )
    };
    let transaction = |iteration: u64, started_ns: u64, ended_ns: u64| {
        format!(
            r#"{{"kind":"transaction","iteration":{iteration},"started_ns":{started_ns},"ended_ns":{ended_ns},"bytes":125000,"retransmissions":0,"timeouts":0}}"#
        )
    };
    let done = r#"{"kind":"done","time_ns":106000000}"#;
    let (client, server) = ("10.0.0.1:40000", "10.0.0.2:1025");
    let first = [
        transaction(0, 101_000_000, 103_000_000),
        transaction(1, 103_000_000, 105_000_000),
        flow(client, server, false, 200, 250_000),
        done.to_owned(),
    ];
    let second = [
        flow(server, client, true, written_bytes, 200),
        done.to_owned(),
    ];
    BTreeMap::from([(0, first.join("\n")), (1, second.join("\n"))])
}

fn counted() -> Counted {
    let drop = |place: &str, cause: &str, frames| CountedPort {
        place: place.to_owned(),
        cause: cause.to_owned(),
        frames,
    };
    Counted {
        frames: 400,
        drops: vec![
            drop("switch:0", "queue-limit", 3),
            drop("host1", "tx-queue-full", 1),
            drop("switch:1", "backlog-full", 4),
            drop("host0", "backlog-full", 2),
        ],
    }
}

#[test]
fn tables_have_what_was_told_and_counted_and_nothing_else() {
    let plan = plan(&[]);
    let outcome =
        tables_of_real_hosts(&plan.runs[0], &told(250_000), &Seen::Network(counted())).unwrap();
    assert_eq!(outcome.hops, 400);
    assert!((value(&outcome, "completion_ms_mean") - 2.0).abs() < 1e-9);
    assert!((value(&outcome, "goodput_mbps_mean") - 500.0).abs() < 1e-6);
    assert_eq!(value(&outcome, "switch_drops_mean"), 3.5);
    assert_eq!(value(&outcome, "host_drops_mean"), 1.5);
    assert!(
        table(&outcome, "summary")
            .column("queue_bytes_max")
            .is_none()
    );
    assert!(
        table(&outcome, "transactions")
            .column("switch_drops")
            .is_none()
    );
    let drops = table(&outcome, "drops");
    assert_eq!(drops.rows(), 4);
    assert!(drops.column("payload_bytes").is_none());
    let flows = table(&outcome, "flows");
    assert_eq!(
        flows.column("received_bytes"),
        Some(&ColumnData::U64(vec![250_000]))
    );
}

#[test]
fn of_a_connection_that_is_gone_what_was_seen_last_counts() {
    let plan = plan(&[
        "workload={ kind = \"iperf3\", senders = 1, measured = \"all\", duration = \"1s\", \
         interval = \"250ms\", ping_interval = \"0s\" }",
    ]);
    let look = |local: &str, peer: &str, ms: u64, bytes: u64| {
        format!(
            r#"{{"kind":"look","local":"{local}","peer":"{peer}","time_ns":{},"read_bytes":{bytes},"tcp_info":{{"total_retrans":{},"data_segs_out":{}}}}}"#,
            (100 + ms) * 1_000_000,
            ms / 50,
            10 * ms + 20,
        )
    };
    let done = r#"{"kind":"done","time_ns":1200000000}"#.to_owned();
    let (sink, source) = ("10.0.0.1:1025", "10.0.0.2:40000");
    let told = |local: &str, peer: &str, last: u64| {
        let looks = [0, 250, 500].into_iter().filter(|ms| *ms <= last);
        let looks = looks.map(|ms| look(local, peer, ms, 40_000 * ms));
        looks.chain([done.clone()]).collect::<Vec<_>>().join("\n")
    };
    let told = BTreeMap::from([(0, told(sink, source, 500)), (1, told(source, sink, 250))]);
    let outcome = tables_of_real_hosts(&plan.runs[0], &told, &Seen::Network(counted())).unwrap();
    let column = |table_name: &str, name: &str| table(&outcome, table_name).column(name).cloned();
    assert_eq!(
        column("flows", "transfer_gbytes"),
        Some(ColumnData::F64(vec![0.02]))
    );
    let counts = |values: &[u64]| Some(ColumnData::U64(values.to_vec()));
    assert_eq!(column("flows", "retransmissions"), counts(&[5]));
    assert_eq!(
        column("intervals", "retransmissions"),
        counts(&[5, 0, 0, 0])
    );
    assert_eq!(
        column("intervals", "bandwidth_gbps"),
        Some(ColumnData::F64(vec![0.32, 0.32, 0.0, 0.0]))
    );
}

#[test]
fn bytes_that_nobody_wrote_are_found() {
    let plan = plan(&[]);
    let outcome = tables_of_real_hosts(&plan.runs[0], &told(249_999), &Seen::Network(counted()));
    let error = outcome.unwrap_err();
    assert!(matches!(&error, SimError::Conservation(why) if why.contains("read 250000 bytes")));
}

#[test]
fn a_host_that_failed_or_died_is_named() {
    let plan = plan(&[]);
    let mut failed = told(250_000);
    failed.insert(
        1,
        r#"{"kind":"error","message":"no such thing"}"#.to_owned(),
    );
    let mut died = told(250_000);
    died.insert(1, r#"{"kind":"ready","time_ns":0}"#.to_owned());
    for (told, why) in [(failed, "no such thing"), (died, "died before")] {
        let error =
            tables_of_real_hosts(&plan.runs[0], &told, &Seen::Network(counted())).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("host host1 failed") && text.contains(why),
            "{text}"
        );
    }
}

#[test]
fn flows_that_the_world_never_saw_are_counted_and_held_against_their_ideal() {
    let plan = plan(&[
        "workload={ kind = \"bulk\", pairs = { kind = \"listed\", list = [[\"host1\", \"host0\"]] }, \
         duration = \"1s\", size = \"125kB\", start_within = \"0s\" }",
    ]);
    let record = |local: &str, peer: &str, sends: bool, written: u64, read: u64| {
        format!(
            r#"{{"kind":"flow","local":"{local}","peer":"{peer}","sends":{sends},"written_bytes":{written},"read_bytes":{read},"started_ns":100000000,"first_byte_ns":101000000,"last_byte_ns":102000000,"tcp_info":{{}}}}"#
        )
    };
    let done = r#"{"kind":"done","time_ns":103000000}"#;
    for (read, complete) in [(125_000, 1), (100_000, 0)] {
        let sink = record("10.0.0.1:1025", "10.0.0.2:40000", false, 0, read);
        let source = record("10.0.0.2:40000", "10.0.0.1:1025", true, 125_000, 0);
        let told = BTreeMap::from([
            (0, format!("{sink}\n{done}")),
            (1, format!("{source}\n{done}")),
        ]);
        let outcome =
            tables_of_real_hosts(&plan.runs[0], &told, &Seen::Network(counted())).unwrap();
        let count = |name: &str| table(&outcome, "summary").column(name).cloned();
        assert_eq!(count("flows"), Some(ColumnData::U64(vec![1])));
        assert_eq!(
            count("flows_complete"),
            Some(ColumnData::U64(vec![complete]))
        );
        // 125 kB take 1.07 ms of a link of 1 Gbit/s with their headers; they took 2 ms. What is not complete has none.
        let slowdown = value(&outcome, "slowdown_mean");
        let known = (1.8..2.0).contains(&slowdown);
        assert!(known || complete == 0 && slowdown.is_nan(), "{slowdown}");
        assert_eq!(known, complete == 1);
    }
}

#[test]
fn of_questions_and_answers_the_table_of_flows_has_the_end_that_writes_more() {
    let plan = plan(&[
        "workload={ kind = \"request-response\", duration = \"1s\", request = \"100B\", response = \"1MB\", \
         pairs = { kind = \"listed\", list = [[\"host0\", \"host1\"]] } }",
    ]);
    let record = |local: &str, peer: &str, written: u64, read: u64| {
        format!(
            r#"{{"kind":"flow","local":"{local}","peer":"{peer}","sends":true,"written_bytes":{written},"read_bytes":{read},"started_ns":100000000,"first_byte_ns":101000000,"last_byte_ns":102000000,"tcp_info":{{"total_retrans":{}}}}}"#,
            written / 100_000
        )
    };
    let done = r#"{"kind":"done","time_ns":103000000}"#;
    let (client, server) = ("10.0.0.1:40000", "10.0.0.2:1025");
    let told = BTreeMap::from([
        (
            0,
            format!("{}\n{done}", record(client, server, 200, 2_000_000)),
        ),
        (
            1,
            format!("{}\n{done}", record(server, client, 2_000_000, 200)),
        ),
    ]);
    let outcome = tables_of_real_hosts(&plan.runs[0], &told, &Seen::Network(counted())).unwrap();
    let flows = table(&outcome, "flows");
    let names = |name: &str| match flows.column(name) {
        Some(ColumnData::Str(names)) => names[0].clone(),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(
        [names("source"), names("destination")],
        ["host1", "host0"].map(str::to_owned)
    );
    for (name, count) in [("received_bytes", 2_000_000), ("retransmissions", 20)] {
        let column = flows.column(name);
        assert_eq!(column, Some(&ColumnData::U64(vec![count])), "{name}");
    }
}

#[test]
fn the_mean_of_timeouts_that_connections_do_not_tell_is_their_kernels() {
    let plan = plan(&[]);
    let mut told = told(250_000);
    let counters = r#"{"kind":"counters","time_ns":106000000,"counters":{"TcpExt.TCPTimeouts":3}}"#;
    for text in told.values_mut() {
        *text = text.replace(
            r#"{"kind":"done""#,
            &format!("{counters}\n{{\"kind\":\"done\""),
        );
    }
    let outcome = tables_of_real_hosts(&plan.runs[0], &told, &Seen::Network(counted())).unwrap();
    let summary = table(&outcome, "summary");
    assert_eq!(
        summary.column("timeouts_mean"),
        Some(&ColumnData::F64(vec![3.0]))
    );
    assert_eq!(table(&outcome, "transactions").column("timeouts"), None);
}

#[test]
fn of_programs_the_summary_has_what_kernels_and_interfaces_count_alone() {
    let plan = plan(&[
        "workload={ kind = \"command\", command = [{ host = \"host0\", run = \"true\" }] }",
    ]);
    let command = r#"{"kind":"command","argv":["true"],"status":0,"log":"true","output":"","started_ns":100000000,"ended_ns":102000000}"#;
    let counters = r#"{"kind":"counters","time_ns":102000000,"counters":{"Tcp.RetransSegs":7,"TcpExt.TCPTimeouts":2}}"#;
    let done = r#"{"kind":"done","time_ns":103000000}"#;
    let told = BTreeMap::from([(0, format!("{command}\n{counters}\n{done}"))]);
    let outcome = tables_of_real_hosts(&plan.runs[0], &told, &Seen::Network(counted())).unwrap();
    let summary = table(&outcome, "summary");
    let names: Vec<&str> = summary.columns.iter().map(|c| c.name.as_str()).collect();
    let measured = [
        "iterations",
        "switch_drops_mean",
        "host_drops_mean",
        "link_losses_mean",
        "marks_mean",
        "retransmissions_mean",
        "timeouts_mean",
        "fast_recoveries_mean",
        "duration_s_total",
    ];
    assert_eq!(names, measured);
    assert_eq!(value(&outcome, "retransmissions_mean"), 7.0);
    assert_eq!(value(&outcome, "timeouts_mean"), 2.0);
    assert_eq!(value(&outcome, "switch_drops_mean"), 7.0);
}
