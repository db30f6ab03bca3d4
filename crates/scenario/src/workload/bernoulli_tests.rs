use tailback_units::{Bytes, Duration};

use super::super::test_network;
use super::Bernoulli;

#[test]
fn a_slot_has_room_for_a_message_and_the_headers_of_all_its_frames() {
    let network = test_network("topology = \"star\", hosts = 2,");
    let slot = |message: u64| {
        let spec = Bernoulli {
            load: 0.5,
            message: Bytes::new(message),
            duration: Duration::from_ms(1),
        };
        let slots = spec.slots(&network);
        assert_eq!(slots[0], slots[1]);
        slots[0]
    };
    // 78 bytes of headers, preamble and gap, at 10 Gb/s.
    assert_eq!(slot(1460), Duration::from_ps(1538 * 800));
    assert_eq!(slot(1461), Duration::from_ps((1461 + 2 * 78) * 800));
    assert_eq!(slot(14_600), Duration::from_ps(10 * 1538 * 800));
}
