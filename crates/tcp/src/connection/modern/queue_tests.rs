use super::*;

const MSS: u16 = 1000;

fn sent(from: u32, bytes: u32, tags: u8) -> Sent {
    Sent {
        seq: Seq(from),
        end_seq: Seq(from + bytes),
        sent_ns: 0,
        first_tx_us: 0,
        delivered_us: 0,
        delivered: 0,
        delivered_ce: 0,
        lost: 0,
        in_flight: 0,
        turn: 0,
        segments: segments(bytes, MSS.into()),
        mss: MSS,
        tags,
        marks: 0,
    }
}

fn queue(packets: impl IntoIterator<Item = Sent>) -> SentQueue {
    let mut queue = SentQueue::default();
    packets.into_iter().for_each(|packet| queue.push(packet));
    queue
}

#[test]
fn what_is_acknowledged_selectively_is_joined_by_segments_of_one_length() {
    for (one, other, joins) in [
        (3000, 2000, true),
        (1000, 1000, true),
        (3000, 1000, true),
        (3000, 500, false),
        (1000, 500, false),
        (500, 500, true),
        (500, 1000, false),
        // A short segment at the end of the first is no reason not to: Linux does not look at it.
        (2500, 2000, true),
    ] {
        let mut queue = queue([sent(0, one, SACKED), sent(one, other, SACKED)]);
        assert_eq!(queue.join_sacked(1), joins, "{one} {other}");
        assert_eq!(queue.len(), if joins { 1 } else { 2 });
    }
    for tags in [0, RETRANS | SACKED, LOST] {
        let mut queue = queue([sent(0, 1000, SACKED), sent(1000, 1000, tags)]);
        assert!(!queue.join_sacked(1), "{tags}");
    }
}

#[test]
fn a_joined_packet_has_fewer_bytes_than_65535_of_the_smallest_segments() {
    let mut queue = queue((0..3000).map(|n| sent(n * 200, 200, SACKED)));
    while queue.join_sacked(1) {}
    let most = JOINED_BYTES_MAX / 200 * 200;
    assert_eq!(queue.front().map(Sent::payload_bytes), Some(most));
}

#[test]
fn a_joined_packet_has_no_more_segments_than_can_be_counted() {
    let many = Sent {
        segments: u16::MAX,
        mss: 1,
        ..sent(0, u16::MAX.into(), SACKED)
    };
    let mut queue = queue([many, sent(u16::MAX.into(), 1, SACKED)]);
    assert!(!queue.join_sacked(1));
}

#[test]
fn the_fin_and_what_was_sent_again_are_kept_in_mind() {
    let mut last = sent(1000, 1001, SACKED | EVER_RETRANS);
    (last.segments, last.marks) = (1, FIN | PSH);
    let mut queue = queue([sent(0, 1000, SACKED), last, sent(2001, 1000, SACKED)]);
    assert!(queue.join_sacked(1));
    let joined = *queue.front().unwrap();
    assert_eq!((joined.payload_bytes(), joined.segments), (2000, 2));
    assert!(joined.marked(FIN) && joined.marked(PSH) && joined.retransmitted());
    assert!(!queue.join_sacked(1), "nothing is behind a FIN");
}
