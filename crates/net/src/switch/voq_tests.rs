use proptest::prelude::*;
use tailback_units::{Bytes, Duration, Time};

use super::{Grant, VoqBuffer, VoqConfig};
use crate::pool::Flight;
use crate::random::Stream;
use crate::switch::{BufferConfig, DropCause};
use crate::testing::flight;

fn buffer(port_buffer: u64, speedup: f64) -> VoqBuffer {
    let config = VoqConfig {
        port_buffer: Bytes::new(port_buffer),
        cell: Bytes::new(80),
        speedup,
        random_grants: 0.0,
    };
    VoqBuffer::new(&config, 70, Stream::new(1, "crossbar", 0))
}

fn line_time(_: u16, _: &Flight) -> Duration {
    Duration::from_ns(1200)
}

fn granted(buffer: &mut VoqBuffer, now: Time, out_port: u16) -> u16 {
    match buffer.grant(now, out_port, line_time) {
        Grant::Frame { in_port, .. } => in_port,
        other => panic!("expected a frame, got {other:?}"),
    }
}

#[test]
fn each_ingress_port_has_a_memory_of_its_own() {
    // 9018 B are 113 cells of 80 B; 243.2 KB are 3040 cells: 26 frames a port.
    let mut buffer = buffer(243_200, 1.2);
    for in_port in [3, 69] {
        let admitted = (0..)
            .take_while(|_| buffer.offer(Time::ZERO, in_port, 0, flight(8948)).is_ok())
            .count();
        assert_eq!(admitted, 26);
    }
    assert_eq!(
        buffer.offer(Time::ZERO, 3, 9, flight(8948)),
        Err(DropCause::BufferFull)
    );
    assert_eq!(buffer.waiting().count(), 52);
}

#[test]
fn an_egress_port_s_queue_is_in_the_memories_of_all_ingress_ports() {
    let config = BufferConfig::Voq(VoqConfig {
        port_buffer: Bytes::new(100_000),
        cell: Bytes::new(80),
        speedup: 1.2,
        random_grants: 0.0,
    });
    assert_eq!(config.band_capacities_bytes(8), [800_000]);
}

#[test]
fn grants_go_round_robin_over_all_words_of_ports() {
    let mut buffer = buffer(243_200, 1.2);
    for in_port in [1, 5, 66] {
        for _ in 0..2 {
            buffer.offer(Time::ZERO, in_port, 0, flight(8948)).unwrap();
        }
    }
    let mut now = Time::ZERO;
    let order: Vec<u16> = (0..6)
        .map(|_| {
            now += Duration::from_us(10);
            granted(&mut buffer, now, 0)
        })
        .collect();
    assert_eq!(order, [1, 5, 66, 1, 5, 66]);
    assert!(matches!(buffer.grant(now, 0, line_time), Grant::Empty));
}

#[test]
fn an_ingress_port_sends_to_one_egress_port_at_a_time() {
    let mut buffer = buffer(243_200, 1.2);
    buffer.offer(Time::ZERO, 2, 0, flight(8948)).unwrap();
    buffer.offer(Time::ZERO, 2, 1, flight(8948)).unwrap();
    assert_eq!(granted(&mut buffer, Time::ZERO, 0), 2);
    // 1200 ns of line time cross in 1000 ns at a speed-up of 1.2 (and a little, by rounding).
    match buffer.grant(Time::ZERO, 1, line_time) {
        Grant::Wait(until) => {
            assert!(until.as_ps().abs_diff(1_000_000) < 50, "{until:?}");
            assert_eq!(granted(&mut buffer, until, 1), 2);
        }
        other => panic!("expected to wait, got {other:?}"),
    }
}

#[test]
fn a_frame_crosses_at_the_rate_of_its_ingress_port() {
    let mut buffer = buffer(243_200, 1.0);
    let line_time =
        |in_port, _: &Flight| Duration::from_ns(if in_port == 2 { 1200 } else { 12_000 });
    for in_port in [2, 3] {
        buffer
            .offer(Time::ZERO, in_port, in_port, flight(8948))
            .unwrap();
        buffer.grant(Time::ZERO, in_port, line_time);
    }
    assert_eq!(buffer.ready_at(2), Time::from_ps(1_200_000));
    assert_eq!(buffer.ready_at(3), Time::from_ps(12_000_000));
}

