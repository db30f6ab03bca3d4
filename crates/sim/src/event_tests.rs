use std::collections::BTreeMap;

use proptest::prelude::*;
use tailback_units::Time;

use super::Calendar;

#[test]
fn ties_go_by_rank() {
    let mut calendar = Calendar::new(8);
    for rank in [5, 2, 7, 0] {
        calendar.schedule(rank, Time::from_ps(10));
    }
    let mut order = Vec::new();
    while let Some((_, rank)) = calendar.next() {
        order.push(rank);
        calendar.cancel(rank);
    }
    assert_eq!(order, [0, 2, 5, 7]);
}

proptest! {
    /// The calendar agrees with a sorted map under any mix of scheduling and cancelling.
    #[test]
    fn it_is_a_priority_queue(steps in prop::collection::vec((0_u32..40, prop::option::of(0_u64..1000)), 1..400)) {
        let mut calendar = Calendar::new(40);
        let mut model: BTreeMap<u32, u64> = BTreeMap::new();
        for (rank, at) in steps {
            match at {
                Some(at) => {
                    calendar.schedule(rank, Time::from_ps(at));
                    model.insert(rank, at);
                }
                None => {
                    calendar.cancel(rank);
                    model.remove(&rank);
                }
            }
            let expected = model.iter().map(|(rank, at)| (Time::from_ps(*at), *rank)).min();
            prop_assert_eq!(calendar.next(), expected);
        }
    }
}
