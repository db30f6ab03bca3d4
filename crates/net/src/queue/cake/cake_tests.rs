use tailback_tcp::Ecn;
use tailback_units::{Bytes, Duration, Rate, Time};

use super::config::Framing;
use super::{AtmMode, Cake, CakeConfig, DiffservMode, FlowMode};
use crate::frame::HostId;
use crate::pool::FramePool;
use crate::queue::{Effects, Held};
use crate::random::Stream;
use crate::switch::DropCause;
use crate::testing::held;

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// A queue and the frames in it.
struct Queue {
    cake: Cake,
    frames: FramePool,
    effects: Effects,
}

/// Who sends: flow, the port its frames come in by, the host they are for, and their class.
type Sender = (u32, u16, u16, u8);

impl Queue {
    fn new(config: &CakeConfig) -> Queue {
        Queue {
            cake: Cake::new(config, 1518, Stream::new(1, "queue", 0)),
            frames: FramePool::default(),
            effects: Effects::default(),
        }
    }

    fn join(&mut self, now: Time, (flow, port, host, class): Sender, payload: u16) {
        let mut held: Held = held(&mut self.frames, now, flow, payload, Ecn::NotEct);
        held.in_port = port;
        held.frame.destination = HostId(host);
        held.frame.class = class;
        self.cake
            .enqueue(now, held, &self.frames, &mut self.effects);
    }

    fn leave(&mut self, now: Time) -> Option<Held> {
        self.cake.dequeue(now, &mut self.frames, &mut self.effects)
    }

    /// Bytes of each sender among the next `count` frames, of many that all have waiting.
    fn shares(&mut self, senders: &[Sender], count: usize) -> Vec<f64> {
        for _ in 0..count {
            for sender in senders {
                self.join(ms(0), *sender, 1448);
            }
        }
        let mut bytes = vec![0.0; senders.len()];
        for _ in 0..count {
            let held = self.leave(ms(0)).expect("they wait");
            let flow = held.frame.to.0;
            let place = senders.iter().position(|sender| sender.0 == flow);
            bytes[place.expect("one of them")] += f64::from(held.frame.frame_bytes);
        }
        let all: f64 = bytes.iter().sum();
        bytes.iter().map(|bytes| bytes / all).collect()
    }
}

fn config(flow_mode: FlowMode, diffserv_mode: DiffservMode) -> CakeConfig {
    CakeConfig {
        flow_mode,
        diffserv_mode,
        ..CakeConfig::default()
    }
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64]) {
    let near = found
        .iter()
        .zip(expected)
        .all(|(a, b)| (a - b).abs() < 0.02);
    assert!(
        near && found.len() == expected.len(),
        "{found:?} for {expected:?}"
    );
}

#[test]
fn hosts_and_flows_have_shares_as_the_mode_says() {
    use FlowMode::{
        Dsthost, DualDsthost, DualSrchost, Flowblind, Flows, Hosts, Srchost, TripleIsolate,
    };
    // Three flows from one host, two of them to one other; one from another host, to a third.
    let senders = [(1, 0, 10, 0), (2, 0, 10, 0), (3, 0, 11, 0), (4, 1, 12, 0)];
    let (third, quarter, sixth) = (1.0 / 3.0, 0.25, 1.0 / 6.0);
    for (mode, shares) in [
        (Flowblind, [quarter; 4]),
        (Flows, [quarter; 4]),
        (Srchost, [sixth, sixth, sixth, 0.5]),
        (Dsthost, [sixth, sixth, third, third]),
        (Hosts, [sixth, sixth, third, third]),
        (DualSrchost, [sixth, sixth, sixth, 0.5]),
        (DualDsthost, [sixth, sixth, third, third]),
        // The host that has more of them counts.
        (TripleIsolate, [sixth, sixth, sixth, 0.5]),
    ] {
        let mut queue = Queue::new(&config(mode, DiffservMode::Besteffort));
        let found = queue.shares(&senders, 1200);
        assert_near(&found, &shares);
    }
}

#[test]
fn tins_take_turns_by_weight() {
    use DiffservMode::{Besteffort, Diffserv3, Diffserv4, Diffserv8, Precedence};
    let of = |classes: &[u8]| {
        let senders = classes
            .iter()
            .zip(1..)
            .map(|(class, flow)| (flow, 0, 10, *class));
        senders.collect::<Vec<Sender>>()
    };
    let weights = |turns: &[f64]| {
        let all: f64 = turns.iter().sum();
        turns.iter().map(|turn| turn / all).collect::<Vec<f64>>()
    };
    for (mode, classes, turns) in [
        (Besteffort, vec![0, 1, 6], vec![1.0, 1.0, 1.0]),
        // Best effort, bulk and voice; 5 is best effort here and shares with it.
        (Diffserv3, vec![0, 1, 6], vec![1024.0, 64.0, 256.0]),
        (Diffserv3, vec![0, 5, 7], vec![512.0, 512.0, 256.0]),
        (
            Diffserv4,
            vec![0, 1, 3, 5],
            vec![1024.0, 64.0, 512.0, 256.0],
        ),
        (Diffserv8, vec![0, 1, 7], vec![196.0, 224.0, 97.0]),
        (Precedence, vec![0, 4], vec![256.0, 149.0]),
    ] {
        let mut queue = Queue::new(&config(FlowMode::Flows, mode));
        let found = queue.shares(&of(&classes), 3000);
        assert_near(&found, &weights(&turns));
    }
}

