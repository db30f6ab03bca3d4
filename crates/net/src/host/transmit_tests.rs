use tailback_units::Time;

use super::TransmitQueue;
use crate::testing::host_config;

#[test]
fn the_queue_refuses_beyond_its_limit_and_recovers() {
    let mut queue = TransmitQueue::new(&host_config());
    for _ in 0..5 {
        assert!(queue.admits(Time::ZERO, 0, 1448));
        queue.leaves(Time::from_ps(10));
    }
    assert!(!queue.admits(Time::from_ps(9), 1448, 1448));
    let refused = queue.refused();
    assert_eq!((refused.frames, refused.payload_bytes), (1, 1448));
    assert!(queue.admits(Time::from_ps(10), 0, 1448));
}

#[test]
fn a_refused_packet_is_as_many_frames_as_it_would_have_been() {
    let mut queue = TransmitQueue::new(&host_config());
    let full = queue.limit();
    assert!(!queue.admits_beside(full, 10 * 1448 + 1, 1448));
    assert!(!queue.admits_beside(full, 0, 1448));
    let refused = queue.refused();
    assert_eq!((refused.frames, refused.data_frames), (12, 11));
    assert_eq!(refused.payload_bytes, 10 * 1448 + 1);
}
