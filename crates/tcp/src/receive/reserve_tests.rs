use tailback_units::Duration;

use crate::clock::JiffyClock;
use crate::receive::{AckPolicy, Receive};
use crate::testing::{stack, with_receiver_of_today};

/// A receiver of today; frames take so much memory, of which `head` bytes are given up.
fn receiver(memory: u32, head: u32) -> Receive {
    let stack = with_receiver_of_today(stack());
    let clock = JiffyClock::new(stack.hz, stack.timestamp_hz, Duration::ZERO);
    let ack = AckPolicy::new(&clock, &stack);
    let mut receive = Receive::new(&stack, 1460, memory, ack);
    receive.set_head(head);
    receive
}

#[test]
fn what_lacks_to_a_page_is_reserved() {
    let mut receive = receiver(2368, 0);
    assert_eq!(
        receive.reserve(0),
        0,
        "nothing is used, and nothing reserved"
    );
    receive.charge();
    assert_eq!(receive.reserve(0), 4096 - 2368);
    assert!(!receive.has_reserve(0));
    receive.charge();
    assert_eq!(receive.reserve(0), 2 * 4096 - 2 * 2368);
    assert!(receive.has_reserve(0));
    // Both queues share it.
    assert_eq!(receive.reserve(1000), 2 * 4096 - 2 * 2368 - 1000);
    assert!(!receive.has_reserve(1500));
}

#[test]
fn a_head_that_is_given_up_leaves_a_page_more() {
    let mut receive = receiver(2368, 832);
    // 1728 bytes are left: another page is fetched, and 832 of the frame's bytes are not needed then.
    receive.charge();
    receive.note_spare_page(0);
    assert!(receive.spare_page);
    receive.charge();
    receive.release(832);
    assert_eq!(receive.reserve(0), 1728 + 4096 - (2368 - 832));
    // Fits: no page is fetched, and none is left over.
    receive.note_spare_page(0);
    assert!(!receive.spare_page);
}
