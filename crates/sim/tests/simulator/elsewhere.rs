//! Somebody's own hosts: addresses and ports of their own, a network that nobody looks into.

use std::collections::BTreeMap;

use tailback_agent::config::Task;
use tailback_scenario::Plan;
use tailback_sim::{
    ColumnData, Elsewhere, Seen, SimError, hosts_elsewhere, tables_of_real_hosts, working_hosts,
};

use crate::support::table;

const BULK: &str = r#"
name = "elsewhere"
host = "ideal"
stack = "linux-7.2"
[network]
topology = "star"
hosts = 4
switch = "arista-7124s"
link = { rate = "1Gbit", delay = "1us", mtu = "1500B" }
[workload]
kind = "bulk"
pairs = { kind = "listed", list = [["host2", "host0"], ["host3", "host0"]] }
duration = "1s"
"#;

const LAB: &str = r#"{
    "hosts": {
        "host0": { "address": "192.0.2.10", "interface": "eth1" },
        "host2": { "address": "192.0.2.12", "interface": "eth0" },
        "host3": { "address": "192.0.2.13", "interface": "eth0" }
    },
    "first_port": 20000
}"#;

fn plan(overrides: &[&str]) -> Plan {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    Plan::from_toml(BULK, "test", &overrides, None).expect("a good scenario")
}

fn lab() -> Elsewhere {
    serde_json::from_str(LAB).unwrap()
}

#[test]
fn tasks_have_the_hosts_own_addresses_and_ports() {
    let plan = plan(&[]);
    assert_eq!(working_hosts(&plan.runs[0]), ["host0", "host2", "host3"]);
    let hosts = hosts_elsewhere(&plan.runs[0], &lab()).unwrap();
    assert!(hosts.switches.is_empty() && hosts.links.is_empty());
    assert_eq!(hosts.last_port, Some(20_004));
    let receiver = &hosts.hosts[0].config;
    assert_eq!(receiver.interface.address.to_string(), "192.0.2.10");
    assert_eq!(receiver.interface.name, "eth1");
    let peers: Vec<String> = receiver.peers.iter().map(ToString::to_string).collect();
    assert_eq!(peers, ["192.0.2.12", "192.0.2.13"]);
    let ports = receiver.tasks.iter().map(|task| match task {
        Task::Sink(sink) => sink.port,
        other => panic!("{other:?}"),
    });
    assert_eq!(ports.collect::<Vec<_>>(), [20_001, 20_003]);
    let mut senders: Vec<(String, u16)> = hosts.hosts[1..]
        .iter()
        .flat_map(|host| &host.config.tasks)
        .map(|task| match task {
            Task::Bulk(bulk) => (bulk.address.to_string(), bulk.port),
            other => panic!("{other:?}"),
        })
        .collect();
    senders.sort();
    let to = |port| ("192.0.2.10".to_owned(), port);
    assert_eq!(senders, [to(20_001), to(20_003)]);
}

#[test]
fn what_somebodys_hosts_are_not_asked_to_do_is_refused_all_at_once() {
    let plan = plan(&[
        "kernel.tc=[\"qdisc add dev eth0 root fq\"]",
        "kernel.sysctl={\"vm.x\"=1}",
    ]);
    let mut lab = lab();
    lab.hosts.remove("host2");
    let Err(SimError::RealHosts(why)) = hosts_elsewhere(&plan.runs[0], &lab) else {
        panic!("it was taken");
    };
    for part in ["kernel.tc", "vm.x", "no machine for host host2"] {
        assert!(why.contains(part), "{part}: {why}");
    }
}

#[test]
fn ports_end_at_the_last_that_there_is() {
    let mut lab = lab();
    lab.first_port = 65_533;
    let why = hosts_elsewhere(&plan(&[]).runs[0], &lab).unwrap_err();
    assert!(why.to_string().contains("the last port is 65535"), "{why}");
}

