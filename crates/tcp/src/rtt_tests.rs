use super::RttEstimator;
use crate::seq::Seq;

#[test]
fn in_a_lan_the_timeout_is_201_ms_and_doubles() {
    let mut rtt = RttEstimator::new(3000, 200, 120_000);
    for n in 0..100 {
        rtt.sample(0, Seq(n), Seq(n + 10));
    }
    assert_eq!(rtt.rto, 201);
    rtt.back_off();
    assert_eq!(rtt.rto, 402);
    rtt.back_off();
    assert_eq!(rtt.rto, 804);
    rtt.sample(0, Seq(200), Seq(210));
    assert_eq!(rtt.rto, 201, "the next sample ends the back-off");
}

#[test]
fn the_first_sample_sets_three_times_itself_above_the_floor() {
    let mut rtt = RttEstimator::new(3000, 200, 120_000);
    rtt.sample(500, Seq(1), Seq(2));
    assert_eq!(rtt.rto, 500 + 1000);
}

#[test]
fn the_timeout_is_capped() {
    let mut rtt = RttEstimator::new(3000, 200, 120_000);
    for _ in 0..10 {
        rtt.back_off();
    }
    assert_eq!(rtt.rto, 120_000);
}