#[test]
fn with_a_rate_the_first_tin_that_keeps_to_its_part_goes_first() {
    let rate = Rate::from_bps(100_000_000);
    let config = CakeConfig {
        bandwidth: Some(rate),
        ..config(FlowMode::Flows, DiffservMode::Diffserv4)
    };
    // Voice asks for a tenth of the rate, of which a quarter is its own: it does not wait behind best effort.
    let mut queue = Queue::new(&config);
    let frame = rate.time_for(1518);
    let (mut now, mut longest) = (ms(0), Duration::ZERO);
    let mut voice = 0;
    for turn in 0..2000 {
        queue.join(now, (1, 0, 10, 0), 1448);
        queue.join(now, (2, 0, 10, 0), 1448);
        if turn % 10 == 0 {
            queue.join(now, (3, 0, 10, 5), 1448);
        }
        let held = queue.leave(now).expect("they wait");
        if held.frame.to.0 == 3 {
            voice += 1;
            longest = longest.max(now.since(held.since));
        }
        now += frame;
    }
    assert_eq!(voice, 200);
    assert!(longest <= frame, "{longest}");
    // One that wants more than its own has that and what others leave: here a quarter.
    let shares = Queue::new(&config).shares_in_time(&[(1, 0, 10, 0), (3, 0, 10, 5)], frame, 4000);
    assert_near(&shares, &[0.75, 0.25]);
}

impl Queue {
    /// The same as `shares`, at the pace of the link.
    fn shares_in_time(&mut self, senders: &[Sender], frame: Duration, count: usize) -> Vec<f64> {
        let mut now = ms(0);
        let mut bytes = vec![0.0; senders.len()];
        for _ in 0..count {
            for sender in senders {
                self.join(now, *sender, 1448);
            }
            let held = self.leave(now).expect("they wait");
            let place = senders
                .iter()
                .position(|sender| sender.0 == held.frame.to.0);
            bytes[place.expect("one of them")] += f64::from(held.frame.frame_bytes);
            now += frame;
        }
        let all: f64 = bytes.iter().sum();
        bytes.iter().map(|bytes| bytes / all).collect()
    }
}

#[test]
fn a_sparse_flow_goes_ahead() {
    let mut queue = Queue::new(&CakeConfig::default());
    for _ in 0..50 {
        queue.join(ms(0), (1, 0, 10, 0), 1448);
    }
    for _ in 0..10 {
        queue.leave(ms(1));
    }
    queue.join(ms(1), (2, 0, 10, 0), 44);
    let order: Vec<u32> = (0..2)
        .filter_map(|_| queue.leave(ms(1)))
        .map(|held| held.frame.to.0)
        .collect();
    assert!(order.contains(&2), "{order:?}");
}

#[test]
fn beyond_memlimit_the_longest_queue_loses_its_first() {
    let mut queue = Queue::new(&CakeConfig {
        memlimit: Some(Bytes::new(15_180)),
        ..CakeConfig::default()
    });
    queue.join(ms(0), (2, 0, 10, 0), 1448);
    for _ in 0..20 {
        queue.join(ms(0), (1, 0, 10, 0), 1448);
    }
    let lost: Vec<(u32, DropCause)> = (queue.effects.dropped_now.iter())
        .map(|(held, cause)| (held.frame.to.0, *cause))
        .collect();
    assert_eq!(lost, [(1, DropCause::QueueLimit); 11]);
    assert_eq!(queue.cake.waiting().count(), 10);
    let (cake, effects) = (&mut queue.cake, &mut queue.effects);
    assert!(cake.drop_from_longest(ms(0), DropCause::BufferFull, effects));
    assert_eq!(queue.cake.waiting().count(), 9);
}

#[test]
fn more_flows_than_a_set_has_places_share_and_nothing_is_lost() {
    let mut queue = Queue::new(&CakeConfig::default());
    let (mut joined, mut left) = (0, 0);
    for round in 0..40_u64 {
        for flow in 0..3000_u32 {
            queue.join(
                ms(round),
                (flow, flow as u16 % 7, flow as u16 % 11, flow as u8 % 8),
                44,
            );
            joined += 1;
        }
        for _ in 0..2900 {
            left += usize::from(queue.leave(ms(round)).is_some());
        }
    }
    let dropped = queue.effects.dropped_now.len();
    assert_eq!(joined, left + dropped + queue.cake.waiting().count());
    while queue.leave(ms(10_000)).is_some() {}
    assert_eq!(queue.cake.waiting().count(), 0);
    assert!(queue.cake.first().is_none());
}

