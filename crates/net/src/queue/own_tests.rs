use tailback_tcp::Ecn;
use tailback_units::{Duration, Time};

use std::sync::Arc;

use super::{Look, MakeQueue, Needs, Own, OwnQueue, OwnQueueConfig, OwnQueues, Packet, Verdict};
use crate::marking::Mark;
use crate::pool::FramePool;
use crate::queue::Effects;
use crate::random::Stream;
use crate::switch::DropCause;
use crate::testing::held;

/// Long frames before short ones, as they come; what comes to three waiting is marked, what comes to four is
/// dropped, and what has waited for a millisecond too.
#[derive(Clone, Debug)]
struct Mine;

impl OwnQueue for Mine {
    fn needs(&self) -> Needs {
        Needs {
            enqueue: true,
            rank: true,
            dequeue: true,
            due: false,
        }
    }

    fn enqueue(&mut self, look: &Look, _packet: &Packet) -> Verdict {
        Verdict {
            mark: (look.qlen >= 3).then_some(Mark::Ce),
            drop: look.qlen >= 4,
        }
    }

    fn rank(&mut self, _look: &Look, packet: &Packet) -> i64 {
        -i64::from(packet.frame_bytes)
    }

    fn dequeue(&mut self, look: &Look, packet: &Packet) -> Verdict {
        Verdict {
            mark: None,
            drop: look.now.since(packet.since) >= Duration::from_ms(1),
        }
    }

    fn boxed_clone(&self) -> Box<dyn OwnQueue> {
        Box::new(self.clone())
    }
}

/// A frame every 10 us, short ones before long ones.
#[derive(Clone, Debug)]
struct Paced(Time);

impl OwnQueue for Paced {
    fn needs(&self) -> Needs {
        Needs {
            rank: true,
            dequeue: true,
            due: true,
            ..Needs::default()
        }
    }

    fn rank(&mut self, _look: &Look, packet: &Packet) -> i64 {
        packet.frame_bytes.into()
    }

    fn dequeue(&mut self, look: &Look, packet: &Packet) -> Verdict {
        let drop = packet.ecn == Ecn::Ce;
        if !drop {
            self.0 = look.now + Duration::from_us(10);
        }
        Verdict { mark: None, drop }
    }

    fn due(&mut self, look: &Look, packet: &Packet) -> Time {
        assert!(look.qlen > 0 && look.backlog_bytes >= packet.frame_bytes.into());
        // What is short need not wait.
        if packet.payload_bytes < 100 {
            look.now
        } else {
            self.0
        }
    }

    fn boxed_clone(&self) -> Box<dyn OwnQueue> {
        Box::new(self.clone())
    }
}

#[derive(Debug)]
struct Makes;

impl MakeQueue for Makes {
    fn make(&self, name: &str, _seed: u64) -> Option<Box<dyn OwnQueue>> {
        match name {
            "mine" => Some(Box::new(Mine)),
            "paced" => Some(Box::new(Paced(Time::ZERO))),
            _ => None,
        }
    }
}

fn queue(name: &str) -> Own {
    let config = OwnQueueConfig {
        name: name.to_owned(),
        own: OwnQueues(Some(Arc::new(Makes))),
    };
    Own::new(&config, 1518, Stream::new(1, "queue", 0))
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

#[test]
fn frames_leave_by_rank_and_those_of_one_rank_as_they_came() {
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let mut queue = queue("mine");
    for (at, payload) in [(0, 100), (1, 1448), (2, 100), (3, 500)] {
        let held = held(&mut frames, us(at), 1, payload, Ecn::NotEct);
        queue.enqueue(us(at), held, &mut frames, &mut effects);
    }
    assert_eq!(queue.first().map(|held| held.since), Some(us(1)));
    assert_eq!(queue.waiting().count(), 4);
    let mut next = || queue.dequeue(us(10), &mut frames, &mut effects);
    let left: Vec<Time> = std::iter::from_fn(&mut next).map(|h| h.since).collect();
    assert_eq!(left, [us(1), us(3), us(0), us(2)]);
    assert!(effects.dropped_now.is_empty());
}

#[test]
fn what_it_marks_and_drops_is_marked_and_dropped() {
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let mut queue = queue("mine");
    for at in 0..5 {
        let held = held(&mut frames, us(at), 1, 1448, Ecn::Ect0);
        queue.enqueue(us(at), held, &mut frames, &mut effects);
    }
    let dropped: Vec<_> = effects
        .dropped_now
        .iter()
        .map(|(h, c)| (h.since, *c))
        .collect();
    assert_eq!(dropped, [(us(4), DropCause::Early)]);
    assert_eq!(effects.marked.len(), 1, "the fourth; the fifth is dropped");
    // Those of 0 and 1 us have waited too long, and the next takes their place.
    let left = queue.dequeue(us(1001), &mut frames, &mut effects);
    assert_eq!(left.map(|held| held.since), Some(us(2)));
    assert_eq!(effects.dropped_now.len(), 3);
    assert_eq!(queue.waiting().count(), 1);
}

#[test]
fn without_ecn_nothing_is_marked() {
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let mut queue = queue("mine");
    for at in 0..4 {
        let held = held(&mut frames, us(at), 1, 1448, Ecn::NotEct);
        queue.enqueue(us(at), held, &mut frames, &mut effects);
    }
    assert!(effects.marked.is_empty());
    assert_eq!(queue.waiting().count(), 4);
}

#[test]
fn one_that_nobody_makes_is_first_in_first_out() {
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let mut queue = queue("another");
    for (at, payload) in [(0, 100), (1, 1448)] {
        let held = held(&mut frames, us(at), 1, payload, Ecn::NotEct);
        queue.enqueue(us(at), held, &mut frames, &mut effects);
    }
    let left = queue.dequeue(us(5000), &mut frames, &mut effects);
    assert_eq!(left.map(|held| held.since), Some(us(0)));
}

#[test]
fn what_it_holds_back_leaves_when_it_is_due() {
    let (mut frames, mut effects) = (FramePool::default(), Effects::default());
    let mut queue = queue("paced");
    for (payload, ecn) in [(1000, Ecn::NotEct), (1200, Ecn::Ce), (1448, Ecn::NotEct)] {
        let held = held(&mut frames, us(0), 1, payload, ecn);
        queue.enqueue(us(0), held, &mut frames, &mut effects);
    }
    assert_eq!(queue.held_until(), Time::ZERO);
    assert!(queue.dequeue(us(0), &mut frames, &mut effects).is_some());
    assert_eq!(queue.held_until(), us(10));
    assert!(queue.dequeue(us(9), &mut frames, &mut effects).is_none());
    // One that goes first, and need not wait.
    let short = held(&mut frames, us(9), 2, 50, Ecn::NotEct);
    queue.enqueue(us(9), short, &mut frames, &mut effects);
    assert_eq!(queue.held_until(), us(9));
    let left = queue.dequeue(us(9), &mut frames, &mut effects);
    assert_eq!(left.map(|held| held.frame.payload_bytes), Some(50));
    assert_eq!(queue.held_until(), us(19));
    // The next is dropped, and the one after it is asked of.
    let left = queue.dequeue(us(19), &mut frames, &mut effects);
    assert_eq!(left.map(|held| held.frame.payload_bytes), Some(1448));
    assert_eq!(effects.dropped_now.len(), 1);
    assert_eq!(
        (queue.held_until(), queue.waiting().count()),
        (Time::ZERO, 0)
    );
}
