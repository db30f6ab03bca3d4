use tailback_units::Duration;

use super::{Crossing, Whereabouts};

/// A line a nanosecond, and numbers that cannot be confused.
const CROSSING: Crossing = Crossing {
    line: Duration::from_ns(1),
    sent: 10_000,
    completed: 1000,
    freed: 100,
    received: 10,
    socket: 1,
};

fn ns(duration: Duration) -> u64 {
    duration.as_ps() / 1000
}

#[test]
fn a_socket_is_paid_for_where_another_core_worked_last() {
    let mut socket = Whereabouts::default();
    let cores = [0, 0, 1, 1, 0];
    let costs = cores.map(|core| ns(socket.work(&CROSSING, core)));
    assert_eq!(costs, [0, 0, 1, 0, 1]);
}

#[test]
fn what_another_core_made_is_paid_for_when_sent_and_not_when_freed() {
    let mut socket = Whereabouts::default();
    assert_eq!(ns(socket.free(&CROSSING, 1, 0, 1)), 0);
    assert_eq!(ns(socket.send(&CROSSING, 1448, 0, 1)), 10_000);
    assert_eq!(ns(socket.send(&CROSSING, 0, 0, 1)), 0, "an acknowledgement");
    assert_eq!(ns(socket.free(&CROSSING, 1449, 0, 1)), 0);
}

#[test]
fn what_the_writer_sent_itself_is_paid_for_where_it_is_freed() {
    let mut socket = Whereabouts::default();
    socket.free(&CROSSING, u32::MAX, 0, 1);
    for _ in 0..4 {
        assert_eq!(ns(socket.send(&CROSSING, 1000, 1, 1)), 0);
    }
    assert_eq!(
        ns(socket.free(&CROSSING, 1999, 0, 1)),
        200,
        "two, and seq wraps"
    );
    assert_eq!(ns(socket.free(&CROSSING, 999, 0, 1)), 0, "an old one");
    assert_eq!(ns(socket.free(&CROSSING, 2999, 1, 1)), 0, "by itself");
    assert_eq!(ns(socket.free(&CROSSING, 3999, 0, 1)), 100);
    assert_eq!(ns(socket.free(&CROSSING, 9999, 0, 1)), 0, "none is left");
}

#[test]
fn what_another_core_queued_is_paid_for_once_when_read() {
    let mut socket = Whereabouts::default();
    for _ in 0..3 {
        socket.queue(1000, 0, 1);
    }
    socket.queue(1000, 1, 1);
    assert_eq!(ns(socket.read(&CROSSING, 1500, 4000)), 15);
    assert_eq!(ns(socket.read(&CROSSING, 2500, 2500)), 15);
    socket.queue(1000, 0, 1);
    socket.queue(1000, 0, 1);
    assert_eq!(ns(socket.read(&CROSSING, 1000, 1000)), 10, "one came twice");
    assert_eq!(ns(socket.read(&CROSSING, 1000, 1000)), 0);
}

#[test]
fn what_waits_for_the_thread_is_paid_for_by_who_takes_it() {
    let mut socket = Whereabouts::default();
    assert_eq!(ns(socket.take(&CROSSING, 1)), 0);
    socket.bring(0);
    assert_eq!(ns(socket.take(&CROSSING, 1)), 10);
    assert_eq!(ns(socket.take(&CROSSING, 0)), 0);
}
