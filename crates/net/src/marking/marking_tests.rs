use tailback_tcp::Ecn;
use tailback_units::{Bytes, Time};

use super::{Mark, Marker, MarkingConfig, Off, QueueLook, Step, Verdict};
use crate::random::Stream;
use crate::testing::{ect_frame, frame};

fn marker(config: &MarkingConfig) -> Marker {
    Marker::new(config, 1, &[1_000_000], Stream::new(1, "marking", 0))
}

fn look(queued_bytes: u64) -> QueueLook {
    QueueLook {
        port: 0,
        band: 0,
        queued_bytes,
        free_at: Time::ZERO,
    }
}

fn step(mark: Mark) -> Marker {
    marker(&MarkingConfig::Step(Step {
        threshold: Bytes::new(30_000),
        mark,
    }))
}

#[test]
fn step_marking_begins_above_its_threshold() {
    let mut marker = step(Mark::Ce);
    let mut frame = ect_frame(1448);
    assert_eq!(
        marker.arrive(Time::ZERO, look(30_000), &mut frame.segment),
        Verdict::Pass
    );
    assert_eq!(
        marker.arrive(Time::ZERO, look(30_001), &mut frame.segment),
        Verdict::Marked
    );
    assert_eq!(frame.segment.ecn, Ecn::Ce);
}

#[test]
fn marks_go_up_and_never_down() {
    let mut sce = step(Mark::Sce);
    let mut frame = ect_frame(1448);
    assert_eq!(
        sce.arrive(Time::ZERO, look(30_001), &mut frame.segment),
        Verdict::Marked
    );
    assert_eq!(frame.segment.ecn, Ecn::Ect1);
    assert_eq!(
        step(Mark::Ce).arrive(Time::ZERO, look(30_001), &mut frame.segment),
        Verdict::Marked
    );
    assert_eq!(frame.segment.ecn, Ecn::Ce);
    assert_eq!(
        sce.arrive(Time::ZERO, look(30_001), &mut frame.segment),
        Verdict::Pass
    );
    assert_eq!(frame.segment.ecn, Ecn::Ce);
}

#[test]
fn off_never_marks() {
    let mut marker = marker(&MarkingConfig::Off(Off {}));
    assert!(!marker.is_on());
    let mut frame = ect_frame(1448);
    assert_eq!(
        marker.arrive(Time::ZERO, look(u64::MAX), &mut frame.segment),
        Verdict::Pass
    );
    assert_eq!(frame.segment.ecn, Ecn::Ect0);
}

#[test]
fn only_ecn_capable_frames_are_marked() {
    let mut plain = frame(1448).segment;
    assert!(!Mark::Ce.set(&mut plain));
    let mut capable = ect_frame(1448).segment;
    assert!(Mark::Ce.set(&mut capable));
    assert_eq!(capable.ecn, Ecn::Ce);
}
