//! How bulk flows end: by themselves, at a time, and reset.

use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;

use super::Clock;
use super::tests::{flows, free_port, run_and_look, run_tasks};
use crate::config::{self, Task};
use crate::record::Record;

#[test]
fn a_duration_ends_a_flow() {
    let port = free_port();
    let records = run_tasks(
        "duration",
        vec![
            Task::Sink(config::Sink {
                port,
                connections: 1,
                window_bytes: None,
                priority: 0,
                end_ns: None,
                endless: false,
                aborted: false,
            }),
            Task::Bulk(config::Bulk {
                address: Ipv4Addr::LOCALHOST,
                port,
                flows: 1,
                bytes: None,
                duration_ns: Some(50_000_000),
                congestion_control: None,
                window_bytes: None,
                priority: 0,
                end_ns: None,
                abort: false,
                start_ns: 0,
                pace: None,
            }),
        ],
    );
    let (sent, read) = (flows(&records, true)[0], flows(&records, false)[0]);
    assert_eq!(sent.written_bytes, read.read_bytes);
    // The host's socket options: TCP_MAXSEG, less the time stamps.
    assert_eq!(sent.tcp_info["snd_mss_bytes"], 988);
    assert!(sent.last_byte_ns - sent.started_ns < 2_000_000_000);
    // In fifty intervals; a flow of few bytes may be over before the sampler's thread first runs.
    assert!(records.iter().any(|r| matches!(r, Record::Sample { .. })));
}

#[test]
fn a_flow_with_an_end_is_over_then_and_looked_at_before() {
    let port = free_port();
    let now_ns = Clock { epoch_ns: 0 }.now_ns();
    let at = |ms: u64| now_ns + ms * 1_000_000;
    let records = run_and_look(
        "end",
        vec![at(100), at(200), at(300)],
        vec![
            // A connection more than will come is not waited for.
            Task::Sink(config::Sink {
                port,
                connections: 3,
                window_bytes: None,
                priority: 0,
                end_ns: Some(at(800)),
                endless: false,
                aborted: false,
            }),
            Task::Bulk(config::Bulk {
                address: Ipv4Addr::LOCALHOST,
                port,
                flows: 2,
                bytes: None,
                duration_ns: None,
                congestion_control: None,
                window_bytes: None,
                priority: 0,
                end_ns: Some(at(800)),
                abort: false,
                start_ns: 0,
                pace: None,
            }),
        ],
    );
    let looks: Vec<(u64, u64)> = records
        .iter()
        .filter_map(|record| match record {
            Record::Look {
                local,
                time_ns,
                read_bytes,
                ..
            } if local.port() == port => Some((*time_ns, *read_bytes)),
            _ => None,
        })
        .collect();
    let times: Vec<u64> = looks.iter().map(|(time_ns, _)| *time_ns).collect();
    let each = [100, 100, 200, 200, 300, 300].map(at);
    assert_eq!(times, each, "{records:?}");
    for flow in 0..2 {
        assert!(looks[flow].1 < looks[flow + 4].1, "{looks:?}");
    }
    let counted = records.iter().filter_map(|record| match record {
        Record::LookedCounters { time_ns, .. } => Some(*time_ns),
        _ => None,
    });
    assert_eq!(counted.collect::<Vec<u64>>(), [at(100), at(300)]);
    assert_eq!(
        flows(&records, true).len() + flows(&records, false).len(),
        4
    );
    assert!(matches!(records.last(), Some(Record::Done { .. })));
    assert!(!records.iter().any(|r| matches!(r, Record::Error { .. })));
}

#[test]
fn flows_that_are_aborted_end_their_receiver_too() {
    let port = free_port();
    let now_ns = Clock { epoch_ns: 0 }.now_ns();
    let at = |ms: u64| now_ns + ms * 1_000_000;
    let began = std::time::Instant::now();
    let records = run_tasks(
        "abort",
        vec![
            Task::Sink(config::Sink {
                port,
                connections: 2,
                window_bytes: None,
                priority: 0,
                end_ns: Some(at(60_000)),
                endless: true,
                aborted: true,
            }),
            Task::Bulk(config::Bulk {
                address: Ipv4Addr::LOCALHOST,
                port,
                flows: 2,
                bytes: None,
                duration_ns: None,
                congestion_control: None,
                window_bytes: None,
                priority: 5,
                end_ns: Some(at(300)),
                abort: true,
                start_ns: 0,
                pace: None,
            }),
        ],
    );
    assert!(began.elapsed() < Duration::from_secs(30));
    assert!(
        !records.iter().any(|r| matches!(r, Record::Error { .. })),
        "{records:?}"
    );
    let (sent, read) = (flows(&records, true), flows(&records, false));
    assert_eq!((sent.len(), read.len()), (2, 2));
}

#[test]
fn what_a_flow_that_is_aborted_has_not_sent_is_thrown_away() {
    let end_of = |abort: bool| {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let clock = Clock { epoch_ns: 0 };
        let end_ns = clock.now_ns() + 300_000_000;
        let receiver = thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            // Reads what has come when the sender has done.
            clock.sleep_until(end_ns + 300_000_000);
            std::io::copy(&mut stream, &mut std::io::sink()).map_err(|error| error.kind())
        });
        let send = Task::Bulk(config::Bulk {
            address: Ipv4Addr::LOCALHOST,
            port,
            flows: 1,
            bytes: None,
            duration_ns: None,
            congestion_control: None,
            window_bytes: None,
            priority: 0,
            end_ns: Some(end_ns),
            abort,
            start_ns: 0,
            pace: None,
        });
        let records = run_tasks(&format!("thrown-{abort}"), vec![send]);
        assert_eq!(flows(&records, true).len(), 1, "{records:?}");
        let written_bytes = flows(&records, true)[0].written_bytes;
        receiver.join().unwrap().map(|bytes| bytes == written_bytes)
    };
    assert_eq!(end_of(true), Err(std::io::ErrorKind::ConnectionReset));
    assert_eq!(end_of(false), Ok(true));
}

#[test]
fn flows_whose_receiver_ends_a_moment_before_have_not_failed() {
    const FLOWS: u32 = 30;
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let clock = Clock { epoch_ns: 0 };
    let end_ns = clock.now_ns() + 1_000_000_000;
    let receiver = thread::spawn(move || {
        let accepted: Vec<_> = (0..FLOWS).map(|_| listener.accept().unwrap().0).collect();
        clock.sleep_until(end_ns);
        // What it has not read it resets.
        drop(accepted);
    });
    let send = Task::Bulk(config::Bulk {
        address: Ipv4Addr::LOCALHOST,
        port,
        flows: FLOWS,
        bytes: Some(10_000),
        duration_ns: None,
        congestion_control: None,
        window_bytes: None,
        priority: 0,
        end_ns: Some(end_ns),
        abort: false,
        start_ns: 0,
        pace: None,
    });
    let records = run_tasks("moment", vec![send]);
    receiver.join().unwrap();
    let failed = records
        .iter()
        .find(|record| matches!(record, Record::Error { .. }));
    assert!(failed.is_none(), "{failed:?}");
    assert!(!flows(&records, true).is_empty());
}
