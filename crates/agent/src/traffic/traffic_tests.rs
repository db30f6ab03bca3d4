//! The tasks against one another over this machine's loopback.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};

use super::*;
use crate::config::{self, Interface};
use crate::record::{self, Flow};

/// Runs these tasks, all on one host, and gives the records.
pub(super) fn run_tasks(name: &str, tasks: Vec<Task>) -> Vec<Record> {
    run_and_look(name, Vec::new(), tasks)
}

pub(super) fn run_and_look(name: &str, looks_ns: Vec<u64>, tasks: Vec<Task>) -> Vec<Record> {
    let folder = std::env::temp_dir().join(format!("tailback-agent-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("results.jsonl");
    let recorder = Recorder::create(&path).unwrap();
    let config = config_of(name, options(), looks_ns, tasks);
    run(&config, &folder, &recorder);
    let records = record::parse(&fs::read_to_string(path).unwrap()).unwrap();
    fs::remove_dir_all(folder).unwrap();
    records
}

type SocketOptions = std::collections::BTreeMap<String, config::OptionValue>;

fn config_of(
    name: &str,
    socket_options: SocketOptions,
    looks_ns: Vec<u64>,
    tasks: Vec<Task>,
) -> GuestConfig {
    GuestConfig {
        host: name.to_owned(),
        seed: 1,
        epoch_ns: 0,
        interface: Interface {
            name: "lo".to_owned(),
            address: Ipv4Addr::LOCALHOST,
            prefix_length: 8,
            mtu_bytes: 65_536,
            offloads: config::Offloads::default(),
            whole_ring: false,
        },
        peers: Vec::new(),
        keep_sysctls: false,
        patience_ns: None,
        until_over: false,
        neighbours: Vec::new(),
        sysctls: std::collections::BTreeMap::new(),
        profile_sysctls: std::collections::BTreeMap::new(),
        socket_options,
        commands: Vec::new(),
        sample_interval_ns: Some(1_000_000),
        counters_ns: looks_ns.iter().step_by(2).copied().collect(),
        looks_ns,
        tasks,
    }
}

/// Options whose effect the kernel's TCP_INFO shows.
fn options() -> SocketOptions {
    let text = r#"{ "TCP_CONGESTION": "reno", "TCP_MAXSEG": 1000, "TCP_USER_TIMEOUT": 60000 }"#;
    serde_json::from_str(text).unwrap()
}

/// A port that nobody listens on.
pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

pub(super) fn flows(records: &[Record], sends: bool) -> Vec<&Flow> {
    records
        .iter()
        .filter_map(|record| match record {
            Record::Flow(flow) if flow.sends == sends => Some(flow),
            _ => None,
        })
        .collect()
}

#[test]
fn an_incast_reads_what_its_servers_send() {
    let ports = [free_port(), free_port()];
    let mut tasks: Vec<Task> = ports
        .iter()
        .map(|&port| {
            Task::IncastServer(config::IncastServer {
                port,
                connections: 1,
                request_bytes: 64,
                answer_bytes: 300_000,
                request_sizes: None,
                answer_sizes: None,
                service_latency_ns: 1000,
                service_jitter_ns: 1000,
                stream: 0,
                congestion_control: None,
                priority: 0,
                end_ns: None,
            })
        })
        .collect();
    tasks.push(Task::IncastClient(config::IncastClient {
        servers: ports
            .iter()
            .map(|&port| config::Answerer {
                address: Ipv4Addr::LOCALHOST,
                port,
                answer_bytes: 300_000,
            })
            .collect(),
        request_bytes: 64,
        iterations: 3,
        send_call_ns: 0,
        client_latency_ns: 0,
        start_ns: 0,
    }));
    let records = run_tasks("incast", tasks);
    let iterations: Vec<(u64, u64)> = records
        .iter()
        .filter_map(|record| match record {
            Record::Transaction {
                iteration,
                bytes,
                started_ns,
                ended_ns,
                ..
            } => {
                assert!(ended_ns > started_ns);
                Some((*iteration, *bytes))
            }
            _ => None,
        })
        .collect();
    assert_eq!(iterations, [(0, 600_000), (1, 600_000), (2, 600_000)]);
    let requests = records
        .iter()
        .filter(|record| matches!(record, Record::Request { .. }));
    assert_eq!(requests.count(), 2 * 3);
    let sent: Vec<u64> = flows(&records, true)
        .iter()
        .map(|f| f.written_bytes)
        .collect();
    assert_eq!(sent, [900_000, 900_000]);
    assert!(matches!(records.last(), Some(Record::Done { .. })));
}

#[test]
fn bulk_flows_arrive_whole() {
    let port = free_port();
    let records = run_tasks(
        "bulk",
        vec![
            Task::Sink(config::Sink {
                port,
                connections: 3,
                window_bytes: Some(1 << 20),
                priority: 0,
                end_ns: None,
                endless: false,
                aborted: false,
            }),
            Task::Bulk(config::Bulk {
                address: Ipv4Addr::LOCALHOST,
                port,
                flows: 3,
                bytes: Some(5_000_000),
                duration_ns: None,
                congestion_control: Some("reno".to_owned()),
                window_bytes: Some(1 << 20),
                priority: 0,
                end_ns: None,
                abort: false,
                start_ns: 0,
                pace: None,
            }),
        ],
    );
    for (side, count) in [(true, 3), (false, 3)] {
        let flows = flows(&records, side);
        assert_eq!(flows.len(), count);
        for flow in flows {
            assert_eq!(flow.written_bytes + flow.read_bytes, 5_000_000);
            assert!(
                flow.started_ns <= flow.first_byte_ns && flow.first_byte_ns <= flow.last_byte_ns
            );
        }
    }
}

#[test]
fn sockets_are_as_the_scenario_says_and_else_as_the_kernel_has_them() {
    let folder = std::env::temp_dir().join(format!("tailback-agent-{}-nagle", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for (said, nodelay) in [
        ("{}", false),
        (r#"{ "TCP_NODELAY": 0 }"#, false),
        (r#"{ "TCP_NODELAY": 1 }"#, true),
    ] {
        let socket_options = serde_json::from_str(said).unwrap();
        let config = config_of("nagle", socket_options, Vec::new(), Vec::new());
        let context = Context {
            ends: Ends::default(),
            config: &config,
            folder: &folder,
            recorder: &Recorder::create(&folder.join("results.jsonl")).unwrap(),
            clock: Clock { epoch_ns: 0 },
            sampler: &Sampler::new(&config),
        };
        let port = free_port();
        let listener = socket::listen(&context, port, socket::Options::default()).unwrap();
        let options = socket::Options::default();
        let asks = socket::connect(&context, Ipv4Addr::LOCALHOST, port, options).unwrap();
        let answers = socket::Counted::accept(&listener, &context).unwrap();
        for (end, stream) in [("client", &asks.stream), ("server", &answers.stream)] {
            assert_eq!(stream.nodelay().unwrap(), nodelay, "{end}, {said}");
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_program_is_run_and_its_failure_told() {
    let argv = ["sh", "-c", "echo said; exit 3"]
        .map(str::to_owned)
        .to_vec();
    let records = run_tasks(
        "command",
        vec![Task::Command(config::Command {
            argv,
            background: false,
            start_ns: 0,
        })],
    );
    assert!(records.iter().any(|r| matches!(
        r,
        Record::Command {
            status: Some(3),
            ..
        }
    )));
    let error = records.iter().find_map(|r| match r {
        Record::Error { message } => Some(message.as_str()),
        _ => None,
    });
    assert!(error.unwrap().contains("exit status: 3"), "{error:?}");
}

#[test]
fn sleeps_from_before_the_start_of_the_clock() {
    let clock = Clock {
        epoch_ns: wall_ns() + 50_000_000,
    };
    assert_eq!(clock.now_ns(), 0);
    clock.sleep_until(30_000_000);
    assert!(clock.now_ns() >= 30_000_000);
}

#[test]
fn on_a_machine_that_others_use_only_the_runs_hosts_are_served() {
    let config = GuestConfig {
        peers: vec![Ipv4Addr::new(127, 0, 0, 2)],
        ..config_of("peers", SocketOptions::new(), Vec::new(), Vec::new())
    };
    let folder = std::env::temp_dir().join(format!("tailback-agent-{}-peers", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let context = Context {
        ends: Ends::default(),
        config: &config,
        folder: &folder,
        recorder: &Recorder::create(&folder.join("results.jsonl")).unwrap(),
        clock: Clock { epoch_ns: 0 },
        sampler: &Sampler::new(&config),
    };
    let port = free_port();
    let listener = socket::listen(&context, port, socket::Options::default()).unwrap();
    assert_eq!(listener.local_addr().unwrap().ip(), Ipv4Addr::LOCALHOST);
    let options = socket::Options::default();
    // From 127.0.0.1, which is none of the run's hosts.
    let stranger = socket::connect(&context, Ipv4Addr::LOCALHOST, port, options).unwrap();
    let of_the_run = GuestConfig {
        interface: Interface {
            address: Ipv4Addr::new(127, 0, 0, 2),
            ..config.interface.clone()
        },
        ..config.clone()
    };
    let other = Context {
        config: &of_the_run,
        ..context
    };
    let peer = socket::connect(&other, Ipv4Addr::LOCALHOST, port, options).unwrap();
    let context = Context {
        config: &config,
        ..other
    };
    let accepted = socket::Counted::accept(&listener, &context).unwrap();
    assert_eq!(accepted.peer.ip(), &Ipv4Addr::new(127, 0, 0, 2));
    assert_eq!(stranger.read(&mut [0; 1], context.clock).unwrap(), 0);
    drop(peer);
    fs::remove_dir_all(folder).unwrap();
}

/// Does something as a task of a host would.
fn in_context(name: &str, task: impl FnOnce(&Context<'_>)) {
    let folder = std::env::temp_dir().join(format!("tailback-agent-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let config = config_of(name, SocketOptions::new(), Vec::new(), Vec::new());
    task(&Context {
        ends: Ends::default(),
        config: &config,
        folder: &folder,
        recorder: &Recorder::create(&folder.join("results.jsonl")).unwrap(),
        clock: Clock { epoch_ns: 0 },
        sampler: &Sampler::new(&config),
    });
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_connection_that_its_peer_has_reset_is_taken_and_known() {
    in_context("gone", |context| {
        let port = free_port();
        let listener = socket::listen(context, port, socket::Options::default()).unwrap();
        let options = socket::Options::default();
        let gone = socket::connect(context, Ipv4Addr::LOCALHOST, port, options).unwrap();
        let linger = Some(std::time::Duration::ZERO);
        socket2::SockRef::from(&gone.stream)
            .set_linger(linger)
            .unwrap();
        let local = gone.local;
        drop(gone);
        let accepted = socket::Counted::accept(&listener, context).unwrap();
        assert_eq!(accepted.peer, local);
    });
}

#[test]
fn a_connection_taken_as_its_time_comes_is_over_at_once() {
    in_context("late", |context| {
        let port = free_port();
        let listener = socket::listen(context, port, socket::Options::default()).unwrap();
        let options = socket::Options::default();
        let peer = socket::connect(context, Ipv4Addr::LOCALHOST, port, options).unwrap();
        let accepted = socket::Counted::accept(&listener, context).unwrap();
        // Whoever shuts connections at that time has done so before this one was there.
        bulk::keep(context, Some(1), &std::sync::Mutex::default(), &accepted);
        assert_eq!(accepted.read(&mut [0; 1], context.clock).unwrap(), 0);
        drop(peer);
    });
}

/// What a task of a host that has these peers tells, while `meanwhile` goes on.
pub(super) fn told_beside(
    name: &str,
    peers: Vec<Ipv4Addr>,
    task: Task,
    meanwhile: impl FnOnce() + Send,
) -> Vec<Record> {
    let folder = std::env::temp_dir().join(format!("tailback-agent-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("results.jsonl");
    let recorder = Recorder::create(&path).unwrap();
    let config = GuestConfig {
        peers,
        patience_ns: Some(3_000_000_000),
        ..config_of(name, SocketOptions::new(), Vec::new(), vec![task])
    };
    thread::scope(|scope| {
        scope.spawn(meanwhile);
        run(&config, &folder, &recorder);
    });
    let records = record::parse(&fs::read_to_string(path).unwrap()).unwrap();
    fs::remove_dir_all(folder).unwrap();
    records
}

#[test]
fn who_gets_no_answer_says_to_whom_it_could_not_connect() {
    // A listener whose queue is full answers nobody (tcp(7)).
    let full = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    full.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())
        .unwrap();
    full.listen(0).unwrap();
    let address = full.local_addr().unwrap().as_socket().unwrap();
    let _first = std::net::TcpStream::connect(address).unwrap();
    let task = Task::Bulk(config::Bulk {
        address: Ipv4Addr::LOCALHOST,
        port: address.port(),
        flows: 1,
        bytes: Some(1),
        duration_ns: None,
        congestion_control: None,
        window_bytes: None,
        priority: 0,
        end_ns: None,
        abort: false,
        start_ns: 0,
        pace: None,
    });
    let began = std::time::Instant::now();
    let records = told_beside("firewall", vec![Ipv4Addr::LOCALHOST], task, || {});
    assert!(began.elapsed() < Duration::from_secs(20));
    let error = records.iter().find_map(|record| match record {
        Record::Error { message } => Some(message.as_str()),
        _ => None,
    });
    let said = format!("connect to {address}: no answer; is it let through (a firewall)");
    assert!(error.unwrap().contains(&said), "{error:?}");
}

#[test]
fn buffers_are_as_the_scenario_has_them_whatever_the_machine_allows() {
    let read = |name: &str| -> u32 {
        let text = fs::read_to_string(format!("/proc/sys/net/core/{name}")).unwrap();
        text.trim().parse().unwrap()
    };
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let reference = socket2::SockRef::from(&socket);
    let wanted = 2 * read("rmem_max") + 4096;
    let config = |most: u32| {
        let mut config = config_of("buffers", SocketOptions::new(), Vec::new(), Vec::new());
        let most = ("net.core.rmem_max".to_owned(), most.to_string());
        config.profile_sysctls.extend([most]);
        config
    };
    let set = |most| {
        let fd = std::os::fd::AsFd::as_fd(&socket);
        options::set_buffer(fd, options::Buffer::Receive, wanted, &config(most))
    };
    // The scenario's own limit holds, as in the simulator.
    set(8192).unwrap();
    assert_eq!(reference.recv_buffer_size().unwrap(), 2 * 8192);
    match set(u32::MAX) {
        Ok(()) => assert_eq!(reference.recv_buffer_size().unwrap(), 2 * wanted as usize),
        // Without privilege it is said.
        Err(error) => assert!(error.to_string().contains("net.core.rmem_max"), "{error}"),
    }
}
