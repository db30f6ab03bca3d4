use std::collections::VecDeque;

use tailback_tcp::{Ecn, Flags, SackBlock, Segment, Seq};
use tailback_units::Time;

use super::said_again;
use crate::frame::{EndpointId, Frame, HostId};
use crate::pool::FramePool;
use crate::queue::Held;
use crate::queue::cake::AckFilter::{self, AckFilterAggressive, NoAckFilter};
use crate::switch::shared::Pool;

/// An acknowledgement up to `ack`, stamped 100.
fn ack(ack: u32) -> Segment {
    let mut segment = Segment::EMPTY;
    segment.flags = Flags::ACK;
    segment.ack = Seq(ack);
    segment.has_timestamps = true;
    (segment.ts_val, segment.ts_ecr) = (100, 100);
    segment
}

fn sack(up_to: u32, blocks: &[(u32, u32)]) -> Segment {
    let mut segment = ack(up_to);
    for (start, end) in blocks {
        segment.push_sack(SackBlock {
            start: Seq(*start),
            end: Seq(*end),
        });
    }
    segment
}

fn with(mut segment: Segment, change: impl FnOnce(&mut Segment)) -> Segment {
    change(&mut segment);
    segment
}

/// What the last of these, of flow 1 unless said otherwise, makes superfluous.
fn filtered_of(filter: AckFilter, segments: &[(u32, Segment)]) -> Option<usize> {
    let mut frames = FramePool::default();
    let held = segments.iter().map(|(flow, segment)| Held {
        frame: frames.put(
            Time::ZERO,
            &Frame::new(*segment, EndpointId(*flow), HostId(1)),
        ),
        in_port: 0,
        pool: Pool::Shared,
        since: Time::ZERO,
        marked: false,
    });
    let queue: VecDeque<Held> = held.collect();
    said_again(filter, &queue, &frames)
}

fn filtered(filter: AckFilter, segments: &[Segment]) -> Option<usize> {
    let of_one: Vec<(u32, Segment)> = segments.iter().map(|segment| (1, *segment)).collect();
    filtered_of(filter, &of_one)
}

#[test]
fn two_wait_and_a_third_takes_the_place_of_the_first() {
    let (one, two, three) = (ack(1000), ack(2000), ack(3000));
    let filter = AckFilter::AckFilter;
    assert_eq!(filtered(filter, &[one]), None);
    assert_eq!(filtered(filter, &[one, two]), None);
    assert_eq!(filtered(filter, &[one, two, three]), Some(0));
    assert_eq!(filtered(AckFilterAggressive, &[one, two]), Some(0));
    assert_eq!(filtered(NoAckFilter, &[one, two, three]), None);
    // Another flow's are let be, and stand between.
    let mixed = [(1, one), (2, one), (1, two), (1, three)];
    assert_eq!(filtered_of(filter, &mixed), Some(0));
    assert_eq!(
        filtered_of(AckFilterAggressive, &[(1, one), (2, one), (1, two)]),
        None
    );
}

#[test]
fn what_tells_something_else_is_kept() {
    let aggressive = |first: Segment, last: Segment| filtered(AckFilterAggressive, &[first, last]);
    let (one, two) = (ack(1000), ack(2000));
    // The same again asks for a retransmission.
    assert_eq!(aggressive(one, one), None);
    for flag in [Flags::PSH, Flags::FIN, Flags::SYN, Flags::RST, Flags::NS] {
        let other = with(one, |segment| segment.flags = segment.flags.with(flag));
        assert_eq!(aggressive(other, two), None, "{flag:?}");
    }
    assert_eq!(aggressive(with(one, |s| s.payload_bytes = 1), two), None);
    // What is older than what waits.
    assert_eq!(aggressive(two, one), None);
    assert_eq!(aggressive(with(one, |s| s.ts_val = 101), two), None);
    assert_eq!(aggressive(with(one, |s| s.ts_ecr = 101), two), None);
    assert_eq!(
        aggressive(one, with(two, |s| s.has_timestamps = false)),
        None
    );
    assert_eq!(
        aggressive(with(one, |s| s.has_timestamps = false), two),
        Some(0)
    );
    // Data with an acknowledgement will do, a SYN will not.
    let data = with(two, |s| s.payload_bytes = 1448);
    assert_eq!(aggressive(one, data), Some(0));
    assert_eq!(
        aggressive(one, with(two, |s| s.flags = s.flags.with(Flags::SYN))),
        None
    );
    // IP's ECN field is nobody's matter.
    assert_eq!(aggressive(with(one, |s| s.ecn = Ecn::Ce), two), Some(0));
}

#[test]
fn no_report_is_lost() {
    let aggressive = |first: Segment, last: Segment| filtered(AckFilterAggressive, &[first, last]);
    let one = sack(1000, &[(2000, 3000)]);
    assert_eq!(aggressive(one, sack(1000, &[(2000, 4000)])), Some(0));
    assert_eq!(
        aggressive(one, sack(1000, &[(5000, 6000), (2000, 3000)])),
        Some(0)
    );
    assert_eq!(aggressive(one, sack(1000, &[(2000, 3000)])), None);
    assert_eq!(aggressive(one, sack(1500, &[(2000, 3000)])), Some(0));
    assert_eq!(aggressive(one, sack(1000, &[(5000, 7000)])), None);
    // It fills the hole, and Linux does not see that.
    assert_eq!(aggressive(one, ack(3000)), None);
    assert_eq!(aggressive(ack(1000), one), Some(0));
    // A duplicate's report.
    let duplicate = sack(3000, &[(1000, 2000)]);
    assert_eq!(aggressive(duplicate, sack(4000, &[(1000, 2000)])), None);
}

#[test]
fn an_echo_of_congestion_is_kept_until_it_is_said_again() {
    let echo = |up_to| with(ack(up_to), |s| s.flags = s.flags.with(Flags::ECE));
    let filter = AckFilter::AckFilter;
    // Two with it: the first may go; where it changes between them, none may.
    assert_eq!(filtered(filter, &[echo(1), echo(2), ack(3)]), Some(0));
    assert_eq!(filtered(filter, &[echo(1), ack(2), ack(3)]), None);
    assert_eq!(
        filtered(filter, &[echo(1), ack(2), ack(3), ack(4)]),
        Some(1)
    );
    assert_eq!(filtered(AckFilterAggressive, &[ack(1), echo(2)]), None);
    assert_eq!(filtered(AckFilterAggressive, &[echo(1), echo(2)]), Some(0));
}
