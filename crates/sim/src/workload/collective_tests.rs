use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::{Collective, Lane, Operation, Rank};
use tailback_units::{Bytes, Duration, Time};

use super::CollectiveApp;
use crate::workload::{Action, Notice};

/// A ring of two: rank 0 sends on connection 0, rank 1 on connection 1.
fn ring(parts: u64, compute: Duration) -> CollectiveApp {
    let spec = Collective {
        operation: Operation::AllReduce,
        size: Bytes::new(200),
        iterations: 2,
        connections: 1,
        slices: 2,
        compute,
        compute_jitter: Duration::ZERO,
        priority: 0,
        hosts: Vec::new(),
    };
    let rank = |host: usize| Rank {
        host,
        lanes: vec![Lane {
            sends: host,
            reads: 1 - host,
            bytes: 100 * parts,
            first_bytes: 100,
            slice_bytes: 50,
        }],
    };
    CollectiveApp::new(&spec, &[rank(0), rank(1)], 1)
}

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// Tells the application something and gives back what it wants done.
fn tell(app: &mut CollectiveApp, at_us: u64, endpoint: u32, notice: Notice) -> Vec<Action> {
    let mut actions = VecDeque::new();
    app.notice(at(at_us), EndpointId(endpoint), notice, &mut actions);
    actions.into()
}

fn write(endpoint: u32, bytes: u64) -> Action {
    let endpoint = EndpointId(endpoint);
    Action::Write { endpoint, bytes }
}

fn hold(endpoint: u32) -> Action {
    let endpoint = EndpointId(endpoint);
    Action::Hold { endpoint }
}

fn read(endpoint: u32) -> Action {
    let endpoint = EndpointId(endpoint);
    Action::Read {
        endpoint,
        most: None,
    }
}

/// Both ranks have their connections: each has two ends of its own.
fn connected(app: &mut CollectiveApp) {
    assert!(tell(app, 1, 0, Notice::Connected).is_empty());
    let begun = [Action::Begin { iteration: 0 }, write(0, 100)];
    assert_eq!(tell(app, 2, 3, Notice::Connected), begun);
    assert!(tell(app, 3, 1, Notice::Connected).is_empty());
    assert_eq!(tell(app, 4, 2, Notice::Connected), [write(2, 100)]);
}

#[test]
fn what_comes_is_passed_on_by_the_slice_and_nobody_waits_for_all() {
    let mut app = ring(2, Duration::ZERO);
    connected(&mut app);
    // Rank 1 reads at endpoint 1: less than a slice, then a slice and a half.
    assert!(tell(&mut app, 10, 1, Notice::Received(49)).is_empty());
    assert_eq!(tell(&mut app, 11, 1, Notice::Received(40)), [write(2, 50)]);
    assert_eq!(tell(&mut app, 12, 1, Notice::Received(11)), [write(2, 50)]);
    assert_eq!(
        tell(&mut app, 13, 3, Notice::Received(100)),
        [write(0, 100)]
    );
    // Rank 0 has all, and begins the next iteration while rank 1 has not.
    let begun = [hold(3), read(3), write(0, 100)];
    assert_eq!(tell(&mut app, 14, 3, Notice::Received(100)), begun);
    assert_eq!((app.progress(), app.is_done()), (0, false));
    let ended = [
        hold(1),
        Action::End { started: at(2) },
        Action::Begin { iteration: 1 },
        read(1),
    ];
    // With the first half of rank 0's next.
    let mut told = tell(&mut app, 15, 1, Notice::Received(150));
    let all: u64 = told.split_off(4).iter().map(written).sum();
    assert_eq!((told.as_slice(), all), (ended.as_slice(), 150));
    assert_eq!((app.progress(), app.exchanged_bytes_total()), (1, 400));
    tell(&mut app, 16, 1, Notice::Received(150));
    assert!(!app.is_done());
    let last = tell(&mut app, 17, 3, Notice::Received(200));
    assert_eq!(last.last(), Some(&Action::End { started: at(14) }));
    assert!(app.is_done());
}

fn written(action: &Action) -> u64 {
    match action {
        Action::Write { bytes, .. } => *bytes,
        other => panic!("{other:?} is no write"),
    }
}

#[test]
fn a_rank_computes_before_it_begins_again() {
    let mut app = ring(1, Duration::from_us(100));
    connected(&mut app);
    let wake = |endpoint, us| Action::Wake {
        endpoint: EndpointId(endpoint),
        at: at(us),
    };
    let held = [hold(1), wake(2, 110)];
    assert_eq!(tell(&mut app, 10, 1, Notice::Received(100)), held);
    let end = Action::End { started: at(2) };
    let ended = tell(&mut app, 20, 3, Notice::Received(100));
    assert_eq!(ended, [hold(3), end, wake(0, 120)]);
    let begun = [read(1), Action::Begin { iteration: 1 }, write(2, 100)];
    assert_eq!(tell(&mut app, 110, 2, Notice::Awake), begun);
    // All that rank 0 waits for is there before it begins: it has ended as soon as it has read that.
    let begun = [read(3), write(0, 100)];
    assert_eq!(tell(&mut app, 120, 0, Notice::Awake), begun);
    assert_eq!(tell(&mut app, 120, 3, Notice::Received(100)), [hold(3)]);
    let last = tell(&mut app, 130, 1, Notice::Received(100));
    assert_eq!(last, [hold(1), Action::End { started: at(110) }]);
    assert!(app.is_done());
}
