//! A connection's end under whatever the fuzzer makes of segments, calls and timers. The first byte
//! chooses the stack; what is looked for is in the test of the same name.
#![no_main]

#[allow(dead_code)] // Seeds are the test's.
#[path = "../../crates/tcp/tests/state_machine/case.rs"]
mod case;

use std::sync::{Arc, LazyLock};

use case::{Case, Random, STEPS};
use libfuzzer_sys::fuzz_target;
use tailback_tcp::{PRESETS, Stack};

static STACKS: LazyLock<Vec<Arc<Stack>>> = LazyLock::new(|| {
    let stack = |text| Arc::new(toml::from_str(text).expect("the preset is complete"));
    PRESETS.iter().map(|(_, text)| stack(text)).collect()
});

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let which = usize::from(*first) % STACKS.len();
    let random = Random::Given(rest.to_vec().into_iter());
    let mut case = Case::new(&STACKS[which], PRESETS[which].0.to_owned(), random);
    for _ in 0..STEPS {
        case.step();
    }
});
