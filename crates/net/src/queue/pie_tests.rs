use tailback_tcp::Ecn;
use tailback_units::{Duration, Time};

use super::{ONE, Pie, PieConfig, damping};
use crate::marking::Mark;
use crate::pool::FramePool;
use crate::queue::Effects;
use crate::random::Stream;
use crate::switch::DropCause;
use crate::testing::held;

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

fn pie(config: &PieConfig) -> Pie {
    Pie::new(config, 1518, Stream::new(1, "queue", 0))
}

/// Shares of the frames dropped and marked, and the mean delay in ms, of a queue that gets a frame
/// every `every_us` and sends one a millisecond, over the last half of so many seconds.
fn shares(config: &PieConfig, every_us: u64, seconds: u64, ecn: Ecn) -> (f64, f64, f64) {
    let mut queue = pie(config);
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let (mut came, mut dropped, mut marked, mut left, mut waited) = (0_u64, 0, 0, 0_u64, 0.0);
    for now in 0..seconds * 1_000_000 {
        let counts = now >= seconds * 500_000;
        if now % every_us == 0 {
            let held = held(&mut frames, us(now), 1, 1448, ecn);
            queue.enqueue(us(now), held, &mut frames, &mut effects);
            came += u64::from(counts);
        }
        if now % 1000 == 0
            && let Some(held) = queue.dequeue(us(now))
            && counts
        {
            left += 1;
            waited += us(now).since(held.since).as_ms_f64();
        }
        let (drops, marks) = (
            effects.dropped_now.len() as u64,
            effects.marked.len() as u64,
        );
        effects = Effects::default();
        if counts {
            dropped += drops;
            marked += marks;
        }
    }
    (
        dropped as f64 / came as f64,
        marked as f64 / came as f64,
        waited / left as f64,
    )
}

#[test]
fn a_steady_overload_is_dropped_and_the_delay_settles_at_the_target() {
    // 1.25 times what leaves: a fifth has to go.
    let (dropped, marked, delay_ms) = shares(&PieConfig::default(), 800, 40, Ecn::Ect0);
    assert!((dropped - 0.2).abs() < 0.01, "{dropped}");
    assert!((delay_ms / 15.0 - 1.0).abs() < 0.1, "{delay_ms} ms");
    assert_eq!(marked, 0.0);
}

#[test]
fn marks_end_where_the_probability_passes_a_tenth() {
    let config = PieConfig {
        ecn: true,
        ..PieConfig::default()
    };
    // Nobody answers marks, so the probability rises until frames are dropped again.
    let (dropped, marked, _) = shares(&config, 800, 40, Ecn::Ect0);
    assert!((dropped - 0.2).abs() < 0.01, "{dropped}");
    assert!(marked < 0.01, "{marked}");
    // Without excess nothing happens.
    assert_eq!(shares(&config, 1000, 10, Ecn::Ect0).0, 0.0);
}

#[test]
fn what_bears_sce_or_ce_already_is_neither_dropped_nor_counted() {
    let config = PieConfig {
        ecn: true,
        mark: Mark::Sce,
        ..PieConfig::default()
    };
    for (ecn, dropped, marked) in [
        (Ecn::NotEct, 1, 0),
        (Ecn::Ect0, 0, 1),
        (Ecn::Ect1, 0, 0),
        (Ecn::Ce, 0, 0),
    ] {
        let mut queue = pie(&config);
        let (mut frames, mut effects) = (FramePool::default(), Effects::default());
        // A probability at which frames are marked, and the sum at which the next is for sure.
        queue.burst = Duration::ZERO;
        queue.probability = ONE / 10;
        queue.delay = config.target;
        queue.bytes = 1_000_000;
        queue.since_last = 9 * ONE;
        let held = held(&mut frames, us(0), 1, 1448, ecn);
        queue.enqueue(us(0), held, &mut frames, &mut effects);
        let seen = (effects.dropped_now.len(), effects.marked.len());
        assert_eq!(seen, (dropped, marked), "{ecn:?}");
    }
}

