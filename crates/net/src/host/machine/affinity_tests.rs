use tailback_units::{Duration, Time};

use super::super::bench::config;
use super::super::{Effect, Machine, MachineConfig, TaskId};

/// The tasks whose calls of 10 us end one after another, two of which share a core; the first yields each time
/// if `yields`.
fn turns(yields: bool) -> Vec<TaskId> {
    let call = Duration::from_us(10);
    let mut machine = Machine::new(&config(), 1024, 0);
    let tasks = [machine.add_task(), machine.add_task()];
    for task in tasks {
        machine.run(Time::ZERO, task, call);
    }
    let mut ended = Vec::new();
    while ended.len() < 6 {
        let now = machine.poll_timeout();
        while let Some(effect) = machine.handle_timeout(now) {
            let Effect::Task(task) = effect else { continue };
            ended.push(task);
            machine.run(now, task, call);
            if yields && task == tasks[0] {
                machine.yield_core(task);
            }
        }
    }
    ended.truncate(6);
    ended
}

#[test]
fn a_task_that_yields_lets_the_one_behind_it_before() {
    let [a, b] = [TaskId(1), TaskId(2)];
    assert_eq!(turns(false), [a; 6], "its slice is of milliseconds");
    // The other does not yield, and has its slice.
    assert_eq!(turns(true), [a, b, b, b, b, b]);
}

#[test]
fn cores_tick_apart() {
    let four = MachineConfig {
        cores: 4,
        hz: 250,
        ..config()
    };
    let mut machine = Machine::new(&four, 1024, 0);
    let us = |us: u64| Time::ZERO + Duration::from_us(us);
    let tasks: Vec<TaskId> = (0..4).map(|_| machine.add_task()).collect();
    let first = tasks.iter().map(|t| machine.next_tick_of(us(100), *t));
    let expected = [us(500), us(1000), us(1500), us(4000)];
    assert_eq!(
        first.collect::<Vec<_>>(),
        expected,
        "of cores 1, 2, 3 and 0"
    );
    assert_eq!(machine.next_tick_of(us(500), tasks[0]), us(4500));
}
