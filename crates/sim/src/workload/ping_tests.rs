use std::collections::VecDeque;

use tailback_scenario::{Pairs, Ping, Pinger};
use tailback_units::{Bytes, Duration, Time};

use super::super::Action;
use super::{PingApp, Request};

/// Two pairs with two requests each, 10 ms apart; the second pair's host may be outside.
fn app(outside: &[bool]) -> PingApp {
    let spec = Ping {
        pairs: Pairs::ToFirst {},
        interval: Duration::from_ms(10),
        count: Some(2),
        duration: None,
        size: Bytes::new(56),
        wait: Duration::from_ms(50),
    };
    let pinger = |source: usize| Pinger {
        start: at(5 * (source as u64 - 1)),
        source,
        destination: 0,
        count: 2,
    };
    PingApp::new(&spec, vec![pinger(1), pinger(2)], outside)
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Lets it run until it asks for nothing more; `rtt` answers requests, by number. Gives the times and
/// sources of requests, and when it ended.
fn run(app: &mut PingApp, rtt: impl Fn(u32) -> Option<u64>) -> (Vec<(Time, usize)>, Option<Time>) {
    let (mut now, mut sent, mut ended) = (Time::ZERO, Vec::new(), None);
    let mut answers: Vec<(Time, u32)> = Vec::new();
    let mut actions = VecDeque::new();
    let mut alarm = None;
    app.start(now, &mut actions);
    loop {
        for action in std::mem::take(&mut actions) {
            match action {
                Action::Ping { source, number, .. } => {
                    sent.push((now, source));
                    answers.extend(rtt(number).map(|ms| (now + Duration::from_ms(ms), number)));
                }
                Action::Alarm { at } => alarm = Some(at),
                Action::End { .. } => ended = Some(now),
                _ => {}
            }
        }
        answers.sort_unstable_by(|a, b| b.cmp(a));
        let first = answers.last().map(|(at, _)| *at);
        match (first, alarm) {
            (Some(answer), at) if at.is_none_or(|at| answer <= at) => {
                now = answer;
                let number = answers.pop().map_or(0, |(_, number)| number);
                app.ping_answered(now, number, &mut actions);
            }
            (_, Some(at)) => {
                (now, alarm) = (at, None);
                app.alarm(now, &mut actions);
            }
            _ => return (sent, ended),
        }
    }
}

#[test]
fn it_ends_with_the_last_answer() {
    let mut app = app(&[]);
    let (sent, ended) = run(&mut app, |_| Some(3));
    let times = [(at(0), 1), (at(5), 2), (at(10), 1), (at(15), 2)];
    assert_eq!(sent, times);
    assert_eq!(ended, Some(at(18)));
    assert!(app.is_done());
    assert_eq!(app.span(), Duration::from_ms(18));
    assert_eq!(app.read_bytes(), 4 * 56);
}

#[test]
fn what_is_not_answered_is_waited_for() {
    let mut app = app(&[]);
    // The second is lost, and the last answer comes too late.
    let rtt = |number| [Some(3), None, Some(3), Some(70)][number as usize];
    let (_, ended) = run(&mut app, rtt);
    assert_eq!(ended, Some(at(65)));
    let answered: Vec<bool> = app.requests().iter().map(|r| r.rtt.is_some()).collect();
    assert_eq!(answered, [true, false, true, false]);
    assert_eq!(app.span(), Duration::from_ms(65));
}

#[test]
fn an_answer_that_is_doubled_is_one() {
    let mut app = app(&[]);
    let mut actions = VecDeque::new();
    app.start(at(0), &mut actions);
    app.ping_answered(at(1), 0, &mut actions);
    app.ping_answered(at(2), 0, &mut actions);
    app.ping_answered(at(2), 9, &mut actions);
    assert_eq!(app.requests()[0].rtt, Some(Duration::from_ms(1)));
    assert!(!app.is_done());
}

#[test]
fn what_hosts_outside_send_is_not_sent_here() {
    let mut app = app(&[false, false, true]);
    let (sent, ended) = run(&mut app, |_| Some(3));
    assert_eq!(sent, [(at(0), 1), (at(10), 1)]);
    assert_eq!(ended, Some(at(13)));
    let request = Request {
        sent: at(5),
        pair: 1,
        sequence: 0,
        rtt: None,
    };
    app.pinged_outside([request].into_iter());
    assert_eq!(app.requests()[1], request);
    assert_eq!(app.span(), Duration::from_ms(55));
}