#[test]
fn less_than_two_frames_of_the_link_s_mtu_pass() {
    let config = PieConfig::default();
    for (mtu, bytes, acts) in [
        (1500, 3035, false),
        (1500, 3036, true),
        (9000, 18_035, false),
        (9000, 18_036, true),
    ] {
        let mut queue = Pie::new(&config, mtu + 18, Stream::new(1, "queue", 0));
        queue.burst = Duration::ZERO;
        queue.probability = ONE / 5;
        queue.since_last = 9 * ONE;
        queue.bytes = bytes;
        assert_eq!(queue.acts(), acts, "MTU {mtu}, {bytes} B");
    }
}

#[test]
fn the_probability_moves_by_both_gains() {
    let mut queue = pie(&PieConfig::default());
    queue.probability = ONE / 5;
    queue.delay = Duration::from_ms(25);
    queue.delay_before = Duration::from_ms(20);
    queue.update();
    // 0.125 Hz of 10 ms and 1.25 Hz of 5 ms.
    let moved = (queue.probability - ONE / 5) as f64 / ONE as f64;
    assert!((moved - (0.00125 + 0.00625)).abs() < 1e-9, "{moved}");
    // By two percent at most, and two more beyond 250 ms.
    queue.delay = Duration::from_ms(300);
    let before = queue.probability;
    queue.update();
    let moved = (queue.probability - before) as f64 / ONE as f64;
    assert!((moved - 0.04).abs() < 1e-9, "{moved}");
}

#[test]
fn small_probabilities_move_slowly() {
    let at = |share: f64| damping((share * ONE as f64) as i64);
    let seen = [0.2, 0.05, 0.005, 0.000_5, 0.000_05, 0.000_005, 0.000_000_5].map(at);
    assert_eq!(seen, [1, 2, 8, 32, 128, 512, 2048]);
}

#[test]
fn the_beginning_of_a_burst_passes() {
    // 150 ms by default, as in Linux; then the probability has to rise.
    let first = first_drop_us(&PieConfig::default());
    assert!((150_000..250_000).contains(&first), "{first} us");
    let short = PieConfig {
        max_burst: Duration::from_ms(20),
        ..PieConfig::default()
    };
    let first = first_drop_us(&short);
    assert!((20_000..150_000).contains(&first), "{first} us");
}

/// When the first frame is dropped of four times what leaves.
fn first_drop_us(config: &PieConfig) -> u64 {
    let config = PieConfig {
        limit: 100_000,
        ..config.clone()
    };
    let mut queue = pie(&config);
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    for now in 0..1_000_000 {
        if now % 250 == 0 {
            let held = held(&mut frames, us(now), 1, 1448, Ecn::NotEct);
            queue.enqueue(us(now), held, &mut frames, &mut effects);
        }
        if now % 1000 == 0 {
            queue.dequeue(us(now));
        }
        if !effects.dropped_now.is_empty() {
            return now;
        }
    }
    panic!("no drop in a second");
}

#[test]
fn beyond_the_limit_it_is_the_queue_that_is_full() {
    let config = PieConfig {
        limit: 2,
        ..PieConfig::default()
    };
    let mut queue = pie(&config);
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    for _ in 0..3 {
        let held = held(&mut frames, us(0), 1, 1448, Ecn::NotEct);
        queue.enqueue(us(0), held, &mut frames, &mut effects);
    }
    let causes: Vec<DropCause> = effects.dropped_now.iter().map(|(_, why)| *why).collect();
    assert_eq!(causes, [DropCause::QueueLimit]);
}

#[test]
fn the_probability_decays_over_idle_time() {
    let mut queue = pie(&PieConfig::default());
    queue.probability = ONE / 2;
    queue.burst = Duration::ZERO;
    queue.update_until(us(15_000));
    let one = queue.probability;
    assert!(one < ONE / 2 && one > ONE * 48 / 100);
    queue.update_until(us(100_000_000));
    assert_eq!(queue.probability, 0);
    assert_eq!(queue.burst, Duration::from_ms(150));
    assert!(queue.next_update > us(100_000_000));
}
