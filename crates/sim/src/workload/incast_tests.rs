use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_net::random::Stream;
use tailback_units::{Duration, Time};

use super::{IncastApp, Latencies, Server};
use crate::workload::{Action, Notice};

fn server(index: u64) -> Server {
    Server {
        answer_bytes: 1000,
        service_latency: Duration::from_us(50),
        service_jitter: Duration::ZERO,
        stream: Stream::new(1, "service", index),
        request_left: 0,
        answer_left: 0,
        outside: false,
    }
}

fn app(iterations: u64) -> IncastApp {
    let latencies = Latencies {
        send_call: Duration::from_us(5),
        client: Duration::from_us(10),
    };
    IncastApp::new((0..2).map(server).collect(), 64, iterations, latencies)
}

/// Tells the application something and gives back what it wants done.
fn tell(app: &mut IncastApp, at_us: u64, endpoint: u32, notice: Notice) -> Vec<Action> {
    let mut actions = VecDeque::new();
    app.notice(
        Time::ZERO + Duration::from_us(at_us),
        EndpointId(endpoint),
        notice,
        &mut actions,
    );
    actions.into()
}

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

#[test]
fn one_iteration_asks_all_and_waits_for_all() {
    let mut app = app(2);
    assert!(tell(&mut app, 1, 0, Notice::Connected).is_empty());
    let begun = tell(&mut app, 2, 2, Notice::Connected);
    assert_eq!(
        begun,
        [
            Action::Begin { iteration: 0 },
            Action::Wake {
                endpoint: EndpointId(0),
                at: at(2)
            },
            Action::Wake {
                endpoint: EndpointId(2),
                at: at(7)
            },
        ]
    );
    assert_eq!(
        tell(&mut app, 2, 0, Notice::Awake),
        [Action::Write {
            endpoint: EndpointId(0),
            bytes: 64
        }]
    );
    assert_eq!(
        tell(&mut app, 3, 1, Notice::Received(64)),
        [Action::Wake {
            endpoint: EndpointId(1),
            at: at(53)
        }]
    );
    assert_eq!(
        tell(&mut app, 53, 1, Notice::Awake),
        [Action::Write {
            endpoint: EndpointId(1),
            bytes: 1000
        }]
    );
    assert!(tell(&mut app, 60, 0, Notice::Received(1000)).is_empty());
    assert!(tell(&mut app, 70, 2, Notice::Received(400)).is_empty());
    assert_eq!(
        tell(&mut app, 80, 2, Notice::Received(600)),
        [Action::Wake {
            endpoint: EndpointId(2),
            at: at(90)
        }]
    );
    let ended = tell(&mut app, 90, 2, Notice::Awake);
    assert_eq!(ended[0], Action::End { started: at(2) });
    assert_eq!(ended[1], Action::Begin { iteration: 1 });
    assert_eq!(app.progress(), 1);
}

#[test]
fn a_request_in_pieces_is_answered_once() {
    let mut app = app(1);
    tell(&mut app, 1, 0, Notice::Connected);
    tell(&mut app, 1, 2, Notice::Connected);
    assert!(tell(&mut app, 3, 1, Notice::Received(40)).is_empty());
    assert_eq!(tell(&mut app, 4, 1, Notice::Received(24)).len(), 1);
}
