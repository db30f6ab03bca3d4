use tailback_tcp::Ecn;
use tailback_units::{Bytes, Duration, Rate, Time};

use super::{QueuedBuffer, QueuedConfig};
use crate::flow_control::Paused;
use crate::frame::EndpointId;
use crate::pool::{Flight, FramePool};
use crate::queue::cake::CakeConfig;
use crate::queue::codel::CodelConfig;
use crate::queue::dualpi2::Dualpi2Config;
use crate::queue::ets::EtsConfig;
use crate::queue::fq_codel::FqCodelConfig;
use crate::queue::{Held, QueueConfig};
use crate::random::Stream;
use crate::switch::DropCause;
use crate::switch::shared::{SharedConfig, TxLimit};
use crate::testing::{flight, frame};

fn buffer(scheduler: &EtsConfig) -> QueuedBuffer {
    limited(scheduler, Vec::new())
}

fn limited(scheduler: &EtsConfig, band_limits: Vec<TxLimit>) -> QueuedBuffer {
    QueuedBuffer::new(&config(scheduler, band_limits), &[(1518, None); 2], (1, 0))
}

fn config(scheduler: &EtsConfig, band_limits: Vec<TxLimit>) -> QueuedConfig {
    let memory = SharedConfig {
        shared: Bytes::new(15_180),
        segment: Bytes::new(1518),
        rx_private: Bytes::ZERO,
        tx_private: Bytes::ZERO,
        rx_hog: None,
        tx_limit: TxLimit::None {},
    };
    QueuedConfig {
        memory,
        queue: QueueConfig::Fifo {},
        scheduler: scheduler.clone(),
        band_limits,
        service: Vec::new(),
    }
}

/// Offers a frame for port 0, and queues it if it is admitted.
fn offer(buffer: &mut QueuedBuffer, frame: Flight) -> Result<(), DropCause> {
    let held = buffer.admit(Time::ZERO, 1, 0, frame)?;
    buffer.enqueue((Time::ZERO, Time::ZERO), 0, held, &mut FramePool::default());
    Ok(())
}

fn next(buffer: &mut QueuedBuffer, now: Time, port: u16, paused: &Paused) -> Option<Held> {
    buffer.next(now, port, paused, &mut FramePool::default())
}

fn of_class(class: u8) -> Flight {
    let mut frame = flight(1448);
    frame.class = class;
    frame
}

#[test]
fn memory_is_held_until_a_frame_is_taken() {
    let mut buffer = buffer(&EtsConfig::default());
    let free = Paused::default();
    for _ in 0..10 {
        assert_eq!(offer(&mut buffer, of_class(0)), Ok(()));
    }
    assert_eq!(buffer.queued_bytes(0), 15_180);
    let full = Err(DropCause::BufferFull);
    assert_eq!(offer(&mut buffer, of_class(0)), full);
    assert_eq!(next(&mut buffer, Time::ZERO, 0, &free).unwrap().in_port, 1);
    assert_eq!(offer(&mut buffer, of_class(0)), Ok(()));
    assert_eq!(buffer.waiting().count(), 10);
    assert!(next(&mut buffer, Time::ZERO, 1, &free).is_none());
}

#[test]
fn where_memory_ends_a_sparse_flow_has_room_made_for_it() {
    let of = |to: u32| {
        let mut frame = of_class(0);
        frame.to = EndpointId(to);
        frame
    };
    let hog = TxLimit::Hog {
        bytes: Bytes::new(10 * 1518),
    };
    // The memory has room for ten frames, or for twenty of which a port, or its band, may have ten.
    for (frames, port, band, cause) in [
        (10, TxLimit::None {}, vec![], DropCause::BufferFull),
        (20, hog, vec![], DropCause::QueueLimit),
        (20, TxLimit::None {}, vec![hog], DropCause::QueueLimit),
    ] {
        let mut config = config(&EtsConfig::default(), band);
        config.memory.shared = Bytes::new(frames * 1518);
        config.memory.tx_limit = port;
        let mut fifo = QueuedBuffer::new(&config, &[(1518, None); 2], (1, 0));
        config.queue = QueueConfig::FqCodel(FqCodelConfig::default());
        let mut fair = QueuedBuffer::new(&config, &[(1518, None); 2], (1, 0));
        for buffer in [&mut fifo, &mut fair] {
            for _ in 0..10 {
                assert_eq!(offer(buffer, of(1)), Ok(()));
            }
        }
        assert_eq!(offer(&mut fifo, of(2)), Err(cause));
        assert!(fifo.take_dropped().is_none());
        // The long queue loses half, as beyond the limit.
        assert_eq!(offer(&mut fair, of(2)), Ok(()));
        for _ in 0..5 {
            let (held, why) = fair.take_dropped().expect("a frame that made room");
            assert_eq!((held.frame.to.0, why), (1, cause));
        }
        assert!(fair.take_dropped().is_none());
        assert_eq!(fair.queued_bytes(0), 6 * 1518);
    }
    // What came in by one port need not wait where its next frame would.
    let mut config = config(&EtsConfig::default(), Vec::new());
    config.memory.rx_hog = Some(Bytes::new(5 * 1518));
    config.queue = QueueConfig::FqCodel(FqCodelConfig::default());
    let mut buffer = QueuedBuffer::new(&config, &[(1518, None); 2], (1, 0));
    for _ in 0..5 {
        assert_eq!(offer(&mut buffer, of(1)), Ok(()));
    }
    assert_eq!(offer(&mut buffer, of(2)), Err(DropCause::IngressLimit));
    assert!(buffer.take_dropped().is_none());
}

