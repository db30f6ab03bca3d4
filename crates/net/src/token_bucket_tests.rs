use proptest::prelude::*;
use tailback_units::{Bytes, Duration, Rate, Time};

use super::{TokenBucket, TokenBucketConfig};

const LONGEST: Duration = Duration::from_secs(1000);

fn bucket(mbps: u64, burst: u64) -> TokenBucketConfig {
    TokenBucketConfig {
        rate: Rate::from_bps(mbps * 1_000_000),
        burst: Bytes::new(burst),
        overhead_bytes: 0,
    }
}

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

#[test]
fn a_full_bucket_lets_a_burst_go_and_then_the_rate() {
    // 100 Mb/s: a frame of 1500 bytes comes every 120 us.
    let mut bucket = TokenBucket::new(&bucket(100, 4500));
    let at_once = (0..5).filter(|_| bucket.conforms(us(1000), 1500)).count();
    assert_eq!(at_once, 3);
    assert!(!bucket.conforms(us(1119), 1500), "not yet");
    assert!(
        bucket.conforms(us(1120), 1500),
        "what was dropped took none"
    );
    assert!(!bucket.conforms(us(1120), 1));
    let after_a_pause = (0..5).filter(|_| bucket.conforms(us(9000), 1500)).count();
    assert_eq!(after_a_pause, 3);
}

#[test]
fn who_waits_goes_when_there_are_tokens_for_it() {
    let mut bucket = TokenBucket::new(&bucket(100, 3000));
    let mut now = us(50);
    let mut left = Vec::new();
    for _ in 0..5 {
        now += bucket.wait(now, 1500, LONGEST);
        left.push(now);
    }
    assert_eq!(left, [50, 50, 170, 290, 410].map(us));
    now = us(500);
    now += bucket.wait(now, 1500, LONGEST);
    assert_eq!(now, us(530), "90 us of 120 had come");
}

#[test]
fn bytes_beyond_a_frame_count_or_do_not() {
    let with = |overhead_bytes| {
        let config = TokenBucketConfig {
            overhead_bytes,
            ..bucket(100, 6000)
        };
        let mut bucket = TokenBucket::new(&config);
        (0..9).filter(|_| bucket.conforms(us(1), 1500)).count()
    };
    assert_eq!([-4, 0, 1].map(with), [4, 4, 3]);
}

#[test]
fn a_bucket_that_never_fills_ends_no_program() {
    let mut slow = TokenBucket::new(&TokenBucketConfig {
        rate: Rate::from_bps(1),
        ..bucket(0, 0)
    });
    assert_eq!(slow.wait(us(1), 1 << 40, LONGEST), LONGEST);
    let mut vast = TokenBucket::new(&TokenBucketConfig {
        rate: Rate::from_bps(u64::MAX),
        ..bucket(0, u64::MAX)
    });
    assert!(vast.conforms(Time::NEVER, 1500));
}

/// act_police.c's rule, tokens as nanoseconds of the rate; all times here are whole in it.
struct Police {
    ns_a_byte: i64,
    burst_ns: i64,
    tokens_ns: i64,
    at_ns: i64,
}

impl Police {
    fn conforms(&mut self, now_ns: i64, bytes: i64) -> bool {
        let since = (now_ns - self.at_ns).min(self.burst_ns);
        let tokens = (self.tokens_ns + since).min(self.burst_ns) - bytes * self.ns_a_byte;
        if tokens < 0 {
            return false;
        }
        self.at_ns = now_ns;
        self.tokens_ns = tokens;
        true
    }
}

proptest! {
    #[test]
    fn it_conforms_as_linux_has_it(
        ns_a_byte in prop::sample::select(vec![1_i64, 8, 80]),
        burst in 1518_u64..200_000,
        frames in prop::collection::vec((0_u64..60_000, 64_u64..9018), 1..300),
    ) {
        let mut bucket = TokenBucket::new(&bucket(8000 / ns_a_byte as u64, burst));
        let burst_ns = burst as i64 * ns_a_byte;
        let mut linux = Police { ns_a_byte, burst_ns, tokens_ns: burst_ns, at_ns: 0 };
        let mut now_ns = 0;
        for (gap_ns, bytes) in frames {
            now_ns += gap_ns;
            let now = Time::ZERO + Duration::from_ns(now_ns);
            let ours = bucket.conforms(now, bytes);
            prop_assert_eq!(ours, linux.conforms(now_ns as i64, bytes as i64));
        }
    }

    #[test]
    fn who_waits_conforms_just_then(
        mbps in 1_u64..100_000,
        burst in 9018_u64..100_000,
        frames in prop::collection::vec((0_u64..100_000, 64_u64..9018), 1..100),
    ) {
        let config = bucket(mbps, burst);
        let (mut shaper, mut policer) = (TokenBucket::new(&config), TokenBucket::new(&config));
        let mut now = Time::ZERO;
        for (gap_ns, bytes) in frames {
            now += Duration::from_ns(gap_ns);
            let wait = shaper.wait(now, bytes, LONGEST);
            if wait > Duration::from_ps(1) {
                let early = (now + wait).before(Duration::from_ps(1));
                prop_assert!(!policer.clone().conforms(early, bytes));
            }
            now += wait;
            prop_assert!(policer.conforms(now, bytes));
        }
    }
}
