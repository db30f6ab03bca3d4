use std::sync::Arc;

use tailback_units::{Bytes, Duration, Rate, Time};

use crate::token_bucket::TokenBucketConfig;
use crate::trace::{Pace, Trace};

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

fn shaper() -> Pace {
    Pace::new(&Arc::new(Trace::Shaper(TokenBucketConfig {
        rate: Rate::from_bps(100_000_000),
        burst: Bytes::new(3000),
        overhead_bytes: -18,
    })))
}

#[test]
fn a_burst_goes_at_the_links_rate_and_the_rest_at_the_shapers() {
    let mut pace = shaper();
    let mut now = us(10);
    let mut left = Vec::new();
    for _ in 0..4 {
        assert_eq!(pace.ready_at(now), now, "the next is taken out at once");
        let passage = pace.take(now, 1518, 1538);
        assert_eq!(passage.rests_until, passage.leaves);
        now = passage.leaves;
        left.push(now);
    }
    assert_eq!(left, [10, 10, 130, 250].map(us));
}

#[test]
fn what_it_lets_go_is_the_first_burst_and_the_rate() {
    let mut pace = shaper();
    assert_eq!(pace.carried(us(0)), (3000, 0));
    let _ = pace.take(us(5), 1518, 1538);
    assert_eq!(pace.carried(us(80)), (4000, 1500));
    pace.idle_until(us(100));
    assert_eq!(pace.carried(us(160)), (5000, 1500));
}