#[test]
fn a_paused_class_lets_others_by_but_not_in_its_own_band() {
    let two_bands = EtsConfig {
        strict: 2,
        quanta: Vec::new(),
        priomap: vec![1, 1, 1, 0],
    };
    let mut buffer = buffer(&two_bands);
    for class in [3, 0, 1] {
        offer(&mut buffer, of_class(class)).unwrap();
    }
    let mut paused = Paused::default();
    paused.pause(Time::ZERO, 1 << 3, Duration::from_us(1));
    let class = |held: Option<Held>| held.map(|h| h.frame.class);
    assert_eq!(class(next(&mut buffer, Time::ZERO, 0, &paused)), Some(0));
    let mut both = paused.clone();
    both.pause(Time::ZERO, 1 << 1, Duration::from_us(1));
    assert!(next(&mut buffer, Time::ZERO, 0, &both).is_none());
    let later = Time::ZERO + Duration::from_us(1);
    let rest = [(); 2].map(|()| class(next(&mut buffer, later, 0, &both)));
    assert_eq!(rest, [Some(3), Some(1)]);
}

/// Frames of a class for a port that are admitted until one is not.
fn fill(buffer: &mut QueuedBuffer, port: u16, class: u8) -> usize {
    let admitted =
        (0..100).take_while(
            |_| match buffer.admit(Time::ZERO, 1, port, of_class(class)) {
                Ok(held) => {
                    buffer.enqueue(
                        (Time::ZERO, Time::ZERO),
                        port,
                        held,
                        &mut FramePool::default(),
                    );
                    true
                }
                Err(cause) => {
                    assert_eq!(cause, DropCause::QueueLimit);
                    false
                }
            },
        );
    admitted.count()
}

#[test]
fn thresholds_are_dynamic_over_ports_and_classes() {
    // Room for ten frames, and a queue may hold as much as is free (alpha 1): one queue gets half, and
    // each of the others half of what is left when it comes.
    let bands = EtsConfig {
        strict: 2,
        quanta: Vec::new(),
        priomap: vec![1, 0],
    };
    let alpha = |alpha| TxLimit::Dynamic { alpha };
    let mut alone = limited(&bands, vec![alpha(1.0), alpha(1.0)]);
    assert_eq!(fill(&mut alone, 0, 0), 5);
    assert_eq!(fill(&mut alone, 0, 1), 3, "another class of the port");
    assert_eq!(fill(&mut alone, 1, 0), 1, "the same class of another port");
    // A class with a larger factor gets more of the same memory.
    let mut favoured = limited(&bands, vec![alpha(4.0), alpha(0.25)]);
    assert_eq!(fill(&mut favoured, 0, 0), 2);
    assert_eq!(fill(&mut favoured, 0, 1), 7);
    // What leaves makes room again.
    let free = Paused::default();
    assert!(next(&mut favoured, Time::ZERO, 0, &free).is_some());
    assert_eq!(fill(&mut favoured, 0, 1), 1);
}

