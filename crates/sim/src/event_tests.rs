use std::collections::BTreeSet;

use proptest::prelude::*;
use tailback_units::Time;

use super::{Calendar, Event, Wait};

#[test]
fn ties_go_by_rank() {
    let mut calendar = Calendar::new(8);
    for rank in [5, 2, 7, 0] {
        calendar.schedule(rank, Time::from_ps(10));
    }
    let order: Vec<u32> = std::iter::from_fn(|| calendar.pop().map(|e| e.rank)).collect();
    assert_eq!(order, [0, 2, 5, 7]);
}

/// A step of the property test: how many events to put in, and how far ahead each may be.
fn steps() -> impl Strategy<Value = Vec<(u8, u64)>> {
    let ahead = prop_oneof![
        0_u64..4,
        0_u64..2_000,
        0_u64..3_000_000,
        0_u64..400_000_000_000
    ];
    prop::collection::vec((0_u8..4, ahead), 1..6_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// The calendar agrees with a sorted set, whatever is put in and taken out, over many changes
    /// of the length of a day.
    #[test]
    fn it_is_a_priority_queue(steps in steps(), components in 1_usize..5_000) {
        let mut calendar = Calendar::new(components);
        let mut model: BTreeSet<Event> = BTreeSet::new();
        let (mut now, mut rank) = (0, 0);
        for (count, ahead) in steps {
            for _ in 0..count {
                rank += 1;
                let at = Time::from_ps(now + ahead / u64::from(count));
                // Ranks that repeat and differ, and any order among them.
                let event = Event { at, rank: rank * 7 % 1000 };
                if model.insert(event) {
                    calendar.schedule(event.rank, event.at);
                }
            }
            prop_assert_eq!(calendar.next_at(), model.first().map(|e| e.at));
            let horizon = Time::from_ps(now + ahead / 2);
            let before = calendar.take_before(horizon);
            match model.first().copied().filter(|e| e.at < horizon) {
                Some(first) => {
                    prop_assert_eq!(before, first);
                    model.remove(&first);
                    now = first.at.as_ps();
                }
                None => prop_assert_eq!(before.at, Time::NEVER),
            }
            let (expected, event) = (model.pop_first(), calendar.pop());
            prop_assert_eq!(event, expected);
            now = event.map_or(now, |e| e.at.as_ps());
        }
        while let Some(event) = model.pop_first() {
            prop_assert_eq!(calendar.pop(), Some(event));
        }
        prop_assert_eq!(calendar.pop(), None);
    }

    /// A steady stream, dense or sparse: the length of a day follows it.
    #[test]
    fn days_follow_the_events(gap_ps in 1_u64..100_000_000) {
        let mut calendar = Calendar::new(64);
        let mut last = Time::ZERO;
        for rank in 0..64 {
            calendar.schedule(rank, Time::from_ps(u64::from(rank) * gap_ps));
        }
        for _ in 0..100_000 {
            let event = calendar.pop().expect("64 are always in");
            prop_assert!(event.at >= last);
            last = event.at;
            calendar.schedule(event.rank, Time::from_ps(last.as_ps() + 64 * gap_ps));
        }
        prop_assert!(calendar.sorted.len() <= 64);
        let review = calendar.review;
        prop_assert!(review.more <= 7 * review.days.max(8), "{review:?}");
    }
}

/// Events that each come as far ahead as 4000 others take: what a wheel of 1024 days of one event does not reach.
#[test]
fn the_wheel_grows_until_it_reaches_most_events() {
    const COMPONENTS: u32 = 4000;
    let mut calendar = Calendar::new(COMPONENTS as usize / 4);
    for rank in 0..COMPONENTS {
        calendar.schedule(rank, Time::from_ps(u64::from(rank) * 1000));
    }
    let mut turn = |events: u32| {
        let mut far = 0;
        for _ in 0..events {
            let event = calendar
                .pop()
                .expect("as many are in as there are components");
            let at = Time::from_ps(event.at.as_ps() + u64::from(COMPONENTS) * 1000);
            far += u32::from(calendar.schedule(event.rank, at) == Wait::Far);
        }
        far
    };
    turn(100_000);
    assert!(turn(100_000) < 100_000 / 16, "most lie beyond the wheel");
}
