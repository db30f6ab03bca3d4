use super::*;
use crate::frame::EndpointId;
use crate::pool::FramePool;
use crate::testing::frame;
use tailback_units::Time;

const GRO: Merging = Merging::Gro {
    merge_frame: Duration::ZERO,
};

/// Packets that come of frames of 1000 bytes each: for which endpoint, from where, with what likeness,
/// and whether it ends the packet. Answers how many frames each packet has.
fn packets(frames: &[(u32, u32, u64, bool)], merging: Merging) -> Vec<usize> {
    let mut pool = FramePool::default();
    let mut merge = Merge::default();
    for (to, start, likeness, ends) in frames {
        let mut flight = pool.put(Time::ZERO, &frame(1000));
        flight.to = EndpointId(*to);
        let joint = Joint {
            start: *start,
            end: start + 1000,
            likeness: *likeness,
            ends: *ends,
            alone: false,
        };
        merge.take(flight, &joint, merging);
    }
    assert_eq!(merge.frames().count(), frames.len());
    merge.flush();
    std::iter::from_fn(|| merge.pop().map(|p| p.frames.len())).collect()
}

#[test]
fn frames_in_a_row_are_one_packet_and_a_pushed_one_ends_it() {
    let row = [
        (1, 0, 7, false),
        (1, 1000, 7, false),
        (1, 2000, 7, true),
        (1, 3000, 7, false),
    ];
    assert_eq!(packets(&row, GRO), [3, 1]);
}

#[test]
fn a_gap_or_another_acknowledgement_begins_a_new_packet() {
    assert_eq!(
        packets(&[(1, 0, 7, false), (1, 2000, 7, false)], GRO),
        [1, 1]
    );
    let differ = [(1, 0, 7, false), (1, 1000, 8, false)];
    assert_eq!(packets(&differ, GRO), [1, 1]);
    assert_eq!(packets(&differ, Merging::Lro), [2]);
}

#[test]
fn flows_that_mix_join_apart() {
    let mixed = [
        (1, 0, 7, false),
        (2, 0, 7, false),
        (1, 1000, 7, false),
        (2, 1000, 7, false),
    ];
    assert_eq!(packets(&mixed, GRO), [2, 2]);
}

#[test]
fn a_packet_has_less_than_64_kib() {
    let row: Vec<_> = (0..140).map(|n| (1, n * 1000, 7, false)).collect();
    assert_eq!(packets(&row, GRO), [65, 65, 10]);
}
