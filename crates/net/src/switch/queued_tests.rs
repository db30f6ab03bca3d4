use tailback_units::{Bytes, Duration, Time};

use super::{QueuedBuffer, QueuedConfig};
use crate::flow_control::Paused;
use crate::pool::{Flight, FramePool};
use crate::queue::ets::EtsConfig;
use crate::queue::{Held, QueueConfig};
use crate::switch::DropCause;
use crate::switch::shared::{SharedConfig, TxLimit};
use crate::testing::flight;

fn buffer(scheduler: &EtsConfig) -> QueuedBuffer {
    let memory = SharedConfig {
        shared: Bytes::new(15_180),
        segment: Bytes::new(1518),
        rx_private: Bytes::ZERO,
        tx_private: Bytes::ZERO,
        rx_hog: None,
        tx_limit: TxLimit::None {},
    };
    let config = QueuedConfig {
        memory,
        queue: QueueConfig::Fifo {},
        scheduler: scheduler.clone(),
        service: Vec::new(),
    };
    QueuedBuffer::new(&config, 2, 1, 0)
}

/// Offers a frame for port 0, and queues it if it is admitted.
fn offer(buffer: &mut QueuedBuffer, frame: Flight) -> Result<(), DropCause> {
    let held = buffer.admit(Time::ZERO, 1, 0, frame)?;
    buffer.enqueue(Time::ZERO, 0, held, &mut FramePool::default());
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
