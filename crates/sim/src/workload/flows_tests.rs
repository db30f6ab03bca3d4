use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::Flow;
use tailback_units::{Duration, Time};

use super::{FlowsApp, Program, close, retire};
use crate::workload::{Action, Ending, Notice};

fn us(us: u64) -> Time {
    Time::from_ps(us * 1_000_000)
}

fn flow(start_us: u64, bytes: Option<u64>) -> Flow {
    Flow {
        start: us(start_us),
        source: 1,
        destination: 0,
        bytes,
        congestion: None,
        priority: 0,
        query: None,
    }
}

/// Two hosts whose programs see at once what has come.
fn at_once() -> Vec<Program> {
    vec![program(0, 0); 2]
}

fn program(latency_us: u64, call_us: u64) -> Program {
    Program {
        latency: Duration::from_us(latency_us),
        call: Duration::from_us(call_us),
        free_at: Time::ZERO,
    }
}

fn taken(actions: &mut VecDeque<Action>) -> Vec<Action> {
    actions.drain(..).collect()
}

/// The source writes no more.
fn shut(endpoint: EndpointId) -> Action {
    Action::Finish {
        endpoint,
        ending: Ending::Shutdown,
    }
}

const OPEN: Action = Action::Open {
    source: 1,
    destination: 0,
    priority: 0,
};

#[test]
fn flows_open_at_their_time_and_the_run_ends_with_the_last() {
    let mut app = FlowsApp::new(
        vec![flow(0, Some(10)), flow(5, Some(20))],
        us(100),
        &[],
        at_once(),
    );
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    let began = taken(&mut actions);
    assert_eq!(
        began,
        [
            Action::Begin { iteration: 0 },
            OPEN,
            Action::Alarm { at: us(5) }
        ]
    );
    app.alarm(us(5), &mut actions);
    assert_eq!(taken(&mut actions), [OPEN, Action::Alarm { at: us(100) }]);
    app.notice(us(6), EndpointId(2), Notice::Connected, &mut actions);
    let write = Action::Write {
        endpoint: EndpointId(2),
        bytes: 20,
    };
    assert_eq!(taken(&mut actions), [write, shut(EndpointId(2))]);
    for (flow, bytes) in [(0, 4), (0, 6), (1, 20)] {
        assert!(!app.is_done());
        let receiver = EndpointId(2 * flow + 1);
        app.notice(us(9), receiver, Notice::Received(bytes), &mut actions);
    }
    let over = |id| {
        let endpoint = EndpointId(id);
        Action::Complete { endpoint }
    };
    let end = Action::End {
        started: Time::ZERO,
    };
    assert_eq!(taken(&mut actions), [over(1), over(3), end]);
    assert!(app.is_done());
    assert_eq!(app.read_bytes(), 30);
}

#[test]
fn endless_flows_end_with_the_run() {
    let mut app = FlowsApp::new(
        vec![flow(0, None), flow(200, None)],
        us(100),
        &[],
        at_once(),
    );
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    let received = Notice::Received(1 << 40);
    app.notice(us(50), EndpointId(1), received, &mut actions);
    assert!(!app.is_done());
    actions.clear();
    app.alarm(us(100), &mut actions);
    let end = Action::End {
        started: Time::ZERO,
    };
    assert_eq!(taken(&mut actions), [end]);
    assert!(app.is_done());
}

#[test]
fn a_flow_given_up_does_not_keep_the_run_from_ending() {
    let mut app = FlowsApp::new(vec![flow(0, Some(10))], us(100), &[], at_once());
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    actions.clear();
    let [source, destination] = [0, 1].map(EndpointId);
    app.notice(us(9), source, Notice::Failed, &mut actions);
    let tell = Action::Tell { endpoint: source };
    assert_eq!(taken(&mut actions), [retire(source, false), tell]);
    assert!(!app.is_done());
    app.notice(us(10), destination, Notice::Awake, &mut actions);
    assert_eq!(actions.pop_front(), Some(retire(destination, false)));
    assert!(app.is_done());
}

