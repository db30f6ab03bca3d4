use super::{Lying, MAX_FRAGS, Placed, Reassembly};
use crate::segment::SackBlock;
use crate::seq::Seq;

fn block(start: u32, end: u32) -> SackBlock {
    SackBlock {
        start: Seq(start),
        end: Seq(end),
    }
}

fn blocks(reassembly: &Reassembly) -> Vec<SackBlock> {
    reassembly.sack_blocks().collect()
}

#[test]
fn the_block_that_came_last_is_told_first() {
    let mut r = Reassembly::default();
    for start in [10, 30, 50] {
        r.insert(Seq(start), Seq(start + 10), true);
    }
    assert_eq!(blocks(&r), [block(50, 60), block(30, 40), block(10, 20)]);
    r.insert(Seq(20), Seq(25), true);
    assert_eq!(blocks(&r), [block(10, 25), block(50, 60), block(30, 40)]);
}

#[test]
fn three_blocks_are_told_of_four_remembered() {
    let mut r = Reassembly::default();
    for start in [10, 30, 50, 70, 90] {
        r.insert(Seq(start), Seq(start + 10), true);
    }
    assert_eq!(blocks(&r), [block(90, 100), block(70, 80), block(50, 60)]);
    r.advance(Seq(100), false, |_| ());
    r.forget_blocks(Seq(100));
    assert!(r.is_empty());
    assert_eq!(blocks(&r), []);
}

#[test]
fn a_filled_hole_joins_two_blocks() {
    let mut r = Reassembly::default();
    r.insert(Seq(10), Seq(20), true);
    r.insert(Seq(30), Seq(40), true);
    assert_eq!(r.insert(Seq(20), Seq(30), true), Placed::Kept);
    assert_eq!(blocks(&r), [block(10, 40)]);
    assert_eq!(r.memory(), 3);
}

#[test]
fn a_duplicate_is_told_before_the_blocks_and_one_block_fewer_after_it() {
    let mut r = Reassembly::default();
    for start in [10, 30, 50] {
        r.insert(Seq(start), Seq(start + 10), true);
    }
    assert_eq!(r.insert(Seq(30), Seq(40), true), Placed::Duplicate);
    assert_eq!(blocks(&r), [block(30, 40), block(30, 40), block(50, 60)]);
    r.dsack_sent();
    assert_eq!(
        blocks(&r),
        [block(30, 40), block(50, 60)],
        "eff_sacks is not counted anew"
    );
    r.insert(Seq(70), Seq(80), true);
    assert_eq!(r.sack_count(), 3);
}

#[test]
fn data_that_was_there_in_part_is_a_duplicate_in_part() {
    let mut r = Reassembly::default();
    r.insert(Seq(10), Seq(20), true);
    assert_eq!(r.insert(Seq(15), Seq(25), true), Placed::Kept);
    assert_eq!(blocks(&r), [block(15, 20), block(10, 25)]);
}

#[test]
fn what_is_in_order_comes_out_and_what_was_superfluous_is_counted() {
    let mut r = Reassembly::default();
    r.insert(Seq(10), Seq(20), true);
    r.insert(Seq(30), Seq(40), true);
    // 0..35 came in one piece: the first run is superfluous, the second helps by half.
    assert_eq!(r.advance(Seq(35), true, |_| ()), (Seq(40), 1));
    r.forget_blocks(Seq(40));
    assert_eq!(
        blocks(&r),
        [block(10, 20)],
        "the first overlap is the D-SACK"
    );
}

#[test]
fn numbers_may_wrap() {
    let mut r = Reassembly::default();
    r.insert(Seq(u32::MAX - 4), Seq(5), true);
    r.insert(Seq(5), Seq(15), true);
    assert_eq!(blocks(&r), [block(u32::MAX - 4, 15)]);
    assert_eq!(r.advance(Seq(u32::MAX - 4), true, |_| ()), (Seq(15), 0));
    assert!(r.is_empty());
}

#[test]
fn purging_forgets_everything() {
    let mut r = Reassembly::default();
    r.insert(Seq(10), Seq(20), true);
    r.insert(Seq(30), Seq(40), true);
    assert_eq!(r.purge(), 2);
    assert_eq!(blocks(&r), []);
}

/// What a segment of so many fragments lies in.
fn lying(fragments: u32) -> Lying {
    Lying {
        memory: 2000,
        head: 800,
        fragments,
    }
}

#[test]
fn packets_are_thrown_away_as_a_whole() {
    let mut reassembly = Reassembly::default();
    // Two packets: of the first the second segment is a part, the last has too many fragments to be one.
    for (start, fragments) in [(1000, 1), (2000, 1), (3000, MAX_FRAGS)] {
        reassembly.place(Seq(start), Seq(start + 1000), lying(fragments), false);
    }
    assert_eq!(reassembly.memory(), 2000 + 1200 + 2000);
    assert_eq!(
        reassembly.prune(Seq(3500), 1, 1000),
        0,
        "it would be the last itself"
    );
    assert_eq!(reassembly.prune(Seq(500), 1, 1000), 2000);
    assert_eq!((reassembly.bytes(), reassembly.memory()), (2000, 3200));
    assert_eq!(reassembly.prune(Seq(500), 1, 1000), 3200);
    assert!(reassembly.is_empty());
}

#[test]
fn packets_that_were_sent_again_meanwhile_are_superfluous() {
    let mut reassembly = Reassembly::default();
    // A small one in its head alone, one that joins it, and one with too many fragments to do so.
    for (start, fragments) in [(1000, 0), (2000, 1), (3000, MAX_FRAGS)] {
        reassembly.place(Seq(start), Seq(start + 1000), lying(fragments), false);
    }
    let mut parts = Vec::new();
    let (next, superfluous) = reassembly.advance(Seq(3000), false, |part| parts.push(part));
    assert_eq!((next, superfluous), (Seq(4000), 3200));
    assert_eq!(parts.len(), 1);
    assert_eq!((parts[0].start, parts[0].in_head), (Seq(3000), false));
    // Without that, the first two come as one packet that begins in its head.
    let mut reassembly = Reassembly::default();
    for (start, fragments) in [(1000, 0), (2000, 1)] {
        reassembly.place(Seq(start), Seq(start + 1000), lying(fragments), false);
    }
    reassembly.advance(Seq(1000), false, |part| parts.push(part));
    assert_eq!((parts[1].start, parts[1].end), (Seq(1000), Seq(3000)));
    assert_eq!((parts[1].in_head, parts[1].fragments), (true, 1));
}
