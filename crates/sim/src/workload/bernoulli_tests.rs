use std::collections::VecDeque;

use tailback_net::frame::EndpointId;
use tailback_scenario::Bernoulli;
use tailback_units::{Bytes, Duration, Time};

use super::BernoulliApp;
use crate::workload::{Action, Notice};

const HOSTS: usize = 5;

/// All messages of 100 000 slots, by connection, once everybody is connected.
fn messages(load: f64) -> Vec<u64> {
    let spec = Bernoulli {
        load,
        message: Bytes::new(1460),
        duration: Duration::from_ms(100),
    };
    let mut app = BernoulliApp::new(&spec, vec![Duration::from_us(1); HOSTS], 7);
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    let connections = HOSTS * (HOSTS - 1);
    let opens = actions.iter().filter(|a| matches!(a, Action::Open { .. }));
    assert_eq!(opens.count(), connections);
    for connection in 0..connections as u32 {
        let source = EndpointId(2 * connection);
        app.notice(source, Notice::Connected, &mut actions);
    }
    let mut counts = vec![0; connections];
    while !app.is_done() {
        let mut alarm = None;
        for action in actions.drain(..) {
            match action {
                Action::Write { endpoint, bytes } => {
                    assert_eq!(bytes, 1460);
                    counts[endpoint.0 as usize / 2] += 1;
                }
                Action::Alarm { at } => alarm = Some(at),
                _ => {}
            }
        }
        app.alarm(alarm.expect("there is always more to come"), &mut actions);
    }
    counts
}

#[test]
fn a_slot_has_a_message_with_the_probability_of_the_load() {
    let counts = messages(0.85);
    let per_host: Vec<u64> = counts.chunks(HOSTS - 1).map(|c| c.iter().sum()).collect();
    for sent in per_host {
        // 85 000 and four standard deviations of a binomial.
        assert!((84_548..85_452).contains(&sent), "{sent}");
    }
}

#[test]
fn destinations_are_uniform() {
    for count in messages(0.85) {
        assert!((20_700..21_800).contains(&count), "{count}");
    }
}

#[test]
fn every_slot_has_one_at_full_load() {
    assert!(messages(1.0).iter().sum::<u64>() >= (HOSTS as u64) * 99_998);
}

#[test]
fn what_comes_before_a_connection_is_up_waits_for_it() {
    let spec = Bernoulli {
        load: 1.0,
        message: Bytes::new(10),
        duration: Duration::from_ms(1),
    };
    let mut app = BernoulliApp::new(&spec, vec![Duration::from_us(1); 2], 1);
    let mut actions = VecDeque::new();
    app.start(Time::ZERO, &mut actions);
    for us in 1..=3 {
        app.alarm(Time::ZERO + Duration::from_us(us), &mut actions);
    }
    assert!(!actions.iter().any(|a| matches!(a, Action::Write { .. })));
    actions.clear();
    app.notice(EndpointId(2), Notice::Connected, &mut actions);
    let all = Action::Write {
        endpoint: EndpointId(2),
        bytes: 30,
    };
    assert_eq!(actions, [all]);
}
