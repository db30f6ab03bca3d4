use std::collections::VecDeque;

use proptest::prelude::*;

use super::{Blank, Ring};

impl Blank for usize {
    const BLANK: usize = usize::MAX;
}

impl Blank for (u32, u64) {
    const BLANK: (u32, u64) = (0, 0);
}

proptest! {
    #[test]
    fn it_is_a_queue(steps in prop::collection::vec(prop::bool::weighted(0.55), 0..500)) {
        let mut ring = Ring::default();
        let mut model = VecDeque::new();
        for (number, push) in steps.into_iter().enumerate() {
            if push {
                if number % 2 == 0 {
                    ring.push_back(number);
                } else {
                    ring.push_like(&0, |item| *item = number);
                }
                model.push_back(number);
            } else {
                prop_assert_eq!(ring.pop_front(), model.pop_front());
            }
            prop_assert_eq!(ring.front(), model.front());
            prop_assert_eq!(ring.back(), model.back());
            prop_assert_eq!(ring.len(), model.len());
            prop_assert_eq!(ring.is_empty(), model.is_empty());
        }
        prop_assert!(ring.iter().eq(model.iter()));
    }

    #[test]
    fn runs_are_many_at_once(steps in prop::collection::vec((0_u64..20, 0_usize..20), 0..100)) {
        let mut ring = Ring::default();
        let mut model = VecDeque::new();
        for (pushed, popped) in steps {
            let numbers = (0..pushed as u32).map(u64::from);
            ring.push_run(&(7, 0), numbers, |item, number| item.1 = number);
            model.extend((0..pushed).map(|number| (7, number)));
            let popped = popped.min(model.len());
            let [front, rest] = ring.stretches(popped, ring.len());
            prop_assert!(front.iter().chain(rest).eq(model.iter().skip(popped)));
            let [front, rest] = ring.stretches(0, popped);
            prop_assert!(front.iter().chain(rest).eq(model.iter().take(popped)));
            ring.pop_many(popped);
            model.drain(..popped);
            prop_assert_eq!(ring.len(), model.len());
            prop_assert!(ring.iter().eq(model.iter()));
        }
    }
}
