use tailback_units::{Bytes, Duration, Rate, Time};

use super::{Framing, Link, LinkConfig};
use crate::frame::GAP_BYTES;
use crate::impairment::script::Direction;
use crate::pool::{Flight, FramePool};
use crate::random::Stream;
use crate::testing::{flight, frame};

fn link(loss: f64) -> Link {
    let config = LinkConfig {
        rate: Rate::from_gbps(10),
        delay: Duration::from_ns(500),
        mtu: Bytes::new(9000),
        loss,
        framing: Framing::Ethernet,
        impairment: None,
        trace: None,
        qdisc: None,
    };
    Link::new(&config, Direction::Forward, Stream::new(1, "link", 0))
}

fn jumbo() -> Flight {
    flight(8948)
}

#[test]
fn frames_leave_back_to_back_and_take_the_delay() {
    let mut link = link(0.0);
    let first = link.transmit(Time::ZERO, &jumbo());
    let second = link.transmit(Time::ZERO, &jumbo());
    assert_eq!(first.as_ps(), 9038 * 800);
    assert_eq!(second.as_ps(), 2 * 9038 * 800);
    assert_eq!(link.arrival(second), second + Duration::from_ns(500));
}

#[test]
fn a_run_is_as_many_frames_one_by_one() {
    let (mut one_by_one, mut run) = (link(0.0), link(0.0));
    let mut pool = FramePool::default();
    let places = [0; 5].map(|_| pool.put(Time::ZERO, &frame(8948)));
    let now = Time::ZERO + Duration::from_us(3);
    for frame in places {
        let finish = one_by_one.transmit(now, &frame);
        let at = one_by_one.arrival(finish);
        one_by_one.launch(Flight { at, ..frame });
    }
    let (finish, each) = run.transmit_run(now, jumbo().frame_bytes, 5);
    let like = Flight {
        at: run.arrival(finish),
        ..jumbo()
    };
    assert!(run.launch_run(&like, each, places.iter().map(|flight| flight.frame)));
    assert!(!run.launch_run(&like, each, [].into_iter()));
    let course = |link: &Link| {
        let flying: Vec<_> = link.flying().map(|frame| format!("{frame:?}")).collect();
        (flying, link.next_at(), link.free_at(), link.handed())
    };
    assert_eq!(course(&run), course(&one_by_one));
}

#[test]
fn loss_comes_at_its_rate_and_is_counted() {
    let mut link = link(0.01);
    let lost = (0..100_000).filter(|_| link.loses(&jumbo())).count();
    assert!((900..1100).contains(&lost), "{lost} of 100 000 at 1 %");
    assert_eq!(link.lost().frames, lost as u64);
    assert_eq!(link.lost().data_frames, lost as u64);
    assert_eq!(link.lost().payload_bytes, lost as u64 * 8948);
}

#[test]
fn a_link_without_loss_loses_nothing() {
    let mut link = link(0.0);
    assert!((0..1000).all(|_| !link.loses(&jumbo())));
}

#[test]
fn a_late_frame_is_overtaken() {
    let mut link = link(0.0);
    let at = |us| Time::ZERO + Duration::from_us(us);
    let due = |us, payload_bytes| Flight {
        at: at(us),
        ..flight(payload_bytes)
    };
    assert!(link.launch_out_of_order(due(30, 3)));
    assert!(link.launch_out_of_order(due(10, 1)));
    assert!(!link.launch_out_of_order(due(20, 2)));
    let order: Vec<u16> = std::iter::from_fn(|| link.take_next())
        .map(|frame| frame.payload_bytes)
        .collect();
    assert_eq!(order, [1, 2, 3]);
}

#[test]
fn framing_decides_how_long_a_packet_takes() {
    let with = |framing| {
        let mut link = link(0.0);
        let extra = Framing::extra_bytes(framing);
        link.around_bytes = u64::from(GAP_BYTES).wrapping_add(extra);
        link.transmit(Time::ZERO, &jumbo()).as_ps() / 800
    };
    // 9000 bytes of IP.
    assert_eq!(with(Framing::Ethernet), 9038);
    assert_eq!(with(Framing::Vlan), 9042);
    assert_eq!(with(Framing::Pos), 9009);
}

#[test]
fn a_link_counts_what_it_was_handed() {
    let mut link = link(0.0);
    for _ in 0..3 {
        link.transmit(Time::ZERO, &jumbo());
    }
    assert_eq!(link.handed(), (3 * 9018, 3));
}