#[test]
fn a_slow_link_raises_the_target() {
    // A frame takes 12 ms at 1 Mb/s: a queue of three is no queue.
    let acts = |bandwidth: Option<Rate>| {
        let mut queue = Queue::new(&CakeConfig {
            bandwidth,
            ..config(FlowMode::Flows, DiffservMode::Besteffort)
        });
        for now in 0..400 {
            let now = ms(now * 12);
            queue.join(now, (1, 0, 10, 0), 1448);
            if now >= ms(36) {
                queue.leave(now);
            }
        }
        queue.effects.dropped_now.len()
    };
    assert_eq!(acts(Some(Rate::from_bps(1_000_000))), 0);
    assert!(acts(None) > 0);
}

#[test]
fn frames_leave_no_faster_than_the_shaper_lets_them() {
    let rate = Rate::from_bps(100_000_000);
    let mut queue = Queue::new(&CakeConfig {
        bandwidth: Some(rate),
        ..config(FlowMode::Flows, DiffservMode::Besteffort)
    });
    // 1518 bytes are 1514 to Linux: 121.12 us.
    let takes = Duration::from_ns(121_120);
    for _ in 0..3 {
        queue.join(ms(1), (1, 0, 10, 0), 1448);
    }
    let held_until = |queue: &Queue| queue.cake.held_until();
    assert_eq!(held_until(&queue), ms(1));
    assert!(queue.leave(ms(1)).is_some());
    assert_eq!(held_until(&queue), ms(1) + takes);
    assert!(
        queue
            .leave((ms(1) + takes).before(Duration::from_ns(1)))
            .is_none()
    );
    // Late by 50 us, which the next makes up for.
    assert!(queue.leave(ms(1) + takes + Duration::from_us(50)).is_some());
    assert!(queue.leave(ms(1) + takes * 2).is_some());
    assert_eq!(
        (held_until(&queue), queue.cake.waiting().count()),
        (Time::ZERO, 0)
    );
    // What came before the time is over still waits for it; after a pause nothing has been saved up.
    queue.join(ms(1) + takes * 2, (1, 0, 10, 0), 1448);
    assert_eq!(held_until(&queue), ms(1) + takes * 3);
    assert!(queue.leave(ms(1) + takes * 3).is_some());
    for _ in 0..2 {
        queue.join(ms(9), (1, 0, 10, 0), 1448);
    }
    assert!(queue.leave(ms(9)).is_some());
    assert_eq!(held_until(&queue), ms(9) + takes);
}

#[test]
fn what_is_dropped_counts_with_ingress_up_to_a_third() {
    // Twice the rate of a flow that does not answer: half is dropped, and with `ingress` what leaves is two thirds of
    // the rate, not the half that would be left of it.
    let rate = Rate::from_bps(100_000_000);
    let left = |ingress: bool| {
        let mut queue = Queue::new(&CakeConfig {
            bandwidth: Some(rate),
            rtt: Duration::from_ms(10),
            ingress,
            ..config(FlowMode::Flows, DiffservMode::Besteffort)
        });
        let (mut count, mut due) = (0, ms(0));
        for step in 0..66_000_u64 {
            let now = Time::ZERO + Duration::from_ns(60_560) * step;
            while queue.cake.waiting().next().is_some() && due <= now {
                count += u64::from(queue.leave(due).is_some());
                due = queue.cake.held_until().max(due + Duration::from_ns(1));
            }
            queue.join(now, (1, 0, 10, 0), 1448);
            due = queue.cake.held_until().max(now);
        }
        count as f64 / 33_000.0
    };
    let (without, with) = (left(false), left(true));
    assert!((without - 1.0).abs() < 0.001, "{without}");
    assert!((with - 2.0 / 3.0).abs() < 0.02, "{with}");
}

#[test]
fn what_a_frame_counts_for() {
    let counted = |overhead, mpu, atm_mode, frame_bytes| {
        let config = CakeConfig {
            overhead,
            mpu,
            atm_mode,
            ..CakeConfig::default()
        };
        Framing::new(&config).counted_bytes(frame_bytes)
    };
    use AtmMode::{Atm, Noatm, Ptm};
    assert_eq!(counted(None, 0, Noatm, 1518), 1514);
    // Ethernet on the wire, and its shortest frame (`ethernet`: overhead 38 mpu 84).
    assert_eq!(counted(Some(38), 84, Noatm, 1518), 1538);
    assert_eq!(counted(Some(38), 84, Noatm, 64), 84);
    // PPPoE over ADSL (`pppoe-llcsnap`: overhead 40 atm): 1540 bytes are 33 cells.
    assert_eq!(counted(Some(40), 0, Atm, 1518), 33 * 53);
    assert_eq!(counted(Some(8), 0, Atm, 58), 53);
    assert_eq!(counted(Some(9), 0, Atm, 58), 2 * 53);
    // VDSL2 (`bridged-ptm`: overhead 22 ptm): 1522 bytes are 24 blocks.
    assert_eq!(counted(Some(22), 0, Ptm, 1518), 1522 + 24);
    assert_eq!(counted(Some(-20), 0, Noatm, 58), 20);
}
