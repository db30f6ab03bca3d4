use tailback_units::{Bytes, Time};

use super::{Pool, SharedBuffer, SharedConfig, TxLimit};
use crate::switch::DropCause;

const JUMBO: u16 = 9018;

fn config(shared: u64, tx_limit: TxLimit) -> SharedConfig {
    SharedConfig {
        shared: Bytes::new(shared),
        segment: Bytes::new(512),
        rx_private: Bytes::ZERO,
        tx_private: Bytes::ZERO,
        rx_hog: None,
        tx_limit,
    }
}

/// Offers jumbo frames that never leave until one is refused.
fn fill(buffer: &mut SharedBuffer, in_port: u16, out_port: u16) -> (u32, DropCause) {
    for admitted in 0.. {
        match buffer.offer(Time::ZERO, in_port, out_port, JUMBO) {
            Ok(pool) => {
                buffer.leaves(in_port, out_port, JUMBO, pool, Time::NEVER);
            }
            Err(cause) => return (admitted, cause),
        }
    }
    unreachable!("a finite memory refuses in the end")
}

#[test]
fn frames_take_whole_segments() {
    // 9018 B are 18 segments: 1 MB of 512-byte segments (1953) holds 108 of them.
    let mut buffer = SharedBuffer::new(&config(1_000_000, TxLimit::None {}), 4);
    assert_eq!(fill(&mut buffer, 1, 0), (108, DropCause::BufferFull));
}

#[test]
fn the_dynamic_threshold_settles_where_choudhury_and_hahne_say() {
    // One hot port holds alpha/(1+alpha) of the memory; two hold alpha/(1+2 alpha) each.
    for (alpha, hot, share) in [
        (1.0, 1, 0.5),
        (2.0, 1, 2.0 / 3.0),
        (8.0, 1, 8.0 / 9.0),
        (1.0, 2, 1.0 / 3.0),
    ] {
        let mut buffer = SharedBuffer::new(&config(4_000_000, TxLimit::Dynamic { alpha }), 4);
        let mut full = [false; 2];
        while !full[..hot].iter().all(|f| *f) {
            for port in 0..hot as u16 {
                match buffer.offer(Time::ZERO, 3, port, 512) {
                    Ok(pool) => {
                        buffer.leaves(3, port, 512, pool, Time::NEVER);
                    }
                    Err(_) => full[usize::from(port)] = true,
                }
            }
        }
        let held = buffer.queued_bytes(0) as f64 / 4e6;
        assert!(
            (held - share).abs() < 0.002,
            "alpha {alpha}, {hot} hot: {held} of the memory"
        );
    }
}

#[test]
fn a_private_share_is_there_when_the_pool_is_full() {
    let mut with_private = config(100_000, TxLimit::None {});
    with_private.tx_private = Bytes::new(20_480);
    let mut buffer = SharedBuffer::new(&with_private, 4);
    let (hog, _) = fill(&mut buffer, 1, 0);
    assert_eq!(
        hog,
        2 + 10,
        "two frames in its private share, ten in the pool"
    );
    let admitted = buffer.offer(Time::ZERO, 1, 2, JUMBO);
    assert_eq!(admitted.map(|a| a.pool), Ok(Pool::TxPrivate));
}

#[test]
fn a_hog_mark_caps_one_queue_and_an_ingress_mark_one_port() {
    let mut buffer = SharedBuffer::new(
        &config(
            1_000_000,
            TxLimit::Hog {
                bytes: Bytes::new(92_160),
            },
        ),
        4,
    );
    assert_eq!(fill(&mut buffer, 1, 0), (10, DropCause::QueueLimit));
    let mut capped = config(1_000_000, TxLimit::None {});
    capped.rx_hog = Some(Bytes::new(92_160));
    let mut buffer = SharedBuffer::new(&capped, 4);
    assert_eq!(fill(&mut buffer, 1, 0), (10, DropCause::IngressLimit));
    assert!(
        buffer.offer(Time::ZERO, 2, 0, JUMBO).is_ok(),
        "another ingress port is not capped"
    );
}

#[test]
fn what_has_left_makes_room_on_any_port() {
    let mut buffer = SharedBuffer::new(&config(9216, TxLimit::None {}), 4);
    let pool = buffer.offer(Time::ZERO, 1, 0, JUMBO).unwrap();
    buffer.leaves(1, 0, JUMBO, pool, Time::from_ps(100));
    assert_eq!(
        buffer.offer(Time::from_ps(99), 1, 2, JUMBO),
        Err(DropCause::BufferFull)
    );
    assert!(buffer.offer(Time::from_ps(100), 1, 2, JUMBO).is_ok());
    assert_eq!(buffer.queued_bytes(0), 0);
}

#[test]
fn what_nothing_but_the_pool_limits_is_admitted_as_where_more_is_asked() {
    for tx_limit in [
        TxLimit::None {},
        TxLimit::Hog {
            bytes: Bytes::new(30_000),
        },
        TxLimit::Dynamic { alpha: 0.5 },
    ] {
        let plain = config(100_000, tx_limit);
        // A mark that no ingress port can reach.
        let mut asking = plain.clone();
        asking.rx_hog = Some(Bytes::new(1 << 40));
        let mut buffers = [plain, asking].map(|config| SharedBuffer::new(&config, 4));
        let mut random = crate::random::Stream::new(7, "offers", 0);
        let (mut last, mut refused) = ([0; 4], 0);
        for step in 0..20_000_u64 {
            let now = Time::from_ps(step * 1000);
            let (input, output) = (random.below(4) as u16, random.below(4) as u16);
            let bytes = 64 + random.below(1455) as u16;
            let leaves = &mut last[usize::from(output)];
            let answers = buffers
                .each_mut()
                .map(|b| b.offer(now, input, output, bytes));
            assert_eq!(answers[0], answers[1], "step {step}");
            if let Ok(pool) = answers[0] {
                *leaves = (step * 1000).max(*leaves) + random.below(9000);
                let at = Time::from_ps(*leaves);
                let held = buffers
                    .each_mut()
                    .map(|b| b.leaves(input, output, bytes, pool, at));
                assert_eq!(held[0], held[1], "step {step}");
            } else {
                refused += 1;
            }
            let free = buffers.each_ref().map(SharedBuffer::free_bytes);
            assert_eq!(free[0], free[1], "step {step}");
        }
        assert!((1000..19_000).contains(&refused), "{refused} refused");
    }
}

#[test]
fn a_queue_holds_what_the_marks_of_all_other_ports_leave_it() {
    // Of 1 MB, three ports may send 100 KB each to the fourth: one fills all three queues with no more than 100 KB.
    let mut config = config(1_000_000, TxLimit::None {});
    config.rx_hog = Some(Bytes::new(100_000));
    config.tx_private = Bytes::new(20_000);
    let mut to_one = SharedBuffer::new(&config, 4);
    for port in 1..4 {
        fill(&mut to_one, port, 0);
    }
    let most = config.queue_capacity_bytes(4);
    assert_eq!(most, 320_000);
    assert!(to_one.queued_bytes(0).abs_diff(most) < 6 * u64::from(JUMBO));
    let mut from_one = SharedBuffer::new(&config, 4);
    for port in 1..4 {
        fill(&mut from_one, 0, port);
    }
    let held: u64 = (1..4).map(|port| from_one.queued_bytes(port)).sum();
    let most = config.ingress_capacity_bytes(config.queue_capacity_bytes(4), 4);
    assert_eq!(most, 160_000);
    assert!(held.abs_diff(most) < 6 * u64::from(JUMBO), "{held}");
}
