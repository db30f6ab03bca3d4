use std::collections::VecDeque;

use proptest::prelude::*;

use super::{Blank, Ring};

impl Blank for usize {
    const BLANK: usize = usize::MAX;
}

proptest! {
    #[test]
    fn it_is_a_queue(steps in prop::collection::vec(prop::bool::weighted(0.55), 0..500)) {
        let mut ring = Ring::default();
        let mut model = VecDeque::new();
        for (number, push) in steps.into_iter().enumerate() {
            if push {
                ring.push_back(number);
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
}
