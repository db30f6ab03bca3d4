use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::{Flent, FlentTest, Iperf3, Measured};
use tailback_units::{Duration, Time};

use super::super::{Action, Notice};
use super::{Answer, MeasuredApp};

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Two senders, the first measured from 5 ms to 15 ms, pings every 4 ms.
fn app() -> MeasuredApp {
    looking_every(5)
}

fn looking_every(interval_ms: u64) -> MeasuredApp {
    let spec = Iperf3 {
        senders: 2,
        measured: Measured::First,
        duration: Duration::from_ms(10),
        lead: Duration::from_ms(5),
        start_skew: Duration::ZERO,
        parallel: 1,
        reverse: false,
        ping_interval: Duration::from_ms(4),
        interval: Duration::from_ms(interval_ms),
        hosts: Vec::new(),
    };
    MeasuredApp::new(spec.measurement(1, &[0, 1, 2]), &[])
}

/// What it asks for, and when, up to its end.
fn play(app: &mut MeasuredApp) -> Vec<(Time, Action)> {
    let (mut now, mut asked) = (Time::ZERO, Vec::new());
    while !app.is_done() {
        let mut actions = VecDeque::new();
        app.alarm(now, &mut actions);
        let mut next = now;
        for action in actions {
            match action {
                Action::Alarm { at } => next = at,
                other => asked.push((now, other)),
            }
        }
        assert!(next > now || app.is_done());
        now = next;
    }
    asked
}

#[test]
fn senders_pings_and_looks_come_at_their_times() {
    let mut app = app();
    let asked = play(&mut app);
    let times = |wanted: fn(&Action) -> bool| -> Vec<Time> {
        asked
            .iter()
            .filter(|(_, a)| wanted(a))
            .map(|(t, _)| *t)
            .collect()
    };
    assert_eq!(
        times(|a| matches!(a, Action::Open { source: 2, .. })),
        [at(0)]
    );
    assert_eq!(
        times(|a| matches!(a, Action::Open { source: 1, .. })),
        [at(5)]
    );
    assert_eq!(times(|a| matches!(a, Action::Begin { .. })), [at(5)]);
    assert_eq!(
        times(|a| matches!(a, Action::Ping { .. })),
        [at(5), at(9), at(13)]
    );
    assert_eq!(
        times(|a| matches!(a, Action::LookAtFlows)),
        [at(10), at(15)]
    );
    assert_eq!(times(|a| matches!(a, Action::LookAtQueues)).len(), 10);
    assert_eq!(times(|a| matches!(a, Action::CloseWindow)), [at(15)]);
    assert_eq!(times(|a| matches!(a, Action::Finish { .. })), []);
    assert_eq!(times(|a| matches!(a, Action::End { .. })), [at(15)]);
    let senders: Vec<u32> = app.spec().flows.iter().map(|one| one.sender).collect();
    assert_eq!(senders, [2, 1]);
}

#[test]
fn the_last_interval_is_what_is_left_of_the_time() {
    let mut app = looking_every(4);
    let looks: Vec<Time> = play(&mut app)
        .into_iter()
        .filter(|(_, action)| matches!(action, Action::LookAtFlows))
        .map(|(time, _)| time)
        .collect();
    assert_eq!(looks, [at(9), at(13), at(15)]);
}

#[test]
fn an_answer_is_timed_from_its_own_ping() {
    let mut app = app();
    play(&mut app);
    app.ping_answered(at(10), 1);
    app.ping_answered(at(11), 7);
    // The network has doubled it.
    app.ping_answered(at(12), 1);
    let answer = Answer {
        line: 0,
        sent: at(9),
        at: at(10),
    };
    assert_eq!(app.answers(), [answer]);
    assert_eq!(answer.rtt(), Duration::from_ms(1));
    assert_eq!(app.pings(), 3);
    // The one before it is lost; the one behind may be on its way.
    assert_eq!(app.pings_lost(), 1);
    app.ping_answered(at(13), 0);
    assert_eq!(app.pings_lost(), 0);
}

#[test]
fn what_the_receiver_reads_counts() {
    let (mut app, mut actions) = (app(), VecDeque::new());
    app.notice(EndpointId(1), Notice::Received(1448), &mut actions);
    app.notice(EndpointId(0), Notice::Received(10), &mut actions);
    assert_eq!(app.read_bytes(), 1448);
    app.notice(EndpointId(2), Notice::Connected, &mut actions);
    assert!(matches!(
        actions[0],
        Action::Write {
            endpoint: EndpointId(2),
            ..
        }
    ));
}

#[test]
fn flents_load_begins_and_ends_within_its_pings() {
    let spec = Flent {
        test: FlentTest::TcpUpload,
        clients: 2,
        length: Duration::from_ms(30),
        delay: Duration::from_ms(10),
        step_size: Duration::from_ms(5),
        hosts: Vec::new(),
    };
    let mut app = MeasuredApp::new(spec.measurement(&[0, 1, 2]), &[]);
    let asked = play(&mut app);
    let times = |wanted: fn(&Action) -> bool| -> Vec<Time> {
        asked
            .iter()
            .filter(|(_, a)| wanted(a))
            .map(|(t, _)| *t)
            .collect()
    };
    assert_eq!(times(|a| matches!(a, Action::Begin { .. })), [at(0)]);
    assert_eq!(
        times(|a| matches!(a, Action::Open { .. })),
        [at(10), at(10)]
    );
    assert_eq!(
        times(|a| matches!(a, Action::Finish { .. })),
        [at(40), at(40)]
    );
    let ends = |(_, a): &&(Time, Action)| matches!(a, Action::CloseWindow | Action::Finish { .. });
    let first = asked.iter().find(ends);
    assert_eq!(first, Some(&(at(40), Action::CloseWindow)));
    assert_eq!(times(|a| matches!(a, Action::End { .. })), [at(50)]);
    // From 0 to 45 ms, for both clients: one that is sent when all ends would count as lost.
    assert_eq!(times(|a| matches!(a, Action::Ping { .. })).len(), 20);
    assert_eq!(times(|a| matches!(a, Action::LookAtQueues)).len(), 30);
}
