use super::{Rtt, WindowedMin};
use crate::seq::Seq;

#[test]
fn the_variance_never_falls_below_the_least_timeout() {
    let mut rtt = Rtt::new(1_000_000);
    rtt.sample(100, Seq(1), Seq(2), 200_000);
    assert_eq!((rtt.srtt_us8, rtt.rttvar_us), (800, 200_000));
    for una in 2..50 {
        rtt.sample(100, Seq(una), Seq(una + 1), 200_000);
    }
    assert_eq!((rtt.srtt_us8, rtt.rttvar_us), (800, 200_000));
}

#[test]
fn a_jump_of_the_round_trip_raises_the_variance_at_once() {
    // RFC 6298 section 2 with Linux's scales: the error is 300 ms less 100 ms; mdev (times 4)
    // was twice 100 ms less a quarter of itself, plus the error.
    let mut rtt = Rtt::new(1_000_000);
    rtt.sample(100_000, Seq(1), Seq(2), 200_000);
    rtt.sample(300_000, Seq(1), Seq(2), 200_000);
    assert_eq!(rtt.srtt_us8, 800_000 + 200_000);
    assert_eq!(rtt.rttvar_us, 200_000 + 200_000 - 50_000);
}

#[test]
fn the_least_of_a_window_is_forgotten_when_it_ages_out() {
    let mut min = WindowedMin::default();
    min.update(100, 0, 50);
    min.update(100, 30, 70);
    min.update(100, 60, 80);
    assert_eq!(min.get(), 50);
    min.update(100, 101, 90);
    assert_eq!(min.get(), 70);
    min.update(100, 110, 40);
    assert_eq!(min.get(), 40);
}
