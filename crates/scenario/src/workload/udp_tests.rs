use tailback_units::{Bytes, Duration, Rate};

use super::super::test_network;
use super::{Pairs, Udp};

fn udp(datagram: u64) -> Udp {
    Udp {
        pairs: Pairs::ToFirst {},
        rate: Rate::from_bps(400_000_000),
        datagram: Bytes::new(datagram),
        duration: Duration::from_secs(1),
        socket_buffer: Bytes::new(1 << 20),
        record_arrivals: 0,
    }
}

#[test]
fn the_rate_is_of_payload() {
    // 1470 bytes at 400 Mb/s.
    assert_eq!(udp(1470).gap(), Duration::from_ns(29_400));
    assert_eq!(udp(1470).expected_bytes(), 34_013 * 1470);
}

#[test]
fn a_datagram_is_one_frame() {
    let network = test_network("topology = \"star\", hosts = 2,");
    assert_eq!(udp(1472).name_findings(&network).len(), 0);
    let found = udp(1473).name_findings(&network);
    assert!(format!("{found:?}").contains("MTU"), "{found:?}");
    assert_eq!(udp(0).findings().len(), 1);
}
