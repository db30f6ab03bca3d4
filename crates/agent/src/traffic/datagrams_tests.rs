//! Datagrams over this machine's loopback.

use std::net::Ipv4Addr;

use super::tests::{free_port, run_tasks, told_beside};
use super::*;
use crate::config;

/// What a source of 1000 bytes a datagram sends in so long, and what its sink says of it.
fn datagrams(name: &str, rate_bps: u64, duration_ns: u64) -> (Option<u64>, Option<u64>) {
    // Longer than a busy machine may let a source wait.
    datagrams_until(name, rate_bps, duration_ns, 2_000_000_000, None)
}

/// The same with a sink that is idle for so long at most, and has an end.
fn datagrams_until(
    name: &str,
    rate_bps: u64,
    duration_ns: u64,
    idle_ns: u64,
    end_ns: Option<u64>,
) -> (Option<u64>, Option<u64>) {
    let port = free_port();
    let records = run_tasks(
        name,
        vec![
            Task::UdpSink(config::UdpSink {
                port,
                idle_ns,
                end_ns,
                numbers: None,
                gap_ns: 8_000_000_000_000 / rate_bps,
                window_bytes: Some(1 << 18),
            }),
            Task::UdpSource(config::UdpSource {
                address: Ipv4Addr::LOCALHOST,
                port,
                rate_bps,
                payload_bytes: 1000,
                duration_ns,
                start_ns: 0,
            }),
        ],
    );
    let sent = records.iter().find_map(|r| match r {
        Record::UdpSent { datagrams, .. } => Some(*datagrams),
        _ => None,
    });
    let received = records.iter().find_map(|r| match r {
        Record::UdpReceived {
            datagrams, lost, ..
        } => Some(datagrams + lost),
        _ => None,
    });
    (sent, received)
}

#[test]
fn datagrams_are_counted() {
    // 20 ms apart, so that a machine with much else to do is not late for the last.
    let counted = datagrams("udp", 400_000, 400_000_000);
    assert_eq!(counted, (Some(20), Some(20)));
}

#[test]
fn a_sink_that_has_an_end_waits_for_datagrams_that_are_rare() {
    let end_ns = wall_ns() + 1_500_000_000;
    let counted = datagrams_until("udp-rare", 40_000, 1_000_000_000, 50_000_000, Some(end_ns));
    assert_eq!(counted, (Some(5), Some(5)));
    assert!(wall_ns() >= end_ns);
    // Without one it is over when nothing comes.
    let (_, received) = datagrams_until("udp-idle", 40_000, 1_000_000_000, 50_000_000, None);
    // One, and those before it if it was late to listen.
    assert!(
        received.is_some_and(|received| received < 5),
        "{received:?}"
    );
}

#[test]
fn a_source_that_is_late_stops_when_its_time_is_over() {
    let (sent, _) = datagrams("udp-late", 1_000_000_000_000, 20_000_000);
    let due = 2_500_000;
    assert!(sent.is_some_and(|sent| sent < due / 2), "{sent:?} of {due}");
}

fn sink_of_datagrams(port: u16, idle_ns: u64) -> Task {
    Task::UdpSink(config::UdpSink {
        port,
        idle_ns,
        end_ns: Some(wall_ns() + 2_000_000_000),
        numbers: Some(10),
        gap_ns: 1_000_000,
        window_bytes: None,
    })
}

/// Sends until somebody listens: the sink opens its port when it is ready.
fn send_until_taken(socket: &std::net::UdpSocket, to: (Ipv4Addr, u16), payload: &[u8]) {
    socket.connect(to).unwrap();
    // An earlier one met nobody.
    while socket.send(payload).is_err() || socket.take_error().unwrap().is_some() {
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_datagram_that_is_not_the_sources_does_no_harm() {
    let port = free_port();
    let to = (Ipv4Addr::LOCALHOST, port);
    let peer = Ipv4Addr::new(127, 0, 0, 2);
    let sink = sink_of_datagrams(port, 300_000_000);
    let records = told_beside("udp-odd", vec![peer], sink, || {
        let socket = std::net::UdpSocket::bind((peer, 0)).unwrap();
        thread::sleep(Duration::from_millis(100));
        for number in [1_u64, u64::MAX, 1 << 40, 10, 3] {
            let mut payload = [0; 100];
            payload[..8].copy_from_slice(&number.to_be_bytes());
            send_until_taken(&socket, to, &payload);
        }
    });
    let told = records.iter().find_map(|record| match record {
        Record::UdpReceived {
            datagrams, lost, ..
        } => Some((*datagrams, *lost)),
        _ => None,
    });
    // 1 and 3; 0 and 2 are lost.
    assert_eq!(told, Some((2, 2)), "{records:?}");
}

#[test]
fn what_strangers_send_does_not_keep_a_sink() {
    let port = free_port();
    let to = (Ipv4Addr::LOCALHOST, port);
    let peer = Ipv4Addr::new(127, 0, 0, 2);
    let over = std::sync::atomic::AtomicBool::new(false);
    let (peers, sink) = (vec![peer], sink_of_datagrams(port, 500_000_000));
    let began = std::time::Instant::now();
    let records = told_beside("udp-kept", peers, sink, || {
        let own = std::net::UdpSocket::bind((peer, 0)).unwrap();
        thread::sleep(Duration::from_millis(100));
        send_until_taken(&own, to, &[0; 100]);
        let stranger = std::net::UdpSocket::bind("127.0.0.3:0").unwrap();
        while began.elapsed() < Duration::from_secs(8)
            && !over.load(std::sync::atomic::Ordering::Relaxed)
        {
            // It fails when the sink has gone.
            if stranger.send_to(&[0; 100], to).is_err() {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let ended = records.iter().find_map(|record| match record {
        Record::Done { time_ns } => Some(*time_ns),
        _ => None,
    });
    let received = records.iter().find_map(|record| match record {
        Record::UdpReceived { ended_ns, .. } => Some(*ended_ns),
        _ => None,
    });
    let waited_ns = ended.unwrap() - received.unwrap();
    assert!(waited_ns < 3_000_000_000, "{waited_ns}");
}
