use super::{Behind, Pages};
use crate::receive::rules::Receiver;
use crate::seq::Seq;

#[test]
fn what_joins_is_in_the_last_packet() {
    let mut behind = Behind::default();
    // In the first packet, which is not kept.
    behind.join(700);
    assert_eq!((behind.next(), behind.memory), (None, 0));
    behind.begin(Seq(1000), 2000);
    behind.begin(Seq(3000), 500);
    behind.join(300);
    assert_eq!(behind.next(), Some(Seq(1000)));
    assert_eq!(behind.packets, [(Seq(1000), 2000), (Seq(3000), 800)]);
    assert_eq!(behind.memory, 2800);
    behind.clear();
    assert_eq!((behind.next(), behind.memory), (None, 0));
}

#[test]
fn packets_are_copied_from_the_first_bloated_one_on() {
    let pages = Pages(Receiver::Linux72);
    let half = |memory: u32, bytes: u32| memory / 2 > bytes;
    let mut behind = Behind::default();
    // The first, with 2000 of 3000 bytes, is none; the second is.
    behind.begin(Seq(2000), 2500);
    behind.begin(Seq(2500), 5000);
    let copied = behind
        .copy_together((Seq(0), Seq(7000)), 3000, pages, half)
        .expect("one is bloated");
    assert_eq!((copied.packets, copied.bytes), (2, 5000));
    assert_eq!((copied.before, copied.after), (7500, pages.memory(5000)));
    let page = (Seq(2000), pages.memory(3776));
    assert_eq!(behind.packets, [page, (Seq(5776), pages.memory(1224))]);
    assert_eq!(behind.memory, pages.memory(5000));
    // Of what was copied the last is bloated, and is copied alone.
    let again = behind.copy_together((Seq(0), Seq(7000)), 3000, pages, |memory, bytes| {
        memory * 7 / 10 > bytes
    });
    assert_eq!(
        again.map(|a| (a.packets, a.bytes)),
        Some((3, 7000)),
        "the first is bloated by that"
    );
    let none = behind.copy_together((Seq(0), Seq(7000)), 3000, pages, |_, _| false);
    assert!(none.is_none());
}
