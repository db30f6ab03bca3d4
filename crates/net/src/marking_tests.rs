use tailback_units::Bytes;

use super::{Marker, MarkingConfig};

#[test]
fn step_marking_begins_above_its_threshold() {
    let marker = Marker::new(&MarkingConfig::Step {
        threshold: Bytes::new(30_000),
    });
    assert!(!marker.marks(30_000));
    assert!(marker.marks(30_001));
}

#[test]
fn off_never_marks() {
    assert!(!Marker::new(&MarkingConfig::Off {}).marks(u64::MAX));
}
