use tailback_units::{Bytes, Duration, Time};

use super::QueuedBuffer;
use crate::flow_control::Paused;
use crate::frame::Frame;
use crate::queue::QueueConfig;
use crate::queue::ets::EtsConfig;
use crate::switch::DropCause;
use crate::switch::shared::{SharedConfig, TxLimit};
use crate::testing::frame;

fn buffer(scheduler: &EtsConfig) -> QueuedBuffer {
    let memory = SharedConfig {
        shared: Bytes::new(15_180),
        segment: Bytes::new(1518),
        rx_private: Bytes::ZERO,
        tx_private: Bytes::ZERO,
        rx_hog: None,
        tx_limit: TxLimit::None {},
    };
    QueuedBuffer::new(&memory, &QueueConfig::Fifo, scheduler, 2)
}

fn of_class(class: u8) -> Frame {
    let mut frame = frame(1448);
    frame.segment.priority = class;
    frame
}

#[test]
fn memory_is_held_until_a_frame_is_taken() {
    let mut buffer = buffer(&EtsConfig::default());
    let free = Paused::default();
    for _ in 0..10 {
        assert_eq!(buffer.offer(Time::ZERO, 1, 0, of_class(0)), Ok(()));
    }
    assert_eq!(buffer.queued_bytes(0), 15_180);
    let full = Err(DropCause::BufferFull);
    assert_eq!(buffer.offer(Time::ZERO, 1, 0, of_class(0)), full);
    let (_, in_port) = buffer.next(Time::ZERO, 0, &free).unwrap();
    assert_eq!(in_port, 1);
    assert_eq!(buffer.offer(Time::ZERO, 1, 0, of_class(0)), Ok(()));
    assert_eq!(buffer.waiting().count(), 10);
    assert!(buffer.next(Time::ZERO, 1, &free).is_none());
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
        buffer.offer(Time::ZERO, 1, 0, of_class(class)).unwrap();
    }
    let mut paused = Paused::default();
    paused.pause(Time::ZERO, 1 << 3, Duration::from_us(1));
    let mut next = |now| buffer.next(now, 0, &paused).map(|(f, _)| f.class());
    assert_eq!(next(Time::ZERO), Some(0));
    let mut both = paused.clone();
    both.pause(Time::ZERO, 1 << 1, Duration::from_us(1));
    assert!(buffer.next(Time::ZERO, 0, &both).is_none());
    let later = Time::ZERO + Duration::from_us(1);
    let rest = [(); 2].map(|()| buffer.next(later, 0, &both).map(|(f, _)| f.class()));
    assert_eq!(rest, [Some(3), Some(1)]);
}
