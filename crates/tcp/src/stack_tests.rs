use super::{PRESETS, Stack};

#[test]
fn every_profile_is_complete_and_known_by_its_name() {
    for (name, text) in PRESETS {
        let stack: Result<Stack, _> = toml::from_str(text);
        assert!(stack.is_ok(), "{name}: {:?}", stack.err());
    }
}
