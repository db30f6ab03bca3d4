use super::*;
use crate::nic::{NicConfig, Packet};

fn us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

fn card(gap_us: u64) -> Nic {
    Nic::new(&NicConfig {
        mac: [2, 0, 0, 0, 0, 1],
        mtu_bytes: 1500,
        segmentation_offload: true,
        checksum_offload: true,
        interrupt_gap: Duration::from_us(gap_us),
    })
}

#[test]
fn others_bound_it_by_their_next_event_and_the_way_from_there() {
    let transit = Duration::from_us(3);
    let others = [
        (us(20), transit),
        (us(18), Duration::from_us(9)),
        (Time::NEVER, transit),
    ];
    assert_eq!(leash(us(10), others.into_iter()), us(23));
    // One who could send at this very time is still as far away as a frame takes.
    assert_eq!(leash(us(10), [(us(10), transit)].into_iter()), us(13));
}

#[test]
fn where_nothing_bounds_it_a_millisecond_does() {
    assert_eq!(leash(us(5), std::iter::empty()), us(1005));
    let far = [(us(2000), Duration::ZERO), (Time::NEVER, Duration::ZERO)];
    assert_eq!(leash(us(5), far.into_iter()), us(1005));
}

#[test]
fn the_network_s_next_event_bounds_it_as_it_may_be_a_frame_for_it() {
    assert_eq!(bound(us(50), us(30), &card(0)), us(30));
    assert_eq!(bound(us(50), Time::NEVER, &card(0)), us(50));
}

#[test]
fn what_has_arrived_bounds_it_and_what_may_come_waits_for_the_gap() {
    let mut card = card(16);
    card.quiet_until(us(40));
    // Nothing is there: what others send from 30 us on interrupts at 40 us at the earliest.
    assert_eq!(bound(us(50), us(30), &card), us(40));
    assert_eq!(bound(us(50), us(45), &card), us(45));
    card.arrive(us(20), Packet::default());
    assert_eq!(
        bound(us(50), us(45), &card),
        us(40),
        "its interrupt is due then"
    );
}
