//! The state machine under arbitrary segments, calls and timers, for a fixed budget; `fuzz/` has the
//! same without a limit.

mod case;

use std::sync::Arc;

use case::{Case, Random, STEPS};
use tailback_tcp::{PRESETS, Stack};

const CASES: u64 = 800;

#[test]
fn no_input_breaks_a_connection() {
    for (profile, text) in PRESETS {
        let stack: Stack = toml::from_str(text).expect("the preset is complete");
        let stack = Arc::new(stack);
        for number in 0..CASES {
            let name = format!("{profile}, case {number}");
            let mut case = Case::new(&stack, name, Random::Seed(number << 20));
            for _ in 0..STEPS {
                case.step();
            }
        }
    }
}

#[test]
fn a_fuzzers_bytes_break_none_either() {
    for (profile, text) in PRESETS {
        let stack: Stack = toml::from_str(text).expect("the preset is complete");
        let stack = Arc::new(stack);
        for first in 0..=u8::MAX {
            let bytes: Vec<u8> = (0..2000_u32)
                .map(|i| ((i * i) >> 3) as u8 ^ first)
                .collect();
            let name = format!("{profile}, bytes from {first}");
            let mut case = Case::new(&stack, name, Random::Given(bytes.into_iter()));
            for _ in 0..STEPS {
                case.step();
            }
        }
    }
}