/// What the three hosts tell; `stranger` is the address of the first flow's sender.
fn told(stranger: &str) -> BTreeMap<usize, String> {
    let flow = |local: &str, peer: &str, sends: bool, bytes: u64| {
        let (written, read) = if sends { (bytes, 0) } else { (0, bytes) };
        format!(
            r#"{{"kind":"flow","local":"{local}","peer":"{peer}","sends":{sends},"written_bytes":{written},"read_bytes":{read},"started_ns":100000000,"first_byte_ns":101000000,"last_byte_ns":1100000000,"tcp_info":{{"segs_out":180,"total_retrans":3}}}}"#
        )
    };
    let counters =
        |all: &str| format!(r#"{{"kind":"counters","time_ns":1100000000,"counters":{{{all}}}}}"#);
    let done = r#"{"kind":"done","time_ns":1100000000}"#;
    let receiver = [
        flow(
            "192.0.2.10:20001",
            &format!("{stranger}:40000"),
            false,
            60_000_000,
        ),
        flow("192.0.2.10:20003", "192.0.2.13:50000", false, 50_000_000),
        counters(
            r#""eth1.rx_dropped":7,"eth1.tx_packets":300,"eth0.rx_dropped":1000,"IpExt.InCEPkts":5"#,
        ),
        done.to_owned(),
    ];
    let sender = |address: &str, port: u16, bytes: u64| {
        [
            flow(
                &format!("{address}:4{port}"),
                &format!("192.0.2.10:2000{port}"),
                true,
                bytes,
            ),
            counters(r#""eth0.tx_packets":400,"eth0.tx_dropped":2"#),
            done.to_owned(),
        ]
        .join("\n")
        .replace(":41", ":40000")
        .replace(":43", ":50000")
    };
    BTreeMap::from([
        (0, receiver.join("\n")),
        (2, sender("192.0.2.12", 1, 60_000_000)),
        (3, sender("192.0.2.13", 3, 50_000_000)),
    ])
}

#[test]
fn hosts_that_are_one_kernel_have_its_counters_once() {
    let plan = plan(&[]);
    let mut lab = lab();
    for host in ["host0", "host2"] {
        lab.hosts.get_mut(host).unwrap().kernel = "one".to_owned();
    }
    let seen = Seen::Hosts(lab);
    let outcome = tables_of_real_hosts(&plan.runs[0], &told("192.0.2.12"), &seen).unwrap();
    assert_eq!(outcome.hops, 300 + 400);
    let hosts = table(&outcome, "counters").column("host");
    let Some(ColumnData::Str(hosts)) = hosts else {
        panic!("{hosts:?}");
    };
    assert!(hosts.iter().all(|host| host != "host2"), "{hosts:?}");
}

#[test]
fn what_is_not_done_is_said() {
    let plan = plan(&[
        "network.clock_ppm=50",
        "kernel.memory=64MiB",
        "kernel.interrupt_moderation=0s",
        "stack.tcp_congestion_control=cubic-2.1",
    ]);
    let said = hosts_elsewhere(&plan.runs[0], &lab()).unwrap().not_applied;
    for what in [
        "network.clock_ppm",
        "kernel.memory",
        "kernel.interrupt_moderation",
        "stack.tcp_congestion_control: cubic-2.1",
        "stack: what Linux has no sysctl for",
    ] {
        let of_it = said.iter().filter(|text| text.starts_with(what));
        assert_eq!(of_it.count(), 1, "{what}: {said:?}");
    }
    let unasked = hosts_elsewhere(&self::plan(&[]).runs[0], &lab()).unwrap();
    assert_eq!(unasked.not_applied.len(), said.len() - 4);
}

#[test]
fn timeouts_that_older_kernels_do_not_tell_are_not_said_to_be_none() {
    let plan = plan(&[]);
    let columns = |told: &BTreeMap<usize, String>| {
        let seen = Seen::Hosts(lab());
        let outcome = tables_of_real_hosts(&plan.runs[0], told, &seen).unwrap();
        table(&outcome, "flows").column("timeouts").cloned()
    };
    let mut told = told("192.0.2.12");
    assert_eq!(columns(&told), None);
    for text in told.values_mut() {
        *text = text.replace(r#""total_retrans":3"#, r#""total_retrans":3,"total_rto":2"#);
    }
    assert_eq!(columns(&told), Some(ColumnData::U64(vec![2, 2])));
}

#[test]
fn tables_have_the_scenarios_names_and_what_interfaces_counted() {
    let plan = plan(&[]);
    let seen = Seen::Hosts(lab());
    let outcome = tables_of_real_hosts(&plan.runs[0], &told("192.0.2.12"), &seen).unwrap();
    let flows = table(&outcome, "flows");
    let names = |all: [&str; 2]| Some(ColumnData::Str(all.map(str::to_owned).to_vec()));
    assert_eq!(flows.column("source").cloned(), names(["host2", "host3"]));
    assert_eq!(
        flows.column("destination").cloned(),
        names(["host0", "host0"])
    );
    assert_eq!(
        flows.column("received_bytes"),
        Some(&ColumnData::U64(vec![60_000_000, 50_000_000]))
    );
    assert_eq!(outcome.hops, 1100);
    let drops = table(&outcome, "drops");
    assert_eq!(
        drops.column("frames"),
        Some(&ColumnData::U64(vec![7, 2, 2]))
    );
    let summary = table(&outcome, "summary");
    assert_eq!(
        summary.column("host_drops_mean"),
        Some(&ColumnData::F64(vec![11.0]))
    );
    assert_eq!(
        summary.column("marks_mean"),
        Some(&ColumnData::F64(vec![5.0]))
    );
    // Nobody has seen these.
    for name in ["switch_drops_mean", "link_losses_mean", "queue_bytes_max"] {
        assert!(summary.column(name).is_none(), "{name}");
    }
}

#[test]
fn a_peer_that_is_none_of_the_hosts_is_found() {
    let plan = plan(&[]);
    let seen = Seen::Hosts(lab());
    let error = tables_of_real_hosts(&plan.runs[0], &told("192.0.2.99"), &seen).unwrap_err();
    let why = "host host0 failed: 192.0.2.99:40000 is none of the run's hosts";
    assert!(error.to_string().contains(why), "{error}");
}