#[test]
fn a_marker_sees_the_queue_that_a_frame_joins() {
    let classes = EtsConfig {
        strict: 2,
        quanta: Vec::new(),
        priomap: vec![1, 0],
    };
    let mut several = buffer(&classes);
    for _ in 0..3 {
        assert_eq!(offer(&mut several, of_class(0)), Ok(()));
    }
    assert_eq!(offer(&mut several, of_class(1)), Ok(()));
    let busy_until = Time::ZERO + Duration::from_us(9);
    let look = |buffer: &QueuedBuffer, class| {
        let look = buffer.look(0, class, busy_until);
        (look.queued_bytes, look.free_at)
    };
    assert_eq!(look(&several, 0), (3 * 1518, Time::ZERO));
    assert_eq!(look(&several, 1), (1518, Time::ZERO));
    let bands = [0, 1].map(|class| several.look(0, class, busy_until).band);
    assert_eq!(bands, [1, 0]);
    // Class 1 is served first, and its queue is idle from then on, whatever the port does.
    let now = Time::ZERO + Duration::from_us(2);
    let taken = next(&mut several, now, 0, &Paused::default());
    assert_eq!(taken.map(|held| held.frame.class), Some(1));
    assert_eq!(look(&several, 1), (0, now));
    assert_eq!(look(&several, 0), (3 * 1518, Time::ZERO));
    // One queue for all is the port's, idle when that is.
    let mut one = buffer(&EtsConfig::default());
    assert_eq!(offer(&mut one, of_class(0)), Ok(()));
    assert_eq!(offer(&mut one, of_class(1)), Ok(()));
    assert_eq!(look(&one, 0), (2 * 1518, busy_until));
    assert_eq!(look(&one, 1), (2 * 1518, busy_until));
}

#[test]
fn a_band_holds_as_much_as_its_cap_and_the_port_s_leave_it() {
    // Units of a frame of 1518 B, of which the shared memory has ten.
    let frames = |count: u64| Bytes::new(count * 1518);
    let bands = EtsConfig {
        strict: 3,
        quanta: Vec::new(),
        priomap: vec![0, 1, 2],
    };
    let hog = |count| TxLimit::Hog {
        bytes: frames(count),
    };
    let alpha = |alpha| TxLimit::Dynamic { alpha };
    for (limits, own, port) in [
        (vec![], 0, TxLimit::None {}),
        (vec![hog(3), hog(20)], 0, TxLimit::None {}),
        (vec![hog(3), hog(7)], 0, hog(5)),
        (
            vec![alpha(1.0), alpha(4.0), alpha(0.25)],
            0,
            TxLimit::None {},
        ),
        (
            vec![alpha(1.0), alpha(4.0), alpha(0.25)],
            2,
            TxLimit::None {},
        ),
        (vec![alpha(0.2), hog(1)], 4, hog(5)),
    ] {
        let mut config = config(&bands, limits);
        config.memory.tx_private = frames(own);
        config.memory.tx_limit = port;
        for band in 0..3 {
            let mut buffer = QueuedBuffer::new(&config, &[(1518, None); 2], (1, 0));
            let admitted = (0..100).take_while(|_| offer(&mut buffer, of_class(band)).is_ok());
            let full = 1518 * admitted.count() as u64;
            let most = config.band_capacity_bytes(band.into(), 2, 0);
            assert!(full.abs_diff(most) < 1518, "{full} {most} {config:?}");
        }
    }
    let two = config(&bands, vec![hog(1), hog(2), hog(3)]);
    assert_eq!(two.port_capacity_bytes(2, 0), 6 * 1518);
    let three = config(&bands, vec![hog(8), hog(8)]);
    assert_eq!(three.port_capacity_bytes(2, 0), 10 * 1518);
}

#[test]
fn weighted_bands_have_equal_bytes_where_a_discipline_drops_what_was_looked_at() {
    let bands = EtsConfig {
        strict: 0,
        quanta: vec![Bytes::new(1600); 2],
        priomap: vec![0, 1],
    };
    let mut config = config(&bands, Vec::new());
    config.memory.shared = Bytes::new(8_000_000);
    config.queue = QueueConfig::Codel(CodelConfig {
        limit: 100_000,
        target: Duration::from_us(100),
        interval: Duration::from_ms(1),
        ..CodelConfig::default()
    });
    let mut buffer = QueuedBuffer::new(&config, &[(1518, None); 2], (1, 0));
    let mut pool = FramePool::default();
    let mut sizes = Stream::new(1, "sizes", 0);
    let mut now = Time::ZERO;
    let mut bytes = [0_u64; 2];
    for _ in 0..50_000 {
        // Both bands always have frames: one of two sizes, the other of one.
        for class in [0, 1] {
            while buffer.look(0, class, now).queued_bytes < 150_000 {
                let is_small = class == 0 && sizes.next_u64() >> 62 > 0;
                let mut frame = flight(if is_small { 150 } else { 1448 });
                frame.class = class;
                let held = buffer.admit(now, 1, 0, frame).expect("memory enough");
                buffer.enqueue((now, now), 0, held, &mut pool);
            }
        }
        let held = buffer.next(now, 0, &Paused::default(), &mut pool);
        let frame = held.expect("something waits").frame;
        bytes[usize::from(frame.class)] += u64::from(frame.frame_bytes);
        now += Rate::from_gbps(1).time_for(frame.wire_bytes());
        while buffer.take_dropped().is_some() {}
    }
    let share = bytes[0] as f64 / bytes[1] as f64;
    assert!((share - 1.0).abs() < 0.001, "{share}");
}