#[test]
fn ends_are_taken_away_when_their_connection_is_over() {
    let both = vec![flow(0, Some(10)), flow(0, Some(10))];
    let mut app = FlowsApp::new(both, us(100), &[], at_once());
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    let [source, endpoint] = [0, 1].map(EndpointId);
    app.notice(us(1), source, Notice::Connected, &mut actions);
    actions.clear();
    app.notice(us(5), endpoint, Notice::Received(10), &mut actions);
    assert_eq!(taken(&mut actions), [Action::Complete { endpoint }]);
    // The source's FIN comes, the destination's is answered, and is acknowledged there.
    app.notice(us(6), endpoint, Notice::Closed, &mut actions);
    assert_eq!(taken(&mut actions), [close(endpoint)]);
    app.notice(us(7), source, Notice::Closed, &mut actions);
    app.notice(us(7), source, Notice::Closed, &mut actions);
    assert_eq!(taken(&mut actions), [close(source)]);
    app.notice(us(8), endpoint, Notice::Closed, &mut actions);
    let over = [Action::TakeAway { endpoint }, Action::Tell { endpoint }];
    assert_eq!(taken(&mut actions), over);
    app.notice(us(9), source, Notice::Awake, &mut actions);
    assert_eq!(taken(&mut actions), [retire(source, false)]);
}

#[test]
fn a_reader_that_comes_after_the_fin_closes_when_it_has_read_all() {
    let both = vec![flow(0, Some(10)), flow(0, Some(10))];
    let mut app = FlowsApp::new(both, us(100), &[], at_once());
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    actions.clear();
    let endpoint = EndpointId(1);
    app.notice(us(5), endpoint, Notice::Received(4), &mut actions);
    app.notice(us(5), endpoint, Notice::Closed, &mut actions);
    assert!(actions.is_empty(), "{actions:?}");
    app.notice(us(6), endpoint, Notice::Received(6), &mut actions);
    let end = [Action::Complete { endpoint }, close(endpoint)];
    assert_eq!(taken(&mut actions), end);
}

#[test]
fn an_end_whose_fin_is_never_acknowledged_lets_the_other_go() {
    let both = vec![flow(0, Some(10)), flow(0, Some(10))];
    let mut app = FlowsApp::new(both, us(100), &[], at_once());
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    let endpoint = EndpointId(1);
    app.notice(us(5), endpoint, Notice::Received(10), &mut actions);
    app.notice(us(6), endpoint, Notice::Closed, &mut actions);
    actions.clear();
    app.notice(us(9), endpoint, Notice::Failed, &mut actions);
    let over = [Action::Tell { endpoint }, Action::TakeAway { endpoint }];
    assert_eq!(taken(&mut actions), over);
    // It is complete, not failed: one flow is over.
    assert_eq!(app.over(), 1);
}

#[test]
fn a_flow_from_outside_is_over_when_it_is_closed() {
    let mut app = FlowsApp::new(vec![flow(0, Some(10))], us(100), &[false, true], at_once());
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    actions.clear();
    app.notice(us(1), EndpointId(1), Notice::Received(10), &mut actions);
    assert_eq!(actions.pop_front(), Some(close(EndpointId(1))));
    assert!(!app.is_done());
    app.notice(us(2), EndpointId(1), Notice::Closed, &mut actions);
    let both = [retire(EndpointId(0), true), retire(EndpointId(1), true)];
    assert_eq!(taken(&mut actions)[..2], both);
    assert!(app.is_done());
}

#[test]
fn programs_write_when_they_have_seen_their_connections_and_one_after_another() {
    let programs = vec![program(0, 0), program(3, 8)];
    let both = vec![flow(0, Some(10)), flow(0, Some(10))];
    let mut app = FlowsApp::new(both, us(100), &[], programs);
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    actions.clear();
    for (id, connected, begins) in [(0, us(6), us(9)), (2, us(7), us(17))] {
        let endpoint = EndpointId(id);
        app.notice(connected, endpoint, Notice::Connected, &mut actions);
        let at = begins;
        assert_eq!(taken(&mut actions), [Action::Wake { endpoint, at }]);
        app.notice(begins, endpoint, Notice::Awake, &mut actions);
        let bytes = 10;
        let write = Action::Write { endpoint, bytes };
        assert_eq!(taken(&mut actions), [write, shut(endpoint)]);
    }
}
