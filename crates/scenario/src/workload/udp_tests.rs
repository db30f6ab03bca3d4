use tailback_units::{Bytes, Duration, Rate};

use super::super::test_network;
use super::{Pairs, Probe, Schedule, Udp};

fn udp(datagram: u64) -> Udp {
    Udp {
        schedule: None,
        pairs: Pairs::ToFirst {},
        rate: Rate::from_bps(400_000_000),
        datagram: Bytes::new(datagram),
        duration: Duration::from_secs(1),
        ecn: false,
        socket_buffer: Bytes::new(1 << 20),
        reporter: None,
        record_arrivals: 0,
    }
}

#[test]
fn the_rate_is_of_payload() {
    // 1470 bytes at 400 Mb/s.
    assert_eq!(udp(1470).gap(), Duration::from_ns(29_400));
    assert_eq!(udp(1470).expected_bytes(), 34_013 * 1470);
}

#[test]
fn a_datagram_is_one_frame() {
    let network = test_network("topology = \"star\", hosts = 2,");
    assert_eq!(udp(1472).name_findings(&network).len(), 0);
    let found = udp(1473).name_findings(&network);
    assert!(format!("{found:?}").contains("1472B"), "{found:?}");
    assert_eq!(udp(0).name_findings(&network).len(), 1);
}

#[test]
fn senders_begin_before_their_time_is_over_however_rare_datagrams_are() {
    let network = test_network("topology = \"star\", hosts = 11,");
    let slow = Udp {
        rate: Rate::from_bps(1_000),
        ..udp(1470)
    };
    assert_eq!(slow.gap(), Duration::from_ms(11_760));
    let starts = |udp: &Udp| -> Vec<f64> {
        let probes = udp.probes(1, &network);
        assert!(probes.iter().all(|probe| probe.start < probe.end));
        probes.iter().map(|p| p.start.as_secs_f64()).collect()
    };
    // Spread over the time there is, and over the time of a datagram where that is shorter.
    assert_eq!(starts(&slow)[9], 0.9);
    assert_eq!(starts(&udp(1470))[9], 0.9 * 29.4e-6);
}

#[test]
fn a_mesh_on_a_schedule_never_has_two_at_one_destination() {
    let network = test_network("topology = \"star\", hosts = 10,");
    let mesh = Udp {
        pairs: Pairs::Mesh {},
        duration: Duration::from_secs(60),
        schedule: Some(Schedule {
            every: Duration::from_secs(3600),
            rounds: 2,
        }),
        ..udp(1470)
    };
    assert!(mesh.name_findings(&network).is_empty());
    let probes = mesh.probes(1, &network);
    assert_eq!(probes.len(), 180);
    // A source has nine destinations an hour: 400 s each, of which 60 s are used.
    let slot = |probe: &Probe| (probe.start.as_secs_f64() / 400.0) as u64;
    for (number, probe) in probes.iter().enumerate() {
        assert_eq!(u64::from(probe.round), slot(probe) / 9);
        let alike = probes[..number].iter().filter(|p| slot(p) == slot(probe));
        let mut alike =
            alike.filter(|p| (p.source, p.destination) != (probe.source, probe.destination));
        assert!(alike.all(|p| p.destination != probe.destination && p.source != probe.source));
    }
    let endless = Udp {
        schedule: Some(Schedule {
            every: Duration::from_secs(3600),
            rounds: 10_000,
        }),
        ..mesh.clone()
    };
    let found = endless.findings();
    assert!(
        format!("{found:?}").contains("schedule.rounds"),
        "{found:?}"
    );
    let hasty = Udp {
        duration: Duration::from_secs(401),
        ..mesh
    };
    let found = hasty.name_findings(&network);
    assert!(format!("{found:?}").contains("schedule.every"), "{found:?}");
}
