use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::{Deed, End, Exchange, TimedAction};
use tailback_units::{Bytes, Duration, Time};

use super::ExchangeApp;
use crate::workload::{Action, Ending, Notice};

const CLIENT: EndpointId = EndpointId(0);
const SERVER: EndpointId = EndpointId(1);

fn action(at_us: u64, end: End, does: Deed, size: u64) -> TimedAction {
    TimedAction {
        at: Duration::from_us(at_us),
        end,
        does,
        size: Bytes::new(size),
    }
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

#[test]
fn actions_come_at_their_time_and_not_before_the_connection() {
    let exchange = Exchange {
        hosts: Vec::new(),
        duration: Duration::from_us(100),
        action: vec![
            action(50, End::Client, Deed::Shutdown, 0),
            action(0, End::Server, Deed::Write, 700),
            action(0, End::Client, Deed::Hold, 0),
        ],
    };
    let mut app = ExchangeApp::new(&exchange, [false; 2]);
    assert_eq!(app.sender(), 1, "the server writes more");
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    assert_eq!(
        actions.drain(..).collect::<Vec<_>>(),
        [
            Action::Begin { iteration: 0 },
            Action::Connect { client: CLIENT },
            Action::Alarm { at: us(50) }
        ]
    );
    app.notice(SERVER, Notice::Connected, &mut actions);
    let write = Action::Write {
        endpoint: SERVER,
        bytes: 700,
    };
    assert_eq!(actions.drain(..).collect::<Vec<_>>(), [write]);
    app.notice(CLIENT, Notice::Connected, &mut actions);
    let hold = Action::Hold { endpoint: CLIENT };
    assert_eq!(actions.drain(..).collect::<Vec<_>>(), [hold]);
    app.alarm(us(50), &mut actions);
    let finish = Action::Finish {
        endpoint: CLIENT,
        ending: Ending::Shutdown,
    };
    assert_eq!(
        actions.drain(..).collect::<Vec<_>>(),
        [finish, Action::Alarm { at: us(100) }]
    );
    app.alarm(us(100), &mut actions);
    assert!(app.is_done());
    assert_eq!(
        actions.drain(..).collect::<Vec<_>>(),
        [Action::End {
            started: Time::ZERO
        }]
    );
}

#[test]
fn ends_outside_do_their_part_themselves() {
    let exchange = Exchange {
        hosts: Vec::new(),
        duration: Duration::from_us(100),
        action: vec![
            action(0, End::Client, Deed::Write, 5),
            action(10, End::Server, Deed::Hold, 0),
        ],
    };
    let mut app = ExchangeApp::new(&exchange, [true, false]);
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    app.notice(SERVER, Notice::Connected, &mut actions);
    app.alarm(us(10), &mut actions);
    let expected = [
        Action::Begin { iteration: 0 },
        Action::Alarm { at: us(10) },
        Action::Hold { endpoint: SERVER },
        Action::Alarm { at: us(100) },
    ];
    assert_eq!(actions.drain(..).collect::<Vec<_>>(), expected);
}

#[test]
fn an_end_may_read_so_much_at_most_and_resets_when_all_is_written() {
    let exchange = Exchange {
        hosts: Vec::new(),
        duration: Duration::from_us(100),
        action: vec![
            action(1, End::Server, Deed::Read, 700),
            action(1, End::Server, Deed::Read, 0),
            action(1, End::Server, Deed::Abort, 0),
        ],
    };
    let mut app = ExchangeApp::new(&exchange, [false; 2]);
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    app.notice(SERVER, Notice::Connected, &mut actions);
    actions.clear();
    app.alarm(us(1), &mut actions);
    let read = |most| Action::Read {
        endpoint: SERVER,
        most,
    };
    let reset = Action::Finish {
        endpoint: SERVER,
        ending: Ending::Reset,
    };
    assert_eq!(
        actions.drain(..3).collect::<Vec<_>>(),
        [read(Some(700)), read(None), reset]
    );
}