/// A port that is idle between groups of frames: who leaves in which order, by group.
fn orders(queue: QueueConfig, groups: &[&[(u32, Ecn)]]) -> Vec<Vec<u32>> {
    let mut config = config(&EtsConfig::default(), Vec::new());
    config.memory.shared = Bytes::new(8_000_000);
    config.queue = queue;
    let mut buffer = QueuedBuffer::new(&config, &[(1518, None); 2], (1, 0));
    let mut pool = FramePool::default();
    let (mut now, mut free_at) = (Time::ZERO, Time::ZERO);
    let mut orders = Vec::new();
    for group in groups {
        now += Duration::from_us(100);
        for (to, ecn) in *group {
            let mut frame = frame(1448);
            frame.segment.ecn = *ecn;
            frame.to = EndpointId(*to);
            let flight = pool.put(now, &frame);
            let held = buffer.admit(now, 1, 0, flight).expect("memory enough");
            buffer.enqueue((now, free_at), 0, held, &mut pool);
        }
        let mut order = Vec::new();
        while !buffer.is_empty(0) {
            let held = buffer.next(now, 0, &Paused::default(), &mut pool);
            order.push(held.expect("something waits").frame.to.0);
            now += Duration::from_us(2);
            free_at = now;
        }
        orders.push(order);
    }
    orders
}

#[test]
fn flows_begin_anew_after_an_idle_time() {
    let queue = QueueConfig::FqCodel(FqCodelConfig::default());
    let (a, b) = ((1, Ecn::NotEct), (2, Ecn::NotEct));
    // What was alone before stands behind who comes first.
    let found = orders(queue, &[&[a], &[b, a], &[a, b]]);
    assert_eq!(found, [vec![1], vec![2, 1], vec![1, 2]]);
}

#[test]
fn the_credit_of_dualpi2_begins_anew_after_an_idle_time() {
    let queue = QueueConfig::Dualpi2(Dualpi2Config::default());
    let (low, classic) = ((1, Ecn::Ect1), (2, Ecn::NotEct));
    // The ninth frame of the L queue makes the C queue its creditor, which is settled with the last.
    let mut many = vec![low; 9];
    many.push(classic);
    let found = orders(queue, &[&many, &[classic, low]]);
    assert_eq!(found[0], [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
    assert_eq!(found[1], [1, 2]);
}

#[test]
fn a_port_may_have_a_discipline_of_its_own_that_holds_back() {
    let cake = QueueConfig::Cake(CakeConfig {
        bandwidth: Some(Rate::from_bps(100_000_000)),
        ..CakeConfig::default()
    });
    let config = config(&EtsConfig::default(), Vec::new());
    let mut buffer = QueuedBuffer::new(&config, &[(1518, Some(&cake)), (1518, None)], (1, 0));
    let free = Paused::default();
    let at = |us: u64| Time::ZERO + Duration::from_us(us);
    for port in [0, 1] {
        for _ in 0..2 {
            let held = buffer.admit(at(0), 0, port, of_class(0)).expect("room");
            let mut frames = FramePool::default();
            buffer.enqueue((at(0), at(0)), port, held, &mut frames);
        }
    }
    // The other port's FIFO gives both, one after the other.
    assert!(next(&mut buffer, at(0), 1, &free).is_some());
    assert!(next(&mut buffer, at(1), 1, &free).is_some());
    assert_eq!(buffer.held_until(at(1), 1), Time::NEVER);
    assert!(next(&mut buffer, at(0), 0, &free).is_some());
    assert!(next(&mut buffer, at(1), 0, &free).is_none());
    let until = Time::ZERO + Duration::from_ns(121_120);
    assert_eq!(buffer.held_until(at(1), 0), until);
    // As long as it is paused, no look is worth anything once it need not hold back any more.
    let mut paused = Paused::default();
    paused.pause(at(1), 1, Duration::from_ms(1));
    assert!(next(&mut buffer, until, 0, &paused).is_none());
    assert_eq!(buffer.held_until(until, 0), Time::NEVER);
    assert!(next(&mut buffer, until, 0, &free).is_some());
    assert!(buffer.is_empty(0) && buffer.is_empty(1));
}