#[test]
fn memory_is_free_once_the_frame_has_crossed() {
    let mut buffer = buffer(9100, 1.0);
    buffer.offer(Time::ZERO, 2, 0, flight(8948)).unwrap();
    assert_eq!(granted(&mut buffer, Time::ZERO, 0), 2);
    assert_eq!(
        buffer.offer(Time::from_ps(1_199_999), 2, 0, flight(8948)),
        Err(DropCause::BufferFull)
    );
    assert!(
        buffer
            .offer(Time::from_ps(1_200_000), 2, 0, flight(8948))
            .is_ok()
    );
}

#[test]
fn random_grants_serve_every_port_but_not_in_turn() {
    let config = VoqConfig {
        port_buffer: Bytes::new(1_000_000),
        cell: Bytes::new(80),
        speedup: 1.2,
        random_grants: 1.0,
    };
    let mut buffer = VoqBuffer::new(&config, 70, Stream::new(1, "crossbar", 0));
    for in_port in [1, 5, 66] {
        for _ in 0..100 {
            buffer.offer(Time::ZERO, in_port, 0, flight(8948)).unwrap();
        }
    }
    let mut now = Time::ZERO;
    let order: Vec<u16> = (0..90)
        .map(|_| {
            now += Duration::from_us(10);
            granted(&mut buffer, now, 0)
        })
        .collect();
    for in_port in [1, 5, 66] {
        let share = order.iter().filter(|p| **p == in_port).count();
        assert!((15..=45).contains(&share), "port {in_port}: {share} of 90");
    }
    assert!(
        order.windows(2).any(|pair| pair[0] == pair[1]),
        "twice the same in a row"
    );
}

/// All there is to a buffer but where its frames lie.
fn books(buffer: &VoqBuffer) -> String {
    let ingress = buffer.ingress.iter().map(|i| {
        let queues: Vec<usize> = i.queues.iter().map(|q| q.iter().count()).collect();
        (i.used_cells, i.busy_until, i.leaving_cells, queues)
    });
    let ingress: Vec<_> = ingress.collect();
    format!("{ingress:?} {:?} {:?}", buffer.egress, buffer.stream)
}

proptest! {
    /// A frame that goes to an idle port at once leaves everything as if it had been queued and granted.
    #[test]
    fn a_frame_for_an_idle_port_crosses_as_if_it_had_been_queued(
        offers in prop::collection::vec((0_u64..3_000, 0_u16..6, 0_u16..6), 1..200),
        seed in 0_u64..100,
    ) {
        let config = VoqConfig {
            port_buffer: Bytes::new(30_000),
            cell: Bytes::new(160),
            speedup: 1.2,
            random_grants: 0.5,
        };
        let mut at_once = VoqBuffer::new(&config, 6, Stream::new(seed, "crossbar", 0));
        let mut queued = at_once.clone();
        let mut now = Time::ZERO;
        for (later_ns, in_port, out_port) in offers {
            now += Duration::from_ns(later_ns);
            let frame = flight(8948);
            let crosses = if at_once.queued_bytes(out_port) == 0 {
                at_once.offer_to_idle(now, in_port, out_port, frame, line_time(in_port, &frame))
            } else {
                at_once.offer(now, in_port, out_port, frame).map(|()| false)
            };
            prop_assert_eq!(crosses.map(|_| ()), queued.offer(now, in_port, out_port, frame));
            if crosses != Err(DropCause::BufferFull) {
                let granted = queued.grant(now, out_port, line_time);
                if crosses == Ok(true) {
                    prop_assert!(matches!(granted, Grant::Frame { .. }), "{granted:?}");
                } else {
                    let other = at_once.grant(now, out_port, line_time);
                    prop_assert_eq!(format!("{granted:?}"), format!("{other:?}"));
                }
            }
            prop_assert_eq!(books(&at_once), books(&queued));
        }
    }
}
