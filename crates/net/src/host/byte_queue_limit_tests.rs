use super::*;

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// Hands packets over until the limit is reached; gives how many.
fn fill(limit: &mut ByteQueueLimit, bytes: u64) -> usize {
    let mut handed = 0;
    while !limit.is_reached() {
        limit.queued(bytes);
        handed += 1;
    }
    handed
}

#[test]
fn at_first_the_card_has_one_packet() {
    let mut limit = ByteQueueLimit::default();
    assert!(!limit.is_reached());
    assert_eq!(fill(&mut limit, 1514), 1);
    assert!(limit.is_reached());
}

#[test]
fn a_card_that_runs_dry_is_given_more() {
    let mut limit = ByteQueueLimit::default();
    fill(&mut limit, 1514);
    limit.completed(at(0), 1514);
    // What was handed over and has left since the last look.
    assert_eq!(limit.limit_bytes(), 1514);
    assert_eq!(fill(&mut limit, 1514), 2);
    limit.completed(at(12), 1514);
    assert!(!limit.is_reached());
}

#[test]
fn what_is_never_needed_is_taken_away_after_a_second() {
    let mut limit = ByteQueueLimit::default();
    // One look after many packets makes a large limit.
    for _ in 0..20 {
        limit.queued(1514);
    }
    limit.completed(at(0), 20 * 1514);
    assert_eq!(limit.limit_bytes(), 20 * 1514);
    let mut us = 0;
    while us < 3_000_000 {
        fill(&mut limit, 1514);
        us += 1000;
        limit.completed(at(us), 1514);
    }
    // Twice what leaves between two looks.
    assert!(limit.limit_bytes() <= 2 * 1514, "{limit:?}");
    assert!(limit.limit_bytes() >= 1514, "{limit:?}");
}
